/** Pages like a page: its copies, and those that share the words that tell it from others. Bounded: a page of a book costs what a short one does. */
import type { Db } from '../lib/sqlite.ts'
import { hostOf } from '../lib/url.ts'
import type { Reader } from '../store/reader.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { SimilarAnswer } from './answer.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import { tellingWords } from './telling-words.ts'

const charsRead = 20_000
const copiesMax = 50
/** Of the score that the page itself would have: what is below only shares a word or two by chance. */
const likenessMin = 0.1

export type Similar = (id: string, limit: number, deadlineMs: number) => SimilarAnswer | null

const emptyQuery: IndexQuery = {
  words: [],
  bigrams: [],
  boosts: [],
  required: [],
  without: [],
  match: 'any',
}

const prepareAll = (db: Db) => ({
  page: db.prepare<{ docno: number; urlId: number; copyOf: number | null; grp: number | null }>(
    `SELECT d.docno, d.url_id AS urlId, d.copy_of AS copyOf, f.grp
     FROM doc d LEFT JOIN fingerprint f ON f.url_id = d.url_id WHERE d.key=?`,
  ),
  copies: db.prepare<{
    key: Uint8Array
    urlId: number
    url: string
    title: string
    copyOf: number | null
    similarity: number | null
    distance: number | null
  }>(
    `SELECT d.key, d.url_id AS urlId, h.origin || u.path AS url, d.title, d.copy_of AS copyOf, f.similarity, f.distance
     FROM fingerprint f JOIN doc d ON d.url_id = f.url_id JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host
     WHERE f.grp=? AND f.url_id <> ? ORDER BY f.similarity DESC, d.docno LIMIT ${copiesMax}`,
  ),
  related: db.prepare<{ key: Uint8Array; url: string; title: string; grp: number | null }>(
    `SELECT d.key, h.origin || u.path AS url, d.title, f.grp
     FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host LEFT JOIN fingerprint f ON f.url_id = d.url_id
     WHERE d.docno=?`,
  ),
})

export function createSimilar(store: Reader, analyzer: Analyzer, index: IndexReader): Similar {
  const statements = prepareAll(store.db)

  const related = (
    id: string,
    docno: number,
    group: number | null,
    limit: number,
    deadlineMs: number,
  ): SimilarAnswer['related'] => {
    const opening = store.openingByDocno(docno, charsRead)
    if (opening === null) return []
    const words = tellingWords({ ...opening, keywords: store.keywordsOf(id) }, analyzer, index)
    if (words.length === 0) return []
    const query = { ...emptyQuery, words }
    const { hits } = index.search(query, limit * 4 + 20, deadlineMs)
    const own = hits.find((hit) => hit.docno === docno)?.score ?? hits[0]?.score ?? 0
    const groups = new Set(group === null ? [] : [group])
    const found: SimilarAnswer['related'][number][] = []
    for (const hit of hits) {
      if (found.length >= limit || hit.score < own * likenessMin) break
      const page = hit.docno === docno ? undefined : statements.related.get(hit.docno)
      if (page === undefined || (page.grp !== null && groups.has(page.grp))) continue
      // Of each group of copies one.
      if (page.grp !== null) groups.add(page.grp)
      const { key, url, title } = page
      const score = Math.round((hit.score / own) * 1e4) / 1e4
      found.push({ id: idOf(key), url, site: hostOf(url), title, score })
    }
    return found
  }

  return (id, limit, deadlineMs) => {
    const page = statements.page.get(Buffer.from(id, 'base64url'))
    if (page === undefined) return null
    const { docno, urlId, grp } = page
    const original = page.copyOf ?? urlId
    const copies = grp === null ? [] : statements.copies.all(grp, urlId)
    return {
      copies: copies.slice(0, limit).map(({ key, url, title, similarity, distance, ...copy }) => ({
        id: idOf(key),
        url,
        title,
        is_exact: (copy.copyOf ?? copy.urlId) === original,
        similarity,
        distance,
      })),
      related: limit > 0 ? related(id, docno, grp, limit, deadlineMs) : [],
    }
  }
}

const idOf = (key: Uint8Array): string => Buffer.from(key).toString('base64url')
