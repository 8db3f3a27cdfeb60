/** A crawl over a web in memory, for tests: real store, frontier, rules and duplicates; pages, network and clock are the test's. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { Crawl } from '../../../src/crawl/crawl.ts'
import type { CrawlTools } from '../../../src/crawl/crawl-tools.ts'
import { Described } from '../../../src/crawl/described.ts'
import { openDuplicates } from '../../../src/crawl/duplicates.ts'
import { lineHashesOf } from '../../../src/crawl/line-hashes.ts'
import { openFrontier } from '../../../src/crawl/frontier-sqlite.ts'
import { HostRules } from '../../../src/crawl/host-rules.ts'
import { readRecord } from '../../../src/crawl/imported.ts'
import type { FetchOutcome } from '../../../src/crawl/page.ts'
import { createParser } from '../../../src/crawl/parse.ts'
import type { SeenFilter } from '../../../src/crawl/seen.ts'
import { parseListJob } from '../../../src/crawl/sitemap.ts'
import type { CrawlSpec, JobStatus } from '../../../src/store/records.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'

export type Answer =
  | {
      text: string
      title?: string
      links?: readonly string[]
      canonical?: string
      feeds?: readonly string[]
      noarchive?: boolean
      expiresAtMs?: number
    }
  /** Read by the real parser, with the rule of its source. */
  | { body: string; type: 'text/html' | 'application/json' }
  | { notModified: true }
  /** A sitemap or feed. */
  | { list: string }
  | { to: string }
  | { status: 404 | 500 }
  | { forbidden: true }
  /** The host does not answer. */
  | { isDown: true }
  | { refusedByRobots: true }
/** A function for webs without end. */
export type Web = Record<string, Answer> | ((url: string) => Answer | undefined)

const dayMs = 86_400_000
const daily = {
  kind: 'fixed',
  intervalMs: dayMs,
  intervalMinMs: dayMs,
  intervalMaxMs: dayMs,
} as const
const analyzer = createAnalyzer(loadTestTables())
const noKeywords = { keywords: () => Promise.resolve([]) }
const parser = createParser({ analyzer, keywords: noKeywords, decodedBytesMax: 1e7 })
const opened: { store: Store; directory: string; crawl: Crawl }[] = []
after(async () => {
  for (const { store, directory, crawl } of opened) {
    await crawl.close(0)
    store.close()
    rmSync(directory, { recursive: true })
  }
})

/** One crawl over `web`; `freeBytes` is what the disk says it has. */
export function openCrawl(
  web: Web,
  change: Partial<CrawlTools['limits']> = {},
  {
    sitemaps = [],
    now = Date.now,
    seen,
  }: { sitemaps?: readonly string[]; now?: () => number; seen?: SeenFilter } = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'findling-crawl-'))
  // A directory has a random one, with which likeness is estimated: of 40 seeds one took two pages that share half for copies.
  const fingerprintSeed = 1
  const store = { ...openStore(join(directory, 'findling.db'), { now }), fingerprintSeed }
  const asked: string[] = []
  const disk = { freeBytes: Infinity }
  const states: string[] = []
  const described = new Described(store)
  const rules = new HostRules(store)
  const duplicates = openDuplicates(store.db)
  const frontier = openFrontier(store, {
    covers: () => false,
    now,
    relistMs: 0,
    ...(seen === undefined ? {} : { seen }),
    judge: (url, isOfOwnShape) => rules.verdict(url, isOfOwnShape),
    onLinksAdded: (urlId, elsewhere) => rules.linksAdded(urlId, elsewhere),
  })
  const answerOf = (url: string): Answer =>
    (typeof web === 'function' ? web(url) : web[url]) ?? { status: 404 }
  const crawl = new Crawl({
    store,
    frontier,
    duplicates,
    described,
    robots: {
      judge: (url) =>
        Promise.resolve(
          'refusedByRobots' in answerOf(url)
            ? { kind: 'refused', rule: 'Disallow: /', line: 1 }
            : { kind: 'allowed', delayMs: null },
        ),
      recall: () => null,
      sitemaps: () => sitemaps,
    },
    fetchPage(lease): Promise<FetchOutcome> {
      asked.push(lease.url)
      return Promise.resolve(outcomeOf(lease.url, answerOf(lease.url)))
    },
    async parse(job) {
      const answer = answerOf(job.url)
      if ('body' in answer) return parser.parse(job)
      assert.ok('text' in answer)
      const record = {
        url: job.url,
        title: answer.title ?? job.url,
        text: answer.text,
        lang: 'en',
        publishedAtMs: null,
        fields: {},
      }
      const parsed = await readRecord(record, job.seed, analyzer, noKeywords)
      if (parsed.kind === 'page')
        Object.assign(parsed.page, {
          links: answer.links ?? [],
          canonical: answer.canonical ?? null,
          feeds: answer.feeds ?? [],
          noarchive: answer.noarchive ?? false,
          ...(answer.expiresAtMs === undefined ? {} : { expiresAtMs: answer.expiresAtMs }),
          lineHashes: lineHashesOf(answer.text),
        })
      return parsed
    },
    parseList: (job) => Promise.resolve(parseListJob(job)),
    rules,
    revisits: { page: { ...daily, intervalMs: 10 * dayMs }, list: daily, confirmGoneMs: 0 },
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
      recrawlMs: dayMs,
      sitemaps: 'named',
      listsPerHostMax: 20,
      listUrlsMax: 1_000,
      retriesMax: 1,
      retryMs: 10,
      ...change,
    },
    log: () => {},
    now,
    random: () => 0,
  })
  opened.push({ store, directory, crawl })
  const urls = (): string[] =>
    store
      .exportAfter(0, 1_000)
      .records.map(({ url }) => url)
      .toSorted()
  return { crawl, store, described, asked, disk, states, urls, rules, frontier, duplicates }
}

function outcomeOf(url: string, answer: Answer): FetchOutcome {
  const elapsedMs = 0
  if ('to' in answer) return { kind: 'redirect', status: 301, to: answer.to, elapsedMs }
  if ('forbidden' in answer) return { kind: 'refused', status: 403, reason: 'forbidden', elapsedMs }
  if ('notModified' in answer) return { kind: 'notModified', status: 304, elapsedMs }
  if ('isDown' in answer) return { kind: 'failed', status: 0, reason: 'connect', elapsedMs }
  if ('status' in answer && answer.status === 500)
    return { kind: 'failed', status: 500, reason: 'server-error', elapsedMs }
  const isPage = 'text' in answer || 'list' in answer || 'body' in answer
  if (!isPage) return { kind: 'gone', status: 404, elapsedMs }
  const text = 'body' in answer ? answer.body : 'list' in answer ? answer.list : ''
  return {
    kind: 'page',
    status: 200,
    finalUrl: url,
    body: new Uint8Array(Buffer.from(text)).buffer,
    encoding: '',
    contentType: 'body' in answer ? answer.type : 'text/html',
    etag: null,
    modified: null,
    refresh: null,
    robotsTag: '',
    truncated: false,
    wireBytes: 'text' in answer ? answer.text.length : text.length,
    elapsedMs,
  }
}

export const spec = (seeds: readonly string[], change: Partial<CrawlSpec> = {}): CrawlSpec => ({
  seeds,
  scope: 'host',
  include: [],
  maxPages: null,
  depth: 64,
  delayMs: null,
  ...change,
})

/** Until the job has left the states of work. */
export async function ended(crawl: Crawl, id: number): Promise<JobStatus> {
  for (;;) {
    const job = crawl.job(id)
    assert.ok(job)
    if (job.state !== 'running' && job.state !== 'waiting') return job
    await new Promise((done) => setImmediate(done))
  }
}
export const runToEnd = (crawl: Crawl, wish: CrawlSpec): Promise<JobStatus> =>
  ended(crawl, crawl.start(wish).id)

export const words = (seed: string): string =>
  Array.from({ length: 120 }, (_, i) => `${seed}${(i * 7919) % 263}`).join(' ')
export const site = (pages: number): Record<string, Answer> =>
  Object.fromEntries(
    Array.from({ length: pages }, (_, i) => [
      `http://a.test/${i}`,
      {
        text: words(`word${i}x`),
        links: [`http://a.test/${(i + 1) % pages}`, 'http://b.test/foreign'],
      },
    ]),
  )
