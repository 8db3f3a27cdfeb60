/** What the sentences of the frontier's contract are written with: one frontier on one store, and short ways to use it. */
import assert from 'node:assert/strict'
import type { AddCounts, FoundUrl, Frontier, Lease, Settlement } from '../../src/crawl/frontier.ts'

export type FrontierOptions = {
  covers?: (wideSourceId: number, narrowSourceId: number) => boolean
  hostConnections?: number
}

/** One frontier on one store. */
export type FrontierBench = {
  frontier: Frontier
  /** Where the frontier shares the store: runs `work` in a transaction. Elsewhere: just runs it. */
  within<R>(work: () => R): R
  /** The process dies, a new one opens the same store. */
  crash(): FrontierBench
}
export type Open = (options?: FrontierOptions) => FrontierBench

export const hourMs = 3_600_000
export const found = (url: string, more: Partial<FoundUrl> = {}): FoundUrl => ({
  url,
  depth: 0,
  sourceId: 1,
  ...more,
})
export const stored = { kind: 'stored', status: 200 } as const satisfies Settlement

export const add = async (bench: FrontierBench, ...urls: FoundUrl[]): Promise<AddCounts> =>
  bench.within(() => bench.frontier.add(urls))

export async function settle(
  bench: FrontierBench,
  lease: Lease,
  settlement: Settlement = stored,
  links: FoundUrl[] = [],
  nowMs = 0,
): Promise<AddCounts> {
  const batch = [{ lease, settlement, links }]
  const counts = await bench.within(() => bench.frontier.settle(batch, nowMs))
  bench.frontier.settled(batch, true)
  return counts
}

export function mustTake(bench: FrontierBench, nowMs = 0): Lease {
  const lease = bench.frontier.take(nowMs)
  assert.ok(lease, 'expected a lease')
  return lease
}

/** Takes, releases and settles until nothing is to be had at this time. */
export async function drain(bench: FrontierBench, nowMs = 0): Promise<string[]> {
  const urls: string[] = []
  for (;;) {
    const lease = bench.frontier.take(nowMs)
    if (lease === null) return urls
    urls.push(lease.url)
    bench.frontier.release(lease, nowMs, 0)
    await settle(bench, lease, stored, [], nowMs)
  }
}

export type Start = (urls: FoundUrl[], options?: FrontierOptions) => Promise<FrontierBench>
