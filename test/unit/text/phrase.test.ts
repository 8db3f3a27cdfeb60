/** Pairs of neighbouring words: what a phrase has of them, every text has that holds the phrase. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { textTables } from '../../../src/assets.ts'
import { foldText } from '../../../src/text/normalize.ts'
import {
  eachWordPair,
  holdsPhrase,
  isTwoWords,
  pairsOfPhrase,
  phraseOf,
} from '../../../src/text/phrase.ts'
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

  it('of two words of alphabets are on no text that does not hold the phrase', () => {
    const word = fc.constantFrom('a', 'B', 'Käse', 'c++', '𝔘', '食', 'a食')
    const between = fc.constantFrom(' ', ' ', '-', '', '。')
    const written = fc
      .array(fc.tuple(word, between), { minLength: 8, maxLength: 20, size: 'max' })
      .map((pieces) => pieces.flat().join(''))
    let [held, other] = [0, 0]
    fc.assert(
      fc.property(written, word, word, (whole, a, b) => {
        const phrase = phraseOf(`${a} ${b}`)
        assert.ok(phrase)
        assert.equal(isTwoWords(phrase), !/食/.test(a + b))
        if (!isTwoWords(phrase)) return
        const [pair = -1] = pairsOfPhrase(`${a} ${b}`)
        const isHeld = holdsPhrase(foldText(whole), phrase)
        assert.equal(pairsOf(whole).has(pair), isHeld, `${a} ${b} in ${whole}`)
        if (isHeld) held += 1
        else other += 1
      }),
      { numRuns: 4_000 },
    )
    assert.ok(held > 100 && other > 100, `${held} held, ${other} did not`)
  })

  it('keep their order, and are few where the words are others', () => {
    assert.notDeepEqual(pairsOf('red cat'), pairsOf('cat red'))
    assert.deepEqual(pairsOf('Red — CAT'), pairsOf('red cat'))
    const many = new Set<number>()
    for (let i = 0; i < 10_000; i += 1) for (const pair of pairsOf(`w${i} x${i}`)) many.add(pair)
    // 2 ^ 32 numbers: one time in a hundred two of 10,000 meet.
    assert.ok(many.size > 9_990, String(many.size))
  })
})
