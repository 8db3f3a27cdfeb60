/** Finds 64-bit SimHashes within some bits of a given one, and entries that share an anchor hash with it. Proposes, never decides. */
import assert from 'node:assert'
import { bitCount32, mix32 } from './hash.ts'

/** How many of 64 bits differ: 0..64. */
export const hammingDistance = (hiA: number, loA: number, hiB: number, loB: number): number =>
  bitCount32(hiA ^ hiB) + bitCount32(loA ^ loB)

/** Two hashes within this distance agree in at least one of the four 16-bit blocks: one look into each table misses none of them. */
export const radiusDefault = 3
/** Beyond it copies are no likelier than strangers, and each further bit takes 16 looks more. */
export const radiusMax = 6
/** Entries that share an anchor are proposed only up to this distance: no key is stored beside a chain. */
export const anchorRadius = 18
export const anchorsPerEntry = 8

/** Caps against floods. Above `bucketSteps` alone a hash within the radius can be missed; `cutBuckets` counts that. */
export const simHashCaps = {
  /** Steps in one bucket, newest entries first. */
  bucketSteps: 8_192,
  /** Steps in all buckets of one lookup: reached only beyond the default radius. */
  lookupSteps: 65_536,
  /** Steps in the chain of one anchor. */
  anchorSteps: 256,
  /** Candidates of each of the two sources. */
  candidates: 128,
  /** Entries of one host in the chain of one anchor: page furniture, or a flood. */
  entriesPerHost: 32,
} as const

export type SimHashEntry = {
  /** 1 .. 2^32 - 1, each once. */
  id: number
  /** Counted against `entriesPerHost`; 0 is nobody's. */
  host: number
  simHi: number
  simLo: number
  anchors: Uint32Array
}

export type Candidate = { id: number; distance: number }

const blocks = 4
const blockBits = 16
const blockValues = 2 ** blockBits
const nothing = -1
const entriesMin = 256

/**
 * Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007), with four tables of one block each, every
 * table a chained hash over the same entries, met newest first. A radius beyond 3 takes no further tables but more looks into them: of
 * hashes that differ in at most 3 + n bits, some block is equal, or one of the first n blocks differs in one bit only (Norouzi, Punjani,
 * Fleet, "Fast search in Hamming space with multi-index hashing", CVPR 2012). About 90 bytes an entry. Append only: a removed entry keeps its
 * place, and anchors are not kept, so only the owner of the fingerprints can make the tables anew; `shouldRebuild` says when.
 */
export class SimHashTables {
  #count = 0
  #removed = 0
  #capacity = 0
  #ids = new Uint32Array(0)
  #hosts = new Uint32Array(0)
  #hi = new Uint32Array(0)
  #lo = new Uint32Array(0)
  #blockNext = new Int32Array(0)
  #anchorNext = new Int32Array(0)
  #idNext = new Int32Array(0)
  readonly #blockHeads = new Int32Array(blocks * blockValues).fill(nothing)
  readonly #anchorHeads: Int32Array
  readonly #idHeads: Int32Array
  readonly #anchorShift: number
  readonly #idShift: number
  readonly #radius: number
  #cutBuckets = 0
  #steps = 0

  /**
   * @param expected entries that the tables are laid out for; they hold four times as many well
   * @param radius of `near`, 0 .. `radiusMax`
   */
  constructor(expected: number, radius = radiusDefault) {
    assert(Number.isInteger(radius) && radius >= 0 && radius <= radiusMax)
    this.#radius = radius
    const capacity = Math.max(entriesMin, expected)
    const idBits = Math.ceil(Math.log2(capacity))
    const anchorBits = idBits + 2
    this.#idShift = 32 - idBits
    this.#idHeads = new Int32Array(2 ** idBits).fill(nothing)
    this.#anchorShift = 32 - anchorBits
    this.#anchorHeads = new Int32Array(2 ** anchorBits).fill(nothing)
    this.#grow(capacity)
  }

  /** Entries that can be found. */
  get size(): number {
    return this.#count - this.#removed
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    const arrays = [
      this.#ids,
      this.#hosts,
      this.#hi,
      this.#lo,
      this.#blockNext,
      this.#anchorNext,
      this.#idNext,
      this.#blockHeads,
      this.#anchorHeads,
      this.#idHeads,
    ]
    return arrays.reduce((sum, array) => sum + array.byteLength, 0)
  }

  /** Chains have become long, or most places belong to removed entries. */
  get shouldRebuild(): boolean {
    return this.#count > 4 * this.#idHeads.length || this.#removed > this.size + entriesMin
  }

  /** Entries that lookups have looked at for their SimHash. */
  get steps(): number {
    return this.#steps
  }

  /** How often a walk through a bucket was cut off, so that a hash within the radius may have been missed. */
  get cutBuckets(): number {
    return this.#cutBuckets
  }

  /** Adds an entry; one with the same id is replaced. */
  add(entry: SimHashEntry): void {
    assert(entry.id > 0 && entry.id <= 0xffff_ffff && entry.anchors.length <= anchorsPerEntry)
    this.remove(entry.id)
    if (this.#count === this.#capacity) this.#grow(Math.ceil(this.#capacity * 1.25))
    const at = this.#count++
    this.#ids[at] = entry.id
    this.#hosts[at] = entry.host
    this.#hi[at] = entry.simHi
    this.#lo[at] = entry.simLo
    for (let table = 0; table < blocks; table++) {
      const bucket = bucketOf(entry.simHi, entry.simLo, table)
      this.#blockNext[at * blocks + table] = this.#blockHeads[bucket] as number
      this.#blockHeads[bucket] = at
    }
    for (const [i, anchor] of entry.anchors.entries()) {
      const bucket = mix32(anchor) >>> this.#anchorShift
      if (this.#isCrowded(bucket, entry.host)) continue
      this.#anchorNext[at * anchorsPerEntry + i] = this.#anchorHeads[bucket] as number
      this.#anchorHeads[bucket] = at * anchorsPerEntry + i
    }
    const bucket = mix32(entry.id) >>> this.#idShift
    this.#idNext[at] = this.#idHeads[bucket] as number
    this.#idHeads[bucket] = at
  }

  /** @returns false where there is no such entry */
  remove(id: number): boolean {
    const at = this.#entryOf(id)
    if (at === nothing) return false
    this.#ids[at] = 0
    this.#removed += 1
    return true
  }

  /**
   * `near`: every entry within the radius, up to the caps. `anchored`: others that share an anchor. Both nearest first, equal
   * distances newest first. The two have separate caps, so that a flood of one does not close the other.
   */
  find(sought: Omit<SimHashEntry, 'id' | 'host'>): { near: Candidate[]; anchored: Candidate[] } {
    const near = this.#findNear(sought.simHi, sought.simLo)
    return { near: nearestFirst(near), anchored: nearestFirst(this.#findAnchored(sought, near)) }
  }

  #findNear(simHi: number, simLo: number): Map<number, number> {
    const found = new Map<number, number>()
    const stepsMax = this.#steps + simHashCaps.lookupSteps
    // With t[i] the bits that block i may differ in, all blocks beyond theirs make a distance of sum(t[i] + 1) at least.
    const equal = Math.min(blocks, this.#radius + 1)
    for (let table = 0; table < equal; table++)
      this.#walk(found, simHi, simLo, table, bucketOf(simHi, simLo, table), stepsMax)
    for (let table = 0; table <= this.#radius - blocks; table++) {
      const bucket = bucketOf(simHi, simLo, table)
      for (let bit = 0; bit < blockBits; bit++)
        this.#walk(found, simHi, simLo, table, bucket ^ (1 << bit), stepsMax)
    }
    return found
  }

  #walk(
    found: Map<number, number>,
    simHi: number,
    simLo: number,
    table: number,
    bucket: number,
    stepsMax: number,
  ): void {
    const radius = this.#radius
    const steps = Math.min(simHashCaps.bucketSteps, stepsMax - this.#steps)
    let stepsLeft = steps
    let at = this.#blockHeads[bucket] as number
    while (at !== nothing && stepsLeft > 0 && found.size < simHashCaps.candidates) {
      const distance =
        bitCount32((this.#hi[at] as number) ^ simHi) + bitCount32((this.#lo[at] as number) ^ simLo)
      const id = this.#ids[at] as number
      if (distance <= radius && id !== 0) found.set(id, distance)
      at = this.#blockNext[at * blocks + table] as number
      stepsLeft -= 1
    }
    this.#steps += steps - stepsLeft
    if (at !== nothing) this.#cutBuckets += 1
  }

  #findAnchored(
    sought: Omit<SimHashEntry, 'id' | 'host'>,
    near: ReadonlyMap<number, number>,
  ): Map<number, number> {
    const found = new Map<number, number>()
    for (const anchor of sought.anchors) {
      let stepsLeft: number = simHashCaps.anchorSteps
      let link = this.#anchorHeads[mix32(anchor) >>> this.#anchorShift] as number
      while (link !== nothing && stepsLeft-- > 0 && found.size < simHashCaps.candidates) {
        const at = Math.floor(link / anchorsPerEntry)
        const hi = this.#hi[at] as number
        const lo = this.#lo[at] as number
        const distance = bitCount32(hi ^ sought.simHi) + bitCount32(lo ^ sought.simLo)
        const id = this.#ids[at] as number
        if (distance <= anchorRadius && id !== 0 && !near.has(id)) found.set(id, distance)
        link = this.#anchorNext[link] as number
      }
    }
    return found
  }

  #isCrowded(bucket: number, host: number): boolean {
    if (host === 0) return false
    let entries = 0
    let stepsLeft: number = simHashCaps.anchorSteps
    let link = this.#anchorHeads[bucket] as number
    while (link !== nothing && stepsLeft-- > 0) {
      const at = Math.floor(link / anchorsPerEntry)
      if (this.#hosts[at] === host && this.#ids[at] !== 0) entries += 1
      if (entries === simHashCaps.entriesPerHost) return true
      link = this.#anchorNext[link] as number
    }
    return false
  }

  #entryOf(id: number): number {
    let at = this.#idHeads[mix32(id) >>> this.#idShift] as number
    while (at !== nothing && this.#ids[at] !== id) at = this.#idNext[at] as number
    return at
  }

  #grow(capacity: number): void {
    this.#capacity = capacity
    this.#ids = grown(this.#ids, new Uint32Array(capacity))
    this.#hosts = grown(this.#hosts, new Uint32Array(capacity))
    this.#hi = grown(this.#hi, new Uint32Array(capacity))
    this.#lo = grown(this.#lo, new Uint32Array(capacity))
    this.#blockNext = grown(this.#blockNext, new Int32Array(capacity * blocks))
    this.#anchorNext = grown(this.#anchorNext, new Int32Array(capacity * anchorsPerEntry))
    this.#idNext = grown(this.#idNext, new Int32Array(capacity))
  }
}

const grown = <A extends Uint32Array | Int32Array>(from: A, to: A): A => {
  to.set(from)
  return to
}

/** Head of the chain of all entries with the same 16 bits in block `table`. */
function bucketOf(simHi: number, simLo: number, table: number): number {
  const half = table < 2 ? simLo : simHi
  return table * blockValues + ((table & 1) === 0 ? half & 0xffff : half >>> 16)
}

const nearestFirst = (found: ReadonlyMap<number, number>): Candidate[] =>
  Array.from(found, ([id, distance]) => ({ id, distance })).sort((a, b) => a.distance - b.distance)
