/** Phrases over an index that lives: exactly the pages that hold them, whatever was added, changed, removed or merged, and read as little as can be. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import { RoaringSet } from '../../../src/lib/roaring.ts'
import { Attributes } from '../../../src/search/attributes.ts'
import { createConditions } from '../../../src/search/conditions.ts'
import { type DocnoSet, eachOf, setOf } from '../../../src/search/docno-set.ts'
import { createIndexReader } from '../../../src/search/flex.ts'
import { PhraseTexts } from '../../../src/search/phrase-texts.ts'
import { type Phrase, phraseOf } from '../../../src/text/phrase.ts'
import { createRandom, pick, type Random } from '../../site/words.ts'
import { type Collection, createCollection, type Page, searchRequest } from './collection.ts'

const words = ['red', 'cat', 'cats', 'runs', 'far', 'node.js', 'Käse', '食品', '安全']
const between = [' ', ' ', ' ', '. ', '-', '，']

const textOf = (random: Random): string =>
  Array.from(
    { length: 4 + Math.floor(random() * 12) },
    () => pick(random, words) + pick(random, between),
  ).join('')

/** Letters between anything else; Han may begin and end anywhere. */
function holds(text: string, phrase: string): boolean {
  const spaced = (all: string): string =>
    all
      .normalize('NFKC')
      .toLowerCase()
      .replace('käse', 'kase')
      .replaceAll('käse', 'kase')
      .replace(/[^\p{L}]+/gu, ' ')
      .trim()
  return new RegExp(`(?<![a-z])${spaced(phrase)}(?![a-z])`, 'u').test(spaced(text))
}

const docnosOf = (set: DocnoSet): number[] => {
  const docnos: number[] = []
  eachOf(set, (docno) => docnos.push(docno) > 0)
  return docnos
}
const soonMs = 60_000
const urlsOf = (collection: Collection, q: string): string[] => {
  const request = searchRequest(q, { limit: 50, group: 'none' })
  const { hits, total } = collection.searcher.answer(request, performance.now() + soonMs)
  assert.deepEqual(total, { value: hits.length, relation: 'eq' }, q)
  return hits.map(({ url }) => url).toSorted()
}

/** Some pages are new, some change, some go; batches of one page and of many. */
function live(collection: Collection, pages: Map<string, Page>, random: Random): void {
  const batch = new Map<string, Page>()
  for (let i = Math.floor(random() * 9); i >= 0; i -= 1) {
    const url = `http://a.example/${Math.floor(random() * 40)}`
    batch.set(url, {
      url,
      title: textOf(random).slice(0, 20),
      text: textOf(random),
      rest: textOf(random).slice(0, 15),
    })
  }
  collection.add([...batch.values()])
  for (const [url, page] of batch) pages.set(url, page)
  const gone = `http://a.example/${Math.floor(random() * 40)}`
  if (random() < 0.4) {
    collection.remove(gone)
    pages.delete(gone)
  }
  if (random() < 0.3) collection.settle()
}

describe('phrases', () => {
  for (const seed of [1, 2, Date.now() % 100_000])
    it(`are on exactly the pages that hold them, through batches, changes, removals and merges (seed ${seed})`, () => {
      const random = createRandom(seed)
      const collection = createCollection({ fanIn: 3, deadCountMin: 2 })
      const pages = new Map<string, Page>()
      let found = 0
      for (let turn = 0; turn < 24; turn += 1) {
        live(collection, pages, random)
        for (let asked = 0; asked < 8; asked += 1) {
          const many = 2 + Math.floor(random() * 2)
          const phrase = Array.from({ length: many }, () => pick(random, words)).join(' ')
          const naive = [...pages.values()]
            .filter(({ title = '', text = '', rest = '' }) =>
              [title, text, rest].some((part) => holds(part, phrase)),
            )
            .map(({ url }) => url)
          assert.deepEqual(urlsOf(collection, `"${phrase}"`), naive.toSorted(), `"${phrase}"`)
          found += naive.length
        }
      }
      assert.ok(found > 100, String(found))
      collection.close()
    })

  it('of two words ask no text of pages whose batch has the pair several times', () => {
    const collection = createCollection()
    collection.add(
      [1, 2, 3, 4].map((n) => ({ url: `http://a.example/${n}`, text: `One red cat, number ${n}` })),
    )
    collection.add([{ url: 'http://a.example/5', text: 'A red cat by itself' }])
    collection.settle()
    // Where texts were asked now, they would say no.
    collection.store.db.exec("UPDATE doc_text SET body = x''")
    const index = createIndexReader(collection.reader.db)
    const attributes = new Attributes(collection.reader.db)
    const conditions = createConditions(collection.reader, collection.analyzer, index, attributes)
    index.begin()
    const ask = (text: string): number[] =>
      docnosOf(
        conditions.evaluate([{ kind: 'phrase', text }], performance.now() + soonMs)?.set ??
          assert.fail(),
      )
    assert.deepEqual(ask('red cat'), [1, 2, 3, 4])
    assert.deepEqual(ask('One red cat'), [])
    assert.deepEqual(ask('number 3'), [])
    index.end()
    collection.close()
  })
})

describe('the texts of pages', () => {
  const phrase = phraseOf('red cat') as Phrase
  const limit = 200
  const all = (): DocnoSet => setOf(RoaringSet.range(1, 101), limit)

  it('are read once for a phrase, and the reading goes on where its time ran out', () => {
    const collection = createCollection()
    const holders = Array.from({ length: 100 }, (_, i) => i + 1).filter((docno) => docno % 3 === 0)
    collection.add(
      Array.from({ length: 100 }, (_, i) => ({
        url: `http://a.example/${i}`,
        text: (i + 1) % 3 === 0 ? 'A red cat' : 'A cat, red',
      })),
    )
    const texts = new PhraseTexts(collection.reader)
    const late = texts.judge(phrase, all(), limit, 0)
    assert.deepEqual([docnosOf(late.set), late.isExact], [[], false])
    const soon = texts.judge(phrase, all(), limit, performance.now() + soonMs)
    assert.deepEqual([docnosOf(soon.set), soon.isExact], [holders, true])
    // No time to read anything: it is known.
    const again = texts.judge(phrase, all(), limit, 0)
    assert.deepEqual([docnosOf(again.set), again.isExact], [holders, true])
    const other = texts.judge(phraseOf('cat red') as Phrase, all(), limit, 0)
    assert.equal(other.isExact, false)
    collection.close()
  })

  it('that were read are forgotten for the phrases that were not asked for longest', () => {
    const collection = createCollection()
    collection.add(
      Array.from({ length: 100 }, (_, i) => ({
        url: `http://a.example/${i}`,
        text: `A red cat ${i}`,
      })),
    )
    const texts = new PhraseTexts(collection.reader)
    const judge = (text: string, untilMs: number): boolean =>
      texts.judge(phraseOf(text) as Phrase, all(), limit, untilMs).isExact
    assert.ok(judge('red cat', Infinity))
    for (let i = 0; i < 220; i += 1) assert.ok(judge(`cat ${i}`, Infinity))
    assert.ok(judge('cat 219', 0))
    assert.ok(!judge('red cat', 0))
    collection.close()
  })
})
