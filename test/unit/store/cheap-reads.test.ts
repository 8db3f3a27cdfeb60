/** Reads of a store that must stay cheap in a large one: beginnings of texts, and counts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMeta } from '../../../src/store/meta.ts'
import { createStats } from '../../../src/store/stats.ts'
import { open, put } from './store-fixture.ts'

const pageOf = (name: number): string => `https://example.com/${name}`

describe('the beginning of a text', () => {
  it('is as the whole text begins, whatever its size and script', () => {
    const store = open()
    // Characters that hardly deflate, and some of one to four bytes.
    const noise = Array.from({ length: 9_000 }, (_, i) =>
      String.fromCodePoint(0x4e00 + ((i * 7_919) % 19_997)),
    ).join('')
    const texts = [noise, '\u6f22\u5b57'.repeat(9_000), '\u{20000}a'.repeat(5_000), 'short', '']
    for (const [i, text] of texts.entries()) put(store, pageOf(i), { text })
    for (const [i, text] of texts.entries())
      for (const units of [1, 2, 100, 2_000, 10_000])
        assert.equal(
          store.openingByDocno(i + 1, units)?.text.toWellFormed(),
          text.slice(0, units).toWellFormed(),
        )
    assert.equal(store.openingByDocno(99, 10), null)
  })

  it('is the same for some at once, in the order they are asked for, without those that there are not', () => {
    const store = open()
    const texts = ['one', '', '\u6f22\u5b57'.repeat(20_000), 'four']
    for (const [i, text] of texts.entries()) put(store, pageOf(i), { text, title: `title ${i}` })
    const asked = [4, 99, 3, 1, 2, 3]
    for (const units of [3, 2_000, 30_000]) {
      const wanted = asked.map((docno) => texts[docno - 1]?.slice(0, units))
      const titles = asked.map((docno) => (docno === 99 ? undefined : `title ${docno - 1}`))
      for (const found of [store.openingsByDocno(asked, units), store.shownByDocno(asked, units)]) {
        const [foundTexts, foundTitles] = [
          found.map((one) => one?.text),
          found.map((one) => one?.title),
        ]
        assert.deepEqual(foundTexts, wanted)
        assert.deepEqual(foundTitles, titles)
      }
    }
    assert.deepEqual(store.openingsByDocno([], 10), [])
  })
})

describe('the figures of a store', () => {
  it('keep a count of many rows for a while, and count few anew at each change', () => {
    const store = open()
    let nowMs = 0
    const stats = createStats(store.db, createMeta(store.db), () => nowMs)
    const add = (first: number, last: number): void => {
      store.db.exec(
        `WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})
         INSERT INTO doc(docno, url_id, host, key, lang, type, title, size, fetched_at, changed_at)
         SELECT i, i, 1, CAST(i AS BLOB), 'en', 'text/html', '', 0, 0, 0 FROM n`,
      )
      const generation = Number(createMeta(store.db).get('generation') ?? 0)
      createMeta(store.db).set('generation', String(generation + 1))
    }
    add(1, 10)
    assert.equal(stats().documents, 10)
    add(11, 10_000)
    assert.equal(stats().documents, 10_000)
    add(10_001, 10_001)
    nowMs = 499
    assert.equal(stats().documents, 10_000)
    nowMs = 500
    assert.equal(stats().documents, 10_001)
  })
})
