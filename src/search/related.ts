/** related: the words of a page that tell most about it, as a query. */
import { normalizeUrl } from '../lib/url.ts'
import { documentKey } from '../store/read-documents.ts'
import type { Reader } from '../store/reader.ts'
import { isStopWord } from '../text/stopwords.ts'
import { type Analyzer, BIGRAM_PREFIX, termList } from '../text/tokenize.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import { frequencies } from './codes.ts'
import { inverseFrequency } from './score.ts'

const wordsMax = 16
/** Each is a list of postings to count. */
const wordsJudgedMax = 64
const textCharsMax = 20_000

export type Related = { words: IndexQuery['words']; docno: number }

/** @param page URL or id; null for one that is not known */
export function relatedTo(
  page: string,
  store: Reader,
  analyzer: Analyzer,
  index: IndexReader,
): Related | null {
  const url = normalizeUrl(page.includes('://') ? page : `https://${page}`)
  const record =
    store.documentRecord(page) ?? (url === null ? null : store.documentRecord(documentKey(url)))
  if (record === null) return null
  const docno = store.db
    .prepare<{ docno: number }>('SELECT docno FROM doc WHERE key=?')
    .value(Buffer.from(record.id, 'base64url'))
  const { title, text } = record
  const { terms, quants } = analyzer.document({
    title,
    headings: '',
    text: text.slice(0, textCharsMax),
    rest: '',
    url: '',
  })
  const words = termList(terms)
    .map((term, i) => ({ term, count: frequencies[quants[i] as number] ?? 0 }))
    .filter(({ term }) => !term.startsWith(BIGRAM_PREFIX) && term.length > 1 && !isStopWord(term))
    .sort((a, b) => b.count - a.count)
    .slice(0, wordsJudgedMax)
    .map(({ term, count }) => {
      const rarity = inverseFrequency(index.documents(), index.frequency(term))
      return { term, weight: 1, value: Math.log2(1 + count) * rarity }
    })
    .sort((a, b) => b.value - a.value)
    .slice(0, wordsMax)
    .map(({ term, weight }) => ({ term, weight }))
  return docno === undefined || words.length === 0 ? null : { words, docno }
}
