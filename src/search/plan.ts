/** From a parsed query to what the index is asked: terms, weights, alternatives, and what a hit must or must not hold. */
import { titleKeyOf } from '../text/title-key.ts'
import type { Analyzer, QueryWord } from '../text/tokenize.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import type { Condition, ParsedQuery } from './query.ts'
import { freshShareOf } from './link-score.ts'
import { autoWordsMax, ranking } from './ranking.ts'
import { inverseFrequency, queryWordsMax } from './score.ts'
import { expandPrefix } from './terms.ts'

/** Looked at before the rarest are chosen. */
const wordsJudgedMax = 96
/** Enough of a piece to see that it has more words than a few. */
const typedCharsMax = 128
/** A page that holds this many neighbouring pairs of a query holds its text. */
const bigramsMax = 64
/** Terms of one prefix that rank. */
const prefixRankedMax = 8

export type Plan = {
  index: IndexQuery
  /** Term -> the word as typed, for `missing`. */
  forms: ReadonlyMap<string, string>
  /** Words in order, repeats kept: nearness and exact forms are judged by it. */
  sequence: readonly { term: string; form: string }[]
  /** Terms to mark in titles and snippets. */
  marked: ReadonlySet<string>
  /** No plain words: the conditions alone say what is a hit. */
  isConditional: boolean
  /** Plain words, and conditions with words of their own. */
  isPartlyConditional: boolean
  warnings: readonly string[]
  /** What new pages gain, where that is wished. */
  fresh: Freshness | null
}

/** By docno: its age in whole days, and the share of its score that it gets for that. */
export type Freshness = {
  daysOf: (docno: number) => number
  shareOf: (docno: number) => number
}

const dayMs = 86_400_000

export function freshnessOf(dates: { dateMs(docno: number): number }, nowMs: number): Freshness {
  const daysOf = (docno: number): number =>
    Math.max(0, Math.floor((nowMs - dates.dateMs(docno)) / dayMs))
  return { daysOf, shareOf: (docno) => freshShareOf(daysOf(docno)) }
}

/** `isConditional`: the conditions see to it that it is there; here it ranks. */
type Word = QueryWord & { isConditional: boolean; weight: number }

export function planQuery(
  parsed: ParsedQuery,
  analyzer: Analyzer,
  reader: IndexReader,
  match: IndexQuery['match'],
): Plan {
  const warnings: string[] = []
  const { words, bigrams, conditionBigrams } = analyseQuery(parsed, analyzer, reader)
  const kept = keepRarest(words, reader, warnings)
  if (bigrams.length > bigramsMax) bigrams.length = bigramsMax
  if (conditionBigrams.length > bigramsMax) conditionBigrams.length = bigramsMax
  const isConditional =
    parsed.conditions.length > 0 && kept.every((word) => word.isConditional) && bigrams.length === 0
  const isLong = match === 'auto' && typedWords(parsed, analyzer) > autoWordsMax
  return {
    index: {
      words: weigh(kept),
      bigrams: bigrams.map((term) => ({ term, weight: 1 })),
      boosts: [
        ...boostsOf(parsed),
        ...conditionBigrams.map((term) => ({
          term, // They only rank: as the pairs of words do.
          weight: ranking.bigramWeight,
        })),
      ],
      required: [],
      without: [],
      // Without plain words every page that the conditions let through holds "all" of them.
      match: isConditional ? 'all' : isLong ? 'any' : match,
    },
    forms: new Map(kept.map(({ term, form }) => [term, form])),
    sequence: kept.filter(({ isPart }) => !isPart).map(({ term, form }) => ({ term, form })),
    marked: new Set([...kept.map(({ term }) => term), ...bigrams, ...conditionBigrams]),
    isConditional,
    isPartlyConditional:
      !isConditional && parsed.conditions.length > 0 && kept.some((word) => word.isConditional),
    warnings,
    fresh: null,
  }
}

/**
 * Words as they stand there, stop words and question words too: "how to cut" is a question, where no page need hold every word,
 * and what is left of it without them must not pass for a short list of words that are all meant. Where Han is written on without a
 * blank, two characters are a word at least: 智能家居品牌排行 is no list of three, though the dictionary knows 智能家居.
 */
function typedWords({ pieces }: ParsedQuery, analyzer: Analyzer): number {
  let words = 0
  for (const { text } of pieces) {
    const typed = text.slice(0, typedCharsMax)
    const tokens = analyzer.tokens(typed)
    let cut = 0
    for (const [i, { start, end }] of tokens.entries()) {
      const isWithin = tokens.some(
        (other, j) =>
          j !== i &&
          other.start <= start &&
          other.end >= end &&
          (other.end - other.start > end - start || j < i),
      )
      if (!isWithin) cut += 1
    }
    const han = typed.match(hanCharacters)?.length ?? 0
    words += pieces.length === 1 ? Math.max(cut, Math.ceil(han / hanPerWord)) : cut
    if (words > autoWordsMax) break
  }
  return words
}

const hanCharacters = /\p{Script=Han}/gu
const hanPerWord = 2

/** Plain words are analysed as one text, so that Han runs and compounds stay whole; each condition is one of its own. */
function analyseQuery(
  { pieces, conditions, ranking: alsoRanked }: ParsedQuery,
  analyzer: Analyzer,
  reader: IndexReader,
): { words: Word[]; bigrams: string[]; conditionBigrams: string[] } {
  const plain = analyzer.query(pieces.map(({ text }) => text).join(' '))
  const wholes = plain.words.flatMap((word) => inParts(word, reader))
  const words: Word[] = wholes.map((word) => ({ ...word, isConditional: false, weight: 1 }))
  const conditionBigrams = new Set<string>()
  for (const { text, weight } of wantedTexts([...conditions, ...alsoRanked], analyzer, reader)) {
    const analysed = analyzer.query(text)
    for (const word of analysed.words.flatMap((whole) => inParts(whole, reader)))
      words.push({ ...word, isConditional: true, weight })
    for (const bigram of analysed.bigrams) conditionBigrams.add(bigram)
  }
  const telling = words.filter(({ isStop }) => !isStop)
  return {
    words: telling.length > 0 ? telling : words,
    bigrams: plain.bigrams,
    conditionBigrams: [...conditionBigrams],
  }
}

/** Texts that a hit may hold because of a condition. */
function wantedTexts(
  conditions: readonly Condition[],
  analyzer: Analyzer,
  reader: IndexReader,
): { text: string; weight: number }[] {
  return conditions.flatMap((condition): { text: string; weight: number }[] => {
    switch (condition.kind) {
      case 'all':
      case 'any':
        return wantedTexts(condition.of, analyzer, reader)
      case 'phrase':
        return [{ text: condition.text, weight: condition.weight ?? 1 }]
      case 'words':
      case 'title':
        return [{ text: condition.text, weight: 1 }]
      case 'prefix':
        return expandPrefix(condition.text, analyzer, reader)
          .slice(0, prefixRankedMax)
          .map((text) => ({ text, weight: 1 }))
      case 'not':
      case 'url':
      case 'site':
      case 'lang':
      case 'type':
      case 'time':
      case 'field':
      case 'keyword':
        return []
    }
  })
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
  return term === null ? [] : [{ term, weight: ranking.titleKeyWeight }]
}

/** Each term once, its weight how often it stands there. */
function weigh(words: readonly Word[]): IndexQuery['words'] {
  const weighed = new Map<string, { term: string; weight: number; isPart: boolean }>()
  for (const { term, isPart, isConditional, weight } of words) {
    const known = weighed.get(term)
    if (known) {
      known.weight += weight
      known.isPart &&= isPart || isConditional
    } else weighed.set(term, { term, weight, isPart: isPart || isConditional })
  }
  return [...weighed.values()]
}
