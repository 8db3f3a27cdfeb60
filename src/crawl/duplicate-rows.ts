/** The table `fingerprint`: one row a page, read and written for duplicates.ts. Decides nothing, opens no transaction. */
import type { Db } from '../lib/sqlite.ts'
import type { Fingerprint } from '../text/fingerprint.ts'

/** Of the pages with one digest exactly one has a role below `exact`: the holder, whose copies the others are. */
export const roles = { centre: 0, witness: 1, near: 2, exact: 3 } as const
export type Role = (typeof roles)[keyof typeof roles]

export type Row = {
  urlId: number
  hostId: number
  digest: Uint8Array
  /** SimHash, 8 bytes little endian. */
  sim: Uint8Array
  /** 4 bytes each, little endian. */
  anchors: Uint8Array
  sketch: Uint8Array
  tokens: number
  figures: number
  numbers: number
  groupId: number
  role: Role
  /** To the centre of the group. */
  similarity: number
  distance: number
  /** Since when the page has this text, or one like it. */
  sinceMs: number
}

export type IndexedRow = Pick<Row, 'urlId' | 'hostId' | 'sim' | 'anchors'>
export type MemberRow = Pick<Row, 'urlId' | 'role' | 'similarity' | 'distance'>

export type Rows = ReturnType<typeof openRows>

const columns = `url_id AS urlId, host AS hostId, digest, sim, anchors, sketch, tokens, figures, numbers,
  grp AS groupId, role, similarity, distance, coalesce(since, 0) AS sinceMs`

export function openRows(db: Db) {
  const select = (rest: string) => db.prepare<Row>(`SELECT ${columns} FROM fingerprint ${rest}`)
  const ids = (rest: string) => db.prepare<{ id: number }>(`SELECT url_id AS id ${rest}`)
  const byUrl = select('WHERE url_id = ?')
  const holder = select('WHERE digest = ? AND role < 3 LIMIT 1')
  const centre = select('WHERE grp = ? AND role = 0')
  const witnesses = select('WHERE grp = ? AND role <= 1')
  const twin = ids('FROM fingerprint WHERE digest = ? AND role = 3 ORDER BY url_id LIMIT 1')
  const near = ids('FROM fingerprint WHERE grp = ? AND role IN (1, 2) ORDER BY url_id')
  const heir = ids(
    'FROM fingerprint WHERE grp = ? AND role IN (1, 2) ORDER BY similarity DESC, url_id LIMIT 1',
  )
  const count = db.prepare<{ n: number }>('SELECT count(*) AS n FROM fingerprint WHERE grp = ?')
  const all = db.prepare<{ n: number }>('SELECT count(*) AS n FROM fingerprint')
  const taken = db.prepare<{ n: number }>('SELECT 1 AS n FROM fingerprint WHERE grp = ? LIMIT 1')
  const least = db.prepare<{ n: number | null }>('SELECT min(grp) AS n FROM fingerprint')
  const insert = db.prepare(
    `INSERT INTO fingerprint(url_id, host, digest, sim, anchors, sketch, tokens, figures, numbers, grp, role, similarity,
       distance, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const remove = db.prepare('DELETE FROM fingerprint WHERE url_id = ?')
  const move = db.prepare(
    'UPDATE fingerprint SET grp = ?, role = ?, similarity = ?, distance = ? WHERE url_id = ?',
  )
  const moveTwins = db.prepare(
    'UPDATE fingerprint SET grp = ?, similarity = ?, distance = ? WHERE digest = ? AND role = 3',
  )
  const indexed = db.prepare<IndexedRow>(
    `SELECT url_id AS urlId, host AS hostId, sim, anchors FROM fingerprint
     WHERE url_id > ? AND role <= 1 AND tokens >= ? ORDER BY url_id LIMIT ?`,
  )
  const members = db.prepare<MemberRow>(
    `SELECT url_id AS urlId, role, similarity, distance FROM fingerprint WHERE grp = ?
     ORDER BY role <> 0, similarity DESC, url_id LIMIT ?`,
  )
  return {
    byUrl: (urlId: number) => byUrl.get(urlId),
    holder: (digest: Uint8Array) => holder.get(digest),
    centre: (groupId: number) => centre.get(groupId),
    /** The centre and its witnesses. */
    witnesses: (groupId: number) => witnesses.all(groupId),
    /** The next exact copy of a page that goes. */
    twin: (digest: Uint8Array) => twin.value(digest),
    /** Ids of all holders but the centre. Only ids: a group may be large. */
    near: (groupId: number) => near.all(groupId).map(({ id }) => id),
    /** The holder most like the centre. */
    heir: (groupId: number) => heir.value(groupId),
    size: (groupId: number) => count.value(groupId) ?? 0,
    count: () => all.value() ?? 0,
    isTaken: (groupId: number) => taken.value(groupId) !== undefined,
    leastGroup: () => least.value() ?? 0,
    indexed: (afterUrlId: number, tokensMin: number, limit: number) =>
      indexed.all(afterUrlId, tokensMin, limit),
    members: (groupId: number, limit: number) => members.all(groupId, limit),
    remove: (urlId: number) => void remove.run(urlId),
    insert(row: Row): void {
      const { urlId, hostId, digest, sim, anchors, sketch, tokens, figures, numbers } = row
      const place = [row.groupId, row.role, row.similarity, row.distance, Math.round(row.sinceMs)]
      insert.run(urlId, hostId, digest, sim, anchors, sketch, tokens, figures, numbers, ...place)
    },
    /** Writes the place of a holder, and with it that of its exact copies. */
    move(row: Row): void {
      move.run(row.groupId, row.role, row.similarity, row.distance, row.urlId)
      moveTwins.run(row.groupId, row.similarity, row.distance, row.digest)
    },
  }
}

/** The columns of a fingerprint. */
export function packFingerprint(
  print: Fingerprint,
): Omit<Row, 'urlId' | 'hostId' | keyof MemberRow | 'groupId' | 'sinceMs'> {
  const sim = new Uint8Array(8)
  const simView = new DataView(sim.buffer)
  simView.setUint32(0, print.simLo, true)
  simView.setUint32(4, print.simHi, true)
  const anchors = new Uint8Array(print.anchors.length * 4)
  const anchorView = new DataView(anchors.buffer)
  for (const [i, anchor] of print.anchors.entries()) anchorView.setUint32(i * 4, anchor, true)
  const { digest, sketch, tokens, figures, numbers } = print
  return { digest, sim, anchors, sketch, tokens, figures, numbers }
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function unpackSim({ sim }: Pick<Row, 'sim'>): { simHi: number; simLo: number } {
  const view = viewOf(sim)
  return { simHi: view.getUint32(4, true), simLo: view.getUint32(0, true) }
}

export function unpackAnchors({ anchors }: Pick<Row, 'anchors'>): Uint32Array {
  const view = viewOf(anchors)
  const unpacked = new Uint32Array(anchors.byteLength / 4)
  for (let i = 0; i < unpacked.length; i += 1) unpacked[i] = view.getUint32(i * 4, true)
  return unpacked
}
