/** The second look at the best pages, with an index and a store made up for it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Plan } from '../../../src/search/plan.ts'
import { createReranker } from '../../../src/search/rerank.ts'
import { testAnalyzer } from './collection.ts'

type Text = { title?: string; text: string }

const documents = 1_000
const forever = Number.POSITIVE_INFINITY

function rerankerOf(texts: readonly (Text | null)[], frequency = (_term: string): number => 10) {
  const reads: number[] = []
  const rerank = createReranker(
    {
      openingsByDocno: (docnos, unitsMax) =>
        docnos.map((docno) => {
          reads.push(docno)
          const page = texts[docno - 1]
          return page ? { title: page.title ?? '', text: page.text.slice(0, unitsMax) } : null
        }),
    },
    testAnalyzer(),
    {
      documents: () => documents,
      frequency,
      parts: () => 1,
      frequencyIn: frequency,
      lengthNorm: () => 1,
    },
  )
  /** Scores by docno of pages that all came with a score of 10, or of their own. */
  const scores = (query: string, before: (docno: number) => number = () => 10): number[] => {
    const hits = texts.map((_, i) => ({ docno: i + 1, score: before(i + 1), missing: [] }))
    const ranked = rerank(hits, planOf(query), forever)
    return texts.map((_, i) => ranked.find(({ docno }) => docno === i + 1)?.score ?? Number.NaN)
  }
  return { rerank, scores, reads }
}

function planOf(query: string): Plan {
  const { words } = testAnalyzer().query(query)
  return {
    index: {
      words: words.map(({ term }) => ({ term, weight: 1 })),
      bigrams: [],
      boosts: [],
      required: [],
      without: [],
      match: 'any',
    },
    forms: new Map(),
    sequence: words.filter(({ isPart }) => !isPart).map(({ term, form }) => ({ term, form })),
    marked: new Set(),
    isConditional: false,
    isPartlyConditional: false,
    warnings: [],
    fresh: null,
  }
}

const near = (actual: number | undefined, expected: number): void =>
  assert.ok(Math.abs((actual ?? 0) - expected) < 1e-9, `${actual} is not ${expected}`)

/** Frequencies that no feedback comes from: more than a tenth of the documents. */
const common = (): number => 500
const idf = (holders: number): number => Math.log(1 + (documents - holders + 0.5) / (holders + 0.5))
const saturated = (count: number, k1 = 1.2): number => (count * (k1 + 1)) / (count + k1)

describe('The second look', () => {
  it('adds a tenth for a word as it was typed, titles five times, and nothing for Han', () => {
    const { scores } = rerankerOf(
      [{ text: 'tests' }, { title: 'Testing', text: 'testing' }],
      common,
    )
    const [other, same] = scores('testing')
    near(other, 10)
    near(same, 10 + 0.1 * idf(500) * saturated(6) + 0.5 * idf(500))
    assert.deepEqual(
      rerankerOf([{ text: '\u6f22\u5b57' }, { text: '' }], common).scores('\u6c49\u5b57'),
      [10, 10],
    )
  })

  it('adds for neighbours of the query within eight words, by the square of their distance', () => {
    const between = (words: number): Text => ({ text: `reds ${'gap '.repeat(words)}foxes` })
    const { scores } = rerankerOf([between(0), between(3), between(7), between(8)], common)
    const found = scores('red fox')
    for (const [i, distance] of [1, 4, 8].entries())
      near(found[i], 10 + 0.2 * idf(500) * saturated(1 / distance ** 2))
    near(found[3], 10)
  })

  it('sees no nearness between title and text', () => {
    const { scores } = rerankerOf([{ title: 'reds', text: 'foxes' }, { text: '' }], common)
    const [half, none] = scores('red fox')
    // Half of the query is the title: that is all it gets.
    near(half, 10 + 0.5 * 2 * idf(500) * 0.5 ** 2)
    near(none, 10)
  })

  it('prefers the page whose title is the query, and least the one that has it among other words', () => {
    const titles = ['3.2. Red Fox', 'Red Fox Tails', 'Tails of Foxes', 'Tails']
    const { scores } = rerankerOf(
      titles.map((title) => ({ title, text: '' })),
      common,
    )
    const all = 2 * idf(500)
    const nearTitle = 0.2 * idf(500) * saturated(1)
    const [whole, longer, part, other] = scores('red foxes')
    const typed = 0.1 * idf(500) * saturated(5)
    near(whole, 10 + 0.5 * all + nearTitle + typed)
    near(longer, 10 + (0.5 * all * 2) / 3 + nearTitle + typed)
    near(part, 10 + (0.5 * all * 0.5 ** 2) / 2 + typed)
    near(other, 10)
  })

  it('lends rare words of the best pages to pages that share them', () => {
    const texts = [{ text: 'query gnome' }, { text: 'query gnome' }, { text: 'query' }]
    const { scores } = rerankerOf(texts, (term) => (term === 'gnome' ? 20 : 500))
    const [first, second, third] = scores('queries')
    // Three pages equally trusted, two of which hold the word.
    near(first, 10 + 0.15 * (2 / 3) * saturated(1) * idf(20) * saturated(1))
    assert.equal(second, first)
    assert.equal(third, 10)
  })

  it('learns from five pages', () => {
    const texts = Array.from({ length: 7 }, (_, i) => ({ text: i < 5 ? 'query' : 'query gnome' }))
    const { scores } = rerankerOf(texts, (term) => (term === 'gnome' ? 20 : 500))
    assert.deepEqual(new Set(scores('queries')), new Set([10]))
  })

  it('learns nothing of words that one page holds, or more than a tenth of all', () => {
    const texts = [{ text: 'query gnome' }, { text: 'query gnome' }]
    for (const [holders, learns] of [
      [1, false],
      [2, true],
      [100, true],
      [101, false],
    ] as const) {
      const { scores } = rerankerOf(texts, (term) => (term === 'gnome' ? holders : 500))
      assert.equal((scores('queries')[0] ?? 0) > 10, learns, `${holders} holders`)
    }
  })

  it('learns the twenty most telling words, asking no more than it must', () => {
    const rare = Array.from({ length: 30 }, (_, i) => `w${String.fromCodePoint(97 + (i % 26))}${i}`)
    const weighty = { title: rare.slice(0, 20).join(' '), text: '' }
    const asked = new Set<string>()
    const frequency = (term: string): number => {
      asked.add(term)
      return 2
    }
    const { scores } = rerankerOf(
      [{ ...weighty, text: rare.slice(20).join(' ') }, { text: rare.slice(20).join(' ') }],
      frequency,
    )
    const found = scores('absent', (docno) => (docno === 1 ? 10 : 0.001))
    // The second page holds only words that are not among the twenty.
    near(found[1], 0.001)
    assert.equal(
      rare.slice(20).some((term) => asked.has(term)),
      false,
    )
  })

  it('reads no more than 30 pages, each once, and leaves the others below', () => {
    const { rerank, reads } = rerankerOf(
      Array.from({ length: 40 }, () => ({ text: 'reds' })),
      common,
    )
    const hits = Array.from({ length: 40 }, (_, i) => ({
      docno: i + 1,
      score: 100 - i,
      missing: [],
    }))
    for (const _ of [1, 2]) {
      const ranked = rerank(hits, planOf('reds'), forever)
      assert.deepEqual(ranked.slice(30), hits.slice(30))
      assert.equal(ranked.length, 40)
    }
    assert.equal(reads.length, 30)
  })

  it('gives hits back as they came when time is short or a page is gone', () => {
    const hits = [1, 2].map((docno) => ({ docno, score: 10, missing: [] }))
    const { rerank } = rerankerOf([{ text: 'red' }, { text: 'red' }])
    assert.equal(rerank(hits, planOf('red'), performance.now() - 1_000), hits)
    const { rerank: lacking } = rerankerOf([{ text: 'red' }, null])
    assert.equal(lacking(hits, planOf('red'), forever), hits)
  })
})
