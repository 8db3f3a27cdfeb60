/** However often the filter of seen URLs says "maybe" of a new one: the crawl ends with the same pages, each asked for once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { SeenFilter } from '../../../src/crawl/seen.ts'
import { type Answer, openCrawl, runToEnd, spec, words } from './crawl-fixture.ts'

const pagesMax = 24
const urlOf = (i: number): string => `http://a.test/${i}`

/** An exact set that lies of a share of the new URLs: always of the same ones, as a real filter does. */
function lyingFilter(share: number): SeenFilter & { lies: number } {
  const known = new Set<string>()
  const isLiedAbout = (url: string): boolean => {
    let hash = 0x811c9dc5
    for (let i = 0; i < url.length; i += 1)
      hash = Math.imul(hash ^ url.charCodeAt(i), 0x01000193) >>> 0
    return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32 < share
  }
  const filter = {
    lies: 0,
    mayHave(url: string): boolean {
      if (known.has(url)) return true
      if (!isLiedAbout(url)) return false
      filter.lies += 1
      return true
    },
    add: (url: string): void => void known.add(url),
  }
  return filter
}

/** Page i links to the pages of its row; some are redirects, gone, or copies of others. */
const web = fc
  .array(
    fc.record({
      links: fc.array(fc.nat(pagesMax - 1), { maxLength: 5 }),
      kind: fc.constantFrom('page', 'page', 'page', 'copy', 'redirect', 'gone'),
    }),
    { minLength: 2, maxLength: pagesMax },
  )
  .map((rows) =>
    Object.fromEntries(
      rows.map(({ links, kind }, i): [string, Answer] => {
        const linked = [...links, (i + 1) % rows.length].map(urlOf)
        if (i > 0 && kind === 'redirect') return [urlOf(i), { to: linked[0] ?? urlOf(0) }]
        if (i > 0 && kind === 'gone') return [urlOf(i), { status: 404 }]
        return [urlOf(i), { text: words(kind === 'copy' ? 'same' : `w${i}x`), links: linked }]
      }),
    ),
  )

describe('a crawl over a filter that is wrong', () => {
  it('of half of the new URLs, or of all, ends with the same pages and asks for each once', async () => {
    let lies = 0
    await fc.assert(
      fc.asyncProperty(web, async (pages) => {
        const crawlWith = async (share: number) => {
          const seen = lyingFilter(share)
          const { crawl, asked, urls } = openCrawl(pages, {}, { seen })
          const { state } = await runToEnd(crawl, spec([urlOf(0)]))
          assert.equal(new Set(asked).size, asked.length, asked.join())
          return { state, asked: asked.toSorted(), urls: urls(), lies: seen.lies }
        }
        const honest = await crawlWith(0)
        assert.ok(honest.asked.length > 1 && honest.lies === 0)
        for (const share of [0.5, 1]) {
          const { lies: lied, ...ended } = await crawlWith(share)
          lies += lied
          assert.deepEqual({ ...ended, lies: 0 }, honest)
        }
      }),
      { numRuns: 12 },
    )
    assert.ok(lies > 12, 'the filter did lie')
  })
})
