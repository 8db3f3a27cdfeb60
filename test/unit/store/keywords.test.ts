/** How keywords are kept: their weights come back as shares, and those of older directories are read. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keywordsOf, keywordsWhere, packKeywords } from '../../../src/store/keywords.ts'

const some = [
  { word: 'search engine', weight: 7.5 },
  { word: '42', weight: 3 },
  { word: '茶園', weight: 0.01 },
]
const shares = [
  { word: 'search engine', weight: 100 },
  { word: '42', weight: 40 },
  { word: '茶園', weight: 1 },
]

describe('kept keywords', () => {
  it('come back with their weights as shares of the first, none below 1', () => {
    assert.deepEqual(keywordsOf(packKeywords(some)), shares)
    assert.deepEqual(keywordsOf(JSON.parse(JSON.stringify(packKeywords(some)))), shares)
  })

  it('are none where a page has none, and survive a weight of 0', () => {
    assert.deepEqual(packKeywords([]), [])
    assert.deepEqual(keywordsOf([]), [])
    assert.deepEqual(keywordsOf(packKeywords([{ word: 'a', weight: 0 }])), [
      { word: 'a', weight: 1 },
    ])
  })

  it('of an older directory are words alone, which weigh less the later they come', () => {
    const read = keywordsOf(['a', 'b', 'c'])
    assert.deepEqual(
      read.map(({ word }) => word),
      ['a', 'b', 'c'],
    )
    const [a, b, c] = read.map(({ weight }) => weight)
    assert.ok(a === 100 && b! < a && c! < b! && c! >= 1)
  })

  it('lose a word with its weight', () => {
    const without = (packed: readonly (string | number)[]) =>
      keywordsWhere(packed, (word) => word !== '42')
    assert.deepEqual(without(packKeywords(some)), ['search engine', 100, '茶園', 1])
    assert.deepEqual(without(['42', 'a', 'b']), ['a', 'b'])
  })
})
