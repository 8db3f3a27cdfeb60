/** Pages that many others link to come earlier, by no more than one link nearer to the start. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FoundUrl, Lease } from '../../../src/crawl/frontier.ts'
import { createRecentKeys } from '../../../src/crawl/recent-keys.ts'
import { openSqliteBench, type SqliteBench } from './sqlite-bench.ts'

const page = (n: number | string): string => `http://a.test/${n}`
const link = (n: number | string, priority = 8, more: Partial<FoundUrl> = {}): FoundUrl => ({
  url: page(n),
  sourceId: 1,
  depth: 2,
  priority,
  ...more,
})

/** Linking pages come first; they are taken and settled one by one. */
function opened(linking: number): SqliteBench {
  const bench = openSqliteBench()
  bench.frontier.activate([1])
  bench.store.transaction(
    () => void bench.frontier.add(Array.from({ length: linking }, (_, i) => link(`from/${i}`, 0))),
  )
  return bench
}
function settle(bench: SqliteBench, lease: Lease, links: readonly FoundUrl[]): void {
  const batch = [{ lease, settlement: { kind: 'stored', status: 200 } as const, links }]
  bench.store.transaction(() => void bench.frontier.settle(batch, 0))
  bench.frontier.settled(batch, true)
}
const take = (bench: SqliteBench): Lease => {
  const lease = bench.frontier.take(0) ?? assert.fail('nothing to take')
  bench.frontier.release(lease, 0, 0)
  return lease
}
/** Each of the linking pages has these links. */
function linkAll(bench: SqliteBench, linking: number, links: readonly FoundUrl[]): void {
  for (let i = 0; i < linking; i++) settle(bench, take(bench), links)
}
const order = (bench: SqliteBench, count: number): string[] =>
  Array.from({ length: count }, () => {
    const lease = take(bench)
    settle(bench, lease, [])
    return lease.url
  })
const inlinksOf = (bench: SqliteBench, n: number | string): number =>
  bench.store.db
    .prepare<{ inlinks: number }>('SELECT inlinks FROM url WHERE path = ?')
    .value(`/${n}`) ?? -1

describe('a URL that many pages link to', () => {
  it('comes before its like', () => {
    const bench = opened(6)
    settle(bench, take(bench), [link('a'), link('b')])
    linkAll(bench, 5, [link('b')])
    assert.deepEqual(order(bench, 2), [page('b'), page('a')])
  })

  it('comes before pages as deep, not before those one link nearer to the start', () => {
    const bench = opened(64)
    settle(bench, take(bench), [link('near', 4), link('deep', 9), link('many', 8), link('few', 8)])
    linkAll(bench, 63, [link('many', 8)])
    assert.deepEqual(order(bench, 4), [page('near'), page('many'), page('few'), page('deep')])
    assert.equal(inlinksOf(bench, 'many'), 32)
  })

  it('does not come before seeds, lists and what feeds name', () => {
    const bench = opened(40)
    settle(bench, take(bench), [link('feed-item', 2), link('many', 3)])
    linkAll(bench, 39, [link('many', 3)])
    assert.deepEqual(order(bench, 2), [page('feed-item'), page('many')])
  })

  it('gains nothing by pages of its own shape: a calendar links to all its months', () => {
    const bench = opened(20)
    settle(bench, take(bench), [link('a'), link('month')])
    linkAll(bench, 19, [link('month', 8, { isOfOwnShape: true })])
    assert.deepEqual(order(bench, 2), [page('a'), page('month')])
  })

  it('gains nothing by a page that is read again', () => {
    const bench = opened(1)
    const lease = take(bench)
    settle(bench, lease, [link('a')])
    const visit = { atMs: 0, status: 200, outcome: 'stored', isChanged: true } as const
    for (let again = 0; again < 9; again++)
      settle(bench, { ...lease, history: [visit] }, [link('a')])
    assert.equal(inlinksOf(bench, 'a'), 0)
  })

  it('comes earlier also where the next of its host was chosen before', () => {
    const bench = openSqliteBench()
    bench.frontier.activate([1])
    const linking = Array.from({ length: 6 }, (_, i) => ({
      ...link(i, 0),
      url: `http://b.test/${i}`,
    }))
    bench.store.transaction(() => void bench.frontier.add([link('a'), link('b'), ...linking]))
    const [first, ...others] = [...linking].map(() => take(bench))
    assert.deepEqual(first?.url, linking[0]?.url)
    for (const lease of first ? [first, ...others] : []) settle(bench, lease, [link('b')])
    assert.deepEqual(order(bench, 2), [page('b'), page('a')])
  })

  it('is written at doublings only', () => {
    const bench = opened(100)
    const { db } = bench.store
    db.exec(`CREATE TEMP TABLE written(n INTEGER);
      CREATE TEMP TRIGGER noted AFTER UPDATE OF inlinks ON url BEGIN INSERT INTO written VALUES (new.inlinks); END`)
    linkAll(bench, 100, [link('a')])
    assert.deepEqual(
      db
        .prepare<{ n: number }>('SELECT n FROM written')
        .all()
        .map(({ n }) => n),
      [4, 8, 16, 32],
    )
  })
})

describe('keys that were seen lately', () => {
  it('are counted, over two generations, and forgotten after them', () => {
    const recent = createRecentKeys(2)
    assert.equal(recent.again('a'), 0)
    recent.add('a')
    recent.add('b')
    recent.add('c')
    assert.deepEqual([recent.again('a'), recent.again('a')], [2, 3])
    recent.add('d')
    assert.equal(recent.again('a'), 4)
    recent.add('e')
    recent.add('f')
    recent.add('g')
    assert.equal(recent.has('b'), false)
    recent.clear()
    assert.equal(recent.again('a'), 0)
  })
})
