/** What is kept of the links to a page: one site counts once, whoever writes how much. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addLinks,
  type InboundLink,
  linkingSitesMax,
  ownTextsMax,
} from '../../../src/store/inbound.ts'
import { siteOwner } from '../../../src/lib/url.ts'

/** Hosts 1, 2 belong to own.example, 10.. to a site each; 30 and 31 to one. */
const ownerOf = (host: number): string =>
  host < 10 ? 'own.example' : host >= 30 ? 'many.example' : `site${host}.example`
const add = (links: readonly InboundLink[], more: readonly InboundLink[]) =>
  addLinks(links, more, ownerOf, 'own.example')
const link = (host: number, text = ''): InboundLink => ({ host, text })

describe('links to a page', () => {
  const cases: [
    name: string,
    links: InboundLink[],
    more: InboundLink[],
    kept: InboundLink[] | null,
  ][] = [
    ['what its own site calls it', [], [link(1, 'Glass')], [link(1, 'Glass')]],
    ['only once', [link(1, 'Glass')], [link(1, 'Glass'), link(2, 'Glass')], null],
    ['capitals make no other text', [link(1, 'Glass')], [link(1, 'glass')], null],
    [
      'another name as well',
      [link(1, 'Glass')],
      [link(2, 'Panes')],
      [link(1, 'Glass'), link(2, 'Panes')],
    ],
    ['nothing where its own site says nothing', [], [link(1)], null],
    ['another site, also where its link says nothing', [], [link(10)], [link(10)]],
    ['what that site says later', [link(10)], [link(10, 'Glass')], [link(10, 'Glass')]],
    [
      'of another site only the first text',
      [link(10, 'Glass')],
      [link(10, 'Buy'), link(10, 'Now')],
      null,
    ],
    ['hosts of one site are one', [link(30, 'Glass')], [link(31, 'Glass'), link(31, 'Buy')], null],
    [
      'each further site',
      [link(10, 'Glass')],
      [link(11, 'Glass')],
      [link(10, 'Glass'), link(11, 'Glass')],
    ],
  ]
  for (const [name, links, more, kept] of cases)
    it(name, () => assert.deepEqual(add(links, more), kept))

  it('are few, and other sites cannot drive out what its own says', () => {
    const others = Array.from({ length: 20 }, (_, i) => link(10 + i, `text ${i}`))
    const full = add([], others) ?? []
    assert.equal(full.length, linkingSitesMax)
    const own = Array.from({ length: 9 }, (_, i) => link(1, `name ${i}`))
    assert.equal(add(full, own)?.length, linkingSitesMax + ownTextsMax)
  })
})

describe('who answers for a page', () => {
  const cases: [url: string, owner: string][] = [
    ['https://a.b.example.co.uk/x', 'example.co.uk'],
    ['http://example.com:8080/', 'example.com'],
    ['https://alice.github.io/', 'alice.github.io'],
    ['http://127.0.0.1:8080/', '127.0.0.1:8080'],
    ['http://[::1]:81/', '[::1]:81'],
    ['http://intranet/', 'intranet'],
    ['http://localhost:3000/a', 'localhost:3000'],
  ]
  for (const [url, owner] of cases) it(url, () => assert.equal(siteOwner(url), owner))
})
