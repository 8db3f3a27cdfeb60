/** A segment as readers see it, and the way to the blocks of one term in it. Knows no SQL and no score. */
import type { PackedSegment } from './index.ts'
import { LeafReader } from './leaf.ts'
import { hashOfTerm, type TermFilter } from './term-filter.ts'

/** A segment as readers see it, wherever its leaves live. Postings outside of firstDocno..lastDocno are not shown. */
export type SegmentView = {
  firstDocno: number
  lastDocno: number
  /** Docnos of the first and the last document that were packed into it: values in its leaves count from the first. */
  packed: { first: number; last: number }
  /** First term of each leaf. */
  directory: readonly string[]
  leaf(n: number): Uint8Array
  /** Null where nothing is known of its leaves. */
  mayHold: TermFilter | null
}

/** The leaves of a packed segment in memory. */
export function packedLeaves(segment: PackedSegment): (n: number) => Uint8Array {
  const all = Buffer.from(segment.leaves)
  return (n) => all.subarray(n === 0 ? 0 : segment.ends[n - 1], segment.ends[n])
}

export const directoryOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))

/** Where the blocks of a term can begin: the leaf before the first one that starts with it or later. */
export function firstLeafOf(directory: readonly string[], term: string): number {
  let low = 0
  let high = directory.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((directory[middle] as string) < term) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

/** Calls `use` for the opened blocks of a term in order; it goes behind each. */
export function eachBlock(
  segment: SegmentView,
  term: string,
  onLeaf: (() => void) | undefined,
  use: (reader: LeafReader) => void,
): void {
  const { directory, mayHold } = segment
  const termBytes = Buffer.from(term, 'utf8')
  const hash = mayHold === null ? 0 : hashOfTerm(term)
  const reader = new LeafReader()
  let found = false
  for (let n = firstLeafOf(directory, term); n < directory.length; n += 1) {
    if ((directory[n] as string) > term) return
    let isHere = mayHold === null || mayHold(n, hash)
    if (isHere) {
      onLeaf?.()
      reader.load(segment.leaf(n))
      isHere = reader.seek(termBytes)
    }
    if (found && !isHere) return
    if (!isHere) continue
    found = true
    for (;;) {
      reader.open()
      use(reader)
      if (!reader.hasMore()) break
      reader.nextBlock()
    }
  }
}
