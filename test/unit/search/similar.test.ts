/** Pages like a page, and what is offered where nothing was found. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { SearchRequest } from '../../../src/search/answer.ts'
import { documentKey } from '../../../src/store/read-documents.ts'
import { type Collection, createCollection, type Page, searchRequest } from './collection.ts'

const soon = (): number => performance.now() + 10_000
const page = (name: string, text: string, more: Partial<Page> = {}): Page => ({
  url: `https://${name}.test/`,
  text,
  ...more,
})
let collection: Collection
beforeEach(() => {
  collection = createCollection()
})
afterEach(() => collection.close())

describe('similar pages', () => {
  const similar = (name: string, limit = 10) =>
    collection.searcher.similar(documentKey(`https://${name}.test/`), limit, soon())
  const related = (name: string): string[] | undefined =>
    similar(name)?.related.map(({ site }) => site.replace('.test', ''))

  it('share the words that tell a page from others, in both languages', () => {
    collection.add([
      page('quick', 'quicksort partitions the array around a pivot', { title: 'Quicksort' }),
      page('merge', 'mergesort splits the array; quicksort uses a pivot instead'),
      page('tea', 'the leaves are steeped in hot water'),
      page('kuaipai', '快速排序选择一个基准，把数组分成两部分', { title: '快速排序' }),
      page('guibing', '归并排序与快速排序不同，不需要基准'),
      page('hongcha', '红茶用热水冲泡'),
    ])
    assert.deepEqual(related('quick'), ['merge'])
    assert.deepEqual(related('kuaipai'), ['guibing'])
  })

  it('are told apart from copies, and of copies one is related', () => {
    collection.add([
      page('one', 'galaxy rotation curves'),
      page('exact', 'galaxy rotation curves', { copyOf: 'https://one.test/' }),
      page('near', 'galaxy rotation curve', { groupOf: 'https://one.test/' }),
      page('a', 'galaxy rotation measured'),
      page('b', 'galaxy rotation measured again', { groupOf: 'https://a.test/' }),
    ])
    const answer = similar('one')
    assert.deepEqual(
      answer?.copies.map(({ url, is_exact: isExact }) => [url, isExact]).toSorted(),
      [
        ['https://exact.test/', true],
        ['https://near.test/', false],
      ],
    )
    assert.equal(answer?.related.length, 1)
    assert.deepEqual(
      similar('exact')
        ?.copies.map(({ url, is_exact: isExact }) => [url, isExact])
        .toSorted(),
      [
        ['https://near.test/', false],
        ['https://one.test/', true],
      ],
    )
    assert.equal(similar('one', 1)?.copies.length, 1)
    assert.equal(similar('nobody'), null)
  })

  it('are by its keywords more than by other words, here and in related:', () => {
    const both = 'glacier moraine valley farm meadow'
    const filler = Array.from({ length: 20 }, (_, i) => page(`f${i}`, `filler number${i}`))
    collection.add([
      page('about', both, { keywords: ['meadow', 100, 'farms', 60] }),
      page('ice', 'glacier moraine ridge', { lang: 'en' }),
      page('grass', 'meadow farm fence', { lang: 'en' }),
      ...filler,
    ])
    assert.deepEqual(related('about'), ['grass', 'ice'])
    collection.add([page('about', both, { keywords: ['moraine', 100, '冰川', 90, 'glacier', 50] })])
    assert.deepEqual(related('about'), ['ice', 'grass'])
    const { hits } = collection.searcher.answer(searchRequest('related:about.test'), soon())
    assert.deepEqual(
      hits.map(({ site }) => site),
      ['ice.test', 'grass.test'],
    )
  })

  it('are found by a keyword that the read part of its text has not', () => {
    collection.add([
      page('long', 'plain words only', { keywords: ['kerberos', 100] }),
      page('other', 'kerberos realm'),
      page('third', 'kerberos tickets'),
    ])
    assert.deepEqual(related('long')?.toSorted(), ['other', 'third'])
  })

  it('of an empty page are none', () => {
    collection.add([page('empty', ''), page('other', 'words')])
    assert.deepEqual(similar('empty'), { copies: [], related: [] })
  })
})

describe('help where nothing is found', () => {
  const help = (q: string, more: Partial<SearchRequest> = {}) =>
    collection.searcher.answer(searchRequest(q, { match: 'all', ...more }), soon()).help

  it('names the words without which something is, with how much', () => {
    collection.add([page('a', 'red apple'), page('b', 'red brick'), page('c', '红色 苹果')])
    assert.equal(help('red'), null)
    assert.deepEqual(help('red zebra')?.words, [{ word: 'zebra', q: 'red', total: 2 }])
    assert.deepEqual(help('apple brick')?.words, [
      { word: 'apple', q: 'brick', total: 1 },
      { word: 'brick', q: 'apple', total: 1 },
    ])
    assert.deepEqual(help('zebra gnu')?.words, [])
    assert.deepEqual(help('苹果 斑马')?.words, [{ word: '斑马', q: '苹果', total: 1 }])
  })

  it('names the filters, of the request and of the query', () => {
    collection.add([page('a', 'red apple'), page('b', 'red brick')])
    assert.deepEqual(help('apple', { site: ['b.test'] })?.filters, [
      { filter: 'site:b.test', parameter: 'site', q: 'apple', total: 1 },
    ])
    assert.deepEqual(help('apple site:b.test')?.filters, [
      { filter: 'site:b.test', parameter: null, q: 'apple', total: 1 },
    ])
    const both = help('apple site:b.test', { lang: ['zh'] })?.filters
    assert.deepEqual(both, [{ filter: '*', parameter: '*', q: 'apple', total: 1 }])
    assert.deepEqual(help('zebra site:b.test')?.filters, [])
    const fields = [{ name: 'n', values: ['1'], min: null, max: null }]
    assert.deepEqual(help('red', { fields })?.filters, [
      { filter: '1', parameter: 'field.n', q: 'red', total: 2 },
    ])
  })
})
