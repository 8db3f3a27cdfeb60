/** A few words that tell what a page is about. The door to wink-nlp, whose model costs tens of megabytes: for the parser thread only. */
import type { ItsFunction } from 'wink-nlp'
import { eachRun, type RunKind } from './characters.ts'
import type { Dictionary } from './dictionary.ts'
import { foldText, foldWithOffsets, type FoldedText } from './normalize.ts'
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

/** What wink-nlp sees of a page: the model reads about 1 KB a millisecond. */
const ENGLISH_UNITS = 400
const OTHER_UNITS = 20_000
const TITLE_WEIGHT = 3
/** Words of the first lines count this much more than those at the end of what is read. */
const LEAD_WEIGHT = 1.5
/** Two neighbouring nouns that come back are worth more than each of them. */
const PHRASE_WEIGHT = 1.5
const WORD_UNITS_MAX = 40
const HAN_WORD_UNITS_MIN = 2
const LATIN_WORD_UNITS_MIN = 4

/** Pages that one tagger reads: wink-nlp never forgets a word that its model lacks, about 1 KB a page. Loading takes as long as 500 pages. */
const TAGGER_PAGES_MAX = 10_000

/** Lemmas of the nouns, null for any other word. */
type Tagger = (text: string) => (string | null)[]

/** @param usesModel without it English words are only counted, which spares the memory of the model */
export function createKeywords(
  dictionary: Dictionary,
  analyzer: Analyzer,
  usesModel = true,
): Keywords {
  let tagger: Promise<Tagger> | null = null
  let pagesLeft = 0
  return {
    async keywords(text, title, language, max) {
      if (language === 'en' && usesModel) {
        if (tagger === null || pagesLeft === 0) {
          tagger = loadTagger()
          pagesLeft = TAGGER_PAGES_MAX
        }
        pagesLeft -= 1
        return englishKeywords(analyzer, await tagger, text, title, max)
      }
      const body = text.slice(0, OTHER_UNITS)
      if (language === 'zh') return chineseKeywords(dictionary, body, title, max)
      return frequentWords(analyzer, body, title, max)
    },
  }
}

async function loadTagger(): Promise<Tagger> {
  const [{ default: winkNLP }, { default: model }] = await Promise.all([
    import('wink-nlp'),
    import('wink-eng-lite-web-model'),
  ])
  const nlp = winkNLP(model, ['pos'])
  /* The package types these as methods with other parameters than `out` asks for; they are plain functions. */
  const its = nlp.its as unknown as Readonly<Record<'lemma' | 'pos', ItsFunction<string>>>
  return (text) => {
    const tokens = nlp.readDoc(text).tokens()
    const nouns: (string | null)[] = []
    /* A lemma costs more than all else about a word: only nouns are asked for theirs. */
    for (const part of tokens.out(its.pos))
      nouns.push(isNoun(part) ? tokens.itemAt(nouns.length).out(its.lemma) : null)
    return nouns
  }
}

const isNoun = (part: string): boolean => part === 'NOUN' || part === 'PROPN'

function englishKeywords(
  analyzer: Analyzer,
  tag: Tagger,
  text: string,
  title: string,
  max: number,
): Keyword[] {
  const scores = new Map<string, number>()
  const phrases = new Map<string, number>()
  addNouns(tag(title.slice(0, ENGLISH_UNITS / 4)), TITLE_WEIGHT, scores, phrases)
  addNouns(tag(cutAtBlank(text, ENGLISH_UNITS)), 1, scores, phrases)
  for (const [phrase, score] of phrases) {
    if (score >= 2) scores.set(phrase, score * PHRASE_WEIGHT)
  }
  return withoutParts(analyzer, best(scores), max)
}

function addNouns(
  nouns: readonly (string | null)[],
  weight: number,
  scores: Map<string, number>,
  phrases: Map<string, number>,
): void {
  let before: string | null = null
  let weightBefore = 0
  for (let i = 0; i < nouns.length; i += 1) {
    const noun = nouns[i] ?? null
    const isUseful = noun !== null && isKeyword(noun)
    const here = weight * leadWeight(i / nouns.length)
    if (isUseful) {
      add(scores, noun, here)
      if (before !== null) add(phrases, `${before} ${noun}`, weightBefore)
    }
    before = isUseful ? noun : null
    weightBefore = here
  }
}

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

function chineseKeywords(
  dictionary: Dictionary,
  text: string,
  title: string,
  max: number,
): Keyword[] {
  const words = new ChineseWords(dictionary)
  words.add(title, TITLE_WEIGHT)
  words.add(text, 1)
  return words.best(max)
}

/** The scores of one page's words, and how it spells them. */
class ChineseWords {
  readonly #dictionary: Dictionary
  readonly #scores = new Map<string, number>()
  readonly #spelled = new Map<string, string>()
  #source = ''
  #weight = 0
  #folded: FoldedText = { text: '', offsets: new Uint32Array(1) }
  #from = 0

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary
  }

  add(source: string, weight: number): void {
    this.#source = source
    this.#weight = weight
    this.#folded = foldWithOffsets(source)
    eachRun(this.#folded.text, this.#addRun)
  }

  best(max: number): Keyword[] {
    return best(this.#scores)
      .slice(0, max)
      .map(({ word, weight }) => ({ word: this.#spelled.get(word) as string, weight }))
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

function cutAtBlank(text: string, units: number): string {
  if (text.length <= units) return text
  const blank = text.lastIndexOf(' ', units)
  return text.slice(0, blank > units / 2 ? blank : units).toWellFormed()
}
