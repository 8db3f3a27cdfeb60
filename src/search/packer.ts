/** Sorted terms and their postings into leaves of one page. Knows no SQL. */
import { readAheadBytes } from './bits.ts'
import { blockPostingsMax, BlockWriter, MORE, putVarint } from './block.ts'
import { termCharsMax } from './codes.ts'
import type { FilterWriter } from './term-filter.ts'

/** What of a page of SQLite a row can have, so that a leaf never needs an overflow page. */
export const leafBytesMax = 4_048

/** Leaves of a segment as they are finished; the bytes are only valid during the call. */
export type EmitLeaf = (bytes: Uint8Array, leaf: number) => void

export type Packer = {
  /**
   * Terms in code unit order, each once; `count` values in ascending order, each of one posting: its docno less the first of the segment,
   * or a key of pairs.ts, which has no quants.
   */
  add(term: string, values: Uint32Array, quants: Uint8Array | null, count: number): void
  /** Emits the last leaf and returns the first term of each leaf. */
  finish(): readonly string[]
}

/*
 * A leaf: [0][version] {entry} [zeros, so that readers may look ahead]. The first form of leaves began with the length of a term, which
 * was never 0 (first-format.ts). An entry is a term with its blocks, all of them or those that the leaf has room for:
 *
 *     [u8 bytes shared with the term before, at most 15 (high half); bytes that follow, 15 = 15 and a varint more][bytes, UTF-8]
 *     {[u8 head][count - 16 as varint where the head has 15 for count - 1]
 *        count 1: [u8 quant, where the head says so][varint value]
 *        else:    [varint bytes that follow][u8 order of the gaps][u8 usual quant, where the head says so]
 *                 LONG: [u8 n] n x [u8 quant][u8 length code] [varint last value - first]
 *                 [varint first value, less the last one of the block before][gaps, quants as codes of bits.ts]}
 *
 * Head: LONG, MORE = another block of the term follows, MIXED = quants differ and are written, GIVEN = the usual quant is not `quantOfOne`,
 * count - 1. Blocks before the last of an entry are LONG, so that they can be passed over unread. The pairs of quant and length code are
 * the best of a block: none of its postings has both a larger quant and a smaller code than one of them.
 */
export const LEAF_VERSION = 1
export const leafHeaderBytes = 2

/**
 * @param codes length codes of the segment by docno less its first; without them blocks do not say what they have at best
 * @param bytesMax of a leaf
 * @param filter is told which terms each leaf has
 */
export const createPacker = (
  emit: EmitLeaf,
  codes: Uint8Array | null,
  bytesMax = leafBytesMax,
  filter: FilterWriter | null = null,
): Packer => new LeafPacker(emit, codes, bytesMax, filter)

class LeafPacker implements Packer {
  readonly #emit: EmitLeaf
  readonly #bytesMax: number
  readonly #leaf: Uint8Array
  readonly #block: BlockWriter
  readonly #terms = new TermWriter()
  readonly #filter: FilterWriter | null
  readonly #directory: string[] = []
  #end = 0
  #leaves = 0

  constructor(
    emit: EmitLeaf,
    codes: Uint8Array | null,
    bytesMax: number,
    filter: FilterWriter | null,
  ) {
    this.#emit = emit
    this.#filter = filter
    this.#bytesMax = bytesMax
    this.#leaf = new Uint8Array(bytesMax)
    this.#block = new BlockWriter(codes)
  }

  add(term: string, values: Uint32Array, quants: Uint8Array | null, count: number): void {
    const leaf = this.#leaf
    const block = this.#block
    const termBytesMax = this.#terms.take(term)
    /** Of the block before in this leaf. */
    let headAt = -1
    for (let from = 0; from < count; from += blockPostingsMax) {
      const to = Math.min(count, from + blockPostingsMax)
      const before = headAt < 0 ? 0 : (values[from - 1] as number)
      let bytes = block.put(values, quants, from, to, before)
      const needed = bytes + (headAt < 0 ? termBytesMax : 0) + readAheadBytes
      if (this.#end > 0 && this.#end + needed > this.#bytesMax) {
        this.#flush()
        // In a leaf of its own the first value stands in full.
        if (headAt >= 0) bytes = block.put(values, quants, from, to, 0)
        headAt = -1
      }
      if (this.#end === 0) this.#begin(term)
      let end = this.#end
      if (headAt < 0) {
        end = this.#terms.put(leaf, end)
        this.#filter?.add(term)
      } else leaf[headAt] = (leaf[headAt] as number) | MORE
      headAt = end
      for (let i = 0; i < bytes; i += 1) leaf[end + i] = block.bytes[i] as number
      this.#end = end + bytes
    }
  }

  finish(): readonly string[] {
    this.#flush()
    return this.#directory
  }

  #begin(term: string): void {
    this.#leaf[0] = 0
    this.#leaf[1] = LEAF_VERSION
    this.#end = leafHeaderBytes
    this.#directory.push(term)
  }

  #flush(): void {
    const end = this.#end
    if (end === 0) return
    this.#leaf.fill(0, end, end + readAheadBytes)
    this.#emit(this.#leaf.subarray(0, end + readAheadBytes), this.#leaves)
    this.#filter?.endLeaf()
    this.#leaves += 1
    this.#end = 0
    this.#terms.forget()
  }
}

/** Writes terms without what they share with the one before in their leaf. */
class TermWriter {
  readonly #text = new Uint8Array(termCharsMax * 3)
  readonly #before = new Uint8Array(termCharsMax * 3)
  #bytes = 0
  #bytesBefore = 0

  /** Before `put`, which may come more than once. Returns how many bytes it writes at most. */
  take(term: string): number {
    this.#bytes = putUtf8(this.#text, term)
    return this.#bytes + 3
  }

  put(leaf: Uint8Array, start: number): number {
    const text = this.#text
    const before = this.#before
    const bytes = this.#bytes
    const sharedMax = Math.min(15, bytes, this.#bytesBefore)
    let shared = 0
    while (shared < sharedMax && text[shared] === before[shared]) shared += 1
    const rest = bytes - shared
    let at = start
    leaf[at++] = (shared << 4) | Math.min(rest, 15)
    if (rest >= 15) at = putVarint(leaf, at, rest - 15)
    for (let i = shared; i < bytes; i += 1) {
      before[i] = text[i] as number
      leaf[at++] = text[i] as number
    }
    this.#bytesBefore = bytes
    return at
  }

  forget(): void {
    this.#bytesBefore = 0
  }
}

/** A packable term in UTF-8. By hand: a call into native code costs more than the few bytes of a term. Returns their number. */
function putUtf8(bytes: Uint8Array, term: string): number {
  let at = 0
  for (let i = 0; i < term.length; i += 1) {
    let unit = term.charCodeAt(i)
    if (unit < 0x80) {
      bytes[at++] = unit
      continue
    }
    if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6)
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes[at++] = 0xe0 | (unit >> 12)
      bytes[at++] = 0x80 | ((unit >> 6) & 63)
    } else {
      // A pair: packable terms are well formed.
      i += 1
      unit = 0x10000 + ((unit & 0x3ff) << 10) + (term.charCodeAt(i) & 0x3ff)
      bytes[at++] = 0xf0 | (unit >> 18)
      bytes[at++] = 0x80 | ((unit >> 12) & 63)
      bytes[at++] = 0x80 | ((unit >> 6) & 63)
    }
    bytes[at++] = 0x80 | (unit & 63)
  }
  return at
}

/** Gathers leaves in one buffer: the form in which segments travel between threads. */
export function createLeafCollector(): {
  emit: EmitLeaf
  finish(): { leaves: ArrayBuffer; ends: Uint32Array<ArrayBuffer> }
} {
  let bytes = new Uint8Array(1 << 16)
  let end = 0
  const ends: number[] = []
  return {
    emit(leaf) {
      if (end + leaf.length > bytes.length) {
        const wider = new Uint8Array(bytes.length * 2)
        wider.set(bytes.subarray(0, end))
        bytes = wider
      }
      bytes.set(leaf, end)
      end += leaf.length
      ends.push(end)
    },
    finish: () => ({ leaves: bytes.buffer.slice(0, end), ends: Uint32Array.from(ends) }),
  }
}
