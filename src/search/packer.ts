/** Postings into bytes: the codes of frequency and length, and the packer that writes sorted terms into leaves of one page. Knows no SQL. */

/** One page of SQLite less its header, so a leaf never needs an overflow page. */
export const leafBytesMax = 4_000
/** Postings of one block: small enough to fit a leaf, large enough that its header does not count. */
export const blockPostingsMax = 256
/** Longer tokens are noise (base64, hashes of hashes); the tokenizer cuts earlier. */
export const termCharsMax = 64
export const quantMax = 63

/** Weighted term frequency -> 0..63, steps of 9 %. */
export const quantCode = (frequency: number): number =>
  Math.min(quantMax, Math.round(8 * Math.log2(1 + frequency)))
/** What a quant stands for. */
export const frequencies = Float64Array.from({ length: 64 }, (_, q) => 2 ** (q / 8) - 1)

/** Weighted words of a document -> 1..255, steps of 4.4 %; 0 is kept for "no document". */
export const lengthCode = (length: number): number =>
  Math.max(1, Math.min(255, Math.round(16 * Math.log2(1 + length))))
/** What a length code stands for. */
export const lengths = Float64Array.from({ length: 256 }, (_, code) => 2 ** (code / 16) - 1)

/** Whether the packed form can hold a term: not empty, not too long, no line feed (it parts the directory), no lone surrogate. */
export const isPackable = (term: string): boolean =>
  term.length > 0 && term.length <= termCharsMax && !term.includes('\n') && term.isWellFormed()

/** Leaves of a segment as they are finished; the bytes are only valid during the call. */
export type EmitLeaf = (bytes: Uint8Array, leaf: number) => void

export type Packer = {
  /** Terms in code unit order, each once; `count` postings in docno order. */
  add(term: string, docnos: Uint32Array, quants: Uint8Array, count: number): void
  /** Emits the last leaf and returns the first term of each leaf. */
  finish(): readonly string[]
}

/* Of the byte of the largest quant, which leaves two bits free: how the quants of a block are written. */
export const EQUAL_QUANTS = 0x40
export const USUAL_QUANT = 0x80
export const LARGEST_MASK = 0x3f

/**
 * Packs sorted terms into leaves of at most `leafBytesMax` bytes. A leaf is a row of blocks:
 *
 *     [varint bytes of the term | 0 = as before][term, UTF-8][varint n][u8 largest quant + kind][varint last docno][varint bytes]
 *     kind 0: n x [varint gap][u8 quant], gap = docno - docno before it
 *     EQUAL_QUANTS: n x [varint gap], every quant is the largest
 *     USUAL_QUANT: [u8 usual quant] n x [varint gap * 2 + 1 where the quant is another][u8 quant, only there]
 *
 * Most words stand once in the text of most of their pages: half of the bytes of kind 0 would say the same.
 * Each block begins anew at docno 0, so that blocks can be read, skipped and copied alone.
 */
export function createPacker(emit: EmitLeaf): Packer {
  const leaf = Buffer.allocUnsafe(leafBytesMax)
  // A block is at most a quant and 256 postings of 6 bytes.
  const block = Buffer.allocUnsafe(blockPostingsMax * 6 + 1)
  const text = new Uint8Array(termCharsMax * 3)
  const counts = new Uint16Array(quantMax + 1)
  const directory: string[] = []
  let end = 0
  let leaves = 0
  let termBefore: string | null = null

  const flush = (): void => {
    if (end === 0) return
    emit(leaf.subarray(0, end), leaves)
    leaves += 1
    end = 0
    termBefore = null
  }

  return {
    add(term, docnos, quants, count) {
      const textBytes = putUtf8(text, term)
      for (let from = 0; from < count; from += blockPostingsMax) {
        const to = Math.min(count, from + blockPostingsMax)
        const last = docnos[to - 1] as number
        const { usual, largest, kind } = survey(counts, quants, from, to)
        const bytes =
          kind === EQUAL_QUANTS
            ? putGaps(block, docnos, from, to)
            : kind === USUAL_QUANT
              ? putPostings(block, docnos, quants, from, to, usual)
              : putPairs(block, docnos, quants, from, to)
        // 14 = the longest possible numbers of the header.
        if (end + textBytes + bytes + 14 > leafBytesMax) flush()
        if (end === 0) directory.push(term)
        if (termBefore === term) {
          leaf[end++] = 0
        } else {
          end = putVarint(leaf, end, textBytes)
          for (let i = 0; i < textBytes; i += 1) leaf[end + i] = text[i] as number
          end += textBytes
          termBefore = term
        }
        end = putVarint(leaf, end, to - from)
        leaf[end++] = largest | kind
        end = putVarint(leaf, end, last)
        end = putVarint(leaf, end, bytes)
        for (let i = 0; i < bytes; i += 1) leaf[end + i] = block[i] as number
        end += bytes
      }
    },
    finish() {
      flush()
      return directory
    },
  }
}

/** The largest and the most frequent quant of a block. `counts` is all zero before and after. */
function survey(
  counts: Uint16Array,
  quants: Uint8Array,
  from: number,
  to: number,
): { usual: number; largest: number; kind: number } {
  let usual = quants[from] as number
  let largest = 0
  for (let i = from; i < to; i += 1) {
    const quant = quants[i] as number
    if (quant > largest) largest = quant
    const count = (counts[quant] = (counts[quant] as number) + 1)
    if (count > (counts[usual] as number)) usual = quant
  }
  const share = (counts[usual] as number) / (to - from)
  const kind = share === 1 ? EQUAL_QUANTS : share > usualShareMin ? USUAL_QUANT : 0
  for (let i = from; i < to; i += 1) counts[quants[i] as number] = 0
  return { usual, largest, kind }
}

/** Below, the bit that tells costs more than it spares: checks of pairs differ all. */
const usualShareMin = 0.3

function putPairs(
  block: Uint8Array,
  docnos: Uint32Array,
  quants: Uint8Array,
  from: number,
  to: number,
): number {
  let bytes = 0
  let before = 0
  for (let i = from; i < to; i += 1) {
    const docno = docnos[i] as number
    bytes = putVarint(block, bytes, docno - before)
    block[bytes++] = quants[i] as number
    before = docno
  }
  return bytes
}

function putGaps(block: Uint8Array, docnos: Uint32Array, from: number, to: number): number {
  let bytes = 0
  let before = 0
  for (let i = from; i < to; i += 1) {
    const docno = docnos[i] as number
    bytes = putVarint(block, bytes, docno - before)
    before = docno
  }
  return bytes
}

function putPostings(
  block: Uint8Array,
  docnos: Uint32Array,
  quants: Uint8Array,
  from: number,
  to: number,
  usual: number,
): number {
  block[0] = usual
  let bytes = 1
  let before = 0
  for (let i = from; i < to; i += 1) {
    const docno = docnos[i] as number
    const quant = quants[i] as number
    const gap = docno - before
    before = docno
    bytes = putVarint(block, bytes, gap * 2 + (quant === usual ? 0 : 1))
    if (quant !== usual) block[bytes++] = quant
  }
  return bytes
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

/** Seven bits a byte, lowest first; works up to 2^53. Returns the end. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  let i = at
  while (rest > 127) {
    bytes[i++] = (rest & 127) | 128
    rest = Math.floor(rest / 128)
  }
  bytes[i++] = rest
  return i
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
