/** The second look: the best 30 pages are read again for exact forms, nearness and words that tell. Adds to scores, so page 31 stays below. */
import type { Reader } from '../store/reader.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { IndexHit, IndexReader, RereadPart } from './index.ts'
import { createOpenings, type Opening } from './openings.ts'
import type { Plan } from './plan.ts'
import { ranking } from './ranking.ts'
import { saturated } from './link-score.ts'
import { createFrequencies, mostTelling, type Telling } from './telling.ts'
import { inverseFrequency, isHanTerm } from './score.ts'
import { TermSlots } from './term-slots.ts'
import { numbersMax, type WordNumbers } from './word-numbers.ts'

/** Title and text must not look near each other. */
const titleGap = ranking.nearWindow + 2
/** Pages, before the clock is looked at again. */
const readTogether = 10

/** A page of the pool after reading. */
type Page = {
  hit: IndexHit
  score: number
  norm: number
  opening: Opening
  /** null: nobody wants to know. */
  parts: { question: RereadPart[]; feedback: RereadPart[] } | null
}

export type Reranker = (
  hits: readonly IndexHit[],
  plan: Plan,
  deadlineMs: number,
  /** Whether hits shall carry what was added to their scores. */
  isExplained?: boolean,
) => readonly IndexHit[]

type Index = Pick<IndexReader, 'documents' | 'frequency' | 'parts' | 'frequencyIn' | 'lengthNorm'>

/** Gives the hits back as they came when half of the time is gone before all of the pool is read. */
export function createReranker(
  store: Pick<Reader, 'openingsByDocno'>,
  analyzer: Pick<Analyzer, 'eachTerm' | 'termOf'>,
  index: Index,
): Reranker {
  const frequencies = createFrequencies(index)
  const openings = createOpenings(store, analyzer, titleGap)
  const { numbers } = openings
  const slots = {
    forms: createSlots(),
    terms: new TermSlots(numbers),
    telling: new TermSlots(numbers),
  }

  return (hits, plan, deadlineMs, isExplained = false) => {
    if (hits.length < 2 || plan.sequence.length === 0) return hits
    const startMs = performance.now()
    const halfMs = startMs + (deadlineMs - startMs) / 2
    const idf = (term: string): number => inverseFrequency(index.documents(), frequencies.of(term))
    openings.begin()
    const pool: Page[] = []
    const wanted = hits.slice(0, ranking.poolSize)
    for (let from = 0; from < wanted.length; from += readTogether) {
      if (performance.now() > halfMs) return hits
      const some = wanted.slice(from, from + readTogether)
      const read = openings.read(some.map(({ docno }) => docno))
      for (const [i, hit] of some.entries()) {
        const opening = read[i] ?? null
        if (opening === null) return hits
        pool.push({
          hit,
          score: hit.score,
          norm: index.lengthNorm(hit.docno),
          opening,
          parts: isExplained ? { question: [], feedback: [] } : null,
        })
      }
    }
    const question = createQuestion(plan, numbers, slots, idf)
    for (const page of pool) page.score += question(page)
    pool.sort(byScore)
    if (performance.now() > halfMs) return hits
    learn(pool, plan, numbers, slots.telling, (values) =>
      mostTelling(values, (number) => numbers.textOfTerm(number), frequencies, index),
    )
    pool.sort(byScore)
    const reread = pool.map(({ hit, score, parts }): IndexHit => ({
      ...hit,
      score,
      ...(parts && { reread: parts }),
    }))
    return [...reread, ...hits.slice(pool.length)]
  }
}

const byScore = (a: Page, b: Page): number => b.score - a.score || a.hit.docno - b.hit.docno

/** What a page gets for a title that is the query, for words as they were typed, and for neighbours of the query that are near each other. */
function createQuestion(
  { sequence }: Plan,
  numbers: WordNumbers,
  { forms, terms }: { forms: Slots; terms: TermSlots },
  idf: (term: string) => number,
): (page: Page) => number {
  forms.take(sequence.map(({ form }) => numbers.form(form)))
  terms.take(sequence.map(({ term }) => term))
  const pairs = pairsOf(sequence).map(([a, b]) => ({
    terms: [a, b],
    a: terms.of(a),
    b: terms.of(b),
    weight: ranking.nearWeight * Math.min(idf(a), idf(b)),
  }))
  // Latin only: Han has no other forms.
  const typed = sequence
    .filter(({ term }) => !isHanTerm(term))
    .map(({ term, form }) => ({
      terms: [form],
      slot: forms.of[numbers.form(form)] ?? 0,
      weight: ranking.exactWeight * idf(term),
    }))
  const titled = createTitled(sequence, numbers, terms, idf)

  return ({ opening, norm, parts }) => {
    const counts = new Float64Array(forms.size)
    const places = Array.from({ length: terms.size }, (): number[] => [])
    for (let i = 0; i < opening.forms.length; i += 1) {
      const form = opening.forms[i] as number
      const formSlot = forms.of[form] as number
      if (formSlot > 0) counts[formSlot] = (counts[formSlot] as number) + weightAt(opening, i)
      const termSlot = terms.ofForm(form)
      if (termSlot > 0) places[termSlot]?.push(i)
    }
    let score = 0
    const add = (part: number, kind: RereadPart['kind'], of: readonly string[]): void => {
      score += part
      if (part > 0) parts?.question.push({ kind, terms: of, score: part })
    }
    add(ranking.titledWeight * titled(opening), 'title', [])
    for (const { slot, weight, terms: of } of typed) {
      const count = counts[slot] as number
      if (count > 0) add(weight * saturated(count, norm, false), 'exact', of)
    }
    for (const { a, b, weight, terms: of } of pairs) {
      const near = nearness(places[a] ?? [], places[b] ?? [])
      if (near > 0) add(weight * saturated(near, norm, false), 'near', of)
    }
    return score
  }
}

/**
 * How nearly the title is the query: (idf of the query's words in the title / of all)^2, times the share of the title that they are.
 * Numbers in a title (9.2.1.) do not count against it; other words weigh what a word of the query weighs, so that nothing is looked up.
 */
function createTitled(
  sequence: Plan['sequence'],
  numbers: WordNumbers,
  terms: TermSlots,
  idf: (term: string) => number,
): (opening: Opening) => number {
  const distinct = new Map(sequence.map(({ term }) => [term, idf(term)]))
  const all = [...distinct.values()].reduce((sum, weight) => sum + weight, 0)
  const weights = new Float64Array(terms.size)
  for (const [term, weight] of distinct) weights[terms.of(term)] = weight
  weights[0] = 0
  const mean = all / Math.max(1, distinct.size)
  return ({ forms, titleForms }) => {
    const title = forms.subarray(0, titleForms)
    // Of most titles no word is asked for: they need not be looked at any closer.
    if (title.every((form) => terms.ofForm(form) === 0)) return 0
    const seen = new Set<number>()
    let both = 0
    let others = 0
    for (const form of title) {
      const number = numbers.termOfForm(form)
      if (seen.has(number)) continue
      seen.add(number)
      const slot = terms.ofForm(form)
      if (slot > 0) both += weights[slot] as number
      else if (!onlyDigits.test(numbers.textOfTerm(number))) others += mean
    }
    return both === 0 ? 0 : (all * (both / all) ** 2 * both) / (both + others)
  }
}

const onlyDigits = /^[\d.]+$/

const weightAt = ({ titleForms }: Opening, i: number): number =>
  i < titleForms ? ranking.titleWeight : 1

/** A few numbers out of 65,536, each with a slot of its own from 1 on; 0 and all others have slot 0. Used again for each query. */
type Slots = { of: Uint16Array; size: number; take(numbers: readonly number[]): void }

function createSlots(): Slots {
  let taken: readonly number[] = []
  return {
    of: new Uint16Array(numbersMax + 1),
    size: 1,
    take(numbers) {
      for (const number of taken) this.of[number] = 0
      this.size = 1
      for (const number of numbers)
        if (number > 0 && this.of[number] === 0) this.of[number] = this.size++
      taken = numbers
    },
  }
}

/** Distinct neighbours in the query. */
function pairsOf(sequence: Plan['sequence']): (readonly [string, string])[] {
  const pairs = new Map<string, readonly [string, string]>()
  for (let i = 1; i < sequence.length; i += 1) {
    const a = sequence[i - 1]?.term as string
    const b = sequence[i]?.term as string
    if (a !== b) pairs.set(`${a} ${b}`, [a, b])
  }
  return [...pairs.values()]
}

/** 1 / distance squared, summed over the places. Both lists ascend, so no more than the window is looked at. */
function nearness(as: readonly number[], bs: readonly number[]): number {
  let near = 0
  let from = 0
  for (const a of as) {
    while (from < bs.length && (bs[from] as number) < a - ranking.nearWindow) from += 1
    for (let i = from; i < bs.length && (bs[i] as number) <= a + ranking.nearWindow; i += 1)
      near += 1 / (a - (bs[i] as number)) ** 2
  }
  return near
}

/** Pseudo-relevance feedback: the telling words of the best pages are a weak second query over the pool. */
function learn(
  pool: readonly Page[],
  plan: Plan,
  numbers: WordNumbers,
  slots: TermSlots,
  tellingOf: (values: ReadonlyMap<number, number>) => readonly Telling[],
): void {
  const values = valuesOf(pool.slice(0, ranking.feedbackPages), numbers)
  const telling = tellingOf(values)
  const largest = Math.max(0, ...plan.index.words.map(({ weight }) => weight))
  slots.take(telling.map(({ term }) => term))
  const weighed = telling.map(({ term, value }) => ({
    terms: [term],
    weight: ranking.feedbackWeight * largest * value,
    isHan: isHanTerm(term),
  }))
  for (const page of pool) {
    const counts = new Float64Array(slots.size)
    const { forms } = page.opening
    for (let i = 0; i < forms.length; i += 1) {
      const slot = slots.ofForm(forms[i] as number)
      if (slot > 0) counts[slot] = (counts[slot] as number) + weightAt(page.opening, i)
    }
    let learnt = 0
    weighed.forEach(({ terms, weight, isHan }, i) => {
      const count = counts[i + 1] as number
      if (count === 0) return
      const part = weight * saturated(count, page.norm, isHan)
      learnt += part
      page.parts?.feedback.push({ kind: 'feedback', terms, score: part })
    })
    page.score += learnt
  }
}

/** How much each term stands for the best pages: saturated counts, weighed by how much a page is trusted. */
function valuesOf(source: readonly Page[], numbers: WordNumbers): Map<number, number> {
  const values = new Map<number, number>()
  const best = source[0]?.score ?? 0
  if (best <= 0) return values
  const trust = source.map(({ score }) => (score / best) ** ranking.trustPower)
  const trustSum = trust.reduce((sum, one) => sum + one, 0)
  source.forEach(({ opening, norm }, page) => {
    const counts = new Map<number, number>()
    for (let i = 0; i < opening.forms.length; i += 1) {
      const term = numbers.termOfForm(opening.forms[i] as number)
      if (term > 0) counts.set(term, (counts.get(term) ?? 0) + weightAt(opening, i))
    }
    const share = (trust[page] as number) / trustSum
    for (const [term, count] of counts)
      values.set(term, (values.get(term) ?? 0) + share * saturated(count, norm, false))
  })
  return values
}
