/** Questions and answers over small collections: what must be found, and what must not. */
import assert from 'node:assert'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { SearchAnswer, SearchRequest } from '../../../src/search/answer.ts'
import { type Collection, createCollection, type Page, searchRequest } from './collection.ts'
import { packWords } from '../../../src/text/word-list.ts'
import { openWords } from '../../../src/text/word-match.ts'

const soon = (): number => performance.now() + 10_000
const page = (name: string, text: string, more: Partial<Page> = {}): Page => ({
  url: `https://${name}.example.com/`,
  text,
  ...more,
})
const names = ({ hits }: SearchAnswer): string[] =>
  hits.map(({ url }) => new URL(url).hostname.replace('.example.com', ''))

describe('a search', () => {
  let collection: Collection
  beforeEach(() => {
    collection = createCollection()
  })
  afterEach(() => collection.close())
  const ask = (q: string, more: Partial<SearchRequest> = {}): SearchAnswer =>
    collection.searcher.answer(searchRequest(q, more), soon())

  it('shows only pages that hold all of up to three words, when there is one', () => {
    collection.add([
      page('both', 'red apple'),
      page('red', 'red brick'),
      page('apple', 'green apple'),
    ])
    const answer = ask('red apple')
    assert.deepEqual(names(answer), ['both'])
    assert.equal(answer.query.matched, 'all')
    assert.deepEqual(answer.total, { value: 1, relation: 'eq' })
  })

  it('falls to partial matches otherwise, and says which words a page lacks', () => {
    collection.add([page('red', 'red brick'), page('apple', 'green apples')])
    const answer = ask('red apples')
    assert.deepEqual(names(answer).sort(), ['apple', 'red'])
    assert.equal(answer.query.matched, 'any')
    assert.deepEqual(answer.hits.find(({ site }) => site.startsWith('red'))?.missing, ['apples'])
    assert.deepEqual(ask('red apples', { match: 'all' }).hits, [])
  })

  it('takes a long run of Chinese for more than three words, but no list that was typed with blanks', () => {
    collection.add([page('all', '智能家居 品牌 排行'), page('some', '智能家居有哪些品牌')])
    assert.deepEqual(names(ask('智能家居品牌排行')), ['all', 'some'])
    assert.deepEqual(names(ask('智能家居 品牌 排行')), ['all'])
    assert.deepEqual(names(ask('家居品牌排行')), ['all'])
  })

  it('finds a page at once, and still after flush and restart of nothing', () => {
    collection.add([page('a', 'zebra crossing')])
    assert.deepEqual(names(ask('zebra')), ['a'])
    collection.settle()
    assert.deepEqual(names(ask('zebra')), ['a'])
    collection.remove('https://a.example.com/')
    assert.deepEqual(names(ask('zebra')), [])
  })

  it('shows the new text of a changed page only', () => {
    collection.add([page('a', 'old story')])
    collection.add([page('a', 'new story')])
    assert.deepEqual(names(ask('old')), [])
    assert.deepEqual(names(ask('new')), ['a'])
  })

  it('holds phrases by the stored text, whatever stands between the words of others', () => {
    collection.add([
      page('yes', 'the New-York pizza'),
      page('no', 'a new day in york'),
      page('part', 'new yorkers'),
    ])
    assert.deepEqual(names(ask('"new york"')), ['yes'])
    assert.deepEqual(names(ask('pizza -"new york"')), [])
    assert.deepEqual(names(ask('new -york')), ['part'])
  })

  it('finds words in the title only when asked to', () => {
    collection.add([
      page('title', 'x', { title: 'Install guide' }),
      page('text', 'an install guide'),
    ])
    assert.deepEqual(names(ask('intitle:install guide')), ['title'])
  })

  it('finds the pages below a folder of a site, as it is typed or pasted', () => {
    const paths = ['docs', 'docs/a', 'docs/a?b=1', 'docs2', 'Docs/a', '%E6%96%87%E6%A1%A3/a', '']
    collection.add(
      paths.map((path, i) => ({
        url: `https://f.example.com/${path}`,
        title: `${i}`,
        text: 'fold',
      })),
    )
    const found = (q: string): string =>
      ask(q)
        .hits.map(({ title }) => title)
        .toSorted()
        .join('')
    assert.equal(found('fold site:f.example.com/docs'), '012')
    assert.equal(found('site:https://F.example.com/docs/'), '012')
    assert.equal(found('fold site:example.com/Docs'), '4')
    assert.equal(found('fold site:f.example.com/文档'), '5')
    assert.equal(found('fold site:f.example.com/%e6%96%87%E6%A1%A3'), '5')
    assert.equal(found('fold site:f.example.com/docs2 site:f.example.com/Docs'), '34')
    assert.equal(found('fold -site:f.example.com/docs'), '3456')
    assert.equal(found('fold (site:f.example.com/docs/a OR site:g.example.com)'), '12')
    assert.equal(found('fold site:f.example.com/nothing'), '')
  })

  it('filters by site and its subdomains, language, type and time', () => {
    collection.add([
      page('a', 'word', { lang: 'en', publishedAt: '2026-01-05' }),
      page('a.b', 'word', { lang: 'zh-Hant', type: 'application/pdf', publishedAt: '2025-06-01' }),
    ])
    assert.equal(ask('word site:example.com').hits.length, 2)
    assert.deepEqual(names(ask('word site:b.example.com')), ['a.b'])
    assert.deepEqual(names(ask('word', { site: ['a.example.com'] })), ['a'])
    assert.deepEqual(names(ask('word -site:b.example.com')), ['a'])
    assert.equal(ask('word site:ample.com').hits.length, 0)
    assert.deepEqual(names(ask('word lang:zh')), ['a.b'])
    assert.deepEqual(names(ask('word filetype:pdf')), ['a.b'])
    assert.deepEqual(names(ask('word after:2026')), ['a'])
    assert.deepEqual(names(ask('word', { until: '2025-06-01' })), ['a.b'])
    assert.deepEqual(names(ask('word', { until: '2025-05-31' })), [])
    assert.deepEqual(names(ask('lang:zh')), ['a.b'])
    assert.throws(() => ask('word', { since: 'soon' }), { code: 'invalid_parameter' })
  })

  it('sorts by date both ways', () => {
    collection.add([
      page('old', 'word', { publishedAt: '2020-01-01' }),
      page('new', 'word word word', { publishedAt: '2026-01-01' }),
      page('mid', 'word', { publishedAt: '2023-01-01' }),
    ])
    assert.deepEqual(names(ask('word', { sort: 'date' })), ['new', 'mid', 'old'])
    assert.deepEqual(names(ask('word', { sort: '-date' })), ['old', 'mid', 'new'])
    assert.deepEqual(names(ask('word', { sort: 'date', offset: 1, limit: 1 })), ['mid'])
    assert.ok((ask('word', { sort: 'date' }).hits[0]?.score ?? 0) > 0)
  })

  it('folds a group of copies into one hit, and unfolds it on request', () => {
    const origin = 'https://one.example.com/'
    collection.add([
      page('one', 'shared story'),
      page('exact', 'shared story', { copyOf: origin }),
      page('near', 'shared story retold', { groupOf: origin }),
      page('other', 'shared nothing'),
    ])
    const folded = ask('shared')
    assert.equal(folded.total.value, 2)
    assert.equal(folded.hits.length, 2)
    const group = folded.hits.find(({ duplicates }) => duplicates.count > 0)
    assert.equal(group?.duplicates.count, 2)
    assert.equal(group?.duplicates.ids.length, 2)
    assert.deepEqual(
      group?.duplicates.items.map(({ url, id }) => [url, group.duplicates.ids.includes(id)]),
      ['exact', 'near'].map((name) => [`https://${name}.example.com/`, true]),
    )
    const all = ask('shared', { group: 'none' })
    assert.deepEqual(names(all).sort(), ['exact', 'near', 'one', 'other'])
    assert.equal(all.total.value, 4)
    assert.deepEqual(names(ask('story site:exact.example.com')), ['exact'])
    assert.deepEqual(names(ask('retold')), ['near'])
  })

  it('takes either of two words joined by OR', () => {
    collection.add([page('cat', 'cat food'), page('dog', 'dog food'), page('food', 'food')])
    assert.deepEqual(names(ask('cat OR dog food', { match: 'all' })).sort(), ['cat', 'dog'])
  })

  it('marks words in title and snippet by ranges', () => {
    collection.add([page('a', 'The zebra crosses.', { title: 'Zebras' })])
    const [hit] = ask('zebra').hits
    assert.deepEqual(hit?.title_ranges, [[0, 6]])
    const [start, end] = hit?.snippet.ranges[0] ?? [0, 0]
    assert.equal(hit?.snippet.text.slice(start, end), 'zebra')
  })

  it('offers a shorter query when nothing was found', () => {
    collection.add([page('a', 'red apple')])
    const { suggestions } = ask('red qwertz', { match: 'all' })
    assert.deepEqual(suggestions, [{ text: 'red', type: 'shorter' }])
  })

  it('refuses a query of more than 2,048 characters, and no shorter one', () => {
    assert.throws(() => ask('a'.repeat(2_049)), { code: 'query_too_long' })
    assert.equal(ask('a '.repeat(1_024)).total.value, 0)
    const many = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ')
    assert.match(ask(many).warnings.join(), /32/)
  })

  it('gives up when its time is over', () => {
    collection.add([page('a', 'word')])
    assert.throws(() => collection.searcher.answer(searchRequest('word'), performance.now() - 1), {
      code: 'overloaded',
    })
    assert.deepEqual(names(ask('word')), ['a'])
  })

  it('suggests nothing that a list hides, and what it only flags', () => {
    collection.add([
      page('a', 'red apple', { title: 'Gambling news' }),
      page('b', 'red pear', { title: 'Garden news' }),
    ])
    const { searcher } = collection
    const texts = () => searcher.suggest('ga', 8).suggestions.map(({ text }) => text)
    const list = { name: 'x', words: ['gambling', 'red'], allowed: [] }
    searcher.hide(openWords(packWords([{ ...list, policy: 'flag' }])))
    assert.ok(texts().includes('Gambling news') && texts().includes('gambling'))
    searcher.hide(openWords(packWords([{ ...list, policy: 'unsuggested' }])))
    assert.deepEqual(texts(), ['garden', 'Garden news'])
    assert.deepEqual(ask('red qwertz', { match: 'all' }).suggestions, [])
    searcher.hide(null)
    assert.ok(texts().includes('gambling'))
  })

  it('completes words and titles while typing, in both languages', () => {
    collection.add([
      page('a', 'text', { title: 'Computing machinery' }),
      page('b', 'text', { title: '食品安全抽检通报' }),
    ])
    const texts = (q: string) =>
      collection.searcher.suggest(q, 8).suggestions.map(({ text }) => text)
    assert.ok(texts('comp').includes('Computing machinery'))
    assert.ok(texts('comp').includes('computing'))
    assert.ok(texts('computing mach').includes('Computing machinery'))
    assert.ok(texts('食').includes('食品安全抽检通报'))
    assert.ok(texts('食品').includes('食品安全抽检通报'))
    assert.deepEqual(texts(''), [])
    assert.deepEqual(texts('zzz'), [])
  })
})

type GateLine = {
  id: string
  docs: { id: number; t: string }[]
  cases: {
    q: string
    must: number[]
    not?: number[]
    not_above?: Record<string, number>
    highlight?: string
  }[]
}
const gate = join(import.meta.dirname, '../../../../shared/zh-gate/cases.dev.jsonl')

describe(
  'Chinese and Japanese, as users of other engines asked for it',
  {
    skip: !existsSync(gate) && process.env.CI !== 'true' && 'the cases are not on this machine',
  },
  () => {
    const lines = existsSync(gate) ? readFileSync(gate, 'utf8').trim().split('\n') : []
    it('has cases', () => assert.ok(lines.length > 0))
    for (const { id, docs, cases } of lines.map((line) => JSON.parse(line) as GateLine))
      it(`passes ${id}`, () => {
        const collection = createCollection()
        try {
          collection.add(docs.map(({ id: n, t }) => page(`d${n}`, t, { lang: 'zh' })))
          for (const { q, must, not = [], not_above: notAbove = {}, highlight } of cases) {
            const { hits } = collection.searcher.answer(searchRequest(q), soon())
            const found = hits.map(({ site }) => Number(site.slice(1).split('.')[0]))
            for (const n of must) assert.ok(found.includes(n), `${q} finds ${n}`)
            for (const n of not) assert.ok(!found.includes(n), `${q} does not find ${n}`)
            for (const [low, high] of Object.entries(notAbove))
              if (found.includes(Number(low)))
                assert.ok(found.indexOf(Number(low)) > found.indexOf(high), `${low} below ${high}`)
            if (highlight)
              for (const { snippet } of hits)
                assert.ok(
                  snippet.ranges.some(([a, b]) => snippet.text.slice(a, b) === highlight),
                  `${q} marks ${highlight}`,
                )
          }
        } finally {
          collection.close()
        }
      })
  },
)
