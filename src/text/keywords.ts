/** A few words that tell what a page is about. The door to wink-nlp, whose model costs tens of megabytes: for the parser thread only. */
import type { ItsFunction } from 'wink-nlp'
import { createMemo } from '../lib/memo.ts'
import { eachRun, type RunKind } from './characters.ts'
import type { Dictionary } from './dictionary.ts'
import { foldCase, foldText, foldWithOffsets, type FoldedText } from './normalize.ts'
import { isStopWord } from './stopwords.ts'
import type { Analyzer } from './tokenize.ts'

/** `weight`: how much a page says of it, above 0, to be compared with the others of that page alone. How rare it is elsewhere is not in it. */
export type Keyword = { word: string; weight: number }

export type Keywords = {
  /**
   * At most `max` keywords, best first, as the page spells them (English: lemmas); none for an empty page. `language`
   * as `detectLanguage` names it. The first English page loads the model (about 0.2 s once a thread).
   */
  keywords(text: string, title: string, language: string, max: number): Promise<Keyword[]>
}

/** Candidates that are kept of a page: which of them tell it from others, the collection decides later. */
export const KEYWORDS_MAX = 16

/** What is read of an English page. */
const ENGLISH_UNITS = 1_600
/** Of its words, best first, so many are looked at. */
const ENGLISH_WORDS_MAX = 32
const OTHER_UNITS = 20_000
const TITLE_WEIGHT = 3
/** Words of the first lines count this much more than those at the end of what is read. */
const LEAD_WEIGHT = 1.5
/** Two neighbouring nouns that come back are worth more than each of them. */
const PHRASE_WEIGHT = 1.5
const WORD_UNITS_MAX = 40
const HAN_WORD_UNITS_MIN = 2
const LATIN_WORD_UNITS_MIN = 4

/** Words of one generation whose lemma is kept, about 1 MB: a site goes on to use its own, and to ask for one takes 30 us. */
const LEMMAS_MAX = 16_384
/** Words that one model is asked for: wink-nlp never forgets a word that its model lacks. Loading takes as long as some thousand words. */
const ASKED_MAX = 100_000

/** The lemma of a word that is a noun by itself and may be a keyword, null for any other. */
type Nouns = (word: string) => string | null

/** @param usesModel without it English words are only counted, which spares the memory of the model */
export function createKeywords(
  dictionary: Dictionary,
  analyzer: Analyzer,
  usesModel = true,
): Keywords {
  const nouns = usesModel ? new NounMemory() : null
  const english = new EnglishWords()
  const chinese = new ChineseWords(dictionary)
  return {
    async keywords(text, title, language, max) {
      if (language === 'en' && nouns !== null) {
        const lemmaOf = await nouns.ready()
        return withoutParts(analyzer, english.nouns(title, text, lemmaOf), max)
      }
      const body = text.slice(0, OTHER_UNITS)
      if (language === 'zh') return chinese.words(title, body, max)
      return frequentWords(analyzer, body, title, max)
    },
  }
}

/** Asks the model once for each word. What a word is, it says without its sentence: to tag sentences takes ten times as long. */
class NounMemory {
  readonly #lemmas = createMemo(LEMMAS_MAX, (word: string) => this.#lemmaOf(word))
  readonly #remembered: Nouns = (word) => this.#lemmas.get(word)
  #model: Promise<Nouns> | null = null
  #ask: Nouns = () => null
  #asked = 0

  async ready(): Promise<Nouns> {
    if (this.#model === null || this.#asked >= ASKED_MAX) {
      this.#model = loadNouns()
      this.#asked = 0
    }
    this.#ask = await this.#model
    return this.#remembered
  }

  #lemmaOf(word: string): string | null {
    this.#asked += 1
    const noun = this.#ask(word)
    return noun !== null && isKeyword(noun) ? noun : null
  }
}

async function loadNouns(): Promise<Nouns> {
  const [{ default: winkNLP }, { default: model }] = await Promise.all([
    import('wink-nlp'),
    import('wink-eng-lite-web-model'),
  ])
  const nlp = winkNLP(model, ['pos'])
  /* The package types these as methods with other parameters than `out` asks for; they are plain functions. */
  const its = nlp.its as unknown as Readonly<Record<'lemma' | 'pos', ItsFunction<string>>>
  return (word) => {
    const tokens = nlp.readDoc(word).tokens()
    // A name that the model takes apart (node.js) is one all the same.
    if (tokens.length() !== 1) return word
    const first = tokens.itemAt(0)
    return isNoun(first.out(its.pos)) ? first.out(its.lemma) : null
  }
}

const isNoun = (part: string): boolean => part === 'NOUN' || part === 'PROPN'

/** The words of one page by number, with what they and two neighbours weigh. One for all pages: V8 forgets the machine code of a callback that is made anew for each. */
class EnglishWords {
  readonly #numbers = new Map<string, number>()
  /** As a word begins a sentence only where it has no small letter elsewhere. */
  readonly #spelled: string[] = []
  readonly #scores: number[] = []
  /** By first << 16 | second: a page has fewer words than that in what is read. */
  readonly #neighbours = new Map<number, number>()
  #text = ''
  #weight = 0
  #before = -1
  #beforeEnd = 0
  #beforeWeight = 0

  #add(source: string, weight: number): void {
    this.#text = foldCase(source).slice(0, ENGLISH_UNITS)
    this.#weight = weight
    this.#before = -1
    eachRun(this.#text, this.#addRun)
  }

  readonly #addRun = (start: number, end: number, kind: RunKind): void => {
    if (kind !== 'word' || end - start < 2 || end - start > WORD_UNITS_MAX) return
    const spelled = this.#text.slice(start, end)
    const word = spelled.toLowerCase()
    if (isStopWord(word)) return
    const weight = this.#weight * leadWeight(start / this.#text.length)
    const number = this.#numberOf(word, spelled)
    this.#scores[number] = (this.#scores[number] as number) + weight
    if (this.#before >= 0 && start === this.#beforeEnd + 1 && this.#text[start - 1] === ' ') {
      const pair = (this.#before << 16) | number
      this.#neighbours.set(pair, (this.#neighbours.get(pair) ?? 0) + this.#beforeWeight)
    }
    this.#before = number
    this.#beforeEnd = end
    this.#beforeWeight = weight
  }

  #numberOf(word: string, spelled: string): number {
    const known = this.#numbers.get(word)
    if (known !== undefined) {
      if (spelled === word) this.#spelled[known] = word
      return known
    }
    const number = this.#scores.length
    this.#numbers.set(word, number)
    this.#spelled.push(spelled)
    this.#scores.push(0)
    return number
  }

  /** Lemmas of a page and pairs of them, best first. */
  nouns(title: string, text: string, lemmaOf: Nouns): Keyword[] {
    try {
      this.#add(title, TITLE_WEIGHT)
      this.#add(text, 1)
      return this.#rank(lemmaOf)
    } finally {
      this.#forget()
    }
  }

  /** At once: words are pieces of the page and would hold all of it until the next one comes. */
  #forget(): void {
    this.#numbers.clear()
    this.#neighbours.clear()
    this.#spelled.length = this.#scores.length = 0
    this.#text = ''
  }

  #rank(lemmaOf: Nouns): Keyword[] {
    const scores = new Map<string, number>()
    const spelled = this.#spelled
    const ranked: [number, number][] = []
    for (let number = 0; number < spelled.length; number++)
      ranked.push([number, this.#scores[number] as number])
    for (const [number, score] of ranked.sort(byWeight).slice(0, ENGLISH_WORDS_MAX)) {
      const lemma = lemmaOf(spelled[number] as string)
      if (lemma !== null) add(scores, lemma, score)
    }
    for (const [pair, score] of this.#neighbours) {
      if (score < 2) continue
      const first = lemmaOf(spelled[pair >>> 16] as string)
      const second = first === null ? null : lemmaOf(spelled[pair & 0xffff] as string)
      if (second !== null) add(scores, `${first} ${second}`, score * PHRASE_WEIGHT)
    }
    return best(scores)
  }
}

const byWeight = (a: [number, number], b: [number, number]): number => b[1] - a[1] || a[0] - b[0]

const isKeyword = (lemma: string): boolean =>
  /^[\p{L}\p{N}][\p{L}\p{N}.+#-]+$/u.test(lemma) &&
  !/^[\p{N}.-]+$/u.test(lemma) &&
  lemma.length <= WORD_UNITS_MAX &&
  !isStopWord(foldText(lemma))

/** "search engine" says it all: not also "engine", nor "engines", which the model takes for a name in a title. */
function withoutParts(analyzer: Analyzer, ranked: readonly Keyword[], max: number): Keyword[] {
  const kept: Keyword[] = []
  const said = new Set<string>()
  for (const candidate of ranked) {
    if (kept.length === max) break
    let isNew = false
    for (const { term } of analyzer.tokens(candidate.word)) {
      isNew ||= !said.has(term)
      said.add(term)
    }
    if (isNew) kept.push(candidate)
  }
  return kept
}

const nothingFolded: FoldedText = { text: '', offsets: new Uint32Array(1) }

/** The scores of one page's words, and how it spells them. One for all pages. */
class ChineseWords {
  readonly #dictionary: Dictionary
  readonly #scores = new Map<string, number>()
  readonly #spelled = new Map<string, string>()
  #source = ''
  #weight = 0
  #folded = nothingFolded
  #from = 0

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary
  }

  #add(source: string, weight: number): void {
    this.#source = source
    this.#weight = weight
    this.#folded = foldWithOffsets(source)
    eachRun(this.#folded.text, this.#addRun)
  }

  words(title: string, text: string, max: number): Keyword[] {
    try {
      this.#add(title, TITLE_WEIGHT)
      this.#add(text, 1)
      return best(this.#scores)
        .slice(0, max)
        .map(({ word, weight }) => ({ word: this.#spelled.get(word) as string, weight }))
    } finally {
      this.#forget()
    }
  }

  /** At once, as above. */
  #forget(): void {
    this.#scores.clear()
    this.#spelled.clear()
    this.#source = ''
    this.#folded = nothingFolded
  }

  readonly #addRun = (from: number, to: number, kind: RunKind): void => {
    if (kind !== 'han') return
    this.#from = from
    this.#dictionary.cut(this.#folded.text.slice(from, to), this.#addWord)
  }

  readonly #addWord = (a: number, b: number, _id: number, isPart: boolean): void => {
    if (isPart || b - a < HAN_WORD_UNITS_MIN) return
    const { text, offsets } = this.#folded
    const word = text.slice(this.#from + a, this.#from + b)
    if (isStopWord(word)) return
    const start = offsets[this.#from + a] as number
    const weight = this.#weight * (this.#dictionary.weight(word) ?? 0)
    add(this.#scores, word, weight * leadWeight(start / this.#source.length))
    if (!this.#spelled.has(word))
      this.#spelled.set(word, this.#source.slice(start, offsets[this.#from + b]))
  }
}

/** Languages without a model: words that come back, told apart by stem, shown as first spelled. */
function frequentWords(analyzer: Analyzer, text: string, title: string, max: number): Keyword[] {
  const scores = new Map<string, number>()
  const spelled = new Map<string, string>()
  const read = (source: string, weight: number): void => {
    for (const { term, start, end } of analyzer.tokens(source)) {
      const word = source.slice(start, end)
      if (isTooShort(word) || !isKeyword(word)) continue
      add(scores, term, weight * leadWeight(start / source.length))
      if (!spelled.has(term)) spelled.set(term, word)
    }
  }
  read(title, TITLE_WEIGHT)
  read(text, 1)
  const repeated = best(scores).filter(({ weight }) => weight >= 2)
  return repeated
    .slice(0, max)
    .map(({ word, weight }) => ({ word: spelled.get(word) as string, weight }))
}

const isTooShort = (word: string): boolean =>
  word.length < (/^\p{Script=Han}/u.test(word) ? HAN_WORD_UNITS_MIN : LATIN_WORD_UNITS_MIN)

/** `place` 0..1 in what is read. */
const leadWeight = (place: number): number => LEAD_WEIGHT - (LEAD_WEIGHT - 1) * place

const add = (scores: Map<string, number>, key: string, score: number) =>
  scores.set(key, (scores.get(key) ?? 0) + score)

const best = (scores: ReadonlyMap<string, number>): Keyword[] =>
  [...scores].sort(byScore).map(([word, weight]) => ({ word, weight }))

const byScore = (a: [string, number], b: [string, number]): number =>
  b[1] - a[1] || (a[0] < b[0] ? -1 : 1)
