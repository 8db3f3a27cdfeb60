/** Structured fields in their tables: which values are comparable, and that they follow their documents. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  documentValuesMax,
  fieldNamesMax,
  fieldValueCharsMax,
  valuesOf,
} from '../../../src/store/fields.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { newFile, open, opened, put } from './store-fixture.ts'

const extra = (fields: Record<string, unknown>) => ({
  extra: { description: '', author: '', headings: '', keywords: [], fields },
})

/** What the tables say of a document, as name=value. */
function stored(store: Store, docno: number): string[] {
  const ids = store.db
    .prepare<{ ids: Uint8Array }>('SELECT ids FROM doc_field WHERE docno=?')
    .value(docno)
  if (!ids) return []
  const packed = Buffer.from(ids)
  const row = store.db.prepare<{ text: string }>(
    `SELECT f.name || '=' || v.value || CASE WHEN v.number IS NULL THEN '' ELSE printf(' #%g', v.number) END AS text
     FROM field_value v JOIN field f ON f.id = v.field WHERE v.id=?`,
  )
  return Array.from({ length: packed.length / 4 }, (_, i) =>
    String(row.value(packed.readUInt32BE(i * 4))),
  ).sort()
}

describe('the values of a field', () => {
  const cases: [unknown, [string, number | null][]][] = [
    ['red', [['red', null]]],
    ['  red  ', [['red', null]]],
    ['', []],
    [' \n', []],
    [12, [['12', 12]]],
    ['12', [['12', 12]]],
    ['-3.50', [['-3.50', -3.5]]],
    ['007', [['007', 7]]],
    ['1e5', [['1e5', null]]],
    ['12 kg', [['12 kg', null]]],
    ['1234567890123456', [['1234567890123456', null]]],
    [Number.NaN, []],
    [true, [['true', null]]],
    [null, []],
    [{ deep: 1 }, []],
    [
      ['a', 'b', 'a', 3, { deep: 1 }],
      [
        ['a', null],
        ['b', null],
        ['3', 3],
      ],
    ],
    ['程序设计/循环/for', [['程序设计/循环/for', null]]],
    ['é'.normalize('NFD'), [['é', null]]],
    ['x'.repeat(fieldValueCharsMax), [['x'.repeat(fieldValueCharsMax), null]]],
    ['x'.repeat(fieldValueCharsMax + 1), [['x'.repeat(fieldValueCharsMax), null]]],
    [`${'x'.repeat(fieldValueCharsMax - 1)}😀`, [['x'.repeat(fieldValueCharsMax - 1), null]]],
  ]
  for (const [field, wanted] of cases)
    it(`of ${JSON.stringify(field)?.slice(0, 40)} are ${wanted.length}`, () =>
      assert.deepEqual(
        valuesOf(field),
        wanted.map(([value, number]) => ({ value, number })),
      ))
})

describe('fields in the store', () => {
  it('are numbered once and follow their document through changes', () => {
    const store = open()
    const first = put(store, 'http://a.test/', extra({ colour: ['red', 'blue'], size: 3 }))
    const other = put(store, 'http://b.test/', { text: 'b', ...extra({ colour: 'red' }) })
    assert.deepEqual(stored(store, first.docno), ['colour=blue', 'colour=red', 'size=3 #3'])
    assert.deepEqual(stored(store, other.docno), ['colour=red'])
    assert.equal(store.db.prepare('SELECT count(*) AS n FROM field_value').value(), 3)
    const changed = put(store, 'http://a.test/', extra({ colour: 'green' }))
    assert.notEqual(changed.docno, first.docno)
    assert.deepEqual(stored(store, first.docno), [])
    assert.deepEqual(stored(store, changed.docno), ['colour=green'])
    const bare = put(store, 'http://a.test/', extra({}))
    assert.deepEqual(stored(store, bare.docno), [])
  })

  it('move with a copy that takes the place of its original, and go with a page', () => {
    const store = open()
    const original = put(store, 'http://a.test/', extra({ n: 1 }))
    const originalId = store.urlRow('http://a.test/')?.id ?? null
    const copy = put(store, 'http://b.test/', { copyOf: originalId, ...extra({ n: 2 }) })
    const removed = store.transaction(() => store.removeDocument(Number(originalId)))
    assert.deepEqual(stored(store, original.docno), [])
    assert.deepEqual(stored(store, copy.docno), [])
    assert.deepEqual(stored(store, removed?.promoted?.docno ?? 0), ['n=2 #2'])
  })

  it('are all undone with their transaction', () => {
    const store = open()
    assert.throws(() =>
      store.transaction(() => {
        const { urlId } = store.importedUrl('http://a.test/', 0, 1)
        store.putDocument({
          urlId,
          hostId: store.hostId('http://a.test'),
          url: 'http://a.test/',
          title: '',
          lang: 'en',
          type: 'text/html',
          size: 0,
          publishedAtMs: null,
          fetchedAtMs: 1,
          copyOf: null,
          body: new Uint8Array(),
          rest: null,
          ...extra({ colour: 'red' }),
        })
        throw new Error('power cut')
      }),
    )
    const again = put(store, 'http://a.test/', extra({ colour: 'red' }))
    assert.deepEqual(stored(store, again.docno), ['colour=red'])
  })

  it('have a limit on values of a document and on names', () => {
    const store = open()
    const many = put(
      store,
      'http://a.test/',
      extra({ n: Array.from({ length: documentValuesMax + 5 }, (_, i) => `v${i}`), more: 1 }),
    )
    assert.equal(stored(store, many.docno).length, documentValuesMax)
    const names = Object.fromEntries(
      Array.from({ length: documentValuesMax }, (_, i) => [`f${i}`, 'x']),
    )
    for (let page = 0; page * documentValuesMax <= fieldNamesMax; page += 1)
      put(
        store,
        `http://c.test/${page}`,
        extra(
          Object.fromEntries(Object.entries(names).map(([name, value]) => [name + page, value])),
        ),
      )
    assert.equal(store.db.prepare('SELECT count(*) AS n FROM field').value(), fieldNamesMax)
  })

  it('come from the documents again where the tables were never filled', () => {
    const file = newFile()
    const store = open(file)
    const { docno } = put(store, 'http://a.test/', extra({ colour: 'red' }))
    put(store, 'http://b.test/', { text: 'b', ...extra({}) })
    store.db.exec(
      `DELETE FROM doc_field; DELETE FROM field_value; DELETE FROM field; DELETE FROM meta WHERE k = 'fields'`,
    )
    store.close()
    const again = openStore(file)
    opened.push(again)
    assert.deepEqual(stored(again, docno), ['colour=red'])
  })
})
