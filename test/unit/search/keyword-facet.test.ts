/** Keywords of what was found: counted, filtered by in every spelling, following documents as they change, and never a hidden word. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { SearchAnswer, SearchRequest } from '../../../src/search/answer.ts'
import { KeywordLists } from '../../../src/search/keyword-lists.ts'
import { checkStore } from '../../../src/store/check.ts'
import { packWords } from '../../../src/text/word-list.ts'
import { openWords } from '../../../src/text/word-match.ts'
import { createRandom } from '../../site/words.ts'
import { type Collection, createCollection, type Page, searchRequest } from './collection.ts'

let collection: Collection
beforeEach(() => {
  collection = createCollection()
})
afterEach(() => {
  const wrong = checkStore(collection.store.db).filter((what) => what.includes('keyword'))
  assert.deepEqual(wrong, [])
  collection.close()
})
const page = (path: string, keywords: readonly string[], more: Partial<Page> = {}): Page => ({
  url: `https://a.test/${path}`,
  text: 'apple',
  keywords,
  ...more,
})
const ask = (q: string, more: Partial<SearchRequest> = {}): SearchAnswer =>
  collection.searcher.answer(searchRequest(q, more), performance.now() + 10_000)
const counted = (q = 'apple', more: Partial<SearchRequest> = {}): Record<string, number> =>
  Object.fromEntries(
    (ask(q, { facets: ['keyword'], ...more }).facets['keyword'] ?? []).map(({ value, count }) => [
      value,
      count,
    ]),
  )
const found = (q: string, keyword: readonly string[] = []): number =>
  ask(q, { keyword }).total.value

describe('the keyword facet', () => {
  it('counts each keyword over all hits, spellings of one word as one, as it is shortest spelled', () => {
    collection.add([
      page('1', ['Search Engines', 'crawler']),
      page('2', ['search engine', 'Crawler']),
      page('3', ['茶園']),
      page('4', ['茶园', 'crawlers'], { lang: 'zh' }),
      page('5', ['elsewhere'], { text: 'pear' }),
      page('6', []),
    ])
    assert.deepEqual(counted(), { crawler: 3, 'search engine': 2, 茶園: 2 })
    assert.deepEqual(counted('pear'), { elsewhere: 1 })
    assert.deepEqual(counted('apple', { limit: 1, lang: ['zh'] }), { 茶園: 1, crawler: 1 })
    assert.deepEqual(counted('nothing'), {})
  })

  it('says of each value how many hits the search with it as a further filter has', () => {
    const seed = Date.now() % 1e6
    const random = createRandom(seed)
    const names = ['red', 'green', 'blue', '茶园', 'search engine', 'node.js', 'c++']
    const some = (): string[] => names.filter(() => random() < 0.4)
    collection.add(
      Array.from({ length: 60 }, (_, i) =>
        page(String(i), some(), {
          text: i % 3 ? 'apple' : 'apple pear',
          ...(i % 5 === 4 ? { groupOf: `https://a.test/${i - 1}` } : {}),
          // An exact copy is of the group of its original.
          ...(i % 7 === 6 && i % 5 !== 4 && i % 5 !== 1
            ? { text: 'apple', copyOf: `https://a.test/${i - 2}` }
            : {}),
        }),
      ),
    )
    for (const more of [{}, { keyword: ['red'] }, { group: 'none' as const }, { lang: ['en'] }])
      for (const [word, count] of Object.entries(counted('apple', more))) {
        const keyword = [...(more.keyword ?? []), word]
        assert.equal(
          ask('apple', { ...more, keyword }).total.value,
          count,
          `${word} (seed ${seed})`,
        )
        const q = `apple ${keyword.map((one) => `keyword:"${one}"`).join(' ')}`
        assert.equal(ask(q, { ...more, keyword: [] }).total.value, count, `${q} (seed ${seed})`)
      }
  })

  it('chooses what tells about the hits, not what every page has', () => {
    const rest = Array.from({ length: 60 }, (_, i) =>
      page(`r${i}`, ['Site', `word${i}`], { text: 'pear' }),
    )
    const hits = Array.from({ length: 6 }, (_, i) =>
      page(`h${i}`, ['Site', 'Kerberos', ...(i < 2 ? ['realm'] : []), `own${i}`]),
    )
    collection.add([...rest, ...hits])
    assert.deepEqual(counted('apple', { facetLimit: 2 }), { Kerberos: 6, realm: 2 })
    // Few hits and many are counted in two ways; neither leaves anything behind for the next.
    collection.add([page('one', ['Site', 'lonely'], { text: 'plum' })])
    for (let again = 0; again < 2; again += 1) {
      assert.deepEqual(counted('plum'), { Site: 1, lonely: 1 })
      assert.equal(counted('pear OR apple', { facetLimit: 100 })['Site'], 66)
    }
  })

  it('is the same word in a query, excluded and in a group', () => {
    collection.add([page('1', ['red']), page('2', ['green']), page('3', ['red', 'green'])])
    assert.equal(found('apple keyword:Reds'), 2)
    assert.equal(found('keyword:red keyword:green'), 1)
    assert.equal(found('apple -keyword:red'), 1)
    assert.equal(found('apple (keyword:red OR keyword:green)'), 3)
    assert.equal(found('apple', ['red', 'green']), 1)
    assert.equal(found('', ['green']), 2)
    assert.equal(found('apple keyword:unknown'), 0)
    assert.equal(found('apple', ['unknown']), 0)
  })

  it('follows pages that change, go, and take the place of their original', () => {
    collection.add([page('1', ['red']), page('2', ['red'])])
    assert.deepEqual(counted(), { red: 2 })
    collection.add([page('2', ['green'], { title: 'changed' }), page('3', ['red', 'blue'])])
    assert.deepEqual(counted(), { red: 2, green: 1, blue: 1 })
    assert.equal(found('keyword:red'), 2)
    assert.equal(found('keyword:green'), 1)
    collection.remove('https://a.test/1')
    assert.deepEqual(counted(), { red: 1, green: 1, blue: 1 })
    collection.add([page('4', ['copy'], { copyOf: 'https://a.test/3' })])
    assert.equal(found('keyword:copy'), 1)
    collection.remove('https://a.test/3')
    collection.reopenWriter()
    assert.deepEqual(counted(), { green: 1, copy: 1 })
  })

  it('has no word that a list hides or masks', () => {
    collection.add([page('1', ['casino', 'red']), page('2', ['Casinos', 'red'])])
    const lists = [{ name: 'x', policy: 'unsuggested' as const, words: ['casino'], allowed: [] }]
    collection.searcher.hide(openWords(packWords(lists)))
    assert.deepEqual(counted(), { red: 2 })
    collection.searcher.hide(null)
    assert.deepEqual(counted(), { casino: 2, red: 2 })
    collection.store.transaction(() => collection.store.forgetKeyword('casinos'))
    assert.deepEqual(counted(), { red: 2 })
    assert.equal(found('keyword:casino'), 0)
    const kept = collection.store.db.prepare('SELECT * FROM keyword ORDER BY id').all()
    assert.doesNotMatch(JSON.stringify(kept), /casino/i)
    collection.add([page('3', ['casino'])])
    assert.deepEqual(counted(), { red: 2, casino: 1 })
  })

  it('takes fewer of a document where there are very many', () => {
    const all = Array.from({ length: 20 }, (_, i) => `word${i}`)
    collection.add([page('1', all)])
    const lists = new KeywordLists(collection.reader.db)
    const ofFirst = (): number[] => {
      lists.refresh()
      const ids: number[] = []
      lists.eachId(1, (id) => ids.push(id))
      return ids
    }
    assert.equal(ofFirst().length, 16)
    const insert = collection.store.db.prepare('INSERT INTO doc_keyword(docno, ids) VALUES(?, ?)')
    insert.run(1_500_000, Buffer.from([0, 0, 0, 3, 0, 0, 0, 4]))
    lists.forget()
    assert.deepEqual(ofFirst(), [1, 2, 3, 4, 5])
    assert.deepEqual(
      [lists.has(1_500_000, 4), lists.has(1_500_000, 5), lists.has(9, 4)],
      [true, false, false],
    )
    collection.store.db.exec('DELETE FROM doc_keyword WHERE docno = 1500000')
  })
})
