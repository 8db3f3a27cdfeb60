/** How much there is, in figures. Documents are counted anew only when some have changed: that reads all their rows. */
import type { Db } from '../lib/sqlite.ts'
import type { Meta } from './meta.ts'
import type { StoreStats } from './records.ts'

const languagesMax = 100

type Counted = Pick<
  StoreStats,
  'documents' | 'hosts' | 'exact_copies' | 'near_copies' | 'groups' | 'languages' | 'newest'
>

/** @returns a function that reads one consistent state, within or outside a transaction */
export function createStats(db: Db, meta: Meta): () => StoreStats {
  const countDocuments = createDocumentCounts(db)
  const countUrls = db.prepare<{ urls: number; queued: number }>(
    // No URL is ever forgotten, so the highest id is their number: counting them would read the whole table.
    `SELECT (SELECT coalesce(max(id), 0) FROM url) AS urls, (SELECT count(*) FROM url WHERE state = 0) AS queued`,
  )
  let counted: Counted | null = null
  let countedGeneration = -1
  const read = (): StoreStats => {
    const generation = Number(meta.get('generation') ?? 0)
    if (counted === null || generation !== countedGeneration) {
      counted = countDocuments()
      countedGeneration = generation
    }
    const { urls = 0, queued = 0 } = countUrls.get() ?? {}
    const bytes = Number(db.pragma('page_count')) * Number(db.pragma('page_size'))
    return { ...counted, urls, queued, generation, database_bytes: bytes }
  }
  return () => (db.inTransaction ? read() : db.snapshot(read))
}

function createDocumentCounts(db: Db): () => Counted {
  const byLanguageAndHost = db.prepare<{ lang: string; host: number; n: number }>(
    'SELECT lang, host, count(*) AS n FROM doc GROUP BY lang, host',
  )
  const countExact = db.prepare<{ n: number }>(
    'SELECT count(*) AS n FROM doc WHERE copy_of IS NOT NULL',
  )
  const countGroups = db.prepare<{ groups: number; copies: number }>(
    `SELECT count(*) AS groups, coalesce(sum(n - 1), 0) AS copies
     FROM (SELECT count(*) AS n FROM fingerprint GROUP BY grp HAVING count(*) > 1)`,
  )
  const newest = db.prepare<{ fetchedAtMs: number }>(
    'SELECT fetched_at AS fetchedAtMs FROM doc ORDER BY docno DESC LIMIT 1',
  )
  return () => {
    const hosts = new Set<number>()
    const languages = new Map<string, number>()
    let documents = 0
    for (const { lang, host, n } of byLanguageAndHost.iterate()) {
      hosts.add(host)
      languages.set(lang, (languages.get(lang) ?? 0) + n)
      documents += n
    }
    const exactCopies = countExact.value() ?? 0
    const { groups = 0, copies = 0 } = countGroups.get() ?? {}
    const newestMs = newest.value()
    return {
      documents,
      hosts: hosts.size,
      exact_copies: exactCopies,
      near_copies: Math.max(0, copies - exactCopies),
      groups,
      languages: [...languages]
        .map(([value, count]) => ({ value, count }))
        .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
        .slice(0, languagesMax),
      newest: newestMs === undefined ? null : new Date(newestMs).toISOString(),
    }
  }
}
