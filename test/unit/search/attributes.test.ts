/** What filters and folding know of every document, however many of them come at once. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { migrate, openDatabase, type Db } from '../../../src/lib/sqlite.ts'
import { Attributes } from '../../../src/search/attributes.ts'
import { migrations } from '../../../src/store/schema.ts'

/** Documents first..last; each third one is in the group of the page before it, each fifth has no fingerprint. */
function addDocuments(db: Db, first: number, last: number): void {
  const doc = db.prepare(
    `INSERT INTO doc(docno, url_id, host, key, lang, type, title, size, published_at, fetched_at, changed_at)
     VALUES(?, ?, ?, ?, ?, 'text/html', '', 0, NULL, 0, ?)`,
  )
  const print = db.prepare(
    `INSERT INTO fingerprint VALUES(?, 1, x'00', x'00', x'00', x'00', 1, 0, 0, ?, ?, 1, 0, NULL)`,
  )
  const host = db.prepare('INSERT INTO host(id, origin) VALUES(?, ?) ON CONFLICT DO NOTHING')
  db.transaction(() => {
    for (const id of [1, 2]) host.run(id, `http://${id}.example`)
    for (let docno = first; docno <= last; docno += 1) {
      const key = Buffer.from(`key ${docno}`)
      doc.run(docno, urlIdOf(docno), hostOf(docno), key, langOf(docno), docno * 1_000)
      if (docno % 5 === 0) continue
      const isCopy = docno % 3 === 0
      print.run(urlIdOf(docno), urlIdOf(isCopy ? docno - 1 : docno), isCopy ? 2 : 0)
    }
  })
}
const urlIdOf = (docno: number): number => docno + 7
const hostOf = (docno: number): number => 1 + (docno % 2)
/** Also one that JSON has to escape. */
const langOf = (docno: number): string => ['en', 'zh-Hant', '"\\搜'][docno % 3] ?? ''
const groupOf = (docno: number): number =>
  urlIdOf(docno % 3 === 0 && docno % 5 !== 0 ? docno - 1 : docno)

const folder = mkdtempSync(join(tmpdir(), 'findling-attributes-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('attributes of documents', () => {
  // Few are asked for one by one, many are read at once.
  for (const steps of [[2_500], [9_000], [900, 1_800, 2_500], [1_200, 1_210, 2_500]])
    it(`are the same when documents up to ${steps.join(', ')} are taken over`, () => {
      const file = join(folder, `${steps.join('-')}.db`)
      const writing = openDatabase(file)
      migrate(writing, migrations)
      const reading = openDatabase(file, { readonly: true })
      const attributes = new Attributes(reading)
      let before = 0
      for (const last of steps) {
        addDocuments(writing, before + 1, last)
        before = last
        reading.snapshot(() => attributes.refresh(last))
        assert.equal(attributes.lastDocno(), last)
        for (let docno = 1; docno <= last; docno += 1) {
          assert.equal(attributes.foldKey(docno), groupOf(docno), `group of ${docno}`)
          assert.equal(attributes.dateMs(docno), docno * 1_000)
          assert.equal(attributes.urlId(docno), urlIdOf(docno))
          assert.equal(attributes.langName(attributes.langOf(docno)), langOf(docno))
          assert.equal(attributes.siteName(attributes.siteOf(docno)), `${hostOf(docno)}.example`)
        }
        assert.equal(attributes.hasCopies(groupOf(3)), true)
        assert.equal(attributes.hasCopies(urlIdOf(1)), false)
      }
      reading.close()
      writing.close()
    })
})
