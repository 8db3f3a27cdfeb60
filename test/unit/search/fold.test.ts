/** Which page of a group of copies a result shows: the original, unless the words or the filters ask for another. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { SearchRequest } from '../../../src/search/answer.ts'
import { type Collection, createCollection, type Page, searchRequest } from './collection.ts'

const original = 'https://a.test/news/story'
const story = 'The river rose over its banks in the night, and the bridge was closed until noon.'
const filler = Array.from({ length: 30 }, (_, i): Page => ({
  url: `https://c.test/${i}`,
  title: `Note ${i}`,
  text: `Nothing of note happened on day ${i}.`,
}))

describe('a group of copies', () => {
  let collection: Collection
  beforeEach(() => {
    collection = createCollection()
    collection.add(filler)
  })
  afterEach(() => collection.close())

  const add = (pages: readonly Page[]): void => {
    collection.add(pages)
    // Every page a second after the one before it.
    collection.store.db.exec('UPDATE fingerprint SET since = url_id * 1000')
  }
  const ask = (q: string, more: Partial<SearchRequest> = {}): string[] =>
    collection.searcher
      .answer(searchRequest(q, more), performance.now() + 10_000)
      .hits.map(({ url }) => url)

  it('is shown as its original, also where a copy of another host scores higher', () => {
    const spam = { url: 'https://b.test/x', title: 'river bridge', text: story, groupOf: original }
    add([{ url: original, title: 'Flood', text: story }, spam])
    assert.deepEqual(ask('river bridge', { group: 'none' }), [spam.url, original])
    assert.deepEqual(ask('river bridge'), [original])
  })

  it('is shown as the copy whose own words are asked for', () => {
    const copy = { url: 'https://b.test/x', title: 'Reprint', text: story, groupOf: original }
    add([{ url: original, title: 'Flood', text: story }, copy])
    assert.deepEqual(ask('reprint'), [copy.url])
    assert.deepEqual(ask('reprint bridge night', { match: 'any' }), [copy.url])
  })

  it('is shown as the page of one site that the query means', () => {
    // Each names the other, so both hold all words.
    const text = `${story} See also: align left, align right.`
    const left = { url: 'https://a.test/l', title: 'Align left', text }
    const right = { url: 'https://a.test/right', title: 'Align right', text, groupOf: left.url }
    add([left, right])
    assert.deepEqual(ask('align right'), [right.url])
    assert.deepEqual(ask('align left'), [left.url])
    assert.deepEqual(ask('bridge noon'), [left.url])
  })

  it('is shown as the copy that passes the filters', () => {
    add([{ url: original, title: 'Flood', text: story }])
    add([{ url: 'https://b.test/x', title: 'Flood', text: story, copyOf: original }])
    assert.deepEqual(ask('bridge'), [original])
    assert.deepEqual(ask('bridge', { site: ['b.test'] }), ['https://b.test/x'])
  })

  it('is shown as its original where that has no postings of its own', () => {
    const printed = 'https://a.test/news/story?print=1'
    add([{ url: printed, title: 'Flood', text: story }])
    add([{ url: original, title: 'Flood', text: story, copyOf: printed }])
    assert.deepEqual(ask('bridge'), [original])
    assert.deepEqual(ask('bridge', { group: 'none' }).toSorted(), [original, printed])
  })

  it('keeps one place on all pages of results, in any order', () => {
    const dated = (url: string, day: number, more: Partial<Page> = {}): Page => ({
      url,
      title: 'Flood',
      text: story,
      publishedAt: `2026-01-${String(day).padStart(2, '0')}`,
      ...more,
    })
    add([
      dated(original, 5),
      dated('https://b.test/x', 9, { groupOf: original }),
      dated('https://d.test/other', 7),
    ])
    for (const sort of ['relevance', 'date', '-date', 'fresh']) {
      const whole = ask('bridge', { sort })
      assert.deepEqual(whole.toSorted(), [original, 'https://d.test/other'])
      const paged = [0, 1].flatMap((offset) => ask('bridge', { sort, offset, limit: 1 }))
      assert.deepEqual(paged, whole, sort)
    }
  })
})
