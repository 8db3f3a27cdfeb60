/** The engine thread: owns the only writable database; wires frontier, fetch, parsers, duplicates and index writer to one crawl. */
import assert from 'node:assert'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parentPort, type MessagePort } from 'node:worker_threads'
import { spawnThread } from './assets.ts'
import type { Config } from './config.ts'
import { CookieFile, cookieFileName } from './crawl/cookie-file.ts'
import { Crawl } from './crawl/crawl.ts'
import type { CrawlTools } from './crawl/crawl-tools.ts'
import { expireAll, keepExpiring, type ExpiryTools } from './crawl/expiry.ts'
import { Scheduler } from './crawl/scheduler.ts'
import { failedRule } from './crawl/rule-counts.ts'
import { type Committed, nothingCommitted } from './crawl/commit.ts'
import { Described } from './crawl/described.ts'
import { openDistinct, type Distinct } from './crawl/distinct.ts'
import { loadInSlices, openDuplicates, type Duplicates } from './crawl/duplicates.ts'
import { explainUrl } from './crawl/explain.ts'
import { fetchPage, fetchRobots, type FetchLimits } from './crawl/fetch.ts'
import { openFrontier } from './crawl/frontier-sqlite.ts'
import type { Frontier, Lease } from './crawl/frontier.ts'
import { importLines, type ImportLine } from './crawl/import-lines.ts'
import type { FetchOutcome, ListOutcome, ParseOutcome } from './crawl/page.ts'
import { createRobotsGate, type RobotsGate, type StoredRobots } from './crawl/robots-gate.ts'
import { covers } from './crawl/scope.ts'
import { listBytesMax } from './crawl/sitemap.ts'
import { originOf, reportHost, reportHosts } from './crawl/host-report.ts'
import { HostRules } from './crawl/host-rules.ts'
import { Sessions, type SessionSettings } from './crawl/sessions.ts'
import { openSeenFilter, type SeenFile } from './crawl/seen.ts'
import { crawlLimitsOf, revisitsOf } from './crawl-options.ts'
import { agentToken, egressOptions, fetchLimits } from './egress-options.ts'
import { openEngineStore } from './engine-store.ts'
import { IndexKeeper } from './index-keeper.ts'
import { createEgress, type Egress } from './lib/egress.ts'
import { AppError, plainError } from './lib/errors.ts'
import { collectGarbage } from './lib/garbage.ts'
import type { Log } from './lib/log.ts'
import { createPool, JobFailure, type Pool } from './lib/pool.ts'
import { beNicer } from './lib/priority.ts'
import { answerCalls, createCaller, sendEvent } from './lib/rpc.ts'
import type { Profile } from './memory.ts'
import { dropPages, isDiskFull } from './lib/sqlite.ts'
import type { ParserAnswer, ParserJob } from './parser.ts'
import type { Filters } from './server/control.ts'
import type {
  CrawlSpec,
  HostStatus,
  LearnedRule,
  LearnedState,
  SourceStatus,
} from './store/records.ts'
import { type AskedQuery, forgetQueries, rememberQueries } from './store/asked-queries.ts'
import type { Store } from './store/store.ts'
import { loadTextTables } from './text/tables.ts'
import { wordFolderOf } from './word-folder.ts'
import { WordKeeper } from './word-keeper.ts'

export type EngineData = {
  /** As the profile has it. */
  config: Config
  profile: Profile
  directory: string
  tables: SharedArrayBuffer
  /** Go on with the jobs of the process before. */
  resumeJobs: boolean
  /** The thread before this one died: its jobs go on. */
  isRestart: boolean
}

export type EngineCost = { engineMs: number; parsersMs: number; indexMs: number }

const hourMs = 3_600_000
const publicDelayMs = 1_000
const closeGraceMs = 10_000
const copyHostsShown = 50
/** Pages waiting for a parser: what two batches may hold. */
const parserQueueMax = 10_000

export async function run(data: EngineData): Promise<void> {
  if (parentPort === null) return
  const port = parentPort
  const log: Log = (level, event, fields) => sendEvent(port, 'log', { level, event, fields })
  let engine: Engine
  try {
    engine = await Engine.open(data, log)
  } catch (error) {
    // What a person must mend is told once; a restart would only repeat it.
    if (!(error instanceof AppError)) throw error
    sendEvent(port, 'refused', plainError(error))
    port.close()
    return
  }
  beNicer()
  createCaller(port).onEvent('link', (search: MessagePort) => engine.link(search))
  answerCalls(port, engine.handlers())
  sendEvent(port, 'ready', null)
  engine.begin()
}

class Engine {
  readonly #data: EngineData
  readonly #log: Log
  readonly #store: Store
  readonly #egress: Egress
  readonly #sessions: Sessions
  readonly #seen: SeenFile
  readonly #frontier: Frontier
  readonly #rules: HostRules
  readonly #duplicates: Duplicates
  readonly #distinct: Distinct
  readonly #robots: RobotsGate
  readonly #parsers: Pool<ParserJob, ParserAnswer>
  /** CPU time of each parser thread so far, by its id. */
  readonly #parserMs = new Map<number, number>()
  readonly #index: IndexKeeper
  readonly #words: WordKeeper
  readonly #described: Described
  readonly #crawl: Crawl
  readonly #scheduler: Scheduler
  #endExpiry: () => void = () => {}

  static async open(data: EngineData, log: Log): Promise<Engine> {
    const { directory, profile } = data
    const store = openEngineStore(directory, profile, log)
    const seenFile = join(directory, 'seen.bloom')
    const seen = await openSeenFilter(seenFile, store, log, profile.bloom)
    return new Engine(data, log, store, seen)
  }

  private constructor(data: EngineData, log: Log, store: Store, seen: SeenFile) {
    const { config, tables } = data
    this.#data = data
    this.#log = log
    this.#store = store
    this.#seen = seen
    this.#egress = createEgress(egressOptions(config))
    this.#rules = new HostRules(this.#store)
    const cookies = new CookieFile(join(data.directory, cookieFileName), log)
    this.#sessions = new Sessions(
      this.#egress,
      (id) => this.#sessionSettings(id),
      log,
      Date.now,
      cookies,
    )
    this.#frontier = openFrontier(this.#store, {
      judge: (url, isOfOwnShape) => this.#rules.verdict(url, isOfOwnShape),
      onLinksAdded: (urlId, elsewhere) => this.#rules.linksAdded(urlId, elsewhere),
      relistMs: config['recrawl-hours-min'] * hourMs,
      seen: this.#seen,
      hostConnections: config['host-connections'],
      covers: (wideId, narrowId) => this.#covers(wideId, narrowId),
      now: Date.now,
    })
    this.#duplicates = openDuplicates(store.db, { radius: config['simhash-radius'] })
    this.#distinct = openDistinct(store)
    this.#robots = this.#openRobots()
    this.#parsers = this.#openParsers()
    this.#index = new IndexKeeper(this.#store, loadTextTables(tables), log, data.profile.pending)
    this.#words = new WordKeeper({
      store,
      duplicates: this.#duplicates,
      folder: wordFolderOf(config, data.directory),
      onChanged: (promoted) => this.#index.take({ ...nothingCommitted(), promoted: [...promoted] }),
      log,
    })
    this.#described = new Described(this.#store)
    this.#crawl = new Crawl(this.#crawlTools())
    this.#scheduler = this.#openScheduler()
  }

  begin(): void {
    if (this.#data.config['remember-queries'] === 'off') forgetQueries(this.#store.db)
    this.#index.keepWorking()
    loadInSlices(this.#distinct)
    this.#words.begin()
    if (this.#data.resumeJobs || this.#data.isRestart) this.#crawl.resumeAll()
    if (!this.#data.resumeJobs) return
    this.#scheduler.begin()
    this.#endExpiry = keepExpiring(this.#expiryTools(), hourMs)
  }

  #expiryTools(): ExpiryTools {
    return {
      store: this.#store,
      duplicates: this.#duplicates,
      ttls: () => this.#crawl.ttls(),
      onCommitted: (committed) => this.#index.take(committed),
      now: Date.now,
    }
  }

  #openScheduler(): Scheduler {
    return new Scheduler({
      store: this.#store,
      runs: this.#crawl.runs,
      plans: () => this.#described.plans(),
      isRunning: (name) => this.#crawl.isUnderWay(name),
      start: (name) => void this.#crawl.startSource(name, 'schedule'),
      setTimer(ring, waitMs) {
        const timer = setTimeout(ring, waitMs)
        return () => clearTimeout(timer)
      },
      log: this.#log,
      now: Date.now,
    })
  }

  /** The description as it is shown, with the time of its next run. */
  #putSource(given: unknown, mayReplace: boolean): SourceStatus {
    const { name } = this.#described.put(given, mayReplace, (before, after) =>
      this.#sessions.changed(after.name, isDeepStrictEqual(before?.http, after.http)),
    )
    this.#scheduler.changed()
    const status = this.#sources().find((source) => source.name === name)
    assert(status, 'a source that was put is there')
    return status
  }

  #removeSource(name: string): void {
    this.#described.remove(name)
    this.#sessions.forget(name)
    this.#scheduler.changed()
  }

  #decideRule(host: string, { kind, name }: LearnedRule, state: LearnedState): HostStatus {
    const origin = originOf(host, this.#store)
    this.#crawl.decideRule(origin, kind === 'shape' ? { shape: name } : { parameter: name }, state)
    return reportHost(origin, this.#store, Date.now())
  }

  #sources(): SourceStatus[] {
    return this.#described.all((name) => this.#scheduler.nextAt(name))
  }

  /** Gives back what can be made again; false where something goes on. Parser threads live for 30 s after a page. */
  async #rest(): Promise<boolean> {
    if (!this.#crawl.isIdle() || this.#parsers.threads > 0) return false
    this.#duplicates.forget()
    dropPages(this.#store.db)
    await collectGarbage()
    return true
  }

  link(search: MessagePort): void {
    this.#index.link(search)
    this.#words.link(search)
  }

  handlers(): Parameters<typeof answerCalls>[1] {
    const crawl = this.#crawl
    return {
      start: (spec: CrawlSpec) => crawl.start(spec),
      jobs: () => crawl.jobs(),
      job: (id: number) => crawl.job(id),
      setState: ({ id, state }: { id: number; state: 'paused' | 'running' | 'stopped' }) =>
        crawl.setState(id, state),
      explain: (url: string) =>
        explainUrl(url, {
          store: this.#store,
          robots: this.#robots,
          scopes: crawl.scopes(),
          seen: this.#seen,
          rules: this.#rules,
          described: this.#described,
          budgetLines: (each) => crawl.budgetLines(each),
        }),
      sources: () => this.#sources(),
      putSource: ({ given, mayReplace }: { given: unknown; mayReplace: boolean }) =>
        this.#putSource(given, mayReplace),
      removeSource: (name: string) => this.#removeSource(name),
      startSource: (name: string) => crawl.startSource(name),
      runs: (name: string) => crawl.runsOf(name),
      hosts: () => reportHosts(this.#store, Date.now()),
      host: (host: string) => reportHost(host, this.#store, Date.now()),
      decideRule: (input: { host: string; rule: LearnedRule; state: LearnedState }) =>
        this.#decideRule(input.host, input.rule, input.state),
      import: (input: { lines: readonly ImportLine[]; dedupe: boolean }) =>
        this.#import(input.lines, input.dedupe),
      rebuild: () => this.#rebuild(),
      expire: () => expireAll(this.#expiryTools()),
      reindex: () => this.#index.reindex(),
      reindexProgress: () => this.#index.reindexProgress(),
      catchUp: () => this.#index.catchUp(),
      finish: () => this.#index.finish(),
      remember: (asked: readonly AskedQuery[]) =>
        rememberQueries(this.#store.db, asked, Date.now()),
      filters: () => this.#filters(),
      copyGroups: ({ cursor, limit }: { cursor: number | null; limit: number }) =>
        this.#store.copyGroupsAfter(cursor, limit),
      cost: () => this.#cost(),
      rest: () => this.#rest(),
      close: () => this.#close(),
    }
  }

  async #import(lines: readonly ImportLine[], dedupe: boolean): ReturnType<typeof importLines> {
    return importLines(lines, dedupe, {
      store: this.#store,
      frontier: this.#frontier,
      duplicates: this.#duplicates,
      distinct: this.#distinct,
      analyse: (record) =>
        this.#parse({ kind: 'record', record, seed: this.#store.fingerprintSeed }),
      onCommitted: (committed) => this.#committed(committed),
      now: Date.now,
    })
  }

  #filters(): Filters {
    const { keys, bytes, mode, falsePositives } = this.#seen.stats()
    const { urls, distinct } = this.#store.stats()
    return {
      seen: { urls, keys, bytes, mode, false_positives: falsePositives },
      distinct,
      copies: this.#store.copyCounts(copyHostsShown),
      words: this.#words.status(),
    }
  }

  #committed(committed: Committed): void {
    this.#index.take(committed)
    this.#words.committed(committed)
  }

  /** Everything derived is made again: index, filter of seen URLs, tables of the SimHash store. */
  async #rebuild(): Promise<{ documents: number }> {
    await this.#seen.rebuild()
    this.#duplicates.forget()
    return { documents: await this.#index.rebuild() }
  }

  /** CPU time by thread, and within the engine's that of the index: for `crawl --stats`. */
  #cost(): EngineCost {
    const { user, system } = process.threadCpuUsage()
    const parsersMs = [...this.#parserMs.values()].reduce((sum, ms) => sum + ms, 0)
    return { engineMs: (user + system) / 1000, parsersMs, indexMs: this.#index.spentMs() }
  }

  async #close(): Promise<void> {
    this.#scheduler.close()
    this.#endExpiry()
    await this.#crawl.close(closeGraceMs)
    this.#sessions.close()
    this.#words.close()
    await this.#parsers.close()
    this.#index.close()
    this.#frontier.close()
    this.#seen.close()
    this.#distinct.close()
    await this.#egress.close()
    this.#store.close()
    // Whatever still holds the loop (a socket in its last packet) must not hold the process.
    setTimeout(() => process.exit(0), 50)
  }

  #covers(wideId: number, narrowId: number): boolean {
    const scopes = this.#crawl.scopes()
    const [wide, narrow] = [scopes.get(wideId), scopes.get(narrowId)]
    return wide !== undefined && narrow !== undefined && covers(wide, narrow)
  }

  /** The scopes of a described source share its settings; any other source has a jar of its own. */
  #sessionSettings(sourceId: number): SessionSettings {
    const name = this.#crawl.scopes().get(sourceId)?.name
    return { key: name ?? `#${sourceId}`, ...this.#described.httpOf(name ?? '') }
  }

  async #fetch(lease: Lease, limits: FetchLimits): Promise<FetchOutcome> {
    const session = this.#sessions.of(lease.sourceId)
    const outcome = await fetchPage(session, lease, limits)
    if (outcome.kind !== 'redirect' || !session.hasCookieFor(lease.url)) return outcome
    return { ...outcome, withCookie: true }
  }

  #openRobots(): RobotsGate {
    return createRobotsGate(
      agentToken,
      (origin, sourceId) => fetchRobots(this.#sessions.of(sourceId).bare, origin),
      (origin) => this.#store.robotsOf(origin),
      (origin, robots) => this.#saveRobots(origin, robots),
    )
  }

  /** Kept for the next start only: a full disk is no reason to stop here. */
  #saveRobots(origin: string, robots: StoredRobots): void {
    try {
      this.#store.transaction(() => this.#store.putRobots(origin, robots, Date.now()))
    } catch (error) {
      if (!isDiskFull(error)) throw error
    }
  }

  #openParsers(): Pool<ParserJob, ParserAnswer> {
    const { config, profile, tables } = this.#data
    return createPool({
      spawn: () =>
        spawnThread(
          'parser',
          { config, usesKeywordModel: profile.usesKeywordModel, tables },
          {
            resourceLimits: profile.heaps.parser,
          },
        ),
      sizeMax: config.parsers,
      jobTimeoutMs: config['parse-timeout-ms'],
      // A page that waits for a core is no hostile one: with the seed of a site all of it was lost.
      patience: 6,
      queueMax: parserQueueMax,
    })
  }

  /**
   * What kills or stalls a parser is a fact about the page, not a fault of ours. Where the page has a rule, it is read once more without
   * it: a rule that is too slow costs the page its fields, not its place in the index.
   */
  async #parse(job: ParserJob): Promise<ParseOutcome> {
    if (job.kind !== 'page' || job.job.rule === null) return this.#analyse<ParseOutcome>(job)
    const { rule } = job.job
    const bare = { ...job.job, rule: null, body: job.job.body.slice(0) }
    const outcome = await this.#analyse<ParseOutcome>(job)
    const isTheRule = outcome.kind === 'failed' && outcome.reason.startsWith('parser-')
    if (!isTheRule || rule.rule.format === 'json') return outcome
    const again = await this.#analyse<ParseOutcome>({ kind: 'page', job: bare })
    if (again.kind === 'page')
      Object.assign(again.page, failedRule(rule, `given up (${outcome.reason})`))
    return again
  }

  async #analyse<Outcome extends ParseOutcome | ListOutcome>(
    job: ParserJob,
  ): Promise<Outcome | { kind: 'failed'; reason: string }> {
    // Pages are going to be looked up: the tables are read meanwhile.
    if (this.#parsers.threads === 0) loadInSlices(this.#duplicates)
    try {
      const transfer = job.kind === 'record' ? [] : [job.job.body]
      const words = this.#words.inForce()
      const { outcome, threadId, cpuMs } = await this.#parsers.run({ ...job, words }, transfer)
      if (outcome.kind === 'page') outcome.page.wordsVersion = words.version
      this.#parserMs.set(threadId, cpuMs)
      // A job is answered in its kind.
      return outcome as Outcome
    } catch (error) {
      const reason = error instanceof JobFailure ? `parser-${error.kind}` : 'parser-error'
      this.#log('warn', 'page not parsed', {
        url: job.kind === 'record' ? job.record.url : job.job.url,
        reason,
        detail: (error as Error).message,
      })
      return { kind: 'failed', reason }
    }
  }

  #crawlTools(): CrawlTools {
    const { config, directory } = this.#data
    const limits = fetchLimits(config)
    // Sitemaps may be far longer than pages.
    const listLimits = { ...limits, wireBytesMax: Math.max(limits.wireBytesMax, listBytesMax) }
    return {
      store: this.#store,
      frontier: this.#frontier,
      duplicates: this.#duplicates,
      distinct: this.#distinct,
      robots: this.#robots,
      described: this.#described,
      fetchPage: (lease, takes) => {
        const isAny = takes === 'any' || lease.kind !== 'page'
        const kindLimits = lease.kind === 'page' ? limits : listLimits
        return this.#fetch(lease, isAny ? { ...kindLimits, takes: 'lists' } : limits)
      },
      parse: (job) => this.#parse({ kind: 'page', job }),
      parseList: (job) => this.#analyse<ListOutcome>({ kind: 'list', job }),
      rules: this.#rules,
      revisits: revisitsOf(config),
      defaultDelayMs: (url) => (this.#egress.isAllowedPrivate(url) ? 0 : publicDelayMs),
      allowSeed: (url) => {
        const { hostname, port, protocol } = new URL(url)
        this.#egress.allowPort(
          hostname,
          port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
        )
      },
      diskFreeBytes: () => {
        const { bavail, bsize } = statfsSync(directory)
        return bavail * bsize
      },
      onCommitted: (committed) => this.#committed(committed),
      onProgress: (jobs) => {
        if (parentPort !== null) sendEvent(parentPort, 'progress', jobs)
        if (this.#crawl?.isIdle()) this.#index.settle()
      },
      limits: crawlLimitsOf(config),
      log: this.#log,
      now: Date.now,
      random: Math.random,
    }
  }
}
