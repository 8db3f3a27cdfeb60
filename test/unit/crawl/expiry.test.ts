/** Documents whose time is over leave the index; those that are confirmed in time stay. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Committed } from '../../../src/crawl/commit.ts'
import { expireAll, expireSlice } from '../../../src/crawl/expiry.ts'
import { checkStore } from '../../../src/store/check.ts'
import { ended, openCrawl, site, spec, words } from './crawl-fixture.ts'

const dayMs = 86_400_000

async function openWithTtl(ttlDays: number | null) {
  const clock = { nowMs: Date.UTC(2026, 5, 1) }
  const web = site(3)
  const opened = openCrawl(web, {}, { now: () => clock.nowMs })
  const { crawl, store, described, duplicates } = opened
  const source = { name: 'it', seeds: 'http://a.test/0', scope: 'host' }
  described.put(ttlDays === null ? source : { ...source, ttlDays })
  await ended(crawl, crawl.startSource('it').id)
  const commits: Committed[] = []
  const expire = (): void => {
    const tools = {
      store,
      duplicates,
      ttls: () => crawl.ttls(),
      onCommitted: (committed: Committed) => commits.push(committed),
      now: () => clock.nowMs,
    }
    for (let docno: number | null = 0; docno !== null;) docno = expireSlice(docno, tools)
  }
  return { ...opened, clock, web, expire, commits }
}

describe('Documents that nobody confirmed for the time of their source', () => {
  it('leave the index, and come back when they are visited again', async () => {
    const { crawl, store, clock, expire, urls } = await openWithTtl(8)
    clock.nowMs += 7.9 * dayMs
    expire()
    assert.equal(urls().length, 3)
    clock.nowMs += 0.2 * dayMs
    expire()
    assert.deepEqual(urls(), [])
    assert.equal(store.urlRow('http://a.test/1')?.reason, 'expired')
    assert.deepEqual(checkStore(store.db), [])
    await ended(crawl, crawl.startSource('it').id)
    assert.equal(urls().length, 3)
  })

  it('leave in one go where nothing goes on that could look every hour', async () => {
    const { crawl, store, duplicates, clock, urls } = await openWithTtl(8)
    clock.nowMs += 9 * dayMs
    const onCommitted = (): void => {}
    const now = (): number => clock.nowMs
    await expireAll({ store, duplicates, ttls: () => crawl.ttls(), onCommitted, now })
    assert.deepEqual(urls(), [])
  })

  it('are visited in time to be confirmed', async () => {
    const { crawl, clock, expire, urls, asked } = await openWithTtl(8)
    clock.nowMs += 4 * dayMs
    await ended(crawl, crawl.startSource('it').id)
    assert.equal(asked.length, 6)
    clock.nowMs += 7.9 * dayMs
    expire()
    assert.equal(urls().length, 3)
  })

  it('stay where the source has none', async () => {
    const { clock, expire, urls, commits } = await openWithTtl(null)
    clock.nowMs += 900 * dayMs
    expire()
    assert.equal(urls().length, 3)
    assert.deepEqual(commits, [])
  })

  it('leave their copies behind under an address that still counts', async () => {
    const { crawl, clock, expire, urls, commits, web } = await openWithTtl(8)
    web['http://copy.test/'] = { text: words('word0x') }
    await ended(crawl, crawl.start(spec(['http://copy.test/'])).id)
    clock.nowMs += 9 * dayMs
    expire()
    assert.deepEqual(urls(), ['http://copy.test/'])
    assert.equal(commits.flatMap(({ promoted }) => promoted).length, 1)
  })
})
