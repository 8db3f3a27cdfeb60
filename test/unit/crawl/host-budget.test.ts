/** Limits by host: exact, explained, counted, and no reason to lose a page that is stored. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hostOf } from '../../../src/lib/url.ts'
import { explainUrl } from '../../../src/crawl/explain.ts'
import { openCrawl, runToEnd, spec, words, type Answer, type Web } from './crawl-fixture.ts'

/** Some hosts with so many pages each, every page of which names all others of its host and the first of the next. */
function hosts(names: readonly string[], pages: number): Record<string, Answer> {
  const urlOf = (name: string, n: number): string => `http://${name}.test/${n}`
  return Object.fromEntries(
    names.flatMap((name, i) =>
      Array.from({ length: pages }, (_, n): [string, Answer] => [
        urlOf(name, n),
        {
          text: words(`${name}w${n}x`),
          links: [
            ...Array.from({ length: pages }, (__, m) => urlOf(name, m)),
            urlOf(names[(i + 1) % names.length] ?? name, 0),
          ],
        },
      ]),
    ),
  )
}

const countByHost = (urls: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const url of urls) counts[hostOf(url)] = (counts[hostOf(url)] ?? 0) + 1
  return counts
}

const wish = (change = {}) => spec(['http://a.test/0'], { scope: 'any', ...change })

describe('a limit of pages per host', () => {
  for (const max of [1, 9, 10, 11, 24, 25])
    it(`of ${max} is kept exactly on every host of 25 pages, and the rest is counted as refused`, async () => {
      const { crawl, urls, asked } = openCrawl(hosts(['a', 'b', 'c'], 25))
      const job = await runToEnd(crawl, wish({ maxPagesPerHost: max }))
      assert.equal(job.state, 'done')
      assert.deepEqual(countByHost(urls()), { 'a.test': max, 'b.test': max, 'c.test': max })
      assert.equal(asked.length, 3 * max)
      const left = 3 * (25 - max)
      assert.deepEqual(job.counts.refused, left === 0 ? {} : { 'host-limit': left })
    })

  it('counts pages, not what turns out to be none', async () => {
    const web = hosts(['a'], 30)
    for (let n = 1; n < 20; n++) web[`http://a.test/${n}`] = { status: 404 }
    const { crawl, urls } = openCrawl(web)
    await runToEnd(crawl, wish({ maxPagesPerHost: 8 }))
    assert.equal(urls().length, 8)
  })

  it('lets more in when it is raised, and all when it is gone', async () => {
    const { crawl, urls } = openCrawl(hosts(['a', 'b'], 25))
    await runToEnd(crawl, wish({ maxPagesPerHost: 5 }))
    await runToEnd(crawl, wish({ maxPagesPerHost: 12 }))
    assert.deepEqual(countByHost(urls()), { 'a.test': 12, 'b.test': 12 })
    await runToEnd(crawl, wish())
    assert.deepEqual(countByHost(urls()), { 'a.test': 25, 'b.test': 25 })
  })

  it('keeps visiting what is stored when it is lowered', async () => {
    let nowMs = Date.UTC(2026, 5, 1)
    const web: Web = hosts(['a'], 12)
    const { crawl, urls, asked } = openCrawl(web, {}, { now: () => nowMs })
    await runToEnd(crawl, wish())
    nowMs += 60 * 86_400_000
    asked.length = 0
    await runToEnd(crawl, wish({ maxPagesPerHost: 3 }))
    assert.equal(new Set(asked).size, 12)
    assert.equal(urls().length, 12)
  })

  it('is told by explain, with what is left', async () => {
    const { crawl, store, rules, described } = openCrawl(hosts(['a', 'b'], 25))
    await runToEnd(crawl, wish({ maxPagesPerHost: 5 }))
    const told = (url: string): string[] =>
      explainUrl(url, {
        store,
        robots: { judge: () => assert.fail(), recall: () => null, sitemaps: () => [] },
        scopes: crawl.scopes(),
        seen: { mayHave: () => true, add: () => {} },
        rules,
        described,
        budgetLines: (each) => crawl.budgetLines(each),
      }).lines.map(({ about, text }) => `${about}: ${text}`)
    const full =
      'host limit: 5 pages of a.test are stored, of 5 that job 1 takes; no further one is asked for'
    assert.ok(told('http://a.test/24').includes(full))
    assert.ok(told('http://a.test/24').includes('outcome: refused: host-limit'))
    const fresh = 'host limit: 0 pages of c.test are stored, of 5 that job 1 takes'
    assert.ok(told('http://c.test/').includes(fresh))
  })

  it('is none where nobody set one', async () => {
    const { crawl } = openCrawl(hosts(['a'], 3))
    await runToEnd(crawl, wish())
    assert.deepEqual(crawl.budgetLines('http://a.test/0'), [])
  })
})
