/** Queries that found something, each with how often it was asked. Of those who asked nothing is known here. */
import type { Db } from '../lib/sqlite.ts'

/** The least asked go beyond this, the oldest first. */
export const askedQueriesMax = 10_000

/** `folded`: what queries that differ only in case or width have in common. `text`: as it was written last. */
export type AskedQuery = { folded: string; text: string; count: number }

/** One transaction of its own. */
export function rememberQueries(db: Db, asked: readonly AskedQuery[], nowMs: number): void {
  const put = db.prepare(
    `INSERT INTO asked_query(folded, text, count, last_at) VALUES(?, ?, ?, ?)
     ON CONFLICT(folded) DO UPDATE SET text=excluded.text, count=count+excluded.count, last_at=excluded.last_at`,
  )
  const forget = db.prepare(
    `DELETE FROM asked_query WHERE folded IN
     (SELECT folded FROM asked_query ORDER BY count DESC, last_at DESC LIMIT -1 OFFSET ${askedQueriesMax})`,
  )
  db.transaction(() => {
    for (const { folded, text, count } of asked) put.run(folded, text, count, nowMs)
    forget.run()
  })
}

export function forgetQueries(db: Db): void {
  db.exec('DELETE FROM asked_query')
}

/** Asked at least `least` times, the most frequent first. */
export const frequentQueries = (db: Db, least: number, limit: number): AskedQuery[] =>
  db
    .prepare<AskedQuery>(
      'SELECT folded, text, count FROM asked_query WHERE count >= ? ORDER BY count DESC, last_at DESC LIMIT ?',
    )
    .all(least, limit)
