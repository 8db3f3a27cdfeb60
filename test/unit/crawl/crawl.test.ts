/** The crawl over a small web in memory: real store, frontier and duplicates; pages, network and clock are the test's. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Crawl, type CrawlTools } from '../../../src/crawl/crawl.ts'
import { Described } from '../../../src/crawl/described.ts'
import { openDuplicates } from '../../../src/crawl/duplicates.ts'
import { openFrontier } from '../../../src/crawl/frontier-sqlite.ts'
import { readRecord } from '../../../src/crawl/imported.ts'
import type { FetchOutcome } from '../../../src/crawl/page.ts'
import type { CrawlSpec, JobStatus } from '../../../src/store/records.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'

type Answer =
  | { text: string; links?: readonly string[] }
  | { to: string }
  | { status: 404 | 500 }
  | { refusedByRobots: true }
type Web = Record<string, Answer>

const analyzer = createAnalyzer(loadTestTables())
const noKeywords = { keywords: () => Promise.resolve([]) }
const opened: { store: Store; directory: string; crawl: Crawl }[] = []
after(async () => {
  for (const { store, directory, crawl } of opened) {
    await crawl.close(0)
    store.close()
    rmSync(directory, { recursive: true })
  }
})

/** One crawl over `web`; `freeBytes` is what the disk says it has. */
function openCrawl(web: Web, change: Partial<CrawlTools['limits']> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'findling-crawl-'))
  const store = openStore(join(directory, 'findling.db'))
  const asked: string[] = []
  const disk = { freeBytes: Infinity }
  const states: string[] = []
  const described = new Described(store)
  const frontier = openFrontier(store, { covers: () => false, now: Date.now })
  const answerOf = (url: string): Answer => web[url] ?? { status: 404 }
  const crawl = new Crawl({
    store,
    frontier,
    duplicates: openDuplicates(store.db),
    described,
    robots: {
      judge: (url) =>
        Promise.resolve(
          'refusedByRobots' in answerOf(url)
            ? { kind: 'refused', rule: 'Disallow: /', line: 1 }
            : { kind: 'allowed', delayMs: null },
        ),
      recall: () => null,
    },
    fetchPage(lease): Promise<FetchOutcome> {
      asked.push(lease.url)
      return Promise.resolve(outcomeOf(lease.url, answerOf(lease.url)))
    },
    async parse(job) {
      const answer = answerOf(job.url)
      assert.ok('text' in answer)
      const record = {
        url: job.url,
        title: job.url,
        text: answer.text,
        lang: 'en',
        publishedAtMs: null,
        fields: {},
      }
      const parsed = await readRecord(record, job.seed, analyzer, noKeywords)
      if (parsed.kind === 'page') parsed.page.links = answer.links ?? []
      return parsed
    },
    defaultDelayMs: () => 0,
    allowSeed: () => {},
    diskFreeBytes: () => disk.freeBytes,
    onCommitted: () => {},
    onProgress: (jobs) => states.push(...jobs.map(({ state }) => state)),
    limits: {
      connections: 4,
      batchPages: 10,
      batchBytes: 1e9,
      batchMs: 20,
      seedsMax: 5,
      diskFreeBytes: 1_000,
      recrawlMs: 86_400_000,
      retriesMax: 1,
      retryMs: 10,
      ...change,
    },
    log: () => {},
    now: Date.now,
    random: () => 0,
  })
  opened.push({ store, directory, crawl })
  const urls = (): string[] =>
    store
      .exportAfter(0, 1_000)
      .records.map(({ url }) => url)
      .toSorted()
  return { crawl, store, described, asked, disk, states, urls }
}

function outcomeOf(url: string, answer: Answer): FetchOutcome {
  const elapsedMs = 0
  if ('to' in answer) return { kind: 'redirect', status: 301, to: answer.to, elapsedMs }
  if ('status' in answer && answer.status === 500)
    return { kind: 'failed', status: 500, reason: 'server-error', elapsedMs }
  if (!('text' in answer)) return { kind: 'gone', status: 404, elapsedMs }
  return {
    kind: 'page',
    status: 200,
    finalUrl: url,
    body: new ArrayBuffer(0),
    encoding: '',
    contentType: 'text/html',
    etag: null,
    modified: null,
    robotsTag: '',
    truncated: false,
    wireBytes: answer.text.length,
    elapsedMs,
  }
}

const spec = (seeds: readonly string[], change: Partial<CrawlSpec> = {}): CrawlSpec => ({
  seeds,
  scope: 'host',
  include: [],
  maxPages: null,
  depth: 64,
  delayMs: null,
  ...change,
})

/** Until the job has left the states of work. */
async function ended(crawl: Crawl, id: number): Promise<JobStatus> {
  for (;;) {
    const job = crawl.job(id)
    assert.ok(job)
    if (job.state !== 'running' && job.state !== 'waiting') return job
    await new Promise((done) => setImmediate(done))
  }
}
const runToEnd = (crawl: Crawl, wish: CrawlSpec): Promise<JobStatus> =>
  ended(crawl, crawl.start(wish).id)

const words = (seed: string): string =>
  Array.from({ length: 120 }, (_, i) => `${seed}${(i * 7919) % 263}`).join(' ')
const site = (pages: number): Web =>
  Object.fromEntries(
    Array.from({ length: pages }, (_, i) => [
      `http://a.test/${i}`,
      {
        text: words(`word${i}x`),
        links: [`http://a.test/${(i + 1) % pages}`, 'http://b.test/foreign'],
      },
    ]),
  )

describe('a crawl', () => {
  it('stores every page in scope once, and nothing out of scope', async () => {
    const { crawl, asked, urls } = openCrawl(site(25))
    const job = await runToEnd(crawl, spec(['http://a.test/0']))
    assert.equal(job.state, 'done')
    assert.equal(urls().length, 25)
    assert.equal(asked.length, 25)
    assert.ok(!asked.includes('http://b.test/foreign'))
    assert.equal(job.queued, 0)
  })

  it('fetches nothing when a finished one is repeated', async () => {
    const { crawl, asked } = openCrawl(site(5))
    await runToEnd(crawl, spec(['http://a.test/0']))
    const again = await runToEnd(crawl, spec(['http://a.test/0']))
    assert.equal(asked.length, 5)
    assert.equal(again.counts.fetched, 5)
  })

  it('tries a seed again that brought nothing, when it is repeated', async () => {
    const web: Web = { 'http://a.test/0': { status: 500 } }
    const { crawl, urls } = openCrawl(web)
    assert.deepEqual((await runToEnd(crawl, spec(['http://a.test/0']))).counts.stored, 0)
    Object.assign(web, site(5))
    await runToEnd(crawl, spec(['http://a.test/0']))
    assert.equal(urls().length, 5)
  })

  for (const maxPages of [1, 9, 10, 11]) {
    it(`stores exactly ${maxPages} pages where that is the limit, and goes on when it is raised`, async () => {
      const { crawl, urls } = openCrawl(site(25))
      const job = await runToEnd(crawl, spec(['http://a.test/0'], { maxPages }))
      assert.equal(job.state, 'limit')
      assert.equal(urls().length, maxPages)
      await runToEnd(crawl, spec(['http://a.test/0'], { maxPages: 25 }))
      assert.equal(urls().length, 25)
    })
  }

  it('follows links no deeper than it is told', async () => {
    const { crawl, urls } = openCrawl(site(25))
    await runToEnd(crawl, spec(['http://a.test/0'], { depth: 3 }))
    assert.deepEqual(
      urls(),
      ['0', '1', '2', '3'].map((n) => `http://a.test/${n}`),
    )
  })

  it('asks nothing that robots.txt refuses, and says so in its counts', async () => {
    const { crawl, asked } = openCrawl({
      'http://a.test/': { text: words('home'), links: ['http://a.test/private'] },
      'http://a.test/private': { refusedByRobots: true },
    })
    const { counts } = await runToEnd(crawl, spec(['http://a.test/']))
    assert.deepEqual(asked, ['http://a.test/'])
    assert.deepEqual(counts.refused, { robots: 1 })
  })

  it('retries what failed, and counts it as failed only in the end', async () => {
    const { crawl, asked } = openCrawl({ 'http://a.test/': { status: 500 } })
    const { counts } = await runToEnd(crawl, spec(['http://a.test/']))
    assert.equal(asked.length, 2)
    assert.deepEqual(counts.failed, { 'server-error': 1 })
  })

  it('goes along when the seed leads to another name of the same domain, not to another domain', async () => {
    const { crawl, urls } = openCrawl({
      'http://a.test/': { to: 'https://www.a.test/' },
      'https://www.a.test/': {
        text: words('home'),
        links: ['https://www.a.test/next', 'https://b.test/'],
      },
      'https://www.a.test/next': { to: 'https://b.test/' },
      'https://b.test/': { text: words('foreign') },
    })
    const { counts } = await runToEnd(crawl, spec(['http://a.test/']))
    assert.deepEqual(urls(), ['https://www.a.test/'])
    assert.equal(counts.redirects, 2)
  })

  it('recognises an exact copy and keeps its record', async () => {
    const text = words('same')
    const { crawl, store } = openCrawl({
      'http://a.test/': { text, links: ['http://a.test/copy'] },
      'http://a.test/copy': { text },
    })
    const { counts } = await runToEnd(crawl, spec(['http://a.test/']))
    assert.equal(counts.exactCopies, 1)
    const [original, copy] = store.exportAfter(0, 10).records
    assert.ok(original && copy)
    assert.equal(copy.duplicate_of, original.id)
    assert.equal(copy.group, original.group)
    assert.notEqual(copy.group, null)
  })

  it('visits a page of an overlapping later job again only for the links that were out of reach', async () => {
    const web: Web = {
      'http://a.test/docs/': {
        text: words('docs'),
        links: ['http://a.test/blog/', 'http://a.test/docs/x'],
      },
      'http://a.test/docs/x': { text: words('docsx') },
      'http://a.test/blog/': { text: words('blog') },
    }
    const { crawl, urls } = openCrawl(web)
    await runToEnd(crawl, spec(['http://a.test/docs/'], { scope: 'path' }))
    assert.deepEqual(urls(), ['http://a.test/docs/', 'http://a.test/docs/x'])
    await runToEnd(crawl, spec(['http://a.test/docs/'], { scope: 'host' }))
    assert.deepEqual(urls(), ['http://a.test/blog/', 'http://a.test/docs/', 'http://a.test/docs/x'])
  })

  it('waits while the disk is full, with a note, and loses nothing', async () => {
    const { crawl, disk, urls, states } = openCrawl(site(25))
    disk.freeBytes = 999
    const { id } = crawl.start(spec(['http://a.test/0']))
    while (crawl.job(id)?.state !== 'waiting') await new Promise((done) => setImmediate(done))
    assert.match(crawl.job(id)?.note ?? '', /disk full/)
    assert.deepEqual(urls(), [])
    disk.freeBytes = Infinity
    assert.equal((await ended(crawl, id)).state, 'done')
    assert.equal(urls().length, 25)
    assert.ok(states.includes('waiting'))
  })

  it('takes nothing while it is paused, and finishes when it goes on', async () => {
    const { crawl, asked, urls } = openCrawl(site(25))
    const { id } = crawl.start(spec(['http://a.test/0']))
    assert.equal(crawl.setState(id, 'paused').state, 'paused')
    await new Promise((done) => setImmediate(done))
    const before = asked.length
    assert.ok(before < 25)
    crawl.setState(id, 'running')
    await ended(crawl, id)
    assert.equal(urls().length, 25)
  })

  const wrong: [string, Partial<CrawlSpec>][] = [
    ['no seed', { seeds: [] }],
    ['a seed that is no URL', { seeds: ['http://'] }],
    ['a foreign scheme', { seeds: ['file:///etc/passwd'] }],
    ['too many seeds', { seeds: ['1', '2', '3', '4', '5', '6'].map((n) => `http://${n}.test/`) }],
  ]
  for (const [what, change] of wrong) {
    it(`refuses ${what} and starts no job`, () => {
      const { crawl } = openCrawl({})
      assert.throws(() => crawl.start(spec(['http://a.test/'], change)), {
        code: 'invalid_parameter',
      })
      assert.deepEqual(crawl.jobs(), [])
    })
  }
})

describe('a described source', () => {
  const places = (...paths: string[]): string[] => paths.map((path) => `http://a.test/${path}`)

  it('is crawled as it says: its patterns hold for links, not for its seeds', async () => {
    const { crawl, described, asked } = openCrawl(site(9))
    described.put({
      name: 'news',
      seeds: 'http://a.test/0',
      scope: 'host',
      only: ['/1', '/2', '/3', '/4'],
      exclude: '/3',
    })
    const job = await runToEnd(crawl, described.wishOf('news'))
    assert.equal(job.source, 'news')
    assert.deepEqual(asked, places('0', '1', '2'))
  })

  it('keeps its job and its queue when it changes, and reaches what it now admits', async () => {
    const { crawl, described, asked } = openCrawl(site(6))
    const news = { name: 'news', seeds: 'http://a.test/0', scope: 'host' }
    described.put({ ...news, exclude: '/3' })
    const first = await runToEnd(crawl, described.wishOf('news'))
    described.put({ ...news, seeds: ['http://a.test/0', 'http://a.test/3'] })
    const second = await runToEnd(crawl, described.wishOf('news'))
    assert.equal(second.id, first.id)
    assert.deepEqual(asked, places('0', '1', '2', '3', '4', '5'))
  })

  it('follows its seed to the other host of the same domain, patterns or not', async () => {
    const web: Web = {
      'http://a.test/': { to: 'http://www.a.test/' },
      'http://www.a.test/': { text: words('home'), links: ['http://www.a.test/p/1'] },
      'http://www.a.test/p/1': { text: words('page'), links: [] },
    }
    const { crawl, described, urls } = openCrawl(web)
    described.put({ name: 'shop', seeds: 'http://a.test/', scope: 'host', only: '/p/*' })
    await runToEnd(crawl, described.wishOf('shop'))
    assert.deepEqual(urls(), ['http://www.a.test/', 'http://www.a.test/p/1'])
  })

  it('visits pages of another crawl once more, because its rules were not known then', async () => {
    const { crawl, described, asked } = openCrawl(site(3))
    await runToEnd(crawl, spec(['http://a.test/0']))
    described.put({ name: 'news', seeds: 'http://a.test/0', scope: 'host' })
    await runToEnd(crawl, described.wishOf('news'))
    assert.deepEqual(asked, places('0', '1', '2', '0', '1', '2'))
  })

  it('has its pages fetched anew when its rules change, and only then', async () => {
    const { crawl, described, asked } = openCrawl(site(3))
    const news = { name: 'news', seeds: 'http://a.test/0', scope: 'host' }
    described.put(news)
    await runToEnd(crawl, described.wishOf('news'))
    described.put({ ...news, limits: { pages: 100 } })
    await runToEnd(crawl, described.wishOf('news'))
    assert.equal(asked.length, 3)
    described.put({ ...news, rules: [{ name: 'r', kind: 'detail', match: '/*' }] })
    await runToEnd(crawl, described.wishOf('news'))
    assert.equal(asked.length, 6)
  })

  it('names the rule that is for a page, whichever crawl came to it', () => {
    const { crawl, described, store } = openCrawl({})
    described.put({
      name: 'news',
      seeds: 'http://a.test/',
      scope: 'host',
      rules: [
        { name: 'list', kind: 'list', match: '/list' },
        { name: 'page', kind: 'detail', match: '/**' },
      ],
    })
    crawl.start(described.wishOf('news'))
    const scopes = crawl.scopes()
    const [own = 0] = store.scopesOfDescribed('news').map(({ id }) => id)
    const nameFor = (url: string, sourceId: number): string | undefined =>
      described.ruleFor(url, sourceId, scopes)?.rule.name
    assert.equal(nameFor('http://a.test/list', own), 'list')
    assert.equal(nameFor('http://a.test/x', own), 'page')
    assert.equal(nameFor('http://a.test/x', 77), 'page')
    assert.equal(nameFor('http://b.test/x', 77), undefined)
  })
})
