/** The memory of words: what was read before changes nothing, however full it is. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, it } from 'node:test'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'

/** Mulberry32. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const endings = ['', 's', 'ing', 'ed', 'ions', "'s", 'Name', '_id', '.js', '8', '字库']
const letters = 'abcdefghiklmnoprstuvyé'

/** Words that come again now and then, in other spellings, and words that never do. */
function wordsOf(pick: (below: number) => number, count: number): string {
  const words: string[] = []
  for (let i = 0; i < count; i += 1) {
    const isOld = pick(3) === 0
    let word = ''
    for (let seed = isOld ? pick(4_000) : 4_000 + pick(2 ** 30); seed > 0;)
      [word, seed] = [
        word + (letters[seed % letters.length] as string),
        Math.floor(seed / letters.length),
      ]
    if (pick(4) === 0) word = (word[0] ?? '').toUpperCase() + word.slice(1)
    words.push(word + (endings[pick(endings.length)] as string))
  }
  return words.join(' ')
}

const fieldsOf = (text: string) => ({
  title: text.slice(0, 40),
  headings: '',
  text,
  rest: '',
  url: 'http://a.example/b',
})

describe('the memory of words', () => {
  it('changes no term, frequency, length or pair, through many generations', () => {
    const seed = randomInt(2 ** 31)
    const pick = randomFrom(seed)
    const tables = loadTestTables()
    const used = createAnalyzer(tables)
    let words = 0
    while (words < 200_000) {
      const count = 1 + pick(6_000)
      words += count
      const page = fieldsOf(wordsOf(pick, count))
      const fresh = createAnalyzer(tables).document(page)
      assert.deepEqual(used.document(page), fresh, `seed ${seed}, after ${words} words`)
    }
  })

  it('keeps words that are longer than it keeps apart', () => {
    const analyzer = createAnalyzer(loadTestTables())
    const long = ['a.'.repeat(80), 'b.'.repeat(80)]
    for (const text of [long.join(' '), ...long, long.join(' ')]) {
      const fresh = createAnalyzer(loadTestTables()).document(fieldsOf(text))
      assert.deepEqual(analyzer.document(fieldsOf(text)), fresh)
    }
  })

  it('keeps nothing of them', () => {
    const analyzer = createAnalyzer(loadTestTables())
    const before = process.memoryUsage().arrayBuffers
    const text = `${'a.'.repeat(200)} `.repeat(20)
    for (let i = 0; i < 2_000; i += 1) analyzer.document(fieldsOf(text))
    assert(process.memoryUsage().arrayBuffers - before < 4 * 2 ** 20)
  })
})
