/** What FlexSearch inverts into in place of its own map: postings in typed arrays, ordered by term and packed at the end of a batch. Knows no SQL. */
import assert from 'node:assert'
import type { IndexedDocument, PackedSegment } from './index.ts'
import { sortedTerms } from './term-order.ts'
import { lengthCode, quantMax } from './codes.ts'
import { createLeafCollector, createPacker } from './packer.ts'
import { packPairs } from './pack-pairs.ts'
import { PAIR_PREFIX } from './pairs.ts'

/** Docnos of one batch, holes included: a packed posting is (docno - first) * 64 + quant in 32 bits. */
const batchRangeMax = 2 ** 26
const postingsMin = 1 << 16
/** Larger arrays are not kept for the next batch. */
const postingsKept = 1 << 18

/** As much of an array as FlexSearch asks of a slot. */
type Slot = { length: number; push(docno: number): void }

/**
 * A map of the shape that FlexSearch fills: term -> slot -> docnos. Its own makes three objects for most postings, which are garbage
 * after a hundred documents; this one keeps none. FlexSearch scores a term just before it pushes it, so the term at hand is known by its
 * place, and one row of slots serves all terms.
 */
export class PostingMap {
  readonly #ids = new Map<string, number>()
  readonly #terms: string[] = []
  /** Of the document at hand. */
  readonly #termIds: number[] = []
  #seen = 0
  #count = 0
  /** Posting by posting, in the order of arrival, which is that of the docnos. */
  #postings = createPostings(postingsMin)
  readonly #slots: readonly Slot[] = Array.from({ length: quantMax + 1 }, (_, quant) => ({
    length: 0,
    push: (docno) => this.#push(docno, quant),
  }))

  /** Before a document: its terms as they were first met, so that FlexSearch's own look-ups need not compare texts. */
  begin(terms: readonly string[]): readonly string[] {
    this.#termIds.length = 0
    const known: string[] = []
    for (const term of terms) {
      let id = this.#ids.get(term)
      if (id === undefined) {
        id = this.#terms.push(term) - 1
        this.#ids.set(term, id)
      }
      this.#termIds.push(id)
      known.push(this.#terms[id] as string)
    }
    return known
  }

  /** The next push belongs to term `i` of this document. */
  see(i: number): void {
    this.#seen = this.#termIds[i] as number
  }

  get(_term: string): readonly Slot[] {
    return this.#slots
  }

  set(): never {
    assert.fail('every term has its slots')
  }

  #push(docno: number, quant: number): void {
    if (this.#count === this.#postings.docnos.length)
      this.#postings = createPostings(this.#count * 2, this.#postings)
    const { termIds, docnos, quants } = this.#postings
    termIds[this.#count] = this.#seen
    docnos[this.#count] = docno
    quants[this.#count] = quant
    this.#count += 1
  }

  clear(): void {
    this.#ids.clear()
    this.#terms.length = 0
    this.#count = 0
    if (this.#postings.docnos.length > postingsKept) this.#postings = createPostings(postingsMin)
  }

  /** @param documents those that were added since the last `clear`, in docno order */
  pack(documents: readonly IndexedDocument[]): PackedSegment {
    const { mindoc, maxdoc, lens } = lengthsOf(documents)
    const { keys, begins } = this.#byTerm(mindoc)
    const collector = createLeafCollector()
    const packer = createPacker(collector.emit, lens)
    const values = new Uint32Array(documents.length)
    const quants = new Uint8Array(documents.length)
    let arePairsPacked = false
    for (const term of sortedTerms(this.#terms)) {
      if (!arePairsPacked && term >= PAIR_PREFIX) {
        packPairs(packer, documents, mindoc, lens.length)
        arePairsPacked = true
      }
      const id = this.#ids.get(term) as number
      const from = begins[id] as number
      const count = (begins[id + 1] as number) - from
      for (let i = 0; i < count; i += 1) {
        const key = keys[from + i] as number
        values[i] = Math.floor(key / 64)
        quants[i] = key % 64
      }
      packer.add(term, values, quants, count)
    }
    if (!arePairsPacked) packPairs(packer, documents, mindoc, lens.length)
    const dir = packer.finish().join('\n')
    return { mindoc, maxdoc, dir, lens, ...collector.finish() }
  }

  /** All postings as (docno - mindoc) * 64 + quant, those of term t at begins[t]..begins[t + 1] in docno order: a counting sort. */
  #byTerm(mindoc: number): { keys: Uint32Array; begins: Uint32Array } {
    const { termIds, docnos, quants } = this.#postings
    const begins = new Uint32Array(this.#terms.length + 1)
    for (let i = 0; i < this.#count; i += 1) {
      const term = termIds[i] as number
      begins[term] = (begins[term] as number) + 1
    }
    let sum = 0
    for (let term = 0; term < begins.length; term += 1) {
      sum += begins[term] as number
      begins[term] = sum
    }
    const keys = new Uint32Array(this.#count)
    // From behind: ends become beginnings, and the docnos of a term stay in order.
    for (let i = this.#count - 1; i >= 0; i -= 1) {
      const at = (begins[termIds[i] as number] as number) - 1
      begins[termIds[i] as number] = at
      keys[at] = ((docnos[i] as number) - mindoc) * 64 + (quants[i] as number)
    }
    return { keys, begins }
  }
}

function lengthsOf(documents: readonly IndexedDocument[]) {
  const mindoc = (documents[0] as IndexedDocument).docno
  const maxdoc = (documents.at(-1) as IndexedDocument).docno
  assert(maxdoc - mindoc < batchRangeMax)
  const lens = new Uint8Array(maxdoc - mindoc + 1)
  let before = mindoc - 1
  for (const { docno, length } of documents) {
    assert(docno > before, 'documents come in docno order')
    before = docno
    lens[docno - mindoc] = lengthCode(length)
  }
  return { mindoc, maxdoc, lens }
}

type Postings = { termIds: Uint32Array; docnos: Uint32Array; quants: Uint8Array }

/** @param room must hold what `from` has */
function createPostings(room: number, from?: Postings): Postings {
  const termIds = new Uint32Array(room)
  const docnos = new Uint32Array(room)
  const quants = new Uint8Array(room)
  if (from !== undefined) {
    termIds.set(from.termIds)
    docnos.set(from.docnos)
    quants.set(from.quants)
  }
  return { termIds, docnos, quants }
}
