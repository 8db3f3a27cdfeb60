/** What an inverted index must do, and nothing about how. FlexSearch over packed segments in SQLite is one implementation. */
import { termList } from '../text/tokenize.ts'
import type { LinkedTerm } from './link-terms.ts'
import type { SegmentIds } from './segments.ts'

/** Terms of one document as text/tokenize.ts makes them. `docno` only grows: it is the checkpoint of the index. */
export type IndexedDocument = {
  docno: number
  /** A list, or one text with one a line: cheaper to send between threads, and cut only when it is its turn. */
  terms: readonly string[] | string
  /** One code 0..63 a term: round(8 log2(1 + weighted term frequency)). */
  quants: Uint8Array
  /** Weighted number of words. */
  length: number
  /** Distinct pairs of neighbouring words (text/phrase.ts), in any order; where there are none any phrase may stand in it. */
  pairs?: Uint32Array | null
}

export function termsOf({ terms }: IndexedDocument): readonly string[] {
  if (typeof terms !== 'string') return terms
  return termList(terms)
}

/** The same bytes as a stored segment, for documents committed but not yet in one. All buffers may be transferred. */
export type PackedSegment = {
  mindoc: number
  maxdoc: number
  /** First term of each leaf, joined by line feeds. */
  dir: string
  /** One length code for each docno of mindoc..maxdoc; 0 = no document. */
  lens: Uint8Array<ArrayBuffer>
  /** All leaves in one buffer, `ends[n]` = end of leaf n. */
  leaves: ArrayBuffer
  ends: Uint32Array<ArrayBuffer>
}

/** The engine's side: only the engine thread holds one. Deletions need no call: they are tombstones that the store writes. */
export interface IndexWriter {
  /** After the commit of these documents, in docno order. Returns what a reader needs to answer with them at once; null for none. */
  apply(documents: readonly IndexedDocument[]): PackedSegment | null
  /** Every document up to here is in stored segments; later ones are applied again at start. */
  watermark(): number
  /** For the writer of another generation beside this one. */
  readonly ids: SegmentIds
  /** Bytes of documents applied but not yet in a stored segment. */
  pendingBytes(): number
  /** Copies of the pending segments, for a reader that starts late. */
  pending(): PackedSegment[]
  /** One slice of flushing and merging, about `sliceMs`; true while more is to be done. `force` flushes whatever is pending. */
  work(sliceMs: number, force: boolean): boolean
  /** Empties the index: everything is applied again. */
  clear(): void
}

/** One query after parsing and analysis. */
export type IndexQuery = {
  /**
   * Distinct query words that count; `weight` = how often the word stands in the query. Words with the same `group` are
   * alternatives of which any fits (OR); without one a word stands for itself. A part (of a longer Han word) ranks but is no
   * word of its own: no page lacks it. At most 32.
   */
  words: readonly { term: string; weight: number; group?: number; isPart?: boolean }[]
  /** Han bigrams: rank with the words. A page that holds all of them counts as holding every Han word, however it was cut. */
  bigrams: readonly { term: string; weight: number }[]
  /** Terms that every hit must hold, whatever `match` says; they rank only where they are words or bigrams as well. */
  required: readonly string[]
  /** Terms that only rank: a page that holds none of the words is no hit for having one. */
  boosts: readonly { term: string; weight: number }[]
  /** Terms that no hit may hold. */
  without: readonly string[]
  match: 'auto' | 'all' | 'any'
}

export type IndexHit = {
  docno: number
  score: number
  missing: readonly string[]
  /** The document whose postings were scored, where this one is an exact copy of it. */
  scoredAs?: number
  /** What the second look added, where it is to be explained. */
  reread?: Reread
}
/** Parts of a score, in the order in which they are added up. */
export type Reread = { question: readonly RereadPart[]; feedback: readonly RereadPart[] }
export type RereadPart = {
  kind: 'title' | 'exact' | 'near' | 'feedback'
  terms: readonly string[]
  score: number
}
/**
 * What one term gives to the score of a document: weight x idf x frequency (k1 + 1) / (frequency + k1 norm); of kind links, which follows
 * that of the page itself: how much more it is with the frequency in links on top.
 */
export type TermScore = {
  term: string
  kind: 'word' | 'pair' | 'title' | 'links'
  /** Of the term in the query, with that of its kind. */
  weight: number
  /** Living documents that hold it. */
  documents: number
  idf: number
  /** Weighted by field, as the index keeps it: in steps of 9 %. */
  frequency: number
  norm: number
  k1: number
  score: number
  /** Of kind links: who uses the term there. */
  linkedBy?: LinkedTerm
}
export type IndexAnswer = {
  hits: IndexHit[]
  total: number
  /** Whether `total` is all that match; else they are more. */
  isCounted: boolean
  matched: 'all' | 'any' | 'none'
}

/** Of a term in bytes of UTF-8, both included. */
export type TermLength = { min: number; max: number }

/** The answering side. One consistent snapshot between `begin` and `end`; never writes. */
export interface IndexReader {
  addPending(segment: PackedSegment): void
  /** Opens a read transaction and takes over what was committed since the last one. */
  begin(): void
  end(): void
  /**
   * Exact BM25F over all postings of the query's terms; best `limit`, ties by docno.
   * `fresh`: the share of its score that a document gets for being new.
   * `accept` judges a document by its docno (filters; tombstones are handled inside).
   * `countMin`: so many matches are counted, and seen by `accept`, at least; then those that cannot be among the best may be passed over.
   * Without it all are.
   * Throws AppError 'overloaded' when `deadlineMs` (performance.now) has passed.
   */
  search(
    query: IndexQuery,
    limit: number,
    deadlineMs: number,
    accept?: (docno: number) => boolean,
    fresh?: ((docno: number) => number) | null,
    countMin?: number,
  ): IndexAnswer
  /** For each document the terms of the query that it holds, in the order in which `search` adds them up: their sum is its score, exactly. */
  explain(query: IndexQuery, docnos: readonly number[]): Map<number, TermScore[]>
  /** Code of link-terms.ts, 0 where nothing is known. */
  standing(docno: number): number
  /** Index terms that begin with `prefix`, most frequent first. */
  complete(
    prefix: string,
    limit: number,
    length?: TermLength,
  ): { term: string; documents: number }[]
  documents(): number
  /** By docno: 0 where no living document with postings of its own has it. Longer than needed; of this moment only. */
  living(): Uint8Array
  /** Documents that hold the term. */
  frequency(term: string): number
  /** Into how many parts the index is divided, at this moment. */
  parts(): number
  /** Documents of one part that hold the term; all parts together are its frequency. Those that have most documents come first. */
  frequencyIn(term: string, part: number): number
  /** The first `count` of each are all postings of a term in docno order, the dead included; the next call overwrites them. */
  postings(
    term: string,
    deadlineMs: number,
  ): { readonly docnos: Uint32Array; readonly quants: Uint8Array; readonly count: number }
  /** Documents that have the pair of words (text/phrase.ts), likewise; its quants mean nothing. Few have another pair of the same number. */
  pairHolders(
    pair: number,
    deadlineMs: number,
  ): { readonly docnos: Uint32Array; readonly count: number }
  /** Greater than every docno. */
  docnoLimit(): number
  isLiving(docno: number): boolean
  /** 0.3 + 0.7 length / mean length of a document, as BM25F takes it. */
  lengthNorm(docno: number): number
}
