/** How many pages link to a URL, and what that is worth in the queue. Counted in memory, written at each doubling: a link alone costs no write. */
import type { Db } from '../lib/sqlite.ts'
import type { Lease } from './frontier.ts'
import { queuedState } from './frontier-rows.ts'

export type Moved = { id: number; sourceId: number; priority: number }

export type RowsOfLinks = {
  /** In a transaction. @returns the row where it has moved up in its queue, else null */
  noted(hostId: number, path: string, pages: number): Moved | null
}

/** So many pages move a URL up by one, and each doubling by one more, up to this many: together as much as one link nearer to the start. */
const pagesMin = 4
const pagesMax = 32
/** Seeds, lists and what feeds name stay before it. */
const priorityMin = 2

/** Whether that many pages are written down: fewer are too many to write, of more the size is enough. */
export const isStep = (pages: number): boolean =>
  pages >= pagesMin &&
  (pages & (pages - 1)) === 0 &&
  (pages <= pagesMax || (pages & fourfold) !== 0)
/** 128, 512, 2,048 ... */
const fourfold = 0x2aaaaa80

/** The links of a page count once, however often it is read again. */
export const isFirstVisit = ({ history }: Lease): boolean =>
  !history.some(({ outcome }) => outcome === 'stored' || outcome === 'duplicate')

export function rowsOfLinks(db: Db): RowsOfLinks {
  // Counts are forgotten with the keys that are remembered: one that begins anew says nothing before it is larger.
  const note = db.prepare<Moved & { state: number }>(
    `UPDATE url SET inlinks = ?, prio = CASE WHEN state = ${queuedState} AND prio > ${priorityMin} THEN prio - ? ELSE prio END
     WHERE host = ? AND path = ? AND inlinks < ? RETURNING id, source AS sourceId, state, prio AS priority`,
  )
  return {
    noted(hostId, path, pages) {
      const isWorthAPlace = pages >= pagesMin && pages <= pagesMax
      const row = note.get(pages, isWorthAPlace ? 1 : 0, hostId, path, pages)
      return row !== undefined && isWorthAPlace && row.state === queuedState ? row : null
    },
  }
}
