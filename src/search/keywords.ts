/** Which keywords of a page tell it from the others that are there: those that weigh much in it and are rare elsewhere. Asks the index, keeps nothing. */
import type { StoredKeyword } from '../store/keywords.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { IndexReader } from './index.ts'
import { inverseFrequency } from './score.ts'

/** Shown of one page. */
export const keywordsMax = 10

/** How rare a keyword is in the collection: near 0 where every page holds it. */
export type RarityOf = (word: string) => number

/**
 * By weight in the page x rarity (TF-IDF), the most telling first; where that is equal, as by rarity 0, the order of the page.
 * @param keywords as the page has them, best first
 */
export function tellingKeywords(
  keywords: readonly StoredKeyword[],
  rarityOf: RarityOf,
  max: number,
): StoredKeyword[] {
  return keywords
    .map(({ word, weight }) => ({ word, weight: weight * rarityOf(word) }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, max)
}

/**
 * By the documents that hold its words; of a phrase the rarest word counts, which no phrase is more frequent than. A Han word that no page
 * was cut into is looked up by its pairs of characters. What the index does not hold finds nothing: it has rarity 0. For one answer: what
 * was looked up once is remembered.
 */
export const createRarity =
  (analyzer: Analyzer, index: Pick<IndexReader, 'documents' | 'frequency'>): RarityOf =>
  (word) => {
    const { words, bigrams } = analyzer.query(word)
    const rarest = (terms: readonly string[]): number =>
      terms.reduce((found, term) => {
        const frequency = index.frequency(term)
        if (frequency === 0) return found
        return Math.max(found, inverseFrequency(index.documents(), frequency))
      }, 0)
    return rarest(words.filter(({ isPart }) => !isPart).map(({ term }) => term)) || rarest(bigrams)
  }
