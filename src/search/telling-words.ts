/** A query for pages on the matter of a page: the words that tell it from others, and more so where they are keywords of it. Bounded: a book costs what a page does. */
import type { StoredKeyword } from '../store/keywords.ts'
import { isStopWord } from '../text/stopwords.ts'
import { type Analyzer, BIGRAM_PREFIX, termList } from '../text/tokenize.ts'
import { frequencies } from './codes.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import { inverseFrequency, queryWordsMax } from './score.ts'

const textCharsMax = 20_000
/** Words whose frequency in the collection is looked up: a list to read for each. */
const wordsJudgedMax = 64
/** Of the text alone; keywords may come on top, up to what a query may have. */
const wordsMax = 11
/** The first keyword of a page counts so much more than a word of its text. */
const keywordFactor = 2

export type TellingPage = { title: string; text: string; keywords: readonly StoredKeyword[] }

/** Rarity is not in the weights: the scorer brings it. [] for a page that shares nothing with others. */
export function tellingWords(
  { title, text, keywords }: TellingPage,
  analyzer: Analyzer,
  index: Pick<IndexReader, 'documents' | 'frequency'>,
): IndexQuery['words'] {
  const shares = sharesOf(keywords, analyzer, index)
  const words = wordsOf(title, text.slice(0, textCharsMax), analyzer, index).map((term) => ({
    term,
    weight: 1 + keywordFactor * (shares.get(term) ?? 0),
  }))
  for (const { term } of words) shares.delete(term)
  const others = [...shares].map(([term, weight]) => ({ term, weight }))
  return [...words, ...others.sort((a, b) => b.weight - a.weight)].slice(0, queryWordsMax)
}

/** Words of text and title by frequency x rarity, the best first. */
function wordsOf(
  title: string,
  text: string,
  analyzer: Analyzer,
  index: Pick<IndexReader, 'documents' | 'frequency'>,
): string[] {
  const { terms, quants } = analyzer.document({ title, headings: '', text, rest: '', url: '' })
  return termList(terms)
    .map((term, i) => ({ term, count: frequencies[quants[i] as number] ?? 0 }))
    .filter(({ term }) => !term.startsWith(BIGRAM_PREFIX) && term.length > 1 && !isStopWord(term))
    .sort((a, b) => b.count - a.count)
    .slice(0, wordsJudgedMax)
    .map(({ term, count }) => {
      const found = index.frequency(term)
      // What no other page holds finds none.
      const rarity = found > 1 ? inverseFrequency(index.documents(), found) : 0
      return { term, value: Math.log2(1 + count) * rarity }
    })
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value || (a.term < b.term ? -1 : 1))
    .slice(0, wordsMax)
    .map(({ term }) => term)
}

/** Terms of keywords that other pages hold too, 0..1 by what the page says of them. */
function sharesOf(
  keywords: readonly StoredKeyword[],
  analyzer: Analyzer,
  index: Pick<IndexReader, 'frequency'>,
): Map<string, number> {
  const shares = new Map<string, number>()
  for (const { word, weight } of keywords)
    for (const { term, isPart } of analyzer.query(word).words) {
      if (isPart || index.frequency(term) < 2) continue
      shares.set(term, Math.max(shares.get(term) ?? 0, weight / 100))
    }
  return shares
}
