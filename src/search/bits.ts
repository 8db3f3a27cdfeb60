/** Small numbers in few bits: exponential Golomb codes, for gaps between docnos and for the ranks of quants. Knows no term and no leaf. */

/**
 * A number v >= 0 of order k is written as v + 2^k in binary, before it as many zeros as it has digits beyond k + 1: 2 q + 1 + k bits. Short
 * where most are near 2^k and few are far above, as gaps are when the pages of a site lie together.
 * https://en.wikipedia.org/wiki/Exponential-Golomb_coding
 */

/** Readers look at 32 bits at once: so many bytes must follow the last code. */
export const readAheadBytes = 4

/** A code of more bits is read in steps. A window of 32 bits has at least 25 behind the bit it begins in. */
const quickBitsMax = 25

/** Bytes that are being filled: `bits` has in its lowest `waiting` places, fewer than eight, what is not in `bytes` yet. */
export type BitWriter = { bytes: Uint8Array; at: number; bits: number; waiting: number }

export const createBitWriter = (bytes: Uint8Array, at = 0): BitWriter => ({
  bytes,
  at,
  bits: 0,
  waiting: 0,
})

/** Fills the last byte up with zeros. Returns the end. */
export function endBits(writer: BitWriter): number {
  if (writer.waiting > 0) append(writer, 0, 8 - writer.waiting)
  return writer.at
}

/** @param width at most 24 */
function append(writer: BitWriter, value: number, width: number): void {
  writer.bits = (writer.bits << width) | value
  writer.waiting += width
  while (writer.waiting > 7) {
    writer.waiting -= 8
    writer.bytes[writer.at++] = writer.bits >>> writer.waiting
  }
}

function putLong(writer: BitWriter, number: number, order: number): void {
  const width = number < 0x1_0000_0000 ? 32 - Math.clz32(number) : 33
  for (let zeros = width - 1 - order; zeros > 0; zeros -= 16) append(writer, 0, Math.min(16, zeros))
  for (let rest = width; rest > 0;) {
    const step = rest % 16 || 16
    rest -= step
    append(writer, Math.floor(number / 2 ** rest) & 0xffff, step)
  }
}

/**
 * An order for gaps: nearly the best one, without trying them all. The bits of a code fall with the order where more than half of the gaps
 * are longer, and grow with it otherwise.
 */
export function orderOfGaps(values: Uint32Array, from: number, to: number): number {
  digits.fill(0)
  for (let i = from + 1; i < to; i += 1) {
    const width = 32 - Math.clz32((values[i] as number) - (values[i - 1] as number))
    digits[width] = (digits[width] as number) + 1
  }
  const half = (to - from - 1) * shortShare
  let width = 0
  for (let seen = 0; seen < half;) {
    width += 1
    seen += digits[width] as number
  }
  return Math.max(0, width - 1)
}

/** Gaps by their binary digits. */
const digits = new Uint16Array(33)
/** A little below a half: measured on pages in the order of a crawl, 1 % above the best order of every block. */
const shortShare = 0.45

/** Writes the gaps behind `values[from]`. */
export function putGaps(
  writer: BitWriter,
  values: Uint32Array,
  from: number,
  to: number,
  order: number,
): void {
  const bytes = writer.bytes
  const bias = 2 ** order - 1
  let { at, bits, waiting } = writer
  let before = values[from] as number
  for (let i = from + 1; i < to; i += 1) {
    const value = values[i] as number
    const number = value - before + bias
    before = value
    // From 2^32 on, where this is wrong, `number` counts as long all the same.
    const total = 63 - order - 2 * Math.clz32(number)
    if (total > 24 || number > 0xffff) {
      Object.assign(writer, { at, bits, waiting })
      putLong(writer, number, order)
      ;({ at, bits, waiting } = writer)
      continue
    }
    bits = (bits << total) | number
    waiting += total
    while (waiting > 7) {
      waiting -= 8
      bytes[at++] = bits >>> waiting
    }
  }
  Object.assign(writer, { at, bits, waiting })
}

/** Writes a number for each quant, of order 0: what `numbers` has for it behind `offset`. */
export function putSymbols(
  writer: BitWriter,
  quants: Uint8Array,
  from: number,
  to: number,
  numbers: Uint8Array,
  offset: number,
): void {
  const bytes = writer.bytes
  let { at, bits, waiting } = writer
  for (let i = from; i < to; i += 1) {
    const number = (numbers[offset + (quants[i] as number)] as number) + 1
    const total = 63 - 2 * Math.clz32(number)
    bits = (bits << total) | number
    waiting += total
    while (waiting > 7) {
      waiting -= 8
      bytes[at++] = bits >>> waiting
    }
  }
  Object.assign(writer, { at, bits, waiting })
}

/**
 * Puts `first` into `to` at index `at`, and behind it what follows by `count` gaps: there must be room.
 * @returns the bit behind the last code
 */
export function readGaps(
  bytes: DataView,
  bit: number,
  order: number,
  first: number,
  count: number,
  to: Uint32Array,
  at: number,
): number {
  const end = at + count
  /** gap = code - 2^order + 1 */
  const bias = 2 ** order - 1
  let value = first
  let p = bit
  to[at] = value
  for (let i = at + 1; i <= end; i += 1) {
    const window = bytes.getInt32(p >>> 3) << (p & 7)
    const zeros = Math.clz32(window)
    const bits = 2 * zeros + 1 + order
    if (bits <= quickBitsMax) {
      value += ((window << zeros) >>> (31 - order - zeros)) - bias
      p += bits
    } else {
      value += readLong(bytes, p, order) - bias
      p += longBits
    }
    to[i] = value
  }
  return p
}

/**
 * Reads `count` numbers of order 0 and puts `symbols[number + offset]` for each into `to` from index `at` on.
 * @returns the bit behind the last code
 */
export function readSymbols(
  bytes: DataView,
  bit: number,
  count: number,
  symbols: Uint8Array,
  offset: number,
  to: Uint8Array,
  at: number,
): number {
  const end = at + count
  let p = bit
  for (let i = at; i < end; i += 1) {
    const window = bytes.getInt32(p >>> 3) << (p & 7)
    const zeros = Math.clz32(window)
    // Symbols are few: 13 bits at most.
    to[i] = symbols[offset - 1 + ((window << zeros) >>> (31 - zeros))] as number
    p += 2 * zeros + 1
  }
  return p
}

/** Of the code that `readLong` read last. */
let longBits = 0

/** The binary number of a code, its leading one included. */
function readLong(bytes: DataView, bit: number, order: number): number {
  let p = bit
  while (isZero(bytes, p)) p += 1
  const width = p - bit + order + 1
  let number = 0
  for (let i = 0; i < width; i += 1) number = number * 2 + (isZero(bytes, p + i) ? 0 : 1)
  longBits = p + width - bit
  return number
}

const isZero = (bytes: DataView, bit: number): boolean =>
  (bytes.getUint8(bit >>> 3) & (128 >> (bit & 7))) === 0
