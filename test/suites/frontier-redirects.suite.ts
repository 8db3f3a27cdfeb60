/** The part of the frontier's contract that speaks of redirects in a circle: those that fetch a cookie, and those that only turn. Run by frontier.suite.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { settle, found, hourMs, stored, type FrontierBench, type Start } from './frontier-bench.ts'

type Step = { at: string; to: string; withCookie: boolean } | { at: string; recrawlAtMs: number }

/** Visits what the frontier gives, in the order of the steps. */
async function walk(bench: FrontierBench, nowMs: number, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    const lease = bench.frontier.take(nowMs)
    assert.equal(lease?.url, `http://h.test/${step.at}`)
    bench.frontier.release(lease, nowMs, 0)
    if ('recrawlAtMs' in step) {
      await settle(bench, lease, { ...stored, recrawlAtMs: step.recrawlAtMs }, [], nowMs)
      continue
    }
    const to = `http://h.test/${step.to}`
    const redirected = { from: lease.url, withCookie: step.withCookie }
    const redirect = { kind: 'redirect', status: 302, to } as const
    await settle(bench, lease, redirect, [found(to, { redirected })], nowMs)
  }
  assert.equal(bench.frontier.take(nowMs), null)
  assert.ok(bench.frontier.isFinished())
}

const lead = (at: string, to: string, withCookie: boolean): Step => ({ at, to, withCookie })

export function redirectSuite(name: string, start: Start): void {
  describe(`${name}: redirects in a circle`, () => {
    it('are asked once where no cookie is in the game', async () => {
      const bench = await start([found('http://h.test/a')])
      await walk(bench, 0, [lead('a', 'b', false), lead('b', 'a', false)])
    })
    it('are asked once more where a cookie may have opened them, and no further', async () => {
      const bench = await start([found('http://h.test/a')])
      const round = [lead('a', 'b', true), lead('b', 'a', true)]
      await walk(bench, 0, [...round, ...round])
    })
    it('are gone through again a month later, when the cookie is lost', async () => {
      const bench = await start([found('http://h.test/a')])
      const monthMs = 720 * hourMs
      const round = [lead('a', 'b', false), lead('b', 'a', true)]
      await walk(bench, 0, [...round, { at: 'a', recrawlAtMs: monthMs }])
      await walk(bench, monthMs, [...round, { at: 'a', recrawlAtMs: 2 * monthMs }])
      await walk(bench, 2 * monthMs, [...round, { at: 'a', recrawlAtMs: 3 * monthMs }])
    })
    it('do not make a redirect that many share asked more than twice', async () => {
      const urls = ['a', 'b', 'c', 'd'].map((path) => found(`http://h.test/${path}`))
      const bench = await start(urls)
      const leads = ['a', 'b', 'c', 'd'].map((path) => lead(path, 'x', false))
      await walk(bench, 0, [...leads, { at: 'x', recrawlAtMs: hourMs }])
    })
  })
}
