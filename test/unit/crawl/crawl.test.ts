/** The crawl over a small web in memory: real store, frontier and duplicates; pages, network and clock are the test's. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkStore } from '../../../src/store/check.ts'
import type { CrawlSpec } from '../../../src/store/records.ts'
import {
  openCrawl,
  spec,
  ended,
  runToEnd,
  words,
  site,
  type Answer,
  type Web,
} from './crawl-fixture.ts'

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

describe('a page that is stored and cannot be had at its next visit', () => {
  const dayMs = 86_400_000
  const [home, page] = ['http://a.test/', 'http://a.test/page']
  for (const answer of [{ status: 500 }, { forbidden: true }] as const) {
    const openAndLose = async () => {
      const first = { text: 'words that are there' }
      const web: Record<string, Answer> = { [page]: first, [home]: { text: 'home', links: [page] } }
      const clock = { aheadMs: 0 }
      const opened = openCrawl(web, {}, { now: () => Date.now() + clock.aheadMs })
      const crawlAgain = () => runToEnd(opened.crawl, spec([home]))
      await crawlAgain()
      web[page] = answer
      clock.aheadMs += 30 * dayMs
      const { counts } = await crawlAgain()
      assert.equal(Object.values({ ...counts.failed, ...counts.refused })[0], 1)
      assert.deepEqual(opened.urls(), [home, page])
      web[page] = { text: 'other words by now' }
      const wasRead = (): boolean =>
        JSON.stringify(opened.store.exportAfter(0, 9).records).includes('other words by now')
      return { ...opened, clock, crawlAgain, wasRead }
    }
    it(`stays, and is asked for again a day later: ${JSON.stringify(answer)}`, async () => {
      const { clock, crawlAgain, wasRead } = await openAndLose()
      await crawlAgain()
      assert.ok(!wasRead())
      clock.aheadMs += dayMs + 1_000
      await crawlAgain()
      assert.ok(wasRead())
    })
    it(`is asked for at once where somebody names it: ${JSON.stringify(answer)}`, async () => {
      const { crawl, wasRead } = await openAndLose()
      await runToEnd(crawl, spec([page]))
      assert.ok(wasRead())
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

  it('is paused, and says why, where a secret of it is gone at the next start', async () => {
    const { crawl, described } = openCrawl(site(2))
    const header = { env: 'FINDLING_TEST_TOKEN' }
    process.env[header.env] = 'token'
    described.put({ name: 'news', seeds: 'http://a.test/0', http: { headers: { 'X-T': header } } })
    const { id } = crawl.start(described.wishOf('news'))
    delete process.env[header.env]
    crawl.resumeAll()
    const job = crawl.job(id)
    assert.equal(job?.state, 'paused')
    assert.match(job.note, /http\.headers\.X-T: the environment has no FINDLING_TEST_TOKEN/)
    assert.throws(() => crawl.setState(id, 'running'), { code: 'invalid_parameter' })
    process.env[header.env] = 'token'
    crawl.setState(id, 'running')
    assert.equal((await ended(crawl, id)).state, 'done')
    delete process.env[header.env]
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

  for (const copies of ['drop', 'fold'] as const)
    it(`${copies === 'drop' ? 'keeps no copy of another page' : 'keeps copies'} where it says ${copies}`, async () => {
      const web: Web = {
        'http://a.test/0': { text: words('first'), links: ['http://a.test/1', 'http://a.test/2'] },
        'http://a.test/1': { text: words('first'), links: ['http://a.test/3'] },
        'http://a.test/2': { text: words('second'), links: [] },
        'http://a.test/3': { text: words('third'), links: [] },
      }
      const { crawl, described, urls, store } = openCrawl(web)
      described.put({ name: 'news', seeds: 'http://a.test/0', scope: 'host', copies })
      const job = await runToEnd(crawl, described.wishOf('news'))
      assert.deepEqual(
        urls(),
        copies === 'drop' ? places('0', '2', '3') : places('0', '1', '2', '3'),
      )
      const { exactCopies, refused } = job.counts
      assert.deepEqual([exactCopies, refused], copies === 'drop' ? [0, { copy: 1 }] : [1, {}])
      assert.deepEqual(checkStore(store.db), [])
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
