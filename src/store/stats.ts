/** How much there is, in figures. Counting reads all rows: it is done anew only when some have changed, and of many not each time. */
import type { Db } from '../lib/sqlite.ts'
import { createDistinctCounts } from './distinct.ts'
import type { Meta } from './meta.ts'
import type { StoreStats } from './records.ts'

const languagesMax = 100
/** Fewer rows are counted in some milliseconds, at once. */
const rowsCountedAtOnce = 10_000
/** A count of more rows is kept a millisecond for each so many: 5 s for 100,000, so that counting takes no more than 1 % of a thread. */
const rowsPerMs = 20

type Counted = Pick<
  StoreStats,
  | 'documents'
  | 'hosts'
  | 'exact_copies'
  | 'near_copies'
  | 'groups'
  | 'languages'
  | 'newest'
  | 'distinct'
>

/**
 * @param nowMs a clock that only goes forward
 * @returns a function that reads one consistent state, within or outside a transaction; figures of many rows may be some seconds old
 */
export function createStats(
  db: Db,
  meta: Meta,
  nowMs: () => number = () => performance.now(),
): () => StoreStats {
  const countDocuments = createDocumentCounts(db)
  const lastUrl = db.prepare<{ urls: number }>(
    // No URL is ever forgotten, so the highest id is their number: counting them would read the whole table.
    'SELECT coalesce(max(id), 0) AS urls FROM url',
  )
  const countQueued = db.prepare<{ n: number }>('SELECT count(*) AS n FROM url WHERE state = 0')
  const documents = createKeptCount(countDocuments, (counted) => counted.documents, nowMs)
  const queued = createKeptCount(
    () => countQueued.value() ?? 0,
    (n) => n,
    nowMs,
  )
  let countedGeneration = -1
  const read = (): StoreStats => {
    const generation = Number(meta.get('generation') ?? 0)
    const counted = documents(generation !== countedGeneration)
    countedGeneration = counted.isNew ? generation : countedGeneration
    const bytes = Number(db.pragma('page_count')) * Number(db.pragma('page_size'))
    return {
      ...counted.value,
      urls: lastUrl.value() ?? 0,
      queued: queued(true).value,
      generation,
      database_bytes: bytes,
    }
  }
  return () => (db.inTransaction ? read() : db.snapshot(read))
}

/** Counts again when asked to, unless the last count had so many rows that it is to be kept for a while. */
function createKeptCount<T>(count: () => T, rowsOf: (value: T) => number, nowMs: () => number) {
  let last: { value: T; untilMs: number } | null = null
  return (isChanged: boolean): { value: T; isNew: boolean } => {
    if (last !== null && (!isChanged || nowMs() < last.untilMs))
      return { value: last.value, isNew: false }
    const value = count()
    const rows = rowsOf(value)
    last = { value, untilMs: rows < rowsCountedAtOnce ? 0 : nowMs() + rows / rowsPerMs }
    return { value, isNew: true }
  }
}

function createDocumentCounts(db: Db): () => Counted {
  const byLanguageAndHost = db.prepare<{ lang: string; host: number; n: number }>(
    'SELECT lang, host, count(*) AS n FROM doc GROUP BY lang, host',
  )
  const countExact = db.prepare<{ n: number }>(
    'SELECT count(*) AS n FROM doc WHERE copy_of IS NOT NULL',
  )
  const countGroups = db.prepare<{ groups: number; copies: number }>(
    // Of each group the centre alone is no copy.
    'SELECT count(DISTINCT grp) AS groups, count(*) AS copies FROM fingerprint WHERE role <> 0',
  )
  const newest = db.prepare<{ fetchedAtMs: number }>(
    'SELECT fetched_at AS fetchedAtMs FROM doc ORDER BY docno DESC LIMIT 1',
  )
  const distinct = createDistinctCounts(db)
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
      distinct: distinct(),
      newest: newestMs === undefined ? null : new Date(newestMs).toISOString(),
    }
  }
}
