/** The contract of a Frontier as sentences, run against every implementation. A new backend is done when this passes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FoundUrl, Settlement } from '../../src/crawl/frontier.ts'
import {
  add,
  settle,
  mustTake,
  drain,
  found,
  stored,
  hourMs,
  type FrontierOptions,
  type FrontierBench,
  type Open,
  type Start,
} from './frontier-bench.ts'
import { redirectSuite } from './frontier-redirects.suite.ts'
import { recoverySuite, sourceSuite } from './frontier-sources.suite.ts'

export { found, type FrontierBench, type FrontierOptions } from './frontier-bench.ts'

export function frontierSuite(name: string, open: Open): void {
  const start = async (urls: FoundUrl[], options?: FrontierOptions): Promise<FrontierBench> => {
    const bench = open(options)
    bench.frontier.activate([1])
    await add(bench, ...urls)
    return bench
  }
  queueSuite(name, start)
  politenessSuite(name, start)
  settlementSuite(name, start)
  sourceSuite(name, start)
  recoverySuite(name, start)
  redirectSuite(name, start)
}

function queueSuite(name: string, start: Start): void {
  describe(`${name}: the queue`, () => {
    it('hands a URL out once, however often it is added', async () => {
      const bench = await start([found('http://a.test/')])
      assert.deepEqual(await add(bench, found('http://a.test/')), { added: 0, known: 1 })
      assert.deepEqual(await drain(bench), ['http://a.test/'])
      assert.deepEqual(await add(bench, found('http://a.test/')), { added: 0, known: 1 })
      assert.deepEqual(await drain(bench), [])
    })
    it('tells URLs apart that differ in scheme, port, path, case or query', async () => {
      const urls = ['http://a.test/', 'https://a.test/', 'http://a.test:81/', 'http://a.test/a']
      const more = ['http://a.test/A', 'http://a.test/a?', 'http://a.test/a?b=1', 'http://b.test/']
      const all = [...urls, ...more]
      const bench = await start(all.map((url) => found(url)))
      assert.deepEqual((await drain(bench)).toSorted(), all.toSorted())
    })
    it('gives a lease with all that a visit needs', async () => {
      const bench = await start([found('http://a.test:81/p/q?r=s', { depth: 3 })])
      const { urlId, ...lease } = mustTake(bench)
      assert.ok(Number.isSafeInteger(urlId) && urlId > 0)
      assert.deepEqual(lease, {
        url: 'http://a.test:81/p/q?r=s',
        origin: 'http://a.test:81',
        sourceId: 1,
        depth: 3,
        tries: 0,
        alone: false,
        kind: 'page',
        history: [],
        etag: null,
        modified: null,
      })
    })
    it('gives the lowest priority number first, then the older URL; without one the depth counts', async () => {
      const bench = await start([
        found('http://a.test/deep', { depth: 4 }),
        found('http://a.test/later', { depth: 9, priority: 2 }),
        found('http://a.test/second', { priority: 1 }),
        found('http://a.test/third', { depth: 1 }),
        found('http://a.test/first', { depth: 9, priority: -5 }),
      ])
      assert.deepEqual(
        (await drain(bench)).map((url) => url.slice(14)),
        ['first', 'second', 'third', 'later', 'deep'],
      )
    })
    it('lets a better URL that comes late go first', async () => {
      const bench = await start([1, 2, 3].map((n) => found(`http://a.test/${n}`, { priority: n })))
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 0)
      await settle(bench, lease, stored, [found('http://a.test/0', { priority: 0 })])
      assert.deepEqual(
        (await drain(bench)).map((url) => url.slice(14)),
        ['0', '2', '3'],
      )
    })
    it('goes through more URLs of a host than it holds at a time, in order', async () => {
      const urls = Array.from({ length: 300 }, (_, n) => `http://a.test/${n}`)
      const bench = await start(urls.map((url) => found(url)))
      assert.deepEqual(await drain(bench), urls)
      assert.ok(bench.frontier.isFinished())
    })
    it('knows the links of settled pages', async () => {
      const bench = await start([found('http://a.test/')])
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 0)
      const links = ['http://a.test/', 'http://a.test/1', 'http://a.test/2', 'http://a.test/1']
      const counts = await settle(
        bench,
        lease,
        stored,
        links.map((url) => found(url, { depth: 1 })),
      )
      assert.deepEqual(counts, { added: 2, known: 2 })
      assert.deepEqual(await drain(bench), ['http://a.test/1', 'http://a.test/2'])
    })
    it('is empty and finished where nothing was added', async () => {
      const bench = await start([])
      assert.equal(bench.frontier.take(0), null)
      assert.equal(bench.frontier.nextDueAt(0), null)
      assert.ok(bench.frontier.isFinished())
      assert.deepEqual(bench.frontier.counts(), {
        queued: 0,
        waiting: 0,
        out: 0,
        settled: 0,
        aside: 0,
      })
    })
  })
}

function politenessSuite(name: string, start: Start): void {
  describe(`${name}: politeness`, () => {
    it('has one request at a time under way to a host', async () => {
      const bench = await start([
        found('http://a.test/1'),
        found('http://a.test/2'),
        found('http://b.test/'),
      ])
      const origins = [mustTake(bench).origin, mustTake(bench).origin]
      assert.deepEqual(origins.toSorted(), ['http://a.test', 'http://b.test'])
      assert.equal(bench.frontier.take(0), null)
    })
    it('has as many under way as it is told', async () => {
      const urls = [1, 2, 3, 4].map((n) => found(`http://a.test/${n}`))
      const bench = await start(urls, { hostConnections: 3 })
      const leases = [mustTake(bench), mustTake(bench), mustTake(bench)]
      assert.equal(bench.frontier.take(0), null)
      assert.equal(new Set(leases.map(({ url }) => url)).size, 3)
      const [first] = leases
      assert.ok(first)
      bench.frontier.release(first, 0, 0)
      assert.equal(mustTake(bench).url, 'http://a.test/4')
    })
    it('waits the delay after a response, to the millisecond', async () => {
      const bench = await start([found('http://a.test/1'), found('http://a.test/2')])
      bench.frontier.release(mustTake(bench, 5_000), 6_000, 1_000)
      assert.equal(bench.frontier.take(6_999), null)
      assert.equal(bench.frontier.nextDueAt(6_500), 7_000)
      assert.equal(mustTake(bench, 7_000).url, 'http://a.test/2')
    })
    it('holds the whole host where the server asked for it, and no other', async () => {
      const bench = await start([
        found('http://a.test/1'),
        found('http://a.test/2'),
        found('http://b.test/'),
      ])
      bench.frontier.release(mustTake(bench), 0, 1_000, 60_000)
      assert.equal(mustTake(bench).origin, 'http://b.test')
      assert.equal(bench.frontier.take(59_999), null)
      assert.equal(mustTake(bench, 60_000).url, 'http://a.test/2')
    })
    it('frees a host once, however often a lease is released', async () => {
      const bench = await start([1, 2, 3].map((n) => found(`http://a.test/${n}`)))
      const first = mustTake(bench)
      bench.frontier.release(first, 0, 0)
      bench.frontier.release(first, 0, 0)
      mustTake(bench)
      bench.frontier.release(first, 0, 0)
      assert.equal(bench.frontier.take(0), null)
    })
    it('lets hosts take turns', async () => {
      const hosts = ['a', 'b', 'c']
      const bench = await start(
        hosts.flatMap((host) => [1, 2, 3].map((n) => found(`http://${host}.test/${n}`))),
      )
      const urls = await drain(bench)
      for (const round of [urls.slice(0, 3), urls.slice(3, 6), urls.slice(6)]) {
        assert.equal(new Set(round.map((url) => url.slice(7, 8))).size, 3, urls.join(' '))
      }
    })
    it('keeps the delay of a host over a crash', async () => {
      const bench = await start([found('http://a.test/1'), found('http://a.test/2')])
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 5_000)
      await settle(bench, lease)
      const after = bench.crash()
      after.frontier.activate([1])
      assert.equal(after.frontier.take(4_999), null)
      assert.equal(after.frontier.nextDueAt(0), 5_000)
      assert.equal(mustTake(after, 5_000).url, 'http://a.test/2')
    })
  })
}

function settlementSuite(name: string, start: Start): void {
  describe(`${name}: settling`, () => {
    it('does not hand out what is released and not yet settled', async () => {
      const bench = await start([found('http://a.test/')])
      bench.frontier.release(mustTake(bench), 0, 0)
      assert.equal(bench.frontier.take(0), null)
      assert.equal(bench.frontier.nextDueAt(0), null)
      assert.ok(!bench.frontier.isFinished())
      assert.equal(bench.frontier.counts().out, 1)
    })
    it('changes nothing when a lease is settled twice', async () => {
      const bench = await start([found('http://a.test/')])
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 0)
      await settle(bench, lease)
      const counts = bench.frontier.counts()
      await settle(bench, lease, { kind: 'failed', status: 0, reason: 'late', retryAtMs: 5 })
      assert.deepEqual(bench.frontier.counts(), counts)
      assert.equal(bench.frontier.take(10), null)
      assert.ok(bench.frontier.isFinished())
    })
    it('gives a failed URL again at its time and counts the attempts; it is not finished before', async () => {
      const bench = await start([found('http://a.test/')])
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 0)
      await settle(bench, lease, { kind: 'failed', status: 503, reason: 'busy', retryAtMs: 9_000 })
      assert.ok(!bench.frontier.isFinished())
      assert.equal(bench.frontier.take(8_999), null)
      assert.equal(bench.frontier.nextDueAt(0), 9_000)
      assert.equal(bench.frontier.counts().waiting, 1)
      const again = mustTake(bench, 9_000)
      assert.equal(again.tries, 1)
      bench.frontier.release(again, 9_000, 0)
      await settle(bench, again, { kind: 'failed', status: 503, reason: 'busy', retryAtMs: null })
      assert.ok(bench.frontier.isFinished())
      assert.equal(bench.frontier.take(9_999_999), null)
    })
    it('gives a page again for its revisit, with its validators and no attempts; it is finished before', async () => {
      const bench = await start([found('http://a.test/')])
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 0)
      const recrawlAtMs = hourMs
      await settle(bench, lease, { ...stored, etag: '"1"', modified: 'Mon', recrawlAtMs })
      assert.ok(bench.frontier.isFinished())
      assert.equal(bench.frontier.take(hourMs - 1), null)
      assert.equal(bench.frontier.nextDueAt(0), hourMs)
      const again = mustTake(bench, hourMs)
      assert.deepEqual([again.etag, again.modified, again.tries], ['"1"', 'Mon', 0])
      assert.ok(!bench.frontier.isFinished())
    })
    it('keeps validators of an unchanged and of a failed page, and drops those of a page that changed', async () => {
      const cases: [Settlement, string | null][] = [
        [{ kind: 'unchanged', status: 304, recrawlAtMs: 20 }, '"1"'],
        [{ kind: 'failed', status: 500, reason: 'x', retryAtMs: 20 }, '"1"'],
        [{ kind: 'stored', status: 200, recrawlAtMs: 20, etag: '"2"' }, '"2"'],
        [{ kind: 'stored', status: 200, recrawlAtMs: 20 }, null],
        [{ kind: 'duplicate', of: 'exact', status: 200, recrawlAtMs: 20 }, null],
      ]
      for (const [settlement, etag] of cases) {
        const bench = await start([found('http://a.test/')])
        const first = mustTake(bench)
        bench.frontier.release(first, 0, 0)
        await settle(bench, first, { ...stored, etag: '"1"', recrawlAtMs: 10 })
        const second = mustTake(bench, 10)
        bench.frontier.release(second, 10, 0)
        await settle(bench, second, settlement, [], 10)
        assert.equal(mustTake(bench, 20).etag, etag, settlement.kind)
      }
    })
    it('ends every kind of visit', async () => {
      const endings: Settlement[] = [
        stored,
        { kind: 'duplicate', of: 'near', status: 200 },
        { kind: 'unchanged', status: 304 },
        { kind: 'redirect', status: 301, to: 'http://b.test/' },
        { kind: 'refused', status: 0, reason: 'robots' },
        { kind: 'gone', status: 410 },
        { kind: 'failed', status: 0, reason: 'dns', retryAtMs: null },
      ]
      const bench = await start(endings.map((_, n) => found(`http://a.test/${n}`)))
      for (const ending of endings) {
        const lease = mustTake(bench)
        bench.frontier.release(lease, 0, 0)
        await settle(bench, lease, ending)
      }
      assert.ok(bench.frontier.isFinished())
      const none = { queued: 0, waiting: 0, out: 0, aside: 0 }
      assert.deepEqual(bench.frontier.counts(), { ...none, settled: endings.length })
    })
    it('counts each URL in exactly one state', async () => {
      const bench = await start([1, 2, 3, 4, 5].map((n) => found(`http://${n}.test/`)))
      const [a, b, c] = [mustTake(bench), mustTake(bench), mustTake(bench)]
      bench.frontier.release(a, 0, 0)
      await settle(bench, a)
      bench.frontier.release(b, 0, 0)
      await settle(bench, b, { ...stored, recrawlAtMs: hourMs })
      bench.frontier.release(c, 0, 0)
      assert.deepEqual(bench.frontier.counts(), {
        queued: 2,
        waiting: 1,
        out: 1,
        settled: 1,
        aside: 0,
      })
    })
    it('frees the host of a lease that was settled without a release', async () => {
      const bench = await start([found('http://a.test/1'), found('http://a.test/2')])
      await settle(bench, mustTake(bench))
      assert.equal(mustTake(bench).url, 'http://a.test/2')
    })
  })
}
