/** The page of results as a tool: what was chosen stays chosen in every link, and is taken away one by one. No scripts. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { documentOf, startServer } from './ports.ts'
import type { Started } from './ports.ts'

let server: Started
before(async () => {
  const stones = Array.from({ length: 25 }, (_, i) =>
    documentOf({ id: `stone${i}`, title: `Stone ${i}`, text: 'A stone.' }),
  )
  server = await startServer(stones)
})
after(() => server.close())
afterEach(() => {
  server.search.facets = {}
})

const load = async (address: string): Promise<string> => (await fetch(server.url + address)).text()

type Link = { label: string; parameters: URLSearchParams }
const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
/** Links to the search itself. */
const linksOf = (page: string): Link[] =>
  [...page.matchAll(/<a\b[^>]*?href="\.\/search\?([^"]*)"[^>]*>(.*?)<\/a\s*>/gs)].map(
    ([, query = '', label = '']) => ({
      label: plain(label),
      parameters: new URLSearchParams(unescaped(query)),
    }),
  )
function linkOf(page: string, label: RegExp): URLSearchParams {
  const found = linksOf(page).find((link) => label.test(link.label))
  assert.ok(
    found,
    `${String(label)} is none of ${linksOf(page)
      .map((link) => link.label)
      .join()}`,
  )
  return found.parameters
}
const value = (text: string, count = 2, has_children = false) => ({
  value: text,
  count,
  has_children,
})

/** All that a search can be told, with a value that is not the default. */
const wishes = [
  ['q', 'stone'],
  ['site', 'stone1'],
  ['site', 'stone2'],
  ['-site', 'b.example'],
  ['lang', 'en'],
  ['type', 'application/pdf'],
  ['keyword', 'search engine'],
  ['keyword', '茶园'],
  ['field.topic', '程序设计/循环'],
  ['field.a b&c', 'x=1'],
  ['field.price.gte', '10'],
  ['field.price.lte', '20'],
  ['facet', 'field:price'],
  ['facet_limit', '5'],
  ['sort', '-field:price'],
  ['match', 'any'],
  ['since', '2020-01-01'],
  ['until', '2026-11-30'],
  ['group', 'none'],
  ['collapse', 'site'],
  ['limit', '3'],
  ['snippet', '100'],
] as [string, string][]
const pairs = (parameters: URLSearchParams): string[] => [...parameters].map(String).sort()
const wanted = pairs(new URLSearchParams(wishes))
const address = `/search?${new URLSearchParams(wishes)}`

describe('A page of results', () => {
  it('keeps every parameter in the links that go on', async () => {
    const page = await load(address)
    const next = linkOf(page, /^Next$/)
    assert.equal(next.get('offset'), '3')
    next.delete('offset')
    assert.deepEqual(pairs(next), wanted)
    assert.deepEqual(pairs(linkOf(await load(`${address}&offset=3`), /^Previous$/)), wanted)
  })

  it('keeps every parameter beside other words', async () => {
    const page = await load(`${address}&offset=3`)
    const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = '', text = '']): [string, string] => [unescaped(name), unescaped(text)],
    )
    assert.deepEqual(pairs(new URLSearchParams([['q', 'stone'], ...fields])), wanted)
  })

  it('asks the search for what its address says', async () => {
    await load(address)
    const first = server.search.asked
    await load(`/search?${linkOf(await load(address), /^Next$/)}`)
    assert.deepEqual({ ...server.search.asked, offset: 0 }, first)
  })

  it('takes each filter away alone', async () => {
    const page = await load(address)
    const chips: [RegExp, string[]][] = [
      [/^Remove site:stone2 ×$/, ['site,stone2']],
      [/^Remove -site:b.example ×$/, ['-site,b.example']],
      [/^Remove English ×$/, ['lang,en']],
      [/^Remove PDF ×$/, ['type,application/pdf']],
      [/^Remove Keyword: search engine ×$/, ['keyword,search engine']],
      [/^Remove topic: 程序设计\/循环 ×$/, ['field.topic,程序设计/循环']],
      [/^Remove price: 10 – 20 ×$/, ['field.price.gte,10', 'field.price.lte,20']],
      [/^Remove 2020-01-01 – 2026-11-30 ×$/, ['since,2020-01-01', 'until,2026-11-30']],
    ]
    for (const [label, gone] of chips)
      assert.deepEqual(
        pairs(linkOf(page, label)),
        wanted.filter((pair) => !gone.includes(pair)),
      )
  })

  it('lists what fits the filters where there are no words', async () => {
    const page = await load('/search?q=&field.topic=x')
    assert.match(page, /<h1 class="sr">All pages that fit the filters<\/h1>/)
    assert.match(page, /25 pages/)
    assert.equal(linkOf(page, /^Next$/).get('field.topic'), 'x')
    assert.match(await load('/search?q='), /Type some words|words/i)
  })

  it('leads to more of a site and to similar pages', async () => {
    const page = await load('/search?q=stone&collapse=site&lang=en')
    const more = linkOf(page, /^More from this site$/)
    assert.deepEqual(pairs(more), ['lang,en', 'q,stone', 'site,stone0.example'])
    assert.equal(linkOf(page, /^Similar$/).get('q'), 'related:stone0')
  })

  it('says what to leave out where nothing was found, with what is found then', async () => {
    const page = await load('/search?q=zzz+yyy&site=stone1&sort=date')
    const link = (label: RegExp) => pairs(linkOf(page, label))
    assert.deepEqual(link(/Leave out “zzz”/), ['q,yyy', 'site,stone1', 'sort,date'])
    assert.deepEqual(link(/^Search without site:stone1$/), ['q,zzz yyy', 'sort,date'])
    assert.match(plain(page), /Search without site:stone1 7 pages/)
  })
})

describe('Facets of a page', () => {
  it('narrow the search and keep the rest', async () => {
    server.search.facets = {
      lang: [value('en', 20), value('zh', 5), value('und', 2)],
      type: [value('text/html', 20), value('application/pdf', 5)],
      date: [value('2026-11', 20), value('2026-10', 5)],
      'field:level': [value('easy', 1200), value('hard', 5)],
    }
    const page = await load('/search?q=stone&sort=date')
    const rest = ['q,stone', 'sort,date']
    const cases: [RegExp, string[]][] = [
      [/^stone1.example 1$/, ['site,stone1.example']],
      [/^Chinese 5$/, ['lang,zh']],
      [/^unknown 2$/, ['lang,und']],
      [/^PDF 5$/, ['type,application/pdf']],
      [/^2026-10 5$/, ['since,2026-10', 'until,2026-10']],
      [/^easy 1,200$/, ['field.level,easy']],
    ]
    for (const [label, more] of cases)
      assert.deepEqual(pairs(linkOf(page, label)), [...rest, ...more].sort())
    const chinese = await load('/search?q=stone&ui=zh-CN')
    assert.match(plain(chinese), /缩小范围.*网站.*语言.*英语 20 中文 5.*level.*类型.*日期/)
  })

  it('of keywords narrow further with each, and leave out what tells nothing', async () => {
    server.search.facets = {
      keyword: [value('every hit', 25), value('茶园', 9), value('engine', 3), value('one hit', 1)],
    }
    const page = await load('/search?q=stone&keyword=red')
    assert.ok(server.search.asked?.facets.includes('keyword'))
    assert.deepEqual(server.search.asked?.keyword, ['red'])
    assert.deepEqual(pairs(linkOf(page, /^茶园 9$/)), ['keyword,red', 'keyword,茶园', 'q,stone'])
    assert.doesNotMatch(plain(page), /every hit 25|one hit 1/)
    assert.match(plain(await load('/search?q=stone&ui=zh-CN&keyword=茶园')), /关键词：茶园.*关键词/)
    server.search.facets = { keyword: [value('茶园', 9), value('every hit', 25)] }
    assert.doesNotMatch(await load('/search?q=stone'), /<h2>Keyword<\/h2>/)
  })

  it('open a tree one level at a time, with the way back', async () => {
    server.search.facets = {
      'field:topic': [value('code', 9, true), value('art', 3)],
      'field:topic/code/loop': [value('code/loop/for', 4), value('code/loop/while', 2)],
    }
    const roots = await load('/search?q=stone')
    assert.equal(linkOf(roots, /^code 9$/).get('field.topic'), 'code')
    const page = await load('/search?q=stone&field.topic=code/loop')
    assert.ok(server.search.asked?.facets.includes('field:topic/code/loop'))
    assert.equal(linkOf(page, /^for 4$/).get('field.topic'), 'code/loop/for')
    assert.equal(linkOf(page, /^code$/).get('field.topic'), 'code')
    assert.equal(linkOf(page, /^All$/).get('field.topic'), null)
    assert.doesNotMatch(plain(page), /art 3/)
    assert.match(page, /<span aria-current="true">loop<\/span>/)
  })

  it('leave out what is no choice', async () => {
    const each = Array.from({ length: 9 }, (_, i) => value(`number ${i}`, 1))
    server.search.facets = {
      lang: [value('en')],
      'field:isbn': each,
      date: Array.from({ length: 9 }, (_, i) => value(`2026-0${i + 1}`, 1)),
      'field:note': [value('x'.repeat(81)), value('y'.repeat(81))],
    }
    const page = await load('/search?q=stone')
    assert.doesNotMatch(page, /<h2>(Language|Date|isbn|note)<\/h2>/)
  })

  it('are text, whatever a field is called or says', async () => {
    const attack = '"><script>alert(1)</script>'
    server.search.facets = {
      lang: [value(attack), value('en')],
      type: [value(attack), value('__proto__')],
      [`field:${attack.replace('/', '')}`]: [value(attack), value('b')],
      'field:__proto__': [value('a'), value('b')],
    }
    const found = await load(`/search?q=stone&${new URLSearchParams({ 'field.a': attack })}`)
    for (const page of [
      found,
      await load(`/search?${new URLSearchParams({ q: attack, type: attack })}`),
    ]) {
      assert.doesNotMatch(page, /<script>/)
      assert.match(page, /&lt;script&gt;/)
    }
  })
})
