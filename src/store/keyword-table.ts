/**
 * Keywords of documents by number, so that a search can count and filter by them: every distinct one has a number, spellings of one word the
 * same. Readers load the numbers of documents as search/keyword-lists.ts does.
 *
 * keyword(id, key, word): word = its shortest spelling, of several the first, '' once nobody may
 * see it; doc_keyword(docno, ids): 4 bytes each, big endian, best first.
 */
import { createMemo } from '../lib/memo.ts'
import type { Db } from '../lib/sqlite.ts'
import { keywordsOf, type PackedKeywords } from './keywords.ts'

/** What spellings of one word have in common: the same for "Search engines" and "search engine". '' = it is none. */
export type KeywordKey = (word: string) => string

/** Longer ones are shown with their page, and not counted. UTF-16 units. */
export const keywordKeyCharsMax = 80
/** Of one document. */
export const documentKeywordsMax = 16
/** Different ones in one directory; documents keep further ones, searches do not know them. About 60 bytes each on disk, none in memory. */
const keywordsKeptMax = 4_000_000

/** Where the owner of the store gives none. */
export const plainKeywordKey: KeywordKey = (word) => word.normalize('NFC').trim().toLowerCase()

/** Within the transaction that writes the document. */
export type KeywordWrites = {
  putKeywords(docno: number, keywords: PackedKeywords): void
  moveKeywords(docno: number, from: number): void
  dropKeywords(docno: number): void
  /** A word that no page may show any more. Its number is never given out again, also to the same word. */
  forgetKeyword(word: string): void
  /** A transaction that is undone takes the numbers back that it gave. */
  rolledBack(): void
}

/** Words of one generation that are remembered with their key and number, about 1 MB each. */
const remembered = 8_192

type Row = { id: number; word: string }
const noRow = (): Row => ({ id: 0, word: '' })

export function createKeywordWrites(db: Db, keyOf: KeywordKey): KeywordWrites {
  const statements = {
    find: db.prepare<Row>('SELECT id, word FROM keyword WHERE key=?'),
    spell: db.prepare('UPDATE keyword SET word=? WHERE id=?'),
    last: db.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM keyword'),
    add: db.prepare('INSERT INTO keyword(key, word) VALUES(?, ?)'),
    forget: db.prepare("UPDATE keyword SET key=char(0) || id, word='' WHERE key=?"),
    put: db.prepare('INSERT OR REPLACE INTO doc_keyword(docno, ids) VALUES(?, ?)'),
    move: db.prepare('UPDATE doc_keyword SET docno=? WHERE docno=?'),
    drop: db.prepare('DELETE FROM doc_keyword WHERE docno=?'),
  }
  // To fold and to stem a word costs more than to find its number; a site goes on to use its own.
  const keys = createMemo(remembered, keyOf)
  const rows = createMemo(remembered, (key: string) => statements.find.get(key) ?? noRow())
  const idOf = (word: string): number | null => {
    const key = keys.get(word)
    if (key === '' || key.length > keywordKeyCharsMax || key.includes('\0')) return null
    const row = rows.get(key)
    if (row.id === 0) {
      if (Number(statements.last.value()) >= keywordsKeptMax) return null
      row.id = Number(statements.add.run(key, word).lastInsertRowid)
      row.word = word
    } else if (word.length < row.word.length) {
      // One of several, not many: what most dictionaries would have.
      statements.spell.run(word, row.id)
      row.word = word
    }
    return row.id
  }
  return {
    putKeywords(docno, keywords) {
      const ids = new Set<number>()
      for (const { word } of keywordsOf(keywords).slice(0, documentKeywordsMax)) {
        const id = idOf(word)
        if (id !== null) ids.add(id)
      }
      if (ids.size === 0) statements.drop.run(docno)
      else statements.put.run(docno, packIds(ids))
    },
    moveKeywords: (docno, from) => void statements.move.run(docno, from),
    dropKeywords: (docno) => void statements.drop.run(docno),
    forgetKeyword(word) {
      statements.forget.run(keyOf(word))
      rows.clear()
    },
    rolledBack: () => rows.clear(),
  }
}

function packIds(ids: ReadonlySet<number>): Buffer {
  const packed = Buffer.allocUnsafe(ids.size * 4)
  let at = 0
  for (const id of ids) at = packed.writeUInt32BE(id, at)
  return packed
}
