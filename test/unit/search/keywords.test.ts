/** Keywords of a page by the collection: what tells it from others comes first, also after the collection has changed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRarity, keywordsMax, tellingKeywords } from '../../../src/search/keywords.ts'
import { documentKey } from '../../../src/store/read-documents.ts'
import { createCollection, type Page, testAnalyzer } from './collection.ts'

const analyzer = testAnalyzer()
const documents = 1_000
const frequencies: Readonly<Record<string, number>> = {
  debian: 1_000,
  packag: 300,
  kerbero: 2,
  engin: 400,
  search: 20,
  茶园: 3,
  我们: 900,
}
const index = {
  documents: () => documents,
  frequency: (term: string) => frequencies[term] ?? 0,
}
const rarityOf = createRarity(analyzer, index)
const words = (of: readonly { word: string }[]) => of.map(({ word }) => word)

describe('the rarity of a keyword', () => {
  it('is nothing for what every page holds, and grows with what few do', () => {
    assert.ok(rarityOf('Debian') < 0.001)
    assert.ok(rarityOf('packages') > 1 && rarityOf('packages') < 2)
    assert.ok(rarityOf('Kerberos') > 5)
  })
  it('of a phrase is that of its rarest word', () => {
    assert.equal(rarityOf('search engine'), rarityOf('search'))
    assert.ok(rarityOf('engine') < rarityOf('search'))
  })
  it('is the same for traditional and simplified characters', () => {
    assert.ok(rarityOf('茶園') > 5)
    assert.equal(rarityOf('茶園'), rarityOf('茶园'))
  })
  it('is nothing for what cannot be found', () => {
    assert.equal(rarityOf('datum'), 0)
    assert.equal(rarityOf(''), 0)
  })
})

describe('the keywords that are shown', () => {
  it('lead with what tells the page from others: the name of the site sinks', () => {
    const keywords = [
      { word: 'Debian', weight: 100 },
      { word: 'package', weight: 60 },
      { word: 'Kerberos', weight: 30 },
      { word: 'datum', weight: 20 },
    ]
    assert.deepEqual(words(tellingKeywords(keywords, rarityOf, 10)), [
      'Kerberos',
      'package',
      'Debian',
      'datum',
    ])
    assert.deepEqual(words(tellingKeywords(keywords, rarityOf, 1)), ['Kerberos'])
    assert.deepEqual(tellingKeywords([], rarityOf, 10), [])
  })
  it('stay in the order of the page where the collection tells nothing', () => {
    const keywords = [
      { word: 'b', weight: 3 },
      { word: 'a', weight: 2 },
    ]
    assert.deepEqual(words(tellingKeywords(keywords, () => 0, 10)), ['b', 'a'])
  })
})

describe('a document of the collection', () => {
  const page = (n: number, keywords: Page['keywords'] = []): Page => ({
    url: `http://a.test/${n}`,
    title: `Page ${n}`,
    text: `Debian text ${n} ${keywords.filter((word) => typeof word === 'string').join(' ')}`,
    keywords,
  })
  const shown = (collection: ReturnType<typeof createCollection>, n: number) =>
    collection.searcher.document(documentKey(`http://a.test/${n}`))?.keywords

  it('shows them by what is there now, not by what was there when it came', () => {
    const collection = createCollection()
    const many = Array.from({ length: 30 }, (_, i) => page(i + 10))
    collection.add([page(1, ['Debian', 100, 'Kerberos', 40, 'realm', 39]), ...many])
    assert.deepEqual(shown(collection, 1), ['Kerberos', 'realm', 'Debian'])
    collection.add(many.map((_, i) => page(i + 50, ['Kerberos', 100])))
    assert.deepEqual(shown(collection, 1), ['realm', 'Kerberos', 'Debian'])
    assert.equal(shown(collection, 2), undefined)
    collection.close()
  })
  it('shows ten, those of an older directory too', () => {
    const collection = createCollection()
    const all = Array.from({ length: 16 }, (_, i) => `word${i}`)
    collection.add([page(1, all), page(2)])
    assert.deepEqual(shown(collection, 1), all.slice(0, keywordsMax))
    assert.deepEqual(shown(collection, 2), [])
    collection.close()
  })
})
