/** explain=1: the parts of a score, and that they are all of it. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Explanation, SearchAnswer, SearchRequest } from '../../../src/search/answer.ts'
import { frequencies, quantCode } from '../../../src/search/codes.ts'
import { type Collection, createCollection, searchRequest } from './collection.ts'

const soon = (): number => performance.now() + 10_000
const sum = (parts: readonly { score: number }[]): number =>
  parts.reduce((total, { score }) => total + score, 0)
const explanationsOf = ({ hits }: SearchAnswer): Explanation[] =>
  hits.map(({ explanation }) => explanation ?? assert.fail('a hit is not explained'))

/** Pages enough for words of which no more than a tenth of the pages know. */
const plain = Array.from({ length: 60 }, (_, i) => ({
  url: `https://plain.example/${i}`,
  title: `Note ${i}`,
  text: `Nothing of note happened on day ${i}. 今天没有新闻。`,
}))
const telling = [
  {
    url: 'https://a.example/cutting-glass',
    title: 'Cutting glass',
    text: 'How to cut glass: score the glass with a diamond cutter, then snap it along the line.',
    rest: 'glass home contact',
  },
  {
    url: 'https://b.example/diamonds',
    title: 'Diamonds',
    text: 'A diamond cutter snaps glass. Diamonds are cut by diamonds.',
  },
  {
    url: 'https://c.example/panes',
    title: '',
    text: 'Panes are cut from one large sheet of glass.',
  },
  {
    url: 'https://d.example/boli',
    title: '玻璃切割方法',
    text: '切割玻璃要用金刚石刀。玻璃很脆。',
  },
]
const queries = [
  'cutting glass',
  'how do I cut a large sheet of glass with diamonds',
  'glass glass diamond cutter',
  '玻璃切割',
  'glass 玻璃',
  '"diamond cutter"',
  'glass -panes',
  'glass OR diamonds',
]

describe('an explanation', () => {
  let collection: Collection
  beforeEach(() => {
    collection = createCollection()
    collection.add([...plain, ...telling])
  })
  afterEach(() => collection.close())
  const ask = (q: string, more: Partial<SearchRequest> = {}): SearchAnswer =>
    collection.searcher.answer(searchRequest(q, { explain: true, ...more }), soon())

  for (const q of queries)
    for (const match of ['auto', 'any'] as const)
      it(`adds up to the score, to the last bit: ${q} (${match})`, () => {
        const answer = ask(q, { match })
        assert(answer.hits.length > 0)
        for (const [i, { score, terms, reread, feedback }] of explanationsOf(answer).entries()) {
          assert.equal(sum(terms) + sum(reread) + sum(feedback), score)
          assert.equal(Math.round(score * 1e4) / 1e4, answer.hits[i]?.score)
          for (const part of terms) {
            const { weight, idf, frequency, length_norm: norm, k1 } = part
            const product = (weight * idf * (frequency * (k1 + 1))) / (frequency + k1 * norm)
            assert(Math.abs(product - part.score) < 1e-9)
          }
        }
      })

  it('counts a term in each field; the weighted sum is the frequency that the index keeps', () => {
    for (const q of queries)
      for (const { terms, field_weights: weights } of explanationsOf(ask(q, { match: 'any' })))
        for (const { kind, fields, frequency, term } of terms) {
          if (kind === 'title') continue
          let weighted = 0
          for (const field of ['title', 'text', 'headings', 'url', 'rest'] as const)
            weighted += weights[field] * fields[field]
          assert.equal(frequencies[quantCode(weighted)], frequency, `${q}: ${term}`)
        }
    const [first] = explanationsOf(ask('glass cutting'))
    const glass = first?.terms.find(({ term }) => term === 'glass')
    assert.deepEqual(glass?.fields, { title: 1, text: 2, headings: 0, url: 1, rest: 1 })
  })

  it('names the title, the words as typed, the neighbours and the words learnt', () => {
    const [first] = explanationsOf(ask('cutting glass', { match: 'any' }))
    assert(first)
    assert.deepEqual(
      first.reread.map(({ kind, terms }) => [kind, ...terms]),
      [['title'], ['exact', 'cutting'], ['exact', 'glass'], ['near', 'cut', 'glass']],
    )
    assert(first.terms.some(({ kind, term }) => kind === 'title' && term === 'cutting glass'))
    assert(first.feedback.some(({ terms }) => terms.includes('diamond')))
  })

  it('is not there unless it is asked for, and changes no score', () => {
    const bare = ask('cutting glass', { explain: false })
    assert(bare.hits.every((hit) => !('explanation' in hit)))
    assert.deepEqual(
      bare.hits.map(({ id, score }) => [id, score]),
      ask('cutting glass').hits.map(({ id, score }) => [id, score]),
    )
  })

  it('explains an exact copy by the postings of its original', () => {
    collection.add([
      {
        url: 'https://e.example/copy',
        text: telling[2]?.text ?? '',
        copyOf: telling[2]?.url ?? '',
      },
    ])
    const answer = ask('panes', { group: 'none' })
    assert.equal(answer.hits.length, 2)
    for (const { score, terms } of explanationsOf(answer)) {
      assert(terms.length > 0)
      assert.equal(sum(terms), score)
    }
  })
})
