/** From a parsed query to what the index is asked: terms, weights, alternatives, and what a hit must or must not hold. */
import { foldText } from '../text/normalize.ts'
import { titleKeyOf } from '../text/title-key.ts'
import type { Analyzer, QueryWord } from '../text/tokenize.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import type { ParsedQuery } from './query.ts'
import { autoWordsMax, inverseFrequency, isHanTerm, queryWordsMax } from './score.ts'

/** Looked at before the rarest are chosen. */
const wordsJudgedMax = 96
/** Enough of a piece to see that it has more words than a few. */
const typedCharsMax = 128
/** A page that holds this many neighbouring pairs of a query holds its text. */
const bigramsMax = 64
/** Terms of phrases: each is one list to read. */
const requiredMax = 64
const titleKeyWeight = 1

export type Plan = {
  index: IndexQuery
  /** Term -> the word as typed, for `missing`. */
  forms: ReadonlyMap<string, string>
  /** Words in order, repeats kept: nearness and exact forms are judged by it. */
  sequence: readonly { term: string; form: string }[]
  /** Terms to mark in titles and snippets. */
  marked: ReadonlySet<string>
  /** Folded; each hit's text must hold them, or must not. */
  phrases: readonly string[]
  withoutPhrases: readonly string[]
  inTitle: readonly string[]
  warnings: readonly string[]
}

type Word = QueryWord & { group: number | undefined }

export function planQuery(
  parsed: ParsedQuery,
  analyzer: Analyzer,
  reader: IndexReader,
  match: IndexQuery['match'],
): Plan {
  const warnings: string[] = []
  const { words, bigrams } = analysePieces(parsed, analyzer, reader)
  const kept = keepRarest(words, reader, warnings)
  const mustHold = [...parsed.phrases, ...parsed.inTitle]
  const required = mustHold.flatMap((text) => termsOfText(analyzer, text))
  const without: string[] = []
  const withoutPhrases = parsed.withoutPhrases.map(foldText)
  for (const text of parsed.without) {
    const terms = analyzer.query(text).words.filter(({ isPart }) => !isPart)
    // Several terms are one word only when they stand together: that takes the text to judge.
    if (terms.length === 1) without.push((terms[0] as QueryWord).term)
    else if (terms.length > 1) withoutPhrases.push(foldText(text))
  }
  if (bigrams.length > bigramsMax) bigrams.length = bigramsMax
  return {
    index: {
      words: weigh(kept),
      bigrams: bigrams.map((term) => ({ term, weight: 1 })),
      boosts: boostsOf(parsed),
      required: [...new Set(required)].slice(0, requiredMax),
      without,
      match: match === 'auto' && typedWords(parsed, analyzer) > autoWordsMax ? 'any' : match,
    },
    forms: new Map(kept.map(({ term, form }) => [term, form])),
    sequence: kept.filter(({ isPart }) => !isPart).map(({ term, form }) => ({ term, form })),
    marked: new Set([...kept.map(({ term }) => term), ...bigrams, ...required]),
    phrases: parsed.phrases.map(foldText).filter((text) => text.trim() !== ''),
    withoutPhrases: withoutPhrases.filter((text) => text.trim() !== ''),
    inTitle: parsed.inTitle.map(foldText).filter((text) => text.trim() !== ''),
    warnings,
  }
}

/**
 * Words as they stand there, stop words and question words too: "how to cut" is a question, where no page need hold every word,
 * and what is left of it without them must not pass for a short list of words that are all meant.
 */
function typedWords({ pieces }: ParsedQuery, analyzer: Analyzer): number {
  let words = 0
  for (const { text } of pieces) {
    const tokens = analyzer.tokens(text.slice(0, typedCharsMax))
    for (const [i, { start, end }] of tokens.entries()) {
      const isWithin = tokens.some(
        (other, j) =>
          j !== i &&
          other.start <= start &&
          other.end >= end &&
          (other.end - other.start > end - start || j < i),
      )
      if (!isWithin) words += 1
    }
    if (words > autoWordsMax) break
  }
  return words
}

/** Neighbouring pieces are analysed as one text, so that Han runs and compounds stay whole. */
function analysePieces(
  { pieces, phrases, inTitle }: ParsedQuery,
  analyzer: Analyzer,
  reader: IndexReader,
): { words: Word[]; bigrams: string[] } {
  const texts: { text: string; group: number | null }[] = []
  for (const { text, group } of pieces) {
    const last = texts.at(-1)
    if (last && last.group === null && group === null) last.text += ` ${text}`
    else texts.push({ text, group })
  }
  for (const text of [...phrases, ...inTitle]) texts.push({ text, group: null })
  const words: Word[] = []
  const bigrams = new Set<string>()
  for (const { text, group } of texts) {
    const analysed = analyzer.query(text)
    for (const word of analysed.words.flatMap((whole) => inParts(whole, reader)))
      words.push({ ...word, group: group ?? undefined })
    // Pairs of alternatives are no evidence for all of the query.
    if (group === null) for (const bigram of analysed.bigrams) bigrams.add(bigram)
  }
  const telling = words.filter(({ isStop }) => !isStop)
  return { words: telling.length > 0 ? telling : words, bigrams: [...bigrams] }
}

/** getUserName where only get, user and name are known. */
function inParts(word: QueryWord, reader: IndexReader): QueryWord[] {
  if (word.parts.length === 0 || reader.frequency(word.term) > 0) return [word]
  return word.parts.map((term) => ({ ...word, term, form: term, parts: [] }))
}

function keepRarest(words: readonly Word[], reader: IndexReader, warnings: string[]): Word[] {
  const distinct = [...new Set(words.map(({ term }) => term))]
  if (distinct.length <= queryWordsMax) return [...words]
  const counts = new Map<string, number>()
  for (const { term } of words) counts.set(term, (counts.get(term) ?? 0) + 1)
  warnings.push(`Only the ${queryWordsMax} rarest words of the query were searched.`)
  const rarest = new Set(
    distinct
      .slice(0, wordsJudgedMax)
      .map((term) => ({
        term,
        share:
          (counts.get(term) ?? 0) * inverseFrequency(reader.documents(), reader.frequency(term)),
      }))
      .sort((a, b) => b.share - a.share)
      .slice(0, queryWordsMax)
      .map(({ term }) => term),
  )
  return words.filter(({ term }) => rarest.has(term))
}

/** A page whose title is the query is what was meant: MRR of known items .78 -> .91 on the development sets. */
function boostsOf({ pieces }: ParsedQuery): IndexQuery['boosts'] {
  const term = titleKeyOf(pieces.map(({ text }) => text).join(' '))
  return term === null ? [] : [{ term, weight: titleKeyWeight }]
}

/** Each term once, its weight how often it stands there. */
function weigh(words: readonly Word[]): IndexQuery['words'] {
  const weighed = new Map<
    string,
    { term: string; weight: number; group?: number; isPart?: boolean }
  >()
  for (const { term, group, isPart } of words) {
    const known = weighed.get(term)
    if (known) known.weight += 1
    else
      weighed.set(term, {
        term,
        weight: 1,
        ...(group === undefined ? {} : { group }),
        ...(isPart ? { isPart } : {}),
      })
  }
  return [...weighed.values()]
}

/** Terms that a text with this phrase certainly has: for Han pairs instead of words, because a page may be cut otherwise. */
function termsOfText(analyzer: Analyzer, text: string): string[] {
  const { words, bigrams } = analyzer.query(text)
  const certain = words.filter(({ term, isPart }) => !isPart && !isHanTerm(term))
  return [...certain.map(({ term }) => term), ...bigrams]
}
