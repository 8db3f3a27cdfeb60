/** Pages like a page: its copies, and those that share the words that tell it from others. Bounded: a page of a book costs what a short one does. */
import type { Db } from '../lib/sqlite.ts'
import { hostOf } from '../lib/url.ts'
import type { Reader } from '../store/reader.ts'
import { isStopWord } from '../text/stopwords.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { SimilarAnswer } from './answer.ts'
import type { IndexQuery, IndexReader } from './index.ts'
import { saturated } from './link-score.ts'
import { inverseFrequency } from './score.ts'

const charsRead = 20_000
/** Words whose frequency in the collection is looked up: a list to read for each. */
const wordsJudgedMax = 48
const wordsAskedMax = 20
/** A word that a larger share of all pages holds tells nothing. */
const commonShare = 0.2
/** In a small collection every word is common. */
const commonDocumentsMin = 20
const copiesMax = 50
/** The title says what a page is about. */
const titleFactor = 3
/** Of the score that the page itself would have: what is below only shares a word or two by chance. */
const likenessMin = 0.1

export type Similar = (id: string, limit: number, deadlineMs: number) => SimilarAnswer | null

type Word = { term: string; frequency: number }

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
    docno: number,
    group: number | null,
    limit: number,
    deadlineMs: number,
  ): SimilarAnswer['related'] => {
    const query = likeQuery(docno, store, analyzer, index)
    if (query.words.length === 0) return []
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
      related: limit > 0 ? related(docno, grp, limit, deadlineMs) : [],
    }
  }
}

const idOf = (key: Uint8Array): string => Buffer.from(key).toString('base64url')

/** The words of a page that tell it from others, weighted by how much they do: a query for pages like it. */
export function likeQuery(
  docno: number,
  store: Reader,
  analyzer: Analyzer,
  index: IndexReader,
): IndexQuery {
  const opening = store.openingByDocno(docno, charsRead)
  const words = opening === null ? [] : frequentWords(opening, analyzer)
  const documents = index.documents()
  const commonMin = Math.max(commonDocumentsMin, documents * commonShare)
  const telling = words
    .slice(0, wordsJudgedMax)
    .map(({ term, frequency }) => {
      const found = index.frequency(term)
      const isTelling = found > 1 && found <= commonMin
      const weight = saturated(frequency, 1, false)
      return { term, weight, value: isTelling ? weight * inverseFrequency(documents, found) : 0 }
    })
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value || (a.term < b.term ? -1 : 1))
    .slice(0, wordsAskedMax)
  return {
    words: telling.map(({ term, weight }) => ({ term, weight })),
    bigrams: [],
    boosts: [],
    required: [],
    without: [],
    match: 'any',
  }
}

/** Most frequent first; those of the title count more often. */
function frequentWords(
  { title, text }: { title: string; text: string },
  analyzer: Analyzer,
): Word[] {
  const counts = new Map<string, number>()
  const count = (source: string, weight: number): void =>
    analyzer.eachTerm(source, {
      isKnown: () => false,
      term(term, form) {
        if (!isStopWord(form) && !isShort(form)) counts.set(term, (counts.get(term) ?? 0) + weight)
      },
    })
  count(title, titleFactor)
  count(text, 1)
  return [...counts]
    .map(([term, frequency]) => ({ term, frequency }))
    .sort((a, b) => b.frequency - a.frequency || (a.term < b.term ? -1 : 1))
}

/** A lone letter, digits: they tell little and stand everywhere. */
const isShort = (form: string): boolean => /^(?:[\p{ASCII}]|\d+)$/u.test(form)
