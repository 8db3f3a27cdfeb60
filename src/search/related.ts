/** related: the words of a page that tell most about it, as a query. */
import { normalizeUrl } from '../lib/url.ts'
import { documentKey } from '../store/read-documents.ts'
import type { Reader } from '../store/reader.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import { tellingWords } from './telling-words.ts'

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
  const keywords = store.keywordsOf(record.id)
  const words = tellingWords({ title, text, keywords }, analyzer, index)
  return docno === undefined || words.length === 0 ? null : { words, docno }
}
