/** The contract of the frontier: which URL may be fetched next. Knows politeness, retries and what was seen; never touches the network. */

import type { PastVisit } from './history.ts'

/** What came of asking a host: an answer of any kind, or none (a fault of the network or the server). */
export type Fared = 'answered' | 'failed'

/** Lists name URLs and are no documents. */
export type UrlKind = 'page' | 'sitemap' | 'feed'

/** A canonical URL (see lib/url.ts) found on a page or given as a seed, judged in scope of source `sourceId`. */
export type FoundUrl = {
  url: string
  sourceId: number
  depth: number
  priority?: number
  /** Somebody asks for this very URL: that it was refused, gone or failed at the last visit is no reason not to try. */
  isSeed?: true
  /**
   * A redirect leads here. Where this URL was a redirect itself, it is asked once more: because the other was asked with a cookie, which
   * may open it now; or because it leads back there, and was asked long ago.
   */
  redirected?: { from: string; withCookie: boolean }
  /** Left out: a page. What is known as a page and turns out to be a list is asked for once more, as one. */
  kind?: UrlKind
  /** What a list says of its last change: where that is after the last visit, a revisit that waits is due now. */
  lastmodMs?: number
  /** Found on a page of its own shape: the first to go where the shape turns out to be a trap. */
  isOfOwnShape?: true
  /** What the page calls it, for those who rank by that; the queue does not look at it. */
  text?: string
}

/** The right to fetch one URL, this very object. Valid until settled or until the process ends: nothing is written when it is taken. */
export type Lease = {
  urlId: number
  url: string
  /** scheme://host[:port] */
  origin: string
  sourceId: number
  depth: number
  /** Failed attempts so far. */
  tries: number
  /** It is tried with nothing else under way, because a process died while it was out. */
  alone: boolean
  kind: UrlKind
  /** Oldest first, a few. */
  history: readonly PastVisit[]
  /** From the last answer, for a conditional request. */
  etag: string | null
  modified: string | null
}

/** How a visit ended. Every expected ending is a value here; an exception is a bug. `reason` is a short stable word. */
export type Settlement =
  | { kind: 'stored'; status: number; etag?: string; modified?: string; recrawlAtMs?: number }
  | { kind: 'duplicate'; of: 'exact' | 'near'; status: number; recrawlAtMs?: number }
  | { kind: 'unchanged'; status: number; recrawlAtMs?: number }
  /** `withCookie`: it was asked with a cookie, or set one. */
  | { kind: 'redirect'; status: number; to: string; withCookie?: true }
  /** `recrawlAtMs`: a way to other pages, which is looked at again. */
  | { kind: 'refused'; status: number; reason: string; recrawlAtMs?: number }
  | { kind: 'gone'; status: number }
  /** Not there this time, or not to be had (`reason`): what is stored of it stays until the next look. */
  | { kind: 'missing'; status: number; recrawlAtMs: number; reason?: string }
  /** A list was read: it is no document. */
  | {
      kind: 'listed'
      status: number
      isChanged: boolean
      etag?: string
      modified?: string
      recrawlAtMs?: number
    }
  | { kind: 'failed'; status: number; reason: string; retryAtMs: number | null }

/** `links`: judged for every source there is, not only for the lease's. A redirect's target is one of them where it is in scope. */
export type Settled = { lease: Lease; settlement: Settlement; links: readonly FoundUrl[] }

/** Of the asked sources: queued = may be fetched now or later, waiting = retried or revisited at a known time, out = leased. */
export type FrontierCounts = {
  queued: number
  waiting: number
  out: number
  settled: number
  aside: number
}

/**
 * Implementation: `SqliteFrontier`; later one file per backend. All pass `test/suites/frontier.suite.ts`.
 *
 * `sharesStore`: true where `add` and `settle` write into the store's own database: they are then called inside the
 * store's open transaction and return without a promise. Elsewhere they are awaited right after that transaction. Both may run twice.
 */
export interface Frontier {
  readonly sharesStore: boolean
  /**
   * Adds what was never seen in reach of its source. A URL known already is counted in `known`, but for three cases, which count
   * as added: it was visited before this source was there and its own source does not cover this one (it is visited once
   * more), it is queued for a source that is not active (an active one takes it over), or it is a seed that was refused, gone or
   * failed at its last visit or taken for a trap (it is visited once more, now).
   */
  add(urls: readonly FoundUrl[]): AddCounts | Promise<AddCounts>
  /** Restricts `take` to these sources; before the first call there are none. A source not named keeps its queue. */
  activate(sourceIds: readonly number[]): void
  /**
   * The next URL whose host is free and due, best priority first (of pages as deep, an implementation may put those first that many
   * others link to, by less than one link is worth); null means "nothing now", not "finished".
   * Takes write nothing, so a crash needs no clean-up: what was out is queued as before.
   */
  take(nowMs: number): Lease | null
  /**
   * The response is in (or failed): the host is free after `delayMs`, and held for `pauseMs` where the server asked for it. After some
   * failures in a row it rests, longer with each, also over a restart; an answer ends that. `fared` left out: it was not asked.
   */
  release(lease: Lease, nowMs: number, delayMs: number, pauseMs?: number, fared?: Fared): void
  /** Somebody asks for this host: where it rests, it is tried once, now. */
  wake?(origin: string, nowMs: number): void
  /** All that is queued in these sources lies on hosts that rest for long. */
  isAllResting?(sourceIds: readonly number[], nowMs: number): boolean
  /** Ends leases that are out and adds the links of all pages. Settling twice changes nothing and is no error. */
  settle(batch: readonly Settled[], nowMs: number): AddCounts | Promise<AddCounts>
  /** After the transaction of `settle`: `committed` false when it was rolled back; then its leases are still out, to be settled again. */
  settled(batch: readonly Settled[], committed: boolean): void
  /** When `take` can next succeed: a time in ms, or null where nothing waits for time alone. */
  nextDueAt(nowMs: number): number | null
  /** True only when nothing is queued, waiting for a retry or out in these sources (default: the active ones). A revisit does not count. */
  isFinished(sourceIds?: readonly number[]): boolean
  /** Of these sources (default: the active ones). */
  counts(sourceIds?: readonly number[]): FrontierCounts
  /** Clean end: nothing out is suspected at the next start. */
  close(): void
}
export type AddCounts = { added: number; known: number }
