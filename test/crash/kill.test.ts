/** kill -9 at random moments of a crawl: the same command goes on, nothing is lost, nothing is broken, little is asked for twice. */
import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../src/lib/sqlite.ts'
import { jsonLines, localCrawl, makeDirectory, run, serve, start } from '../e2e/program.ts'
import type { Json } from '../e2e/program.ts'
import { startSite } from '../site/site.ts'
import type { Site } from '../site/site.ts'
import { createRandom } from '../site/words.ts'

const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
const killsWanted = Number(process.env['CRASH_KILLS'] ?? 6)
const batchPages = 20
const connections = 4
/** What may be asked for again after one kill: all that was taken and not committed, the open batch and what is out for it. */
const repeatsPerKillMax = 2 * batchPages
/** Every page takes so long that a crawl is long enough to be killed in. */
const pageDelayMs = 12

const faults = ['redirects', 'robots', 'broken', 'base', 'meta', 'gbk']
const crawlArgs = (site: Site, data: string): string[] => [
  'crawl',
  site.url,
  '--data',
  data,
  ...localCrawl,
  '--batch-pages',
  String(batchPages),
  '--connections',
  String(connections),
  '-f',
  'json',
]
const exportedUrls = async (data: string): Promise<string[]> =>
  jsonLines((await run(['export', '--data', data])).stdout)
    .map(({ url }) => String(url))
    .toSorted()
const pageVisits = (site: Site): string[] =>
  site.requests.map(({ path }) => path).filter((path) => path !== '/robots.txt')

describe(`kill -9 during a crawl (CRASH_SEED=${seed} CRASH_KILLS=${killsWanted})`, () => {
  const random = createRandom(seed)
  const directory = makeDirectory()
  let site: Site
  before(async () => {
    site = await startSite({ seed: 41, pages: 240, faults, delayMs: pageDelayMs })
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('ends with the page set of an undisturbed crawl', { timeout: 300_000 }, async (t) => {
    const args = crawlArgs(site, directory.path)
    let kills = 0
    for (let round = 0; round < killsWanted * 3 && kills < killsWanted; round++) {
      const asked = site.requests.length
      const crawl = start(args)
      // A random number of requests, and then a random moment between two.
      const wanted = asked + 1 + Math.floor(random() * 40)
      const outcome = await Promise.race([untilRequests(site, wanted), crawl.ended])
      if (outcome !== 'asked') break
      await new Promise((resolve) => setTimeout(resolve, random() * 300))
      crawl.child.kill('SIGKILL')
      if ((await crawl.ended).signal === 'SIGKILL') kills++
      const checked = await run(['check', '--data', directory.path])
      assert.equal(checked.code, 0, `after kill ${kills}: ${checked.stdout}${checked.stderr}`)
    }
    assert.ok(kills >= Math.min(3, killsWanted), `only ${kills} kills met a running crawl`)
    const last = await run(args)
    assert.equal(last.code, 0, last.stderr)
    assert.equal(JSON.parse(last.stdout).state, 'done')
    const visits = pageVisits(site)
    const repeated = visits.length - new Set(visits).size
    t.diagnostic(`${kills} kills, ${visits.length} requests, ${repeated} repeated`)
    assert.deepEqual(await exportedUrls(directory.path), site.expected().stored)
    assert.ok(repeated <= kills * repeatsPerKillMax, `${repeated} repeated in ${kills} kills`)
    assert.equal((await run(['check', '--data', directory.path])).code, 0)
  })

  it('answers the same without its derived files, and after a reindex of a lost index', async () => {
    const data = directory.path
    const { marks } = site.expected()
    const chosen = marks.filter((_, at) => at % 40 === 3)
    /** Time enough that the second look of the ranking is never cut short. */
    const patient = ['--search-deadline-ms', '60000']
    const answers = async (): Promise<string[]> => {
      const server = await serve(['--data', data, ...patient])
      const found: string[] = []
      for (const { mark } of chosen) {
        const { body } = await server.api(`/api/v1/search?q=${encodeURIComponent(mark)}`)
        found.push(body.hits.map(({ url }: Json) => String(url)).join(' '))
      }
      assert.equal((await server.stop()).code, 0)
      return found
    }
    const earlier = await answers()
    for (const [at, { url }] of chosen.entries()) assert.ok(earlier[at]?.includes(url), url)
    const derived = readdirSync(data).filter((name) => !/^(?:findling\.db|admin\.key)/.test(name))
    assert.ok(
      derived.some((name) => /bloom|seen/.test(name)),
      `a filter is among ${derived.join(', ')}`,
    )
    for (const name of derived) rmSync(join(data, name), { recursive: true })
    assert.deepEqual(await answers(), earlier)
    const db = openDatabase(join(data, 'findling.db'))
    db.exec('DELETE FROM seg; DELETE FROM leaf')
    db.close()
    assert.equal((await run(['reindex', '--data', data])).code, 0)
    assert.deepEqual(await answers(), earlier)
    const asked = site.requests.length
    const again = await run(crawlArgs(site, data))
    assert.equal(JSON.parse(again.stdout).fetched_this_run, 0)
    assert.deepEqual(pageVisits(site).slice(asked), [], 'a lost filter makes no page new')
    assert.equal((await run(['check', '--data', data])).code, 0)
  })
})

async function untilRequests(site: Site, count: number): Promise<'asked'> {
  const endMs = performance.now() + 60_000
  while (site.requests.length < count) {
    if (performance.now() > endMs) throw new Error(`only ${site.requests.length} requests`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return 'asked'
}
