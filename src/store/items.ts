/** Documents that stand on the page of another URL: which on which. Their rows in the URL table are never in the queue. */
import { splitUrl } from '../lib/url.ts'
import type { Db } from '../lib/sqlite.ts'
import type { Hosts } from './hosts.ts'

export type ItemTable = {
  /**
   * The row of an item, made where it is new, and noted as standing on `parent`. In a transaction.
   * @returns null where the URL is that of a page that is fetched itself
   */
  putItem(
    url: string,
    parent: { urlId: number; sourceId: number; depth: number },
    nowMs: number,
  ): number | null
  /** URL ids; in the order in which they came. */
  itemsOf(parentUrlId: number): { urlId: number; isMissing: boolean }[]
  /** They were not on their page at its last visit. In a transaction. */
  markMissing(parentUrlId: number): void
  /** The item is on no page any more; its document is removed elsewhere. In a transaction. */
  dropItem(urlId: number): void
  /** The page that it stands on. */
  parentOf(urlId: number): string | null
}

/** No source is newer: a link to the item never has it fetched. */
const itemEpoch = 2 ** 31 - 1
const itemReason = 'item'

type Row = { id: number; epoch: number; outcome: string | null; reason: string | null }

export function createItemTable(db: Db, hosts: Hosts): ItemTable {
  const find = db.prepare<Row>(
    'SELECT u.id, u.epoch, u.outcome, u.reason FROM host h JOIN url u ON u.host = h.id WHERE h.origin=? AND u.path=?',
  )
  const insert = db.prepare(
    `INSERT INTO url(host, path, source, epoch, depth, state, outcome, reason, fetched_at)
     VALUES(?, ?, ?, ?, ?, 2, 'item', NULL, ?)`,
  )
  const confirm = db.prepare(
    `UPDATE url SET source=?, epoch=?, depth=?, state=2, outcome='item', reason=NULL, next_at=NULL, fetched_at=? WHERE id=?`,
  )
  const note = db.prepare(
    `INSERT INTO item(url_id, parent, missing) VALUES(?, ?, 0)
     ON CONFLICT(url_id) DO UPDATE SET parent=excluded.parent, missing=0`,
  )
  const ofParent = db.prepare<{ urlId: number; missing: number }>(
    'SELECT url_id AS urlId, missing FROM item WHERE parent=? ORDER BY url_id',
  )
  const mark = db.prepare('UPDATE item SET missing=1 WHERE parent=?')
  const remove = db.prepare('DELETE FROM item WHERE url_id=?')
  const settle = db.prepare(
    `UPDATE url SET outcome='gone', reason='${itemReason}', epoch=0 WHERE id=?`,
  )
  const parent = db.prepare<{ url: string }>(
    `SELECT h.origin || u.path AS url FROM item i JOIN url u ON u.id = i.parent JOIN host h ON h.id = u.host
     WHERE i.url_id=?`,
  )
  const isOurs = ({ epoch, outcome, reason }: Row): boolean =>
    epoch === itemEpoch || (outcome === 'gone' && reason === itemReason)
  return {
    putItem(url, { urlId, sourceId, depth }, nowMs) {
      const { origin, path } = splitUrl(url)
      const known = find.get(origin, path)
      if (known !== undefined && !isOurs(known)) return null
      const atMs = Math.round(nowMs)
      let id = known?.id
      if (id === undefined) {
        const row = insert.run(hosts.hostId(origin), path, sourceId, itemEpoch, depth, atMs)
        id = Number(row.lastInsertRowid)
      } else confirm.run(sourceId, itemEpoch, depth, atMs, id)
      note.run(id, urlId)
      return id
    },
    itemsOf: (parentUrlId) =>
      ofParent.all(parentUrlId).map(({ urlId, missing }) => ({ urlId, isMissing: missing === 1 })),
    markMissing: (parentUrlId) => void mark.run(parentUrlId),
    dropItem(urlId) {
      remove.run(urlId)
      settle.run(urlId)
    },
    parentOf: (urlId) => parent.get(urlId)?.url ?? null,
  }
}
