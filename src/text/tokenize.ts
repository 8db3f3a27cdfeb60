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
import { foldCase, foldCaseWithOffsets, type FoldedText, foldText } from './normalize.ts'
import { isStopWord } from './stopwords.ts'
import { createTermMemory, type TermMemory, type WordTerm } from './term-memory.ts'
import { isSimple } from './words.ts'

export { BIGRAM_PREFIX, termList }
export type { DocumentTerms, DocumentText }

/** Stored beside an index: terms of different versions do not meet. */
export const analyzerVersion = 4
/** The first one whose documents have pairs of neighbouring words as they are now. */
export const pairsVersion = 4

/** Beginnings of stems that are compared before a word is stemmed. */
const agreeingUnitsMax = 3

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
  /**
   * Asked for each word of an alphabet without parts, at units [start, end) of the folded text: true where it is known and
   * needs no analysis. Otherwise its one `term` follows.
   */
  isKnown(text: string, start: number, end: number): boolean
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
      visitTerms(dictionary, memory, foldCase(text), user)
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

function visitTerms(
  dictionary: Dictionary,
  memory: TermMemory,
  text: string,
  user: TermUser,
): void {
  eachRun(text, (from, to, kind) => {
    if (kind === 'word') {
      if (isSimple(text, from, to) && user.isKnown(text, from, to)) return
      const { whole, parts } = memory.word(text, from, to)
      if (whole) user.term(whole.term.text, whole.form)
      for (const { term, form } of parts) user.term(term.text, form)
      return
    }
    const run = text.slice(from, to)
    if (kind === 'han') {
      dictionary.cut(run, (a, b, id) => {
        const { text: word } = memory.hanTerm(run, a, b, id)
        user.term(word, word)
      })
    } else {
      eachPairWord(run, (a, b) => {
        const word = run.slice(a, b)
        user.term(word, word)
      })
    }
  })
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
    const mayHold = createGlance(terms)
    eachRun(text, (from, to, kind) => {
      // Most words need no look.
      if (kind !== 'word' || !mayHold(text, from, to)) return
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

/**
 * Whether a word may hold one of the terms: false only for words of ASCII in which none of them begins. A word and its stem agree in all
 * but the last letter: Porter2 changes no more, but for dying, lying and tying.
 */
function createGlance(
  terms: ReadonlySet<string>,
): (text: string, start: number, end: number) => boolean {
  const beginnings = [...terms].map((term) => {
    const agreeing = unlikeStems.has(term) ? 1 : Math.min(agreeingUnitsMax, term.length - 1)
    const beginning = term.slice(0, Math.max(1, agreeing)).replaceAll(points, '')
    return Array.from(
      beginning || term.replaceAll(points, '').slice(0, 1),
      (char) => char.charCodeAt(0) | caseBit,
    )
  })
  const isFirst = new Uint8Array(128)
  for (const [first = 0] of beginnings) if (first < 128) isFirst[first] = 1
  const begins = (text: string, start: number, end: number): boolean => {
    for (const beginning of beginnings) if (isBeginning(beginning, text, start, end)) return true
    return false
  }
  return (text, start, end) => {
    for (let at = start; at < end; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit > 0x7e) return true
      if (isFirst[unit | caseBit] === 1 && begins(text, at, end)) return true
      if (at === start && isSimple(text, start, end)) return false
    }
    return false
  }
}

function isBeginning(
  beginning: readonly number[],
  text: string,
  start: number,
  end: number,
): boolean {
  let at = start
  for (const unit of beginning) {
    // Passed over on both sides: some terms have lost them (U.S.A., 1,000, don't), others have not (node.js).
    while (at < end && isPoint(text.charCodeAt(at))) at += 1
    if (at === end || (text.charCodeAt(at) | caseBit) !== unit) return false
    at += 1
  }
  return true
}

const unlikeStems: ReadonlySet<string> = new Set(['die', 'lie', 'tie'])
const caseBit = 0x20
const points = /[',.]/g
const isPoint = (unit: number): boolean => unit === 0x27 || unit === 0x2c || unit === 0x2e

/** Where the character that holds the unit before `end` is over: one source character may have become several units. */
function sourceEnd(offsets: Uint32Array, end: number): number {
  let next = end
  while (next < offsets.length - 1 && offsets[next] === offsets[end - 1]) next += 1
  return offsets[next] as number
}
