/** Counts the terms of a page: what the index stores of it. Which terms there are is tokenize.ts. */
import { BIGRAM_PREFIX, eachPairWord, eachRun, eachSecondTerm, type RunKind } from './characters.ts'
import { HAN_FIRST, HAN_LAST, type Dictionary } from './dictionary.ts'
import { createHashCounter } from './hash-counter.ts'
import { foldCase, foldText } from './normalize.ts'
import { createPairCounter } from './pair-counter.ts'
import { eachWordPair } from './phrase.ts'
import { titleKeys } from './title-key.ts'
import { WordMemory } from './word-memory.ts'

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

/** Distinct terms with `quants[i]` = min(63, round(8 log2(1 + weighted term frequency))) of the i-th; `length` = weighted words without stop words. */
export type DocumentTerms = {
  /** A line each, without the end of the last: one text, since a list of hundreds is dear to send to another thread. No term is empty. */
  terms: string
  quants: Uint8Array<ArrayBuffer>
  length: number
  /** Distinct neighbouring words of title, text and rest (text/phrase.ts), as they come; null where they are too many to be counted. */
  pairs: Uint32Array<ArrayBuffer> | null
}

/** The lines of `terms`. */
export const termList = (terms: string): string[] => (terms === '' ? [] : terms.split('\n'))

/** Pairs of a document, repeats included: that many words are some 400 KB of text. */
const PAIRS_MAX = 65_536

/** Key of two Han units: first << 15 | second; SINGLE stands for no second one. A small integer, so a Map of them is quick. */
const SINGLE = 0x7fff

/** The counters of one document at a time, used again for the next. */
export class DocumentCounter {
  readonly #dictionary: Dictionary
  readonly #memory: WordMemory
  readonly #lines = new Lines()
  readonly #hanPairs = createPairCounter(DOCUMENT_TERMS_MAX)
  readonly #seenPairs = createHashCounter()
  #pairs = new Uint32Array(1_024)
  #pairCount = 0
  #length = 0
  #weight = 0
  #source = ''
  #text = ''
  #run = ''

  /** @param stem gets words of a-z */
  constructor(dictionary: Dictionary, stem: (word: string) => string) {
    this.#dictionary = dictionary
    this.#memory = new WordMemory(stem)
  }

  count({ title, headings, text, rest, url }: DocumentText): DocumentTerms {
    this.#memory.begin()
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
    const pairs = this.#pairs
    const count = this.#pairCount
    const seen = this.#seenPairs
    seen.begin(count)
    let distinct = 0
    for (let i = 0; i < count; i += 1) {
      const pair = pairs[i] as number
      if (seen.add(pair) === 0) pairs[distinct++] = pair
    }
    return pairs.slice(0, distinct)
  }

  readonly #countRun = (start: number, end: number, kind: RunKind): void => {
    if (kind === 'word') return this.#countWord(start, end)
    this.#run = this.#text.slice(start, end)
    if (kind === 'han') this.#dictionary.cut(this.#run, this.#countHan)
    else eachPairWord(this.#run, this.#countPairWord)
    if (kind !== 'han' || !this.#countPlainHan()) eachSecondTerm(this.#run, kind, this.#countSecond)
  }

  #countWord(start: number, end: number): void {
    const memory = this.#memory
    const word = this.#isFull()
      ? memory.known(this.#text, start, end)
      : memory.word(this.#text, start, end)
    if (word < 0) return
    const whole = memory.wholeOf(word)
    if (whole >= 0) this.#countTerm(whole)
    memory.eachPart(word, this.#countTerm)
    this.#length += this.#weight * memory.countedOf(word)
  }

  readonly #countHan = (start: number, end: number, id: number): void => {
    if (this.#isFull()) return
    const found = this.#memory.hanTerm(this.#run, start, end, id)
    this.#countTerm(found >> 1)
    if ((found & 1) === 0) this.#length += this.#weight
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

  readonly #countTerm = (term: number): void => {
    if (this.#isFull() && !this.#memory.isFound(term)) return
    this.#memory.count(term, this.#weight)
  }

  #isFull(): boolean {
    return this.#memory.found + this.#hanPairs.size() >= DOCUMENT_TERMS_MAX
  }

  #pack(): DocumentTerms {
    const { found } = this.#memory
    const quants = new Uint8Array(found + this.#hanPairs.size())
    const lines = this.#lines
    lines.begin(this.#memory.unitsOfFound() + found + HAN_PAIR_UNITS * this.#hanPairs.size())
    for (let n = 0; n < found; n += 1) {
      quants[n] = quantise(this.#memory.frequencyAt(n))
      lines.size += this.#memory.copyUnitsAt(n, lines.units, lines.size)
      lines.units[lines.size++] = NEW_LINE
    }
    let n = found
    this.#hanPairs.each((key, frequency) => {
      quants[n++] = quantise(frequency)
      writeKey(key, lines)
    })
    return { terms: lines.text(), quants, length: this.#length / 10, pairs: this.#packPairs() }
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

function writeKey(key: number, lines: Lines): void {
  const { units } = lines
  units[lines.size++] = PREFIX_UNIT
  units[lines.size++] = (key >> 15) + HAN_FIRST
  const second = key & SINGLE
  if (second !== SINGLE) units[lines.size++] = second + HAN_FIRST
  units[lines.size++] = NEW_LINE
}

const NEW_LINE = 0x0a
const HAN_PAIR_UNITS = 4
/** A page of books needs more; that room is given back. */
const LINE_UNITS_KEPT = 65_536

/** Lines of text as they grow, each ended. */
class Lines {
  units = new Uint16Array(4_096)
  size = 0

  begin(unitsMax: number): void {
    this.size = 0
    const isWide = this.units.length > LINE_UNITS_KEPT
    if (this.units.length < unitsMax || isWide)
      this.units = new Uint16Array(Math.max(unitsMax, 4_096))
  }

  /** Without the end of the last line. One byte a unit where that is enough: it is sent, and split, at half the cost. */
  text(): string {
    const { units } = this
    const size = Math.max(0, this.size - 1)
    let all = 0
    for (let i = 0; i < size; i += 1) all |= units[i] as number
    const bytes = Buffer.from(units.buffer, 0, 2 * size)
    if (all > 0xff) return bytes.toString('utf16le')
    const narrow = Buffer.allocUnsafe(size)
    for (let i = 0; i < size; i += 1) narrow[i] = units[i] as number
    return narrow.toString('latin1')
  }
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
