/** Links that lead below themselves, and the addresses that come of them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addNestedName,
  isNested,
  nestedLinksOf,
  nestedNamesOf,
  nestedShape,
} from '../../../src/crawl/nested-links.ts'

const host = 'http://a.test'

describe('links that lead below themselves', () => {
  const cases: readonly (readonly [page: string, links: readonly string[], names: string[]])[] = [
    ['/x/help/', ['/x/help/help/', '/x/help/news/'], ['help/']],
    ['/x/help/', ['/x/help/', '/x/news/', '/x/'], []],
    ['/a/news/list', ['/a/news/news/list', '/a/news/other'], ['news/list']],
    ['/a/list', ['/a/other', '/a/list'], []],
    ['/x/help/?page=2', ['/x/help/help/'], []],
    ['/x/help/', ['http://b.test/x/help/help/'], []],
  ]
  for (const [page, links, names] of cases)
    it(`of ${page} with ${links.join(' ')} are ${names.join(' ') || 'none'}`, () => {
      const urls = links.map((link) => (link.startsWith('/') ? host + link : link))
      assert.deepEqual(nestedLinksOf(host + page, urls), names)
    })
})

describe('a nested address', () => {
  const names = nestedNamesOf([
    '**/help/',
    '**/go/help/',
    '**/news/list',
    nestedShape,
    '/articles/#',
  ])
  for (const [path, expected] of [
    ['/x/help/help/', true],
    ['/x/news/list/help/', false],
    ['/x/news/help/', true],
    ['/help/news/list', true],
    ['/x/help/go/help/', true],
    ['/x/help/', false],
    ['/x/helphelp/', false],
    ['/x/help/other/', false],
    ['/x/list/news/list', false],
    ['/news/news/list', true],
  ] as const)
    it(`is ${path}: ${expected}`, () => assert.equal(isNested(host + path, names), expected))

  it('is none where nothing was found to lead below itself', () =>
    assert.ok(!isNested(`${host}/x/help/help/`, new Set())))

  it('is of at most so many names, each remembered once', () => {
    const known = new Set<string>()
    assert.equal(addNestedName(known, 'a/'), '**/a/')
    assert.equal(addNestedName(known, 'a/'), null)
    for (let i = 0; i < 100; i++) addNestedName(known, `n${i}/`)
    assert.equal(known.size, 64)
  })
})
