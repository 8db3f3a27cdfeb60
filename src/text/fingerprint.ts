/** What a page is recognised by: digest, SimHash, anchors and sketch of its main text. Decides nothing: that is crawl/duplicates.ts. */
import { hash } from 'node:crypto'
import { mix32 } from '../lib/hash.ts'
import { createHashCounter } from './hash-counter.ts'
import { foldText } from './normalize.ts'

/** All of it is made with the database's seed, so nobody outside can aim at a page. */
export type Fingerprint = {
  /** 128-bit keyed digest of the token sequence. */
  digest: Uint8Array<ArrayBuffer>
  /** SimHash, upper and lower 32 bits, unsigned. */
  simHi: number
  simLo: number
  /** Smallest hashes of 4-word / 6-ideograph runs, ascending, at most 8. */
  anchors: Uint32Array<ArrayBuffer>
  /** One-permutation MinHash of shingles (128 bytes) and numbers (16 bytes), 4 bits a bin. */
  sketch: Uint8Array<ArrayBuffer>
  tokens: number
  /** How many different numbers, and an order-free 32-bit sum of them. */
  figures: number
  numbers: number
}

/** Part of every hash: fingerprints of different recipes never agree. Raise it with any change below, and make them anew. */
export const fingerprintVersion = 1
export const anchorsMax = 8

/** Later tokens count for the digest only. */
const tokensMax = 50_000
/** A run of tokens ends when its weights reach a length: 2 words or 3 ideographs for shingles, 4 or 6 for anchors. */
const wordWeight = 3
const ideographWeight = 2
const shingleLength = 6
const anchorLength = 12
const shingleBins = 256
const numberBins = 32
const binValues = 15
const shingleBytes = shingleBins / 2
const sketchBytes = (shingleBins + numberBins) / 2
const digestBytes = 16
const binEmpty = 0xffff_ffff

/** Words that say nothing about a page. With them, English pages crowd into a few buckets of the SimHash tables. */
const commonWords =
  'about after all also and any are because been before being between both but can could did does each for from had has have her his how into its may more most not one only other our out over said she should some such than that the their them then there these they this those through two under use used using was were what when where which while who will with would you your'
const commonIdeographs =
  '的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家里如自二理起小现与及其将还被从者并但没月日'

/* Kinds of UTF-16 units. */
const separator = 0
const letter = 1
const digit = 2
/** A token of its own: scripts written without spaces, and the first half of a pair. */
const ideograph = 3

/* Flags of tokens. */
const isSilent = 1
const isNumber = 2
/** The number goes on in the next token: 12,345.67 is one. */
const goesOn = 4

type Tokens = {
  size: number
  hashes: Uint32Array
  weights: Uint8Array
  flags: Uint8Array
  /** What the digest is made of: the key, then the units of each token and a zero. */
  units: Uint16Array
  unitsSize: number
}

/** Scratch of this thread: one page at a time. */
const scratch: Tokens = {
  size: 0,
  hashes: new Uint32Array(4_096),
  weights: new Uint8Array(4_096),
  flags: new Uint8Array(4_096),
  units: new Uint16Array(16_384),
  unitsSize: 0,
}
const unitsKept = 1_048_576
const bins = new Uint32Array(shingleBins + numberBins)
const votes = new Int32Array(64)
const counter = createHashCounter()

/**
 * The fingerprint of a main text, raw as extracted. Linear; about 100 us for a page of 1,400 letters.
 * SimHash after Charikar (STOC 2002), sketch after Li, Owen, Zhang, "One Permutation Hashing" (NIPS 2012).
 * @param seed secret integer of the database, up to 53 bits
 * @param of what the text is: fields of a page never have the digest of a main text, since the page has other words too
 */
export function fingerprint(
  text: string,
  seed: number,
  of: 'text' | 'fields' = 'text',
): Fingerprint {
  const salt = mix32((seed % 2 ** 32) ^ mix32(Math.floor(seed / 2 ** 32) + fingerprintVersion))
  bins.fill(binEmpty)
  readTokens(foldText(text), seed, salt, of)
  const { figures, numbers } = foldNumbers()
  const { simHi, simLo } = simHash()
  const anchors = foldRuns(salt)
  const result = {
    digest: digestOfUnits(),
    simHi,
    simLo,
    anchors,
    sketch: packBins(),
    tokens: scratch.size,
    figures,
    numbers,
  }
  if (scratch.units.length > unitsKept) scratch.units = new Uint16Array(16_384)
  return result
}

/** Estimated share of runs of words, counted with repetitions, that two texts have in common: 0..1. */
export const textSimilarity = (a: Uint8Array, b: Uint8Array): number =>
  similarity(a, b, 0, shingleBytes)

/** The same for their different numbers. */
export const numberSimilarity = (a: Uint8Array, b: Uint8Array): number =>
  similarity(a, b, shingleBytes, sketchBytes)

function similarity(a: Uint8Array, b: Uint8Array, from: number, to: number): number {
  let used = 0
  let both = 0
  let equal = 0
  for (let i = from; i < to; i++) {
    const x = a[i] as number
    const y = b[i] as number
    const [lowX, lowY, highX, highY] = [x & 15, y & 15, x >>> 4, y >>> 4]
    if ((lowX | lowY) !== 0) {
      used += 1
      if (lowX !== 0 && lowY !== 0) {
        both += 1
        if (lowX === lowY) equal += 1
      }
    }
    if ((highX | highY) !== 0) {
      used += 1
      if (highX !== 0 && highY !== 0) {
        both += 1
        if (highX === highY) equal += 1
      }
    }
  }
  if (used === 0) return 0
  // Of the bins that differ, one in fourteen agrees by chance as well.
  return Math.max(0, equal - (both - equal) / (binValues - 1)) / used
}

let kinds: Uint8Array | null = null
let commonHashes: Uint32Array | null = null

function kindsOfUnits(): Uint8Array {
  const alone =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
  const table = new Uint8Array(65_536)
  for (let unit = 0; unit < table.length; unit++) {
    const text = String.fromCharCode(unit)
    if (isHighSurrogate(unit) || alone.test(text)) table[unit] = ideograph
    else if (/\p{N}/u.test(text)) table[unit] = digit
    else if (/[\p{L}\p{M}]/u.test(text)) table[unit] = letter
  }
  return table
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isHiragana = (unit: number): boolean => unit >= 0x3041 && unit <= 0x309f

const wordHash = (text: string, from: number, to: number): number => {
  let h = 0x811c9dc5
  for (let i = from; i < to; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return mix32(h)
}

const commonSlots = 4_096

/** By open addressing, 0 = free: a Set takes twice as long, and each token is looked up. */
function hashTableOf(words: readonly string[]): Uint32Array {
  const table = new Uint32Array(commonSlots)
  for (const word of words) {
    const h = wordHash(word, 0, word.length)
    let slot = h & (commonSlots - 1)
    while (table[slot] !== 0) slot = (slot + 1) & (commonSlots - 1)
    table[slot] = h
  }
  return table
}

function isCommon(h: number): boolean {
  const table = commonHashes as Uint32Array
  let slot = h & (commonSlots - 1)
  while (table[slot] !== 0) {
    if (table[slot] === h) return true
    slot = (slot + 1) & (commonSlots - 1)
  }
  return false
}

/** Fills the scratch with the tokens of a folded text. */
function readTokens(text: string, seed: number, salt: number, of: 'text' | 'fields'): void {
  kinds ??= kindsOfUnits()
  commonHashes ??= hashTableOf([...commonWords.split(' '), ...commonIdeographs.split('')])
  // At worst every unit is a token with its zero.
  if (scratch.units.length < 2 * text.length + 8)
    scratch.units = new Uint16Array(2 * text.length + 8)
  const { units } = scratch
  const version = of === 'text' ? fingerprintVersion : -fingerprintVersion
  units.set(new Uint16Array(new Float64Array([seed, version]).buffer))
  let unitsSize = 8
  scratch.size = 0
  for (let i = 0; i < text.length;) {
    const unit = text.charCodeAt(i)
    const kind = kinds[unit] as number
    if (kind === separator) {
      i += 1
      continue
    }
    const start = i
    i += 1
    if (kind !== ideograph) while (i < text.length && kinds[text.charCodeAt(i)] === kind) i += 1
    else if (isHighSurrogate(unit) && i < text.length) i += 1
    for (let at = start; at < i; at++) units[unitsSize++] = text.charCodeAt(at)
    units[unitsSize++] = 0
    if (scratch.size === tokensMax) continue
    const h = wordHash(text, start, i)
    const silent =
      isCommon(h) || (kind === letter && i - start < 3) || isHiragana(unit) ? isSilent : 0
    pushToken(
      mix32(h ^ salt),
      kind === ideograph ? ideographWeight : wordWeight,
      silent | (kind === digit ? numberFlags(text, i) : 0),
    )
  }
  scratch.unitsSize = unitsSize
}

function numberFlags(text: string, end: number): number {
  const next = text.charCodeAt(end)
  const joins = (next === 0x2c || next === 0x2e) && kinds?.[text.charCodeAt(end + 1)] === digit
  return joins ? isNumber | goesOn : isNumber
}

function pushToken(h: number, weight: number, flags: number): void {
  const { size } = scratch
  if (size === scratch.hashes.length) {
    scratch.hashes = copyInto(new Uint32Array(size * 2), scratch.hashes)
    scratch.weights = copyInto(new Uint8Array(size * 2), scratch.weights)
    scratch.flags = copyInto(new Uint8Array(size * 2), scratch.flags)
  }
  scratch.hashes[size] = h
  scratch.weights[size] = weight
  scratch.flags[size] = flags
  scratch.size = size + 1
}

const copyInto = <A extends Uint8Array | Uint32Array>(to: A, from: A): A => {
  to.set(from)
  return to
}

/** Sum, count and bins of the different numbers. The sum counts repetitions. */
function foldNumbers(): { figures: number; numbers: number } {
  const { size, hashes, flags } = scratch
  const different = new Set<number>()
  let sum = 0
  let number = 0
  for (let i = 0; i < size; i++) {
    const flag = flags[i] as number
    if ((flag & isNumber) === 0) continue
    number = mix32(Math.imul(number, 31) + (hashes[i] as number))
    if ((flag & goesOn) !== 0) continue
    sum = (sum + number) >>> 0
    different.add(number)
    lower(shingleBins + (number >>> 27), number & 0x7ff_ffff)
    number = 0
  }
  return { figures: different.size, numbers: sum }
}

function lower(bin: number, value: number): void {
  if (value < (bins[bin] as number)) bins[bin] = value
}

/** A token that comes f times votes f times: a bit is set where more than half of the votes have it. */
function simHash(): { simHi: number; simLo: number } {
  const { size, hashes, flags } = scratch
  counter.begin(size)
  let all = 0
  for (let i = 0; i < size; i++) {
    if (((flags[i] as number) & isSilent) !== 0) continue
    counter.add(hashes[i] as number)
    all += 1
  }
  votes.fill(0)
  counter.each(vote)
  let simHi = 0
  let simLo = 0
  for (let bit = 0; bit < 32; bit++) {
    if (2 * (votes[bit] as number) > all) simLo |= 1 << bit
    if (2 * (votes[32 + bit] as number) > all) simHi |= 1 << bit
  }
  return { simHi: simHi >>> 0, simLo: simLo >>> 0 }
}

function vote(token: number, count: number): void {
  const low = mix32(token + 0x9e3779b9)
  const high = mix32(token ^ 0x51ed270b)
  for (let bit = 0; bit < 32; bit++) {
    votes[bit] = (votes[bit] as number) + (count & -((low >>> bit) & 1))
    votes[32 + bit] = (votes[32 + bit] as number) + (count & -((high >>> bit) & 1))
  }
}

/** Shingles go into the bins, each occurrence as an element of its own; answers the anchors. */
function foldRuns(salt: number): Uint32Array<ArrayBuffer> {
  const { size, hashes, weights } = scratch
  counter.begin(size)
  const lowest: number[] = []
  for (let i = 0; i < size; i++) {
    let h = salt
    let length = 0
    let j = i
    while (j < size && length < shingleLength) {
      h = mix32(Math.imul(h, 31) + (hashes[j] as number))
      length += weights[j++] as number
    }
    // A text shorter than a run is one run.
    if (length >= shingleLength || i === 0) {
      const nth = counter.add(h)
      const x = mix32(h + Math.imul(nth, 0x9e3779b9))
      lower((x >>> 23) % shingleBins, x & 0x7f_ffff)
    }
    while (j < size && length < anchorLength) {
      h = mix32(Math.imul(h, 31) + (hashes[j] as number))
      length += weights[j++] as number
    }
    if (length >= anchorLength || i === 0) keepLowest(lowest, h)
  }
  return Uint32Array.from(lowest)
}

function keepLowest(lowest: number[], value: number): void {
  const isFull = lowest.length === anchorsMax
  if (isFull && value >= (lowest[anchorsMax - 1] as number)) return
  if (lowest.includes(value)) return
  let at = isFull ? anchorsMax - 1 : lowest.length
  while (at > 0 && (lowest[at - 1] as number) > value) {
    lowest[at] = lowest[at - 1] as number
    at -= 1
  }
  lowest[at] = value
}

/** 4 bits of each bin's smallest hash; 0 where nothing fell. */
function packBins(): Uint8Array<ArrayBuffer> {
  const sketch = new Uint8Array(sketchBytes)
  for (let bin = 0; bin < bins.length; bin++) {
    const least = bins[bin] as number
    if (least === binEmpty) continue
    const value = 1 + (mix32(least) % binValues)
    sketch[bin >> 1] = (sketch[bin >> 1] as number) | (value << ((bin & 1) * 4))
  }
  return sketch
}

/** In a buffer of its own: it is transferred between threads. */
function digestOfUnits(): Uint8Array<ArrayBuffer> {
  const { buffer } = scratch.units
  return Uint8Array.from(
    hash('sha256', new Uint8Array(buffer, 0, scratch.unitsSize * 2), 'buffer').subarray(
      0,
      digestBytes,
    ),
  )
}
