/** The second look: the best 30 pages are read again for exact forms, nearness and words that tell. Adds to scores, so page 31 stays below. */
import type { Reader } from '../store/reader.ts'
import { foldText } from '../text/normalize.ts'
import { isStopWord } from '../text/stopwords.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { IndexHit, IndexReader } from './index.ts'
import type { Plan } from './plan.ts'
import { inverseFrequency, isHanTerm, saturated } from './score.ts'

/** Constants of the ranking, each on a plateau of the development sets. */
const poolSize = 30
const charsRead = 2_000
const titleWeight = 5
const exactWeight = 0.1
const nearWeight = 0.2
const nearWindow = 8
const feedbackWeight = 0.15
const feedbackPages = 5
const feedbackTerms = 20
const trustPower = 3
const feedbackShareMax = 0.1
/** Title and text must not look near each other. */
const titleGap = nearWindow + 2
/** Frequencies remembered: they change slowly, and the same words come again. */
const frequenciesKept = 20_000

/** A page of the pool after reading. */
type Page = {
  hit: IndexHit
  score: number
  norm: number
  /** Terms of title and text in order, without stop words. */
  sequence: (string | null)[]
  frequencies: Map<string, number>
  /** Frequencies of query words as they are written, unstemmed. */
  exact: Map<string, number>
}

export type Reranker = (
  hits: readonly IndexHit[],
  plan: Plan,
  deadlineMs: number,
) => readonly IndexHit[]

/** Gives the hits back as they came when half of the time is gone before all of the pool is read. */
export function createReranker(store: Reader, analyzer: Analyzer, index: IndexReader): Reranker {
  const frequencies = createFrequencies(index)

  const read = (hit: IndexHit, forms: ReadonlySet<string>): Page | null => {
    const stored = store.textByDocno(hit.docno)
    if (stored === null) return null
    const page: Page = {
      hit,
      score: hit.score,
      norm: index.lengthNorm(hit.docno),
      sequence: [],
      frequencies: new Map(),
      exact: new Map(),
    }
    addText(page, analyzer, stored.title, titleWeight, forms)
    for (let i = 0; i < titleGap; i += 1) page.sequence.push(null)
    addText(page, analyzer, stored.text.slice(0, charsRead), 1, forms)
    return page
  }

  return (hits, plan, deadlineMs) => {
    if (hits.length < 2 || plan.sequence.length === 0) return hits
    const startMs = performance.now()
    const halfMs = startMs + (deadlineMs - startMs) / 2
    const idf = (term: string): number => inverseFrequency(index.documents(), frequencies(term))
    const forms = new Set(plan.sequence.map(({ form }) => form))
    const pool: Page[] = []
    for (const hit of hits.slice(0, poolSize)) {
      if (performance.now() > halfMs) return hits
      const page = read(hit, forms)
      if (page === null) return hits
      pool.push(page)
    }
    for (const page of pool) page.score += exactScore(page, plan, idf) + nearScore(page, plan, idf)
    pool.sort(byScore)
    if (performance.now() > halfMs) return hits
    learn(pool, plan, idf, frequencies, index.documents())
    pool.sort(byScore)
    return [...pool.map(({ hit, score }) => ({ ...hit, score })), ...hits.slice(pool.length)]
  }
}

const byScore = (a: Page, b: Page): number => b.score - a.score || a.hit.docno - b.hit.docno

function createFrequencies(index: IndexReader): (term: string) => number {
  const known = new Map<string, number>()
  let documents = 0
  return (term) => {
    // A collection that has grown by a tenth has other frequencies.
    if (Math.abs(index.documents() - documents) > documents / 10 || known.size > frequenciesKept) {
      known.clear()
      documents = index.documents()
    }
    let frequency = known.get(term)
    if (frequency === undefined) {
      frequency = index.frequency(term)
      known.set(term, frequency)
    }
    return frequency
  }
}

function addText(
  page: Page,
  analyzer: Analyzer,
  text: string,
  weight: number,
  forms: ReadonlySet<string>,
): void {
  for (const { term, start, end } of analyzer.tokens(text)) {
    const surface = text.slice(start, end)
    if (isStopWord(surface.toLowerCase())) continue
    page.sequence.push(term)
    page.frequencies.set(term, (page.frequencies.get(term) ?? 0) + weight)
    const form = foldText(surface)
    if (forms.has(form)) page.exact.set(form, (page.exact.get(form) ?? 0) + weight)
  }
}

/** Words that stand there as they were typed: Latin only, Han has no other forms. */
function exactScore(page: Page, plan: Plan, idf: (term: string) => number): number {
  let score = 0
  for (const { term, form } of plan.sequence) {
    const frequency = page.exact.get(form) ?? 0
    if (frequency === 0 || isHanTerm(term)) continue
    score += exactWeight * idf(term) * saturated(frequency, page.norm, false)
  }
  return score
}

/** Neighbours in the query that are near each other on the page: 1 / distance squared, summed over the places. */
function nearScore(page: Page, plan: Plan, idf: (term: string) => number): number {
  const pairs = new Map<string, readonly [string, string]>()
  for (let i = 1; i < plan.sequence.length; i += 1) {
    const a = plan.sequence[i - 1]?.term as string
    const b = plan.sequence[i]?.term as string
    if (a !== b) pairs.set(`${a} ${b}`, [a, b])
  }
  if (pairs.size === 0) return 0
  const places = new Map(plan.sequence.map(({ term }) => [term, [] as number[]]))
  for (let i = 0; i < page.sequence.length; i += 1) places.get(page.sequence[i] ?? '')?.push(i)
  let score = 0
  for (const [a, b] of pairs.values()) {
    const near = nearness(places.get(a) ?? [], places.get(b) ?? [])
    if (near > 0) score += nearWeight * Math.min(idf(a), idf(b)) * saturated(near, page.norm, false)
  }
  return score
}

/** Both lists ascend, so no more than the window is looked at. */
function nearness(as: readonly number[], bs: readonly number[]): number {
  let near = 0
  let from = 0
  for (const a of as) {
    while (from < bs.length && (bs[from] as number) < a - nearWindow) from += 1
    for (let i = from; i < bs.length && (bs[i] as number) <= a + nearWindow; i += 1)
      near += 1 / (a - (bs[i] as number)) ** 2
  }
  return near
}

/** Pseudo-relevance feedback: the telling words of the best pages are a weak second query over the pool. */
function learn(
  pool: readonly Page[],
  plan: Plan,
  idf: (term: string) => number,
  frequency: (term: string) => number,
  documents: number,
): void {
  const source = pool.slice(0, feedbackPages)
  const best = source[0]?.score ?? 0
  if (best <= 0) return
  const trust = source.map(({ score }) => (score / best) ** trustPower)
  const trustSum = trust.reduce((sum, one) => sum + one, 0)
  const values = new Map<string, number>()
  source.forEach((page, i) => {
    for (const [term, count] of page.frequencies)
      values.set(
        term,
        (values.get(term) ?? 0) +
          ((trust[i] as number) / trustSum) * saturated(count, page.norm, false),
      )
  })
  const telling: { term: string; value: number }[] = []
  for (const [term, value] of values) {
    if (term.length < 2) continue
    const holders = frequency(term)
    if (holders < 2 || holders > feedbackShareMax * documents) continue
    telling.push({ term, value: value * idf(term) })
  }
  telling.sort((a, b) => b.value - a.value || (a.term < b.term ? -1 : 1))
  const largest = Math.max(0, ...plan.index.words.map(({ weight }) => weight))
  for (const { term, value } of telling.slice(0, feedbackTerms)) {
    for (const page of pool) {
      const count = page.frequencies.get(term)
      if (count !== undefined)
        page.score +=
          feedbackWeight * largest * value * saturated(count, page.norm, isHanTerm(term))
    }
  }
}
