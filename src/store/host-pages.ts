/** Pages counted by host, for crawls that take only so many of each, and the URLs that were left out for it. */
import type { Db } from '../lib/sqlite.ts'

export type LeftOutUrl = {
  id: number
  sourceId: number
  origin: string
  path: string
  depth: number
  priority: number
}

export type HostPages = {
  /** Documents of these sources by the origin of their URL. Reads all of them once. */
  pagesByOrigin(sourceIds: readonly number[]): { origin: string; pages: number }[]
  hasDocument(urlId: number): boolean
  /** Settled as refused for this reason, in keyset pages. */
  refusedAfter(
    urlId: number,
    sourceIds: readonly number[],
    reason: string,
    limit: number,
  ): LeftOutUrl[]
}

export function createHostPages(db: Db): HostPages {
  const pages = db.prepare<{ origin: string; pages: number }>(
    `SELECT h.origin, count(*) AS pages FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = d.host
     WHERE u.source IN (SELECT value FROM json_each(?)) GROUP BY d.host`,
  )
  const has = db.prepare<{ one: number }>('SELECT 1 AS one FROM doc WHERE url_id=?')
  const refused = db.prepare<LeftOutUrl>(
    `SELECT u.id, u.source AS sourceId, h.origin, u.path, u.depth, u.prio AS priority
     FROM url u JOIN host h ON h.id = u.host
     WHERE u.id > ? AND u.state = 2 AND u.outcome = 'refused' AND u.reason = ?
       AND u.source IN (SELECT value FROM json_each(?)) ORDER BY u.id LIMIT ?`,
  )
  return {
    pagesByOrigin: (sourceIds) => pages.all(JSON.stringify(sourceIds)),
    hasDocument: (urlId) => has.get(urlId) !== undefined,
    refusedAfter: (urlId, sourceIds, reason, limit) =>
      refused.all(urlId, reason, JSON.stringify(sourceIds), limit),
  }
}
