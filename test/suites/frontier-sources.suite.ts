/** The part of the frontier's contract that speaks of sources and of recovery after a crash. Run by frontier.suite.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Settlement } from '../../src/crawl/frontier.ts'
import { add, settle, mustTake, drain, found, stored, type Start } from './frontier-bench.ts'

export function sourceSuite(name: string, start: Start): void {
  describe(`${name}: sources`, () => {
    const ofTwo = { sourceId: 2 }
    it('gives nothing before a source is active', async () => {
      const bench = await start([found('http://a.test/', ofTwo)])
      assert.equal(bench.frontier.take(0), null)
      assert.equal(bench.frontier.nextDueAt(0), null)
      assert.ok(bench.frontier.isFinished())
      bench.frontier.activate([2])
      assert.ok(!bench.frontier.isFinished())
      assert.equal(mustTake(bench).sourceId, 2)
    })
    it('keeps the queue of a source that is not named', async () => {
      const bench = await start([found('http://a.test/1'), found('http://b.test/2', ofTwo)])
      bench.frontier.activate([2])
      assert.deepEqual(await drain(bench), ['http://b.test/2'])
      bench.frontier.activate([1])
      assert.deepEqual(await drain(bench), ['http://a.test/1'])
    })
    it('keeps one request at a time to a host that two sources share, best priority of both first', async () => {
      const bench = await start([
        found('http://a.test/1', { priority: 1 }),
        found('http://a.test/2', { priority: 2, sourceId: 2 }),
        found('http://a.test/3', { priority: 3 }),
      ])
      bench.frontier.activate([1, 2])
      const lease = mustTake(bench)
      assert.equal(bench.frontier.take(0), null)
      bench.frontier.release(lease, 0, 0)
      assert.deepEqual(await drain(bench), ['http://a.test/2', 'http://a.test/3'])
    })
    it('says of one source that it is finished while another goes on', async () => {
      const bench = await start([found('http://a.test/1'), found('http://b.test/2', ofTwo)])
      bench.frontier.activate([1, 2])
      for (;;) {
        const lease = mustTake(bench)
        bench.frontier.release(lease, 0, 0)
        if (lease.sourceId !== 2) continue
        await settle(bench, lease)
        break
      }
      assert.ok(bench.frontier.isFinished([2]))
      assert.ok(!bench.frontier.isFinished([1]))
      assert.ok(!bench.frontier.isFinished())
      assert.equal(bench.frontier.counts([2]).settled, 1)
      assert.equal(bench.frontier.counts([1]).settled, 0)
    })
    const endings: [Settlement, boolean][] = [
      [{ kind: 'refused', status: 0, reason: 'guard-address' }, true],
      [{ kind: 'gone', status: 404 }, true],
      [{ kind: 'failed', status: 0, reason: 'connect', retryAtMs: null }, true],
      [{ kind: 'redirect', status: 301, to: 'http://b.test/' }, false],
      [stored, false],
    ]
    for (const [settlement, isAgain] of endings) {
      it(`${isAgain ? 'visits' : 'does not visit'} a seed again that was ${settlement.kind}, and no mere link`, async () => {
        const bench = await start([found('http://a.test/')])
        const lease = mustTake(bench)
        bench.frontier.release(lease, 0, 0)
        await settle(bench, lease, settlement)
        assert.equal((await add(bench, found('http://a.test/'))).added, 0)
        const { added } = await add(bench, found('http://a.test/', { isSeed: true }))
        assert.equal(added, isAgain ? 1 : 0)
        assert.deepEqual(await drain(bench), isAgain ? ['http://a.test/'] : [])
        assert.deepEqual(bench.frontier.counts([1]).settled, 1)
      })
    }
    it('settles what is out of a source that is no longer active', async () => {
      const bench = await start([found('http://a.test/1'), found('http://b.test/2', ofTwo)])
      const lease = mustTake(bench)
      bench.frontier.activate([2])
      bench.frontier.release(lease, 0, 0)
      await settle(bench, lease)
      assert.ok(bench.frontier.isFinished([1]))
      assert.deepEqual(await drain(bench), ['http://b.test/2'])
    })
    it('visits a known page once more for a newer source that its own does not cover', async () => {
      const bench = await start([found('http://a.test/')], { covers: () => false })
      await drain(bench)
      bench.frontier.activate([2])
      assert.deepEqual(await add(bench, found('http://a.test/', ofTwo)), { added: 1, known: 0 })
      assert.equal(bench.frontier.counts().queued, 1)
      assert.deepEqual(await drain(bench), ['http://a.test/'])
      assert.deepEqual(await add(bench, found('http://a.test/', ofTwo)), { added: 0, known: 1 })
      bench.frontier.activate([1])
      assert.deepEqual(await add(bench, found('http://a.test/')), { added: 0, known: 1 })
      assert.deepEqual(await drain(bench), [])
    })
    it('does not visit it again where its source is finished and covers the newer one', async () => {
      const bench = await start([found('http://a.test/')], { covers: (wide) => wide === 1 })
      await drain(bench)
      bench.frontier.activate([2])
      assert.deepEqual(await add(bench, found('http://a.test/', ofTwo)), { added: 0, known: 1 })
      assert.ok(bench.frontier.isFinished())
    })
    it('visits it again where the wider source was stopped before its end: nobody else would go on', async () => {
      const bench = await start([found('http://a.test/'), found('http://z.test/rest')], {
        covers: (wide) => wide === 1,
      })
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 0)
      await settle(bench, lease)
      bench.frontier.activate([2])
      assert.deepEqual(await add(bench, found('http://a.test/', ofTwo)), { added: 1, known: 0 })
      assert.deepEqual(await drain(bench), ['http://a.test/'])
    })
    it('does not visit again what was judged while the newer source ran', async () => {
      const bench = await start([found('http://a.test/')], { covers: () => false })
      bench.frontier.activate([1, 2])
      await drain(bench)
      assert.deepEqual(await add(bench, found('http://a.test/', ofTwo)), { added: 0, known: 1 })
    })
    it('visits once more what is wanted again in the very batch that settles it', async () => {
      const bench = await start([found('http://a.test/1'), found('http://b.test/2')], {
        covers: () => false,
      })
      const batch = [mustTake(bench), mustTake(bench)].map((lease) => {
        bench.frontier.release(lease, 0, 0)
        return {
          lease,
          settlement: stored,
          links: [found('http://a.test/1', ofTwo), found('http://b.test/2', ofTwo)],
        }
      })
      await bench.within(() => bench.frontier.settle(batch, 0))
      bench.frontier.settled(batch, true)
      bench.frontier.activate([1, 2])
      assert.deepEqual((await drain(bench)).toSorted(), ['http://a.test/1', 'http://b.test/2'])
    })
    it('takes over by a link that it has met before the other source came to rest', async () => {
      const bench = await start([
        found('http://a.test/1'),
        found('http://b.test/2', ofTwo),
        found('http://c.test/3', ofTwo),
      ])
      bench.frontier.activate([1, 2])
      const leases = [mustTake(bench), mustTake(bench), mustTake(bench)]
      const [second, third] = leases.filter(({ sourceId }) => sourceId === 2)
      assert.ok(second && third)
      const link = found('http://a.test/1', ofTwo)
      assert.deepEqual(await settle(bench, second, stored, [link]), { added: 0, known: 1 })
      bench.frontier.activate([2])
      assert.deepEqual(await settle(bench, third, stored, [link]), { added: 1, known: 0 })
      assert.equal(bench.frontier.counts([2]).out, 1)
    })
    it('takes over what is queued for a source at rest, and leaves alone what is not', async () => {
      const bench = await start([found('http://a.test/1'), found('http://a.test/2')])
      bench.frontier.activate([1, 2])
      assert.deepEqual(await add(bench, found('http://a.test/1', ofTwo)), { added: 0, known: 1 })
      bench.frontier.activate([2])
      assert.deepEqual(await add(bench, found('http://a.test/1', ofTwo)), { added: 1, known: 0 })
      assert.equal(bench.frontier.counts([1]).queued, 1)
      assert.deepEqual(await drain(bench), ['http://a.test/1'])
      bench.frontier.activate([1])
      assert.deepEqual(await drain(bench), ['http://a.test/2'])
    })
  })
}

export function recoverySuite(name: string, start: Start): void {
  describe(`${name}: recovery`, () => {
    it('hands out again after a crash what was out, and nothing that was settled', async () => {
      const bench = await start([1, 2, 3].map((n) => found(`http://${n}.test/`)))
      const done = mustTake(bench)
      bench.frontier.release(done, 0, 0)
      await settle(bench, done)
      mustTake(bench)
      const after = bench.crash()
      after.frontier.activate([1])
      assert.deepEqual(
        after.frontier.counts(),
        { queued: 2, waiting: 0, out: 0, settled: 1, aside: 0 },
        'counts are those of the store',
      )
      const urls = ['http://1.test/', 'http://2.test/', 'http://3.test/']
      assert.deepEqual(
        (await drain(after)).toSorted(),
        urls.filter((url) => url !== done.url),
      )
      assert.ok(after.frontier.isFinished())
    })
    it('is as it was after a clean end, and suspects nobody', async () => {
      const bench = await start([1, 2].map((n) => found(`http://${n}.test/`)))
      const done = mustTake(bench)
      mustTake(bench)
      await settle(bench, done)
      bench.frontier.close()
      const after = bench.crash()
      after.frontier.activate([1])
      assert.equal(mustTake(after).alone, false)
    })
    it('keeps leases out when their transaction was rolled back, and forgets the links', async () => {
      const bench = await start([found('http://a.test/')])
      if (!bench.frontier.sharesStore) return
      const lease = mustTake(bench)
      bench.frontier.release(lease, 0, 0)
      const links = [found('http://a.test/1'), found('http://new.test/2')]
      const batch = [{ lease, settlement: stored, links }]
      const before = bench.frontier.counts()
      assert.throws(() =>
        bench.within(() => {
          void bench.frontier.settle(batch, 0)
          throw new Error('the disk is full')
        }),
      )
      bench.frontier.settled(batch, false)
      assert.deepEqual(bench.frontier.counts(), before)
      assert.equal(bench.frontier.take(0), null)
      assert.deepEqual(await settle(bench, lease, stored, links), { added: 2, known: 0 })
      assert.deepEqual((await drain(bench)).toSorted(), ['http://a.test/1', 'http://new.test/2'])
    })
    it('does not believe in seeds whose transaction was rolled back', async () => {
      const bench = await start([])
      if (!bench.frontier.sharesStore) return
      const seeds = [found('http://a.test/')]
      assert.throws(() =>
        bench.within(() => {
          void bench.frontier.add(seeds)
          throw new Error('the disk is full')
        }),
      )
      assert.ok(bench.frontier.isFinished())
      assert.equal(bench.frontier.take(0), null)
      // Other hosts and URLs now get the ids that the lost ones had.
      await add(bench, found('http://b.test/'))
      assert.deepEqual(await add(bench, ...seeds), { added: 1, known: 0 })
      assert.deepEqual((await drain(bench)).toSorted(), ['http://a.test/', 'http://b.test/'])
      assert.ok(bench.frontier.isFinished())
    })
  })
}
