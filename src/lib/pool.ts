/** Worker threads with a time limit per job. A job that overruns costs its thread, never the service; knows nothing of what the jobs do. */
import assert from 'node:assert'
import type { Transferable, Worker } from 'node:worker_threads'
import { type PlainError, reviveError } from './errors.ts'

/** What a thread is sent, and what it must answer exactly once for each. */
export type JobMessage<Job> = { id: number; job: Job }
export type JobReply<Result> = { id: number; result: Result } | { id: number; error: PlainError }
/** What a thread may say once, before its first answer: its modules are loaded. */
export const threadIsReady = 'ready'

/**
 * timeout: ran too long, its thread was ended. heap: its thread ran out of memory. crashed: its thread ended otherwise.
 * full: the queue has no room, nothing was started. closed: the pool was closed before it was done.
 */
export type JobFailureKind = 'timeout' | 'heap' | 'crashed' | 'full' | 'closed'

/** Why a job has no result though it did not fail by itself. Callers switch on `kind`. */
export class JobFailure extends Error {
  readonly kind: JobFailureKind
  constructor(kind: JobFailureKind, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.name = 'JobFailure'
    this.kind = kind
  }
}

export type PoolOptions = {
  /** Makes a thread that answers JobMessages with JobReplies, one after the other. */
  spawn: () => Worker
  sizeMax: number
  /** From the moment a thread is given the job. */
  jobTimeoutMs: number
  /** Added for the first job of a thread: its code is cold, and some of it is loaded when it is first used. */
  startTimeoutMs?: number
  /** Added to that until the thread says that it is ready. */
  loadTimeoutMs?: number
  /**
   * A thread that overruns but was hardly given a core meanwhile, because the machine is busy, may go on until its limit has passed
   * this many times. Default 1: the clock alone counts.
   */
  patience?: number
  /** A thread without work ends after this. */
  idleMs?: number
  /** Jobs waiting for a thread. */
  queueMax: number
}

export type Pool<Job, Result> = {
  /**
   * Rejects with JobFailure, or with the AppError that the job answered. `transfer` moves buffers to the thread when the job
   * starts there; they are gone for the caller even when the job fails.
   */
  run(job: Job, transfer?: readonly Transferable[]): Promise<Result>
  readonly threads: number
  readonly queued: number
  /** Ends all threads; what runs or waits is rejected as closed. May be called twice. */
  close(): Promise<void>
}

type Task<Job, Result> = {
  id: number
  job: Job
  transfer: readonly Transferable[]
  resolve: (result: Result) => void
  reject: (reason: Error) => void
}

type Seat<Job, Result> = {
  worker: Worker
  task: Task<Job, Result> | null
  timer: NodeJS.Timeout | undefined
  isFresh: boolean
  /** Quarters of the limit that the job has run, and the thread's CPU time when first and last asked after one of them, ms. */
  quarters: number
  firstCpuMs: number | null
  lastCpuMs: number
}

/** Of the limit, spent on the CPU after the first quarter: less, and the thread was waiting for a core. On a quiet machine it is a half. */
const workedShareMin = 0.3

const startTimeoutMsDefault = 10_000
/** Modules take 0.3 s of CPU time to load, of which a busy machine may give a hundredth. */
const loadTimeoutMsDefault = 60_000
const idleMsDefault = 30_000

export function createPool<Job, Result>(options: PoolOptions): Pool<Job, Result> {
  assert(options.sizeMax >= 1 && options.queueMax >= 0)
  return new ThreadPool<Job, Result>(options)
}

class ThreadPool<Job, Result> implements Pool<Job, Result> {
  readonly #options: PoolOptions
  readonly #seats = new Set<Seat<Job, Result>>()
  /** The last to become idle is the first to work again, so that the others reach their end. */
  readonly #idle: Seat<Job, Result>[] = []
  readonly #queue: Task<Job, Result>[] = []
  readonly #ending = new Set<Promise<unknown>>()
  #nextId = 1
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get threads(): number {
    return this.#seats.size
  }

  get queued(): number {
    return this.#queue.length
  }

  run(job: Job, transfer: readonly Transferable[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new JobFailure('closed', 'the pool is closed'))
      const mustWait = this.#idle.length === 0 && this.#seats.size >= this.#options.sizeMax
      if (mustWait && this.#queue.length >= this.#options.queueMax)
        return reject(new JobFailure('full', `${this.#queue.length} jobs are waiting`))
      this.#queue.push({ id: this.#nextId++, job, transfer, resolve, reject })
      this.#fill()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const task of this.#queue.splice(0)) task.reject(closedFailure())
    for (const seat of this.#seats) this.#end(seat, closedFailure())
    await Promise.all(this.#ending)
  }

  /** Gives waiting jobs to threads. A job is posted only when its thread is free: what was transferred could not be taken back. */
  #fill(): void {
    while (this.#idle.length > 0 || this.#seats.size < this.#options.sizeMax) {
      const task = this.#queue.shift()
      if (task === undefined) return
      try {
        this.#start(this.#idle.pop() ?? this.#open(), task)
      } catch (error) {
        task.reject(new JobFailure('crashed', 'no thread could be started', { cause: error }))
      }
    }
  }

  #open(): Seat<Job, Result> {
    const worker = this.#options.spawn()
    const seat: Seat<Job, Result> = {
      worker,
      task: null,
      timer: undefined,
      isFresh: true,
      quarters: 0,
      firstCpuMs: null,
      lastCpuMs: 0,
    }
    this.#seats.add(seat)
    worker.on('message', (reply: JobReply<Result> | typeof threadIsReady) => {
      if (reply !== threadIsReady) this.#finish(seat, reply)
      else if (seat.task !== null) this.#limit(seat, this.#firstLimitMs())
    })
    worker.on('messageerror', (error) =>
      this.#end(seat, new JobFailure('crashed', 'the answer cannot be read', { cause: error })),
    )
    worker.on('error', (error: Error & { code?: string }) => {
      const kind = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'heap' : 'crashed'
      this.#end(seat, new JobFailure(kind, error.message, { cause: error }))
    })
    worker.on('exit', (code) =>
      this.#end(seat, new JobFailure('crashed', `the thread ended with ${code}`)),
    )
    return seat
  }

  #start(seat: Seat<Job, Result>, task: Task<Job, Result>): void {
    const { jobTimeoutMs, loadTimeoutMs = loadTimeoutMsDefault } = this.#options
    const limitMs = seat.isFresh ? this.#firstLimitMs() + loadTimeoutMs : jobTimeoutMs
    seat.isFresh = false
    seat.task = task
    this.#limit(seat, limitMs)
    try {
      seat.worker.postMessage({ id: task.id, job: task.job }, [...task.transfer])
    } catch (error) {
      // A job that cannot be cloned is the caller's fault, not the thread's.
      this.#release(seat)
      task.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #firstLimitMs(): number {
    const { jobTimeoutMs, startTimeoutMs = startTimeoutMsDefault } = this.#options
    return jobTimeoutMs + startTimeoutMs
  }

  #limit(seat: Seat<Job, Result>, limitMs: number): void {
    clearTimeout(seat.timer)
    seat.quarters = 0
    seat.firstCpuMs = null
    seat.timer = setTimeout(this.#passQuarter, limitMs / 4, seat, limitMs)
  }

  readonly #passQuarter = (seat: Seat<Job, Result>, limitMs: number): void => {
    const { patience = 1 } = this.#options
    seat.quarters += 1
    const isOver = seat.quarters >= 4 * patience || (seat.quarters >= 4 && hasWorked(seat, limitMs))
    if (isOver) return this.#end(seat, new JobFailure('timeout', `longer than ${limitMs} ms`))
    if (patience > 1) void this.#askCpu(seat)
    seat.timer = setTimeout(this.#passQuarter, limitMs / 4, seat, limitMs)
  }

  /** A thread in native code may answer late, or not before it ends. */
  async #askCpu(seat: Seat<Job, Result>): Promise<void> {
    const { task, worker } = seat
    // Of a thread that has ended meanwhile there is none: 'exit' tells that.
    const usage = await worker.cpuUsage().catch(() => null)
    if (seat.task !== task || usage === null) return
    const { user, system } = usage
    seat.lastCpuMs = (user + system) / 1_000
    seat.firstCpuMs ??= seat.lastCpuMs
  }

  #finish(seat: Seat<Job, Result>, reply: JobReply<Result>): void {
    const { task } = seat
    if (task === null || reply.id !== task.id) return
    this.#release(seat)
    if ('error' in reply) task.reject(reviveError(reply.error))
    else task.resolve(reply.result)
    this.#fill()
  }

  #release(seat: Seat<Job, Result>): void {
    clearTimeout(seat.timer)
    seat.task = null
    this.#idle.push(seat)
    seat.timer = setTimeout(
      () => this.#end(seat, closedFailure()),
      this.#options.idleMs ?? idleMsDefault,
    )
    seat.timer.unref()
  }

  /** Takes the thread out of service, whatever it does; its job, if any, fails with `failure`. */
  #end(seat: Seat<Job, Result>, failure: JobFailure): void {
    if (!this.#seats.delete(seat)) return
    clearTimeout(seat.timer)
    const at = this.#idle.indexOf(seat)
    if (at >= 0) this.#idle.splice(at, 1)
    const ending = seat.worker.terminate().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
    seat.task?.reject(failure)
    seat.task = null
    if (!this.#isClosed) this.#fill()
  }
}

const hasWorked = (
  { firstCpuMs, lastCpuMs }: Pick<Seat<unknown, unknown>, 'firstCpuMs' | 'lastCpuMs'>,
  limitMs: number,
): boolean => firstCpuMs !== null && lastCpuMs - firstCpuMs >= workedShareMin * limitMs

const closedFailure = (): JobFailure => new JobFailure('closed', 'the pool was closed')
