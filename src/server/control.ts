/** What the HTTP side asks of the rest: the server declares it, app.ts supplies it. The server never touches the crawl. */
import type { DocumentRecord, StoreStats } from '../store/records.ts'
import type { SearchAnswer, SearchRequest, SuggestAnswer } from '../search/answer.ts'

export type Scope = 'page' | 'path' | 'host' | 'domain' | 'any'

/** A wish to crawl, as the API and the command line give it. */
export type CrawlSpec = {
  seeds: readonly string[]
  scope: Scope
  /** Further URL prefixes in scope. */
  include: readonly string[]
  /** null = none */
  maxPages: number | null
  depth: number
  /** null = the default: 1000 for a public host, 0 for an allowed private one. */
  delayMs: number | null
}

export type JobState = 'running' | 'paused' | 'waiting' | 'done' | 'stopped' | 'limit'
/** Counts since the job was first started, over all its runs; exact after a crash. */
export type JobCounts = {
  fetched: number
  stored: number
  unchanged: number
  exactCopies: number
  nearCopies: number
  redirects: number
  gone: number
  /** By reason, for instance {robots: 3, type: 2}. */
  refused: Record<string, number>
  failed: Record<string, number>
  bytes: number
}
export type JobStatus = {
  id: number
  state: JobState
  /** One sentence where the state needs one: "disk full: 120 MB free, goes on at 250". */
  note: string
  seeds: readonly string[]
  scope: Scope
  maxPages: number | null
  queued: number
  counts: JobCounts
  pagesPerSecond: number
  /** null = unknown */
  etaSeconds: number | null
  startedAt: string
  endedAt: string | null
  seconds: number
}

/** Why a URL is, or is not, in the index. */
export type UrlStory = {
  url: string
  canonicalUrl: string
  known: boolean
  /** never seen | queued | waiting | fetched | put aside */
  state: string
  lines: readonly { about: string; text: string }[]
  document: DocumentRecord | null
}

export interface CrawlControl {
  start(spec: CrawlSpec): Promise<JobStatus>
  jobs(): Promise<JobStatus[]>
  job(id: number): Promise<JobStatus | null>
  pause(id: number): Promise<JobStatus>
  resume(id: number): Promise<JobStatus>
  stop(id: number): Promise<JobStatus>
  explain(url: string): Promise<UrlStory>
  /** Called about once a second while something changes; returns the way to end it. */
  onProgress(listener: (jobs: JobStatus[]) => void): () => void
}

export interface SearchPort {
  search(request: SearchRequest): Promise<SearchAnswer>
  suggest(q: string, limit: number): Promise<SuggestAnswer>
  document(id: string): Promise<DocumentRecord | null>
  stats(): Promise<StoreStats>
  isReady(): boolean
}

/** For /readyz: what works, in words. */
export type Health = {
  ready: boolean
  search: boolean
  engine: boolean
  crawl: string
  restarts: number
}
