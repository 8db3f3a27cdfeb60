/** The main thread's whole: locks the directory, starts engine and search threads, restarts them, hands out the ports, closes in order. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel } from 'node:worker_threads'
import { prepareTextTables } from './assets.ts'
import type { Config } from './config.ts'
import { KeptThread } from './kept-thread.ts'
import { AppError } from './lib/errors.ts'
import { collectGarbage } from './lib/garbage.ts'
import { lockDirectory } from './lib/lock.ts'
import { createGate, openGate } from './lib/gate.ts'
import type { Log } from './lib/log.ts'
import { tuneAllocator } from './lib/mmap.ts'
import { letHelpersBeNicer } from './lib/priority.ts'
import { sendEvent, type Caller } from './lib/rpc.ts'
import { machineOf } from './machine.ts'
import { profileOf, refuseTooLittle, type Profile } from './memory.ts'
import { createQueryMemory, type QueryMemory } from './query-memory.ts'
import type { SearchAnswer } from './search/answer.ts'
import type { AskedQuery } from './store/asked-queries.ts'
import type { ExportCall, SearchCall, SimilarCall } from './searcher.ts'
import type { CrawlControl, Health, IndexControl, SearchPort } from './server/control.ts'
import { keepSmall } from './small.ts'
import type { JobStatus } from './store/records.ts'

export type AppOptions = {
  config: Config
  directory: string
  /** Without it the directory is opened for reading only: no lock, no engine, no crawl. */
  engine: boolean
  /** Go on with jobs that were running when the process ended. */
  resumeJobs: boolean
  search: boolean
  log: Log
}

export type App = {
  search: SearchPort
  crawl: CrawlControl
  index: IndexControl
  /** Calls to the engine that only the command line makes: import, rebuild, finish. */
  engine: Caller['call']
  health: () => Health
  announce: (address: string) => void
  /** Called once the engine has caught up with what was committed before. */
  ready: () => Promise<void>
  close: () => Promise<void>
}

/** So long after the last query nobody is there to notice that the next one takes a little longer. */
const restAfterMs = 3_000

/** @throws AppError usage | locked | cannot_create */
export async function openApp(options: AppOptions): Promise<App> {
  const { directory, log } = options
  if (options.engine) refuseTooLittle(options.config)
  await tuneAllocator()
  // Young generations are small: waking other threads for them costs more than they take off (11 % in one pair of runs; lost in noise in another).
  setFlagsFromString('--no-parallel-scavenge')
  // The blocks of a large page outlive some collections, so V8 came to make those of all pages in the old generation: twice the marking.
  setFlagsFromString('--no-allocation-site-pretenuring')
  const lock = options.engine ? lockDirectory(directory) : null
  const profile = profileOf(options.config, machineOf(directory, options.config.flash))
  const config = { ...options.config, ...profile.settings }
  if (options.engine) reportProfile(profile, log)
  if (options.engine && options.search) letHelpersBeNicer()
  const progress = new Progress()
  const threads = startThreads(options, config, profile, progress)
  const { engine, search } = threads
  const queries: Queries = { open: 0, lastMs: 0 }
  const ready = async (): Promise<void> => {
    await engine?.ready()
    await search?.ready()
  }
  const endSmall = keepSmall(
    { ready, isIdle: () => isIdle(threads, queries, progress), rest: () => restAll(threads) },
    config.memory * 1_024 * 1_024,
  )
  const memory = queryMemoryOf(config, engine, log)
  return {
    search: searchPort(config, search, memory, queries),
    crawl: crawlControl((name, input) => callerOf(engine).call(name, input), progress),
    index: {
      reindex: async () => callerOf(engine).call('reindex'),
      reindexStatus: async () => callerOf(engine).call('reindexProgress'),
    },
    engine: async (name, input, transfer) => callerOf(engine).call(name, input, transfer),
    health: () => ({
      ready: search?.isReady() === true && engine?.isReady() !== false,
      search: search?.isReady() === true,
      engine: engine?.isReady() === true,
      crawl: progress.inWords,
      restarts: (engine?.restarts ?? 0) + (search?.restarts ?? 0),
    }),
    announce: (address) => lock?.announce(address),
    ready,
    close: async () => {
      endSmall()
      await search?.stop()
      memory?.flush()
      await engine?.stop()
      lock?.release()
    },
  }
}

/** null where queries are not to be remembered, or nobody could write them. */
function queryMemoryOf(config: Config, engine: KeptThread | null, log: Log): QueryMemory | null {
  if (engine === null || config['remember-queries'] === 'off') return null
  const send = async (asked: AskedQuery[]): Promise<void> => {
    try {
      await engine.caller().call('remember', asked)
    } catch (error) {
      // An engine that is away misses some counts, no more.
      log('debug', 'queries were not counted', { error: String(error) })
    }
  }
  return createQueryMemory((asked) => void send(asked))
}

function reportProfile({ gaveUp, bloom }: Profile, log: Log): void {
  if (bloom === 'memory')
    log('info', 'spares the flash card: commits are larger, new pages are found up to 30 s later')
  for (const sentence of gaveUp) log('info', `to stay small: ${sentence}`)
}

type Threads = { engine: KeptThread | null; search: KeptThread | null }

/** All at once: each loads its code, and waits only where it is to read what another makes. */
function startThreads(
  { directory, log, engine: hasEngine, search: hasSearch, resumeJobs }: AppOptions,
  config: Config,
  profile: Profile,
  progress: Progress,
): Threads {
  const threads: Threads = { engine: null, search: null }
  const { shared: tables, fill } = prepareTextTables()
  const [tablesAreFilled, storeIsOpen] = [createGate(), createGate()]
  if (hasEngine) {
    threads.engine = new KeptThread({
      role: 'engine',
      data: { config, profile, directory, tables, resumeJobs },
      gate: tablesAreFilled,
      limits: profile.heaps.engine,
      log,
      onReady: () => {
        openGate(storeIsOpen)
        linkThreads(threads)
      },
      events: { progress: (jobs: JobStatus[]) => progress.take(jobs) },
    })
  }
  if (hasSearch) {
    const file = join(directory, 'findling.db')
    threads.search = new KeptThread({
      role: 'search',
      data: { profile, file, tables },
      // The engine makes the tables of a new directory, and mends those of an old one.
      gate: hasEngine ? storeIsOpen : tablesAreFilled,
      limits: profile.heaps.search,
      log,
      onReady: () => linkThreads(threads),
      events: {},
    })
  }
  threads.engine?.start()
  threads.search?.start()
  try {
    fill()
  } catch (error) {
    for (const thread of [threads.engine, threads.search]) void thread?.stop()
    throw error
  }
  openGate(tablesAreFilled)
  return threads
}

/** Engine and search talk directly, over a fresh channel after every start of either. */
function linkThreads({ engine, search }: Threads): void {
  const [writing, reading] = [engine?.worker() ?? null, search?.worker() ?? null]
  if (engine?.isReady() !== true || search?.isReady() !== true) return
  if (writing === null || reading === null) return
  const { port1, port2 } = new MessageChannel()
  sendEvent(writing, 'link', port1, [port1])
  sendEvent(reading, 'link', port2, [port2])
}

const callerOf = (thread: KeptThread | null): Caller => {
  if (thread === null) throw new AppError('locked', 'The directory is open for reading only.')
  return thread.caller()
}

/** The last word of the crawl, and who wants to hear the next one. */
class Progress {
  readonly listeners = new Set<(jobs: JobStatus[]) => void>()
  inWords = 'idle'

  take(jobs: JobStatus[]): void {
    const running = jobs.filter((job) => job.state === 'running').length
    const waiting = jobs.find((job) => job.state === 'waiting')
    this.inWords = waiting?.note ?? (running === 0 ? 'idle' : `${running} running`)
    for (const listener of this.listeners) listener(jobs)
  }
}

type Queries = { open: number; lastMs: number }

function isIdle({ engine }: Threads, { open, lastMs }: Queries, { inWords }: Progress): boolean {
  if (open > 0 || Date.now() < lastMs + restAfterMs || inWords !== 'idle') return false
  return engine === null || (engine.isReady() && engine.caller().open() === 0)
}

/** The engine first: it knows whether something goes on. */
async function restAll({ engine, search }: Threads): Promise<boolean> {
  try {
    if (engine !== null && !(await engine.caller().call<boolean>('rest'))) return false
    await search?.caller().call('rest')
  } catch (error) {
    // A thread that dies or ends gives back everything.
    if (error instanceof AppError && error.code !== 'internal') return false
    throw error
  }
  await collectGarbage()
  return true
}

/** At most `search-queue` queries wait or run at a time; more are refused at once, so that those accepted are answered in time. */
function searchPort(
  config: Config,
  thread: KeptThread | null,
  memory: QueryMemory | null,
  queries: Queries,
): SearchPort {
  const ask = async <T>(name: string, input?: unknown): Promise<T> => {
    if (queries.open >= config['search-queue']) {
      throw new AppError('overloaded', 'Too many queries at once.', { retryAfterS: 1 })
    }
    queries.open++
    try {
      return await callerOf(thread).call(name, input)
    } finally {
      queries.open--
      queries.lastMs = Date.now()
    }
  }
  return {
    async search(request) {
      const untilMs = Date.now() + config['search-deadline-ms']
      const answer = await ask<SearchAnswer>('search', { request, untilMs } satisfies SearchCall)
      memory?.note(request, answer)
      return answer
    },
    suggest: (q, limit) => ask('suggest', { q, limit }),
    document: (id) => ask('document', id),
    similar: (id, limit) => {
      const untilMs = Date.now() + config['search-deadline-ms']
      return ask('similar', { id, limit, untilMs } satisfies SimilarCall)
    },
    stats: () => ask('stats'),
    exportAfter: (after, limit) => ask('export', { after, limit } satisfies ExportCall),
    isReady: () => thread?.isReady() === true,
  }
}

function crawlControl(call: Caller['call'], progress: Progress): CrawlControl {
  const ask = async <T>(name: string, input?: unknown): Promise<T> => call(name, input)
  return {
    start: (spec) => ask('start', spec),
    jobs: () => ask('jobs'),
    job: (id) => ask('job', id),
    pause: (id) => ask('setState', { id, state: 'paused' }),
    resume: (id) => ask('setState', { id, state: 'running' }),
    stop: (id) => ask('setState', { id, state: 'stopped' }),
    explain: (url) => ask('explain', url),
    sources: () => ask('sources'),
    putSource: (given, { mayReplace }) => ask('putSource', { given, mayReplace }),
    removeSource: (name) => ask('removeSource', name),
    startSource: (name) => ask('startSource', name),
    runs: (name) => ask('runs', name),
    hosts: () => ask('hosts'),
    host: (host) => ask('host', host),
    decideRule: (host, rule, state) => ask('decideRule', { host, rule, state }),
    filters: () => ask('filters'),
    copyGroups: (cursor, limit) => ask('copyGroups', { cursor, limit }),
    onProgress(listener) {
      progress.listeners.add(listener)
      return () => progress.listeners.delete(listener)
    },
  }
}

/** The administration key: as configured, else made once and kept in DATA/admin.key (0600). */
export function adminKey(config: Config, directory: string): string {
  if (config.key !== '') return config.key
  const file = join(directory, 'admin.key')
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const key = randomBytes(16).toString('hex')
  writeFileSync(file, `${key}\n`, { mode: 0o600 })
  return key
}
