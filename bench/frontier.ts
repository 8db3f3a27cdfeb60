/** What the frontier costs: microseconds of CPU a take, a link and a settlement, with 1,000 to 1,000,000 URLs queued. */
import assert from 'node:assert'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFrontier, type SqliteFrontier } from '../src/crawl/frontier-sqlite.ts'
import type { FoundUrl, Lease, Settled } from '../src/crawl/frontier.ts'
import { openStore, type Store } from '../src/store/store.ts'

const hosts = 20
const batchPages = 100
/** Of pages without links, and as many of pages with links: the difference is theirs. */
const batches = 4
const rowsOf = (process.argv[2] ?? '1000,100000,1000000').split(',').map(Number)

/** Links of a page as real sites have them: navigation, pages met before, and new ones. */
const navigationLinks = 55
const knownLinks = 30
const newLinks = 5
const linksPerPage = navigationLinks + knownLinks + newLinks

type Figures = {
  rows: number
  openMs: number
  activateMs: number
  takeUs: number
  linkUs: number
  settleUs: number
  bytesPerRow: number
}

function timedUs<R>(work: () => R): [us: number, result: R] {
  const start = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(start)
  return [user + system, result]
}

const foundUrl = (host: number, n: number): FoundUrl => ({
  url: `https://www.site-${host}.test/section-${n % 50}/article-${n}.html`,
  sourceId: 1,
  depth: 1 + Math.floor(n / 1_000),
})
const options = { covers: () => false, now: Date.now }

/** @returns bytes of the file for each row */
function fill(file: string, rows: number): number {
  const store = openStore(file)
  const frontier = openFrontier(store, options)
  const chunk = 500
  for (let from = 0; from < rows / hosts; from += chunk) {
    const count = Math.min(chunk, rows / hosts - from)
    store.transaction(() => {
      for (let host = 0; host < hosts; host++)
        frontier.add(Array.from({ length: count }, (_, i) => foundUrl(host, from + i)))
    })
  }
  frontier.close()
  store.close()
  return statSync(file).size / rows
}

function takeBatch(frontier: SqliteFrontier): Lease[] {
  return Array.from({ length: batchPages }, () => {
    const lease = frontier.take(0)
    assert(lease, 'the queue is empty: too few rows for this bench')
    frontier.release(lease, 0, 0)
    return lease
  })
}

function commit(store: Store, frontier: SqliteFrontier, settled: readonly Settled[]): void {
  store.transaction(() => void frontier.settle(settled, 0))
  frontier.settled(settled, true)
}

function measure(file: string, rows: number): Figures {
  const bytesPerRow = fill(file, rows)
  const store = openStore(file)
  const [openUs, frontier] = timedUs(() => openFrontier(store, options))
  const [activateUs] = timedUs(() => frontier.activate([1]))
  const perHost = rows / hosts
  let fresh = perHost
  const linksOf = ({ url }: Lease): FoundUrl[] => {
    const host = Number(/site-(\d+)/.exec(url)?.[1])
    const near = Number(/article-(\d+)/.exec(url)?.[1])
    return Array.from({ length: linksPerPage }, (_, i) => {
      if (i < navigationLinks) return foundUrl(host, i)
      if (i < navigationLinks + knownLinks) return foundUrl(host, (near + i * 7) % perHost)
      return foundUrl(host, fresh++)
    })
  }
  const sums = { take: 0, bare: 0, linked: 0 }
  for (let batch = 0; batch < 2 * batches; batch++) {
    const hasLinks = batch % 2 === 1
    const [takeUs, leases] = timedUs(() => takeBatch(frontier))
    const settled = leases.map((lease): Settled => ({
      lease,
      settlement: { kind: 'refused', status: 200, reason: 'bench' },
      links: hasLinks ? linksOf(lease) : [],
    }))
    const [settleUs] = timedUs(() => commit(store, frontier, settled))
    sums.take += takeUs
    sums[hasLinks ? 'linked' : 'bare'] += settleUs
  }
  frontier.close()
  store.close()
  const pages = batches * batchPages
  return {
    rows,
    openMs: openUs / 1_000,
    activateMs: activateUs / 1_000,
    takeUs: sums.take / (2 * pages),
    linkUs: (sums.linked - sums.bare) / (pages * linksPerPage),
    settleUs: sums.bare / pages,
    bytesPerRow,
  }
}

const rounded = (figures: Figures): Figures =>
  Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(value * 10) / 10]),
  ) as Figures

const folder = mkdtempSync(join(tmpdir(), 'findling-bench-'))
try {
  // A first run warms the code up and is not shown.
  measure(join(folder, 'warm.db'), 1_000)
  const results = rowsOf.map((rows) => rounded(measure(join(folder, `${rows}.db`), rows)))
  console.table(results)
  console.log(`RESULT ${JSON.stringify({ hosts, batchPages, linksPerPage, results })}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
