/** Slices, crashes between them, and the dead: what a merge may leave behind, which is nothing. */
import assert from 'node:assert'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Db } from '../../../src/lib/sqlite.ts'
import { createIndexReader, createIndexWriter } from '../../../src/search/flex.ts'
import type { IndexWriter } from '../../../src/search/index.ts'
import { leafBytesMax } from '../../../src/search/packer.ts'
import { bury, createPlace, indexedDocument, indexQuery, type Place } from './index-fixture.ts'

const forever = Number.POSITIVE_INFINITY
const count = (db: Db, sql: string): number => Number(db.prepare(sql).value())
const orphans = (db: Db): number =>
  count(db, 'SELECT count(*) FROM leaf WHERE k / 1048576 NOT IN (SELECT id FROM seg)')

/** Far more than the largest job of these tests takes. */
const slicesMax = 3_000

/** A clock that runs on at each look: a slice of 0 ms ends at the first. */
const tick =
  (now = 0) =>
  () =>
    (now += 1)
/** 300 terms, so that a merge takes many slices. */
const page = (docno: number) =>
  indexedDocument(docno, {
    common: (docno % 5) + 1,
    ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`word${(i * docno) % 997}`, 1])),
  })

describe('the segments of an index', () => {
  let place: Place
  let db: Db
  beforeEach(() => {
    place = createPlace()
    db = place.open()
  })
  afterEach(() => place.remove())

  const openWriter = (): IndexWriter =>
    createIndexWriter(db, { nowMs: tick(), fanIn: 4, deadCountMin: 1 })
  const drain = (writer: IndexWriter): void => {
    for (let slices = 0; writer.work(0, true); slices += 1)
      assert.ok(slices < slicesMax, 'the work comes to an end')
  }
  const found = (): number[] => {
    const reader = createIndexReader(place.open(true))
    reader.begin()
    const { hits } = reader.search(indexQuery(['common']), 1_000, forever)
    reader.end()
    return hits.map(({ docno }) => docno).sort((a, b) => a - b)
  }
  const store = (writer: IndexWriter, first: number, last: number): void => {
    writer.apply(Array.from({ length: last - first + 1 }, (_, i) => page(first + i)))
  }

  it('answer alike after a crash at any slice of flush and merge, and keep no leaf of it', () => {
    const writer = openWriter()
    for (let i = 0; i < 3; i += 1) {
      store(writer, i * 20 + 1, i * 20 + 20)
      drain(writer)
    }
    store(writer, 61, 80)
    const all = Array.from({ length: 80 }, (_, i) => i + 1)
    let crashes = 0
    for (let slices = 1; slices < 60; slices += 4) {
      const broken = openWriter()
      store(broken, broken.watermark() + 1, 80)
      for (let i = 0; i < slices; i += 1) broken.work(0, true)
      if (orphans(db) > 0) crashes += 1
      assert.deepEqual(found(), all.slice(0, broken.watermark()))
    }
    assert.ok(crashes > 2, 'some crashes were in the middle')
    const last = openWriter()
    store(last, last.watermark() + 1, 80)
    drain(last)
    assert.deepEqual(found(), all)
    assert.equal(orphans(db), 0)
  })

  it('lose the dead, and their tombstones, when they are mostly dead', () => {
    const writer = openWriter()
    store(writer, 1, 30)
    drain(writer)
    const before = count(db, 'SELECT sum(length(b)) FROM leaf')
    for (let docno = 1; docno <= 20; docno += 1) bury(db, docno)
    assert.deepEqual(found(), [21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
    drain(writer)
    assert.equal(count(db, 'SELECT count(*) FROM tombstone'), 0)
    assert.ok(count(db, 'SELECT sum(length(b)) FROM leaf') < before * 0.7)
    assert.deepEqual(found(), [21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
  })

  it('keep a tombstone that came while the merge was under way', () => {
    const writer = openWriter()
    store(writer, 1, 10)
    writer.work(0, true)
    assert.ok(writer.watermark() === 0, 'still flushing')
    bury(db, 4)
    drain(writer)
    assert.ok(!found().includes(4))
    assert.equal(found().length, 9)
  })

  it('show an old reader who died, also when as many tombstones went as came', () => {
    const writer = openWriter()
    store(writer, 1, 6)
    drain(writer)
    store(writer, 7, 12)
    drain(writer)
    const reader = createIndexReader(place.open(true))
    const seen = (): number[] => {
      reader.begin()
      const { hits } = reader.search(indexQuery(['common']), 1_000, forever)
      reader.end()
      return hits.map(({ docno }) => docno).sort((a, b) => a - b)
    }
    for (const docno of [1, 2, 3]) bury(db, docno)
    assert.deepEqual(seen(), [4, 5, 6, 7, 8, 9, 10, 11, 12])
    drain(writer)
    assert.equal(count(db, 'SELECT count(*) FROM tombstone'), 0)
    for (const docno of [10, 11, 12]) bury(db, docno)
    assert.deepEqual(seen(), [4, 5, 6, 7, 8, 9])
  })

  it('fit a page of SQLite each, however long a list is', () => {
    const writer = openWriter()
    writer.apply(
      Array.from({ length: 3_000 }, (_, i) => indexedDocument(i * 2_000 + 1, { common: 1 })),
    )
    drain(writer)
    assert.ok(count(db, 'SELECT count(*) FROM leaf') > 1)
    assert.ok(count(db, 'SELECT max(length(b)) FROM leaf') <= leafBytesMax)
  })

  it('say of all their leaves which terms are not there, and answer alike where they do not', () => {
    const writer = openWriter()
    for (let i = 0; i < 5; i += 1) {
      store(writer, i * 20 + 1, i * 20 + 20)
      drain(writer)
    }
    const terms = ['common', 'word7', 'word996', 'word997', '']
    const frequencies = (): number[] => {
      const reader = createIndexReader(place.open(true))
      reader.begin()
      const counted = terms.map((term) => {
        const parts = Array.from({ length: reader.parts() }, (_, part) =>
          reader.frequencyIn(term, part),
        )
        assert.equal(
          parts.reduce((sum, own) => sum + own, 0),
          reader.frequency(term),
        )
        return reader.frequency(term)
      })
      reader.end()
      return counted
    }
    const filtered = frequencies()
    assert.deepEqual(
      filtered.map((holders) => Math.sign(holders)),
      [1, 1, 1, 0, 0],
    )
    assert.equal(count(db, 'SELECT count(*) FROM seg WHERE terms IS NULL'), 0)
    db.exec('UPDATE seg SET terms = NULL')
    assert.deepEqual(frequencies(), filtered)
    // As an older program left it, for who only reads.
    db.exec('ALTER TABLE seg DROP COLUMN terms')
    assert.deepEqual(frequencies(), filtered)
  })

  it('survive an update in the same instant: the watermark does not fall when the newest document dies', () => {
    const writer = openWriter()
    store(writer, 1, 10)
    for (let docno = 6; docno <= 10; docno += 1) bury(db, docno)
    drain(writer)
    assert.equal(writer.watermark(), 10)
    assert.equal(openWriter().watermark(), 10)
    assert.deepEqual(found(), [1, 2, 3, 4, 5])
  })

  it('are gone after clear, and everything may be applied again', () => {
    const writer = openWriter()
    store(writer, 1, 10)
    drain(writer)
    writer.clear()
    assert.equal(writer.watermark(), 0)
    assert.deepEqual(found(), [])
    store(writer, 1, 10)
    drain(writer)
    assert.equal(found().length, 10)
  })

  it('show a document handed over twice only once', () => {
    const writer = openWriter()
    store(writer, 1, 5)
    store(writer, 3, 8)
    store(writer, 2, 6)
    assert.equal(writer.pending().length, 2)
    drain(writer)
    assert.equal(found().length, 8)
  })
})
