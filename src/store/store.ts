/** The engine's side of the store: the one writable connection, its transactions, and all tables but those of queue and index. */
import type { Log } from '../lib/log.ts'
import { openDatabase, type Db, type OpenOptions } from '../lib/sqlite.ts'
import { createCopies, type Copies } from './copies.ts'
import { createChangeTable, type ChangeTable } from './changes.ts'
import { createDescribedSources, type DescribedSources } from './described-sources.ts'
import { createDistinctTable, type DistinctTable } from './distinct.ts'
import { createDocumentWrites, type DocumentWrites } from './documents.ts'
import { createExpiryTable, type ExpiryTable } from './expiry.ts'
import { createHostRulesTable, type HostRulesTable } from './host-rules.ts'
import { createHostPages, type HostPages } from './host-pages.ts'
import { createHosts, type Hosts } from './hosts.ts'
import { createInbound, type Inbound } from './inbound.ts'
import { createItemTable, type ItemTable } from './items.ts'
import { type KeywordKey, plainKeywordKey } from './keyword-table.ts'
import { createJobTable, type JobTable } from './jobs.ts'
import { createMeta, fingerprintSeedOf, makeCursorKey, type Meta } from './meta.ts'
import { createDocumentReads, type DocumentReads } from './read-documents.ts'
import type { StoreStats } from './records.ts'
import { createRunTable, type RunTable } from './runs.ts'
import { migrations } from './schema.ts'
import { createStats } from './stats.ts'
import { upgrade } from './upgrade.ts'
import { createUrls, type Urls } from './urls.ts'
import { createWordHits, type WordHits } from './word-hits.ts'

export type { JobRow, Source } from './jobs.ts'
export type { DocumentInput, Promoted, PutDocument } from './documents.ts'

export type Store = DocumentReads &
  Omit<DocumentWrites, 'saveMarks'> &
  Hosts &
  HostPages &
  Omit<Inbound, 'saveLinkChanges'> &
  HostRulesTable &
  ItemTable &
  JobTable &
  DescribedSources &
  RunTable &
  DistinctTable &
  ExpiryTable &
  Copies &
  ChangeTable &
  Urls &
  WordHits & {
    readonly db: Db
    readonly meta: Meta
    /** 32 bits, unsigned; chosen at random when the directory was made. */
    readonly fingerprintSeed: number
    /** All or nothing. Everything of the store that writes is called inside one. */
    transaction<R>(work: () => R): R
    stats(): StoreStats
    close(): void
  }

export type StoreOptions = Pick<OpenOptions, 'cacheKb' | 'synchronous'> & {
  now?: () => number
  /** Whoever writes documents gives it. */
  keywordKey?: KeywordKey
  /** Hears of an upgrade. */
  log?: Log
}

/**
 * Opens a data file, makes it where it is missing and brings its tables up to date, after a copy.
 * @throws AppError as openDatabase and upgrade
 */
export function openStore(
  file: string,
  { now = Date.now, log = () => {}, keywordKey = plainKeywordKey, ...options }: StoreOptions = {},
): Store {
  const db = openDatabase(file, options)
  try {
    upgrade(db, migrations, log)
    return assemble(db, now, keywordKey)
  } catch (error) {
    db.close()
    throw error
  }
}

function assemble(db: Db, now: () => number, keywordKey: KeywordKey): Store {
  const meta = createMeta(db)
  makeCursorKey(db, meta)
  const hosts = createHosts(db)
  const writes = createDocumentWrites(db, meta, keywordKey)
  const inbound = createInbound(db, meta)
  return {
    ...createDocumentReads(db),
    ...writes,
    ...hosts,
    ...createHostPages(db),
    ...inbound,
    ...createHostRulesTable(db),
    ...createItemTable(db, hosts),
    ...createJobTable(db, now),
    ...createDescribedSources(db, now),
    ...createRunTable(db),
    ...createDistinctTable(db),
    ...createExpiryTable(db),
    ...createCopies(db),
    ...createChangeTable(db),
    ...createUrls(db, hosts),
    ...createWordHits(db),
    db,
    meta,
    fingerprintSeed: fingerprintSeedOf(db, meta),
    transaction(work) {
      try {
        return db.transaction(() => {
          const result = work()
          writes.saveMarks()
          inbound.saveLinkChanges()
          return result
        })
      } catch (error) {
        writes.rolledBack()
        throw error
      }
    },
    stats: createStats(db, meta),
    close: () => db.close(),
  }
}
