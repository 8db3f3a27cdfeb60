/** A thread that is started again when it dies: what waited for it is answered with an error, what comes later goes to the next one. */
import type { ResourceLimits, Worker } from 'node:worker_threads'
import { spawnThread } from './assets.ts'
import { AppError, reviveError, type PlainError } from './lib/errors.ts'
import type { Log, LogFields, LogLevel } from './lib/log.ts'
import type { Gate } from './lib/gate.ts'
import { createCaller, type Caller } from './lib/rpc.ts'

export type ThreadOptions = {
  role: 'engine' | 'search'
  data: Record<string, unknown>
  /** It loads its code at once, and begins its work when this is open. */
  gate: Gate
  limits: ResourceLimits
  log: Log
  /** After each start, when it answers calls. */
  onReady: () => void
  /** Further events that it sends, by name. */
  events: Record<string, (value: never) => void>
}

const restartDelayMs = 50
const restartDelayMaxMs = 5_000
/** What has never run will not run by trying on. */
const firstStartsMax = 3
/** It has its own grace for what is under way; this is for one that hangs. */
const closeMs = 20_000

export class KeptThread {
  readonly #options: ThreadOptions
  readonly #firstReady: Promise<void>
  #settleFirst: { resolve: () => void; reject: (error: Error) => void } | null = null
  #worker: Worker | null = null
  #caller: Caller | null = null
  #deathsInARow = 0
  #isClosing = false
  #wasReady = false
  restarts = 0

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#firstReady = new Promise((resolve, reject) => {
      this.#settleFirst = { resolve, reject }
    })
    // Who never asks is not to be ended by a refusal.
    this.#firstReady.catch(() => {})
  }

  /** The first start; later ones happen by themselves. */
  start(): void {
    const { role, data, gate, limits, log, events } = this.#options
    const isRestart = this.restarts > 0
    const worker = spawnThread(role, { ...data, gate, isRestart }, { resourceLimits: limits })
    const caller = createCaller(worker)
    this.#worker = worker
    caller.onEvent('log', (line: { level: LogLevel; event: string; fields: LogFields }) =>
      log(line.level, line.event, line.fields),
    )
    for (const [name, listener] of Object.entries(events)) caller.onEvent(name, listener)
    caller.onEvent('ready', () => {
      this.#caller = caller
      this.#deathsInARow = 0
      this.#wasReady = true
      this.#settleFirst?.resolve()
      this.#options.onReady()
    })
    caller.onEvent('refused', (refusal: PlainError) => {
      // What a person must mend does not mend itself by another start.
      this.#isClosing = true
      this.#settleFirst?.reject(reviveError(refusal))
    })
    worker.on('error', (error) => {
      const where = error.stack?.split('\n')[1]?.trim()
      log('error', `the ${role} thread died`, { reason: error.message, where })
    })
    worker.on('exit', () => this.#onExit(caller))
  }

  #onExit(caller: Caller): void {
    const { role } = this.#options
    this.#caller = null
    this.#worker = null
    caller.fail(
      new AppError('starting', `The ${role} thread is being restarted.`, { retryAfterS: 1 }),
    )
    if (this.#isClosing) return
    this.restarts++
    this.#deathsInARow++
    if (this.#deathsInARow >= firstStartsMax && !this.#wasReady) {
      this.#isClosing = true
      this.#settleFirst?.reject(new Error(`the ${role} thread cannot start`))
      return
    }
    const delayMs = Math.min(restartDelayMaxMs, restartDelayMs * 2 ** this.#deathsInARow)
    setTimeout(() => {
      if (!this.#isClosing) this.start()
    }, delayMs)
  }

  isReady(): boolean {
    return this.#caller !== null
  }

  /** Resolves at its first readiness; rejects where it refused to start. */
  ready(): Promise<void> {
    return this.#firstReady
  }

  worker(): Worker | null {
    return this.#worker
  }

  /** @throws AppError starting | shutting_down */
  caller(): Caller {
    const { role } = this.#options
    if (this.#isClosing) throw new AppError('shutting_down', 'Findling is shutting down.')
    if (this.#caller === null) {
      throw new AppError('starting', `The ${role} thread is starting.`, { retryAfterS: 1 })
    }
    return this.#caller
  }

  /** Lets it end in order; ends it by force where it hangs. */
  async stop(): Promise<void> {
    this.#isClosing = true
    const [worker, caller] = [this.#worker, this.#caller]
    if (worker === null) return
    const ended = new Promise<void>((done) => worker.once('exit', () => done()))
    const late = setTimeout(() => void worker.terminate(), closeMs)
    if (caller === null) await worker.terminate()
    else await caller.call('close').catch(() => worker.terminate())
    await ended
    clearTimeout(late)
  }
}
