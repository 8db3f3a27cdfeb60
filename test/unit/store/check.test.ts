/** What `check` finds in a data file: every invariant is broken once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkStore } from '../../../src/store/check.ts'
import { type Store } from '../../../src/store/store.ts'
import { open, put, idOf, fingerprint, a, b, c } from './store-fixture.ts'

describe('check', () => {
  const sound = (): Store => {
    const store = open()
    for (const url of [a, b]) put(store, url)
    put(store, c, { copyOf: idOf(store, a) })
    store.transaction(() => store.sourceFor('x'))
    fingerprint(store, a, a, 1)
    fingerprint(store, c, a, 1)
    assert.deepEqual(checkStore(store.db), [])
    return store
  }
  const faults: [string, RegExp][] = [
    ['DELETE FROM host WHERE id=1', /every URL has a host/],
    ['UPDATE url SET source=9 WHERE id=1', /has a source/],
    [`UPDATE url SET path='x' WHERE id=1`, /begins with a slash/],
    ['UPDATE url SET state=7 WHERE id=1', /state of a URL is/],
    ['UPDATE url SET tries=-1 WHERE id=1', /attempts are not negative/],
    ['UPDATE url SET state=1 WHERE id=1', /what waits has a time/],
    ['UPDATE url SET next_at=5 WHERE id=1', /nothing else has one/],
    ['UPDATE url SET outcome=NULL WHERE id=1', /visited and has an outcome/],
    ['DELETE FROM doc WHERE docno=2', /settled as a document has one.*\(1: URL 2\)/],
    [`UPDATE url SET outcome='gone' WHERE id=1`, /gone or leads elsewhere has no document/],
    ['UPDATE doc SET host=2 WHERE docno=1', /every document has its URL/],
    ['DELETE FROM doc_text WHERE docno=1', /every document has its text/],
    [`INSERT INTO doc_text VALUES(9, x'00', NULL, '{}')`, /every text has its document/],
    [`UPDATE doc_text SET extra='{' WHERE docno=1`, /is JSON/],
    ['UPDATE doc SET copy_of=9 WHERE docno=3', /living original/],
    ['UPDATE doc SET copy_of=3 WHERE docno=1', /living original/],
    [`UPDATE fingerprint SET digest=x'09' WHERE url_id=3`, /digest and the group/],
    ['UPDATE fingerprint SET grp=3 WHERE url_id=3', /digest and the group/],
    ['UPDATE fingerprint SET url_id=9 WHERE url_id=3', /every fingerprint has its document/],
    ['INSERT INTO tombstone VALUES(1)', /no living document is buried/],
    [`UPDATE meta SET v='1' WHERE k='docno'`, /newer than the highest docno/],
    ['INSERT INTO lease VALUES(1, 0)', /every lease has its URL/],
    [
      `INSERT INTO seg VALUES(1, 0, 1, 3, 2, x'00', x'00', NULL); INSERT INTO leaf VALUES(1048576, x'00')`,
      /all its leaves/,
    ],
    [`INSERT INTO seg VALUES(1, 0, 1, 9, 0, x'00', x'00', NULL)`, /no segment reaches beyond/],
    [
      `INSERT INTO job(spec, sources, state, counts, started_at) VALUES('{}', '[7]', 'done', '{}', 0)`,
      /a job knows its sources/,
    ],
    [
      `INSERT INTO job(spec, sources, state, counts, started_at) VALUES('{}', '[]', 'done', '{', 0)`,
      /counts are JSON/,
    ],
    [`DELETE FROM meta WHERE k='seed'`, /seed/],
    [`UPDATE doc SET key=x'00' WHERE docno=1`, /id of a document is made from its URL/],
  ]
  it('finds each fault, and nothing in a sound store', () => {
    const store = sound()
    for (const [fault, says] of faults) {
      store.db.exec('BEGIN')
      store.db.exec(fault)
      const found = checkWithin(store)
      store.db.exec('ROLLBACK')
      assert.ok(
        found.some((line) => says.test(line)),
        `${fault}: ${found.join(' | ')}`,
      )
    }
    assert.deepEqual(checkStore(store.db), [])
  })
})

/** The check opens a read transaction of its own: within another one its queries run as they are. */
const checkWithin = (store: Store): string[] =>
  checkStore({ ...store.db, snapshot: (work) => work() })
