/** The map that FlexSearch inverts into: whatever the documents, a batch holds their postings, terms in order, docnos in order. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import { createIndexWriter } from '../../../src/search/flex.ts'
import { type IndexedDocument, type PackedSegment, termsOf } from '../../../src/search/index.ts'
import { TermCursor } from '../../../src/search/postings.ts'
import { directoryOf, packedLeaves } from '../../../src/search/segment-view.ts'
import { createRandom } from '../../site/words.ts'
import { createPlace } from './index-fixture.ts'

type Postings = [term: string, postings: [docno: number, quant: number][]][]

function unpacked(segment: PackedSegment): Postings {
  const cursor = new TermCursor({
    packed: { first: segment.mindoc, last: segment.maxdoc },
    directory: directoryOf(segment.dir),
    leaf: packedLeaves(segment),
  })
  const all: Postings = []
  for (; cursor.term !== null; cursor.advance()) {
    const { docnos, quants, count } = cursor.postings
    all.push([
      cursor.term,
      Array.from({ length: count }, (_, i) => [docnos[i] as number, quants[i] as number]),
    ])
  }
  return all
}

function naive(documents: readonly IndexedDocument[]): Postings {
  const first = documents[0]?.docno ?? 0
  const range = (documents.at(-1)?.docno ?? 0) - first + 1
  const all = new Map<string, [number, number][]>()
  const push = (term: string, docno: number, quant: number): void => {
    const own = all.get(term) ?? []
    own.push([docno, quant])
    all.set(term, own)
  }
  const holders = new Map<number, number>()
  for (const { pairs } of documents)
    for (const pair of pairs ?? []) holders.set(pair, (holders.get(pair) ?? 0) + 1)
  const seen = new Set<string>()
  for (const document of documents) {
    const { docno, quants, pairs } = document
    for (const [i, term] of termsOf(document).entries()) push(term, docno, quants[i] as number)
    // No quants are packed.
    for (const pair of pairs ?? []) {
      if ((holders.get(pair) as number) >= 3) {
        push(`\u0002${sixBits(pair)}`, docno, 8)
        continue
      }
      // A document by its pair: those of a bucket in the order of the pairs, then of the documents; alike in 18 bits they are one.
      const shared = pair >>> 14
      if (seen.has(`${shared} ${docno}`)) continue
      seen.add(`${shared} ${docno}`)
      push(`\u0002${chr(0x4000 + (shared >> 6))}`, (shared & 63) * range + docno - first, 8)
    }
    if (!pairs) push('\u0002', docno, 8)
  }
  for (const own of all.values()) own.sort(([a], [b]) => a - b)
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1))
}

const chr = String.fromCharCode
const sixBits = (pair: number): string =>
  pair
    .toString(2)
    .padStart(36, '0')
    .replace(/.{6}/g, (bits) => chr(48 + Number.parseInt(bits, 2)))

/** Names of `Object.prototype`, of array elements and of characters beyond the first plane are terms like others. */
const vocabulary = [
  '\u0001title',
  '__proto__',
  'constructor',
  'length',
  'push',
  '0',
  '63',
  'é',
  '书店',
  '書',
  '𠮷野',
].concat(Array.from({ length: 600 }, (_, i) => `w${(i * 7919) % 1_009}`))

const textOf = (postings: Postings): string =>
  postings.map(([term, own]) => `${term} ${own.join(' ')}`).join('\n')

function documentsOf(random: () => number, first: number, count: number): IndexedDocument[] {
  let docno = first
  return Array.from({ length: count }, () => {
    docno += 1 + Math.floor(random() * 3)
    const terms = vocabulary.filter(() => random() < 0.3)
    const quants = Uint8Array.from(terms, () => Math.floor(random() * 64))
    // Some of one bucket, some of one key, some on many pages, some documents without.
    const distinct = new Set([
      ...Array.from({ length: 40 }, () => Math.floor(random() ** 4 * 2 ** 32)),
      ...Array.from({ length: 20 }, () => Math.floor(random() ** 3 * 60) * 0x0400_0001),
      ...Array.from({ length: 3 }, () => 0x9000_0000 + Math.floor(random() * 8)),
    ])
    const pairs = random() < 0.1 ? null : Uint32Array.from([...distinct].toSorted((a, b) => a - b))
    // Some come from another thread.
    const sent = random() < 0.5 ? terms : terms.join('\n')
    return { docno, terms: sent, quants, length: terms.length, pairs }
  })
}

describe('a batch that FlexSearch has inverted', () => {
  for (const seed of [1, 2, 3])
    it(`holds every posting once, in order, also when batches before it were large (seed ${seed})`, () => {
      const place = createPlace()
      const writer = createIndexWriter(place.open())
      const random = createRandom(seed)
      let last = 0
      // 500 documents of 180 terms: more postings than the arrays begin with.
      for (const count of [1, 500, 3]) {
        const documents = documentsOf(random, last, count)
        last = documents.at(-1)?.docno ?? last
        const segment = writer.apply(documents.map((each) => structuredClone(each)))
        assert.ok(segment)
        // Compared as texts: the difference of two large trees takes minutes to tell.
        assert.equal(textOf(unpacked(segment)), textOf(naive(documents)))
      }
      place.remove()
    })
})
