/**
 * Pairs of neighbouring words (text/phrase.ts) as postings, in two forms. Of most pairs 18 bits are kept: the high ones choose a term that
 * many share, the rest and the document make up the value that is packed: a key = check * documents of the segment + place of the
 * document in it. So the documents of one pair lie together, and those of pairs that are frequent close together; but one page in a
 * thousand of 300 words seems to have a pair that it has not. A pair that several documents of one batch have gets a term of all its
 * 32 bits for them, with docnos as any word has: of these no text need be asked. Pure.
 */
import assert from 'node:assert'
import { pairBits } from '../text/phrase.ts'
import { type PostingList, reserve } from './posting-list.ts'

const sharedBits = 18
const checkBits = 6
const checks = 2 ** checkBits
export const pairBuckets = 2 ** (sharedBits - checkBits)
/** So many documents of a batch have a pair that gets a term of its own. */
export const ownTermMin = 3
/** Keys fit into 31 bits. */
const documentsMax = 2 ** (31 - checkBits)

/** First character of the terms of pairs: a term space of its own, which no word can enter. */
export const PAIR_PREFIX = '\u0002'
/** Held by documents whose pairs were not counted. Its values are no keys. */
export const UNCOUNTED_PAIRS = PAIR_PREFIX
/** Some character: in their order the terms are in order. */
const FIRST_BUCKET = 0x4000

export const bucketOfPair = (pair: number): number => pair >>> (pairBits - sharedBits + checkBits)
const checkOfPair = (pair: number): number => (pair >>> (pairBits - sharedBits)) & (checks - 1)
const terms = Array.from(
  { length: pairBuckets },
  (_, bucket) => PAIR_PREFIX + String.fromCharCode(FIRST_BUCKET + bucket),
)
export const termOfBucket = (bucket: number): string => terms[bucket] as string
export const termOfPair = (pair: number): string => termOfBucket(bucketOfPair(pair))
/** Of the documents for which all bits of the pair are kept. In the order of the pairs, and before all buckets. */
export function ownTermOfPair(pair: number): string {
  let term = PAIR_PREFIX
  for (let bits = 30; bits >= 0; bits -= 6)
    term += String.fromCharCode(FIRST_OWN + ((pair >>> bits) & 63))
  return term
}
const FIRST_OWN = 0x30
/** Pairs have no frequencies, in either form. */
export const hasQuants = (term: string): boolean => term[0] !== PAIR_PREFIX

/** Whether its values are keys. */
export const isPairTerm = (term: string): boolean => term.length === 2 && term[0] === PAIR_PREFIX

/** @param place of the document: its docno less the first of the segment. @param documents of the segment, holes included */
export function keyOfPair(pair: number, place: number, documents: number): number {
  assert(documents <= documentsMax)
  return checkOfPair(pair) * documents + place
}

/** Keys of a pair lie in from..to-1; the first of them is that of the first document. */
export function boundsOfPair(pair: number, documents: number): { from: number; to: number } {
  const from = keyOfPair(pair, 0, documents)
  return { from, to: from + documents }
}

export const docnoOfKey = (key: number, packed: { first: number; last: number }): number =>
  packed.first + (key % (packed.last - packed.first + 1))

type Packed = { first: number; last: number }
/** Keys of one bucket in one of the segments that become one. */
export type PairPart = { postings: Readonly<PostingList>; packed: Packed }

/** Of each key of a bucket. */
let checkOf = new Uint8Array(1_024)
const ends = new Uint32Array(checks)

/**
 * The keys of one bucket anew, for the segment that theirs become: a counting sort.
 * @param parts in docno order
 * @param isDead by docno less the first of the new segment
 */
export function mergePairs(
  to: PostingList,
  parts: readonly PairPart[],
  packed: Packed,
  isDead: Uint8Array | null,
): void {
  const documents = documentsOf(packed)
  assert(documents <= documentsMax)
  const count = parts.reduce((sum, { postings }) => sum + postings.count, 0)
  reserve(to, count)
  if (checkOf.length < count) checkOf = new Uint8Array(count * 2)
  ends.fill(0)
  let n = 0
  for (const { postings, packed: own } of parts) n = countChecks(postings, documentsOf(own), n)
  let sum = 0
  for (let check = 0; check < checks; check += 1) {
    const own = ends[check] as number
    ends[check] = sum
    sum += own
  }
  n = 0
  for (const { postings, packed: own } of parts) {
    putInOrder(to.docnos, postings, n, documents, documentsOf(own), own.first - packed.first)
    n += postings.count
  }
  to.count = isDead === null ? count : keepLiving(to.docnos, count, documents, isDead)
}

const documentsOf = ({ first, last }: Packed): number => last - first + 1

function countChecks({ docnos: keys, count }: PostingList, documents: number, n: number): number {
  for (let i = 0; i < count; i += 1) {
    const check = Math.floor((keys[i] as number) / documents)
    checkOf[n + i] = check
    ends[check] = (ends[check] as number) + 1
  }
  return n + count
}

function putInOrder(
  to: Uint32Array,
  { docnos: keys, count }: PostingList,
  n: number,
  documents: number,
  own: number,
  shift: number,
): void {
  for (let i = 0; i < count; i += 1) {
    const check = checkOf[n + i] as number
    const at = ends[check] as number
    to[at] = (keys[i] as number) + check * (documents - own) + shift
    ends[check] = at + 1
  }
}

function keepLiving(
  keys: Uint32Array,
  count: number,
  documents: number,
  isDead: Uint8Array,
): number {
  let end = 0
  for (let i = 0; i < count; i += 1) {
    const key = keys[i] as number
    if (isDead[key % documents] !== 1) keys[end++] = key
  }
  return end
}
