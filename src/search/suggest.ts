/** Suggestions while typing: titles of the best pages, and words of those titles that go on from what was typed. */
import type { Reader } from '../store/reader.ts'
import { foldText } from '../text/normalize.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { SuggestAnswer } from './answer.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import { isHanTerm, queryWordsMax } from './score.ts'

const typedCharsMax = 128
/** Terms that an unfinished word may become. */
const expansionsMax = 8
const pagesReadMax = 30
const wordsOfferedMax = 3
/** A keystroke that takes longer is not worth waiting for. */
const timeMs = 50

export type Suggester = (q: string, limit: number) => SuggestAnswer

/** @param isHidden what must not be suggested */
export function createSuggester(
  store: Reader,
  analyzer: Analyzer,
  index: IndexReader,
  isHidden: (text: string) => boolean = () => false,
): Suggester {
  const titleOf = store.db.prepare<{ title: string }>('SELECT title FROM doc WHERE docno=?')
  return (q, limit) => {
    const typed = q.slice(0, typedCharsMax)
    const unfinished = unfinishedWord(typed)
    const query = suggestQuery(typed, unfinished, analyzer, index)
    if (limit <= 0 || query.words.length + query.bigrams.length === 0) return { suggestions: [] }
    const { hits } = index.search(query, pagesReadMax, performance.now() + timeMs)
    const titles = hits
      .map(({ docno }) => titleOf.value(docno) ?? '')
      .filter((title) => title !== '')
    const words =
      unfinished === ''
        ? []
        : continuations(titles, unfinished, analyzer, index).map(({ word, count }) => ({
            text: typed.slice(0, typed.length - unfinished.length) + word,
            type: 'term' as const,
            count,
          }))
    const wanted = foldText(unfinished)
    const all = [
      ...words.slice(0, Math.min(wordsOfferedMax, Math.ceil(limit / 3))),
      ...distinctTitles(titles, wanted).map((title) => ({ ...title, type: 'title' as const })),
    ]
    // Looked at one by one: as a rule the first ones may be shown.
    const suggestions: typeof all = []
    for (const one of all)
      if (suggestions.length < limit && !isHidden(one.text)) suggestions.push(one)
    return { suggestions }
  }
}

/** What is still being typed: the letters and digits at the end. */
const unfinishedWord = (typed: string): string => /[\p{L}\p{M}\p{N}]+$/u.exec(typed)?.[0] ?? ''

/** All finished words, and one of the terms that the last may become. Han needs no guess: its pairs are terms. */
function suggestQuery(
  typed: string,
  unfinished: string,
  analyzer: Analyzer,
  index: IndexReader,
): IndexQuery {
  const isHan = isHanTerm(unfinished.slice(-1))
  const finished = isHan ? typed : typed.slice(0, typed.length - unfinished.length)
  const { words, bigrams } = analyzer.query(finished)
  const query = new Map<string, IndexQuery['words'][number]>()
  for (const { term, isPart } of words.slice(0, queryWordsMax - 1))
    query.set(term, { term, weight: 1, isPart })
  if (!isHan && unfinished !== '') {
    const whole = analyzer.query(unfinished).words.map(({ term }) => term)
    const longer = index.complete(foldText(unfinished), expansionsMax).map(({ term }) => term)
    for (const term of [...whole, ...longer])
      if (!query.has(term) && query.size < queryWordsMax)
        query.set(term, { term, weight: 1, group: 0 })
  }
  return {
    words: [...query.values()],
    bigrams: bigrams.map((term) => ({ term, weight: 1 })),
    boosts: [],
    required: [],
    without: [],
    match: 'all',
  }
}

/** Words as they are written in titles: the terms of the index are stems. */
function continuations(
  titles: readonly string[],
  unfinished: string,
  analyzer: Analyzer,
  index: IndexReader,
): { word: string; count: number }[] {
  const start = foldText(unfinished)
  const found = new Map<string, string>()
  for (const title of titles)
    for (const token of analyzer.tokens(title)) {
      const word = foldText(title.slice(token.start, token.end))
      if (word.length > start.length && word.startsWith(start)) found.set(word, token.term)
    }
  return [...found]
    .map(([word, term]) => ({ word, count: index.frequency(term) }))
    .sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
}

/** Titles that hold what is being typed come first; equal titles count together. */
function distinctTitles(
  titles: readonly string[],
  wanted: string,
): { text: string; count: number }[] {
  const counted = new Map<string, { text: string; count: number; holds: boolean }>()
  for (const title of titles) {
    const folded = foldText(title)
    const known = counted.get(folded)
    if (known) known.count += 1
    else counted.set(folded, { text: title, count: 1, holds: folded.includes(wanted) })
  }
  return [...counted.values()]
    .sort((a, b) => Number(b.holds) - Number(a.holds))
    .map(({ text, count }) => ({ text, count }))
}
