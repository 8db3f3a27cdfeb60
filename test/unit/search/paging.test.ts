/** Lists that are walked with cursors while the collection changes, and listings without words. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { SearchAnswer, SearchRequest } from '../../../src/search/answer.ts'
import { createSearcher } from '../../../src/search/search.ts'
import { createRandom } from '../../site/words.ts'
import {
  type Collection,
  createCollection,
  type Page,
  searchRequest,
  testAnalyzer,
} from './collection.ts'

const soon = (): number => performance.now() + 20_000
const page = (name: string, text: string, more: Partial<Page> = {}): Page => ({
  url: `https://example.com/${name}`,
  text,
  ...more,
})

let collection: Collection
beforeEach(() => {
  collection = createCollection()
})
afterEach(() => collection.close())
const ask = (q: string, more: Partial<SearchRequest> = {}): SearchAnswer =>
  collection.searcher.answer(searchRequest(q, more), soon())
const names = ({ hits }: SearchAnswer): string[] =>
  hits.map(({ url }) => new URL(url).pathname.slice(1))

/** All pages of a list; `between` may change the collection. */
function walk(q: string, more: Partial<SearchRequest>, between = (): void => {}): string[] {
  const found: string[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < 2_000; pages += 1) {
    const answer = ask(q, { ...more, cursor })
    found.push(...names(answer))
    cursor = answer.next_cursor
    if (cursor === null) return found
    between()
  }
  return assert.fail('the list never ends')
}
const orders = ['relevance', 'date', '-date', 'id', '-id', 'field:n', '-field:n']

describe('a cursor', () => {
  const fill = (count: number): string[] => {
    const pages = Array.from({ length: count }, (_, i) =>
      page(`p${i}`, `${'word '.repeat(1 + (i % 7))} filler ${i}`, {
        publishedAt: `2026-0${1 + (i % 9)}-01`,
        fields: i % 4 === 0 ? {} : { n: (i * 7) % 13 },
      }),
    )
    collection.add(pages)
    return pages.map(({ url }) => new URL(url).pathname.slice(1))
  }

  for (const sort of orders)
    it(`goes on where the page before ended, in the order of the whole list: ${sort}`, () => {
      fill(95)
      for (const q of ['word', '']) {
        const whole = [
          ...names(ask(q, { sort, limit: 50 })),
          ...names(ask(q, { sort, limit: 50, offset: 50 })),
        ]
        assert.equal(whole.length, 95)
        assert.deepEqual(walk(q, { sort, limit: 9 }), whole)
      }
    })

  it('can begin at an offset, be used twice, and tells where it stands', () => {
    fill(40)
    const whole = names(ask('word', { limit: 40 }))
    const { next_cursor: first } = ask('word', { limit: 5, offset: 10 })
    const second = ask('word', { limit: 5, cursor: first })
    assert.deepEqual(names(second), whole.slice(15, 20))
    assert.equal(second.offset, 15)
    assert.deepEqual(second.total, { value: 40, relation: 'eq' })
    assert.deepEqual(names(ask('word', { limit: 5, cursor: first })), whole.slice(15, 20))
    const third = ask('word', { limit: 7, cursor: second.next_cursor })
    assert.deepEqual(names(third), whole.slice(20, 27))
    assert.deepEqual(
      names(ask('word', { limit: 7, cursor: second.next_cursor })),
      whole.slice(20, 27),
    )
  })

  it('is null with the last hit', () => {
    fill(10)
    assert.equal(ask('word', { limit: 10 }).next_cursor, null)
    const { next_cursor: cursor } = ask('word', { limit: 5 })
    const last = ask('word', { limit: 5, cursor })
    assert.equal(last.hits.length, 5)
    assert.equal(last.next_cursor, null)
  })

  it('outlives the thread that gave it', () => {
    fill(30)
    const whole = names(ask('word', { limit: 30 }))
    const first = ask('word', { limit: 6 })
    const second = ask('word', { limit: 6, cursor: first.next_cursor })
    const { reader } = collection
    collection.settle()
    const again = createSearcher(reader, testAnalyzer())
    const third = again.answer(
      searchRequest('word', { limit: 6, cursor: second.next_cursor }),
      soon(),
    )
    assert.deepEqual(names(third), whole.slice(12, 18))
  })

  it('of another question, another directory, or made up, is refused', () => {
    fill(30)
    const { next_cursor: cursor } = ask('word', { limit: 5 })
    assert.ok(cursor)
    const refused = { code: 'invalid_cursor' }
    assert.throws(() => ask('filler', { cursor }), refused)
    assert.throws(() => ask('word', { cursor, sort: 'date' }), refused)
    assert.throws(() => ask('word', { cursor, site: ['example.com'] }), refused)
    const bytes = Buffer.from(cursor, 'base64url')
    for (let at = 0; at < bytes.length; at += 1) {
      const forged = Buffer.from(bytes)
      forged[at] = (forged[at] as number) ^ 1
      assert.throws(() => ask('word', { cursor: forged.toString('base64url') }), refused)
    }
    for (const made of ['', 'x', 'AAAA', `${cursor}A`, cursor.slice(0, -1), '%', 'é'.repeat(9_000)])
      assert.throws(() => ask('word', { cursor: made }), refused)
    const other = createCollection()
    try {
      other.add(Array.from({ length: 30 }, (_, i) => page(`p${i}`, 'word')))
      assert.throws(
        () => other.searcher.answer(searchRequest('word', { limit: 5, cursor }), soon()),
        refused,
      )
    } finally {
      other.close()
    }
  })

  it('shows each hit once and loses none, while pages come, change and go', () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1e6)
    const random = createRandom(seed)
    for (const sort of orders)
      for (const [q, collapse] of [
        ['word', null],
        ['', null],
        ['word', 'site'],
      ] as const) {
        collection.close()
        collection = createCollection()
        const there = new Set(fill(60))
        collection.add([
          page('exact', 'word filler 3', { copyOf: 'https://example.com/p3' }),
          page('near', 'word like', { groupOf: 'https://example.com/p4' }),
        ])
        const gone = new Set<string>()
        let made = 0
        let pages = 0
        const limit = 1 + Math.floor(random() * 9)
        const found = walk(q, { sort, limit, collapse }, () => {
          pages += 1
          const victim = `p${Math.floor(random() * 60)}`
          const kind = random()
          if (kind < 0.3) {
            collection.add([
              page(`new${made++}`, 'word word word new', { publishedAt: '2030-01-01' }),
            ])
          } else if (kind < 0.6 && !gone.has(victim) && victim !== 'p3' && victim !== 'p4') {
            // Now the best there is, or no longer found at all.
            // What fits no more before the second page is asked for was never on the list.
            const text = random() < 0.5 || pages === 1 ? 'word '.repeat(9) : 'changed'
            collection.add([page(victim, `${text} ${made++}`, { publishedAt: '2031-01-01' })])
          } else if (kind < 0.7 && victim !== 'p3' && victim !== 'p4') {
            collection.remove(`https://example.com/${victim}`)
            gone.add(victim)
          } else if (kind < 0.8) collection.settle()
        })
        const told = `seed ${seed}, ${sort}, "${q}", ${collapse}`
        assert.equal(new Set(found).size, found.length, `twice: ${told}`)
        if (collapse === 'site') {
          assert.equal(found.length, 1, told)
          continue
        }
        const lost = [...there].filter((name) => !gone.has(name) && !found.includes(name))
        // Which of a group stands for it may change.
        const stands: Record<string, string> = { p3: 'exact', p4: 'near' }
        assert.deepEqual(
          lost.filter((name) => !found.includes(stands[name] ?? '')),
          [],
          told,
        )
      }
  })

  it('walks far, each page in the time of the first', () => {
    const pages = Array.from({ length: 2_500 }, (_, i) => page(`p${i}`, `word ${i % 50}`))
    for (let i = 0; i < pages.length; i += 500) collection.add(pages.slice(i, i + 500))
    const found = walk('', { sort: 'id', limit: 50, group: 'none' })
    assert.deepEqual(
      found,
      Array.from({ length: 2_500 }, (_, i) => `p${i}`),
    )
    assert.equal(new Set(walk('word', { limit: 50 })).size, 2_500)
  })
})

describe('a listing', () => {
  it('has everything that fits, and counts it', () => {
    collection.add([
      page('a', 'x', { lang: 'en', fields: { n: 1 } }),
      page('b', '', { lang: 'zh', title: '标题' }),
      page('c', 'y', { lang: 'en', fields: { n: 2 } }),
    ])
    assert.equal(ask('').total.value, 3)
    assert.deepEqual(names(ask('', { lang: ['en'], sort: 'id' })), ['a', 'c'])
    assert.deepEqual(names(ask('lang:zh')), ['b'])
    assert.deepEqual(names(ask('', { sort: '-field:n' })), ['c', 'a', 'b'])
    assert.deepEqual(names(ask('', { sort: 'field:n' })), ['a', 'c', 'b'])
    assert.equal(ask('!!!').total.value, 0)
    const facets = ask('', { facets: ['lang'] }).facets['lang'] ?? []
    assert.deepEqual(
      facets.map(({ value, count }) => [value, count]),
      [
        ['en', 2],
        ['zh', 1],
      ],
    )
    assert.throws(() => ask('', { sort: 'colour' }), { code: 'invalid_parameter' })
  })
})

describe('one hit for each site', () => {
  it('says how many more each site has', () => {
    collection.add([
      ...[1, 2, 3].map((n) => ({ url: `https://a.test/${n}`, text: `word ${n}` })),
      { url: 'https://b.test/1', text: 'word word word' },
    ])
    const answer = ask('word', { collapse: 'site' })
    assert.deepEqual(
      answer.hits.map(({ site, more_from_site: more }) => `${site} ${more}`).sort(),
      ['a.test 2', 'b.test 0'],
    )
    assert.equal(answer.total.value, 4)
    assert.deepEqual(new Set(ask('word').hits.map((hit) => hit.more_from_site)), new Set([null]))
  })
})
