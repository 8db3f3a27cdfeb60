/** Blocks of postings into bytes: up to 128 values, how their quants differ, what they have at best. The form of a leaf is in packer.ts. */
import { createBitWriter, endBits, orderOfGaps, putGaps, putSymbols } from './bits.ts'
import { quantMax } from './codes.ts'

/** Few enough that a block which cannot matter is passed over, many enough that its header does not count. */
export const blockPostingsMax = 128
/** From so many postings on a block says what it has at best. */
const longPostingsMin = 64
export const LONG = 0x80
export const MORE = 0x40
export const MIXED = 0x20
export const GIVEN = 0x10
export const COUNT_MASK = 0x0f
/** Of one occurrence in the text: that of more than half of all postings. */
export const quantOfOne = 8
const bestMax = 4

/** By falling frequency in pages of documentation; the rest in order. */
const frequentQuants = [
  8, 13, 16, 21, 19, 22, 24, 25, 28, 27, 30, 2, 9, 3, 4, 29, 14, 10, 33, 31, 32, 5, 6, 17, 35,
]
const byFrequency = [
  ...frequentQuants,
  ...Array.from({ length: quantMax + 1 }, (_, quant) => quant).filter(
    (quant) => !frequentQuants.includes(quant),
  ),
]
/** For each usual quant, at quant * 64: first itself, then the others by frequency. Numbers by quant, and quants by number. */
export const quantsByNumber = new Uint8Array(64 * 64)
const numbersByQuant = new Uint8Array(64 * 64)
for (let usual = 0; usual <= quantMax; usual += 1)
  [usual, ...byFrequency.filter((quant) => quant !== usual)].forEach((quant, number) => {
    quantsByNumber[usual * 64 + number] = quant
    numbersByQuant[usual * 64 + quant] = number
  })

/** Room for the header and 128 codes of 63 bits and as many of 13, which never happens. */
const blockBytesMax = 1_400

/** A class, as those of packer.ts: V8 forgets the machine code of closures that are made anew for each segment. */
export class BlockWriter {
  /** What was put last, from 0 on. */
  readonly bytes = new Uint8Array(blockBytesMax)
  readonly #codes: Uint8Array | null
  readonly #survey = createSurvey()

  /** @param codes length codes by value; without them blocks do not say what they have at best */
  constructor(codes: Uint8Array | null) {
    this.#codes = codes
  }

  /** Writes values[from..to-1] with their quants. `before`: the value that the first one is counted from. Returns the number of bytes. */
  put(
    values: Uint32Array,
    quants: Uint8Array | null,
    from: number,
    to: number,
    before: number,
  ): number {
    return putBlock(this.bytes, values, quants, this.#codes, from, to, before, this.#survey)
  }
}

/** What the quants of a block have in common. `counts` is all zero between calls. */
type Survey = {
  counts: Uint8Array
  usual: number
  isMixed: boolean
}
const createSurvey = (): Survey => ({
  counts: new Uint8Array(quantMax + 1),
  usual: quantOfOne,
  isMixed: false,
})

function look(survey: Survey, quants: Uint8Array, from: number, to: number): void {
  const { counts } = survey
  let usual = quants[from] as number
  for (let i = from; i < to; i += 1) {
    const quant = quants[i] as number
    const count = (counts[quant] = (counts[quant] as number) + 1)
    if (count > (counts[usual] as number)) usual = quant
  }
  survey.isMixed = (counts[usual] as number) < to - from
  for (let i = from; i < to; i += 1) counts[quants[i] as number] = 0
  survey.usual = usual
}

/** Writes values[from..to-1] at the beginning of `block`. Returns the bytes. */
function putBlock(
  block: Uint8Array,
  values: Uint32Array,
  quants: Uint8Array | null,
  codes: Uint8Array | null,
  from: number,
  to: number,
  before: number,
  survey: Survey,
): number {
  const count = to - from
  survey.usual = quantOfOne
  survey.isMixed = false
  if (quants !== null) look(survey, quants, from, to)
  const { usual, isMixed } = survey
  const first = values[from] as number
  const isLong = count >= longPostingsMin
  const head = (isLong ? LONG : 0) | (isMixed ? MIXED : 0) | (usual === quantOfOne ? 0 : GIVEN)
  block[0] = head | Math.min(count - 1, 15)
  let at = count < 16 ? 1 : putVarint(block, 1, count - 16)
  if (count === 1) {
    if (usual !== quantOfOne) block[at++] = usual
    return putVarint(block, at, first - before)
  }
  // Two for the bytes that follow, which are moved up where they need but one.
  const sizeAt = at
  at += 2
  const order = orderOfGaps(values, from, to)
  block[at++] = order
  if (usual !== quantOfOne) block[at++] = usual
  if (isLong) {
    at = putBest(block, at, values, quants, codes, from, to)
    at = putVarint(block, at, (values[to - 1] as number) - first)
  }
  at = putVarint(block, at, first - before)
  const writer = createBitWriter(block, at)
  putGaps(writer, values, from, to, order)
  if (isMixed) putSymbols(writer, quants as Uint8Array, from, to, numbersByQuant, usual * 64)
  at = endBits(writer)
  const size = at - sizeAt - 2
  if (size > 127) {
    putVarint(block, sizeAt, size)
    return at
  }
  block[sizeAt] = size
  block.copyWithin(sizeAt + 1, sizeAt + 2, at)
  return at - 1
}

/** The smallest length code of each quant in the block at hand; 0 for none. All zero between calls. */
const shortest = new Uint8Array(quantMax + 1)

/** Which postings are the best, whatever the mean length is: a larger quant and a smaller length code both raise a score. Returns the end. */
function putBest(
  block: Uint8Array,
  start: number,
  values: Uint32Array,
  quants: Uint8Array | null,
  codes: Uint8Array | null,
  from: number,
  to: number,
): number {
  if (codes === null || quants === null) {
    block[start] = 0
    return start + 1
  }
  let largest = 0
  for (let i = from; i < to; i += 1) {
    const quant = quants[i] as number
    const code = codes[values[i] as number] as number
    const known = shortest[quant] as number
    if (known === 0 || code < known) shortest[quant] = code
    if (quant > largest) largest = quant
  }
  let at = start + 1
  let code = 256
  for (let quant = largest; quant >= 0; quant -= 1) {
    const own = shortest[quant] as number
    if (own === 0) continue
    shortest[quant] = 0
    if (own >= code) continue
    code = own
    // Too many: the last one is raised until it stands for this one as well.
    if (at - start > bestMax * 2) {
      block[at - 1] = code
      continue
    }
    block[at++] = quant
    block[at++] = code
  }
  block[start] = (at - start - 1) / 2
  return at
}

/** Seven bits a byte, lowest first; works up to 2^53. Returns the end. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  let i = at
  while (rest > 127) {
    bytes[i++] = (rest & 127) | 128
    rest = Math.floor(rest / 128)
  }
  bytes[i++] = rest
  return i
}
