/** Documents as they are written: new, changed, unchanged, removed. Keeps docnos growing and exact copies at a living original. */
import assert from 'node:assert'
import { unpackText } from '../lib/packed-text.ts'
import type { Db } from '../lib/sqlite.ts'
import { createFieldWrites } from './fields.ts'
import { createKeywordWrites, type KeywordKey, type KeywordWrites } from './keyword-table.ts'
import { changeOf, createChangeTable } from './changes.ts'
import type { Meta } from './meta.ts'
import { keyOf, noarchiveFlag, type DocumentExtra } from './read-documents.ts'

export type DocumentInput = {
  urlId: number
  hostId: number
  url: string
  title: string
  lang: string
  type: string
  /** Bytes on the wire. */
  size: number
  publishedAtMs: number | null
  fetchedAtMs: number
  /** URL id of the original where this is an exact copy: then it has no postings of its own, unless its title is another. */
  copyOf: number | null
  /** Main text and rest of the page: as `packText` makes them. */
  body: Uint8Array
  rest: Uint8Array | null
  extra: DocumentExtra
  /** The page asks that no stored copy of it is shown. */
  noarchive?: boolean
  /** The page is not to be shown after this. */
  expiresAtMs?: number | null
  /** Whether the page differs from what is stored; left out, the store compares. */
  changed?: boolean
}

/** A copy that became an original under a new docno: it is to be indexed. */
export type Promoted = { urlId: number; docno: number }

export type PutDocument = {
  docno: number
  /** False where the page is as it was: the docno is the old one. */
  isNew: boolean
  /** As stored: the copy of a copy is a copy of the original; null where the page has postings of its own. */
  copyOf: number | null
  promoted: Promoted | null
}

/** All of it in the caller's transaction; all of it may run twice. */
export type DocumentWrites = {
  /** A changed page gets a new docno and leaves a tombstone; an unchanged one gets its time of fetching only. */
  putDocument(input: DocumentInput): PutDocument
  /** The page was asked for and is as it was. */
  touchDocument(urlId: number, fetchedAtMs: number): void
  /** @returns null where there was none */
  removeDocument(urlId: number): { docno: number; promoted: Promoted | null } | null
  forgetKeyword: KeywordWrites['forgetKeyword']
  /** Writes the high-water marks; `Store.transaction` calls it before the commit. */
  saveMarks(): void
  /** What was remembered of the transaction is not so; `Store.transaction` calls it when it is undone. */
  rolledBack(): void
}

type DocRow = {
  docno: number
  title: string
  lang: string
  type: string
  publishedAtMs: number | null
  copyOf: number | null
  body: Uint8Array
  rest: Uint8Array | null
  extra: string
  isUntitled: number
}

/** @param keywordKey one and the same for all of a directory */
export function createDocumentWrites(db: Db, meta: Meta, keywordKey: KeywordKey): DocumentWrites {
  const statements = prepareAll(db, meta, keywordKey)
  let lastDocno = highestDocno(db, meta)
  let isChanged = false
  const nextDocno = (): number => {
    isChanged = true
    return ++lastDocno
  }

  /** The oldest copy takes the place of an original that goes or changes; the other copies follow it. */
  const promoteCopy = (originalId: number): Promoted | null => {
    const copy = statements.oldestCopy.get(originalId)
    if (!copy) return null
    const docno = nextDocno()
    statements.moveDoc.run(docno, copy.docno)
    statements.moveText.run(docno, copy.docno)
    statements.fields.moveFields(docno, copy.docno)
    statements.keywords.moveKeywords(docno, copy.docno)
    statements.followOriginal.run(copy.urlId, originalId)
    return { urlId: copy.urlId, docno }
  }

  const drop = (old: DocRow): void => {
    isChanged = true
    deleteDocument(statements, old)
  }

  return {
    putDocument(input) {
      const { urlId } = input
      const old = statements.find.get(urlId)
      const wished = originalOf(statements, input)
      if (old !== undefined && !isDifferent(old, input, wished)) {
        confirm(statements, input)
        if (input.changed === undefined) takeKeywords(statements, old, input.extra)
        if (wished !== old.copyOf) statements.setOriginal.run(wished, urlId)
        return { docno: old.docno, isNew: false, copyOf: wished, promoted: null }
      }
      let promoted: Promoted | null = null
      if (old !== undefined) {
        if (wished !== null || leavesCopies(old, input)) promoted = promoteCopy(urlId)
        noteChange(statements, old, input)
        drop(old)
      }
      // Asked again: where it was said to be a copy of its own copy, that one is the original now.
      const copyOf = originalOf(statements, input)
      const docno = nextDocno()
      insertDocument(statements, docno, copyOf, input)
      return { docno, isNew: true, copyOf, promoted }
    },
    touchDocument(urlId, fetchedAtMs) {
      statements.touch.run(Math.round(fetchedAtMs), urlId)
    },
    removeDocument(urlId) {
      const old = statements.find.get(urlId)
      if (old === undefined) return null
      const promoted = promoteCopy(urlId)
      drop(old)
      statements.changes.dropChanges(urlId)
      return { docno: old.docno, promoted }
    },
    forgetKeyword: (word) => statements.keywords.forgetKeyword(word),
    saveMarks() {
      if (!isChanged) return
      meta.set('docno', lastDocno)
      meta.set('generation', Number(meta.get('generation') ?? 0) + 1)
      isChanged = false
    },
    rolledBack: () => statements.keywords.rolledBack(),
  }
}

/** A docno is never given out twice, also when its document, its tombstone and its segment are gone. */
function highestDocno(db: Db, meta: Meta): number {
  const stored = db
    .prepare<{ docno: number }>(
      `SELECT max(coalesce((SELECT max(docno) FROM doc), 0), coalesce((SELECT max(docno) FROM tombstone), 0),
         coalesce((SELECT max(maxdoc) FROM seg), 0)) AS docno`,
    )
    .value()
  return Math.max(stored ?? 0, Number(meta.get('docno') ?? 0))
}

function isDifferent(old: DocRow, input: DocumentInput, copyOf: number | null): boolean {
  if ((old.copyOf === null) !== (copyOf === null)) return true
  if (input.changed !== undefined) return input.changed
  return (
    old.title !== input.title ||
    old.lang !== input.lang ||
    old.type !== input.type ||
    old.publishedAtMs !== rounded(input.publishedAtMs) ||
    !isSaidAlike(old.extra, input.extra) ||
    !isEqual(old.body, input.body) ||
    !isEqual(old.rest ?? new Uint8Array(), input.rest ?? new Uint8Array())
  )
}

/** Keywords apart: they follow from the rest, by rules that change. */
function isSaidAlike(old: string, extra: DocumentExtra): boolean {
  if (old === JSON.stringify(extra)) return true
  const plain = (said: DocumentExtra): string => JSON.stringify({ ...said, keywords: [] })
  return plain(JSON.parse(old) as DocumentExtra) === plain(extra)
}

/** URL id of the page whose postings serve this one; null where it has its own. */
function originalOf(statements: Statements, input: DocumentInput): number | null {
  const { urlId, copyOf } = input
  if (copyOf === null || copyOf === urlId) return null
  const original = statements.find.get(copyOf)
  assert(original, `page ${urlId} would be a copy of ${copyOf}, which has no document`)
  // Its words would be found nowhere.
  if (!isTitledAlike(original, input)) return null
  const first = original.copyOf ?? copyOf
  return first === urlId ? null : first
}

/** Exact copies have the same title and main text, by which the page may no longer be recognised. */
const leavesCopies = (old: DocRow, input: DocumentInput): boolean =>
  !isTitledAlike(old, input) ||
  !isEqual(old.body, input.body) ||
  input.extra.fingerprintFields !== undefined

/** A page without a title has its address in place of one. */
const isTitledAlike = (one: DocRow, { title, url }: DocumentInput): boolean =>
  one.isUntitled === 1 ? title === url : one.title === title

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0
const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms))

const flagsOf = ({ noarchive }: DocumentInput): number => (noarchive === true ? noarchiveFlag : 0)

type Statements = ReturnType<typeof prepareAll>

/** The page is as it was; what it asks of who keeps it may be new. */
function confirm(statements: Statements, input: DocumentInput): void {
  const { urlId, fetchedAtMs, expiresAtMs = null } = input
  statements.confirm.run(Math.round(fetchedAtMs), flagsOf(input), rounded(expiresAtMs), urlId)
}

/** The same page by other rules for keywords: readers that have it loaded count it by them after the next start. */
function takeKeywords(statements: Statements, { docno, extra: old }: DocRow, extra: DocumentExtra) {
  const json = JSON.stringify(extra)
  if (json === old) return
  statements.setExtra.run(json, docno)
  statements.keywords.putKeywords(docno, extra.keywords)
}

function noteChange({ changes }: Statements, old: DocRow, input: DocumentInput): void {
  const before = { title: old.title, text: unpackText(old.body) }
  const change = changeOf(before, { title: input.title, text: unpackText(input.body) })
  changes.addChange(input.urlId, input.fetchedAtMs, change)
}

function prepareAll(db: Db, meta: Meta, keywordKey: KeywordKey) {
  return {
    keywords: createKeywordWrites(db, keywordKey),
    fields: createFieldWrites(db, meta),
    changes: createChangeTable(db),
    find: db.prepare<DocRow>(
      `SELECT d.docno, d.title, d.lang, d.type, d.published_at AS publishedAtMs, d.copy_of AS copyOf, t.body, t.rest, t.extra,
         d.title = h.origin || u.path AS isUntitled
       FROM doc d JOIN doc_text t ON t.docno = d.docno JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host
       WHERE d.url_id=?`,
    ),
    insertDoc: db.prepare(
      `INSERT INTO doc(docno, url_id, host, key, lang, type, title, size, published_at, fetched_at, changed_at, copy_of,
         flags, expires_at)
       VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertText: db.prepare('INSERT INTO doc_text(docno, body, rest, extra) VALUES(?, ?, ?, ?)'),
    touch: db.prepare('UPDATE doc SET fetched_at=? WHERE url_id=?'),
    confirm: db.prepare('UPDATE doc SET fetched_at=?, flags=?, expires_at=? WHERE url_id=?'),
    setOriginal: db.prepare('UPDATE doc SET copy_of=? WHERE url_id=?'),
    setExtra: db.prepare('UPDATE doc_text SET extra=? WHERE docno=?'),
    deleteDoc: db.prepare('DELETE FROM doc WHERE docno=?'),
    deleteText: db.prepare('DELETE FROM doc_text WHERE docno=?'),
    bury: db.prepare('INSERT OR IGNORE INTO tombstone(docno) VALUES(?)'),
    oldestCopy: db.prepare<{ docno: number; urlId: number }>(
      'SELECT docno, url_id AS urlId FROM doc WHERE copy_of=? ORDER BY docno LIMIT 1',
    ),
    moveDoc: db.prepare('UPDATE doc SET docno=?, copy_of=NULL WHERE docno=?'),
    moveText: db.prepare('UPDATE doc_text SET docno=? WHERE docno=?'),
    followOriginal: db.prepare('UPDATE doc SET copy_of=? WHERE copy_of=?'),
  }
}

function deleteDocument(statements: Statements, { docno, copyOf }: DocRow): void {
  statements.deleteDoc.run(docno)
  statements.deleteText.run(docno)
  statements.fields.dropFields(docno)
  statements.keywords.dropKeywords(docno)
  // A copy has no postings, so there is nothing that readers must skip.
  if (copyOf === null) statements.bury.run(docno)
}

function insertDocument(
  statements: Statements,
  docno: number,
  copyOf: number | null,
  input: DocumentInput,
): void {
  const fetchedAtMs = Math.round(input.fetchedAtMs)
  statements.insertDoc.run(
    docno,
    input.urlId,
    input.hostId,
    keyOf(input.url),
    input.lang,
    input.type,
    input.title,
    input.size,
    rounded(input.publishedAtMs),
    fetchedAtMs,
    fetchedAtMs,
    copyOf,
    flagsOf(input),
    rounded(input.expiresAtMs ?? null),
  )
  const rest = input.rest === null || input.rest.byteLength === 0 ? null : input.rest
  statements.insertText.run(docno, input.body, rest, JSON.stringify(input.extra))
  statements.fields.putFields(docno, input.extra.fields)
  statements.keywords.putKeywords(docno, input.extra.keywords)
}
