/** Sets of document numbers as bits, one for each docno up to a limit: for one query. What is kept is a Roaring set. */
import { bitCount32 } from '../lib/hash.ts'
import type { RoaringSet } from '../lib/roaring.ts'

export type DocnoSet = Uint32Array

export const createSet = (limit: number): DocnoSet => new Uint32Array((limit + 31) >>> 5)

/** Numbers at or above the limit are left out. */
export function setOf(kept: RoaringSet, limit: number): DocnoSet {
  const set = createSet(limit)
  kept.spreadInto(set)
  return set
}

export const sizeOf = (set: DocnoSet): number =>
  set.reduce((size, bits) => size + bitCount32(bits), 0)

export const has = (set: DocnoSet, docno: number): boolean =>
  (((set[docno >>> 5] ?? 0) >>> (docno & 31)) & 1) === 1

export function insert(set: DocnoSet, docno: number): void {
  const at = docno >>> 5
  if (at < set.length) set[at] = ((set[at] as number) | (1 << (docno & 31))) >>> 0
}

export function remove(set: DocnoSet, docno: number): void {
  const at = docno >>> 5
  if (at < set.length) set[at] = ((set[at] as number) & ~(1 << (docno & 31))) >>> 0
}

/** Takes out of `set` what is not in `other`. */
export function intersect(set: DocnoSet, other: DocnoSet): DocnoSet {
  for (let i = 0; i < set.length; i += 1) set[i] = ((set[i] as number) & (other[i] as number)) >>> 0
  return set
}

/** What is in `set` and not in `other`, as a set of its own. */
export const without = (set: DocnoSet, other: DocnoSet): DocnoSet =>
  set.map((bits, i) => (bits & ~(other[i] as number)) >>> 0)

export function unite(set: DocnoSet, other: DocnoSet): DocnoSet {
  for (let i = 0; i < set.length; i += 1) set[i] = ((set[i] as number) | (other[i] as number)) >>> 0
  return set
}

/** All numbers below the limit that are not in the set, some of no document among them. */
export function invert(set: DocnoSet): DocnoSet {
  for (let i = 0; i < set.length; i += 1) set[i] = ~(set[i] as number) >>> 0
  return set
}

/** Ascending. `use` says whether to go on. */
export function eachOf(set: DocnoSet, use: (docno: number) => boolean): void {
  for (let i = 0; i < set.length; i += 1) {
    for (let bits = set[i] as number; bits !== 0;) {
      const bit = 31 - Math.clz32(bits & -bits)
      if (!use(i * 32 + bit)) return
      bits = (bits & (bits - 1)) >>> 0
    }
  }
}
