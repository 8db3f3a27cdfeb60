/** Documents whose time is over: those that said so themselves, and those that were not confirmed for long. */
import type { Db } from '../lib/sqlite.ts'

export type ConfirmedRow = { docno: number; urlId: number; sourceId: number; fetchedAtMs: number }

export type ExpiryTable = {
  /** URL ids of documents that are not to be shown after `nowMs`; at most `limit`. */
  expiredBy(nowMs: number, limit: number): number[]
  /** All documents in keyset pages, with the source of each and when it was last confirmed. */
  confirmedAfter(docno: number, limit: number): ConfirmedRow[]
  /** It is asked for without a condition at its next visit: what it had is gone. In a transaction. */
  forgetAnswer(urlId: number, reason: string): void
}

export function createExpiryTable(db: Db): ExpiryTable {
  const expired = db.prepare<{ urlId: number }>(
    'SELECT url_id AS urlId FROM doc WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?',
  )
  const confirmed = db.prepare<ConfirmedRow>(
    `SELECT d.docno, d.url_id AS urlId, u.source AS sourceId, d.fetched_at AS fetchedAtMs
     FROM doc d JOIN url u ON u.id = d.url_id WHERE d.docno > ? ORDER BY d.docno LIMIT ?`,
  )
  const forget = db.prepare(
    "UPDATE url SET etag=NULL, modified=NULL, outcome='missing', reason=? WHERE id=?",
  )
  return {
    expiredBy: (nowMs, limit) => expired.all(Math.round(nowMs), limit).map(({ urlId }) => urlId),
    confirmedAfter: (docno, limit) => confirmed.all(docno, limit),
    forgetAnswer(urlId, reason) {
      forget.run(reason, urlId)
    },
  }
}
