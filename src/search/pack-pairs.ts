/** The pairs of neighbouring words of a batch into its segment: those that several documents have by a term of their own, the rest by shared ones (pairs.ts). */
import type { IndexedDocument } from './index.ts'
import type { Packer } from './packer.ts'
import {
  bucketOfPair,
  keyOfPair,
  ownTermMin,
  ownTermOfPair,
  termOfBucket,
  UNCOUNTED_PAIRS,
} from './pairs.ts'

/** By pair, and by document where that is equal. `places` are docnos less the first of the batch. */
type SortedPairs = { pairs: Uint32Array; places: Uint32Array }

/**
 * Pairs are numbers already: they need no FlexSearch, and no text of a term before the end.
 * @param range documents of the segment, holes included
 */
export function packPairs(
  packer: Packer,
  documents: readonly IndexedDocument[],
  mindoc: number,
  range: number,
): void {
  const uncounted = documents.filter(({ pairs }) => !pairs)
  if (uncounted.length > 0) {
    const values = Uint32Array.from(uncounted, ({ docno }) => docno - mindoc)
    packer.add(UNCOUNTED_PAIRS, values, null, values.length)
  }
  const sorted = sortPairs(documents, mindoc)
  packOwn(packer, sorted)
  packShared(packer, sorted, range)
}

function packOwn(packer: Packer, { pairs, places }: SortedPairs): void {
  for (let from = 0; from < pairs.length;) {
    const to = endOfPair(pairs, from)
    if (to - from >= ownTermMin)
      packer.add(ownTermOfPair(pairs[from] as number), places.subarray(from, to), null, to - from)
    from = to
  }
}

function packShared(packer: Packer, { pairs, places }: SortedPairs, range: number): void {
  const keys = new Uint32Array(pairs.length)
  for (let from = 0; from < pairs.length;) {
    const bucket = bucketOfPair(pairs[from] as number)
    let count = 0
    while (from < pairs.length && bucketOfPair(pairs[from] as number) === bucket) {
      const to = endOfPair(pairs, from)
      if (to - from < ownTermMin)
        for (let i = from; i < to; i += 1)
          count = insertKey(keys, count, keyOfPair(pairs[i] as number, places[i] as number, range))
      from = to
    }
    if (count > 0) packer.add(termOfBucket(bucket), keys, null, count)
  }
}

function endOfPair(pairs: Uint32Array, from: number): number {
  const pair = pairs[from]
  let to = from + 1
  while (to < pairs.length && pairs[to] === pair) to += 1
  return to
}

/** Almost always behind the last one: only pairs of one check may stand in another order, or have the same key. Returns the new count. */
function insertKey(keys: Uint32Array, count: number, key: number): number {
  let at = count
  while (at > 0 && (keys[at - 1] as number) > key) at -= 1
  if (at > 0 && keys[at - 1] === key) return count
  keys.copyWithin(at + 1, at, count)
  keys[at] = key
  return count + 1
}

const digitBits = 11
const digits = 2 ** digitBits
const starts = new Uint32Array(digits)

/** A radix sort, which keeps the documents of a pair in their order. */
function sortPairs(documents: readonly IndexedDocument[], mindoc: number): SortedPairs {
  const count = documents.reduce((sum, { pairs }) => sum + (pairs?.length ?? 0), 0)
  let from = { pairs: new Uint32Array(count), places: new Uint32Array(count) }
  let to = { pairs: new Uint32Array(count), places: new Uint32Array(count) }
  let at = 0
  for (const { docno, pairs } of documents) {
    if (!pairs) continue
    from.pairs.set(pairs, at)
    from.places.fill(docno - mindoc, at, at + pairs.length)
    at += pairs.length
  }
  for (let shift = 0; shift < 32; shift += digitBits) {
    sortByDigit(from, to, shift)
    ;[from, to] = [to, from]
  }
  return from
}

function sortByDigit(from: SortedPairs, to: SortedPairs, shift: number): void {
  const { pairs, places } = from
  starts.fill(0)
  for (let i = 0; i < pairs.length; i += 1) {
    const digit = ((pairs[i] as number) >>> shift) & (digits - 1)
    starts[digit] = (starts[digit] as number) + 1
  }
  let sum = 0
  for (let digit = 0; digit < digits; digit += 1) {
    const own = starts[digit] as number
    starts[digit] = sum
    sum += own
  }
  for (let i = 0; i < pairs.length; i += 1) {
    const pair = pairs[i] as number
    const digit = (pair >>> shift) & (digits - 1)
    const at = starts[digit] as number
    to.pairs[at] = pair
    to.places[at] = places[i] as number
    starts[digit] = at + 1
  }
}
