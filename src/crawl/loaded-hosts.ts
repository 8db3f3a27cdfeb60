/** Which hosts are in memory: finds their rows, loads those with queued URLs, and leaves some out where there are too many. */
import assert from 'node:assert'
import type { FrontierStatements, HostRow } from './frontier-rows.ts'
import type { Host, HostSchedule } from './host-schedule.ts'

/** Host rows found during one call: across calls a rollback could make them untrue. */
export type KnownHosts = Map<string, HostRow>

const hostsMaxDefault = 50_000
/** A due time further away than this was written by a clock that was wrong. */
const dueAheadMaxMs = 86_400_000

export class LoadedHosts {
  readonly #sql: FrontierStatements
  readonly #schedule: HostSchedule
  readonly #hostsMax: number
  readonly #now: () => number
  /** Some hosts with queued URLs are not in memory. */
  #isOverflowing = false

  constructor(
    sql: FrontierStatements,
    schedule: HostSchedule,
    options: { hostsMax?: number; now(): number },
  ) {
    this.#sql = sql
    this.#schedule = schedule
    this.#hostsMax = options.hostsMax ?? hostsMaxDefault
    this.#now = () => options.now()
  }

  /** The row of this origin, made where it is new. In a transaction. */
  find(origin: string, known: KnownHosts): HostRow {
    let row = known.get(origin) ?? this.#sql.findHost.get(origin)
    if (row === undefined) {
      this.#sql.insertHost.run(origin)
      row = this.#sql.findHost.get(origin)
      assert(row)
    }
    known.set(origin, row)
    return row
  }

  row(hostId: number): HostRow {
    const row = this.#sql.hostById.get(hostId)
    assert(row, `host ${hostId} has URLs and no row`)
    return row
  }

  /** The host in memory; undefined where there is no room for it. */
  of({ id, origin, dueAtMs, failures }: HostRow): Host | undefined {
    const isNew = this.#schedule.get(id) === undefined
    if (isNew && this.#schedule.size >= this.#hostsMax) {
      this.#isOverflowing = true
      return undefined
    }
    const knownDueMs = Math.min(dueAtMs, this.#now() + dueAheadMaxMs)
    return this.#schedule.ensure(id, origin, knownDueMs, failures)
  }

  /** Something was queued: the host gets its turn, now or when there is room. */
  queued(row: HostRow, sourceId: number, priority: number): void {
    const host = this.of(row)
    if (host !== undefined) this.#schedule.queued(host, sourceId, priority)
  }

  /** Loads the hosts on which this source has queued URLs, as many as there is room for. */
  load(sourceId: number): void {
    let last = 0
    for (;;) {
      const next = this.#sql.nextHost.get(sourceId, last)
      if (next === undefined) return
      last = next.id
      const host = this.of(this.row(next.id))
      if (host === undefined) return
      this.#schedule.queued(host, sourceId, 0)
    }
  }

  /** Where some were left out and half of those in memory are done. */
  loadWhereRoom(sourceIds: Iterable<number>): void {
    if (!this.#isOverflowing || this.#schedule.size > this.#hostsMax / 2) return
    this.#isOverflowing = false
    for (const id of sourceIds) this.load(id)
  }
}
