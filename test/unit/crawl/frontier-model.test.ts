/** Any order of adding, taking, settling, rolling back and dying, against a model that holds each URL in one state: nothing lost, nothing twice. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Lease, Settlement } from '../../../src/crawl/frontier.ts'
import { splitUrl } from '../../../src/lib/url.ts'
import { found } from '../../suites/frontier.suite.ts'
import { openSqliteBench, type SqliteBench } from './sqlite-bench.ts'

type Step =
  | { kind: 'add'; pages: number[]; isRolledBack: boolean }
  | { kind: 'take' }
  | { kind: 'release'; which: number; delayMs: number }
  | { kind: 'settle'; count: number; ending: Ending; pages: number[]; isRolledBack: boolean }
  | { kind: 'pass'; ms: number }
  | { kind: 'crash' }
type Ending = 'stored' | 'failed' | 'retry' | 'revisit'
type State = 'queued' | 'retry' | 'revisit' | 'settled' | 'aside'

const dayMs = 86_400_000
const deathsMax = 3
const urlOf = (page: number): string => `http://${page % 4}.test/${page}`
const pages = fc.array(fc.integer({ min: 0, max: 23 }), { maxLength: 6 })
const isRolledBack = fc.integer({ min: 0, max: 7 }).map((n) => n === 0)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add'), pages, isRolledBack }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('take') }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('release'),
      which: fc.nat(9),
      delayMs: fc.constantFrom(0, 0, 300, 1_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('settle'),
      count: fc.integer({ min: 1, max: 4 }),
      ending: fc.constantFrom<Ending>('stored', 'stored', 'failed', 'retry', 'revisit'),
      pages,
      isRolledBack,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1, 400, 2_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash') }) },
)

const settlementOf = (ending: Ending, nowMs: number): Settlement => {
  switch (ending) {
    case 'stored':
      return { kind: 'stored', status: 200 }
    case 'revisit':
      return { kind: 'stored', status: 200, recrawlAtMs: nowMs + 700 }
    case 'failed':
    case 'retry': {
      const retryAtMs = ending === 'retry' ? nowMs + 500 : null
      return { kind: 'failed', status: 0, reason: 'x', retryAtMs }
    }
  }
}

/** What must be true of the frontier after the steps so far. */
class Model {
  bench: SqliteBench
  nowMs = 1_000
  readonly rows = new Map<string, { state: State; atMs: number; deaths: number }>()
  readonly out = new Map<string, { lease: Lease; isReleased: boolean }>()
  dueAtMs = new Map<string, number>()
  savedDueAtMs = new Map<string, number>()
  hasCrashed = false

  constructor() {
    this.bench = openSqliteBench({ now: () => this.nowMs })
    this.bench.frontier.activate([1])
  }

  isBusy(origin: string): boolean {
    return [...this.out.values()].some(
      ({ lease, isReleased }) => lease.origin === origin && !isReleased,
    )
  }

  /** May be handed out now. */
  isAvailable(url: string): boolean {
    const row = this.rows.get(url)
    const { origin } = splitUrl(url)
    return (
      row !== undefined &&
      row.state !== 'settled' &&
      row.atMs <= this.nowMs &&
      !this.out.has(url) &&
      !this.isBusy(origin) &&
      (this.dueAtMs.get(origin) ?? 0) <= this.nowMs
    )
  }

  found(numbers: readonly number[]): void {
    for (const url of numbers.map(urlOf))
      if (!this.rows.has(url)) this.rows.set(url, { state: 'queued', atMs: 0, deaths: 0 })
  }

  apply(step: Step): void {
    const { frontier, store } = this.bench
    switch (step.kind) {
      case 'add': {
        const urls = step.pages.map((page) => found(urlOf(page)))
        if (this.commits(step.isRolledBack, () => void frontier.add(urls))) this.found(step.pages)
        return
      }
      case 'take':
        return this.take()
      case 'release': {
        const leases = [...this.out.values()].filter(({ isReleased }) => !isReleased)
        const one = leases[step.which % Math.max(1, leases.length)]
        if (one === undefined) return
        one.isReleased = true
        frontier.release(one.lease, this.nowMs, step.delayMs)
        this.hold(one.lease.origin, this.nowMs + step.delayMs)
        return
      }
      case 'settle':
        return this.settle(step)
      case 'pass':
        this.nowMs += step.ms
        return
      case 'crash': {
        for (const { lease } of this.out.values()) {
          const row = this.rows.get(lease.url)
          assert.ok(row)
          if (!lease.alone || ++row.deaths < deathsMax) continue
          Object.assign(row, { state: 'aside', atMs: this.nowMs + dayMs, deaths: 0 })
        }
        this.out.clear()
        this.dueAtMs = new Map(this.savedDueAtMs)
        this.hasCrashed = true
        assert.ok(!store.db.inTransaction)
        this.bench = this.bench.crash()
        this.bench.frontier.activate([1])
        return
      }
    }
  }

  /** Runs it in a transaction; false where that was rolled back. */
  commits(isToFail: boolean, work: () => void): boolean {
    const failure = new Error('rolled back')
    try {
      this.bench.store.transaction(() => {
        work()
        if (isToFail) throw failure
      })
    } catch (error) {
      if (error !== failure) throw error
    }
    return !isToFail
  }

  hold(origin: string, atMs: number): void {
    this.dueAtMs.set(origin, Math.max(atMs, this.dueAtMs.get(origin) ?? 0))
  }

  take(): void {
    const lease = this.bench.frontier.take(this.nowMs)
    for (const row of this.rows.values())
      if (row.state !== 'settled' && row.atMs <= this.nowMs)
        Object.assign(row, { state: 'queued', atMs: 0 })
    if (lease === null) {
      // After a crash it may wait for what is out, to try a suspect alone.
      if (this.hasCrashed && this.out.size > 0) return
      const available = [...this.rows.keys()].filter((url) => this.isAvailable(url))
      assert.deepEqual(available, [], 'these could have been taken')
      return
    }
    assert.ok(this.isAvailable(lease.url), `${lease.url} must not be taken now`)
    if (lease.alone) assert.equal(this.out.size, 0)
    assert.ok(![...this.out.values()].some((other) => other.lease.alone), 'one should be alone')
    this.out.set(lease.url, { lease, isReleased: false })
  }

  settle({
    count,
    ending,
    pages: numbers,
    isRolledBack: isToFail,
  }: Step & { kind: 'settle' }): void {
    const { frontier } = this.bench
    const leases = [...this.out.values()].slice(0, count).map(({ lease }) => lease)
    const settlement = settlementOf(ending, this.nowMs)
    const links = numbers.map((page) => found(urlOf(page)))
    const batch = leases.map((lease) => ({ lease, settlement, links }))
    const committed = this.commits(isToFail, () => void frontier.settle(batch, this.nowMs))
    frontier.settled(batch, committed)
    if (!committed) return
    this.savedDueAtMs = new Map(this.dueAtMs)
    for (const { url } of leases) {
      const wait = ending === 'retry' ? 500 : ending === 'revisit' ? 700 : 0
      const state = ending === 'failed' || ending === 'stored' ? 'settled' : ending
      this.rows.set(url, { state, atMs: wait === 0 ? 0 : this.nowMs + wait, deaths: 0 })
      this.out.delete(url)
    }
    if (leases.length > 0) this.found(numbers)
  }

  check(): void {
    const { frontier } = this.bench
    const count = (...states: State[]): number =>
      [...this.rows.values()].filter(({ state }) => states.includes(state)).length
    const out = this.out.size
    assert.deepEqual(frontier.counts(), {
      queued: count('queued') - out,
      waiting: count('retry', 'revisit'),
      out,
      settled: count('settled'),
      aside: count('aside'),
    })
    assert.equal(frontier.isFinished(), count('queued', 'retry') === 0)
    const dueAtMs = frontier.nextDueAt(this.nowMs)
    const mayTake = [...this.rows.keys()].some((url) => this.isAvailable(url))
    if (mayTake && !this.hasCrashed) assert.equal(dueAtMs, this.nowMs)
  }

  /** Visits whatever is left, in time that flies. */
  drain(): void {
    for (let rounds = 0; rounds < 400; rounds++) {
      this.take()
      for (const { lease, isReleased } of this.out.values())
        if (!isReleased) this.bench.frontier.release(lease, this.nowMs, 0)
      this.settle({ kind: 'settle', count: 9, ending: 'stored', pages: [], isRolledBack: false })
      const dueAtMs = this.bench.frontier.nextDueAt(this.nowMs)
      if (dueAtMs === null) break
      this.nowMs = dueAtMs
    }
    const left = [...this.rows].filter(([, { state }]) => state !== 'settled')
    assert.deepEqual(left, [], 'never handed out')
    assert.ok(this.bench.frontier.isFinished())
  }
}

describe('SqliteFrontier, step by step against a model', () => {
  it('loses nothing and gives nothing twice but what was out when it died', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 20, maxLength: 120 }), (steps) => {
        const model = new Model()
        for (const one of steps) {
          model.apply(one)
          model.check()
        }
        model.drain()
        model.bench.store.close()
      }),
      { numRuns: 30 },
    )
  })
})
