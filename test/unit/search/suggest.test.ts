/** Suggestions: what was asked often, words and titles, by characters and by how they are read. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { findReading, readableOf, typedReading } from '../../../src/search/readings.ts'
import {
  askedQueriesMax,
  forgetQueries,
  frequentQueries,
  rememberQueries,
} from '../../../src/store/asked-queries.ts'
import { type Collection, createCollection } from './collection.ts'

let collection: Collection
beforeEach(() => {
  collection = createCollection()
})
afterEach(() => collection.close())
const suggest = (q: string, limit = 8) => collection.searcher.suggest(q, limit).suggestions
const texts = (q: string, limit = 8): string[] => suggest(q, limit).map(({ text }) => text)
const titled = (...titles: string[]): void =>
  collection.add(
    titles.map((title, i) => ({ url: `https://a.test/${title}${i}`, title, text: title })),
  )
const asked = (text: string, count: number) => ({ folded: text.toLowerCase(), text, count })

describe('suggestions', () => {
  const titles = ['食品安全监督抽检', '实验室安全手册', '循环语句 for 的用法', 'Stones of ice']
  const read = [
    ['食', '食品安全监督抽检'],
    ['安全', '食品安全监督抽检'],
    ['shipin', '食品安全监督抽检'],
    ['ship', '食品安全监督抽检'],
    ['shi pin an', '食品安全监督抽检'],
    ["shi'pin", '食品安全监督抽检'],
    ['spaq', '食品安全监督抽检'],
    ['SPAQ', '食品安全监督抽检'],
    ['sysaq', '实验室安全手册'],
    ['xhyj', '循环语句 for 的用法'],
    ['sto', 'Stones of ice'],
  ] as const
  for (const [typed, title] of read)
    it(`for ${typed} have ${title}`, () => {
      titled(...titles)
      assert.ok(texts(typed).includes(title), texts(typed).join())
    })

  it('have the words that are read so, with their type', () => {
    titled(...titles)
    const found = suggest('shipin')
    assert.ok(
      found.some(({ text, type, count }) => text === '食品' && type === 'term' && count === 1),
      JSON.stringify(found),
    )
    assert.deepEqual(texts('hipin'), [])
  })

  it('have nothing twice and nothing that is typed already', () => {
    titled('Stones', 'stones', 'ＳＴＯＮＥＳ', 'Stones and more')
    rememberQueries(collection.store.db, [asked('stones', 5), asked('STONES and more', 4)], 1)
    const found = texts('ston').map((text) => text.normalize('NFKC').toLowerCase())
    assert.equal(new Set(found).size, found.length, found.join())
    assert.ok(!texts('stones').some((text) => text.toLowerCase() === 'stones'))
  })

  it('begin with what was asked often, but not once or twice', () => {
    titled('Stones of ice', '食品安全监督抽检')
    rememberQueries(
      collection.store.db,
      [
        asked('stone circles', 3),
        asked('stone age', 9),
        asked('stone of one person', 2),
        asked('食品召回', 4),
      ],
      1,
    )
    assert.deepEqual(suggest('stone').slice(0, 2), [
      { text: 'stone age', type: 'query', count: 9 },
      { text: 'stone circles', type: 'query', count: 3 },
    ])
    assert.ok(!texts('stone', 20).includes('stone of one person'))
    for (const typed of ['食', 'shipinz', 'spzh'])
      assert.equal(suggest(typed)[0]?.text, '食品召回', typed)
  })

  it('lack a title that is gone, and have one that came later', () => {
    titled('食品安全监督抽检')
    assert.equal(texts('spaq').at(-1), '食品安全监督抽检')
    collection.remove('https://a.test/食品安全监督抽检0')
    titled('视频安全')
    assert.deepEqual(texts('spaq').includes('食品安全监督抽检'), false)
    assert.ok(texts('spaq').includes('视频安全'))
  })
})

describe('readings', () => {
  it('are found from the first letter of a character on, its last one may be unfinished', () => {
    const readable = readableOf('新版食品安全')
    const found = (typed: string) => findReading(readable, typed)
    assert.deepEqual(found('shipin'), [2, 4])
    assert.deepEqual(found('shipinan'), [2, 5])
    assert.deepEqual(found('shipinanq'), [2, 6])
    assert.deepEqual(found('spa'), [2, 5])
    assert.equal(found('hipin'), null)
    assert.equal(found('pq'), null)
    assert.equal(findReading(readableOf('for 循环'), 'for'), null)
  })
  it('are letters alone', () => {
    assert.equal(typedReading('Shi Pin'), 'shipin')
    for (const typed of ['s', '', 'a1', '食品', 'x'.repeat(41)])
      assert.equal(typedReading(typed), null)
  })
})

describe('the table of queries', () => {
  it('adds up, and drops the least asked beyond its bound', () => {
    const { db } = collection.store
    rememberQueries(
      db,
      Array.from({ length: askedQueriesMax }, (_, i) => asked(`q${i}`, 2)),
      1,
    )
    rememberQueries(db, [asked('q7', 3), asked('New', 1), asked('other', 4)], 2)
    const all = frequentQueries(db, 0, askedQueriesMax * 2)
    assert.equal(all.length, askedQueriesMax)
    assert.deepEqual(all.slice(0, 2), [asked('q7', 5), asked('other', 4)])
    assert.ok(!all.some(({ folded }) => folded === 'new'))
    forgetQueries(db)
    assert.deepEqual(frequentQueries(db, 0, 10), [])
  })
})
