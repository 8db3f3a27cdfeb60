/** Counts over all that was found: each is the total of the same search with that value as a filter. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { SearchAnswer, SearchRequest } from '../../../src/search/answer.ts'
import { createRandom } from '../../site/words.ts'
import { type Collection, createCollection, type Page, searchRequest } from './collection.ts'

const soon = (): number => performance.now() + 10_000
const page = (url: string, text: string, more: Partial<Page> = {}): Page => ({
  url: `https://${url}`,
  text,
  ...more,
})
const counts = (answer: SearchAnswer, facet: string): Record<string, number> =>
  Object.fromEntries((answer.facets[facet] ?? []).map(({ value, count }) => [value, count]))

let collection: Collection
beforeEach(() => {
  collection = createCollection()
})
afterEach(() => collection.close())
const ask = (q: string, more: Partial<SearchRequest> = {}): SearchAnswer =>
  collection.searcher.answer(searchRequest(q, more), soon())
const value = (name: string, ...values: string[]) => ({ name, values, min: null, max: null })
const range = (name: string, min: string | null, max: string | null) => ({
  name,
  values: [],
  min,
  max,
})

describe('a facet', () => {
  it('counts all matches, not the page of hits', () => {
    collection.add([
      page('a.test/1', 'apple', { lang: 'en' }),
      page('a.test/2', 'apple', { lang: 'fr', type: 'application/pdf' }),
      page('b.test/1', 'apple 苹果', { lang: 'zh' }),
      page('c.test/1', 'pear', { lang: 'zh' }),
    ])
    const answer = ask('apple', { limit: 1, facets: ['host', 'lang', 'language', 'type'] })
    assert.deepEqual(answer.facets['host'], [
      { value: 'a.test', count: 2, has_children: false },
      { value: 'b.test', count: 1, has_children: false },
    ])
    assert.deepEqual(counts(answer, 'lang'), { en: 1, fr: 1, zh: 1 })
    assert.deepEqual(answer.facets['language'], answer.facets['lang'])
    assert.deepEqual(counts(answer, 'type'), { 'text/html': 2, 'application/pdf': 1 })
    assert.deepEqual(counts(ask('nothing', { facets: ['host'] }), 'host'), {})
  })

  it('of a host is one for http and https', () => {
    collection.add([page('a.test/1', 'x'), { url: 'http://a.test/2', text: 'x' }])
    assert.deepEqual(counts(ask('x', { facets: ['host'] }), 'host'), { 'a.test': 2 })
  })

  it('has a limit, the most frequent first', () => {
    collection.add(
      [1, 2, 2, 3, 3, 3].map((n, i) => page(`s${n}.test/${i}`, 'x', { fields: { n: `v${n}` } })),
    )
    const answer = ask('x', { facets: ['host', 'field:n'], facetLimit: 2 })
    assert.deepEqual(Object.entries(counts(answer, 'host')), [
      ['s3.test', 3],
      ['s2.test', 2],
    ])
    assert.deepEqual(counts(answer, 'field:n'), { v3: 3, v2: 2 })
  })

  it('counts a group of copies once for each value that one of them has', () => {
    const origin = 'https://a.test/1'
    collection.add([
      page('a.test/1', 'shared story', { fields: { kind: 'x' } }),
      page('b.test/1', 'shared story', { copyOf: origin, fields: { kind: 'x' } }),
      page('b.test/2', 'shared story retold', { groupOf: origin, fields: { kind: 'y' } }),
      page('c.test/1', 'shared nothing', { fields: { kind: 'y' } }),
    ])
    const folded = ask('shared', { facets: ['host', 'field:kind'] })
    assert.equal(folded.total.value, 2)
    assert.deepEqual(counts(folded, 'host'), { 'a.test': 1, 'b.test': 1, 'c.test': 1 })
    assert.deepEqual(counts(folded, 'field:kind'), { x: 1, y: 2 })
    const all = ask('shared', { facets: ['host', 'field:kind'], group: 'none' })
    assert.deepEqual(counts(all, 'host'), { 'a.test': 1, 'b.test': 2, 'c.test': 1 })
    assert.deepEqual(counts(all, 'field:kind'), { x: 2, y: 2 })
  })

  it('of any field is that of the fields that most hits have and that bring some together', () => {
    collection.add(
      Array.from({ length: 50 }, (_, i) =>
        page(`a.test/${i}`, i < 30 ? 'x' : 'y', {
          fields: {
            isbn: `n${i}`,
            level: i % 2 ? 'easy' : 'hard',
            topic: `code/t${i % 15}/p${i}`,
            'a/b': 'c',
            ...(i === 0 ? { rare: 'r' } : {}),
            ...(i >= 30 ? { elsewhere: 'e' } : {}),
          },
        }),
      ),
    )
    const { facets } = ask('x', { facets: ['field:*', 'lang', 'field:level'] })
    assert.deepEqual(Object.keys(facets).sort(), [
      'field:level',
      'field:rare',
      'field:topic',
      'lang',
    ])
    assert.deepEqual(
      facets['field:level'],
      ask('x', { facets: ['field:level'] }).facets['field:level'],
    )
    const several = Array.from({ length: 9 }, (_, i): [string, string] => [`f${i}`, 'v'])
    collection.add([page('b.test/1', 'z', { fields: Object.fromEntries(several) })])
    assert.equal(Object.keys(ask('z', { facets: ['field:*'] }).facets).length, 6)
    assert.deepEqual(ask('nothing', { facets: ['field:*'] }).facets, {})
  })

  it('of dates has days, months or years as the dates are spread, the newest first', () => {
    const dated = (...dates: string[]): void =>
      collection.add(dates.map((date, i) => page(`a.test/${date}${i}`, 'x', { publishedAt: date })))
    dated('2026-11-30', '2026-11-29', '2026-11-29')
    const entries = (facet: string) =>
      (ask('x', { facets: [facet] }).facets[facet] ?? []).map((v) => [v.value, v.count])
    assert.deepEqual(entries('date'), [
      ['2026-11-30', 1],
      ['2026-11-29', 2],
    ])
    dated('2026-01-31', '2026-02-01')
    assert.deepEqual(entries('date'), [
      ['2026-11', 3],
      ['2026-02', 1],
      ['2026-01', 1],
    ])
    dated('1969-12-31', '2026-02-01')
    assert.deepEqual(entries('date'), [
      ['2026', 5],
      ['1969', 1],
    ])
    assert.deepEqual(entries('date:day').slice(-1), [['1969-12-31', 1]])
    assert.deepEqual(ask('x', { since: '2026-02-01', until: '2026-02-28' }).total.value, 1)
  })

  it('of a tree has the children of a node, with all that is below them', () => {
    const points = (url: string, ...values: string[]): Page =>
      page(url, '题目 word', { fields: { 知识点: values, 难度: 3 } })
    collection.add([
      points('a.test/1', '程序设计/循环/for', '程序设计/循环/while'),
      points('a.test/2', '程序设计/循环/for', '数学/代数'),
      points('a.test/3', '程序设计/递归'),
      points('a.test/4', '程序设计'),
      points('a.test/5', '程序设计2/循环'),
    ])
    const below = (facet: string) => ask('word', { facets: [facet] }).facets[facet] ?? []
    assert.deepEqual(below('field:知识点'), [
      { value: '程序设计', count: 4, has_children: true },
      { value: '数学', count: 1, has_children: true },
      { value: '程序设计2', count: 1, has_children: true },
    ])
    assert.deepEqual(below('field:知识点/程序设计'), [
      { value: '程序设计/循环', count: 2, has_children: true },
      { value: '程序设计/递归', count: 1, has_children: false },
    ])
    assert.deepEqual(below('field:知识点/程序设计/循环'), [
      { value: '程序设计/循环/for', count: 2, has_children: false },
      { value: '程序设计/循环/while', count: 1, has_children: false },
    ])
    assert.deepEqual(below('field:知识点/程序设计/循环/for'), [])
    assert.deepEqual(below('field:难度'), [{ value: '3', count: 5, has_children: false }])
    assert.deepEqual(below('field:unknown'), [])
    assert.equal(ask('word', { fields: [value('知识点', '程序设计')] }).total.value, 4)
    assert.equal(ask('word', { fields: [value('知识点', '程序设计/循环')] }).total.value, 2)
  })

  it('takes values with a slash for what they are where few have one', () => {
    collection.add([
      page('a.test/1', 'x', { fields: { band: ['AC/DC', 'Queen'] } }),
      page('a.test/2', 'x', { fields: { band: ['AC/DC', 'Blur', 'Oasis'] } }),
    ])
    assert.equal(counts(ask('x', { facets: ['field:band'] }), 'field:band')['AC/DC'], 2)
  })

  it('of an unknown kind is refused', () => {
    assert.throws(() => ask('x', { facets: ['colour'] }), { code: 'invalid_parameter' })
  })

  it('equals, for every value, the total of the search with it as a filter', () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1e6)
    const random = createRandom(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const words = ['red', 'green', '循环', '数据库']
    const made: string[] = []
    for (let batch = 0; batch < 6; batch += 1) {
      const pages = Array.from({ length: 12 }, (_, i): Page => {
        const url = `https://h${Math.floor(random() * 4)}.test/${random() < 0.2 && made.length > 0 ? 'again' : `${batch}-${i}`}`
        const group = random() < 0.2 && made.length > 0 ? { groupOf: pick(made) } : {}
        const copy = !('groupOf' in group) && random() < 0.15 && batch > 0
        return {
          url,
          text: `${pick(words)} ${pick(words)} ${batch}`,
          lang: pick(['en', 'zh', 'fr']),
          publishedAt: pick(['2024-01-05', '2025-06-07', '2026-02-03']),
          fields: {
            tree: [pick(['a/b', 'a/c', 'd/e', 'a/b/f']), pick(['a/b', 'd/e'])],
            n: Math.floor(random() * 5),
          },
          ...group,
          ...(copy ? { copyOf: `https://h0.test/0-0` } : {}),
        }
      })
      const distinct = [...new Map(pages.map((one) => [one.url, one])).values()].filter(
        ({ url }) => batch === 0 || url !== 'https://h0.test/0-0',
      )
      collection.add(
        batch === 0 ? [page('h0.test/0-0', 'red green 循环'), ...distinct.slice(1)] : distinct,
      )
      made.push(...distinct.filter(({ copyOf }) => !copyOf).map(({ url }) => url))
      if (random() < 0.5) collection.settle()
    }
    for (const group of ['duplicate', 'none'] as const)
      for (const q of ['red', '循环', 'red green']) {
        const facets = ['host', 'lang', 'field:n', 'field:tree', 'field:tree/a']
        const base = { group, match: 'any' as const, facets, facetLimit: 100 }
        const answer = ask(q, base)
        const expected = (more: Partial<SearchRequest>): number =>
          ask(q, { ...base, ...more, facets: [] }).total.value
        const told = (facet: string): string => `seed ${seed}, ${group}, ${q}, ${facet}`
        assert.ok(answer.total.value > 0, told(''))
        for (const [name, count] of Object.entries(counts(answer, 'host')))
          assert.equal(count, expected({ site: [name] }), told(name))
        for (const [name, count] of Object.entries(counts(answer, 'lang')))
          assert.equal(count, expected({ lang: [name] }), told(name))
        for (const [name, count] of Object.entries(counts(answer, 'field:n')))
          assert.equal(count, expected({ fields: [value('n', name)] }), told(name))
        for (const facet of ['field:tree', 'field:tree/a'])
          for (const [name, count] of Object.entries(counts(answer, facet)))
            assert.equal(count, expected({ fields: [value('tree', name)] }), told(name))
      }
  })
})

describe('a filter on fields', () => {
  it('takes values of one field as alternatives, and fields together', () => {
    collection.add([
      page('a.test/1', 'x', { fields: { colour: ['red', 'blue'], size: 1 } }),
      page('a.test/2', 'x', { fields: { colour: 'green', size: 2 } }),
      page('a.test/3', 'x'),
    ])
    const total = (...fields: SearchRequest['fields']): number => ask('x', { fields }).total.value
    assert.equal(total(value('colour', 'red')), 1)
    assert.equal(total(value('colour', 'RED')), 1)
    assert.equal(total(value('colour', 'red', 'green')), 2)
    assert.equal(total(value('colour', 'red', 'green'), value('size', '2')), 1)
    assert.equal(total(value('colour', 'pink')), 0)
    assert.equal(total(value('nothing', 'x')), 0)
    assert.equal(total({ ...value('colour', 'red'), isExcluded: true }), 2)
  })

  it('compares numbers as numbers, and dates as the texts they are', () => {
    collection.add(
      [9, 10, 100].map((price) =>
        page(`a.test/${price}`, 'x', {
          fields: { price, day: `2026-01-${price === 9 ? '09' : '10'}` },
        }),
      ),
    )
    const total = (...fields: SearchRequest['fields']): number => ask('x', { fields }).total.value
    assert.equal(total(range('price', '10', null)), 2)
    assert.equal(total(range('price', '9.5', '99')), 1)
    assert.equal(total(range('price', null, '9')), 1)
    assert.equal(total(range('day', '2026-01-10', null)), 2)
    assert.equal(total(range('day', '2026-01-01', '2026-01-09')), 1)
  })

  it('follows a page that changes', () => {
    collection.add([page('a.test/1', 'x', { fields: { state: 'open' } })])
    assert.equal(ask('x', { fields: [value('state', 'open')] }).total.value, 1)
    collection.add([page('a.test/1', 'x', { fields: { state: 'closed' } })])
    assert.equal(ask('x', { fields: [value('state', 'open')] }).total.value, 0)
    assert.deepEqual(counts(ask('x', { facets: ['field:state'] }), 'field:state'), { closed: 1 })
  })
})
