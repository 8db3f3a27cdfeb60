/** The history of the runs of described sources: when each started, how it ended, what it brought. Knows no time table and no queue. */
import type { RunCounts, RunState, RunStatus } from '../store/records.ts'
import type { RunRow, RunTable } from '../store/runs.ts'
import type { Job } from './jobs.ts'

export type RunCause = RunRow['cause']

/** All that writes: in a transaction. */
export class Runs {
  readonly #table: RunTable
  readonly #now: () => number

  constructor(table: RunTable, now: () => number) {
    this.#table = table
    this.#now = now
  }

  /** A run that is under way, also one that a crash or a pause interrupted, goes on as the same. */
  started(job: Job, cause: RunCause): void {
    const source = job.spec.source
    if (source === undefined || this.#table.openRun(source) !== null) return
    this.#table.addRun({
      source,
      cause,
      state: 'running',
      startedAtMs: this.#now(),
      endedAtMs: null,
      counts: JSON.stringify(countsOf(job)),
      note: '',
    })
  }

  ended(job: Job, state: Exclude<RunState, 'running' | 'paused' | 'skipped'>, note: string): void {
    const run = job.spec.source === undefined ? null : this.#table.openRun(job.spec.source)
    if (run === null) return
    const counts = JSON.stringify(since(run, job))
    this.#table.endRun({ id: run.id, state, endedAtMs: this.#now(), counts, note })
  }

  /** A time of the schedule came, and nothing was started. */
  notStarted(source: string, state: 'skipped' | 'failed', note: string): void {
    const atMs = this.#now()
    this.#table.addRun({
      source,
      cause: 'schedule',
      state,
      startedAtMs: atMs,
      endedAtMs: atMs,
      counts: JSON.stringify(nothing),
      note: note.slice(0, noteCharsMax),
    })
  }

  /** Newest first. @param job of this source, where it has one */
  of(source: string, job: Job | null): RunStatus[] {
    return this.#table.runsOf(source).map((run) => {
      const isOpen = run.endedAtMs === null
      return {
        cause: run.cause,
        state: isOpen && job?.state === 'paused' ? 'paused' : run.state,
        started_at: isoTime(run.startedAtMs),
        ended_at: run.endedAtMs === null ? null : isoTime(run.endedAtMs),
        counts: isOpen && job !== null ? since(run, job) : readCounts(run),
        note: run.note,
      }
    })
  }
}

const noteCharsMax = 500
const nothing: RunCounts = {
  fetched: 0,
  stored: 0,
  unchanged: 0,
  copies: 0,
  redirects: 0,
  gone: 0,
  refused: 0,
  failed: 0,
  bytes: 0,
}
const isoTime = (ms: number): string => new Date(ms).toISOString()
const sum = (tally: Record<string, number>): number =>
  Object.values(tally).reduce((total, n) => total + n, 0)

/** Since the job was first started. */
const countsOf = ({ counts }: Job): RunCounts => ({
  fetched: counts.fetched,
  stored: counts.stored,
  unchanged: counts.unchanged,
  copies: counts.exactCopies + counts.nearCopies,
  redirects: counts.redirects,
  gone: counts.gone,
  refused: sum(counts.refused),
  failed: sum(counts.failed),
  bytes: counts.bytes,
})

const readCounts = (run: RunRow): RunCounts => ({
  ...nothing,
  ...(JSON.parse(run.counts) as RunCounts),
})

function since(run: RunRow, job: Job): RunCounts {
  const before = readCounts(run)
  const now = countsOf(job)
  const names = Object.keys(nothing) as (keyof RunCounts)[]
  return Object.fromEntries(
    names.map((name) => [name, Math.max(0, now[name] - before[name])]),
  ) as RunCounts
}
