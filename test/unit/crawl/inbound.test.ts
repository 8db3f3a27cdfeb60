/** What the links of a batch leave behind: noted in memory, written once, moved with a redirect. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { FoundUrl, Lease, Settlement } from '../../../src/crawl/frontier.ts'
import { createInboundLinks, type InboundLinks } from '../../../src/crawl/inbound.ts'
import type { ParsedPage } from '../../../src/crawl/page.ts'
import type { Visited } from '../../../src/crawl/visit.ts'
import { splitUrl } from '../../../src/lib/url.ts'
import { openStore, type Store } from '../../../src/store/store.ts'

const own = 'http://own.example'
const target = `${own}/glass`

describe('the links of a batch', () => {
  let store: Store
  let inbound: InboundLinks
  let writes = 0
  beforeEach(() => {
    store = openStore(':memory:')
    writes = 0
    inbound = createInboundLinks({
      ...store,
      putLinks(...args) {
        writes++
        store.putLinks(...args)
      },
    })
    store.transaction(() => {
      for (const url of [target, `${own}/moved`, `${own}/other`]) store.importedUrl(url, 1, 0)
    })
  })
  afterEach(() => store.close())

  const visit = (from: string, links: readonly (readonly [url: string, text: string])[]): void =>
    note(from, { kind: 'stored', status: 200 }, links)
  const note = (
    from: string,
    settlement: Settlement,
    links: readonly (readonly [url: string, text: string])[],
    past: readonly string[] = [],
  ): void => {
    const history = past.map((outcome) => ({ outcome }))
    const lease = { url: from, history, ...splitUrl(from) } as unknown as Lease
    const isPage = settlement.kind === 'stored' || settlement.kind === 'unchanged'
    const visited = { lease, settlement, page: isPage ? ({} as ParsedPage) : null } as Visited
    const found = links.map(([url, text]): FoundUrl => ({ url, sourceId: 1, depth: 1, text }))
    inbound.note(visited, found)
  }
  const save = (): number => store.transaction(() => inbound.save())
  const textsOf = (url: string): string[] =>
    store.linksTo(store.urlRow(url)?.id ?? 0).map(({ text }) => text)

  it('are written with the host that has them', () => {
    visit(`${own}/`, [[target, 'Cutting glass']])
    visit('http://far.example/', [[target, 'glass works']])
    assert.equal(save(), 1)
    const links = store.linksTo(store.urlRow(target)?.id ?? 0)
    assert.deepEqual(
      links.map(({ host, text }) => [store.originOfHost(host), text]),
      [
        [own, 'Cutting glass'],
        ['http://far.example', 'glass works'],
      ],
    )
  })

  it('are written once, also when they are met again', () => {
    for (let batch = 0; batch < 3; batch++) {
      for (let page = 0; page < 20; page++) visit(`${own}/${page}`, [[target, 'Glass']])
      save()
    }
    assert.equal(writes, 1)
    assert.deepEqual(textsOf(target), ['Glass'])
  })

  it('have a new name where a page was read before and has changed, and where there is room else', () => {
    const stored = { kind: 'stored', status: 200 } as const
    const unchanged = { kind: 'unchanged', status: 200 } as const
    const say = (settlement: Settlement, past: readonly string[], text: string): void => {
      note(`${own}/`, settlement, [[target, text]], past)
      note('http://far.example/', settlement, [[target, text]], past)
      save()
    }
    for (const text of ['one', 'two', 'three', 'four', 'five']) say(stored, [], text)
    assert.deepEqual(textsOf(target), ['one', 'one', 'two', 'three', 'four'])
    say(unchanged, ['stored'], 'six')
    say(stored, ['failed'], 'seven')
    assert.deepEqual(textsOf(target), ['one', 'one', 'two', 'three', 'four'])
    say(stored, ['stored'], 'eight')
    assert.deepEqual(textsOf(target), ['one', 'eight', 'two', 'three', 'eight'])
  })

  it('of other sites count without a text, steps within a site do not', () => {
    visit(`${own}/`, [[target, '']])
    visit('http://far.example/', [[target, '']])
    save()
    assert.deepEqual(textsOf(target), [''])
  })

  it('are left out when their host calls everything so', () => {
    store.transaction(() => {
      for (let page = 0; page < 40; page++) store.importedUrl(`${own}/p${page}`, 1, 0)
    })
    for (let page = 0; page < 40; page++) visit(`${own}/`, [[`${own}/p${page}`, 'to the shop']])
    save()
    assert.deepEqual(textsOf(`${own}/p0`), ['to the shop'])
    assert.deepEqual(textsOf(`${own}/p39`), [])
  })

  it('follow a redirect, whichever was known first', () => {
    visit(`${own}/`, [[`${own}/moved`, 'Glass']])
    save()
    store.db
      .prepare("UPDATE url SET outcome = 'redirect', reason = ? WHERE path = '/moved'")
      .run(target)
    note(`${own}/moved`, { kind: 'redirect', status: 301, to: target }, [])
    save()
    assert.deepEqual(textsOf(target), ['Glass'])
    visit(`${own}/2`, [[`${own}/moved`, 'Panes']])
    save()
    assert.deepEqual(textsOf(target), ['Glass', 'Panes'])
    assert.deepEqual(textsOf(`${own}/moved`), ['Glass'])
  })

  it('to a page that is not in the table are forgotten', () => {
    visit(`${own}/`, [['http://nowhere.example/', 'Glass']])
    assert.equal(save(), 0)
  })

  it('are noted again after a rollback', () => {
    visit(`${own}/`, [[target, 'Glass']])
    assert.throws(() =>
      store.transaction(() => {
        inbound.save()
        throw new Error('no room')
      }),
    )
    inbound.rolledBack()
    assert.deepEqual(textsOf(target), [])
    visit(`${own}/`, [[target, 'Glass']])
    save()
    assert.deepEqual(textsOf(target), ['Glass'])
  })
})
