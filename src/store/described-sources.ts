/** Sources that a user described, as rows: the whole description, and the places its scopes have among the sources. Reads no description. */
import type { Db } from '../lib/sqlite.ts'
import type { DescribedSource } from './records.ts'

export type DescribedSources = {
  /** By name. */
  describedSources(): DescribedSource[]
  /** Adds or replaces. In a transaction. @returns false where it is there already, letter for letter */
  putDescribedSource(name: string, spec: string): boolean
  /** In a transaction. @returns false where there was none */
  removeDescribedSource(name: string): boolean
  /**
   * The id of the scope number `place` of a described source. It keeps its id when its scope changes, and with it the queue.
   * In a transaction.
   */
  scopeOfDescribed(name: string, place: number, scope: string): number
  /** Their pages are asked for anew, without a condition, when they are next crawled. In a transaction. */
  forgetValidators(sourceIds: readonly number[]): void
  /** Ids of all scopes of a described source, by their place. */
  scopesOfDescribed(name: string): { id: number; place: number }[]
}

export function createDescribedSources(db: Db, now: () => number): DescribedSources {
  const all = db.prepare<DescribedSource>(
    'SELECT name, spec, changed_at AS changedAtMs FROM described_source ORDER BY name',
  )
  const known = db.prepare<{ spec: string }>('SELECT spec FROM described_source WHERE name=?')
  const put = db.prepare(
    `INSERT INTO described_source(name, spec, changed_at) VALUES(?, ?, ?)
     ON CONFLICT(name) DO UPDATE SET spec=excluded.spec, changed_at=excluded.changed_at`,
  )
  const remove = db.prepare('DELETE FROM described_source WHERE name=?')
  const places = db.prepare<{ id: number; place: number; spec: string }>(
    `SELECT id, spec ->> 'place' AS place, spec FROM source WHERE spec ->> 'name'=? ORDER BY place, id`,
  )
  const insert = db.prepare('INSERT INTO source(spec, created_at) VALUES(?, ?)')
  const update = db.prepare('UPDATE source SET spec=? WHERE id=?')
  const forget = db.prepare(
    `UPDATE url SET etag=NULL, modified=NULL, next_at=CASE WHEN state=1 THEN ? ELSE next_at END WHERE source=?`,
  )
  return {
    describedSources: () => all.all(),
    putDescribedSource(name, spec) {
      if (known.get(name)?.spec === spec) return false
      put.run(name, spec, Math.round(now()))
      return true
    },
    removeDescribedSource(name) {
      if (known.get(name) === undefined) return false
      remove.run(name)
      return true
    },
    scopeOfDescribed(name, place, scope) {
      const row = places.all(name).find((each) => each.place === place)
      if (row === undefined) return Number(insert.run(scope, Math.round(now())).lastInsertRowid)
      if (row.spec !== scope) update.run(scope, row.id)
      return row.id
    },
    forgetValidators(sourceIds) {
      for (const id of sourceIds) forget.run(Math.round(now()), id)
    },
    scopesOfDescribed: (name) => places.all(name).map(({ id, place }) => ({ id, place })),
  }
}
