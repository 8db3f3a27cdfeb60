/** Suggestions while typing: frequent queries, words that go on from what was typed, titles of the best pages; Chinese also by pinyin. */
import type { Reader } from '../store/reader.ts'
import { foldText } from '../text/normalize.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { SuggestAnswer } from './answer.ts'
import { hasHan, typedReading } from './readings.ts'
import { KnownTexts, type ReadTitle } from './known-texts.ts'
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
type Suggestion = SuggestAnswer['suggestions'][number]

/** @param isHidden what must not be suggested */
export function createSuggester(
  store: Reader,
  analyzer: Analyzer,
  index: IndexReader,
  isHidden: (text: string) => boolean = () => false,
  known = new KnownTexts(store),
): Suggester {
  const titleOf = store.db.prepare<{ title: string }>('SELECT title FROM doc WHERE docno=?')
  const titlesFor = (query: IndexQuery): string[] => {
    if (query.words.length + query.bigrams.length === 0) return []
    const { hits } = index.search(query, pagesReadMax, performance.now() + timeMs)
    return hits.map(({ docno }) => titleOf.value(docno) ?? '').filter((title) => title !== '')
  }
  return (q, limit) => {
    const typed = q.slice(0, typedCharsMax)
    if (limit <= 0 || typed.trim() === '') return { suggestions: [] }
    const unfinished = unfinishedWord(typed)
    const wanted = foldText(unfinished)
    const folded = foldText(typed).trimStart()
    const letters = typedReading(typed)
    const titles = titlesFor(suggestQuery(typed, unfinished, analyzer, index))
    // A character alone is the beginning of many words, which the index knows under other terms.
    if (titles.length < limit && hasHan(unfinished)) titles.push(...known.holding(wanted))
    const read = letters === null ? [] : known.titles(letters)
    const begun = typed.slice(0, typed.length - unfinished.length)
    const words: Suggestion[] =
      unfinished === ''
        ? []
        : continuations(titles, unfinished, analyzer, index).map(({ word, count }) => ({
            text: begun + word,
            type: 'term',
            count,
          }))
    const queries = known
      .queries(folded, letters, performance.now())
      .map(({ text, count }): Suggestion => ({ text, type: 'query', count }))
    const share = Math.ceil(limit / 3)
    const named = distinctTitles([...titles, ...read.map(({ text }) => text)], wanted)
    // What is a title is shown as it is written there.
    const isTitle = new Set(named.map(({ text }) => foldText(text)))
    const terms = [...words, ...wordsRead(read, analyzer, index)].filter(
      ({ text }) => !isTitle.has(foldText(text)),
    )
    const candidates = [
      ...queries.slice(0, share),
      ...terms.slice(0, Math.min(wordsOfferedMax, share)),
      ...named.map((title): Suggestion => ({ ...title, type: 'title' })),
      ...queries.slice(share),
    ]
    return { suggestions: shownOf(candidates, folded.trim(), limit, isHidden) }
  }
}

/** Each text once, none that is typed already. Looked at one by one: as a rule the first ones may be shown. */
function shownOf(
  candidates: readonly Suggestion[],
  folded: string,
  limit: number,
  isHidden: (text: string) => boolean,
): Suggestion[] {
  const seen = new Set([folded])
  const shown: Suggestion[] = []
  for (const one of candidates) {
    if (shown.length >= limit) break
    const key = foldText(one.text).trim()
    if (seen.has(key)) continue
    seen.add(key)
    if (!isHidden(one.text)) shown.push(one)
  }
  return shown
}

/** Whole words of titles that are read as was typed, the most frequent first. */
function wordsRead(
  read: readonly ReadTitle[],
  analyzer: Analyzer,
  index: IndexReader,
): Suggestion[] {
  const found = new Map<string, number>()
  for (const { text, range } of read) {
    const tokens = analyzer.tokens(text)
    if (!tokens.some(({ start }) => start === range[0])) continue
    const last = tokens.find(({ start, end }) => start < range[1] && end >= range[1])
    const word = text.slice(range[0], last?.end ?? range[1])
    // Of several words the rarer one says how many pages can have them.
    const counts = tokens
      .filter(({ start, end }) => start >= range[0] && end <= range[0] + word.length)
      .map(({ term }) => index.frequency(term))
    if (word.length > 1) found.set(word, Math.min(...counts))
  }
  return [...found]
    .map(([text, count]): Suggestion => ({ text, type: 'term', count }))
    .sort((a, b) => b.count - a.count || (a.text < b.text ? -1 : 1))
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
