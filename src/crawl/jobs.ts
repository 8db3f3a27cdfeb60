/** The jobs under way: their sources, limits, counts and states. Knows no URL of the queue and no network. */
import type { CrawlSpec, JobCounts, JobState, JobStatus } from '../store/records.ts'
import type { JobRow, Store } from '../store/store.ts'
import { countRule } from './rule-counts.ts'
import { resolveScope, scopeKey, type ScopeSpec } from './scope.ts'
import type { Visited } from './visit.ts'

export type Job = {
  id: number
  spec: CrawlSpec
  sourceIds: number[]
  state: JobState
  note: string
  counts: JobCounts
  startedAtMs: number
  endedAtMs: number | null
  /** Running time of finished runs; the present run adds `now - runSinceMs`. */
  activeMs: number
  runSinceMs: number | null
  fetchedBeforeRun: number
  /** Leases of this job not yet committed. */
  out: number
}

const emptyCounts = (): JobCounts => ({
  fetched: 0,
  stored: 0,
  unchanged: 0,
  exactCopies: 0,
  nearCopies: 0,
  redirects: 0,
  gone: 0,
  refused: {},
  failed: {},
  bytes: 0,
  javascriptOnly: 0,
  rules: {},
})

/** Equal for equal wishes: limits and delay may differ, what is in reach may not. */
export function jobKey(spec: CrawlSpec): string {
  const { seeds, scope, include, depth, source } = spec
  if (source !== undefined) return JSON.stringify({ source })
  return JSON.stringify({ seeds: [...seeds].sort(), scope, include: [...include].sort(), depth })
}

export function scopeOf(spec: CrawlSpec, seed: string): ScopeSpec {
  const scope = resolveScope(seed, spec.scope, spec.include, spec.depth)
  if (spec.only !== undefined && spec.only.length > 0) scope.only = spec.only
  if (spec.exclude !== undefined && spec.exclude.length > 0) scope.exclude = spec.exclude
  return scope
}

/** Reaches nothing: what a described source no longer has. */
const nowhere: ScopeSpec = { scope: 'page', prefixes: [''], depth: 0 }

/**
 * The id of the source for each seed, made where it is new. The scopes of a described source belong to it alone and keep their
 * ids when they change; those that it has no longer reach nothing. In a transaction.
 */
export function sourceIdsOf(spec: CrawlSpec, store: Store): Map<string, number> {
  const { source: name, seeds } = spec
  const scopes = seeds.map((seed) => scopeOf(spec, seed))
  if (name === undefined)
    return new Map(seeds.map((seed, i) => [seed, store.sourceFor(scopeKey(scopes[i] ?? nowhere))]))
  const places = [...new Set(scopes.map(scopeKey))]
  const ids = places.map((_, place) => {
    const scope = scopes.find((each) => scopeKey(each) === places[place]) ?? nowhere
    return store.scopeOfDescribed(name, place, scopeKey({ ...scope, name, place }))
  })
  for (const { place } of store.scopesOfDescribed(name)) {
    if (place >= places.length)
      store.scopeOfDescribed(name, place, scopeKey({ ...nowhere, name, place }))
  }
  return new Map(
    seeds.map((seed, i) => [seed, ids[places.indexOf(scopeKey(scopes[i] ?? nowhere))] ?? 0]),
  )
}

/** With those that redirects of its seeds have added. */
const idsOfDescribed = (spec: CrawlSpec, name: string, store: Store): number[] => {
  const added = store.scopesOfDescribed(name).filter(({ place }) => place < 0)
  return [...new Set([...sourceIdsOf(spec, store).values(), ...added.map(({ id }) => id)])]
}

export class Jobs {
  readonly #store: Store
  readonly #now: () => number
  readonly #jobs = new Map<number, Job>()
  readonly #dirty = new Set<Job>()

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
    for (const row of store.jobs()) this.#jobs.set(row.id, asleep(row))
  }

  /** The job of this wish, made where it is new; a repeated wish is the same job and may carry new limits. In a transaction. */
  open(spec: CrawlSpec): Job {
    const key = jobKey(spec)
    const known = this.all().find((job) => jobKey(job.spec) === key)
    if (known !== undefined) {
      known.spec = spec
      if (spec.source !== undefined)
        known.sourceIds = idsOfDescribed(spec, spec.source, this.#store)
      this.#write(known)
      return known
    }
    const sources = sourceIdsOf(spec, this.#store).values()
    const row: JobRow = {
      id: 0,
      spec,
      sourceIds: [...new Set(sources)],
      state: 'stopped',
      note: '',
      counts: emptyCounts(),
      startedAtMs: this.#now(),
      endedAtMs: null,
      activeMs: 0,
    }
    const job = asleep({ ...row, id: this.#store.putJob(key, row) })
    this.#jobs.set(job.id, job)
    return job
  }

  all(): Job[] {
    return [...this.#jobs.values()]
  }

  get(id: number): Job | null {
    return this.#jobs.get(id) ?? null
  }

  /** Jobs that may take URLs now. */
  running(): Job[] {
    return this.all().filter((job) => job.state === 'running')
  }

  /** The job to which a visit for this source counts: a running one first. */
  ofSource(sourceId: number): Job | null {
    const having = this.all().filter((job) => job.sourceIds.includes(sourceId))
    return having.find((job) => job.state === 'running') ?? having[0] ?? null
  }

  /** In a transaction. */
  setState(job: Job, state: JobState, note: string = ''): void {
    const isRunning = state === 'running' || state === 'waiting'
    if (isRunning && job.runSinceMs === null) {
      job.runSinceMs = this.#now()
      job.fetchedBeforeRun = job.counts.fetched
    }
    if (!isRunning && job.runSinceMs !== null) {
      job.activeMs += this.#now() - job.runSinceMs
      job.runSinceMs = null
    }
    job.state = state
    job.note = note
    job.endedAtMs = isRunning || state === 'paused' ? null : this.#now()
    this.#write(job)
  }

  /** Adds one visit to the counts of its job. */
  count(job: Job, visited: Visited): void {
    addVisit(job.counts, visited)
    this.#dirty.add(job)
  }

  /** Writes the counts that changed; in the batch transaction, so that they are exact after a crash. */
  save(): void {
    for (const job of this.#dirty) this.#write(job)
    this.#dirty.clear()
  }

  /** After a rollback: the counts as they were saved. */
  reload(): void {
    this.#dirty.clear()
    for (const row of this.#store.jobs()) {
      const job = this.#jobs.get(row.id)
      if (job !== undefined) job.counts = row.counts
    }
  }

  status(job: Job, queued: number): JobStatus {
    return statusOf(job, queued, this.#now())
  }

  #write(job: Job): void {
    const activeMs = job.activeMs + (job.runSinceMs === null ? 0 : this.#now() - job.runSinceMs)
    this.#store.updateJob({ ...job, activeMs })
  }
}

const asleep = (row: JobRow): Job => ({
  ...row,
  sourceIds: [...row.sourceIds],
  runSinceMs: null,
  fetchedBeforeRun: 0,
  out: 0,
})

function addVisit(counts: JobCounts, visited: Visited): void {
  const { settlement, wasFetched, wireBytes, page } = visited
  const report = page?.rule ?? visited.rule
  if (report !== undefined) countRule(counts.rules, report)
  if (page?.isShell && settlement.kind !== 'unchanged') counts.javascriptOnly++
  if (wasFetched) counts.fetched++
  counts.bytes += wireBytes
  const add = (into: Record<string, number>, reason: string): void => {
    into[reason] = (into[reason] ?? 0) + 1
  }
  switch (settlement.kind) {
    case 'stored':
      counts.stored++
      break
    case 'duplicate':
      counts.stored++
      if (settlement.of === 'exact') counts.exactCopies++
      else counts.nearCopies++
      break
    case 'unchanged':
      counts.unchanged++
      break
    case 'redirect':
      counts.redirects++
      break
    case 'gone':
      counts.gone++
      break
    case 'missing':
      if (settlement.reason === undefined) counts.gone++
      else add(counts.failed, settlement.reason)
      break
    case 'listed':
      break
    case 'refused':
      add(counts.refused, settlement.reason)
      break
    case 'failed':
      // An attempt that will be repeated is no failure yet.
      if (settlement.retryAtMs === null) add(counts.failed, settlement.reason)
      break
  }
}

function statusOf(job: Job, queued: number, nowMs: number): JobStatus {
  const runMs = job.runSinceMs === null ? 0 : nowMs - job.runSinceMs
  const perSecond = runMs > 0 ? ((job.counts.fetched - job.fetchedBeforeRun) * 1000) / runMs : 0
  const left =
    job.spec.maxPages === null ? queued : Math.min(queued, job.spec.maxPages - job.counts.stored)
  return {
    id: job.id,
    state: job.state,
    note: job.note,
    source: job.spec.source ?? null,
    seeds: job.spec.seeds,
    scope: job.spec.scope,
    maxPages: job.spec.maxPages,
    queued,
    counts: job.counts,
    pagesPerSecond: Math.round(perSecond * 10) / 10,
    etaSeconds: perSecond > 0 && job.state === 'running' ? Math.ceil(left / perSecond) : null,
    startedAt: new Date(job.startedAtMs).toISOString(),
    endedAt: job.endedAtMs === null ? null : new Date(job.endedAtMs).toISOString(),
    seconds: Math.round((job.activeMs + runMs) / 100) / 10,
  }
}
