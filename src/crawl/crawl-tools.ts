/** What the crawl is made with: the parts it asks, and its limits. */
import type { Log } from '../lib/log.ts'
import type { JobStatus } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { CommitTools, Committed, Revisits } from './commit.ts'
import type { Described } from './described.ts'
import type { DiscoveryLimits } from './discover.ts'
import type { Duplicates } from './duplicates.ts'
import type { Frontier, Lease } from './frontier.ts'
import type { HostRules } from './host-rules.ts'
import type { FetchOutcome, ListJob, ListOutcome, ParseJob, ParseOutcome } from './page.ts'
import type { RobotsGate } from './robots-gate.ts'
import type { VisitLimits } from './visit.ts'

export type CrawlLimits = VisitLimits &
  DiscoveryLimits & {
    connections: number
    batchPages: number
    batchBytes: number
    batchMs: number
    /** URLs taken from one list. */
    listUrlsMax: number
    seedsMax: number
    /** Below this the crawl waits until there is a quarter more. */
    diskFreeBytes: number
  }

export type CrawlTools = Pick<CommitTools, 'distinct'> & {
  store: Store
  frontier: Frontier
  duplicates: Duplicates
  robots: RobotsGate
  described: Described
  fetchPage: (lease: Lease, takes: 'pages' | 'any') => Promise<FetchOutcome>
  parse: (job: ParseJob) => Promise<ParseOutcome>
  parseList: (job: ListJob) => Promise<ListOutcome>
  /** What is learned of hosts; the same object that the frontier asks. */
  rules: HostRules
  revisits: Revisits
  /** Delay between two requests to this URL's host where the job names none. */
  defaultDelayMs: (url: string) => number
  /** Lets the egress guard dial the port that an operator's seed names. */
  allowSeed: (url: string) => void
  diskFreeBytes: () => number
  /** After each commit. */
  onCommitted: (committed: Committed) => void
  /** A job changed its state, or about a second passed. */
  onProgress: (jobs: JobStatus[]) => void
  limits: CrawlLimits
  log: Log
  now: () => number
  random: () => number
}
