/** Which page of a group is the original, and what is said for it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type Candidate, chooseOriginal, type OriginReason } from '../../../src/store/originals.ts'

const hour = 3_600_000
const day = 24 * hour
const a = 'http://a.example'
const b = 'http://b.example'

/** Url, hours since the first, address named as canonical, links. In the order of their rows. */
type Page = readonly [url: string, hours?: number, canonical?: string | null, inlinks?: number]
const pagesOf = (pages: readonly Page[]): Candidate[] =>
  pages.map(([url, hours = 0, canonical = null, inlinks = 0], i) => ({
    urlId: i + 1,
    url,
    sinceMs: day + hours * hour,
    canonical,
    inlinks,
  }))

describe('the original of a group', () => {
  const cases: [
    name: string,
    pages: Page[],
    original: string,
    reasons: OriginReason[],
    ownSites?: string[],
  ][] = [
    [
      'is what its copy names as canonical',
      [
        [`${a}/p?print=1`, 0, `${a}/article/p`],
        [`${a}/article/p`, 90],
      ],
      `${a}/article/p`,
      ['canonical'],
    ],
    [
      'also on another site: a page may step back',
      [
        [`${a}/p`, 0, `${b}/p/long`],
        [`${b}/p/long`, 90],
      ],
      `${b}/p/long`,
      ['canonical'],
    ],
    [
      'is what others of its site name',
      [[`${a}/p`], [`${a}/p/long`], [`${a}/?id=1`, 0, `${a}/p/long`]],
      `${a}/p/long`,
      ['canonical'],
    ],
    [
      'is nothing that two pages name in turn',
      [
        [`${a}/p`, 0, `${a}/q/q`],
        [`${a}/q/q`, 0, `${a}/p`],
      ],
      `${a}/p`,
      ['shorter'],
    ],
    [
      'is the earlier one of two sites, by any time',
      [
        [`${a}/a/long/path`, 0],
        [`${b}/`, 0.001, null, 900],
      ],
      `${a}/a/long/path`,
      ['earlier'],
    ],
    [
      'stays when the other site says that it is canonical',
      [
        [`${a}/p`, 0],
        [`${b}/p`, 1, `${b}/p`, 900],
      ],
      `${a}/p`,
      ['earlier'],
    ],
    [
      'stays when a third page names the other site',
      [
        [`${a}/p/x`, 0],
        [`${b}/p`, 1],
        [`${b}/q`, 1, `${b}/p`],
      ],
      `${a}/p/x`,
      ['earlier'],
    ],
    [
      'is on the site that was asked for, though the other was met first',
      [
        [`${b}/p`, 0],
        [`${a}/p/long`, 5],
      ],
      `${a}/p/long`,
      ['own-host'],
      ['a.example'],
    ],
    [
      'is the earlier one of a site by a day',
      [
        [`${a}/p/long`, 0],
        [`${a}/p`, 25],
      ],
      `${a}/p/long`,
      ['earlier'],
    ],
    [
      'is the shorter one of a site within a day',
      [
        [`${a}/p?print=1`, 0],
        [`${a}/p`, 23],
      ],
      `${a}/p`,
      ['shorter'],
    ],
    [
      'is the one that more pages link to',
      [
        [`${a}/p`, 0, null, 2],
        [`${a}/q`, 0, null, 8],
      ],
      `${a}/q`,
      ['more-links'],
    ],
    ['is at last the one that was known first', [[`${a}/p`], [`${a}/q`]], `${a}/p`, ['earlier']],
    [
      'says all that speaks for it',
      [
        [`${b}/page`, 3, null, 1],
        [`${a}/p`, 0, null, 4],
      ],
      `${a}/p`,
      ['earlier', 'shorter', 'more-links'],
    ],
  ]
  for (const [name, pages, original, reasons, own = []] of cases)
    it(name, () => {
      const candidates = pagesOf(pages)
      const chosen = chooseOriginal(candidates, new Set(own))
      assert.equal(chosen?.url, original)
      const copy = candidates.find(({ url }) => url !== original)
      assert.deepEqual(copy && chosen?.reasonsAgainst(copy), reasons)
    })

  const page = fc.record({
    url: fc.constantFrom(
      ...[a, b, 'http://c.example'].flatMap((site) =>
        ['/p', '/q', '/long/p', '/?x'].map((path) => site + path),
      ),
    ),
    sinceMs: fc.integer({ min: 0, max: 3 * day }),
    canonical: fc.option(fc.constantFrom(`${a}/p`, `${b}/q`, `${a}/long/p`)),
    inlinks: fc.nat(9),
  })
  const group = fc
    .uniqueArray(page, { minLength: 2, maxLength: 8, selector: ({ url }) => url })
    .map((pages) => pages.map((one, i): Candidate => ({ ...one, urlId: i + 1 })))

  it('does not depend on the order in which the pages are read', () => {
    fc.assert(
      fc.property(group, fc.infiniteStream(fc.nat()), (pages, random) => {
        const shuffled = pages
          .map((one) => ({ one, at: random.next().value }))
          .sort((x, y) => x.at - y.at)
          .map(({ one }) => one)
        assert.equal(
          chooseOriginal(pages, new Set())?.url,
          chooseOriginal(shuffled, new Set())?.url,
        )
      }),
    )
  })

  it('cannot be taken from a site by pages of another that come later', () => {
    const hostile = fc.array(
      fc.record({
        url: fc.nat(99).map((n) => `http://h.example/${n}`),
        canonical: fc.option(fc.constantFrom(`${a}/p`, 'http://h.example/1')),
        inlinks: fc.nat(1_000),
      }),
      { minLength: 1, maxLength: 9 },
    )
    fc.assert(
      fc.property(group, hostile, (pages, more) => {
        const before = chooseOriginal(pages, new Set())
        const later = more.map((one, i): Candidate => ({
          ...one,
          sinceMs: 9 * day,
          urlId: 100 + i,
        }))
        assert.equal(chooseOriginal([...pages, ...later], new Set())?.url, before?.url)
      }),
      { numRuns: 1_000 },
    )
  })

  it('is one of a circle of pages that name each other, not the stranger that comes later', () => {
    const circle = [`${a}/long/p`, `${a}/p`, `${b}/q`]
    const pages = circle.map((url, i): Candidate => ({
      url,
      canonical: circle[(i + 1) % circle.length] as string,
      sinceMs: 0,
      inlinks: 0,
      urlId: 1 + i,
    }))
    const stranger = { ...pages[0], url: 'http://h.example/0', canonical: null, urlId: 9 }
    const later = { ...stranger, sinceMs: 9 * day } as Candidate
    assert.notEqual(chooseOriginal([...pages, later], new Set())?.url, later.url)
  })
})
