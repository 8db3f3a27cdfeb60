/** Groups of copies as the administrator sees them: who is the original, how near the others are, and why. Reads only. */
import type { Db } from '../lib/sqlite.ts'
import { documentKey } from './read-documents.ts'

/** What speaks for the original: its copy names it as canonical; it was known earlier; its address is shorter; it is on another host. */
export type OriginReason = 'canonical' | 'earlier' | 'shorter' | 'other-host'

export type CopyMember = {
  id: string
  url: string
  title: string
  kind: 'original' | 'near' | 'exact'
  /** To the original: 0..1, and how many of 64 bits of the SimHash differ. */
  similarity: number
  distance: number
  /** Empty for the original. */
  reasons: OriginReason[]
}

export type CopyGroup = {
  /** As in `DocumentRecord.group`. */
  group: string
  pages: number
  /** The original first, then the most similar; at most `membersMax`. */
  members: CopyMember[]
}

export type CopyGroups = {
  groups: CopyGroup[]
  /** Where the next page goes on; null after the last. */
  cursor: number | null
}

export type CopyCounts = {
  exact: number
  near: number
  groups: number
  /** Those with most copies first. */
  hosts: { host: string; exact: number; near: number }[]
}

export type Copies = {
  /** Keyset pages by the number of the group, that pass over pages without copies. Begin with null. */
  copyGroupsAfter(cursor: number | null, limit: number): CopyGroups
  /** The original of a page that is a copy, with what speaks for it; null for any other page. */
  originOf(urlId: number): (CopyMember & { original: string }) | null
  /** Reads the copies of all hosts, in an index. */
  copyCounts(hostsMax: number): CopyCounts
}

const membersMax = 20
const centreRole = 0
const exactRole = 3

type Row = {
  urlId: number
  grp: number
  role: number
  similarity: number | null
  distance: number | null
  host: number
  url: string
  title: string
  canonical: string | null
}

const memberQuery = (from = 'fingerprint'): string => `
  SELECT f.url_id AS urlId, f.grp, f.role, f.similarity, f.distance, f.host, h.origin || u.path AS url, coalesce(d.title, '') AS title,
    json_extract(t.extra, '$.canonical') AS canonical
  FROM ${from} f JOIN url u ON u.id = f.url_id JOIN host h ON h.id = u.host
    LEFT JOIN doc d ON d.url_id = f.url_id LEFT JOIN doc_text t ON t.docno = d.docno`

export function createCopies(db: Db): Copies {
  const groups = db.prepare<{ grp: number; pages: number }>(
    // Of each group the centre alone is no copy: its copies are found in an index of nothing else.
    `SELECT grp, count(*) + 1 AS pages FROM fingerprint INDEXED BY fingerprint_copies WHERE role <> 0 AND grp > ?
     GROUP BY grp ORDER BY grp LIMIT ?`,
  )
  const members = db.prepare<Row>(
    // Those that are shown first, or the texts of a whole group would be read.
    `${memberQuery('(SELECT * FROM fingerprint WHERE grp = ? ORDER BY role <> 0, similarity DESC, url_id LIMIT ?)')}
     ORDER BY f.role <> 0, f.similarity DESC, f.url_id`,
  )
  const one = db.prepare<Row>(`${memberQuery()} WHERE f.url_id = ?`)
  const centre = db.prepare<Row>(`${memberQuery()} WHERE f.grp = ? AND f.role = 0`)
  const holder = db.prepare<{ urlId: number | null }>(
    'SELECT copy_of AS urlId FROM doc WHERE url_id = ?',
  )
  const byHost = db.prepare<{ host: string; exact: number; near: number }>(
    `SELECT h.origin AS host, sum(f.role = 3) AS exact, sum(f.role IN (1, 2)) AS near
     FROM fingerprint f INDEXED BY fingerprint_copies JOIN host h ON h.id = f.host WHERE f.role <> 0 GROUP BY f.host
     ORDER BY count(*) DESC, h.origin`,
  )
  const manyGroups = db.prepare<{ n: number }>(
    'SELECT count(DISTINCT grp) AS n FROM fingerprint INDEXED BY fingerprint_copies WHERE role <> 0',
  )
  return {
    copyGroupsAfter(cursor, limit) {
      const rows = groups.all(cursor ?? Number.MIN_SAFE_INTEGER, limit)
      return {
        groups: rows.map(({ grp, pages }) => {
          const all = members.all(grp, membersMax)
          const original = all.find(({ role }) => role === centreRole)
          return {
            group: `g${grp}`,
            pages,
            members: all.map((row) => memberOf(row, original)),
          }
        }),
        cursor: rows.length < limit ? null : (rows.at(-1)?.grp ?? null),
      }
    },
    originOf(urlId) {
      const row = one.get(urlId)
      if (row === undefined || row.role === centreRole) return null
      // An exact copy has its text from its twin, which may be a near copy of the centre itself.
      const twin = row.role === exactRole ? holder.value(urlId) : null
      const original = twin ? one.get(twin) : centre.get(row.grp)
      return original === undefined ? null : { ...memberOf(row, original), original: original.url }
    },
    copyCounts(hostsMax) {
      const hosts = byHost.all()
      const sum = (of: 'exact' | 'near'): number => hosts.reduce((all, host) => all + host[of], 0)
      return {
        exact: sum('exact'),
        near: sum('near'),
        groups: manyGroups.value() ?? 0,
        hosts: hosts.slice(0, hostsMax),
      }
    },
  }
}

function memberOf(row: Row, original: Row | undefined): CopyMember {
  const { url, title, role, similarity, distance } = row
  const isOriginal = role === centreRole || original === undefined || original.urlId === row.urlId
  return {
    id: documentKey(url),
    url,
    title,
    kind: isOriginal ? 'original' : role === exactRole ? 'exact' : 'near',
    similarity: similarity ?? 1,
    distance: distance ?? 0,
    reasons: isOriginal ? [] : reasonsFor(original, row),
  }
}

/** What is known that speaks for the original; where nothing does it was merely the first in its group. */
function reasonsFor(original: Row, copy: Row): OriginReason[] {
  const reasons: OriginReason[] = []
  if (copy.canonical === original.url) reasons.push('canonical')
  if (original.urlId < copy.urlId) reasons.push('earlier')
  if (original.url.length < copy.url.length) reasons.push('shorter')
  if (original.host !== copy.host) reasons.push('other-host')
  return reasons
}
