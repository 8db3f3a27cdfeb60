/** The records that several layers share: what the API, the export and the pages show of documents, jobs and URLs. */

export type DocumentRecord = {
  id: string
  url: string
  title: string
  text: string
  lang: string
  type: string
  fields: Record<string, unknown>
  description: string
  author: string
  keywords: readonly string[]
  published_at: string | null
  fetched_at: string
  changed_at: string
  /** Bytes on the wire. */
  size: number
  /** Equal exactly for the pages of one group of copies; null for a page without copies, which has one of its own in an export. */
  group: string | null
  /** Id of the original where this is an exact copy. */
  duplicate_of: string | null
  /** The page asks that no stored copy of it is shown (robots: noarchive). */
  noarchive: boolean
}

/** How a version of a page differs from the one before. */
export type DocumentChange = {
  at: string
  /** null where it stayed. */
  title_before: string | null
  characters_before: number
  characters: number
  /** 0..1: the share of the text that stands in lines of both versions. */
  similarity: number
}

/** About how many different ones were met, with an error of .81 % (twice that in 95 of 100 cases). */
export type DistinctCounts = {
  /** All that pages led to, in scope or not. */
  urls: number
  hosts: number
  /** Main texts, former versions included. */
  contents: number
}

export type StoreStats = {
  documents: number
  hosts: number
  urls: number
  queued: number
  exact_copies: number
  near_copies: number
  groups: number
  languages: readonly { value: string; count: number }[]
  newest: string | null
  distinct: DistinctCounts
  generation: number
  database_bytes: number
}

export type Scope = 'page' | 'path' | 'host' | 'domain' | 'any'

/** A wish to crawl, as the API and the command line give it. */
export type CrawlSpec = {
  seeds: readonly string[]
  scope: Scope
  /** Further URL prefixes in scope. */
  include: readonly string[]
  /** null = none */
  maxPages: number | null
  /** Pages stored of one host, at most; left out or null = none. */
  maxPagesPerHost?: number | null
  depth: number
  /** null = the default: 1000 for a public host, 0 for an allowed private one. */
  delayMs: number | null
  /** Name of the described source whose wish this is: its rules and settings hold for these pages. */
  source?: string
  /** Patterns as in crawl/url-pattern.ts: of what is in scope only these, and never those. */
  only?: readonly UrlPattern[]
  exclude?: readonly UrlPattern[]
}

/** Plain text with * and **, or a regular expression. */
export type UrlPattern = string | { regex: string }

/** A described source as the API shows it: `source` as a user wrote it; `next_run` null where it has no schedule. */
export type SourceStatus = {
  name: string
  changed_at: string
  next_run: string | null
  source: unknown
}

/** skipped: the one before was still running. failed: it could not be started, or none of its seeds could be had. */
export type RunState = 'running' | 'paused' | 'done' | 'limit' | 'stopped' | 'skipped' | 'failed'
export type RunCounts = {
  fetched: number
  stored: number
  unchanged: number
  copies: number
  redirects: number
  gone: number
  refused: number
  failed: number
  bytes: number
}
/** One run of a described source. */
export type RunStatus = {
  cause: 'schedule' | 'request'
  state: RunState
  started_at: string
  ended_at: string | null
  counts: RunCounts
  note: string
}

/** A described source as it is kept: `spec` is its JSON. */
export type DescribedSource = { name: string; spec: string; changedAtMs: number }

/** failed: none of its seeds could be had. */
export type JobState = 'running' | 'paused' | 'waiting' | 'done' | 'stopped' | 'limit' | 'failed'
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
  /** Stored pages in which there is nothing to read before JavaScript ran. */
  javascriptOnly: number
  /** By "source/rule". */
  rules: Record<string, RuleCounts>
}
/** How a rule of a described source fared over the pages of a job. */
export type RuleCounts = {
  pages: number
  /** Field -> pages in which it was empty, or not as the rule expects of the page. */
  empty: Record<string, number>
  unexpected: Record<string, number>
  /** Pages that lack a required field. */
  incomplete: number
  links: number
  /** Pages on which something of the rule could not be done, and the last such thing. */
  troubled: number
  problem: string
  /** Of a rule for items: how many, field -> items in which it was empty, items that lack a required one, pages on which none was found. */
  items?: {
    found: number
    empty: Record<string, number>
    incomplete: number
    pagesWithout: number
  }
}
export type JobStatus = {
  id: number
  state: JobState
  /** One sentence where the state needs one: "disk full: 120 MB free, goes on at 250". */
  note: string
  /** Name of the described source whose job it is. */
  source: string | null
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

/** A word of a list that a page has; policy as in text/word-list.ts. */
export type WordHit = { list: string; policy: string; word: string; hits: number; place: string }
export type WordTally = Pick<WordHit, 'list' | 'policy' | 'word' | 'hits'> & { documents: number }

/** What was learned of a host, and how it fares. */
export type HostStatus = {
  origin: string
  /** Failures in a row of all its pages. */
  failures: number
  /** When it may be asked next, where that is not now. */
  rests_until: string | null
  shapes: readonly LearnedShape[]
  parameters: readonly LearnedParameter[]
}
/** closed: put aside as a trap, or dropped from URLs. kept: the operator wants it. */
export type LearnedState = 'open' | 'closed' | 'kept'
export type LearnedShape = {
  shape: string
  state: LearnedState
  fetched: number
  fresh: number
  copies: number
  /** Further visits that may bring nothing before it is put aside. */
  visits_left: number
}
export type LearnedParameter = {
  name: string
  state: LearnedState
  same: number
  differing: number
}
/** One of the two as it is named in `HostStatus`. */
export type LearnedRule = { kind: 'shape' | 'parameter'; name: string }

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
