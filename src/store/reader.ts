/** The store as a thread sees it that only reads: documents and figures over a connection of its own. Never writes, never waits for the writer. */
import { openDatabase, type Db } from '../lib/sqlite.ts'
import { createMeta, type Meta } from './meta.ts'
import { createDocumentReads, type DocumentReads } from './read-documents.ts'
import type { StoreStats } from './records.ts'
import { createStats } from './stats.ts'

export type Reader = DocumentReads & {
  /** For the index and its own statements; transactions on it end soon, because an open one holds the log. */
  readonly db: Db
  meta(key: Parameters<Meta['get']>[0]): string | null
  stats(): StoreStats
  close(): void
}

const busyTimeoutMs = 1_000

/**
 * @param file of a database that a store has opened before: it has its tables
 * @throws AppError as openDatabase
 */
export function openReader(file: string, options: { cacheKb?: number } = {}): Reader {
  const db = openDatabase(file, { ...options, readonly: true, busyTimeoutMs })
  const meta = createMeta(db)
  return {
    ...createDocumentReads(db),
    db,
    meta: (key) => meta.get(key),
    stats: createStats(db, meta),
    close: () => db.close(),
  }
}
