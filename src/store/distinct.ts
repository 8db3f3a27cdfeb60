/** How many different things were met, as HyperLogLog: 16 KB each however many there are. Who counts what is crawl/distinct.ts. */
import { createHyperLogLog } from '../lib/hyperloglog.ts'
import { AppError } from '../lib/errors.ts'
import type { Db } from '../lib/sqlite.ts'
import type { DistinctCounts } from './records.ts'

export const distinctNames = ['urls', 'hosts', 'contents'] as const
export type DistinctName = (typeof distinctNames)[number]

export type DistinctTable = {
  /** Null where nothing is stored. */
  distinctRegisters(name: DistinctName): Uint8Array | null
  /** In a transaction of the caller. */
  putDistinctRegisters(name: DistinctName, registers: Uint8Array): void
  /** Keyset pages over the digests of all main texts but empty ones. */
  digestsAfter(urlId: number, limit: number): { urlId: number; digest: Uint8Array }[]
}

export function createDistinctTable(db: Db): DistinctTable {
  const find = db.prepare<{ registers: Uint8Array }>(
    'SELECT registers FROM distinct_count WHERE name=?',
  )
  const put = db.prepare(
    'INSERT INTO distinct_count(name, registers) VALUES(?, ?) ON CONFLICT DO UPDATE SET registers=excluded.registers',
  )
  const digests = db.prepare<{ urlId: number; digest: Uint8Array }>(
    'SELECT url_id AS urlId, digest FROM fingerprint WHERE url_id > ? AND tokens > 0 ORDER BY url_id LIMIT ?',
  )
  return {
    distinctRegisters: (name) => find.value(name) ?? null,
    putDistinctRegisters: (name, registers) => void put.run(name, registers),
    digestsAfter: (urlId, limit) => digests.all(urlId, limit),
  }
}

/** The three counts as they were stored last: 50 us each. What was never counted, or is damaged, counts 0. */
export function createDistinctCounts(db: Db): () => DistinctCounts {
  const table = createDistinctTable(db)
  const count = (name: DistinctName): number => {
    const registers = table.distinctRegisters(name)
    if (registers === null) return 0
    try {
      return createHyperLogLog(registers).count()
    } catch (error) {
      if (error instanceof AppError) return 0
      throw error
    }
  }
  return () => ({ urls: count('urls'), hosts: count('hosts'), contents: count('contents') })
}
