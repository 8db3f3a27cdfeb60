/** Crawling the test web from the command line: which pages are taken, which are left, and what a second crawl does. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startSite } from '../site/site.ts'
import type { Site } from '../site/site.ts'
import { jsonLines, localCrawl, makeDirectory, run, start } from './program.ts'
import type { Json } from './program.ts'

/** The library is 4 links deep; the depth ends the calendar. */
const whole = [...localCrawl, '--depth', '12', '--fetch-timeout-ms', '3000', '-f', 'json']

describe('a crawl of the whole test web', () => {
  const directory = makeDirectory()
  let site: Site
  let summary: Json
  let documents: Json[]
  before(async () => {
    site = await startSite({ seed: 11, pages: 150 })
    const crawled = await run(['crawl', site.url, '--data', directory.path, ...whole])
    assert.equal(crawled.code, 0, crawled.stderr)
    summary = JSON.parse(crawled.stdout)
    const exported = await run(['export', '--data', directory.path])
    assert.equal(exported.code, 0, exported.stderr)
    documents = jsonLines(exported.stdout)
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('stores exactly the pages that it should', () => {
    const { stored, bounded } = site.expected()
    const isBounded = (url: string): boolean =>
      bounded.some(({ prefix }) => new URL(url).pathname.startsWith(prefix))
    const found = documents.map(({ url }) => String(url)).filter((url) => !isBounded(url))
    assert.deepEqual(found.toSorted(), stored)
  })

  it('never asks for what robots.txt, nofollow or comments keep it from, nor for another origin', () => {
    const asked = new Set(site.requests.map(({ path }) => new URL(path, site.url).href))
    assert.deepEqual(
      site.expected().never.filter((url) => asked.has(url)),
      [],
    )
    assert.deepEqual(site.foreignRequests, [])
  })

  it('asks for robots.txt first and says who it is', () => {
    const [first] = site.requests
    assert.equal(first?.path, '/robots.txt')
    assert.match(String(first?.headers['user-agent']), /findling/i)
  })

  it('leaves a trap after a bounded number of pages', () => {
    for (const { prefix, requestsMax } of site.expected().bounded) {
      const asked = site.requests.filter(({ path }) => path.startsWith(prefix)).length
      assert.ok(asked >= 1 && asked <= requestsMax, `${prefix}: ${asked} of ${requestsMax}`)
    }
  })

  it('holds the whole host for as long as Retry-After says', () => {
    const refused = site.requests.findIndex(({ status }) => status === 429)
    const [one, next] = site.requests.slice(refused)
    assert.ok(one && next)
    assert.ok(next.timeMs - one.timeMs >= 950, `${next.timeMs - one.timeMs} ms`)
  })

  it('groups the copies, and only the copies', () => {
    const groupOf = new Map<string, string | null>(documents.map(({ url, group }) => [url, group]))
    for (const group of [...site.expected().exactCopies, ...site.expected().nearCopies]) {
      const [a, b] = group.map((url) => groupOf.get(url))
      assert.ok(typeof a === 'string' && a === b, `${group.join(' and ')}: ${a} and ${b}`)
    }
    const members = new Map<string, string[]>()
    for (const { url, group } of documents) {
      if (!String(url).includes('/calendar'))
        members.set(group, [...(members.get(group) ?? []), String(url)].sort())
    }
    const wanted = [...site.expected().exactCopies, ...site.expected().nearCopies]
    assert.deepEqual(
      new Set(
        [...members.values()].filter((urls) => urls.length > 1).map((urls) => urls.join(' ')),
      ),
      new Set(wanted.map((urls) => urls.toSorted().join(' '))),
    )
  })

  it('names the original of an exact copy', () => {
    const byUrl = new Map<string, Json>(documents.map((each) => [each.url, each]))
    for (const group of site.expected().exactCopies) {
      const [a, b] = group.map((url) => byUrl.get(url))
      assert.ok(a.duplicate_of === b.id || b.duplicate_of === a.id)
      assert.equal(a.text, b.text)
    }
  })

  it('reads old encodings, packed and cut off bodies', () => {
    const textOf = (path: string): string =>
      documents.find(({ url }) => url === new URL(path, site.url).href)?.text
    assert.match(textOf('/gbk/declared.html'), /图书馆的灯笼在雨里摇晃.*镕/s)
    assert.ok(textOf('/gzip.html').length > 300)
    assert.ok(textOf('/cut.html').length > 300)
  })

  it('counts in its summary what the site saw', () => {
    assert.equal(summary.state, 'done')
    assert.equal(summary.queued, 0)
    assert.ok(summary.stored + summary.duplicates.exact >= site.expected().stored.length - 1)
    assert.equal(summary.duplicates.exact >= site.expected().exactCopies.length, true)
    assert.ok(summary.gone >= 3, `gone ${summary.gone}`)
    assert.ok(summary.redirects >= 4, `redirects ${summary.redirects}`)
  })

  it('is a directory that passes its own check', async () => {
    const checked = await run(['check', '--data', directory.path, '-f', 'json'])
    assert.equal(checked.code, 0, checked.stdout)
    assert.equal(JSON.parse(checked.stdout).ok, true)
  })

  it('fetches nothing when it is repeated, and exits 0', async () => {
    const asked = site.requests.length
    const again = await run(['crawl', site.url, '--data', directory.path, ...whole])
    assert.equal(again.code, 0, again.stderr)
    assert.equal(JSON.parse(again.stdout).fetched_this_run, 0)
    assert.deepEqual(
      site.requests.slice(asked).filter(({ path }) => path !== '/robots.txt'),
      [],
    )
  })

  it('tells the whole story of one URL', async () => {
    const story = async (path: string): Promise<string> => {
      const url = new URL(path, site.url).href
      const told = await run(['explain', url, '--data', directory.path])
      assert.equal(told.code, 0, told.stderr)
      return told.stdout
    }
    assert.match(await story('/private/1.html'), /robots/i)
    assert.match(await story('/broken/410.html'), /410/)
    assert.match(await story('/meta/noindex.html'), /noindex/i)
    assert.match(await story('/nobody/links/here'), /never|not/i)
  })
})

describe('a crawl with limits', () => {
  const directories = [makeDirectory(), makeDirectory(), makeDirectory()] as const
  let site: Site
  before(async () => {
    site = await startSite({ seed: 12, pages: 60, faults: ['huge', 'hang', 'bomb', 'heavy'] })
  })
  after(async () => {
    await site.close()
    for (const directory of directories) directory.remove()
  })
  const exportedUrls = async (data: string): Promise<string[]> =>
    jsonLines((await run(['export', '--data', data])).stdout).map(({ url }) => String(url))

  it('stays in the folder of the seed', async () => {
    const data = directories[0].path
    const result = await run(['crawl', `${site.url}hans/`, '--data', data, ...localCrawl])
    assert.equal(result.code, 0, result.stderr)
    const urls = await exportedUrls(data)
    assert.ok(urls.length >= 20, `${urls.length} pages`)
    assert.deepEqual(
      urls.filter((url) => !url.startsWith(`${site.url}hans/`)),
      [],
    )
  })

  it('stops at --max-pages', async () => {
    const data = directories[1].path
    const args = ['crawl', `${site.url}en/`, '--data', data, '--max-pages', '7', ...localCrawl]
    const result = await run([...args, '-f', 'json'])
    assert.equal(result.code, 0, result.stderr)
    assert.equal(JSON.parse(result.stdout).state, 'limit')
    assert.equal((await exportedUrls(data)).length, 7)
  })

  it('ends in spite of endless bodies, missing answers, packed bombs and pages that a parser cannot finish', async () => {
    const data = directories[2].path
    const seeds = [`${site.url}faults/`, `${site.url}hant/`]
    const args = ['crawl', ...seeds, '--data', data, ...localCrawl, '-f', 'json']
    args.push('--fetch-timeout-ms', '2000', '--parse-timeout-ms', '500')
    const dangers = ['/huge.html', '/bomb.html', '/heavy.html']
    for (const path of dangers) args.push('--include', new URL(path, site.url).href)
    const result = await run(args)
    assert.equal(result.code, 0, result.stderr)
    const summary: Json = JSON.parse(result.stdout)
    assert.equal(summary.state, 'done')
    assert.equal(summary.failed['parser-timeout'], 1, result.stdout)
    const asked = site.requests.map(({ path }) => path)
    assert.deepEqual(
      dangers.filter((path) => !asked.includes(path)),
      [],
    )
    assert.ok(asked.indexOf('/heavy.html') < asked.length - 3, 'others come after the heaviest')
    assert.deepEqual(
      (await exportedUrls(data)).toSorted(),
      site.expected().stored.filter((url) => seeds.some((seed) => url.startsWith(seed))),
    )
  })
})

describe('a crawl that is interrupted', () => {
  const directory = makeDirectory()
  let site: Site
  before(async () => {
    site = await startSite({ seed: 13, pages: 120, faults: ['redirects'], delayMs: 15 })
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('ends in order on Ctrl-C and goes on by the same command', async () => {
    const args = ['crawl', site.url, '--data', directory.path, ...localCrawl, '-f', 'json']
    const first = start(args)
    await untilRequests(site, 40)
    first.child.kill('SIGINT')
    const stopped = await first.ended
    assert.equal(stopped.signal, null, 'it ended by itself')
    assert.equal(stopped.code, 130)
    const summary: Json = JSON.parse(stopped.stdout)
    assert.ok(summary.stored > 0, 'what was fetched is kept')
    const second = await run(args)
    assert.equal(second.code, 0, second.stderr)
    assert.equal(JSON.parse(second.stdout).state, 'done')
    const urls = jsonLines((await run(['export', '--data', directory.path])).stdout)
    assert.deepEqual(urls.map(({ url }) => String(url)).toSorted(), site.expected().stored)
    const visits = new Map<string, number>()
    for (const { path } of site.requests) visits.set(path, (visits.get(path) ?? 0) + 1)
    const twice = [...visits].filter(([path, count]) => count > 1 && path !== '/robots.txt')
    assert.deepEqual(twice, [], 'an orderly end loses no page that was fetched')
  })
})

/** Resolves when the site was asked so often. */
async function untilRequests(site: Site, count: number): Promise<void> {
  const endMs = performance.now() + 30_000
  while (site.requests.length < count) {
    if (performance.now() > endMs) throw new Error(`only ${site.requests.length} requests`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
