/** What the crawl is told by the settings: its limits, and when pages and lists are visited again. */
import type { Config } from './config.ts'
import type { Revisits } from './crawl/commit.ts'
import type { CrawlLimits } from './crawl/crawl-tools.ts'

const retriesMax = 2
const hourMs = 3_600_000
/** What sitemaps.org allows to one file. */
const listUrlsMax = 50_000
const seedsMax = 1_000

export const crawlLimitsOf = (config: Config): CrawlLimits => ({
  connections: config.connections,
  batchPages: config['batch-pages'],
  batchBytes: config['batch-bytes'],
  batchMs: config['batch-ms'],
  diskFreeBytes: config['disk-free-mb'] * 1e6,
  recrawlMs: config['recrawl-days'] * 24 * hourMs,
  sitemaps: config.sitemaps as 'auto' | 'named' | 'off',
  listsPerHostMax: config['lists-max'],
  listUrlsMax,
  seedsMax,
  retriesMax,
  retryMs: config['retry-ms'],
})

/** A page is visited after `recrawl-days` at first, then by how often it changed; a list once a day, or more often where it grows. */
export const revisitsOf = (config: Config): Revisits => {
  const kind = config.recrawl as 'fixed' | 'adaptive'
  const intervalMinMs = config['recrawl-hours-min'] * hourMs
  const dayMs = 24 * hourMs
  const intervalMs = config['recrawl-days'] * dayMs
  return {
    page: { kind, intervalMs, intervalMinMs, intervalMaxMs: Math.max(intervalMs, intervalMs * 4) },
    list: { kind: 'adaptive', intervalMs: dayMs, intervalMinMs, intervalMaxMs: 7 * dayMs },
    confirmGoneMs: config['gone-hours'] * hourMs,
  }
}
