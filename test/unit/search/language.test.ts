/** The query language over made-up pages: what is found is what a look at every page finds. Hostile and odd input ends soon, without an error. */
import assert from 'node:assert'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createCollection, type Collection, type Page, searchRequest } from './collection.ts'

const seed = 20_261
/** mulberry32 */
function createRandom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
const random = createRandom(seed)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

/** Words that no stemmer changes and no list of stop words holds. */
const words = ['red', 'cat', 'dog', 'moon', 'java', 'node', 'zebra', 'kernel']
const han = ['食', '品', '安', '全', '招', '商', '公', '司']
/** Those that the dictionary has: others are words of their characters. */
const hanWords = ['食品', '安全', '招商', '公司']
const joints = [' ', ' ', ' ', ', ', '. ', '-', '，']

const pages = Array.from({ length: 150 }, (_, n): Page & { all: string } => {
  const title = `${pick(words)} ${pick(words)}`
  const parts = Array.from({ length: 3 + Math.floor(random() * 9) }, () =>
    random() < 0.6
      ? pick(words)
      : Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(han)).join(''),
  )
  const text = parts.map((part) => part + pick(joints)).join('')
  return { url: `https://h${n % 5}.example.com/p${n}`, title, text, all: `${title}\n${text}` }
})

/** The naive reading of a word or phrase: runs of letters between blanks, Han anywhere. */
function holds(page: { all: string }, phrase: string): boolean {
  const squeezed = (text: string): string => text.replace(/[^\p{L}\p{N}\n]+/gu, ' ').trim()
  return page.all
    .split('\n')
    .some((part) => new RegExp(`(?<![a-z])${squeezed(phrase)}(?![a-z])`, 'u').test(squeezed(part)))
}

type Tree = { q: string; test: (page: Page & { all: string }) => boolean }
const wordTree = (): Tree => {
  const word = random() < 0.7 ? pick(words) : pick(hanWords)
  return { q: word, test: (page) => holds(page, word) }
}
const phraseTree = (): Tree => {
  const phrase =
    random() < 0.5
      ? `${pick(words)} ${pick(words)}${random() < 0.3 ? ` ${pick(words)}` : ''}`
      : Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(han)).join('')
  return { q: `"${phrase}"`, test: (page) => holds(page, phrase) }
}
const siteTree = (): Tree => {
  const host = `h${Math.floor(random() * 5)}.example.com`
  // In a group, because of several outside of groups any will do.
  return { q: `(site:${host} | site:nowhere)`, test: ({ url }) => new URL(url).host === host }
}
const titleTree = (): Tree => {
  const word = pick(words)
  return { q: `intitle:${word}`, test: ({ title = '' }) => title.split(' ').includes(word) }
}
const urlTree = (): Tree => {
  const part = `/p${Math.floor(random() * 15)}`
  return { q: `inurl:${part}`, test: ({ url }) => url.includes(part) }
}
function makeTree(depth: number): Tree {
  const kind = random()
  if (depth === 0 || kind < 0.35)
    return pick([wordTree, wordTree, phraseTree, phraseTree, siteTree, titleTree, urlTree])()
  const a = makeTree(depth - 1)
  const b = makeTree(depth - 1)
  if (kind < 0.6) return { q: `(${a.q} ${b.q})`, test: (page) => a.test(page) && b.test(page) }
  if (kind < 0.85) return { q: `(${a.q} OR ${b.q})`, test: (page) => a.test(page) || b.test(page) }
  return { q: `-(${a.q} | ${b.q})`, test: (page) => !(a.test(page) || b.test(page)) }
}

const hostile: readonly string[] = [
  '('.repeat(2_048),
  '(a OR '.repeat(340),
  '"'.repeat(2_047),
  '«'.repeat(2_048),
  '-'.repeat(2_048),
  '-('.repeat(1_000),
  'a OR '.repeat(400),
  '|'.repeat(2_048),
  'w* '.repeat(600),
  '-w* '.repeat(500),
  '"red cat" '.repeat(200),
  '-"red cat" '.repeat(180),
  'inurl:h '.repeat(250),
  'intitle:red '.repeat(170),
  'site:a.com/b '.repeat(150),
  'field:a=1..2 '.repeat(150),
  'before:2026-01-01 after:2027 '.repeat(70),
  'related:x '.repeat(200),
  'a'.repeat(2_048),
  '食'.repeat(2_048),
  '食品 '.repeat(680),
  '*',
  '" "',
  '""',
  '-""',
  '()',
  'site:',
  'site:/',
  'site:"',
  'field:',
  'field:=',
  'field:a=',
  'field:a=..',
  'inurl:%',
  'inurl:\ud800',
  'before:9999-99-99',
  'lang:',
  'related:',
  'related:"https://h0.example.com/p0"',
  '\u0000\u0001\u{10ffff}\ud800',
  '\u202e\u2066\u200b',
  'a\u0301'.repeat(1_000),
  '𠀀𠀁 "𠀀𠀁" -𠀂',
  "' OR 1=1; DROP TABLE doc; --",
  '<script>alert(1)</script>',
  '%00 %2e%2e/ ..\\',
]

describe('the query language', () => {
  let collection: Collection
  before(() => {
    collection = createCollection()
    collection.add(pages)
    // One page is gone again: no condition may bring it back.
    collection.remove(pages[7]?.url ?? '')
  })
  after(() => collection.close())
  const ask = (q: string) =>
    collection.searcher.answer(
      searchRequest(q, { match: 'all', limit: 200, group: 'none' }),
      performance.now() + 20_000,
    )

  it(`finds what a look at every page finds (seed ${seed})`, () => {
    let found = 0
    for (let n = 0; n < 600; n += 1) {
      const tree = makeTree(3)
      const expected = pages.filter((page, i) => i !== 7 && tree.test(page)).map(({ url }) => url)
      const answer = ask(tree.q)
      assert.deepEqual(answer.hits.map(({ url }) => url).sort(), expected.sort(), tree.q)
      assert.deepEqual(answer.total, { value: expected.length, relation: 'eq' }, tree.q)
      found += expected.length
    }
    assert.ok(found > 600)
  })

  for (const q of hostile)
    it(`answers ${JSON.stringify(q.slice(0, 24))} (${q.length}) within a second`, () => {
      const startMs = performance.now()
      for (const match of ['auto', 'any'] as const)
        collection.searcher.answer(searchRequest(q, { match }), startMs + 10_000)
      assert.ok(performance.now() - startMs < 2_000)
    })

  it('answers any text within a second, and says what it left out', () => {
    const pieces =
      '" - ( ) OR | ： “ ” * site: field: intitle: inurl: before: 2026 red cat 食品 公 NOT ../ .. ='
    const piece = fc.constantFrom(' ', '\ud800', ...pieces.split(' '))
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 40 }),
        (parts) => {
          const startMs = performance.now()
          const q = parts.join('').slice(0, 2_048)
          collection.searcher.answer(searchRequest(q), startMs + 10_000)
          assert.ok(performance.now() - startMs < 1_000, q)
        },
      ),
      { numRuns: 300 },
    )
  })
})
