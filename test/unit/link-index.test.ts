/** What links call pages: found and ranked by it, in bounds, explained, and made again from the store alone. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isLinkIndexStale, LinkIndex } from '../../src/link-index.ts'
import type { Hit, SearchRequest } from '../../src/search/answer.ts'
import { checkIndex } from '../../src/search/check.ts'
import { withStanding } from '../../src/search/link-score.ts'
import {
  codeOfStanding,
  depthOfUrl,
  linksOfQuant,
  pagesOfTextMax,
  quantOfLinks,
  standingOfCode,
} from '../../src/search/link-terms.ts'
import { ranking } from '../../src/search/ranking.ts'
import { type Collection, createCollection, type Page, searchRequest } from './search/collection.ts'

const recipe = (collection: Collection) => ({ key: '1', analyzer: collection.analyzer })
const pages: readonly Page[] = [
  {
    url: 'https://a.example/p',
    title: 'Plates',
    text: 'Forty plates, some of them coloured by hand.',
  },
  {
    url: 'https://a.example/fish',
    title: 'Fish',
    text: 'A zebrafish is a small fish of the tropics.',
  },
  { url: 'https://b.example/shop', title: 'Shop', text: 'Buy here, pay there.' },
  { url: 'https://b.example/yu', title: '图谱', text: '四十张图版，部分为手工上色。' },
  ...Array.from({ length: 40 }, (_, i) => ({
    url: `https://c.example/deep/down/${i}`,
    title: `Day ${i}`,
    text: `Nothing of note happened on day ${i}, but for some rain in the evening.`,
  })),
]
const sum = (parts: readonly { score: number }[]): number =>
  parts.reduce((total, { score }) => total + score, 0)

describe('the index of link texts', () => {
  let collection: Collection
  let index: LinkIndex
  beforeEach(() => {
    collection = createCollection()
    collection.add(pages)
    index = new LinkIndex(collection.store)
  })
  afterEach(() => collection.close())

  const link = (url: string, from: readonly (readonly [origin: string, text: string])[]): void => {
    const { store } = collection
    store.transaction(() =>
      store.putLinks(
        store.urlRow(url)?.id ?? assert.fail(url),
        from.map(([origin, text]) => ({ host: store.hostId(origin), text })),
      ),
    )
  }
  const make = (): void => {
    while (index.step(20, recipe(collection), collection.writer.ids, 'now'));
  }
  const ask = (q: string, more: Partial<SearchRequest> = {}): Hit[] => [
    ...collection.searcher.answer(
      searchRequest(q, { explain: true, ...more }),
      performance.now() + 10_000,
    ).hits,
  ]
  const urlsOf = (hits: readonly Hit[]): string[] => hits.map(({ url }) => url)

  it('finds a page by what its own site and others call it', () => {
    link('https://a.example/p', [['https://a.example', 'Zebrafish atlas']])
    link('https://b.example/yu', [['https://far.example', '斑马鱼图谱']])
    assert.deepEqual(urlsOf(ask('atlas')), [])
    make()
    assert.deepEqual(urlsOf(ask('atlas')), ['https://a.example/p'])
    assert.deepEqual(urlsOf(ask('斑马鱼')), ['https://b.example/yu'])
    assert.deepEqual(ask('zebrafish atlas')[0]?.missing, [])
  })

  it('explains it: the parts add up to the score, to the last bit', () => {
    link('https://a.example/p', [
      ['https://a.example', 'Zebrafish atlas'],
      ['https://one.example', 'plates of fish'],
      ['https://two.example', 'the zebrafish plates'],
    ])
    link('https://a.example/fish', [['https://one.example', 'zebrafish']])
    make()
    const hits = ask('zebrafish plates', { match: 'any', sort: 'fresh' })
    assert.equal(hits.length, 2)
    for (const { explanation } of hits) {
      assert(explanation)
      const { terms, standing, reread, feedback, score } = explanation
      assert.equal(sum(terms) + sum(standing) + sum(reread) + sum(feedback), score)
    }
    const part = hits
      .find(({ url }) => url.endsWith('/p'))
      ?.explanation?.terms.find(({ kind, term }) => kind === 'links' && term === 'plate')
    assert.deepEqual([part?.own_site, part?.sites], [false, 2])
    const standing = hits[0]?.explanation?.standing ?? []
    assert.deepEqual(
      standing.map(({ kind }) => kind),
      ['links', 'depth', 'age'],
    )
  })

  it('lets no crowd of sites carry a page over one with the word in its title', () => {
    collection.add([
      { url: 'https://d.example/x', title: 'Glass', text: 'Of sand and soda, by fire.' },
      { url: 'https://e.example/y', title: 'Sale', text: 'Cheap, cheap and cheap.' },
    ])
    link(
      'https://e.example/y',
      Array.from({ length: 16 }, (_, i) => [`https://s${i}.example`, 'Glass'] as const),
    )
    make()
    const [first, second] = ask('glass')
    assert.deepEqual([first?.url, second?.url], ['https://d.example/x', 'https://e.example/y'])
    // As if the word stood in a text of mean length so often, and not more.
    const part = second?.explanation?.terms.find(({ kind }) => kind === 'links')
    assert.equal(part?.frequency, ranking.otherLinksMax)
    assert((part?.length_norm ?? 0) >= 1)
  })

  it('does not listen to what a site calls many pages', () => {
    for (const { url } of pages.slice(4, 4 + pagesOfTextMax + 1))
      link(url, [['https://c.example', 'Chronicle']])
    link('https://a.example/fish', [['https://a.example', 'Chronicle']])
    make()
    assert.deepEqual(urlsOf(ask('chronicle')), ['https://a.example/fish'])
  })

  it('names no page that is gone, and a changed one when it is made again', () => {
    link('https://a.example/p', [['https://a.example', 'Zebrafish atlas']])
    make()
    collection.add([{ url: 'https://a.example/p', title: 'Plates', text: 'Fifty plates.' }])
    assert.deepEqual(urlsOf(ask('atlas')), [])
    make()
    assert.deepEqual(urlsOf(ask('atlas')), ['https://a.example/p'])
    collection.remove('https://a.example/p')
    assert.deepEqual(urlsOf(ask('atlas')), [])
  })

  it('is the same when it was deleted and made again, and leaves nothing behind', () => {
    link('https://a.example/p', [
      ['https://a.example', 'Zebrafish atlas'],
      ['https://one.example', 'plates of fish'],
    ])
    link('https://b.example/shop', [['https://far.example', 'fish shop']])
    make()
    collection.settle()
    const { db } = collection.store
    const leaves = (): number =>
      db.prepare<{ n: number }>('SELECT count(*) AS n FROM leaf').value() ?? 0
    const before = [ask('fish shop', { match: 'any' }), leaves()]
    db.exec('DELETE FROM leaf WHERE k >> 20 IN (SELECT id FROM link_seg); DELETE FROM link_seg')
    index.forget()
    assert(index.isForgotten())
    make()
    assert(!index.isForgotten())
    assert.deepEqual([ask('fish shop', { match: 'any' }), leaves()], before)
    assert.deepEqual(checkIndex(db), [])
  })

  it('is whole or not there when its making is cut off at any slice', () => {
    link('https://a.example/p', [['https://a.example', 'Zebrafish atlas']])
    const { store } = collection
    let nowMs = 0
    const openIndex = (): LinkIndex => new LinkIndex(store, () => (nowMs += 1))
    index = openIndex()
    for (let slices = 1; ; slices++) {
      index.forget()
      let done = 0
      const step = (): boolean => index.step(2, recipe(collection), collection.writer.ids, 'now')
      while (done < slices && step()) done++
      assert.deepEqual(urlsOf(ask('plates')), ['https://a.example/p'])
      const isMade = !isLinkIndexStale((key) => store.meta.get(key))
      // Before the first switch it is not there, after it the one before answers.
      assert.equal(ask('atlas').length, isMade || slices > 1 ? 1 : 0)
      // As after a crash: another one in its place, and a writer that clears up.
      collection.reopenWriter()
      index = openIndex()
      make()
      assert.deepEqual(urlsOf(ask('atlas')), ['https://a.example/p'])
      while (collection.writer.work(20, true));
      const orphans = store.db
        .prepare<{ n: number }>(
          'SELECT count(*) AS n FROM leaf WHERE k >> 20 NOT IN (SELECT id FROM seg UNION ALL SELECT id FROM link_seg)',
        )
        .value()
      assert.equal(orphans, 0)
      if (done < slices) break
    }
  })

  it('is not there where nothing links, and then changes nothing', () => {
    const before = ask('day', { match: 'any' })
    assert(!index.step(20, recipe(collection), collection.writer.ids, 'now'))
    assert.deepEqual(ask('day', { match: 'any' }), before)
    assert(before.every(({ explanation }) => explanation?.standing.length === 0))
  })

  it('waits while pages come in, and is not made more often than it may cost', () => {
    let nowMs = 0
    index = new LinkIndex(collection.store, () => (nowMs += 1))
    const isBegun = (when: 'crawling' | 'idle'): boolean =>
      index.step(20, recipe(collection), collection.writer.ids, when)
    link('https://a.example/p', [['https://a.example', 'Zebrafish atlas']])
    assert(!isBegun('crawling'))
    while (isBegun('idle'));
    link('https://a.example/fish', [['https://a.example', 'Fishes']])
    assert(!isBegun('idle'))
    const waitMs = index.waitsMs('1') ?? 0
    assert(waitMs > 50)
    nowMs += waitMs
    assert(isBegun('idle'))
  })
})

describe('new pages', () => {
  it('gain a little where that is wished, and never more than a better match', () => {
    const collection = createCollection()
    const text = 'Rain in the evening, wind at night.'
    collection.add([
      { url: 'https://a.example/old', title: 'Weather', text, publishedAt: '2001-05-06' },
      {
        url: 'https://a.example/new',
        title: 'Weather',
        text: `${text} `,
        publishedAt: new Date().toISOString(),
      },
      {
        url: 'https://a.example/best',
        title: 'Rain',
        text: 'Rain, rain, rain.',
        publishedAt: '2001-05-06',
      },
    ])
    const ask = (sort: string) =>
      collection.searcher
        .answer(searchRequest('rain', { sort, group: 'none' }), performance.now() + 10_000)
        .hits.map(({ url }) => url.slice(18))
    assert.deepEqual(ask('relevance'), ['best', 'old', 'new'])
    assert.deepEqual(ask('fresh'), ['best', 'new', 'old'])
    collection.close()
  })
})

describe('the standing of a page', () => {
  it('never beats words: a score that is higher by its whole share stays higher', () => {
    const most = ranking.linksShare + ranking.depthShare
    const score = fc.double({ min: 0.01, max: 1e3, noNaN: true })
    const code = fc.integer({ min: 0, max: 136 })
    fc.assert(
      fc.property(score, code, code, (words, a, b) => {
        assert(withStanding(words * (1 + most) * 1.000001, a, 0) > withStanding(words, b, 0))
      }),
    )
  })

  it('survives its codes', () => {
    for (let sites = 0; sites <= 16; sites++)
      for (let depth = 0; depth <= 7; depth++)
        assert.deepEqual(standingOfCode(codeOfStanding({ sites, depth })), { sites, depth })
    for (let sites = 0; sites <= 16; sites++)
      for (const isOwn of [true, false])
        assert.deepEqual(linksOfQuant(quantOfLinks({ isOwn, sites })), { isOwn, sites })
  })

  const depths: [url: string, depth: number][] = [
    ['https://a.example/', 0],
    ['https://a.example/index.html', 0],
    ['https://a.example/docs/', 1],
    ['https://a.example/docs/index.zh-cn.html', 1],
    ['https://a.example/docs/glass.html', 2],
    ['https://a.example/docs/indexes.html', 2],
    ['https://a.example/?page=2', 1],
  ]
  for (const [url, depth] of depths)
    it(`counts the parts of ${url}`, () => assert.equal(depthOfUrl(url), depth))
})
