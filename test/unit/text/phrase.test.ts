/** Pairs of neighbouring words: what a phrase has of them, every text has that holds the phrase. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { textTables } from '../../../src/assets.ts'
import { foldText } from '../../../src/text/normalize.ts'
import { eachWordPair, holdsPhrase, pairsOfPhrase, phraseOf } from '../../../src/text/phrase.ts'
import { loadTextTables } from '../../../src/text/tables.ts'

loadTextTables(textTables())
const pairsOf = (text: string): Set<number> => {
  const pairs = new Set<number>()
  eachWordPair(foldText(text), (pair) => pairs.add(pair))
  return pairs
}
const piece = fc.constantFrom(
  'a',
  'B',
  'cat',
  'Käse',
  '食',
  '品',
  'か',
  '𠀀',
  '𝔘',
  '1',
  'c++',
  ' ',
  ' ',
  ' ',
  '-',
  '.',
  '\n',
  '。',
  "'",
  'e\u0301',
  'ß',
)
const text = fc
  .array(piece, { minLength: 8, maxLength: 20, size: 'max' })
  .map((pieces) => pieces.join(''))

describe('pairs of neighbouring words', () => {
  it('are on every text that holds the phrase they are of', () => {
    let held = 0
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), text, (whole, from, length, strange) => {
        const cut = whole.slice(from % (whole.length + 1)).slice(0, 1 + (length % 12))
        for (const words of [cut, strange]) {
          const phrase = phraseOf(words)
          if (phrase === null || !holdsPhrase(foldText(whole), phrase)) continue
          const there = pairsOf(whole)
          const wanted = pairsOfPhrase(words)
          if (wanted.length > 0) held += 1
          for (const pair of wanted) assert.ok(there.has(pair), `${words} in ${whole}`)
        }
      }),
      { numRuns: 4_000 },
    )
    assert.ok(held > 100, `${held} phrases were found that have pairs`)
  })

  it('keep their order, and are few where the words are others', () => {
    assert.notDeepEqual(pairsOf('red cat'), pairsOf('cat red'))
    assert.deepEqual(pairsOf('Red — CAT'), pairsOf('red cat'))
    const many = new Set<number>()
    for (let i = 0; i < 10_000; i += 1) for (const pair of pairsOf(`w${i} x${i}`)) many.add(pair)
    // 2 ^ 18 numbers: of 10,000 about 190 meet another.
    assert.ok(many.size > 9_700, String(many.size))
  })
})
