/** Bytes into postings: reads the leaves that packer.ts wrote, for one term or for all of them in order. Knows no SQL and no score. */
import type { PackedSegment } from './index.ts'
import { EQUAL_QUANTS, LARGEST_MASK, USUAL_QUANT } from './packer.ts'

/** A segment as readers see it, wherever its leaves live. Postings outside of firstDocno..lastDocno are not shown. */
export type SegmentView = {
  firstDocno: number
  lastDocno: number
  /** First term of each leaf. */
  directory: readonly string[]
  leaf(n: number): Uint8Array
}

/** Postings in typed arrays that grow and are used again. */
export type PostingList = { docnos: Uint32Array; quants: Uint8Array; count: number }

export const createPostingList = (): PostingList => ({
  docnos: new Uint32Array(512),
  quants: new Uint8Array(512),
  count: 0,
})

/** Makes room for `count` postings in all, fourfold when it must grow. */
export function reserve(list: PostingList, count: number): void {
  if (count <= list.docnos.length) return
  const size = Math.max(count, list.docnos.length * 4)
  const docnos = new Uint32Array(size)
  const quants = new Uint8Array(size)
  docnos.set(list.docnos.subarray(0, list.count))
  quants.set(list.quants.subarray(0, list.count))
  list.docnos = docnos
  list.quants = quants
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

/** Reads one leaf block by block: `next` stands on a header, then either `copyTo` or the following `next` passes over the postings. */
class LeafReader {
  isNewTerm = false
  count = 0
  private readonly bytes: Buffer
  private termStart = 0
  private termEnd = 0
  private at = 0
  private end = 0
  /** The largest quant, for skipping, which exhaustive scoring does not do, and how the quants are written. */
  private kind = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  term(): string {
    return this.bytes.toString('utf8', this.termStart, this.termEnd)
  }

  /** Compares without making a string: most terms of a leaf are only passed over. */
  isTerm(term: Uint8Array): boolean {
    const { bytes, termStart } = this
    if (this.termEnd - termStart !== term.length) return false
    for (let i = 0; i < term.length; i += 1) if (bytes[termStart + i] !== term[i]) return false
    return true
  }

  private varint(): number {
    const bytes = this.bytes
    let byte = bytes[this.at++] as number
    let value = byte & 127
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[this.at++] as number
      value += (byte & 127) * unit
    }
    return value
  }

  next(): boolean {
    this.at = this.end
    if (this.at >= this.bytes.length) return false
    const termBytes = this.varint()
    this.isNewTerm = termBytes > 0
    if (this.isNewTerm) {
      this.termStart = this.at
      this.at += termBytes
      this.termEnd = this.at
    }
    this.count = this.varint()
    this.kind = this.bytes[this.at++] as number
    this.varint() // last docno: likewise
    const postingBytes = this.varint()
    this.end = this.at + postingBytes
    return true
  }

  copyTo(list: PostingList): void {
    const { bytes, at, end, kind } = this
    reserve(list, list.count + this.count)
    if ((kind & EQUAL_QUANTS) !== 0) readGaps(list, bytes, at, end, kind & LARGEST_MASK)
    else if ((kind & USUAL_QUANT) !== 0) readPostings(list, bytes, at, end)
    else readPairs(list, bytes, at, end)
  }
}

/* The hot loops, one for each kind of block; `list` has the room. */

function readGaps(list: PostingList, bytes: Uint8Array, start: number, end: number, quant: number) {
  const { docnos, quants } = list
  let at = start
  let to = list.count
  let docno = 0
  while (at < end) {
    let byte = bytes[at++] as number
    let gap = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++] as number
      gap |= (byte & 127) << shift
    }
    docno += gap
    docnos[to++] = docno
  }
  quants.fill(quant, list.count, to)
  list.count = to
}

function readPostings(list: PostingList, bytes: Uint8Array, start: number, end: number) {
  const { docnos, quants } = list
  const usual = bytes[start] as number
  let at = start + 1
  let to = list.count
  let docno = 0
  while (at < end) {
    let byte = bytes[at++] as number
    const isOther = (byte & 1) === 1
    let gap = (byte & 127) >> 1
    for (let shift = 6; byte > 127; shift += 7) {
      byte = bytes[at++] as number
      gap |= (byte & 127) << shift
    }
    docno += gap
    docnos[to] = docno
    quants[to++] = isOther ? (bytes[at++] as number) : usual
  }
  list.count = to
}

function readPairs(list: PostingList, bytes: Uint8Array, start: number, end: number) {
  const { docnos, quants } = list
  let at = start
  let to = list.count
  let docno = 0
  while (at < end) {
    let byte = bytes[at++] as number
    let gap = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++] as number
      gap |= (byte & 127) << shift
    }
    docno += gap
    docnos[to] = docno
    quants[to++] = bytes[at++] as number
  }
  list.count = to
}

/** Appends the postings of a term in one segment. `onLeaf` is called before each leaf: the place to look at a deadline. */
export function appendPostings(
  list: PostingList,
  segment: SegmentView,
  term: string,
  termBytes: Uint8Array,
  onLeaf?: () => void,
): void {
  const { directory } = segment
  const from = list.count
  let found = false
  for (let n = firstLeafOf(directory, term); n < directory.length; n += 1) {
    if ((directory[n] as string) > term) break
    onLeaf?.()
    const reader = new LeafReader(segment.leaf(n))
    let isMatch = false
    while (reader.next()) {
      if (reader.isNewTerm) {
        isMatch = reader.isTerm(termBytes)
        if (found && !isMatch) break
      }
      if (!isMatch) continue
      found = true
      reader.copyTo(list)
    }
    if (found && !isMatch) break
  }
  clip(list, from, segment.firstDocno, segment.lastDocno)
}

/** Calls `see` for every term of one leaf with the number of its postings there. */
export function eachTermOf(leaf: Uint8Array, see: (term: string, postings: number) => void): void {
  const reader = new LeafReader(leaf)
  let term = ''
  while (reader.next()) {
    if (reader.isNewTerm) term = reader.term()
    see(term, reader.count)
  }
}

/** Walks the terms of a segment in order, all postings of each at once. */
export class TermCursor {
  /** null = at the end */
  term: string | null = null
  readonly postings = createPostingList()
  private readonly segment: SegmentView
  private reader: LeafReader | null = null
  private nextLeaf = 0
  private nextTerm: string | null = null

  constructor(segment: SegmentView) {
    this.segment = segment
    this.readHeader()
    this.advance()
  }

  advance(): void {
    this.term = this.nextTerm
    this.postings.count = 0
    while (this.term !== null && this.nextTerm === this.term) {
      this.reader?.copyTo(this.postings)
      this.readHeader()
    }
    clip(this.postings, 0, this.segment.firstDocno, this.segment.lastDocno)
  }

  private readHeader(): void {
    for (;;) {
      if (this.reader?.next()) {
        if (this.reader.isNewTerm) this.nextTerm = this.reader.term()
        return
      }
      if (this.nextLeaf >= this.segment.directory.length) {
        this.nextTerm = null
        return
      }
      this.reader = new LeafReader(this.segment.leaf(this.nextLeaf))
      this.nextLeaf += 1
    }
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
