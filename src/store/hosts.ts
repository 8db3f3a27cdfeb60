/** Hosts by origin: their ids and what their robots.txt said. Knows no URL. */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'

export type HostRow = { id: number; origin: string; dueAtMs: number }

/** robots.txt as it was answered; `text` null where there was none to keep. */
export type StoredRobots = { status: number; text: Uint8Array | null; untilMs: number }

export type Hosts = {
  /** The id of scheme://host[:port], made where it is new. In a transaction. */
  hostId(origin: string): number
  host(origin: string): HostRow | null
  robotsOf(origin: string): StoredRobots | null
  putRobots(origin: string, robots: StoredRobots, nowMs: number): void
}

export function createHosts(db: Db): Hosts {
  const find = db.prepare<{ id: number; origin: string; dueAtMs: number }>(
    'SELECT id, origin, due_at AS dueAtMs FROM host WHERE origin=?',
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
    robotsOf: (origin) => readRobots.get(origin) ?? null,
    putRobots(origin, { status, text, untilMs }, nowMs) {
      writeRobots.run(Math.round(nowMs), Math.round(untilMs), status, text, hostId(origin))
    },
  }
}
