/** What a rule was seen to find and is expected to find from then on: how it joins what the sources say themselves. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  differencesOf,
  parseRecorded,
  type Recorded,
  recordedFileOf,
  recordedText,
  withNewer,
  withRecorded,
} from '../../../src/crawl/recorded.ts'
import { expectationsMax } from '../../../src/crawl/rule-file.ts'
import { parseSourceFile } from '../../../src/crawl/source-file.ts'
import { openCrawl } from './crawl-fixture.ts'

const url = 'http://a.test/1'
const rule = {
  name: 'article',
  kind: 'detail',
  match: '/**',
  fields: { price: { css: '.price', type: 'number' }, tags: { css: 'li', many: true } },
}
const sourcesWith = (change: object = {}) =>
  parseSourceFile(
    JSON.stringify({
      sources: [
        { name: 'shop', seeds: 'http://a.test/', rules: [{ ...rule, ...change }] },
        { name: 'other', seeds: 'http://b.test/' },
      ],
    }),
    'sources.json',
  )
const recorded: Recorded = {
  source: 'shop',
  rule: 'article',
  url,
  fields: { price: 20, tags: ['a', 'b'] },
}
const expectIn = (change: object, all: readonly Recorded[]) =>
  withRecorded(sourcesWith(change), all)[0]?.spec.rules[0]?.expect

describe('recorded values', () => {
  it('are expected of their page', () => {
    const [shop, other] = withRecorded(sourcesWith(), [recorded])
    assert.ok(shop)
    assert.deepEqual(shop.spec.rules[0]?.expect, [{ url, fields: recorded.fields }])
    // What is sent to a server says the same.
    assert.deepEqual((shop.given as { rules: { expect: unknown }[] }).rules[0]?.expect, [
      { url, fields: recorded.fields },
    ])
    assert.deepEqual(other, sourcesWith()[1])
  })
  it('give way to what the sources say of the same field', () => {
    const expect = { url, fields: { price: 21 } }
    assert.deepEqual(expectIn({ expect }, [recorded]), [
      { url, fields: { price: 21, tags: ['a', 'b'] } },
    ])
  })
  it('stand beside what the sources say of other pages', () => {
    const expect = { url: 'http://a.test/2', fields: { price: 1 } }
    assert.deepEqual(expectIn({ expect }, [recorded]), [expect, { url, fields: recorded.fields }])
  })
  it('of a rule or a field that is no longer there are left out', () => {
    const strange = [
      { ...recorded, rule: 'gone' },
      { ...recorded, source: 'gone' },
    ]
    assert.deepEqual(expectIn({}, strange), [])
    const old = { ...recorded, fields: { price: 20, gone: 'x' } }
    assert.deepEqual(expectIn({}, [old]), [{ url, fields: { price: 20 } }])
  })
  for (const pages of [expectationsMax - 1, expectationsMax, expectationsMax + 1])
    it(`of ${pages} pages are ${pages > expectationsMax ? 'too many' : 'possible'}`, () => {
      const many = Array.from({ length: pages }, (_, i) => ({ ...recorded, url: `${url}${i}` }))
      if (pages > expectationsMax) assert.throws(() => expectIn({}, many), /at most 100/)
      else assert.equal(expectIn({}, many)?.length, pages)
    })
  it('take the place of older ones of the same page and rule alone', () => {
    const newer = { ...recorded, fields: { price: 5 } }
    const beside = { ...recorded, url: `${url}0` }
    assert.deepEqual(withNewer([recorded, beside], [newer]), [beside, newer])
  })
  it('do not have the pages of their source fetched anew', () => {
    const { described, store } = openCrawl({})
    described.put(sourcesWith()[0]?.given)
    let forgotten = 0
    store.forgetValidators = () => void forgotten++
    described.put(withRecorded(sourcesWith(), [recorded])[0]?.given)
    assert.equal(forgotten, 0)
    described.put(sourcesWith({ match: '/x/*' })[0]?.given)
    assert.equal(forgotten, 1)
  })
})

describe('the file of recorded values', () => {
  it('lies beside that of the sources', () => {
    assert.equal(recordedFileOf('/x/sources.json'), '/x/sources.expected.json')
    assert.equal(recordedFileOf('sites.toml'), 'sites.expected.json')
    assert.equal(recordedFileOf('sites'), 'sites.expected.json')
  })
  it('is read as it was written, in one order', () => {
    const other = { ...recorded, url: 'http://a.test/0' }
    assert.deepEqual(parseRecorded(recordedText([recorded, other]), 'f'), [other, recorded])
    assert.equal(recordedText([recorded, other]), recordedText([other, recorded]))
  })
  const wrong: [content: string, message: RegExp][] = [
    ['{', /f: no JSON/],
    ['{"version":2,"recorded":[]}', /f: version: /],
    ['{"version":1,"recorded":[{"source":"a"}]}', /f: recorded\[0\]/],
    ['{"version":1,"recorded":[],"more":1}', /f: more: this key is not known/],
  ]
  for (const [content, message] of wrong)
    it(`is refused as ${content}`, () => assert.throws(() => parseRecorded(content, 'f'), message))
})

describe('differences', () => {
  it('are told field by field, with what is missing', () => {
    const found = { price: 21, tags: ['a'], kind: 'x' }
    assert.deepEqual(differencesOf({ price: 20, tags: ['a'], gone: 'y' }, found), [
      { field: 'price', expected: 20, found: 21 },
      { field: 'gone', expected: 'y', found: null },
    ])
  })
})
