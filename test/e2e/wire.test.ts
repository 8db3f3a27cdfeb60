/** How a crawl behaves towards a site, judged by the site's own access log: order, gaps, conditions, waits, and nothing asked twice. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { retryAfterMs, startWireSite, type Asked, type WireSite } from '../site/wire.ts'
import { jsonLines, localServe, makeDirectory, run } from './program.ts'

const delayMs = 60
/** Two clocks that round, and a response that is read a little before the site knows that it is sent. */
const toleranceMs = 10

describe('a crawl, as the access log of the site shows it,', () => {
  const directory = makeDirectory()
  const args = ['--data', directory.path, ...localServe]
  let site: WireSite
  let first: Asked[]
  let again: Asked[]
  let stored: string[]
  const crawl = async (): Promise<Asked[]> => {
    const from = site.asked.length
    const delay = ['--delay', String(delayMs), '--connections', '8']
    const { code, stderr } = await run(['crawl', `${site.url}/`, ...args, ...delay])
    assert.equal(code, 0, stderr)
    return site.asked.slice(from)
  }
  const exported = async (): Promise<string[]> => {
    const { stdout } = await run(['export', '--data', directory.path])
    return jsonLines(stdout)
      .map(({ url }) => String(url).slice(site.url.length))
      .toSorted()
  }
  before(async () => {
    site = await startWireSite()
    first = await crawl()
    stored = await exported()
    // A month later: everything that waits for its next visit is due.
    const db = new DatabaseSync(join(directory.path, 'findling.db'))
    db.exec(
      'UPDATE url SET next_at=1 WHERE state=1; UPDATE url SET fetched_at=fetched_at-2592000000',
    )
    db.close()
    again = await crawl()
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('asks for robots.txt before anything else, and waits for its answer', () => {
    const [robots, page] = first
    assert.ok(robots !== undefined && page !== undefined)
    assert.equal(robots.path, '/robots.txt')
    assert.ok(page.startMs >= robots.endMs - toleranceMs)
    assert.ok(!site.asked.some(({ path }) => path.startsWith('/closed/')))
  })

  it('has one request at a time under way, and leaves the delay between them', () => {
    for (const log of [first, again]) {
      const pages = log.filter(({ path }) => path !== '/robots.txt')
      const gaps = pages.slice(1).map(({ startMs }, i) => startMs - (pages[i]?.endMs ?? 0))
      assert.ok(gaps.length > 10)
      assert.ok(
        Math.min(...gaps) >= delayMs - toleranceMs,
        `gaps ${gaps.map(Math.round).join(' ')}`,
      )
    }
  })

  it('leaves the whole host alone for as long as a 503 says', () => {
    const at = first.findIndex(({ status }) => status === 503)
    const [busy, next] = first.slice(at)
    assert.ok(busy !== undefined && next !== undefined)
    assert.equal(busy.path, '/busy')
    assert.ok(next.startMs - busy.endMs >= retryAfterMs - toleranceMs)
  })

  it('asks for nothing twice but what was busy and what leads in a circle', () => {
    const times = Map.groupBy(first, ({ path }) => path)
    const twice = [...times].filter(([, all]) => all.length > 1)
    const counts = Object.fromEntries(twice.map(([path, all]) => [path, all.length]))
    assert.deepEqual(counts, { '/busy': 2, '/gate': 2, '/spin': 2, '/spun': 2 })
  })

  it('stores what a cookie opens and what a Refresh header leads to', () => {
    for (const path of ['/gate', '/arrived', '/busy', '/plain']) assert.ok(stored.includes(path))
    assert.equal(stored.length, 1 + 6 + 4 + 4)
    assert.ok(!stored.some((path) => /spin|spun|check|way/.test(path)))
  })

  it('asks on its next visit whether a page changed, and keeps what did not', async () => {
    const conditional = again.filter(({ path }) => /^\/(tagged|dated)/.test(path))
    assert.equal(conditional.length, 10)
    for (const { path, status, headers } of conditional) {
      const isTagged = path.startsWith('/tagged')
      assert.equal(headers['if-none-match'], isTagged ? `"v1${path}"` : undefined)
      assert.equal(headers['if-modified-since'] !== undefined, !isTagged)
      assert.equal(status, 304)
    }
    assert.ok(first.every(({ headers }) => headers['if-none-match'] === undefined))
    // The cookie of the gate lives on: the way through it is open at once.
    const twice = again.filter(({ path }, i) => again.findIndex((one) => one.path === path) < i)
    assert.deepEqual(
      twice.map(({ path }) => path),
      [],
    )
    assert.deepEqual(await exported(), stored)
  })
})
