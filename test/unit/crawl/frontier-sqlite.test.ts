/** The frontier in SQLite keeps the contract, whatever its filter says, and beyond it what only a store on disk can promise. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { FoundUrl, Lease } from '../../../src/crawl/frontier.ts'
import type { SeenFilter } from '../../../src/crawl/seen.ts'
import { found, frontierSuite } from '../../suites/frontier.suite.ts'
import { openSqliteBench, type SqliteBench } from './sqlite-bench.ts'

frontierSuite('SqliteFrontier', (options) => openSqliteBench(options))

const dayMs = 86_400_000

/** Says "maybe" of half of all new URLs. */
function halfWrong(): SeenFilter {
  const seen = new Set<string>()
  const isUnlucky = (url: string): boolean =>
    createHash('sha1').update(url).digest().readUInt8() % 2 === 0
  return { mayHave: (url) => seen.has(url) || isUnlucky(url), add: (url) => void seen.add(url) }
}
/** A file that was lost: everything is new. */
const forgetful: SeenFilter = { mayHave: () => false, add: () => {} }

/** Visits everything; page n of a host links to pages of a random graph. @returns what was visited, in order */
function crawl(bench: SqliteBench, links: ReadonlyMap<string, string[]>): string[] {
  const visited: string[] = []
  const { frontier } = bench
  for (let lease = frontier.take(0); lease !== null; lease = frontier.take(0)) {
    visited.push(lease.url)
    frontier.release(lease, 0, 0)
    const next = (links.get(lease.url) ?? []).map((url) => found(url))
    commit(bench, [lease], next)
  }
  return visited
}

function commit(bench: SqliteBench, leases: readonly Lease[], links: FoundUrl[] = []): void {
  const batch = leases.map((lease) => ({
    lease,
    settlement: { kind: 'stored', status: 200 } as const,
    links,
  }))
  bench.store.transaction(() => void bench.frontier.settle(batch, 0))
  bench.frontier.settled(batch, true)
}

describe('a filter of seen URLs', () => {
  it('changes nothing about which pages are visited, right, half wrong or lost', () => {
    const page = fc.integer({ min: 0, max: 30 }).map((n) => `http://${n % 3}.test/${n}`)
    const graph = fc.array(fc.tuple(page, page), { maxLength: 80 })
    fc.assert(
      fc.property(graph, (edges) => {
        const links = new Map<string, string[]>()
        for (const [from, to] of edges) links.set(from, [...(links.get(from) ?? []), to])
        const seed = found('http://0.test/0')
        const runs = [undefined, halfWrong(), forgetful].map((seen) => {
          const bench = openSqliteBench(seen === undefined ? {} : { seen })
          bench.frontier.activate([1])
          bench.store.transaction(() => void bench.frontier.add([seed]))
          return crawl(bench, links)
        })
        const [plain = []] = runs
        assert.equal(new Set(plain).size, plain.length, 'a page was visited twice')
        for (const run of runs) assert.deepEqual(run.toSorted(), plain.toSorted())
      }),
      { numRuns: 12 },
    )
  })
  it('does not hide a known page from a wider source when it is lost', () => {
    const bench = openSqliteBench({ seen: forgetful })
    bench.frontier.activate([1])
    bench.store.transaction(() => void bench.frontier.add([found('http://a.test/')]))
    assert.equal(crawl(bench, new Map()).length, 1)
    bench.frontier.activate([2])
    const wider = [found('http://a.test/', { sourceId: 2 })]
    const counts = bench.store.transaction(() => bench.frontier.add(wider))
    assert.deepEqual(counts, { added: 1, known: 0 })
  })
  it('is told of every URL that it did not know', () => {
    const told: string[] = []
    const seen = { mayHave: () => false, add: (url: string) => void told.push(url) }
    const bench = openSqliteBench({ seen })
    bench.store.transaction(() => void bench.frontier.add([found('http://a.test/')]))
    assert.deepEqual(told, ['http://a.test/'])
  })
})

describe('a page that kills the process', () => {
  const urls = Array.from({ length: 12 }, (_, n) => `http://${n % 4}.test/${n}`)
  /** Four visits side by side, two pages a batch; dies as soon as a poisonous page is out. */
  function runUntilDeath(bench: SqliteBench, poison: ReadonlySet<string>, nowMs: number): boolean {
    const { frontier } = bench
    frontier.activate([1])
    let out: Lease[] = []
    for (;;) {
      const lease = out.length < 4 ? frontier.take(nowMs) : null
      if (lease !== null) {
        if (lease.alone) {
          assert.equal(out.length, 0, 'it must be tried alone')
          // An import may commit meanwhile.
          commit(bench, [])
        }
        out.push(lease)
        if (poison.has(lease.url)) return true
        frontier.release(lease, nowMs, 0)
      }
      if (lease !== null && !lease.alone && out.length < 2) continue
      if (out.length === 0) return false
      commit(bench, out.slice(0, 2))
      out = out.slice(2)
    }
  }
  const stateOf = (bench: SqliteBench, url: string): string | undefined =>
    bench.store.urlRow(url)?.state

  /** Starts it anew after each death, until it lives to the end. */
  function surviveAtLast(poison: ReadonlySet<string>): SqliteBench {
    let bench = openSqliteBench()
    bench.store.transaction(() => void bench.frontier.add(urls.map((url) => found(url))))
    for (let deaths = 0; runUntilDeath(bench, poison, 0); deaths++) {
      assert.ok(deaths < 8 * poison.size, 'it dies for ever')
      bench = bench.crash()
    }
    return bench
  }

  it('is put aside after three deaths alone, and no neighbour is lost', () => {
    for (const poison of [new Set(['http://1.test/5']), new Set(urls.slice(3, 6))]) {
      const bench = surviveAtLast(poison)
      for (const url of urls)
        assert.equal(stateOf(bench, url), poison.has(url) ? 'aside' : 'settled', url)
      assert.ok(bench.frontier.isFinished())
      assert.equal(bench.frontier.counts().aside, poison.size)
      assert.equal(bench.store.urlRow([...poison][0] ?? '')?.reason, 'crash')
    }
  })
  it('leaves no suspicion behind in the transaction that settles it', () => {
    let bench = openSqliteBench()
    bench.frontier.activate([1])
    bench.store.transaction(
      () => void bench.frontier.add([found('http://a.test/1'), found('http://b.test/2')]),
    )
    const first = bench.frontier.take(0)
    assert.ok(first && bench.frontier.take(0))
    commit(bench, [first])
    bench = bench.crash()
    bench.frontier.activate([1])
    const alone = bench.frontier.take(0)
    assert.ok(alone?.alone)
    commit(bench, [alone])
    const noted = bench.store.db
      .prepare<{ urlId: number }>('SELECT url_id AS urlId FROM lease WHERE url_id <> 0')
      .all()
    assert.deepEqual(noted, [])
  })

  it('comes back after a day', () => {
    const bench = surviveAtLast(new Set(['http://1.test/5']))
    assert.equal(bench.frontier.take(dayMs - 1), null)
    assert.equal(bench.frontier.nextDueAt(0), dayMs)
    assert.equal(runUntilDeath(bench, new Set(), dayMs), false)
    assert.equal(stateOf(bench, 'http://1.test/5'), 'settled')
  })
  it('does not stop other work while its host must wait', () => {
    let bench = openSqliteBench()
    bench.frontier.activate([1])
    bench.store.transaction(() => void bench.frontier.add([found('http://a.test/1')]))
    const first = bench.frontier.take(0)
    assert.ok(first)
    // Noted as out by a commit, on a host that then has to wait.
    bench.frontier.release(first, 0, 60_000)
    commit(bench, [], [])
    bench = bench.crash()
    bench.frontier.activate([1])
    bench.store.transaction(() => void bench.frontier.add([found('http://b.test/2')]))
    const other = bench.frontier.take(0)
    assert.equal(other?.url, 'http://b.test/2')
    assert.equal(bench.frontier.take(60_000), null, 'the other one is still out')
    bench.frontier.release(other, 0, 0)
    commit(bench, [other])
    const suspect = bench.frontier.take(60_000)
    assert.deepEqual([suspect?.url, suspect?.alone], ['http://a.test/1', true])
    assert.equal(bench.frontier.nextDueAt(60_000), null, 'nothing else while it is out')
  })
})

describe('SqliteFrontier', () => {
  it('writes nothing when a URL is taken', () => {
    const bench = openSqliteBench()
    bench.frontier.activate([1])
    bench.store.transaction(() => void bench.frontier.add([found('http://a.test/')]))
    const changes = bench.store.db.prepare<{ n: number }>('SELECT total_changes() AS n')
    const before = changes.value()
    const lease = bench.frontier.take(0)
    assert.ok(lease)
    bench.frontier.release(lease, 0, 0)
    assert.equal(changes.value(), before)
  })
  it('goes through more hosts than it may hold in memory', () => {
    const bench = openSqliteBench({ hostsMax: 4 })
    const urls = Array.from({ length: 40 }, (_, n) => `http://${n % 20}.test/${n}`)
    bench.store.transaction(() => void bench.frontier.add(urls.map((url) => found(url))))
    bench.frontier.activate([1])
    assert.deepEqual(crawl(bench, new Map()).toSorted(), urls.toSorted())
    assert.ok(bench.frontier.isFinished())
  })
  it('asks the queue index for its candidates and the due index for revisits, not the table', () => {
    const { store } = openSqliteBench()
    const plan = (sql: string): string =>
      store.db
        .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail)
        .join('; ')
    const queue = plan(
      'SELECT id FROM url WHERE source=1 AND host=1 AND state=0 ORDER BY prio, id LIMIT 64',
    )
    assert.match(queue, /USING (?:COVERING )?INDEX url_queue/)
    assert.doesNotMatch(queue, /TEMP B-TREE/)
    const due = plan(
      'SELECT id FROM url WHERE source=1 AND state IN (1, 3) AND next_at <= 5 ORDER BY next_at LIMIT 9',
    )
    assert.match(due, /INDEX url_due/)
    assert.doesNotMatch(due, /TEMP B-TREE/)
  })
  it('does not trust a due time that a wrong clock has written', () => {
    let bench = openSqliteBench({ now: () => 1_000 })
    bench.store.transaction(() => void bench.frontier.add([found('http://a.test/')]))
    bench.store.db.exec('UPDATE host SET due_at = 9000000000000000')
    bench = bench.crash()
    bench.frontier.activate([1])
    assert.equal(bench.frontier.nextDueAt(1_000), 1_000 + dayMs)
  })
})
