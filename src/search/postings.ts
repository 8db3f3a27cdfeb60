/** From terms to postings: finds a term in a segment's leaves, or walks all of them in order. Knows no SQL and no score. */
import type { TermLength } from './index.ts'
import { LeafReader } from './leaf.ts'
import { boundsOfPair, isPairTerm, termOfPair } from './pairs.ts'
import { createPostingList, type PostingList, reserve } from './posting-list.ts'
import { eachBlock, type SegmentView } from './segment-view.ts'

/** Appends the postings of a term in one segment. */
export function appendPostings(
  list: PostingList,
  segment: SegmentView,
  term: string,
  onLeaf?: () => void,
): void {
  const from = list.count
  const base = segment.packed.first
  eachBlock(segment, term, onLeaf, (reader) => reader.copyTo(list, base))
  clip(list, from, segment.firstDocno, segment.lastDocno)
}

/** Appends the documents of one segment that have the pair of words, in order; quants mean nothing. */
export function appendPairHolders(
  list: PostingList,
  segment: SegmentView,
  pair: number,
  onLeaf?: () => void,
): void {
  const { first, last } = segment.packed
  const { from: low, to: high } = boundsOfPair(pair, last - first + 1)
  const keys = createPostingList()
  const start = list.count
  const take = (reader: LeafReader): void => {
    if (reader.isLong() && (reader.last < low || reader.first >= high)) return reader.pass()
    keys.count = 0
    reader.copyTo(keys, 0)
    reserve(list, list.count + keys.count)
    for (let i = 0; i < keys.count; i += 1) {
      const key = keys.docnos[i] as number
      if (key >= low && key < high) list.docnos[list.count++] = first + key - low
    }
  }
  eachBlock(segment, termOfPair(pair), onLeaf, take)
  clip(list, start, segment.firstDocno, segment.lastDocno)
}

/** Calls `see` for every term of one leaf with the number of its postings there. @param length of those that are wanted */
export function eachTermOf(
  leaf: Uint8Array,
  see: (term: string, postings: number) => void,
  length: TermLength = { min: 0, max: Number.POSITIVE_INFINITY },
): void {
  const reader = new LeafReader()
  reader.load(leaf)
  let isThere = reader.next()
  while (isThere) {
    const bytes = reader.termBytes()
    const isWanted = bytes >= length.min && bytes <= length.max
    const term = isWanted ? reader.term() : ''
    let postings = 0
    do {
      postings += reader.count
      isThere = reader.next()
    } while (isThere && !reader.isNewTerm)
    if (isWanted) see(term, postings)
  }
}

/** Walks the terms of a segment in order, all postings of each at once. */
export class TermCursor {
  /** null = at the end */
  term: string | null = null
  /** Of the term: docnos, or keys where it is one of pairs.ts. */
  readonly postings = createPostingList()
  readonly packed: SegmentView['packed']
  readonly #segment: Pick<SegmentView, 'packed' | 'directory' | 'leaf'>
  readonly #reader = new LeafReader()
  #nextLeaf = 0
  #nextTerm: string | null = null

  constructor(segment: Pick<SegmentView, 'packed' | 'directory' | 'leaf'>) {
    this.packed = segment.packed
    this.#segment = segment
    this.#readLeaf()
    this.advance()
  }

  advance(): void {
    const { postings } = this
    this.term = this.#nextTerm
    postings.count = 0
    if (this.term === null) return
    const reader = this.#reader
    const base = isPairTerm(this.term) ? 0 : this.#segment.packed.first
    for (;;) {
      reader.open()
      reader.copyTo(postings, base)
      if (!reader.next()) {
        this.#readLeaf()
        if (this.#nextTerm !== this.term) return
      } else if (reader.isNewTerm) {
        this.#nextTerm = reader.term()
        return
      }
    }
  }

  /** Stands on the first block of the next leaf. */
  #readLeaf(): void {
    const segment = this.#segment
    while (this.#nextLeaf < segment.directory.length) {
      this.#reader.load(segment.leaf(this.#nextLeaf))
      this.#nextLeaf += 1
      if (!this.#reader.next()) continue
      this.#nextTerm = this.#reader.term()
      return
    }
    this.#nextTerm = null
  }
}

/** Drops postings outside of the range from index `from` on; ordered, so almost always two comparisons. */
function clip(list: PostingList, from: number, firstDocno: number, lastDocno: number): void {
  const { docnos, quants } = list
  let end = list.count
  while (end > from && (docnos[end - 1] as number) > lastDocno) end -= 1
  let start = from
  while (start < end && (docnos[start] as number) < firstDocno) start += 1
  if (start > from) {
    docnos.copyWithin(from, start, end)
    quants.copyWithin(from, start, end)
  }
  list.count = from + end - start
}
