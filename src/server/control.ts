/** What the HTTP side asks of the rest: the server declares it, app.ts supplies it. The server never touches the crawl. */
import type {
  CrawlSpec,
  DistinctCounts,
  DocumentRecord,
  HostStatus,
  JobStatus,
  LearnedRule,
  LearnedState,
  RunStatus,
  SourceStatus,
  StoreStats,
  UrlStory,
  WordTally,
} from '../store/records.ts'
import type { CopyCounts, CopyGroups } from '../store/copies.ts'
import type { ExportPage } from '../store/read-documents.ts'
import type { SearchAnswer, SearchRequest, SimilarAnswer, SuggestAnswer } from '../search/answer.ts'

export type {
  CrawlSpec,
  HostStatus,
  JobCounts,
  JobState,
  JobStatus,
  LearnedState,
  RunState,
  RunStatus,
  Scope,
  SourceStatus,
  UrlStory,
} from '../store/records.ts'

export interface CrawlControl {
  start(spec: CrawlSpec): Promise<JobStatus>
  jobs(): Promise<JobStatus[]>
  job(id: number): Promise<JobStatus | null>
  pause(id: number): Promise<JobStatus>
  resume(id: number): Promise<JobStatus>
  stop(id: number): Promise<JobStatus>
  explain(url: string): Promise<UrlStory>
  /** Described sources, by name. */
  sources(): Promise<SourceStatus[]>
  /** @param given as a user writes it; checked there. */
  putSource(given: unknown, options: { mayReplace: boolean }): Promise<SourceStatus>
  removeSource(name: string): Promise<void>
  startSource(name: string): Promise<JobStatus>
  /** Runs of a described source, newest first. */
  runs(name: string): Promise<RunStatus[]>
  /** Hosts of which something was learned, and those that rest. */
  hosts(): Promise<HostStatus[]>
  /** @param host a host name, or an origin */
  host(host: string): Promise<HostStatus>
  /** The operator decides what was learned; what was put aside and is wanted now is queued again. */
  decideRule(host: string, rule: LearnedRule, state: LearnedState): Promise<HostStatus>
  /** What was recognised so far. */
  filters(): Promise<Filters>
  /** Groups of copies in keyset pages; begin with null. */
  copyGroups(cursor: number | null, limit: number): Promise<CopyGroups>
  /** Called about once a second while something changes; returns the way to end it. */
  onProgress(listener: (jobs: JobStatus[]) => void): () => void
}

/** How far the index that is being made beside the one that answers is; `done` documents of `total`. */
export type ReindexStatus = { running: boolean; done: number; total: number }

export interface IndexControl {
  /** Begins to make the index again in the background; one that is under way goes on. */
  reindex(): Promise<ReindexStatus>
  reindexStatus(): Promise<ReindexStatus>
}

/** URLs, copies and words of lists. */
export type Filters = {
  seen: {
    urls: number
    keys: number
    bytes: number
    mode: 'mapped' | 'memory'
    false_positives: number
  }
  distinct: DistinctCounts
  copies: CopyCounts
  words: {
    lists: { name: string; policy: string; words: number; allowed: number }[]
    problems: string[]
    applied: boolean
    judged: number
    changed: number
    words: WordTally[]
  }
}

export interface SearchPort {
  search(request: SearchRequest): Promise<SearchAnswer>
  suggest(q: string, limit: number): Promise<SuggestAnswer>
  document(id: string): Promise<DocumentRecord | null>
  /** null: there is no such page. */
  similar(id: string, limit: number): Promise<SimilarAnswer | null>
  stats(): Promise<StoreStats>
  /** All documents in keyset pages; begin with 0, end where the cursor is null. */
  exportAfter(cursor: number, limit: number): Promise<ExportPage>
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
