/** URL rows seen from outside the queue: what is known of one address, and addresses that come with an import. The queue is the frontier's. */
import { splitUrl } from '../lib/url.ts'
import type { Db } from '../lib/sqlite.ts'
import type { Hosts } from './hosts.ts'

export type UrlState = 'queued' | 'waiting' | 'settled' | 'aside'

/** What is known of one URL. `outcome` is the kind of its last settlement, null before the first. */
export type UrlRow = {
  id: number
  sourceId: number
  epoch: number
  state: UrlState
  priority: number
  depth: number
  tries: number
  status: number | null
  outcome: string | null
  reason: string | null
  nextAtMs: number | null
  fetchedAtMs: number | null
  etag: string | null
  modified: string | null
  kind: number
  /** As the newest list has it. */
  lastmodMs: number | null
  /** The last visits, packed. */
  history: Uint8Array | null
}

export type Urls = {
  /** @param url canonical */
  urlRow(url: string): UrlRow | null
  /** The row of a document that did not come from the network, made as settled where it is new. In a transaction. */
  importedUrl(url: string, sourceId: number, nowMs: number): { urlId: number; isNew: boolean }
  /** Keyset pages over all URLs ever known, for a filter that is made anew. */
  urlsAfter(urlId: number, limit: number): { id: number; url: string }[]
}

const states: readonly UrlState[] = ['queued', 'waiting', 'settled', 'aside']

export function createUrls(db: Db, hosts: Hosts): Urls {
  const find = db.prepare<Omit<UrlRow, 'state'> & { state: number }>(
    `SELECT u.id, u.source AS sourceId, u.epoch, u.state, u.prio AS priority, u.depth, u.tries, u.status, u.outcome,
       u.reason, u.next_at AS nextAtMs, u.fetched_at AS fetchedAtMs, u.etag, u.modified,
       u.kind, u.lastmod AS lastmodMs, u.history
     FROM host h JOIN url u ON u.host = h.id WHERE h.origin=? AND u.path=?`,
  )
  const insert = db.prepare(
    `INSERT INTO url(host, path, source, epoch, state, outcome, fetched_at) VALUES(?, ?, ?, ?, 2, 'imported', ?)
     ON CONFLICT DO NOTHING`,
  )
  const markImported = db.prepare("UPDATE url SET outcome='imported', fetched_at=? WHERE id=?")
  const after = db.prepare<{ id: number; url: string }>(
    `SELECT u.id, h.origin || u.path AS url FROM url u JOIN host h ON h.id = u.host
     WHERE u.id > ? ORDER BY u.id LIMIT ?`,
  )
  return {
    urlRow(url) {
      const { origin, path } = splitUrl(url)
      const row = find.get(origin, path)
      return row === undefined ? null : { ...row, state: states[row.state] ?? 'settled' }
    },
    importedUrl(url, sourceId, nowMs) {
      const { origin, path } = splitUrl(url)
      const known = find.get(origin, path)
      if (known !== undefined) {
        // One that still waits for its first visit keeps its place in the queue.
        if (known.outcome === null) markImported.run(Math.round(nowMs), known.id)
        return { urlId: known.id, isNew: false }
      }
      const hostId = hosts.hostId(origin)
      const { lastInsertRowid } = insert.run(hostId, path, sourceId, sourceId, Math.round(nowMs))
      return { urlId: Number(lastInsertRowid), isNew: true }
    },
    urlsAfter: (urlId, limit) => after.all(urlId, limit),
  }
}
