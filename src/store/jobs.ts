/** Sources (scopes) and jobs (wishes to crawl) as rows. What a scope means is no matter of the store. */
import type { Db } from '../lib/sqlite.ts'
import type { CrawlSpec, JobCounts, JobState } from './records.ts'

export type Source = { id: number; spec: string; createdAtMs: number }

export type JobRow = {
  id: number
  spec: CrawlSpec
  sourceIds: readonly number[]
  state: JobState
  note: string
  counts: JobCounts
  startedAtMs: number
  endedAtMs: number | null
  /** Running time so far, pauses left out. */
  activeMs: number
}

export type JobTable = {
  /** The id of the source with this key, made where it is new. In a transaction. */
  sourceFor(scopeKey: string): number
  /** Oldest first. */
  sources(): Source[]
  /** Adds a job under a key that no other job has; its own `id` is ignored. @returns the id */
  putJob(key: string, job: Omit<JobRow, 'id'>): number
  job(id: number): JobRow | null
  /** Oldest first. */
  jobs(): JobRow[]
  /** Writes all of the job but its key. In the batch transaction, so that counts are exact after a crash. */
  updateJob(job: JobRow): void
}

/** `key` lies beside the wish, so that one wish stays one job when only its limits change. */
type StoredSpec = { key: string; spec: CrawlSpec }
type StoredJob = {
  id: number
  spec: string
  sources: string
  state: string
  note: string
  counts: string
  startedAtMs: number
  endedAtMs: number | null
  activeMs: number
}

const columns = `id, spec, sources, state, note, counts, started_at AS startedAtMs, ended_at AS endedAtMs, active_ms AS activeMs`

export function createJobTable(db: Db, now: () => number): JobTable {
  const findSource = db.prepare<{ id: number }>('SELECT id FROM source WHERE spec=?')
  const insertSource = db.prepare('INSERT INTO source(spec, created_at) VALUES(?, ?)')
  const allSources = db.prepare<Source>(
    'SELECT id, spec, created_at AS createdAtMs FROM source ORDER BY id',
  )
  const insertJob = db.prepare(
    `INSERT INTO job(spec, sources, state, note, counts, started_at, ended_at, active_ms)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const updateJob = db.prepare(
    `UPDATE job SET spec=?, sources=?, state=?, note=?, counts=?, started_at=?, ended_at=?, active_ms=? WHERE id=?`,
  )
  const findJob = db.prepare<StoredJob>(`SELECT ${columns} FROM job WHERE id=?`)
  const allJobs = db.prepare<StoredJob>(`SELECT ${columns} FROM job ORDER BY id`)
  const keyOf = db.prepare<{ key: string }>(`SELECT spec ->> 'key' AS key FROM job WHERE id=?`)

  const values = (key: string, job: Omit<JobRow, 'id'>) =>
    [
      JSON.stringify({ key, spec: job.spec } satisfies StoredSpec),
      JSON.stringify(job.sourceIds),
      job.state,
      job.note,
      JSON.stringify(job.counts),
      Math.round(job.startedAtMs),
      job.endedAtMs === null ? null : Math.round(job.endedAtMs),
      Math.round(job.activeMs),
    ] as const

  return {
    sourceFor(scopeKey) {
      const known = findSource.get(scopeKey)
      if (known !== undefined) return known.id
      return Number(insertSource.run(scopeKey, Math.round(now())).lastInsertRowid)
    },
    sources: () => allSources.all(),
    putJob: (key, job) => Number(insertJob.run(...values(key, job)).lastInsertRowid),
    job(id) {
      const row = findJob.get(id)
      return row === undefined ? null : revive(row)
    },
    jobs: () => allJobs.all().map(revive),
    updateJob: (job) => void updateJob.run(...values(keyOf.get(job.id)?.key ?? '', job), job.id),
  }
}

const laterCounts: Pick<JobCounts, 'javascriptOnly' | 'rules'> = { javascriptOnly: 0, rules: {} }

function revive(row: StoredJob): JobRow {
  return {
    id: row.id,
    spec: (JSON.parse(row.spec) as StoredSpec).spec,
    sourceIds: JSON.parse(row.sources) as number[],
    state: row.state as JobState,
    note: row.note,
    // Counts of an older version lack what was not counted then.
    counts: { ...laterCounts, ...(JSON.parse(row.counts) as JobCounts) },
    startedAtMs: row.startedAtMs,
    endedAtMs: row.endedAtMs,
    activeMs: row.activeMs,
  }
}
