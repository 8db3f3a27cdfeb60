/** Keywords by number: spellings of one word share one, documents keep theirs in order, what is masked is forgotten for good. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  createKeywordWrites,
  documentKeywordsMax,
  keywordKeyCharsMax,
} from '../../../src/store/keyword-table.ts'
import { keywordKey } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'
import { open, type Page, put } from './store-fixture.ts'

loadTestTables()
const opened = () => {
  const { db } = open()
  const idsOf = (docno: number): number[] => {
    const packed = Buffer.from(
      db.prepare<{ ids: Uint8Array }>('SELECT ids FROM doc_keyword WHERE docno=?').value(docno) ??
        [],
    )
    return Array.from({ length: packed.length / 4 }, (_, i) => packed.readUInt32BE(i * 4))
  }
  const words = (): string[] =>
    db
      .prepare<{ word: string }>('SELECT word FROM keyword ORDER BY id')
      .all()
      .map(({ word }) => word)
  return { writes: createKeywordWrites(db, keywordKey), idsOf, words }
}

describe('the key of a keyword', () => {
  const alike = [
    ['Search Engines', 'search  engine', ' SEARCH ENGINE '],
    ['茶園', '茶园'],
    ['Café', 'cafe'],
    ['node.js', 'Node.JS'],
  ]
  for (const spellings of alike)
    it(`is one for ${spellings.join(', ')}`, () => {
      assert.equal(new Set(spellings.map(keywordKey)).size, 1)
    })
  it('tells words apart that are not spellings of one', () => {
    const words = ['c', 'c++', 'c#', 'search', 'search engine', 'engine', '茶', '茶园']
    assert.equal(new Set(words.map(keywordKey)).size, words.length)
    assert.equal(keywordKey('  '), '')
  })
})

describe('keywords of documents', () => {
  it('have one number for all spellings, in the order of the page, the shortest is shown', () => {
    const { writes, idsOf, words } = opened()
    writes.putKeywords(1, ['Crawlers', 100, 'engine', 50, 'crawler', 10])
    writes.putKeywords(2, ['Engines', 'crawler'])
    assert.deepEqual(
      [idsOf(1), idsOf(2)],
      [
        [1, 2],
        [2, 1],
      ],
    )
    assert.deepEqual(words(), ['crawler', 'engine'])
    writes.putKeywords(2, [])
    writes.moveKeywords(3, 1)
    assert.deepEqual([idsOf(1), idsOf(2), idsOf(3)], [[], [], [1, 2]])
    writes.dropKeywords(3)
    assert.deepEqual(idsOf(3), [])
  })

  it('are so many, and so long, and no longer', () => {
    const { writes, idsOf, words } = opened()
    writes.putKeywords(
      1,
      Array.from({ length: documentKeywordsMax + 1 }, (_, i) => `w${i}`),
    )
    assert.equal(idsOf(1).length, documentKeywordsMax)
    const longest = '茶'.repeat(keywordKeyCharsMax)
    writes.putKeywords(2, [longest, `${longest}园`, ' '])
    assert.equal(idsOf(2).length, 1)
    assert.equal(words().at(-1), longest)
  })

  it('lose a word for good, and its number with it', () => {
    const { writes, idsOf, words } = opened()
    writes.putKeywords(1, ['Casino', 'red'])
    writes.forgetKeyword('casinos')
    writes.forgetKeyword('never there')
    assert.deepEqual(words(), ['', 'red'])
    writes.putKeywords(2, ['casino', 'red'])
    assert.deepEqual(
      [idsOf(1), idsOf(2)],
      [
        [1, 2],
        [3, 2],
      ],
    )
  })

  it('give back their numbers with the transaction that gave them', () => {
    const store = open()
    const page = (keywords: string[]): Page => ({
      extra: { description: '', author: '', headings: '', keywords, fields: {} },
    })
    const idsOf = (docno: number): string =>
      store.db
        .prepare<{ ids: string }>('SELECT hex(ids) FROM doc_keyword WHERE docno=?')
        .value(docno) ?? ''
    const failing = (): never => {
      put({ ...store, transaction: (work) => work() }, 'http://h.test/a', page(['tea', 'cup']))
      throw new Error('the disk is full')
    }
    assert.throws(() => store.transaction(failing), /disk is full/)
    const cup = put(store, 'http://h.test/b', page(['cup']))
    const tea = put(store, 'http://h.test/c', page(['tea']))
    assert.deepEqual([idsOf(cup.docno), idsOf(tea.docno)], ['00000001', '00000002'])
  })
})
