/**
 * Which terms a leaf surely lacks: a Bloom filter for each leaf of a stored segment, eight bits a term. Who looks a rare word up in all
 * segments reads the few leaves that have it, and one in forty of the others.
 */
import type { Db } from '../lib/sqlite.ts'

/** With four bits each, one of forty terms that are not there passes. */
const bitsPerTerm = 8
const bitsOfTerm = 4
/** A leaf has at most some thousand terms. */
const leafBytesMax = 65_535

/** FNV-1a over units, well mixed. */
export function hashOfTerm(term: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < term.length; i += 1) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** From bit to bit of a term. */
const stepOf = (hash: number): number => ((hash >>> 15) ^ (hash << 7)) | 1

/** Takes the terms of leaf after leaf. */
export class FilterWriter {
  #hashes = new Uint32Array(1_024)
  #count = 0
  readonly #sizes: number[] = []
  #bytes = new Uint8Array(16_384)
  #end = 0

  add(term: string): void {
    if (this.#count === this.#hashes.length) {
      const wider = new Uint32Array(2 * this.#count)
      wider.set(this.#hashes)
      this.#hashes = wider
    }
    this.#hashes[this.#count++] = hashOfTerm(term)
  }

  /** What was added since the last call are the terms of a leaf. */
  endLeaf(): void {
    const size = Math.min(leafBytesMax, Math.ceil((this.#count * bitsPerTerm) / 8))
    if (this.#end + size > this.#bytes.length) {
      const wider = new Uint8Array(2 * (this.#end + size))
      wider.set(this.#bytes.subarray(0, this.#end))
      this.#bytes = wider
    }
    const bytes = this.#bytes.subarray(this.#end, this.#end + size)
    for (let i = 0; i < this.#count; i += 1) {
      let hash = this.#hashes[i] as number
      const step = stepOf(hash)
      for (let n = 0; n < bitsOfTerm; n += 1) {
        const bit = hash % (8 * size)
        bytes[bit >>> 3] = (bytes[bit >>> 3] as number) | (1 << (bit & 7))
        hash = (hash + step) >>> 0
      }
    }
    this.#sizes.push(size)
    this.#end += size
    this.#count = 0
  }

  /** Two bytes for the size of each leaf's filter, little endian, then these. */
  finish(): Uint8Array {
    const sizes = this.#sizes
    const all = Buffer.alloc(2 * sizes.length + this.#end)
    for (const [n, size] of sizes.entries()) all.writeUInt16LE(size, 2 * n)
    all.set(this.#bytes.subarray(0, this.#end), 2 * sizes.length)
    return all
  }
}

/** What to select as `terms`: an older directory that is only read has no filters. */
export const filterColumn = (db: Db, table: 'seg' | 'link_seg'): string =>
  db.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, 'terms') === undefined
    ? 'NULL AS terms'
    : 'terms'

/** Whether a leaf may have the term with this hash. */
export type TermFilter = (leaf: number, hash: number) => boolean

/** @returns null for bytes that are no filter of so many leaves */
export function openFilter(packed: Uint8Array, leaves: number): TermFilter | null {
  if (packed.length < 2 * leaves) return null
  const starts = new Uint32Array(leaves + 1)
  starts[0] = 2 * leaves
  for (let n = 0; n < leaves; n += 1)
    starts[n + 1] =
      (starts[n] as number) + (packed[2 * n] as number) + 256 * (packed[2 * n + 1] as number)
  if (starts[leaves] !== packed.length) return null
  return (leaf, hash) => {
    const start = starts[leaf] as number
    const bits = 8 * ((starts[leaf + 1] as number) - start)
    const step = stepOf(hash)
    let at = hash
    for (let n = 0; n < bitsOfTerm; n += 1) {
      const bit = at % bits
      if (((packed[start + (bit >>> 3)] as number) & (1 << (bit & 7))) === 0) return false
      at = (at + step) >>> 0
    }
    return true
  }
}
