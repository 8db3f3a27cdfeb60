/** Starts described sources at the times of their schedules, with one timer. Owns that timer; what is due next is kept in the store. */
import type { Log } from '../lib/log.ts'
import type { RunTable } from '../store/runs.ts'
import { nextRunAt, type Plan } from './plan.ts'
import type { Runs } from './runs.ts'

export type SchedulerTools = {
  store: RunTable & { transaction<R>(work: () => R): R }
  runs: Runs
  /** Of every source that has one. */
  plans: () => ReadonlyMap<string, Plan>
  isRunning: (source: string) => boolean
  /** Throws where the job cannot be started. */
  start: (source: string) => void
  /** Calls back once after `waitMs`; returns the way to end it. */
  setTimer: (run: () => void, waitMs: number) => () => void
  log: Log
  now: () => number
}

/** A wait is cut into such: a clock that was set, or a machine that slept, costs no more. */
const waitMaxMs = 3_600_000

export class Scheduler {
  readonly #tools: SchedulerTools
  #cancel: (() => void) | null = null
  #isOn = false

  constructor(tools: SchedulerTools) {
    this.#tools = tools
  }

  /** From now on sources are started. What was due while nobody ran is started once. */
  begin(): void {
    this.#isOn = true
    this.#run()
  }

  close(): void {
    this.#isOn = false
    this.#cancel?.()
    this.#cancel = null
  }

  /** The sources, or their schedules, changed. */
  changed(): void {
    this.#tools.store.transaction(() => this.#planAll())
    this.#setTimer()
  }

  /** When this source is started next; null where it has no schedule. */
  nextAt(source: string): number | null {
    return this.#tools.plans().has(source)
      ? (this.#tools.store.plannedRun(source)?.nextAtMs ?? null)
      : null
  }

  #run(): void {
    const { store, plans, now } = this.#tools
    const nowMs = now()
    const due = store.transaction(() => {
      this.#planAll()
      const names = [...plans()].filter(([name]) => (this.nextAt(name) ?? Infinity) <= nowMs)
      // Planned before it starts: a start that kills the process is not repeated for ever.
      for (const [name, plan] of names) this.#plan(name, plan, nowMs)
      return names
    })
    for (const [name] of due) this.#start(name)
    this.#setTimer()
  }

  #start(name: string): void {
    const { store, runs, start, isRunning, log } = this.#tools
    if (isRunning(name)) {
      const note = 'the run before was still under way'
      store.transaction(() => runs.notStarted(name, 'skipped', note))
      log('warn', 'scheduled run skipped', { source: name, note })
      return
    }
    try {
      start(name)
      log('info', 'scheduled run started', { source: name })
    } catch (error) {
      const note = (error as Error).message
      log('error', 'scheduled run not started', { source: name, note })
      store.transaction(() => runs.notStarted(name, 'failed', note))
    }
  }

  /** Where a schedule is new or another one, its next time is reckoned from now. */
  #planAll(): void {
    const { store, plans, now } = this.#tools
    for (const [name, plan] of plans()) {
      if (store.plannedRun(name)?.plan !== textOf(plan)) this.#plan(name, plan, now())
    }
  }

  #plan(name: string, plan: Plan, afterMs: number): void {
    const { store } = this.#tools
    const nextAtMs = nextRunAt(plan, afterMs)
    if (nextAtMs === null) store.dropPlan(name)
    else store.planRun(name, textOf(plan), nextAtMs)
  }

  #setTimer(): void {
    this.#cancel?.()
    this.#cancel = null
    if (!this.#isOn) return
    const { plans, setTimer, now } = this.#tools
    const times = [...plans().keys()].map((name) => this.nextAt(name)).filter((at) => at !== null)
    if (times.length === 0) return
    const waitMs = Math.min(waitMaxMs, Math.max(0, Math.min(...times) - now()))
    this.#cancel = setTimer(() => {
      this.#cancel = null
      this.#run()
    }, waitMs)
  }
}

const textOf = ({ text, zone }: Plan): string => `${zone} ${text}`
