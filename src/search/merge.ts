/** The merge of neighbouring segments into one, resumable after any term. Pure: leaves come in and go out by functions. */
import { createPacker, type EmitLeaf } from './packer.ts'
import { createPostingList, reserve, type SegmentView, TermCursor } from './postings.ts'

/** Terms and postings between two looks at the clock: some tens of microseconds. */
const termsUnwatched = 32
const postingsUnwatched = 4_096

export type MergePart = SegmentView & {
  /** Length codes of firstDocno..lastDocno. */
  lengths: Uint8Array
}

export type Merge = {
  firstDocno: number
  lastDocno: number
  /** Goes on until `endMs` of the clock; true = all terms are written. */
  run(endMs: number, nowMs: () => number): boolean
  /** After `run` has said true: emits the last leaf. */
  finish(): { directory: readonly string[]; lengths: Uint8Array }
}

/**
 * @param parts ascending, disjoint ranges of docnos; between them there may be holes
 * @param dead documents to leave out, their length code becomes 0
 */
export function createMerge(
  parts: readonly MergePart[],
  dead: readonly number[],
  emit: EmitLeaf,
): Merge {
  const firstDocno = parts[0]?.firstDocno ?? 0
  const lastDocno = parts.at(-1)?.lastDocno ?? 0
  const cursors = parts.map((part) => new TermCursor(part))
  const packer = createPacker(emit)
  const postings = createPostingList()
  const isDead = dead.length > 0 ? new Uint8Array(lastDocno - firstDocno + 1) : null
  if (isDead) for (const docno of dead) isDead[docno - firstDocno] = 1

  const gather = (term: string): void => {
    postings.count = 0
    for (const cursor of cursors) {
      if (cursor.term !== term) continue
      const { docnos, quants, count } = cursor.postings
      reserve(postings, postings.count + count)
      if (isDead === null) {
        postings.docnos.set(docnos.subarray(0, count), postings.count)
        postings.quants.set(quants.subarray(0, count), postings.count)
        postings.count += count
      } else {
        for (let i = 0; i < count; i += 1) {
          const docno = docnos[i] as number
          if (isDead[docno - firstDocno] === 1) continue
          postings.docnos[postings.count] = docno
          postings.quants[postings.count] = quants[i] as number
          postings.count += 1
        }
      }
      cursor.advance()
    }
  }

  return {
    firstDocno,
    lastDocno,
    run(endMs, nowMs) {
      for (let terms = 0, seen = 0; ; terms += 1) {
        if (terms >= termsUnwatched || seen >= postingsUnwatched) {
          if (nowMs() > endMs) return false
          terms = 0
          seen = 0
        }
        const term = smallestTerm(cursors)
        if (term === null) return true
        gather(term)
        seen += postings.count
        packer.add(term, postings.docnos, postings.quants, postings.count)
      }
    },
    finish() {
      const lengths = new Uint8Array(lastDocno - firstDocno + 1)
      for (const part of parts) lengths.set(part.lengths, part.firstDocno - firstDocno)
      if (isDead) isDead.forEach((is, i) => is === 1 && (lengths[i] = 0))
      return { directory: packer.finish(), lengths }
    },
  }
}

function smallestTerm(cursors: readonly TermCursor[]): string | null {
  let smallest: string | null = null
  for (const { term } of cursors)
    if (term !== null && (smallest === null || term < smallest)) smallest = term
  return smallest
}
