/** Hosts by origin: their ids and what their robots.txt said. Knows no URL. */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'

/** `failures` in a row, over all its pages. */
export type HostRow = { id: number; origin: string; dueAtMs: number; failures: number }

/** robots.txt as it was answered; `text` null where there was none to keep. */
export type StoredRobots = { status: number; text: Uint8Array | null; untilMs: number }

export type Hosts = {
  /** The id of scheme://host[:port], made where it is new. In a transaction. */
  hostId(origin: string): number
  host(origin: string): HostRow | null
  originOfHost(id: number): string | null
  /** Those that failed so often in a row and may not be asked yet. */
  restingHosts(failuresMin: number, nowMs: number, limit: number): HostRow[]
  robotsOf(origin: string): StoredRobots | null
  putRobots(origin: string, robots: StoredRobots, nowMs: number): void
}

export function createHosts(db: Db): Hosts {
  const columns = 'id, origin, due_at AS dueAtMs, failures'
  const find = db.prepare<HostRow>(`SELECT ${columns} FROM host WHERE origin=?`)
  const originOf = db.prepare<{ origin: string }>('SELECT origin FROM host WHERE id=?')
  const resting = db.prepare<HostRow>(
    `SELECT ${columns} FROM host WHERE failures >= ? AND due_at > ? ORDER BY origin LIMIT ?`,
  )
  const insert = db.prepare('INSERT INTO host(origin) VALUES(?) ON CONFLICT DO NOTHING')
  const readRobots = db.prepare<{ status: number; text: Uint8Array | null; untilMs: number }>(
    `SELECT robots_status AS status, robots AS text, robots_until AS untilMs
     FROM host WHERE origin=? AND robots_until IS NOT NULL`,
  )
  const writeRobots = db.prepare(
    'UPDATE host SET robots_at=?, robots_until=?, robots_status=?, robots=? WHERE id=?',
  )
  const hostId = (origin: string): number => {
    const known = find.get(origin)
    if (known !== undefined) return known.id
    insert.run(origin)
    const made = find.get(origin)
    assert(made)
    return made.id
  }
  return {
    hostId,
    host: (origin) => find.get(origin) ?? null,
    originOfHost: (id) => originOf.value(id) ?? null,
    restingHosts: (failuresMin, nowMs, limit) => resting.all(failuresMin, Math.round(nowMs), limit),
    robotsOf: (origin) => readRobots.get(origin) ?? null,
    putRobots(origin, { status, text, untilMs }, nowMs) {
      writeRobots.run(Math.round(nowMs), Math.round(untilMs), status, text, hostId(origin))
    },
  }
}
