/** The words that tell most of the best pages: the same as by asking for every frequency, with far less asking. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { ranking } from '../../../src/search/ranking.ts'
import { inverseFrequency } from '../../../src/search/score.ts'
import { createFrequencies, mostTelling, type Telling } from '../../../src/search/telling.ts'

const documents = 5_000
type Word = { value: number; holders: readonly number[]; isKnown: boolean }

/** Few different values and frequencies, so that many are equal; now and then a frequent word. */
const word = fc.record<Word>({
  value: fc.integer({ min: 1, max: 12 }).map((value) => value / 8),
  holders: fc.array(fc.oneof({ weight: 6, arbitrary: fc.nat(2) }, fc.nat(300)), {
    minLength: 3,
    maxLength: 3,
  }),
  isKnown: fc.boolean(),
})
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
/** One is too short to tell anything. */
const termOf = (number: number): string => (number === 7 ? 'x' : `w${(number * 7_919) % 1_000}`)

function naive(words: readonly Word[]): Telling[] {
  return words
    .map(({ value, holders }, number) => ({
      number,
      term: termOf(number),
      value,
      all: sum(holders),
    }))
    .filter(
      ({ term, all }) =>
        term.length > 1 && all >= ranking.holdersMin && all <= ranking.feedbackShareMax * documents,
    )
    .map(({ number, term, value, all }) => ({
      number,
      term,
      value: value * inverseFrequency(documents, all),
    }))
    .toSorted((a, b) => b.value - a.value || (a.term < b.term ? -1 : 1))
    .slice(0, ranking.feedbackTerms)
}

describe('the most telling words', () => {
  it('are those that all frequencies would show, in the same order, of which most are not asked for', () => {
    let [asked, all] = [0, 0]
    fc.assert(
      fc.property(fc.array(word, { minLength: 0, maxLength: 400, size: 'max' }), (words) => {
        const byTerm = new Map(words.map((one, number) => [termOf(number), one]))
        const values = new Map(words.map(({ value }, number) => [number, value]))
        const remembered = new Map(
          [...byTerm]
            .filter(([, { isKnown }]) => isKnown)
            .map(([term, { holders }]) => [term, sum(holders)]),
        )
        const index = {
          documents: () => documents,
          parts: () => 3,
          frequencyIn(term: string, part: number): number {
            asked += 1
            assert.ok(!remembered.has(term), 'what is remembered is not asked for')
            return byTerm.get(term)?.holders[part] ?? assert.fail()
          },
        }
        const least = new Map(
          [...byTerm]
            .filter(([, { holders, isKnown }]) => !isKnown && (holders[1] ?? 0) % 2 === 0)
            .map(([term, { holders }]) => [term, holders[0] ?? 0]),
        )
        const frequencies = {
          atLeast: (term: string) => least.get(term) ?? 0,
          rememberAtLeast(term: string, holders: number): void {
            assert.ok(holders > ranking.feedbackShareMax * documents)
            assert.ok(holders <= sum(byTerm.get(term)?.holders ?? []))
          },
          known: (term: string) => remembered.get(term),
          remember(term: string, holders: number): void {
            assert.equal(holders, sum(byTerm.get(term)?.holders ?? []))
            remembered.set(term, holders)
          },
        }
        all += 3 * [...byTerm.values()].filter(({ isKnown }) => !isKnown).length
        assert.deepEqual(mostTelling(values, termOf, frequencies, index), naive(words))
      }),
    )
    assert.ok(asked * 2 < all, `${asked} of ${all}`)
  })

  it('are not looked for again among words that too many documents hold', () => {
    const asked: string[] = []
    const index = {
      documents: () => documents,
      frequency: () => assert.fail(),
      parts: () => 3,
      frequencyIn(term: string, part: number): number {
        asked.push(`${term} ${part}`)
        return term === 'all' ? 400 : 1
      },
    }
    const frequencies = createFrequencies(index)
    const values = new Map([
      [1, 1],
      [2, 1],
    ])
    const find = (): string[] =>
      mostTelling(values, (number) => (number === 1 ? 'all' : 'some'), frequencies, index).map(
        ({ term }) => term,
      )
    assert.deepEqual([find(), find()], [['some'], ['some']])
    assert.deepEqual(asked.toSorted(), ['all 0', 'all 1', 'some 0', 'some 1', 'some 2'])
  })

  it('have the frequencies of words that come again remembered, however many others come', () => {
    let asked = 0
    const frequencies = createFrequencies({ documents: () => 1, frequency: () => ++asked })
    for (let i = 0; i < 30_000; i += 1) {
      frequencies.of(`w${i}`)
      assert.equal(frequencies.of('again'), 2)
    }
    assert.equal(asked, 30_001)
    assert.equal(frequencies.known('w29999'), 30_001)
    assert.equal(frequencies.known('w5'), undefined)
  })

  it('have frequencies that are remembered until the collection has grown by a tenth', () => {
    let [holds, count] = [1_000, 5]
    const frequencies = createFrequencies({ documents: () => holds, frequency: () => count })
    assert.equal(frequencies.known('a'), undefined)
    assert.equal(frequencies.of('a'), 5)
    frequencies.remember('b', 7)
    count = 6
    holds = 1_100
    assert.deepEqual([frequencies.of('a'), frequencies.known('b')], [5, 7])
    holds = 1_101
    assert.deepEqual([frequencies.known('b'), frequencies.of('a')], [undefined, 6])
  })
})
