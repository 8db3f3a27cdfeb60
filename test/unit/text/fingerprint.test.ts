/** What pages are recognised by: which differences a fingerprint sees, and which it does not. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { fingerprint, numberSimilarity, textSimilarity } from '../../../src/text/fingerprint.ts'
import { loadTestTables } from '../../text-tables.ts'

const seed = 8_123_456_789_012
const of = (text: string) => fingerprint(text, seed)
const bits = (x: number): number => x.toString(2).replaceAll('0', '').length
const wordOf = (n: number): string => `w${n.toString(36).replaceAll(/\d/g, 'x')}yz`

describe('a fingerprint', () => {
  before(() => void loadTestTables())

  const same: [what: string, a: string, b: string][] = [
    ['white space and line breaks', 'one two\n\n three', ' one  two three '],
    ['letter case', 'Berlin and Paris', 'BERLIN AND pARIS'],
    ['punctuation', 'Stop! Go, now.', 'stop go now'],
    ['full width', 'ＡＢＣ １２３ word', 'abc 123 word'],
    ['traditional and simplified', '漢語資料庫說明', '汉语资料库说明'],
    ['zero-width characters', 'in\u200bvisible text', 'invisible text'],
  ]
  for (const [what, a, b] of same) it(`does not see ${what}`, () => assert.deepEqual(of(a), of(b)))

  const different: [what: string, a: string, b: string][] = [
    ['another word', 'one two three', 'one two four'],
    ['another order', 'one two three', 'three two one'],
    ['a word more', 'one two three', 'one two three three'],
    ['words joined', 'back bone here', 'backbone here'],
    ['another ideograph', '东边日出西边雨', '东边日出西边风'],
    ['another number', 'page 7 of 9', 'page 8 of 9'],
    // Both words have the same 32-bit FNV-1a hash: the digest must not rest on hashes of tokens.
    ['words with the same hash', 'the liquid word', 'the costarring word'],
  ]
  for (const [what, a, b] of different)
    it(`sees ${what} in the digest`, () => assert.notDeepEqual(of(a).digest, of(b).digest))

  it('is another one for another seed, also above 32 bits', () => {
    const text = 'A page of some words that stand for many others, 2024 and 2025.'
    for (const other of [seed + 1, seed + 2 ** 40, 0]) {
      const [a, b] = [of(text), fingerprint(text, other)]
      assert.notDeepEqual(a.digest, b.digest)
      assert.notDeepEqual([a.simHi, a.simLo], [b.simHi, b.simLo])
      assert.notDeepEqual(a.anchors, b.anchors)
      assert.ok(textSimilarity(a.sketch, b.sketch) < 0.5)
      assert.notEqual(a.numbers, b.numbers)
    }
  })

  const tokens: [text: string, tokens: number, figures: number][] = [
    ['', 0, 0],
    [' \n.,;—', 0, 0],
    ['one', 1, 0],
    ['中文也可以', 5, 0],
    ['ひらがなカナ', 6, 0],
    ['𠀀𠀁 extra', 3, 0],
    ['abc123def', 3, 1],
    ['12,345.67 and 12,345.67', 7, 1],
    ['12 345 67', 3, 3],
    ['1, 2', 2, 2],
    ['3.', 1, 1],
  ]
  for (const [text, count, figures] of tokens)
    it(`counts ${count} tokens and ${figures} numbers in ${JSON.stringify(text)}`, () => {
      const { tokens: counted, figures: found } = of(text)
      assert.deepEqual([counted, found], [count, figures])
    })

  it('sums numbers whatever their order', () => {
    assert.equal(of('5 apples, 7 pears').numbers, of('7 pears 5 apples').numbers)
    assert.notEqual(of('5 apples, 7 pears').numbers, of('5 apples, 8 pears').numbers)
    assert.notEqual(of('12,345').numbers, of('12 345').numbers)
  })

  it('has at most 8 distinct anchors, ascending, that survive a header', () => {
    const text = Array.from({ length: 120 }, (_, i) => wordOf(i * 7 + 3)).join(' ')
    const { anchors } = of(text)
    assert.equal(anchors.length, 8)
    assert.deepEqual(
      [...anchors],
      [...new Set(anchors)].toSorted((a, b) => a - b),
    )
    const framed = new Set(of(`Home News Contact ${text} all rights reserved`).anchors)
    assert.ok(anchors.filter((anchor) => framed.has(anchor)).length >= 6)
    assert.equal(of('one two').anchors.length, 1)
    assert.equal(of('').anchors.length, 0)
  })

  it('leaves common words out of the SimHash only', () => {
    const a = of('crawler frontier politeness budget')
    const b = of('the crawler and the frontier, with its politeness or the budget')
    assert.deepEqual([a.simHi, a.simLo], [b.simHi, b.simLo])
    assert.notDeepEqual(a.sketch, b.sketch)
  })

  it('stands in buffers of its own, which can be transferred', () => {
    const { digest, anchors, sketch } = of('some text of a page')
    assert.deepEqual([digest.length, digest.buffer.byteLength], [16, 16])
    assert.deepEqual([sketch.length, sketch.buffer.byteLength], [144, 144])
    assert.equal(anchors.buffer.byteLength, anchors.byteLength)
  })

  it('reads 50,000 tokens, and the digest reads all', () => {
    const text = 'ab '.repeat(50_000)
    const [at, above, other] = [of(text), of(`${text}cd`), of(`${text}ce`)]
    assert.deepEqual([at.tokens, above.tokens], [50_000, 50_000])
    assert.deepEqual(at.sketch, above.sketch)
    assert.notDeepEqual(at.digest, above.digest)
    assert.notDeepEqual(above.digest, other.digest)
    assert.equal(of('ab '.repeat(49_999)).tokens, 49_999)
  })

  it('takes any text, and answers the same each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const first = of(text)
        of('something between')
        assert.deepEqual(of(text), first)
      }),
      { numRuns: 200 },
    )
  })
})

describe('similarity', () => {
  before(() => void loadTestTables())

  /** Jaccard similarity of the multisets of two-word runs: what the sketch estimates. */
  const exact = (a: readonly string[], b: readonly string[]): number => {
    const runs = (words: readonly string[]): Map<string, number> => {
      const counts = new Map<string, number>()
      for (let i = 0; i + 1 < words.length; i++) {
        const run = `${words[i]} ${words[i + 1]}`
        counts.set(run, (counts.get(run) ?? 0) + 1)
      }
      return counts
    }
    const [x, y] = [runs(a), runs(b)]
    let [both, all] = [0, 0]
    for (const run of new Set([...x.keys(), ...y.keys()])) {
      both += Math.min(x.get(run) ?? 0, y.get(run) ?? 0)
      all += Math.max(x.get(run) ?? 0, y.get(run) ?? 0)
    }
    return both / all
  }

  it('is the share of common runs, within the error of 256 bins', () => {
    const words = fc.array(fc.integer({ min: 0, max: 3_000 }).map(wordOf), {
      minLength: 150,
      maxLength: 500,
    })
    fc.assert(
      fc.property(words, fc.double({ min: 0, max: 1, noNaN: true }), (a, share) => {
        const b = a.map((word, i) => (i < a.length * share ? word : `${word}other`))
        const estimate = textSimilarity(of(a.join(' ')).sketch, of(b.join(' ')).sketch)
        // Six standard deviations of a share of 256.
        assert.ok(Math.abs(estimate - exact(a, b)) < 0.19, `${estimate} ${exact(a, b)}`)
      }),
      { numRuns: 60 },
    )
  })

  it('is 1 for the same text, the same both ways, and about 0 for strangers', () => {
    const a = of(Array.from({ length: 200 }, (_, i) => wordOf(i)).join(' '))
    const b = of(Array.from({ length: 200 }, (_, i) => wordOf(i + 9_000)).join(' '))
    assert.equal(textSimilarity(a.sketch, a.sketch), 1)
    assert.equal(textSimilarity(a.sketch, b.sketch), textSimilarity(b.sketch, a.sketch))
    assert.ok(textSimilarity(a.sketch, b.sketch) < 0.06)
    assert.ok(bits(a.simHi ^ b.simHi) + bits(a.simLo ^ b.simLo) > 16)
    assert.equal(textSimilarity(of('').sketch, of('').sketch), 0)
  })

  it('counts repetitions: a phrase said once is not the phrase said often', () => {
    const phrase = 'alpha beta gamma delta epsilon '
    const [once, often] = [of(phrase), of(phrase.repeat(20))]
    assert.ok(textSimilarity(once.sketch, often.sketch) < 0.2)
    assert.ok(textSimilarity(of(phrase.repeat(19)).sketch, often.sketch) > 0.8)
  })

  it('compares numbers apart from words', () => {
    const a = of('total 11 22 33 44 55 66 77 88')
    const b = of('sum is 88 77 66 55 44 33 22 11')
    const c = of('total 12 23 34 45 56 67 78 89')
    assert.equal(numberSimilarity(a.sketch, b.sketch), 1)
    assert.ok(numberSimilarity(a.sketch, c.sketch) < 0.4)
    assert.equal(numberSimilarity(of('no').sketch, of('none').sketch), 0)
  })
})
