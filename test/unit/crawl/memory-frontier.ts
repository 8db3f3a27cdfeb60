/** A Frontier in memory: shows how small the contract is, and is the second implementation for its suite. Slow on purpose: it looks at every row. */
import type {
  AddCounts,
  FoundUrl,
  Frontier,
  FrontierCounts,
  Lease,
  Settled,
  Settlement,
} from '../../../src/crawl/frontier.ts'
import { splitUrl } from '../../../src/lib/url.ts'
import type { FrontierBench, FrontierOptions } from '../../suites/frontier.suite.ts'

type State = 'queued' | 'retry' | 'revisit' | 'settled'
type Row = Omit<Lease, 'alone' | 'history'> & {
  state: State
  priority: number
  epoch: number
  nextAtMs: number
  /** Its last visit was refused, gone or failed. */
  isFruitless: boolean
  leadsTo: string | null
  askedAtMs: number
}
/** All that survives a crash. */
type Rows = { urls: Map<string, Row>; dueAtMs: Map<string, number> }
type Out = { lease: Lease; isReleased: boolean }

class MemoryFrontier implements Frontier {
  readonly sharesStore = false
  readonly #rows: Rows
  readonly #options: FrontierOptions
  readonly #out = new Map<number, Out>()
  readonly #lastTurn = new Map<string, number>()
  #active: readonly number[] = []
  #nowMs = 0
  #turns = 0

  constructor(rows: Rows, options: FrontierOptions) {
    this.#rows = rows
    this.#options = options
  }

  add(urls: readonly FoundUrl[]): AddCounts {
    const added = urls.filter((found) => this.#addOne(found)).length
    return { added, known: urls.length - added }
  }

  activate(sourceIds: readonly number[]): void {
    this.#active = sourceIds
  }

  take(nowMs: number): Lease | null {
    const free = this.#candidates(nowMs).filter(
      (row) => this.#hostDueAt(row) <= nowMs && this.#isFree(row.origin),
    )
    const turn = (row: Row): number => this.#lastTurn.get(row.origin) ?? 0
    const [best] = free.toSorted(
      (a, b) => a.priority - b.priority || turn(a) - turn(b) || a.urlId - b.urlId,
    )
    if (best === undefined) return null
    this.#lastTurn.set(best.origin, ++this.#turns)
    const { urlId, url, origin, sourceId, depth, tries, etag, modified, kind } = best
    const answered = { urlId, url, origin, sourceId, depth, tries, etag, modified, kind }
    const lease: Lease = { ...answered, alone: false, history: [] }
    this.#out.set(urlId, { lease, isReleased: false })
    return lease
  }

  release(lease: Lease, nowMs: number, delayMs: number, pauseMs = 0): void {
    const out = this.#out.get(lease.urlId)
    if (out?.lease !== lease || out.isReleased) return
    out.isReleased = true
    const dueAtMs = nowMs + Math.max(delayMs, pauseMs)
    const { dueAtMs: hosts } = this.#rows
    hosts.set(lease.origin, Math.max(dueAtMs, hosts.get(lease.origin) ?? 0))
  }

  settle(batch: readonly Settled[], nowMs: number): AddCounts {
    this.#nowMs = nowMs
    const counts = { added: 0, known: 0 }
    for (const { lease, settlement, links } of batch) {
      const row = this.#rows.urls.get(lease.url)
      if (row?.state === 'queued' && this.#out.get(lease.urlId)?.lease === lease)
        Object.assign(row, ended(lease, settlement), {
          isFruitless:
            ['refused', 'gone', 'failed'].includes(settlement.kind) ||
            (settlement.kind === 'missing' && settlement.reason !== undefined),
          leadsTo: settlement.kind === 'redirect' ? settlement.to : null,
          askedAtMs: nowMs,
          epoch: Math.max(row.epoch, ...this.#active),
        })
      const { added, known } = this.add(links)
      counts.added += added
      counts.known += known
    }
    return counts
  }

  settled(batch: readonly Settled[]): void {
    for (const { lease } of batch) {
      if (this.#out.get(lease.urlId)?.lease === lease) this.#out.delete(lease.urlId)
    }
  }

  nextDueAt(nowMs: number): number | null {
    const times = this.#candidates(Infinity)
      .filter((row) => this.#isFree(row.origin))
      .map((row) => Math.max(nowMs, row.nextAtMs, this.#hostDueAt(row)))
    return times.length === 0 ? null : Math.min(...times)
  }

  isFinished(sourceIds: readonly number[] = this.#active): boolean {
    const isOpen = (row: Row): boolean =>
      row.state === 'queued' || row.state === 'retry' || this.#out.has(row.urlId)
    return !this.#of(sourceIds).some(isOpen)
  }

  counts(sourceIds: readonly number[] = this.#active): FrontierCounts {
    const rows = this.#of(sourceIds)
    const count = (...states: State[]): number =>
      rows.filter((row) => states.includes(row.state)).length
    const out = rows.filter(({ urlId }) => this.#out.has(urlId)).length
    return {
      queued: count('queued') - out,
      waiting: count('retry', 'revisit'),
      out,
      settled: count('settled'),
      aside: 0,
    }
  }

  close(): void {}

  #addOne(found: FoundUrl): boolean {
    const { url, sourceId, depth, priority = depth, isSeed, redirected, kind = 'page' } = found
    const row = this.#rows.urls.get(url)
    if (row === undefined) {
      const urlId = this.#rows.urls.size + 1
      const { origin } = splitUrl(url)
      const start = {
        tries: 0,
        etag: null,
        modified: null,
        state: 'queued' as const,
        nextAtMs: 0,
        isFruitless: false,
        leadsTo: null,
        askedAtMs: 0,
      }
      const fresh = { urlId, url, origin, sourceId, depth, priority, kind, epoch: sourceId }
      this.#rows.urls.set(url, { ...fresh, ...start })
      return true
    }
    const back = { state: 'queued', tries: 0, nextAtMs: 0, sourceId, epoch: sourceId } as const
    if (isSeed === true && ['settled', 'revisit'].includes(row.state) && row.isFruitless) {
      Object.assign(row, { ...back, depth, priority })
      return true
    }
    if (redirected !== undefined && this.#isToBeAskedAgain(row, redirected)) {
      Object.assign(row, { ...back, depth, priority, tries: 1 })
      return true
    }
    if (row.sourceId === sourceId) return false
    if (row.state === 'queued' || row.state === 'retry') {
      if (this.#active.includes(row.sourceId) || !this.#active.includes(sourceId)) return false
      row.sourceId = sourceId
      return row.state === 'queued'
    }
    if (row.epoch >= sourceId || this.#isServed(row.sourceId, sourceId)) return false
    Object.assign(row, { ...back, depth, priority })
    return true
  }

  #isToBeAskedAgain(
    row: Row,
    { from, withCookie }: { from: string; withCookie: boolean },
  ): boolean {
    if (row.state !== 'settled' || row.leadsTo === null) return false
    const isOld = this.#nowMs - row.askedAtMs >= 3_600_000
    return withCookie ? row.tries === 0 || isOld : isOld && row.leadsTo === from
  }

  #isServed(oldSourceId: number, newSourceId: number): boolean {
    if (this.#options.covers?.(oldSourceId, newSourceId) !== true) return false
    const isQueued = this.#of([oldSourceId]).some(({ state }) => state === 'queued')
    return this.#active.includes(oldSourceId) || !isQueued
  }

  #of(sourceIds: readonly number[]): Row[] {
    return [...this.#rows.urls.values()].filter(({ sourceId }) => sourceIds.includes(sourceId))
  }

  /** What may be taken once its host is free and due; what waits goes back into the queue when its time has come. */
  #candidates(nowMs: number): Row[] {
    const rows = this.#of(this.#active).filter(({ urlId }) => !this.#out.has(urlId))
    if (nowMs === Infinity) return rows.filter(({ state }) => state !== 'settled')
    for (const row of rows)
      if (row.state !== 'settled' && row.nextAtMs <= nowMs)
        Object.assign(row, { state: 'queued', nextAtMs: 0 })
    return rows.filter(({ state }) => state === 'queued')
  }

  #hostDueAt({ origin }: Row): number {
    return this.#rows.dueAtMs.get(origin) ?? 0
  }

  #isFree(origin: string): boolean {
    const busy = [...this.#out.values()].filter(
      ({ lease, isReleased }) => lease.origin === origin && !isReleased,
    )
    return busy.length < (this.#options.hostConnections ?? 1)
  }
}

function ended(lease: Lease, settlement: Settlement): Partial<Row> {
  const wait = (state: 'retry' | 'revisit', atMs: number | null | undefined): Partial<Row> =>
    atMs === null || atMs === undefined ? { state: 'settled' } : { state, nextAtMs: atMs }
  const nothing = { tries: 0, etag: null, modified: null }
  const { etag, modified } = lease
  switch (settlement.kind) {
    case 'stored':
      return {
        ...wait('revisit', settlement.recrawlAtMs),
        tries: 0,
        etag: settlement.etag ?? null,
        modified: settlement.modified ?? null,
      }
    case 'duplicate':
      return { ...nothing, ...wait('revisit', settlement.recrawlAtMs) }
    case 'unchanged':
      return { ...wait('revisit', settlement.recrawlAtMs), tries: 0, etag, modified }
    case 'missing':
      return { ...nothing, ...wait('revisit', settlement.recrawlAtMs) }
    case 'listed':
      return {
        ...wait('revisit', settlement.recrawlAtMs),
        tries: 0,
        etag: settlement.etag ?? null,
        modified: settlement.modified ?? null,
      }
    case 'failed':
      return { ...wait('retry', settlement.retryAtMs), tries: lease.tries + 1, etag, modified }
    case 'redirect':
      return { ...nothing, tries: lease.tries, state: 'settled' }
    case 'refused':
    case 'gone':
      return { ...nothing, state: 'settled' }
  }
}

export function openMemoryFrontier(
  options: FrontierOptions = {},
  rows: Rows = { urls: new Map(), dueAtMs: new Map() },
): FrontierBench {
  return {
    frontier: new MemoryFrontier(rows, options),
    within: (work) => work(),
    crash: () => openMemoryFrontier(options, rows),
  }
}
