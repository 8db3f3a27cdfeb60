/** Counts the terms of a page: what the index stores of it. Which terms there are is tokenize.ts. */
import { BIGRAM_PREFIX, eachPairWord, eachRun, eachSecondTerm, type RunKind } from './characters.ts'
import { HAN_FIRST, HAN_LAST, type Dictionary } from './dictionary.ts'
import { foldCase, foldText } from './normalize.ts'
import { createPairCounter } from './pair-counter.ts'
import { eachWordPair } from './phrase.ts'
import { titleKeys } from './title-key.ts'
import type { Term, TermMemory } from './term-memory.ts'

/** A document keeps its first 20,000 distinct terms, title first. */
export const DOCUMENT_TERMS_MAX = 20_000

/** What one occurrence adds to a term's frequency. Headings stand in the text too, so theirs comes on top. `rest` = the page without its main content. */
export const fieldWeights = { title: 5, text: 1, headings: 0.5, url: 0.3, rest: 0.2 } as const

/* The same in tenths: whole numbers. */
const TITLE_WEIGHT = 10 * fieldWeights.title
const TEXT_WEIGHT = 10 * fieldWeights.text
const HEADING_WEIGHT = 10 * fieldWeights.headings
const URL_WEIGHT = 10 * fieldWeights.url
const REST_WEIGHT = 10 * fieldWeights.rest
/** Of the whole title as one term. */
const TITLE_KEY_WEIGHT = 10

export type DocumentText = {
  title: string
  /** One a line; they stand in `text` too. */
  headings: string
  text: string
  /** The page without its main content. */
  rest: string
  url: string
}

/** The texts that are counted, by field. */
export const fieldTexts = ({
  title,
  text,
  headings,
  url,
  rest,
}: DocumentText): Record<keyof typeof fieldWeights, string> => ({
  title,
  text,
  headings,
  url: pathWords(url),
  rest,
})

/** Distinct terms with `quants[i]` = min(63, round(8 log2(1 + weighted term frequency))) of `terms[i]`; `length` = weighted words without stop words. */
export type DocumentTerms = {
  terms: string[]
  quants: Uint8Array<ArrayBuffer>
  length: number
  /** Distinct neighbouring words of title, text and rest (text/phrase.ts), ascending; null where they are too many to be counted. */
  pairs: Uint32Array<ArrayBuffer> | null
}

/** Pairs of a document, repeats included: that many words are some 400 KB of text. */
const PAIRS_MAX = 65_536

/** Key of two Han units: first << 15 | second; SINGLE stands for no second one. A small integer, so a Map of them is quick. */
const SINGLE = 0x7fff

/** The counters of one document at a time, used again for the next. */
export class DocumentCounter {
  readonly #dictionary: Dictionary
  readonly #memory: TermMemory
  #document = 0
  #found: Term[] = []
  readonly #hanPairs = createPairCounter(DOCUMENT_TERMS_MAX)
  #pairs = new Uint32Array(1_024)
  #pairCount = 0
  #length = 0
  #weight = 0
  #source = ''
  #text = ''
  #run = ''

  constructor(dictionary: Dictionary, memory: TermMemory) {
    this.#dictionary = dictionary
    this.#memory = memory
  }

  count({ title, headings, text, rest, url }: DocumentText): DocumentTerms {
    this.#memory.trim()
    this.#document += 1
    this.#found = []
    this.#hanPairs.clear()
    this.#length = 0
    this.#pairCount = 0
    this.#add(title, TITLE_WEIGHT)
    this.#addPairs()
    this.#add(text, TEXT_WEIGHT)
    this.#addPairs()
    this.#add(headings, HEADING_WEIGHT)
    this.#add(pathWords(url), URL_WEIGHT)
    this.#add(rest, REST_WEIGHT)
    this.#addPairs()
    this.#source = this.#text = this.#run = ''
    this.#weight = TITLE_KEY_WEIGHT
    for (const key of titleKeys(title)) this.#countText(key)
    return this.#pack()
  }

  #add(source: string, weight: number): void {
    this.#weight = weight
    this.#source = source
    this.#text = foldCase(source)
    eachRun(this.#text, this.#countRun)
  }

  /** Of the text that was added last. */
  #addPairs(): void {
    eachWordPair(foldText(this.#source), this.#addPair)
  }

  readonly #addPair = (pair: number): void => {
    if (this.#pairCount === this.#pairs.length && this.#pairCount < PAIRS_MAX) {
      const wider = new Uint32Array(this.#pairs.length * 2)
      wider.set(this.#pairs)
      this.#pairs = wider
    }
    // Above the limit only their number grows.
    this.#pairs[this.#pairCount] = pair
    this.#pairCount += 1
  }

  #packPairs(): Uint32Array<ArrayBuffer> | null {
    if (this.#pairCount > PAIRS_MAX) {
      this.#pairs = new Uint32Array(1_024)
      return null
    }
    const sorted = this.#pairs.subarray(0, this.#pairCount).sort()
    let distinct = 0
    for (let i = 0; i < sorted.length; i += 1)
      if (i === 0 || sorted[i] !== sorted[distinct - 1]) sorted[distinct++] = sorted[i] as number
    return sorted.slice(0, distinct)
  }

  readonly #countRun = (start: number, end: number, kind: RunKind): void => {
    if (kind === 'word') return this.#countWord(start, end)
    this.#run = this.#text.slice(start, end)
    if (kind === 'han') this.#dictionary.cut(this.#run, this.#countHan)
    else eachPairWord(this.#run, this.#countPairWord)
    if (kind !== 'han' || !this.#countPlainHan()) eachSecondTerm(this.#run, kind, this.#countSecond)
  }

  #countWord(start: number, end: number): void {
    if (this.#isFull() && !this.#memory.isKnown(this.#text, start, end)) return
    const word = this.#memory.word(this.#text, start, end)
    if (word.whole) this.#countTerm(word.whole.term)
    for (const part of word.parts) this.#countTerm(part.term)
    this.#length += this.#weight * word.counted
  }

  readonly #countHan = (start: number, end: number, id: number): void => {
    if (this.#isFull()) return
    const term = this.#memory.hanTerm(this.#run, start, end, id)
    this.#countTerm(term)
    if (!term.isStop) this.#length += this.#weight
  }

  readonly #countPairWord = (start: number, end: number): void => {
    this.#countText(this.#run.slice(start, end))
    this.#length += this.#weight
  }

  /** What `eachSecondTerm` gives, the quick way; false where the run has characters outside of the usual blocks. */
  #countPlainHan(): boolean {
    const run = this.#run
    for (let i = 0; i < run.length; i += 1) if (!isPlainHan(run, i)) return false
    let previous = -1
    for (let i = 0; i < run.length; i += 1) {
      const unit = run.charCodeAt(i) - HAN_FIRST
      this.#hanPairs.add((unit << 15) | SINGLE, this.#weight, this.#isFull())
      if (previous >= 0) {
        this.#hanPairs.add((previous << 15) | unit, this.#weight, this.#isFull())
      }
      previous = unit
    }
    return true
  }

  /** Plain characters are counted by key here too: each term has one counter. */
  readonly #countSecond = (start: number, end: number, isPair: boolean): void => {
    const isPlain = end - start === (isPair ? 2 : 1) && isPlainHan(this.#run, start)
    if (!isPlain || !isPlainHan(this.#run, end - 1)) {
      return this.#countText(BIGRAM_PREFIX + this.#run.slice(start, end))
    }
    const first = this.#run.charCodeAt(start) - HAN_FIRST
    const second = isPair ? this.#run.charCodeAt(start + 1) - HAN_FIRST : SINGLE
    this.#hanPairs.add((first << 15) | second, this.#weight, this.#isFull())
  }

  #countText(text: string): void {
    if (!this.#isFull()) this.#countTerm(this.#memory.term(text))
  }

  #countTerm(term: Term): void {
    if (term.document !== this.#document) {
      if (this.#isFull()) return
      term.document = this.#document
      term.frequency = 0
      this.#found.push(term)
    }
    term.frequency += this.#weight
  }

  #isFull(): boolean {
    return this.#found.length + this.#hanPairs.size() >= DOCUMENT_TERMS_MAX
  }

  #pack(): DocumentTerms {
    const terms: string[] = []
    const quants = new Uint8Array(this.#found.length + this.#hanPairs.size())
    for (const term of this.#found) {
      quants[terms.length] = quantise(term.frequency)
      terms.push(term.text)
    }
    this.#hanPairs.each((key, frequency) => {
      quants[terms.length] = quantise(frequency)
      terms.push(textOfKey(key))
    })
    return { terms, quants, length: this.#length / 10, pairs: this.#packPairs() }
  }
}

function isPlainHan(run: string, i: number): boolean {
  const unit = run.charCodeAt(i)
  return unit >= HAN_FIRST && unit <= HAN_LAST
}

/** Codes of the frequencies 0..15.9 in tenths; nearly all terms of a page are below. */
const smallCodes = Uint8Array.from({ length: 160 }, (_, tenths) => codeOf(tenths))

function quantise(tenths: number): number {
  return tenths < smallCodes.length ? (smallCodes[tenths] as number) : codeOf(tenths)
}

function codeOf(tenths: number): number {
  return Math.min(63, Math.round(8 * Math.log2(1 + tenths / 10)))
}

/** A term of a title has at least this code. */
export const TITLE_QUANT_MIN = codeOf(TITLE_WEIGHT)

const PREFIX_UNIT = BIGRAM_PREFIX.charCodeAt(0)

function textOfKey(key: number): string {
  const first = (key >> 15) + HAN_FIRST
  const second = key & SINGLE
  return second === SINGLE
    ? String.fromCharCode(PREFIX_UNIT, first)
    : String.fromCharCode(PREFIX_UNIT, first, second + HAN_FIRST)
}

/** Words of the path: no host (it is the same for all pages), no suffix that names a program, no query string. */
function pathWords(url: string): string {
  const path = (URL.parse(url)?.pathname ?? '').replace(/\.(?:html?|php|aspx?|jsp)$/i, '')
  try {
    return decodeURIComponent(path).replaceAll(/[._]/g, ' ')
  } catch {
    return path.replaceAll(/%..|[._]/g, ' ')
  }
}
