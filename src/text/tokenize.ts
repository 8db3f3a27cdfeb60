/** From text to terms: one analyzer for pages, queries and highlights. The door to wink-porter2-stemmer. */
import stem from 'wink-porter2-stemmer'
import { BIGRAM_PREFIX, eachPairWord, eachRun, eachSecondTerm, isCharTerm } from './characters.ts'
import type { Dictionary } from './dictionary.ts'
import { DocumentCounter, type DocumentTerms, type DocumentText } from './document-terms.ts'
import { foldCase, foldCaseWithOffsets, type FoldedText } from './normalize.ts'
import { isStopWord } from './stopwords.ts'
import { createTermMemory, type TermMemory, type WordTerm } from './term-memory.ts'

export { BIGRAM_PREFIX }
export type { DocumentTerms, DocumentText }

/** Stored beside an index: terms of different versions do not meet. */
export const analyzerVersion = 1

export type QueryWord = {
  term: string
  /** As typed, folded, not stemmed. */
  form: string
  isStop: boolean
  /** A dictionary word inside the next longer one: ranks, but is no word of its own when words are counted. */
  isPart: boolean
  /** Terms of its parts where it is made of some (getUserName, node.js): worth a try when the whole is nowhere. */
  parts: readonly string[]
}

/** `words` in order, repeats kept, without stop words unless nothing else is there; `bigrams` with their prefix, in order, distinct. */
export type QueryTerms = { words: QueryWord[]; bigrams: string[] }

/** UTF-16 units [start, end) of the text as given. */
export type Token = { term: string; start: number; end: number }

export type Analyzer = {
  version: number
  /** Terms of a page. Linear in its text. */
  document(document: DocumentText): DocumentTerms
  query(text: string): QueryTerms
  /**
   * Terms with their places, stop words included, as `document` sees them: a whole word before its parts, a Han
   * word after its parts. `withBigrams` adds the terms of the second space.
   */
  tokens(text: string, withBigrams?: boolean): Token[]
  /**
   * Where the given terms stand, by start: words of alphabets as in `tokens`, terms of other scripts (of both
   * spaces) wherever their characters do, across the borders of words too. No dictionary is asked: quick.
   */
  places(text: string, terms: ReadonlySet<string>): Token[]
}

/** One a thread: it remembers words. `loadTextTables` comes first. */
export function createAnalyzer(dictionary: Dictionary): Analyzer {
  const memory = createTermMemory(stem)
  const counter = new DocumentCounter(dictionary, memory)
  return {
    version: analyzerVersion,
    document: (document) => counter.count(document),
    query(text) {
      memory.trim()
      return analyseQuery(dictionary, memory, foldCase(text))
    },
    tokens(text, withBigrams = false) {
      memory.trim()
      return placeTokens(dictionary, memory, foldCaseWithOffsets(text), withBigrams)
    },
    places(text, terms) {
      memory.trim()
      return placeTerms(memory, foldCaseWithOffsets(text), terms)
    },
  }
}

function analyseQuery(dictionary: Dictionary, memory: TermMemory, text: string): QueryTerms {
  const words: QueryWord[] = []
  const bigrams = new Set<string>()
  const push = (
    { term, form }: Pick<WordTerm, 'term' | 'form'>,
    isPart: boolean,
    parts: string[],
  ) => words.push({ term: term.text, form, isStop: term.isStop, isPart, parts })
  eachRun(text, (start, end, kind) => {
    const run = text.slice(start, end)
    if (kind === 'word') {
      const { whole, parts } = memory.word(run, 0, run.length)
      if (whole)
        push(
          whole,
          false,
          parts.map((part) => part.term.text),
        )
      else for (const part of parts) push(part, false, [])
      return
    }
    const pushChars = (a: number, b: number, isPart: boolean): void => {
      const form = run.slice(a, b)
      push({ term: memory.term(form, form), form }, isPart, [])
    }
    if (kind === 'han') dictionary.cut(run, (a, b, _id, isPart) => pushChars(a, b, isPart))
    else eachPairWord(run, (a, b) => pushChars(a, b, false))
    eachSecondTerm(run, kind, (a, b, isPair) => {
      const chars = run.slice(a, b)
      if ((isPair || b - a === run.length) && !isStopWord(chars)) bigrams.add(BIGRAM_PREFIX + chars)
    })
  })
  const telling = words.filter((word) => !word.isStop)
  return { words: telling.length > 0 ? telling : words, bigrams: [...bigrams] }
}

function placeTokens(
  dictionary: Dictionary,
  memory: TermMemory,
  { text, offsets }: FoldedText,
  withBigrams: boolean,
): Token[] {
  const tokens: Token[] = []
  const push = (term: string, start: number, end: number) =>
    tokens.push({ term, start: offsets[start] as number, end: sourceEnd(offsets, end) })
  eachRun(text, (from, to, kind) => {
    const run = text.slice(from, to)
    if (kind === 'word') {
      const { whole, parts } = memory.word(run, 0, run.length)
      if (whole) push(whole.term.text, from + whole.start, from + whole.end)
      for (const part of parts) push(part.term.text, from + part.start, from + part.end)
      return
    }
    const use = (a: number, b: number) => push(run.slice(a, b), from + a, from + b)
    if (kind === 'han') dictionary.cut(run, use)
    else eachPairWord(run, use)
    if (!withBigrams) return
    eachSecondTerm(run, kind, (a, b) => push(BIGRAM_PREFIX + run.slice(a, b), from + a, from + b))
  })
  return tokens
}

function placeTerms(
  memory: TermMemory,
  { text, offsets }: FoldedText,
  terms: ReadonlySet<string>,
): Token[] {
  const tokens: Token[] = []
  const push = (term: string, start: number, end: number) =>
    tokens.push({ term, start: offsets[start] as number, end: sourceEnd(offsets, end) })
  const charTerms = [...terms].filter(isCharTerm)
  if (charTerms.length < terms.size) {
    eachRun(text, (from, to, kind) => {
      if (kind !== 'word') return
      const { whole, parts } = memory.word(text, from, to)
      for (const { term, start, end } of whole ? [whole, ...parts] : parts) {
        if (terms.has(term.text)) push(term.text, from + start, from + end)
      }
    })
  }
  for (const term of charTerms) {
    const chars = term.startsWith(BIGRAM_PREFIX) ? term.slice(1) : term
    if (chars === '') continue
    for (let at = text.indexOf(chars); at >= 0; at = text.indexOf(chars, at + 1)) {
      push(term, at, at + chars.length)
    }
  }
  return tokens.sort((a, b) => a.start - b.start || b.end - a.end)
}

/** Where the character that holds the unit before `end` is over: one source character may have become several units. */
function sourceEnd(offsets: Uint32Array, end: number): number {
  let next = end
  while (next < offsets.length - 1 && offsets[next] === offsets[end - 1]) next += 1
  return offsets[next] as number
}
