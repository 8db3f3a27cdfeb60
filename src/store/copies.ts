/** Groups of copies as the administrator sees them: who is the original, how near the others are, and why. Reads only. */
import type { Db } from '../lib/sqlite.ts'
import { createOriginals, type Original, type OriginReason } from './originals.ts'
import { documentKey } from './read-documents.ts'

export type { OriginReason }

export type CopyMember = {
  id: string
  url: string
  title: string
  kind: 'original' | 'near' | 'exact'
  /** To the page that holds the group together: 0..1, and how many of 64 bits of the SimHash differ. */
  similarity: number
  distance: number
  /** What speaks for the original, the decisive first; empty for the original itself. */
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

type Row = {
  urlId: number
  grp: number
  role: number
  similarity: number | null
  distance: number | null
  digest: Uint8Array
  url: string
  title: string
  canonical: string | null
  sinceMs: number
  inlinks: number
}

const memberQuery = (from = 'fingerprint'): string => `
  SELECT f.url_id AS urlId, f.grp, f.role, f.similarity, f.distance, f.digest, h.origin || u.path AS url, coalesce(d.title, '') AS title,
    json_extract(t.extra, '$.canonical') AS canonical, coalesce(f.since, 0) AS sinceMs, u.inlinks
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
  const originals = createOriginals(db)
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
          const original = originals.originalOf(grp)
          const source = original === null ? undefined : one.get(original.urlId)
          // Of a large group it need not be among those that are shown.
          const others = members.all(grp, membersMax).filter(({ urlId }) => urlId !== source?.urlId)
          const all = source === undefined ? others : [source, ...others].slice(0, membersMax)
          return {
            group: `g${grp}`,
            pages,
            members: all.map((row) => memberOf(row, original, source)),
          }
        }),
        cursor: rows.length < limit ? null : (rows.at(-1)?.grp ?? null),
      }
    },
    originOf(urlId) {
      const row = one.get(urlId)
      const original = row === undefined ? null : originals.originalOf(row.grp)
      if (row === undefined || original === null || original.urlId === urlId) return null
      return { ...memberOf(row, original, one.get(original.urlId)), original: original.url }
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

function memberOf(row: Row, original: Original | null, source: Row | undefined): CopyMember {
  const { url, title, similarity, distance } = row
  const isOriginal = original === null || original.urlId === row.urlId
  const isExact = source !== undefined && Buffer.compare(source.digest, row.digest) === 0
  return {
    id: documentKey(url),
    url,
    title,
    kind: isOriginal ? 'original' : isExact ? 'exact' : 'near',
    similarity: isOriginal || isExact ? 1 : (similarity ?? 1),
    distance: isOriginal || isExact ? 0 : (distance ?? 0),
    reasons: isOriginal ? [] : original.reasonsAgainst(row),
  }
}
