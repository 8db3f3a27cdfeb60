/** Which page has which words of lists, and stored documents as they are judged again. The lists themselves are files. */
import { unpackText } from '../lib/packed-text.ts'
import type { Db } from '../lib/sqlite.ts'
import type { DocumentExtra } from './read-documents.ts'
import type { WordHit, WordTally } from './records.ts'

/** A document with all that is written of it. */
export type WholeDocument = {
  docno: number
  urlId: number
  hostId: number
  url: string
  title: string
  lang: string
  type: string
  size: number
  publishedAtMs: number | null
  fetchedAtMs: number
  copyOf: number | null
  /** As in the table: what the page asked for about being shown. */
  expiresAtMs: number | null
  flags: number
  text: string
  rest: string
  extra: DocumentExtra
}

/** What writes is called in the caller's transaction. */
export type WordHits = {
  /** Replaces what was known of the page. */
  putWordHits(urlId: number, hits: readonly WordHit[]): void
  wordHitsOf(urlId: number): WordHit[]
  /** Words of most pages first. */
  wordTally(limit: number): WordTally[]
  /** In docno order. */
  wholeDocumentsAfter(docno: number, limit: number): WholeDocument[]
  /** What a rewritten document asked for, under its new docno. */
  keepWishes(docno: number, wishes: Pick<WholeDocument, 'expiresAtMs' | 'flags'>): void
  /** The page went for a word: said to those who ask why. */
  settleFiltered(urlId: number): void
  /** What lists took away comes back at the next visit only where the page is sent again. */
  forgetFilteredValidators(): void
}

type Row = Omit<WholeDocument, 'text' | 'rest' | 'extra'> & {
  body: Uint8Array
  rest: Uint8Array | null
  extra: string
}

export function createWordHits(db: Db): WordHits {
  const remove = db.prepare('DELETE FROM word_hit WHERE url_id=?')
  const insert = db.prepare('INSERT OR REPLACE INTO word_hit VALUES(?, ?, ?, ?, ?, ?)')
  const hitsOf = db.prepare<WordHit>(
    'SELECT list, policy, word, hits, place FROM word_hit WHERE url_id=?',
  )
  const tally = db.prepare<WordTally>(
    `SELECT list, policy, word, count(*) AS documents, sum(hits) AS hits FROM word_hit
     GROUP BY list, policy, word ORDER BY documents DESC, hits DESC, list, word LIMIT ?`,
  )
  const after = db.prepare<Row>(
    `SELECT d.docno, d.url_id AS urlId, d.host AS hostId, h.origin || u.path AS url, d.title, d.lang, d.type, d.size,
       d.published_at AS publishedAtMs, d.fetched_at AS fetchedAtMs, d.copy_of AS copyOf,
       d.expires_at AS expiresAtMs, d.flags, t.body, t.rest, t.extra
     FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host JOIN doc_text t ON t.docno = d.docno
     WHERE d.docno > ? ORDER BY d.docno LIMIT ?`,
  )
  const keep = db.prepare('UPDATE doc SET expires_at=?, flags=? WHERE docno=?')
  const settle = db.prepare("UPDATE url SET outcome='refused', reason='filtered' WHERE id=?")
  const forget = db.prepare(
    `UPDATE url SET etag=NULL, modified=NULL
     WHERE id IN (SELECT url_id FROM word_hit WHERE policy IN ('mask', 'drop'))`,
  )
  return {
    putWordHits(urlId, hits) {
      remove.run(urlId)
      for (const { list, policy, word, hits: count, place } of hits)
        insert.run(urlId, list, word, policy, count, place)
    },
    wordHitsOf: (urlId) => hitsOf.all(urlId),
    wordTally: (limit) => tally.all(limit),
    wholeDocumentsAfter: (docno, limit) =>
      after.all(docno, limit).map(({ body, rest, extra, ...row }) => ({
        ...row,
        text: unpackText(body),
        rest: unpackText(rest),
        extra: JSON.parse(extra) as DocumentExtra,
      })),
    keepWishes: (docno, { expiresAtMs, flags }) => void keep.run(expiresAtMs, flags, docno),
    settleFiltered: (urlId) => void settle.run(urlId),
    forgetFilteredValidators: () => void forget.run(),
  }
}
