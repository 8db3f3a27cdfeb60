/** Pairs of words as postings: their keys, and how segments of them become one. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  boundsOfPair,
  bucketOfPair,
  docnoOfKey,
  isPairTerm,
  keyOfPair,
  mergePairs,
  pairBuckets,
  ownTermOfPair,
  termOfBucket,
  termOfPair,
  UNCOUNTED_PAIRS,
} from '../../../src/search/pairs.ts'
import { createPostingList, type PostingList } from '../../../src/search/posting-list.ts'
import { pairBits } from '../../../src/text/phrase.ts'

const listOf = (values: readonly number[]): PostingList => {
  const docnos = Uint32Array.from(values)
  return { docnos, quants: new Uint8Array(docnos.length), count: docnos.length }
}

const anyPair = fc.nat(2 ** pairBits - 1)

describe('pairs of words in the index', () => {
  it('have terms in the order of their buckets, which no other term is like', () => {
    let last = UNCOUNTED_PAIRS
    for (let bucket = 0; bucket < pairBuckets; bucket += 1) {
      const term = termOfBucket(bucket)
      assert.ok(term > last && term.isWellFormed() && isPairTerm(term))
      last = term
    }
    assert.ok(!isPairTerm(UNCOUNTED_PAIRS))
    assert.equal(termOfPair(2 ** pairBits - 1), last)
  })

  it('are told apart by their keys within a bucket', () => {
    fc.assert(
      fc.property(anyPair, fc.nat(999), (pair, place) => {
        const key = keyOfPair(pair, place, 1_000)
        const { from, to } = boundsOfPair(pair, 1_000)
        assert.ok(key >= from && key < to)
        assert.equal(docnoOfKey(key, { first: 5, last: 1_004 }), 5 + place)
        const near = (pair ^ 0x4000) >>> 0
        const other = boundsOfPair(near, 1_000)
        assert.equal(bucketOfPair(near), bucketOfPair(pair))
        assert.ok(key < other.from || key >= other.to)
        // Of the rest nothing is kept.
        assert.equal(keyOfPair((pair ^ 0x3fff) >>> 0, place, 1_000), key)
      }),
    )
  })

  it('have terms of their own in the order of the pairs, before all that are shared', () => {
    fc.assert(
      fc.property(anyPair, anyPair, (a, b) => {
        const [one, other] = [ownTermOfPair(a), ownTermOfPair(b)]
        assert.equal(one < other, a < b)
        assert.ok(one > UNCOUNTED_PAIRS && one < termOfBucket(0) && one.isWellFormed())
        assert.ok(!isPairTerm(one))
        assert.equal(Buffer.from(one).compare(Buffer.from(other)), Math.sign(a - b))
      }),
    )
  })

  it('are the same documents after a merge, without the dead', () => {
    const part = fc.record({
      hole: fc.nat(3),
      documents: fc.array(fc.uniqueArray(fc.nat(63).map((check) => check << 14)), {
        minLength: 1,
        maxLength: 5,
      }),
    })
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.nat(), (parts, deadBits) => {
        let docno = 7
        const all: { docno: number; pair: number }[] = []
        const packed: { first: number; last: number }[] = []
        for (const { hole, documents } of parts) {
          docno += hole
          packed.push({ first: docno, last: docno + documents.length - 1 })
          for (const pairs of documents) {
            for (const pair of pairs) all.push({ docno, pair })
            docno += 1
          }
        }
        const whole = { first: packed[0]?.first ?? 0, last: docno - 1 }
        const keysIn = (range: { first: number; last: number }, from: typeof all): number[] =>
          from
            .filter((one) => one.docno >= range.first && one.docno <= range.last)
            .map((one) =>
              keyOfPair(one.pair, one.docno - range.first, range.last - range.first + 1),
            )
            .toSorted((a, b) => a - b)
        const isDead = Uint8Array.from(
          { length: whole.last - whole.first + 1 },
          (_, i) => (deadBits >> i) & 1,
        )
        const to = createPostingList()
        const own = packed.map((range) => ({ packed: range, postings: listOf(keysIn(range, all)) }))
        mergePairs(to, own, whole, isDead)
        const living = all.filter((one) => isDead[one.docno - whole.first] !== 1)
        assert.deepEqual([...to.docnos.subarray(0, to.count)], keysIn(whole, living))
      }),
    )
  })
})
