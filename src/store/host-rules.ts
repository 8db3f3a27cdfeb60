/** What was learned of the URLs of a host, as rows: shapes and parameters. What they mean is the crawl's matter. */
import type { Db } from '../lib/sqlite.ts'

/** `state`: open = watched, closed = taken for a trap, kept = the operator wants it. */
export type ShapeRow = {
  shape: string
  fetched: number
  fresh: number
  copies: number
  barren: number
  state: RuleState
}
/** closed = dropped from new URLs. */
export type ParameterRow = { name: string; same: number; differing: number; state: RuleState }
export type RuleState = 'open' | 'closed' | 'kept'

export type HostRulesTable = {
  shapesOf(hostId: number): ShapeRow[]
  parametersOf(hostId: number): ParameterRow[]
  /** The writes: in a transaction. */
  putShape(hostId: number, row: ShapeRow): void
  dropShape(hostId: number, shape: string): void
  putParameter(hostId: number, row: ParameterRow): void
  /** What is not open, of all hosts; at most `limit` of each. */
  learned(limit: number): {
    shapes: (ShapeRow & { origin: string })[]
    parameters: (ParameterRow & { origin: string })[]
  }
  /** URLs of this host put aside for this reason, in keyset pages. */
  asideAfter(
    hostId: number,
    reason: string,
    urlId: number,
    limit: number,
  ): { id: number; sourceId: number; path: string; depth: number }[]
}

const states: readonly RuleState[] = ['open', 'closed', 'kept']
const revive = <R extends { state: number }>(row: R): Omit<R, 'state'> & { state: RuleState } => ({
  ...row,
  state: states[row.state] ?? 'open',
})
type Stored<R> = Omit<R, 'state'> & { state: number }

export function createHostRulesTable(db: Db): HostRulesTable {
  const shapes = db.prepare<Stored<ShapeRow>>(
    'SELECT shape, fetched, fresh, copies, barren, state FROM shape WHERE host=?',
  )
  const parameters = db.prepare<Stored<ParameterRow>>(
    'SELECT name, same, differing, state FROM parameter WHERE host=?',
  )
  const putShape = db.prepare(
    `INSERT INTO shape(host, shape, fetched, fresh, copies, barren, state) VALUES(?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET fetched=excluded.fetched, fresh=excluded.fresh, copies=excluded.copies,
       barren=excluded.barren, state=excluded.state`,
  )
  const dropShape = db.prepare('DELETE FROM shape WHERE host=? AND shape=?')
  const putParameter = db.prepare(
    `INSERT INTO parameter(host, name, same, differing, state) VALUES(?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET same=excluded.same, differing=excluded.differing, state=excluded.state`,
  )
  const learnedShapes = db.prepare<Stored<ShapeRow> & { origin: string }>(
    `SELECT h.origin, s.shape, s.fetched, s.fresh, s.copies, s.barren, s.state FROM shape s
     JOIN host h ON h.id = s.host WHERE s.state <> 0 ORDER BY h.origin, s.shape LIMIT ?`,
  )
  const learnedParameters = db.prepare<Stored<ParameterRow> & { origin: string }>(
    `SELECT h.origin, p.name, p.same, p.differing, p.state FROM parameter p
     JOIN host h ON h.id = p.host WHERE p.state <> 0 ORDER BY h.origin, p.name LIMIT ?`,
  )
  const aside = db.prepare<{ id: number; sourceId: number; path: string; depth: number }>(
    `SELECT id, source AS sourceId, path, depth FROM url
     WHERE host=? AND state=3 AND reason=? AND id>? ORDER BY id LIMIT ?`,
  )
  const code = (state: RuleState): number => states.indexOf(state)
  return {
    shapesOf: (hostId) => shapes.all(hostId).map(revive),
    parametersOf: (hostId) => parameters.all(hostId).map(revive),
    putShape(hostId, { shape, fetched, fresh, copies, barren, state }) {
      putShape.run(hostId, shape, fetched, fresh, copies, barren, code(state))
    },
    dropShape(hostId, shape) {
      dropShape.run(hostId, shape)
    },
    putParameter(hostId, { name, same, differing, state }) {
      putParameter.run(hostId, name, same, differing, code(state))
    },
    learned: (limit) => ({
      shapes: learnedShapes.all(limit).map(revive),
      parameters: learnedParameters.all(limit).map(revive),
    }),
    asideAfter: (hostId, reason, urlId, limit) => aside.all(hostId, reason, urlId, limit),
  }
}
