/** Terms that begin with a prefix, from the directories and leaves of the segments. Guesses frequencies where a prefix is short. */
import type { TermLength } from './index.ts'
import { eachTermOf } from './postings.ts'
import { firstLeafOf, type SegmentView } from './segment-view.ts'

/** Leaves read for one completion: about 3 ms. */
const leavesReadMax = 96

const anyLength: TermLength = { min: 0, max: Number.POSITIVE_INFINITY }

export type Completion = { term: string; documents: number }

/**
 * Most frequent first, then by term. A long prefix is counted exactly (dead documents included, until a merge drops them). A short
 * one covers too many leaves: there only terms that fill leaves of their own are taken, which are the frequent ones.
 */
export function completeTerms(
  views: readonly SegmentView[],
  prefix: string,
  limit: number,
  length: TermLength = anyLength,
): Completion[] {
  if (prefix === '' || limit <= 0) return []
  const ranges = views.map((view) => leafRange(view.directory, prefix))
  const leaves = ranges.reduce((sum, { from, to }) => sum + to - from, 0)
  const counts = new Map<string, number>()
  const count = (term: string, postings: number): void => {
    if (term.startsWith(prefix)) counts.set(term, (counts.get(term) ?? 0) + postings)
  }
  views.forEach((view, i) => {
    const { from, to } = ranges[i] as { from: number; to: number }
    if (leaves <= leavesReadMax) {
      for (let n = from; n < to; n += 1) eachTermOf(view.leaf(n), count, length)
    } else {
      // A leaf that begins with the term of the leaf before is full of it: some 3,000 postings.
      for (let n = from; n < to; n += 1) {
        const term = view.directory[n] as string
        const bytes = Buffer.byteLength(term)
        if (bytes >= length.min && bytes <= length.max) count(term, 3_000)
      }
    }
  })
  return [...counts]
    .map(([term, documents]) => ({ term, documents }))
    .sort((a, b) => b.documents - a.documents || (a.term < b.term ? -1 : 1))
    .slice(0, limit)
}

/** Leaves from..to-1 can hold terms that begin with the prefix. */
function leafRange(directory: readonly string[], prefix: string): { from: number; to: number } {
  const from = firstLeafOf(directory, prefix)
  let to = from
  // The directory is sorted: past the prefix means greater than it and not beginning with it.
  while (to < directory.length) {
    const first = directory[to] as string
    if (first > prefix && !first.startsWith(prefix)) break
    to += 1
  }
  return { from, to }
}
