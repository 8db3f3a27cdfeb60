/** Documents as they are read: records for the API and the export, texts for the index. Every call is one short statement; writes nothing. */
import { hash } from 'node:crypto'
import { packedBytesOf, unpackOpenings, unpackText } from '../lib/packed-text.ts'
import type { Db } from '../lib/sqlite.ts'
import { keywordsOf, type PackedKeywords, type StoredKeyword } from './keywords.ts'
import type { DocumentRecord } from './records.ts'

/** The JSON beside a text: what a page says of itself. */
export type DocumentExtra = {
  description: string
  author: string
  /** One a line. */
  headings: string
  keywords: PackedKeywords
  fields: Record<string, unknown>
  /** The rule that was for it: required fields that it lacks, and what could not be done. */
  rule?: { name: string; missing: readonly string[]; problems: readonly string[] }
  /** There is nothing to read before JavaScript ran. */
  isShell?: true
  /** Another address that the page names as its own: of a copy, its original perhaps. */
  canonical?: string
  /** What its fingerprint is made of, where that is not the main text. */
  fingerprintFields?: readonly string[]
}

/** `flags` of a document: the page asks that no stored copy of it is shown. */
export const noarchiveFlag = 1

/** What is noted of a document beside what is shown of it. */
export type DocumentNote = Pick<DocumentExtra, 'rule' | 'isShell' | 'canonical'> & {
  /** To the centre of its group of copies: 0..1, and bits of the SimHash. */
  likeness?: { similarity: number; distance: number }
}

/** A document as the analyzer takes it. */
export type StoredText = {
  docno: number
  url: string
  title: string
  headings: string
  text: string
  rest: string
}

/** The beginning of a document's text. */
export type TextOpening = { title: string; text: string }
/** A document as a hit shows it; its text may be cut. */
export type ShownDocument = DocumentRecord & { urlId: number }

export type GroupMember = { id: string; url: string; title: string; isExact: boolean }

export type ExportPage = {
  records: DocumentRecord[]
  /** Where the next page goes on; null after the last. */
  cursor: number | null
}

export type DocumentReads = {
  /** @param id of the API, as `documentKey` makes it; anything else is not found */
  documentRecord(id: string): DocumentRecord | null
  documentByUrlId(urlId: number): DocumentRecord | null
  documentByDocno(docno: number): DocumentRecord | null
  /** All that are kept of a page, by its id; a record has the first ten. */
  keywordsOf(id: string): StoredKeyword[]
  noteOf(urlId: number): DocumentNote
  /** Keyset pages by URL, each once even while it changes; members of groups and exact copies included. Begin with 0. */
  exportAfter(cursor: number, limit: number): ExportPage
  /** Keyset pages in docno order of all that has postings: exact copies have none of their own. */
  documentsAfter(docno: number, limit: number): StoredText[]
  textByDocno(docno: number): StoredText | null
  /** The beginning of a text, at most `unitsMax` UTF-16 units: of a large one no more is read. */
  openingByDocno(docno: number, unitsMax: number): TextOpening | null
  /** The same for some at once, which takes half of the time; null for those that there are not. */
  openingsByDocno(docnos: readonly number[], unitsMax: number): (TextOpening | null)[]
  /** The records with no more than `unitsMax` of their texts; null for those that there are not. */
  shownByDocno(docnos: readonly number[], unitsMax: number): (ShownDocument | null)[]
  /** The pages of one group, oldest document first; [] for a page without copies. At most `limit`. */
  groupOf(urlId: number, limit: number): GroupMember[]
}

const keyBytes = 9
const keywordsShown = 10
/** The API id of a canonical URL: base64url of 9 bytes of its SHA-256. It survives changes of the page. */
export const documentKey = (url: string): string => keyOf(url).toString('base64url')

/** The same as the bytes that are stored. */
export const keyOf = (url: string): Buffer => hash('sha256', url, 'buffer').subarray(0, keyBytes)

type RecordRow = {
  urlId: number
  key: Uint8Array
  url: string
  title: string
  lang: string
  type: string
  size: number
  publishedAtMs: number | null
  fetchedAtMs: number
  changedAtMs: number
  flags: number
  body: Uint8Array
  extra: string
  original: Uint8Array | null
  grp: number | null
  /** The same for a page without copies: its own. Null where there is no fingerprint. */
  ownGrp: number | null
}
/** `body` = the first bytes of it. */
type OpeningRow = { docno: number; body: Uint8Array; bodyBytes: number }
type ShownRow = RecordRow & OpeningRow
type TextRow = {
  docno: number
  url: string
  title: string
  body: Uint8Array
  rest: Uint8Array | null
  extra: string
}

const recordColumns = `
  d.url_id AS urlId, d.key, h.origin || u.path AS url, d.title, d.lang, d.type, d.size, d.published_at AS publishedAtMs,
  d.fetched_at AS fetchedAtMs, d.changed_at AS changedAtMs, d.flags, t.extra, o.key AS original,
  CASE WHEN EXISTS (SELECT 1 FROM fingerprint m WHERE m.grp = f.grp AND m.url_id <> f.url_id) THEN f.grp END AS grp,
  f.grp AS ownGrp`
const recordTables = `
  FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host JOIN doc_text t ON t.docno = d.docno
    LEFT JOIN doc o ON o.url_id = d.copy_of LEFT JOIN fingerprint f ON f.url_id = d.url_id`
const recordQuery = `SELECT ${recordColumns}, t.body ${recordTables}`
const textQuery = `
  SELECT d.docno, h.origin || u.path AS url, d.title, t.body, t.rest, t.extra
  FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host JOIN doc_text t ON t.docno = d.docno`

/** The beginnings of texts from the first bytes of each, and from all of one where they are not enough. */
function openingReader(db: Db) {
  const bodyOf = db.prepare<{ body: Uint8Array }>('SELECT body FROM doc_text WHERE docno=?')
  return <R extends OpeningRow>(
    rows: readonly (R | undefined)[],
    unitsMax: number,
  ): ({ row: R; text: string } | null)[] => {
    const found = rows.filter((row) => row !== undefined)
    const texts = unpackOpenings(
      found.map(({ body, bodyBytes }) => ({ bytes: body, bytesAll: bodyBytes })),
      unitsMax,
    )
    let next = 0
    return rows.map((row) => {
      if (row === undefined) return null
      const text = texts[next++] ?? unpackText(bodyOf.value(row.docno) ?? null).slice(0, unitsMax)
      return { row, text }
    })
  }
}

function createNoteReads(db: Db): Pick<DocumentReads, 'noteOf' | 'keywordsOf'> {
  const extraByKey = db.prepare<{ extra: string }>(
    'SELECT t.extra FROM doc d JOIN doc_text t ON t.docno = d.docno WHERE d.key=?',
  )
  const extraOf = db.prepare<{ extra: string }>(
    'SELECT t.extra FROM doc d JOIN doc_text t ON t.docno = d.docno WHERE d.url_id=?',
  )
  const likenessOf = db.prepare<{ similarity: number; distance: number }>(
    'SELECT similarity, distance FROM fingerprint WHERE url_id=? AND role IN (1, 2)',
  )
  return {
    keywordsOf(id) {
      const extra = extraByKey.value(Buffer.from(id, 'base64url'))
      return extra === undefined ? [] : keywordsOf((JSON.parse(extra) as DocumentExtra).keywords)
    },
    noteOf(urlId) {
      const extra = extraOf.value(urlId)
      if (extra === undefined) return {}
      const { rule, isShell, canonical } = JSON.parse(extra) as DocumentExtra
      const likeness = likenessOf.get(urlId)
      return {
        ...(rule === undefined ? {} : { rule }),
        ...(isShell ? { isShell } : {}),
        ...(canonical === undefined ? {} : { canonical }),
        ...(likeness === undefined ? {} : { likeness }),
      }
    },
  }
}

function createOpeningReads(
  db: Db,
): Pick<DocumentReads, 'openingByDocno' | 'openingsByDocno' | 'shownByDocno'> {
  const openingOf = db.prepare<OpeningRow & { title: string }>(
    `SELECT d.docno, d.title, substr(t.body, 1, ?) AS body, length(t.body) AS bodyBytes
     FROM doc d JOIN doc_text t ON t.docno = d.docno WHERE d.docno=?`,
  )
  const shownOf = db.prepare<ShownRow>(
    `SELECT d.docno, ${recordColumns}, substr(t.body, 1, ?) AS body, length(t.body) AS bodyBytes ${recordTables} WHERE d.docno=?`,
  )
  const openTexts = openingReader(db)
  const openingsByDocno = (docnos: readonly number[], unitsMax: number): (TextOpening | null)[] => {
    const rows = docnos.map((docno) => openingOf.get(packedBytesOf(unitsMax), docno))
    return openTexts(rows, unitsMax).map(
      (opened) => opened && { title: opened.row.title, text: opened.text },
    )
  }
  return {
    openingsByDocno,
    openingByDocno: (docno, unitsMax) => openingsByDocno([docno], unitsMax)[0] ?? null,
    shownByDocno(docnos, unitsMax) {
      const rows = docnos.map((docno) => shownOf.get(packedBytesOf(unitsMax), docno))
      return openTexts(rows, unitsMax).map(
        (opened) => opened && { ...toRecord(opened.row, opened.text), urlId: opened.row.urlId },
      )
    },
  }
}

export function createDocumentReads(db: Db): DocumentReads {
  const byKey = db.prepare<RecordRow>(`${recordQuery} WHERE d.key=?`)
  const byUrlId = db.prepare<RecordRow>(`${recordQuery} WHERE d.url_id=?`)
  const byDocno = db.prepare<RecordRow>(`${recordQuery} WHERE d.docno=?`)
  const pageOfRecords = db.prepare<RecordRow>(
    `${recordQuery} WHERE d.url_id > ? ORDER BY d.url_id LIMIT ?`,
  )
  const textOf = db.prepare<TextRow>(`${textQuery} WHERE d.docno=?`)
  const pageOfTexts = db.prepare<TextRow>(
    `${textQuery} WHERE d.docno > ? AND d.copy_of IS NULL ORDER BY d.docno LIMIT ?`,
  )
  const members = db.prepare<{
    key: Uint8Array
    url: string
    title: string
    copyOf: number | null
  }>(
    `SELECT d.key, h.origin || u.path AS url, d.title, d.copy_of AS copyOf
     FROM fingerprint f JOIN doc d ON d.url_id = f.url_id JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host
     WHERE f.grp = (SELECT grp FROM fingerprint WHERE url_id=?) ORDER BY d.docno LIMIT ?`,
  )
  return {
    ...createNoteReads(db),
    ...createOpeningReads(db),
    documentRecord: (id) => recordOf(byKey.get(Buffer.from(id, 'base64url'))),
    documentByUrlId: (urlId) => recordOf(byUrlId.get(urlId)),
    documentByDocno: (docno) => recordOf(byDocno.get(docno)),
    exportAfter(cursor, limit) {
      const rows = pageOfRecords.all(cursor, limit)
      const last = rows.at(-1)
      const isEnd = last === undefined || rows.length < limit
      return { records: rows.map(toExported), cursor: isEnd ? null : last.urlId }
    },
    documentsAfter: (docno, limit) => pageOfTexts.all(docno, limit).map(toText),
    textByDocno(docno) {
      const row = textOf.get(docno)
      return row === undefined ? null : toText(row)
    },
    groupOf(urlId, limit) {
      const rows = members.all(urlId, limit)
      if (rows.length < 2) return []
      return rows.map(({ key, url, title, copyOf }) => ({
        id: idOf(key),
        url,
        title,
        isExact: copyOf !== null,
      }))
    },
  }
}

const recordOf = (row: RecordRow | undefined): DocumentRecord | null =>
  row === undefined ? null : toRecord(row)

function toRecord(row: RecordRow, text = unpackText(row.body)): DocumentRecord {
  const extra = JSON.parse(row.extra) as DocumentExtra
  return {
    id: idOf(row.key),
    url: row.url,
    title: row.title,
    text,
    lang: row.lang,
    type: row.type,
    fields: extra.fields,
    description: extra.description,
    author: extra.author,
    keywords: keywordsOf(extra.keywords)
      .slice(0, keywordsShown)
      .map(({ word }) => word),
    published_at: row.publishedAtMs === null ? null : isoTime(row.publishedAtMs),
    fetched_at: isoTime(row.fetchedAtMs),
    changed_at: isoTime(row.changedAtMs),
    size: row.size,
    group: row.grp === null ? null : `g${row.grp}`,
    duplicate_of: row.original === null ? null : idOf(row.original),
    noarchive: (row.flags & noarchiveFlag) !== 0,
  }
}

/** Here a page without copies is a group of one, so that comparing two lines is enough to tell whether they are copies. */
function toExported(row: RecordRow): DocumentRecord {
  return { ...toRecord(row), group: row.ownGrp === null ? `u${row.urlId}` : `g${row.ownGrp}` }
}

function toText({ docno, url, title, body, rest, extra }: TextRow): StoredText {
  const { headings } = JSON.parse(extra) as DocumentExtra
  return { docno, url, title, headings, text: unpackText(body), rest: unpackText(rest) }
}

const idOf = (key: Uint8Array): string => Buffer.from(key).toString('base64url')
const isoTime = (ms: number): string => new Date(ms).toISOString()
