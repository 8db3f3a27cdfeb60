/** The crawl: takes leases while there is room, visits them side by side, commits in batches. Owns the jobs, sees no index and no server. */
import { setTimeout as setTimeoutOf } from 'node:timers/promises'
import { registrableDomain, splitUrl } from '../lib/url.ts'
import { isDiskFull } from '../lib/sqlite.ts'
import { AppError } from '../lib/errors.ts'
import type { RuleState } from '../store/host-rules.ts'
import type { CrawlSpec, JobStatus, RunStatus, UrlStory } from '../store/records.ts'
import { checkedSpec } from './checked-spec.ts'
import { createCommitter, type Committed, type Committer } from './commit.ts'
import type { CrawlTools } from './crawl-tools.ts'
import { Discovery } from './discover.ts'
import type { FoundUrl, Lease } from './frontier.ts'
import { HostBudgets } from './host-budget.ts'
import { createInboundLinks } from './inbound.ts'
import { wantedAgain, type RuleName } from './host-rules.ts'
import { importSourceKey } from './import-lines.ts'
import { Jobs, scopeOf, sourceIdsOf, type Job } from './jobs.ts'
import { Runs, type RunCause } from './runs.ts'
import { isAdmitted, scopeKey, type ScopeSpec } from './scope.ts'
import { endOf, seedProblems } from './seed-report.ts'
import { isAlone, visit, weightOf, type Visited } from './visit.ts'

/** Waits are never longer than this, so that a changed clock or a missed event costs seconds, not the crawl. */
const wakeMaxMs = 5_000
const progressMs = 1_000
/** Adaptive politeness: a host that needs long to answer is asked more rarely. Only where there is a delay at all. */
const latencyFactor = 2
const latencyDelayMaxMs = 30_000
/** The crawl goes on when there is a quarter more room than where it stopped. */
const diskHysteresis = 1.25
const closeCheckMs = 20
const dayMs = 86_400_000

/** One for the process: it guards the batch, the leases that are out and the jobs. */
export class Crawl {
  readonly #tools: CrawlTools
  readonly #jobs: Jobs
  readonly runs: Runs
  readonly #budgets: HostBudgets
  readonly #scopes = new Map<number, ScopeSpec>()
  readonly #committer: Committer
  readonly #discovery: Discovery
  #batch: Visited[] = []
  #batchBytes = 0
  #batchSinceMs = 0
  /** Visits whose response is not in yet. */
  #active = 0
  /** Leases taken and not yet committed. */
  #out = 0
  #isClosing = false
  /** While the disk is full nothing is taken and the batch waits. */
  #isHeld = false
  #wake: NodeJS.Timeout | null = null
  #reportedAtMs = 0

  constructor(tools: CrawlTools) {
    this.#tools = tools
    this.#jobs = new Jobs(tools.store, tools.now)
    this.runs = new Runs(tools.store, tools.now)
    this.#budgets = new HostBudgets(tools.store)
    this.#discovery = new Discovery({ ...tools, scopes: this.#scopes })
    this.#committer = createCommitter({
      ...tools,
      jobs: this.#jobs,
      inbound: createInboundLinks(tools.store),
      ttlMsOf: (sourceId) => this.#ttlMsOf(sourceId),
      findUrls: (visited) => {
        this.#followSeedRedirect(visited)
        return this.#discovery.found(visited)
      },
    })
    this.#loadScopes()
  }

  /** Starts the job of this wish, or goes on with it. */
  start(spec: CrawlSpec, cause: RunCause = 'request'): JobStatus {
    const { store, limits } = this.#tools
    const checked = checkedSpec(spec, limits.seedsMax)
    const job = store.transaction(() => this.#jobs.open(checked))
    this.#goOn(job, cause)
    return this.#status(job)
  }

  /** @throws AppError not_found */
  startSource(name: string, cause: RunCause = 'request'): JobStatus {
    return this.start(this.#tools.described.wishOf(name), cause)
  }

  /** Also where it is paused: it goes on as the same run. */
  isUnderWay(source: string): boolean {
    const state = this.#jobOf(source)?.state
    return state === 'running' || state === 'waiting' || state === 'paused'
  }

  /** Newest first. @throws AppError not_found */
  runsOf(source: string): RunStatus[] {
    const runs = this.runs.of(source, this.#jobOf(source))
    if (runs.length === 0 && this.#tools.described.get(source) === null)
      throw new AppError('not_found', `There is no source "${source}".`)
    return runs
  }

  /** How long pages of a source are shown without being confirmed; those that nobody crawls any more too. */
  ttls(): Map<number, number> {
    const found = new Map<number, number>()
    for (const id of this.#scopes.keys()) {
      const ttlMs = this.#ttlMsOf(id)
      if (ttlMs !== null) found.set(id, ttlMs)
    }
    return found
  }

  /** Goes on with every job that was running when the process ended. */
  resumeAll(): void {
    for (const job of this.#jobs.all()) {
      if (job.state !== 'running' && job.state !== 'waiting') continue
      try {
        this.#goOn(job)
      } catch (error) {
        // A secret that is no longer in the environment: told where the job is shown, and mended by going on with it.
        if (!(error instanceof AppError)) throw error
        this.#end(job, 'paused', error.message)
      }
    }
  }

  jobs(): JobStatus[] {
    return this.#jobs.all().map((job) => this.#status(job))
  }

  job(id: number): JobStatus | null {
    const job = this.#jobs.get(id)
    return job === null ? null : this.#status(job)
  }

  /** @throws AppError not_found */
  setState(id: number, state: 'paused' | 'running' | 'stopped'): JobStatus {
    const job = this.#jobs.get(id)
    if (job === null) throw new AppError('not_found', `there is no job ${id}`)
    if (state === 'running') this.#goOn(job)
    else this.#end(job, state, '')
    return this.#status(job)
  }

  /**
   * The operator overrules what was learned of a host. What was put aside as a trap and is wanted now, is queued again.
   * @throws AppError not_found where nothing of the kind was learned
   */
  decideRule(origin: string, rule: RuleName, state: RuleState): void {
    const { store, rules, frontier } = this.#tools
    store.transaction(() => {
      if (!rules.decide(origin, rule, state))
        throw new AppError('not_found', `no such rule is known of ${origin}`)
      void frontier.add([...wantedAgain(store, rules, origin)])
    })
    queueMicrotask(() => this.#pump())
  }

  /** Nothing is under way, and nothing will be before somebody asks. */
  isIdle(): boolean {
    return this.#out === 0 && !this.#isHeld && this.#jobs.running().length === 0
  }

  scopes(): ReadonlyMap<number, ScopeSpec> {
    return this.#scopes
  }

  /** For `explain`: what is left of limits by host. */
  budgetLines(url: string): UrlStory['lines'] {
    return this.#budgets.lines(url, this.#jobs.all(), this.#scopes)
  }

  /** Takes nothing more, waits at most `graceMs` for what is out, commits. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    if (this.#wake !== null) clearTimeout(this.#wake)
    const untilMs = performance.now() + graceMs
    while (this.#out > this.#batch.length && performance.now() < untilMs)
      await setTimeoutOf(closeCheckMs)
    if (this.#batch.length > 0 && !this.#isHeld) this.#commit()
  }

  #jobOf(source: string): Job | null {
    return this.#jobs.all().find((job) => job.spec.source === source) ?? null
  }

  #ttlMsOf(sourceId: number): number | null {
    const name = this.#scopes.get(sourceId)?.name
    const ttlDays = name === undefined ? null : this.#tools.described.get(name)?.ttlDays
    return ttlDays === null || ttlDays === undefined ? null : ttlDays * dayMs
  }

  #pump(): void {
    if (this.#isClosing) return
    const { limits } = this.#tools
    while (
      !this.#isHeld &&
      this.#active < limits.connections &&
      this.#out < 2 * limits.batchPages
    ) {
      const lease = this.#take()
      if (lease === null) break
      void this.#run(lease)
    }
    if (this.#isCommitDue()) this.#commit()
    this.#finishWhereDone()
    this.#schedule()
  }

  /** Taking writes nothing, but for a sweep of what has fallen due. */
  #take(): Lease | null {
    try {
      return this.#tools.frontier.take(this.#tools.now())
    } catch (error) {
      if (!isDiskFull(error)) throw error
      this.#hold()
      return null
    }
  }

  async #run(lease: Lease): Promise<void> {
    const { frontier, now, store } = this.#tools
    const job = this.#jobs.ofSource(lease.sourceId)
    this.#active++
    this.#out++
    if (job !== null) {
      job.out++
      if (!hasRoom(job)) this.#activate()
    }
    const visited = await visit(lease, {
      ...this.#tools,
      admits: () => this.#budgets.admits(job, lease),
      fingerprintSeed: store.fingerprintSeed,
      ruleFor: (url) => this.#tools.described.ruleFor(url, lease.sourceId, this.#scopes),
      urlsMax: this.#tools.limits.listUrlsMax,
      release: (crawlDelayMs, elapsedMs, pauseMs, fared) => {
        this.#active--
        const delayMs = this.#delayMs(lease, job, crawlDelayMs, elapsedMs)
        frontier.release(lease, now(), delayMs, pauseMs, fared)
        queueMicrotask(() => this.#pump())
      },
    })
    this.#budgets.visited(lease, visited.page !== null)
    const { name } = this.#scopes.get(lease.sourceId) ?? {}
    if (name !== undefined) visited.dropsCopies = this.#tools.described.get(name)?.copies === 'drop'
    if (this.#batch.length === 0) this.#batchSinceMs = now()
    this.#batch.push(visited)
    this.#batchBytes += weightOf(visited)
    this.#pump()
  }

  #delayMs(lease: Lease, job: Job | null, crawlDelayMs: number | null, elapsedMs: number): number {
    const wished = job?.spec.delayMs ?? this.#tools.defaultDelayMs(lease.url)
    const adaptive = wished === 0 ? 0 : Math.min(elapsedMs * latencyFactor, latencyDelayMaxMs)
    return Math.max(wished, crawlDelayMs ?? 0, adaptive)
  }

  #isCommitDue(): boolean {
    const { limits, now, frontier } = this.#tools
    if (this.#batch.length === 0 || this.#isHeld) return false
    return (
      this.#batch.length >= limits.batchPages ||
      this.#batchBytes >= limits.batchBytes ||
      now() - this.#batchSinceMs >= limits.batchMs ||
      this.#batch.some(isAlone) ||
      // Everything taken is here and nothing waits for its turn: only a commit can bring new links.
      (this.#out === this.#batch.length && frontier.counts().queued === 0)
    )
  }

  #commit(): void {
    const { diskFreeBytes, limits, onCommitted } = this.#tools
    if (diskFreeBytes() < limits.diskFreeBytes) return this.#hold()
    const batch = this.#batch
    let committed: Committed
    try {
      committed = this.#committer.commit(batch)
    } catch (error) {
      this.#discovery.rolledBack()
      if (!isDiskFull(error)) throw error
      return this.#hold()
    }
    this.#batch = []
    this.#batchBytes = 0
    this.#out -= batch.length
    this.#budgets.committed(batch.map(({ lease }) => lease))
    for (const { lease } of batch) {
      const job = this.#jobs.ofSource(lease.sourceId)
      if (job !== null) job.out = Math.max(0, job.out - 1)
    }
    this.#activate()
    onCommitted(committed)
    this.#report(false)
  }

  /** The disk is full: the store cannot be written, so the state is only shown. */
  #hold(): void {
    const { diskFreeBytes, limits, log } = this.#tools
    this.#isHeld = true
    const freeMb = Math.round(diskFreeBytes() / 1e6)
    const goesOnAtMb = Math.round((limits.diskFreeBytes * diskHysteresis) / 1e6)
    log('warn', 'disk full, the crawl waits', { freeMb, goesOnAtMb })
    for (const job of this.#jobs.running()) {
      job.state = 'waiting'
      job.note = `disk full: ${freeMb} MB free, goes on at ${goesOnAtMb} MB`
    }
    this.#report(true)
  }

  #goOnWhereRoom(): void {
    const { diskFreeBytes, limits, log } = this.#tools
    if (diskFreeBytes() < limits.diskFreeBytes * diskHysteresis) return
    this.#isHeld = false
    for (const job of this.#jobs.all()) {
      if (job.state !== 'waiting') continue
      job.state = 'running'
      job.note = ''
    }
    log('info', 'the disk has room again, the crawl goes on')
    this.#report(true)
  }

  #finishWhereDone(): void {
    if (this.#isHeld) return
    for (const job of this.#jobs.running()) {
      if (job.out > 0) continue
      if (!hasRoom(job))
        this.#end(job, 'limit', `${job.spec.maxPages} pages stored: the limit of this job`)
      else if (this.#tools.frontier.isFinished(job.sourceIds)) this.#endDone(job, '')
      else if (this.#isStuck(job))
        this.#endDone(job, `${this.#status(job).queued} URLs wait: their host does not answer`)
    }
  }

  /** Done, unless none of its seeds could be had. */
  #endDone(job: Job, waiting: string): void {
    const { seeds } = job.spec
    const problems = seedProblems(seeds, this.#tools.store)
    for (const { seed, problem } of problems)
      this.#tools.log('warn', 'seed not had', { seed, problem })
    const { state, note } = endOf(seeds, problems, waiting)
    this.#end(job, state, note)
  }

  /** Nothing is left but what lies on hosts that do not answer: it stays queued for the next run. */
  #isStuck({ sourceIds }: Job): boolean {
    const { frontier, now } = this.#tools
    const nowMs = now()
    if (this.#batch.length > 0 || (frontier.nextDueAt(nowMs) ?? 0) <= nowMs) return false
    if (frontier.counts(sourceIds).queued === 0) return false
    return frontier.isAllResting?.(sourceIds, nowMs) ?? false
  }

  #end(job: Job, state: 'done' | 'failed' | 'limit' | 'stopped' | 'paused', note: string): void {
    this.#tools.store.transaction(() => {
      this.#jobs.setState(job, state, note)
      if (state !== 'paused') this.runs.ended(job, state, note)
    })
    this.#activate()
    this.#tools.log('info', `job ${state}`, { job: job.id, stored: job.counts.stored })
    this.#report(true)
  }

  #goOn(job: Job, cause: RunCause = 'request'): void {
    const { store, frontier, allowSeed, described, now } = this.#tools
    const login =
      job.spec.source === undefined ? null : described.httpOf(job.spec.source).http.login
    for (const url of [...job.spec.seeds, ...(login === null ? [] : [login.url])]) allowSeed(url)
    store.transaction(() => {
      this.#jobs.setState(job, 'running')
      this.runs.started(job, cause)
      // What is new is found where things are listed, however long these were to wait.
      if (cause === 'schedule') store.makeListsDue(job.sourceIds, now())
      const seeds = [...sourceIdsOf(job.spec, store)].map(([url, sourceId]): FoundUrl => ({
        url,
        sourceId,
        depth: 0,
        isSeed: true,
      }))
      this.#loadScopes()
      void frontier.add([...seeds, ...this.#budgets.wantedAgain(job)])
    })
    this.#activate()
    if (cause === 'request')
      for (const seed of job.spec.seeds) frontier.wake?.(splitUrl(seed).origin, now())
    this.#report(true)
    queueMicrotask(() => this.#pump())
  }

  /** http -> https, or to www: the seed's own address leads elsewhere, so its scope goes along. */
  #followSeedRedirect({ lease, settlement }: Visited): void {
    if (lease.kind !== 'page' || lease.depth !== 0 || settlement.kind !== 'redirect') return
    const job = this.#jobs.ofSource(lease.sourceId)
    if (job === null || registrableDomain(settlement.to) !== registrableDomain(lease.url)) return
    const admits = (id: number): boolean => {
      const scope = this.#scopes.get(id)
      return scope !== undefined && isAdmitted(scope, settlement.to)
    }
    if (job.sourceIds.some(admits)) return
    const scope = scopeOf(job.spec, settlement.to)
    if (job.spec.source !== undefined) Object.assign(scope, { name: job.spec.source, place: -1 })
    const id = this.#tools.store.sourceFor(scopeKey(scope))
    this.#scopes.set(id, scope)
    job.sourceIds.push(id)
  }

  /** Sources of the running jobs that may still store a page. */
  #activate(): void {
    const ids = this.#jobs
      .running()
      .filter(hasRoom)
      .flatMap((job) => job.sourceIds)
    this.#tools.frontier.activate(ids)
  }

  #schedule(): void {
    if (this.#wake !== null) clearTimeout(this.#wake)
    this.#wake = null
    const { frontier, limits, now } = this.#tools
    const isQuiet = this.#jobs.running().length === 0 && this.#batch.length === 0 && !this.#isHeld
    if (this.#isClosing || isQuiet) return
    const nowMs = now()
    const waits = [wakeMaxMs]
    const dueAtMs = frontier.nextDueAt(nowMs)
    if (dueAtMs !== null && this.#active < limits.connections) waits.push(dueAtMs - nowMs)
    if (this.#batch.length > 0) waits.push(this.#batchSinceMs + limits.batchMs - nowMs)
    this.#wake = setTimeout(
      () => {
        this.#wake = null
        if (this.#isHeld) this.#goOnWhereRoom()
        this.#report(false)
        this.#pump()
      },
      Math.max(1, Math.min(...waits)),
    )
  }

  #report(isUrgent: boolean): void {
    const { now, onProgress } = this.#tools
    if (!isUrgent && now() - this.#reportedAtMs < progressMs) return
    this.#reportedAtMs = now()
    onProgress(this.jobs())
  }

  #status(job: Job): JobStatus {
    return this.#jobs.status(job, this.#tools.frontier.counts(job.sourceIds).queued)
  }

  #loadScopes(): void {
    for (const source of this.#tools.store.sources()) {
      if (source.spec === importSourceKey) continue
      this.#scopes.set(source.id, JSON.parse(source.spec) as ScopeSpec)
    }
  }
}

const hasRoom = ({ spec, counts, out }: Job): boolean =>
  spec.maxPages === null || counts.stored + out < spec.maxPages
