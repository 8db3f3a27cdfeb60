/** Runs of described sources, and when each is due next, as rows. What a plan means is the crawl's matter. */
import type { Db } from '../lib/sqlite.ts'
import type { RunState } from './records.ts'

export type RunRow = {
  id: number
  source: string
  cause: 'schedule' | 'request'
  state: RunState
  startedAtMs: number
  /** null while it is under way. */
  endedAtMs: number | null
  /** JSON: of the run, or of its job at its start while it is under way. */
  counts: string
  note: string
}

export type RunTable = {
  /** The oldest of its source beyond the newest fifty goes. In a transaction, as all that writes. */
  addRun(run: Omit<RunRow, 'id'>): void
  endRun(run: Pick<RunRow, 'id' | 'state' | 'endedAtMs' | 'counts' | 'note'>): void
  /** The one under way. */
  openRun(source: string): RunRow | null
  /** Newest first. */
  runsOf(source: string): RunRow[]
  plannedRun(source: string): { plan: string; nextAtMs: number } | null
  planRun(source: string, plan: string, nextAtMs: number): void
  dropPlan(source: string): void
  /** List pages, sitemaps and seeds of these scopes that wait for their next visit are due now. */
  makeListsDue(sourceIds: readonly number[], nowMs: number): void
}

export const runsKept = 50

export function createRunTable(db: Db): RunTable {
  const columns =
    'id, source, cause, state, started_at AS startedAtMs, ended_at AS endedAtMs, counts, note'
  const insert = db.prepare(
    'INSERT INTO run(source, cause, state, started_at, ended_at, counts, note) VALUES(?, ?, ?, ?, ?, ?, ?)',
  )
  const forget = db.prepare(
    `DELETE FROM run WHERE source=? AND id <= (SELECT id FROM run WHERE source=? ORDER BY id DESC LIMIT 1 OFFSET ${runsKept})`,
  )
  const end = db.prepare('UPDATE run SET state=?, ended_at=?, counts=?, note=? WHERE id=?')
  const open = db.prepare<RunRow>(
    `SELECT ${columns} FROM run WHERE source=? AND ended_at IS NULL ORDER BY id DESC LIMIT 1`,
  )
  const all = db.prepare<RunRow>(`SELECT ${columns} FROM run WHERE source=? ORDER BY id DESC`)
  const planned = db.prepare<{ plan: string; nextAtMs: number }>(
    'SELECT plan, next_at AS nextAtMs FROM planned_run WHERE source=?',
  )
  const plan = db.prepare(
    `INSERT INTO planned_run(source, plan, next_at) VALUES(?, ?, ?)
     ON CONFLICT DO UPDATE SET plan=excluded.plan, next_at=excluded.next_at`,
  )
  const dropPlan = db.prepare('DELETE FROM planned_run WHERE source=?')
  const makeDue = db.prepare(
    `UPDATE url SET next_at=? WHERE source=? AND state=1 AND next_at IS NOT NULL AND outcome <> 'failed'
       AND (depth=0 OR kind<>0 OR (outcome='refused' AND reason='list'))`,
  )
  const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms))
  return {
    addRun({ source, cause, state, startedAtMs, endedAtMs, counts, note }) {
      insert.run(source, cause, state, Math.round(startedAtMs), rounded(endedAtMs), counts, note)
      forget.run(source, source)
    },
    endRun({ id, state, endedAtMs, counts, note }) {
      end.run(state, rounded(endedAtMs), counts, note, id)
    },
    openRun: (source) => open.get(source) ?? null,
    runsOf: (source) => all.all(source),
    plannedRun: (source) => planned.get(source) ?? null,
    planRun(source, text, nextAtMs) {
      plan.run(source, text, Math.round(nextAtMs))
    },
    dropPlan(source) {
      dropPlan.run(source)
    },
    makeListsDue(sourceIds, nowMs) {
      for (const id of sourceIds) makeDue.run(Math.round(nowMs), id)
    },
  }
}
