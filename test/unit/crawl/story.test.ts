/** The whole story of a URL: what explain tells, what changed between versions, what a page asks of who keeps it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explainUrl } from '../../../src/crawl/explain.ts'
import { expireSlice } from '../../../src/crawl/expiry.ts'
import { reportHost, reportHosts } from '../../../src/crawl/host-report.ts'
import { directivesOf } from '../../../src/crawl/page-links.ts'
import { changesKept, lineSimilarity } from '../../../src/store/changes.ts'
import { ended, openCrawl, runToEnd, spec, words, type Answer } from './crawl-fixture.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 5, 1)
const url = 'http://a.test/'

function openStory(web: Record<string, Answer> | ((url: string) => Answer | undefined)) {
  const clock = { nowMs: startMs }
  const opened = openCrawl(web, {}, { now: () => clock.nowMs })
  const { crawl, store, rules, described } = opened
  const known = new Set<string>()
  return {
    ...opened,
    clock,
    /** "about: text" of each line. */
    explain: (given: string): string[] =>
      explainUrl(given, {
        store,
        robots: { judge: () => assert.fail(), recall: () => null, sitemaps: () => [] },
        scopes: crawl.scopes(),
        seen: { mayHave: (key) => known.has(key) || store.urlRow(key) !== null, add: () => {} },
        rules,
        described,
      }).lines.map(({ about, text }) => `${about}: ${text}`),
    alarm: (key: string): unknown => known.add(key),
  }
}

describe('explain', () => {
  it('tells the last visits, what the filter says, the next visit and what changed', async () => {
    const web = { [url]: { text: 'one\ntwo\nthree and more of it', title: 'First' } }
    const { crawl, store, clock, explain, alarm } = openStory(web)
    await runToEnd(crawl, spec([url]))
    clock.nowMs += 11 * dayMs
    web[url] = { text: 'one\ntwo\nfour and more than it was', title: 'Second' }
    await runToEnd(crawl, spec([url]))
    clock.nowMs += 11 * dayMs
    await runToEnd(crawl, spec([url]))
    const told = explain(url)
    const visits = told.filter((line) => line.startsWith('visited'))
    assert.deepEqual(visits, [
      'visited: 2026-06-23T00:00:00.000Z status 200: unchanged',
      'visited: 2026-06-12T00:00:00.000Z status 200: stored, changed',
      'visited: 2026-06-01T00:00:00.000Z status 200: stored',
    ])
    assert.ok(told.includes('seen: the filter says perhaps, the table has it'))
    assert.ok(told.includes('next: visited again at 2026-07-03T00:00:00.000Z'))
    const changed = told.find((line) => line.startsWith('changed')) ?? ''
    assert.match(
      changed,
      /^changed: 2026-06-12T00:00:00.000Z from 28 to 33 characters, 21 % of the text in the same lines; the title was "First"$/,
    )
    alarm('http://a.test/never')
    assert.ok(
      explain('http://a.test/never').includes(
        'seen: the filter says perhaps, the table does not have it (a false alarm)',
      ),
    )
    assert.equal(store.changesOf(store.urlRow(url)?.id ?? 0).length, 1)
  })

  it('tells of a trap, lets it be undone, and reports it by host', async () => {
    const trap = (at: string): Answer | undefined => {
      const page = /\/list\?page=(\d+)$/.exec(at)?.[1]
      if (page === undefined)
        return at === url ? { text: 'x', links: [`${url}list?page=1`] } : undefined
      return { text: 'a list of nothing', links: [`${url}list?page=${Number(page) + 1}`] }
    }
    const { crawl, store, explain, asked, clock } = openStory(trap)
    await runToEnd(crawl, spec([url]))
    const before = asked.length
    const next = `${url}list?page=${before}`
    assert.equal(store.urlRow(next)?.state, 'aside')
    const told = explain(next)
    assert.ok(
      told.some((line) => /^shape: \/list\?page: \d+ fetched, .*; put aside as a trap$/.test(line)),
    )
    assert.ok(
      told.includes(
        'aside: URLs of this shape bring nothing new: allow the shape to have it fetched',
      ),
    )
    assert.ok(!told.some((line) => line.startsWith('next')))
    const [host] = reportHosts(store, clock.nowMs)
    assert.deepEqual(
      host?.shapes.map(({ shape, state, visits_left }) => [shape, state, visits_left]),
      [['/list?page', 'closed', 0]],
    )
    crawl.decideRule('http://a.test', { shape: '/list?page' }, 'kept')
    assert.equal(reportHost('a.test', store, clock.nowMs).shapes[0]?.state, 'kept')
    assert.equal(store.urlRow(next)?.state, 'queued')
    assert.throws(() => reportHost('b.test', store, 0), { code: 'not_found' })
    crawl.setState(1, 'running')
    await ended(crawl, 1)
    assert.ok(before < 60, `${before} before it was put aside`)
    assert.equal(asked.length, 65, 'as deep as the job goes')
  })

  it('tells of parameters that were dropped', async () => {
    const web = (at: string): Answer | undefined => {
      const { pathname, searchParams } = new URL(at)
      const id = Number(pathname.slice(2))
      const sid = Number(searchParams.get('sid') ?? 0)
      if (id > 5) return undefined
      return {
        text: words(`page${'abcdefgh'[id]}`),
        links: [`http://a.test/p${id + 1}?sid=${sid + 1}`, `http://a.test/p${id}?sid=${sid + 7}`],
      }
    }
    const { crawl, explain } = openStory(web)
    await ended(crawl, crawl.start(spec(['http://a.test/p1'], { maxPages: 60 })).id)
    const told = explain('http://a.test/p9?sid=77&x=1')
    assert.ok(
      told.includes(
        'parameters: known as http://a.test/p9?x=1: what is left out changes nothing there',
      ),
      told.join('\n'),
    )
    assert.ok(
      told.some((line) => /^parameters: sid: dropped; changed nothing \d+ times/.test(line)),
    )
  })

  it('tells which rule is for a page, and the canonical address it names', async () => {
    const web = { [url]: { text: words('one'), canonical: 'http://other.test/' } }
    const { crawl, described, explain } = openStory(web)
    described.put({
      name: 'it',
      seeds: url,
      rules: [{ name: 'all', kind: 'detail', match: '/**', fields: {} }],
    })
    await ended(crawl, crawl.startSource('it').id)
    const told = explain(url)
    assert.ok(told.includes('rule: it/all (detail) is for it'), told.join('\n'))
    assert.ok(told.includes('canonical: the page names http://other.test/'))
  })
})

describe('Versions of a page', () => {
  const cases: [a: string, b: string, similarity: number][] = [
    ['', '', 1],
    ['a\nb', 'a\nb', 1],
    ['a\nb', 'b\na', 1],
    ['aa\nbb', 'aa\ncc', 0.5],
    ['aa\naa', 'aa', 2 / 3],
    ['x', 'y', 0],
    ['x', '', 0],
  ]
  for (const [a, b, similarity] of cases)
    it(`${JSON.stringify(a)} and ${JSON.stringify(b)} are ${similarity.toFixed(2)} alike`, () => {
      assert.equal(lineSimilarity(a, b), similarity)
      assert.equal(lineSimilarity(b, a), similarity)
    })

  it('are remembered by what changed, the last few, and forgotten with the page', async () => {
    const web: Record<string, Answer> = { [url]: { text: 'version 0' } }
    const { crawl, store, clock } = openStory(web)
    await runToEnd(crawl, spec([url]))
    for (let i = 1; i <= changesKept + 3; i++) {
      clock.nowMs += 11 * dayMs
      web[url] = { text: `version ${i}` }
      await runToEnd(crawl, spec([url]))
    }
    const id = store.urlRow(url)?.id ?? 0
    const changes = store.changesOf(id)
    assert.equal(changes.length, changesKept)
    assert.equal(changes[0]?.at, new Date(clock.nowMs).toISOString())
    assert.deepEqual(changes[0]?.title_before, null)
    store.transaction(() => store.removeDocument(id))
    assert.deepEqual(store.changesOf(id), [])
  })
})

describe('What a page asks of who keeps it', () => {
  it('noarchive is noted, also where nothing else changed', async () => {
    const web: Record<string, Answer> = { [url]: { text: words('one') } }
    const { crawl, store, clock } = openStory(web)
    await runToEnd(crawl, spec([url]))
    const record = () => store.documentByUrlId(store.urlRow(url)?.id ?? 0)
    assert.equal(record()?.noarchive, false)
    web[url] = { text: words('one'), noarchive: true }
    clock.nowMs += 11 * dayMs
    await runToEnd(crawl, spec([url]))
    assert.equal(record()?.noarchive, true)
    assert.notEqual(record()?.text, '')
  })

  it('unavailable_after ends its stay in the index', async () => {
    const web: Record<string, Answer> = {
      [url]: { text: words('one'), links: [`${url}b`], expiresAtMs: startMs + dayMs },
      [`${url}b`]: { text: words('two') },
    }
    const { crawl, store, clock, urls, duplicates } = openStory(web)
    await runToEnd(crawl, spec([url]))
    const expire = (): void => {
      const tools = {
        store,
        duplicates,
        ttls: () => new Map(),
        onCommitted: () => {},
        now: () => clock.nowMs,
      }
      for (let docno: number | null = 0; docno !== null;) docno = expireSlice(docno, tools)
    }
    expire()
    assert.equal(urls().length, 2)
    clock.nowMs += dayMs
    expire()
    assert.deepEqual(urls(), [`${url}b`])
  })

  const at = '25 Jun 2026 15:00:00 GMT'
  const atMs = Date.parse(at)
  const tags: [tag: string, expiresAtMs: number | null, noindex: boolean, noarchive: boolean][] = [
    [`unavailable_after: ${at}`, atMs, false, false],
    [`unavailable_after: Thu, ${at}`, atMs, false, false],
    [`otherbot: unavailable_after: ${at}`, null, false, false],
    [`findling: unavailable_after: ${at}`, atMs, false, false],
    ['otherbot: noindex, findling: noarchive', null, false, true],
    ['noarchive, otherbot: none', null, false, true],
    [`unavailable_after: 1 Jan 2020 00:00:00 GMT`, Date.UTC(2020, 0, 1), true, false],
    ['unavailable_after: some day', null, false, false],
  ]
  for (const [tag, expiresAtMs, noindex, noarchive] of tags)
    it(`X-Robots-Tag "${tag}" is understood`, () => {
      const found = directivesOf(null, tag, startMs)
      assert.deepEqual(
        { ...found, nofollow: false },
        { noindex, noarchive, nofollow: false, expiresAtMs },
      )
    })
})

describe('A canonical address', () => {
  // Half of the lines are shared: too little for a copy, enough to believe who says so.
  const half = (own: string): string => {
    const shared = words('shared').split(' ').slice(0, 88)
    return [...shared, ...words(own).split(' ').slice(0, 32)].join(' ')
  }
  const groupOf = async (web: Record<string, Answer>): Promise<boolean> => {
    const { crawl, store } = openStory(web)
    await runToEnd(crawl, spec([url], { scope: 'any' }))
    const [first] = [store.documentByUrlId(store.urlRow(url)?.id ?? 0)]
    return first?.group !== null && first?.group !== undefined
  }
  const other = `${url}print`

  it('makes a page that is like its target a copy of it, though it would be none by itself', async () => {
    const links = [other]
    assert.equal(
      await groupOf({ [url]: { text: half('one'), links }, [other]: { text: half('two') } }),
      false,
    )
    assert.equal(
      await groupOf({
        [url]: { text: half('one'), links },
        [other]: { text: half('two'), canonical: url },
      }),
      true,
    )
  })

  it('is not believed where the page is another one, as where a template names one for all', async () => {
    const page = { text: words('quite-another'), canonical: url }
    assert.equal(
      await groupOf({ [url]: { text: words('one'), links: [other] }, [other]: page }),
      false,
    )
  })

  it('of another host is not believed', async () => {
    const foreign = 'http://b.test/'
    const web = {
      [url]: { text: half('one'), links: [foreign] },
      [foreign]: { text: half('two'), canonical: url },
    }
    assert.equal(await groupOf(web), false)
  })
})
