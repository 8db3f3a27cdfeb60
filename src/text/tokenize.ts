/** From text to terms: one analyzer for pages, queries and highlights. The door to wink-porter2-stemmer. */
import type { Dictionary } from './dictionary.ts'

/** Stored beside an index: terms of different versions do not meet. */
export const analyzerVersion = 1

/** First character of a term of the second term space: runs of two characters of scripts without blanks, and single ones. */
export const BIGRAM_PREFIX = ' '

export type DocumentText = {
  title: string
  /** One a line; they stand in `text` too. */
  headings: string
  text: string
  /** The page without its main content. */
  rest: string
  url: string
}

/** Distinct terms with `quants[i]` = min(63, round(8 log2(1 + weighted term frequency))) of `terms[i]`; `length` = weighted words without stop words. */
export type DocumentTerms = {
  terms: string[]
  quants: Uint8Array<ArrayBuffer>
  length: number
}

export type QueryWord = {
  term: string
  /** As typed, folded, not stemmed. */
  form: string
  isStop: boolean
  /** Terms of its parts where it is made of some (getUserName, node.js): worth a try when the whole is nowhere. */
  parts: readonly string[]
}
/** `words` in order, repeats kept, without stop words unless nothing else is there; `bigrams` with their prefix, in order, distinct. */
export type QueryTerms = { words: QueryWord[]; bigrams: string[] }

/** UTF-16 units [start, end) of the text as given. Parts follow the whole and lie inside it. */
export type Token = { term: string; start: number; end: number }

export type Analyzer = {
  version: number
  document(document: DocumentText): DocumentTerms
  query(text: string): QueryTerms
  tokens(text: string): Token[]
}

export declare function createAnalyzer(dictionary: Dictionary): Analyzer
