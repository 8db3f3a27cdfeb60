/** A host that does not answer rests, longer each time, over restarts too; the job ends, and what was queued waits for its next run. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { restMs, restsFrom } from '../../../src/crawl/breaker.ts'
import { openCrawl, runToEnd, site, spec, type Answer } from './crawl-fixture.ts'

describe('The rest of a host', () => {
  const cases: [failures: number, restS: number][] = [
    [0, 0],
    [restsFrom - 1, 0],
    [restsFrom, 60],
    [restsFrom + 1, 120],
    [restsFrom + 4, 960],
    [restsFrom + 30, 21_600],
    [1_000_000, 21_600],
  ]
  for (const [failures, restS] of cases)
    it(`is ${restS} s after ${failures} failures in a row`, () =>
      assert.equal(restMs(failures), restS * 1_000))
})

describe('A crawl of a site that falls silent', () => {
  const pages = 60
  function openSilent() {
    const web = site(pages)
    const up: Record<string, Answer> = { ...web }
    const links = Array.from({ length: pages }, (_, i) => `http://a.test/${i}`)
    up['http://a.test/0'] = { text: 'start of it all', links }
    const state = { isDown: false, nowMs: Date.UTC(2026, 5, 1) }
    const opened = openCrawl(
      (url) => (state.isDown && url !== 'http://a.test/0' ? { isDown: true } : up[url]),
      { retriesMax: 0 },
      { now: () => (state.nowMs += 1) },
    )
    return { ...opened, state }
  }

  it('ends, asks no more than a few times, and goes on when the site is back', async () => {
    const { crawl, store, state, asked, urls } = openSilent()
    state.isDown = true
    const { id } = crawl.start(spec(['http://a.test/0']))
    const askedOf = (host: string): number => asked.filter((url) => url.includes(host)).length
    for (let minutes = 0; minutes < 90 && crawl.job(id)?.state === 'running'; minutes++) {
      // A job beside it: the crawl looks what is due.
      await runToEnd(crawl, spec(['http://b.test/']))
      state.nowMs += 60_000
    }
    const job = crawl.job(id)
    assert.equal(job?.state, 'done')
    assert.match(job.note, /^\d+ URLs wait: their host does not answer$/)
    assert.ok(askedOf('a.test') < 30, `${askedOf('a.test')} requests to a host that is down`)
    assert.ok((store.host('http://a.test')?.failures ?? 0) >= restsFrom)
    state.isDown = false
    await runToEnd(crawl, spec(['http://a.test/0']))
    assert.equal(store.host('http://a.test')?.failures, 0)
    assert.ok(urls().length > 30)
  })

  it('is not stopped by pages that answer with an error', async () => {
    const web: Record<string, Answer> = {}
    const broken = Array.from(
      { length: 40 },
      (_, i) => `http://a.test/broken/${'abcdefgh'[i % 8]}${i}`,
    )
    for (const url of broken) web[url] = { status: 500 }
    web['http://a.test/'] = { text: 'start', links: broken }
    const { crawl, store } = openCrawl(web, { retriesMax: 0 })
    const job = await runToEnd(crawl, spec(['http://a.test/']))
    assert.equal(job.counts.failed['server-error'], 40)
    assert.equal(store.host('http://a.test')?.failures, 0)
  })
})
