/** The merge of neighbouring segments into one, resumable after any term. Pure: leaves come in and go out by functions. */
import { createPacker, type EmitLeaf, leafBytesMax, type Packer } from './packer.ts'
import { hasQuants, isPairTerm, mergePairs } from './pairs.ts'
import { createPostingList, type PostingList, reserve } from './posting-list.ts'
import { TermCursor } from './postings.ts'
import { type SegmentView } from './segment-view.ts'
import { FilterWriter } from './term-filter.ts'

/** Terms and postings between two looks at the clock: some tens of microseconds. */
const termsUnwatched = 32
const postingsUnwatched = 4_096

export type MergePart = Pick<SegmentView, 'packed' | 'directory' | 'leaf'> & {
  /** Length codes of its documents. */
  lengths: Uint8Array
}

export type Merge = {
  packed: SegmentView['packed']
  /** Goes on until `endMs` of the clock; true = all terms are written. */
  run(endMs: number, nowMs: () => number): boolean
  /** After `run` has said true: emits the last leaf. */
  finish(): { directory: readonly string[]; lengths: Uint8Array; terms: Uint8Array }
}

/**
 * @param parts ascending, disjoint ranges of docnos; between them there may be holes
 * @param dead documents to leave out, their length code becomes 0
 */
export const createMerge = (
  parts: readonly MergePart[],
  dead: readonly number[],
  emit: EmitLeaf,
): Merge => new TermMerge(parts, dead, emit)

/** A class, as V8 forgets the machine code of functions that are made anew for each merge. */
class TermMerge implements Merge {
  readonly packed: Merge['packed']
  readonly #lengths: Uint8Array
  readonly #isDead: Uint8Array | null
  readonly #cursors: readonly TermCursor[]
  readonly #filter = new FilterWriter()
  readonly #packer: Packer
  readonly #postings = createPostingList()
  /** Cursors that stand at the term in hand. */
  readonly #holders: TermCursor[] = []

  constructor(parts: readonly MergePart[], dead: readonly number[], emit: EmitLeaf) {
    this.packed = { first: parts[0]?.packed.first ?? 0, last: parts.at(-1)?.packed.last ?? 0 }
    const { first, last } = this.packed
    const lengths = new Uint8Array(last - first + 1)
    for (const part of parts) lengths.set(part.lengths, part.packed.first - first)
    const isDead = dead.length > 0 ? new Uint8Array(lengths.length) : null
    if (isDead)
      for (const docno of dead) {
        isDead[docno - first] = 1
        lengths[docno - first] = 0
      }
    this.#lengths = lengths
    this.#isDead = isDead
    this.#cursors = parts.map((part) => new TermCursor(part))
    this.#packer = createPacker(emit, lengths, leafBytesMax, this.#filter)
  }

  run(endMs: number, nowMs: () => number): boolean {
    for (let terms = 0, seen = 0; ; terms += 1) {
      if (terms >= termsUnwatched || seen >= postingsUnwatched) {
        if (nowMs() > endMs) return false
        terms = 0
        seen = 0
      }
      const term = smallestTerm(this.#cursors)
      if (term === null) return true
      this.#gather(term)
      const { docnos: values, quants, count } = this.#postings
      seen += count
      this.#packer.add(term, values, hasQuants(term) ? quants : null, count)
    }
  }

  finish(): ReturnType<Merge['finish']> {
    return {
      directory: this.#packer.finish(),
      lengths: this.#lengths,
      terms: this.#filter.finish(),
    }
  }

  /** All postings of the term, as values of the new segment. */
  #gather(term: string): void {
    const postings = this.#postings
    const holders = this.#holders
    postings.count = holders.length = 0
    for (const cursor of this.#cursors) if (cursor.term === term) holders.push(cursor)
    if (isPairTerm(term)) mergePairs(postings, holders, this.packed, this.#isDead)
    else
      for (const { postings: own } of holders)
        appendValues(postings, own, this.packed.first, this.#isDead)
    for (const cursor of holders) cursor.advance()
  }
}

function appendValues(
  to: PostingList,
  from: Readonly<PostingList>,
  first: number,
  isDead: Uint8Array | null,
): void {
  const { docnos, quants, count } = from
  reserve(to, to.count + count)
  const { docnos: values, quants: ownQuants } = to
  let end = to.count
  for (let i = 0; i < count; i += 1) {
    const value = (docnos[i] as number) - first
    if (isDead !== null && isDead[value] === 1) continue
    values[end] = value
    ownQuants[end++] = quants[i] as number
  }
  to.count = end
}

function smallestTerm(cursors: readonly TermCursor[]): string | null {
  let smallest: string | null = null
  for (const { term } of cursors)
    if (term !== null && (smallest === null || term < smallest)) smallest = term
  return smallest
}
