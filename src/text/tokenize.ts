/** From text to terms: one analyzer for pages, queries and highlights. The door to wink-porter2-stemmer. */
import stem from 'wink-porter2-stemmer'
import {
  BIGRAM_PREFIX,
  eachPairWord,
  eachRun,
  eachSecondTerm,
  isCharTerm,
  type RunKind,
} from './characters.ts'
import type { Dictionary } from './dictionary.ts'
import {
  DocumentCounter,
  type DocumentTerms,
  type DocumentText,
  termList,
} from './document-terms.ts'
import { createGlance } from './glance.ts'
import { foldCase, foldCaseWithOffsets, type FoldedText, foldText } from './normalize.ts'
import { eachPlainWord, hashOf, type UsePlainWord } from './plain-words.ts'
import { isStopWord } from './stopwords.ts'
import { createTermMemory, stemmed, type TermMemory, type WordTerm } from './term-memory.ts'
import { isSimple } from './words.ts'

export { BIGRAM_PREFIX, termList }
export type { DocumentTerms, DocumentText }

/** Stored beside an index: terms of different versions do not meet. */
export const analyzerVersion = 4
/** The first one whose documents have pairs of neighbouring words as they are now. */
export const pairsVersion = 4

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

export type TermUser = {
  /** A word without parts, of ASCII: its form is the word in small letters, its term `termOf` that. Left out, it comes as a `term`. */
  plain?: UsePlainWord
  term(term: string, form: string): void
}

export type Analyzer = {
  version: number
  /** Whether the documents of the index that it stands for have pairs of neighbouring words. */
  readonly hasPairs: boolean
  /** Terms of a page. Linear in its text. */
  document(document: DocumentText): DocumentTerms
  query(text: string): QueryTerms
  /**
   * Terms with their places, stop words included, as `document` sees them: a whole word before its parts, a Han
   * word after its parts. `withBigrams` adds the terms of the second space.
   */
  tokens(text: string, withBigrams?: boolean): Token[]
  /** Terms in the order of `tokens`, each with its folded and unstemmed form, without places: much quicker. */
  eachTerm(text: string, user: TermUser): void
  /** The term of a form that came as a plain word. Remembers nothing. */
  termOf(form: string): string
  /**
   * Where the given terms stand, by start: words of alphabets as in `tokens`, terms of other scripts (of both
   * spaces) wherever their characters do, across the borders of words too. No dictionary is asked: quick.
   */
  places(text: string, terms: ReadonlySet<string>): Token[]
}

/**
 * What spellings of one keyword have in common: "Search Engines" and "search engine", 茶園 and 茶园. No dictionary is asked, so that it
 * stays what it is; a word without letters of a-z is only folded.
 */
export const keywordKey = (word: string): string =>
  foldText(word)
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[a-z]+/g, stem)

/** One a thread: it remembers words. `loadTextTables` comes first. */
export function createAnalyzer(dictionary: Dictionary): Analyzer {
  const memory = createTermMemory(stem)
  const counter = new DocumentCounter(dictionary, stem)
  const placer = new TokenPlacer(dictionary, memory)
  const visitor = new TermVisitor(dictionary, memory)
  return {
    version: analyzerVersion,
    hasPairs: true,
    document: (document) => counter.count(document),
    query(text) {
      memory.trim()
      return analyseQuery(dictionary, memory, foldCase(text))
    },
    tokens(text, withBigrams = false) {
      memory.trim()
      return placer.place(foldCaseWithOffsets(text), withBigrams)
    },
    eachTerm(text, user) {
      memory.trim()
      visitor.visit(foldCase(text), user)
    },
    termOf: (form) => stemmed(form, stem),
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
    { term, form, isStop }: Pick<WordTerm, 'term' | 'form' | 'isStop'>,
    isPart: boolean,
    parts: string[],
  ) => words.push({ term: term.text, form, isStop, isPart, parts })
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
      const term = memory.term(form)
      push({ term, form, isStop: term.isStop }, isPart, [])
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

/** Its callbacks live as long as it does: V8 forgets the machine code of those that are made anew for each text. */
class TokenPlacer {
  readonly #dictionary: Dictionary
  readonly #memory: TermMemory
  #tokens: Token[] = []
  #text = ''
  #offsets: Uint32Array = new Uint32Array(0)
  #from = 0
  #run = ''
  #withBigrams = false

  constructor(dictionary: Dictionary, memory: TermMemory) {
    this.#dictionary = dictionary
    this.#memory = memory
  }

  place({ text, offsets }: FoldedText, withBigrams: boolean): Token[] {
    const tokens: Token[] = (this.#tokens = [])
    this.#text = text
    this.#offsets = offsets
    this.#withBigrams = withBigrams
    eachRun(text, this.#placeRun)
    this.#tokens = []
    this.#text = this.#run = ''
    return tokens
  }

  readonly #placeRun = (from: number, to: number, kind: RunKind): void => {
    const run = (this.#run = this.#text.slice(from, to))
    this.#from = from
    if (kind === 'word') {
      const { whole, parts } = this.#memory.word(run, 0, run.length)
      if (whole) this.#push(whole.term.text, whole.start, whole.end)
      for (const part of parts) this.#push(part.term.text, part.start, part.end)
      return
    }
    if (kind === 'han') this.#dictionary.cut(run, this.#placeWord)
    else eachPairWord(run, this.#placeWord)
    if (this.#withBigrams) eachSecondTerm(run, kind, this.#placeSecond)
  }

  readonly #placeWord = (start: number, end: number): void =>
    this.#push(this.#run.slice(start, end), start, end)

  readonly #placeSecond = (start: number, end: number): void =>
    this.#push(BIGRAM_PREFIX + this.#run.slice(start, end), start, end)

  /** @param start @param end units of the run */
  #push(term: string, start: number, end: number): void {
    this.#tokens.push({
      term,
      start: this.#offsets[this.#from + start] as number,
      end: sourceEnd(this.#offsets, this.#from + end),
    })
  }
}

/** Its callbacks live as long as it does, as those of a TokenPlacer. */
class TermVisitor {
  readonly #dictionary: Dictionary
  readonly #memory: TermMemory
  #text = ''
  #run = ''
  #user: TermUser = noUser

  constructor(dictionary: Dictionary, memory: TermMemory) {
    this.#dictionary = dictionary
    this.#memory = memory
  }

  visit(text: string, user: TermUser): void {
    this.#text = text
    this.#user = user
    if (user.plain === undefined) eachRun(text, this.#useRun)
    else eachPlainWord(text, user.plain, this.#useRun)
    this.#user = noUser
    this.#text = this.#run = ''
  }

  readonly #useRun = (from: number, to: number, kind: RunKind): void => {
    const text = this.#text
    const user = this.#user
    if (kind === 'word') {
      if (user.plain !== undefined && isSimple(text, from, to))
        return user.plain(text, from, to, hashOf(text, from, to))
      const { whole, parts } = this.#memory.word(text, from, to)
      if (whole) user.term(whole.term.text, whole.form)
      for (const { term, form } of parts) user.term(term.text, form)
      return
    }
    this.#run = text.slice(from, to)
    if (kind === 'han') this.#dictionary.cut(this.#run, this.#useHan)
    else eachPairWord(this.#run, this.#usePair)
  }

  readonly #useHan = (start: number, end: number, id: number): void => {
    const { text } = this.#memory.hanTerm(this.#run, start, end, id)
    this.#user.term(text, text)
  }

  readonly #usePair = (start: number, end: number): void => {
    const word = this.#run.slice(start, end)
    this.#user.term(word, word)
  }
}
const noUser: TermUser = { term: () => {} }

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
    const mayHold = createGlance(terms)
    const look = (from: number, to: number): void => {
      const { whole, parts } = memory.word(text, from, to)
      for (const { term, start, end } of whole ? [whole, ...parts] : parts) {
        if (terms.has(term.text)) push(term.text, from + start, from + end)
      }
    }
    // Most words need no look.
    eachPlainWord(
      text,
      (_text, from, to) => {
        if (mayHold.plain(text, from, to)) look(from, to)
      },
      (from, to, kind) => {
        if (kind === 'word' && mayHold.word(text, from, to)) look(from, to)
      },
    )
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
