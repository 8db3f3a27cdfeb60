/** The words of the best pages that tell most, by how rare they are; of most words no more is read than what shows that they are not among them. */
import { createHeap } from '../lib/heap.ts'
import { remember } from '../lib/remember.ts'
import type { IndexReader } from './index.ts'
import { ranking } from './ranking.ts'
import { inverseFrequency } from './score.ts'

/** Frequencies remembered: they change slowly, and the same words come again. When half of them are young, those that are not go. */
const frequenciesKept = 20_000

export type Frequencies = {
  /** Documents that hold the term. */
  of(term: string): number
  /** The same where it is remembered. */
  known(term: string): number | undefined
  remember(term: string, holders: number): void
  /** As far as they were counted: of a word that too many documents hold no more is counted than shows it. 0 where nothing is remembered. */
  atLeast(term: string): number
  rememberAtLeast(term: string, holders: number): void
}

export function createFrequencies(
  index: Pick<IndexReader, 'documents' | 'frequency'>,
): Frequencies {
  let young = new Map<string, number>()
  let old = new Map<string, number>()
  /** Of frequent words, which are few. */
  const least = new Map<string, number>()
  let documents = 0
  const forgetOld = (): void => {
    // A collection that has grown by a tenth has other frequencies.
    if (Math.abs(index.documents() - documents) > documents / 10) {
      young = new Map()
      old = new Map()
      least.clear()
      documents = index.documents()
    } else if (young.size >= frequenciesKept / 2) {
      old = young
      young = new Map()
    }
  }
  const known = (term: string): number | undefined => {
    forgetOld()
    const found = young.get(term) ?? old.get(term)
    if (found !== undefined) young.set(term, found)
    return found
  }
  return {
    of(term) {
      const frequency = known(term) ?? index.frequency(term)
      young.set(term, frequency)
      return frequency
    },
    known,
    remember: (term, holders) => void young.set(term, holders),
    atLeast: (term) => least.get(term) ?? 0,
    rememberAtLeast: (term, holders) => remember(least, term, holders, frequenciesKept),
  }
}

/** `value` times its inverse frequency. */
export type Telling = { number: number; term: string; value: number }

type Candidate = {
  number: number
  /** Known when it was looked at for the first time. */
  term: string
  value: number
  /** In the parts before `part`. */
  holders: number
  part: number
  isKnown: boolean
  /** It is worth no more; where all is known, just that. */
  bound: number
}

/** At equal bounds what is not known yet, as it may be as much with a term before the other. */
const isBefore = (a: Candidate, b: Candidate): boolean =>
  a.bound !== b.bound
    ? a.bound > b.bound
    : a.isKnown !== b.isKnown
      ? b.isKnown
      : a.isKnown && a.term < b.term

/**
 * The largest values by inverse frequency, the largest first, at most `ranking.feedbackTerms`: a threshold algorithm, that goes on with
 * the candidate that may be worth most (as Fagin, Lotem, Naor: Optimal aggregation algorithms for middleware, PODS 2001).
 * @param values by number of the term
 */
export function mostTelling(
  values: ReadonlyMap<number, number>,
  termOf: (number: number) => string,
  frequencies: Omit<Frequencies, 'of'>,
  index: Pick<IndexReader, 'documents' | 'parts' | 'frequencyIn'>,
): Telling[] {
  const documents = index.documents()
  const parts = index.parts()
  const idfMax = inverseFrequency(documents, ranking.holdersMin)
  const isTooFrequent = (holders: number): boolean => holders > ranking.feedbackShareMax * documents
  const heap = createHeap(isBefore)
  for (const [number, value] of values)
    heap.push({
      number,
      term: '',
      value,
      holders: 0,
      part: 0,
      isKnown: false,
      bound: value * idfMax,
    })

  /** Goes one part on. False where it is none that may tell. */
  const goOn = (candidate: Candidate): boolean => {
    if (candidate.term === '') {
      candidate.term = termOf(candidate.number)
      if (candidate.term.length < 2) return false
      const known = frequencies.known(candidate.term)
      if (known !== undefined) {
        candidate.holders = known
        candidate.part = parts
      } else if (isTooFrequent(frequencies.atLeast(candidate.term))) return false
    }
    const { term } = candidate
    if (candidate.part < parts) {
      candidate.holders += index.frequencyIn(term, candidate.part)
      candidate.part += 1
      if (candidate.part === parts) frequencies.remember(term, candidate.holders)
    }
    const { holders, value } = candidate
    candidate.isKnown = candidate.part >= parts
    if (isTooFrequent(holders)) {
      if (!candidate.isKnown) frequencies.rememberAtLeast(term, holders)
      return false
    }
    if (candidate.isKnown && holders < ranking.holdersMin) return false
    candidate.bound = value * inverseFrequency(documents, Math.max(holders, ranking.holdersMin))
    return true
  }

  const telling: Telling[] = []
  while (telling.length < ranking.feedbackTerms) {
    const best = heap.pop()
    if (best === undefined) break
    if (best.isKnown) telling.push({ number: best.number, term: best.term, value: best.bound })
    else if (goOn(best)) heap.push(best)
  }
  return telling
}
