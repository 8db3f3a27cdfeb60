/** Pages recognised by the fields that their rule names: what makes two of them copies, what keeps them apart, and what stays findable. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { postingsOf } from '../../../src/crawl/commit.ts'
import { openDuplicates } from '../../../src/crawl/duplicates.ts'
import { recognise } from '../../../src/crawl/fingerprint-fields.ts'
import type { ParsedPage } from '../../../src/crawl/page.ts'
import { createParser } from '../../../src/crawl/parse.ts'
import { rejudge } from '../../../src/crawl/rejudge.ts'
import { checkStore } from '../../../src/store/check.ts'
import { openStore } from '../../../src/store/store.ts'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { packWords } from '../../../src/text/word-list.ts'
import { openWords, type WordMatcher } from '../../../src/text/word-match.ts'
import { loadTestTables } from '../../text-tables.ts'
import { ruleFor } from './rule-fixture.ts'

const directory = mkdtempSync(join(tmpdir(), 'findling-fields-'))
const store = openStore(join(directory, 'findling.db'))
const duplicates = openDuplicates(store.db)
after(() => {
  store.close()
  rmSync(directory, { recursive: true })
})

let masked: WordMatcher | null = null
const parser = createParser({
  words: () => masked,
  analyzer: createAnalyzer(loadTestTables()),
  keywords: { keywords: async () => [] },
  decodedBytesMax: 1_000_000,
})
const rule = ruleFor({
  page: { title: 'h1', text: '.text' },
  fields: { price: { css: '.price', type: 'number' }, kind: { constant: 'kettle' } },
  fingerprintFields: ['title', 'text', 'price', 'kind'],
})
const item = { title: 'Kettle', text: 'It boils a litre.', price: '20', around: '' }
const htmlOf = ({ title, text, price, around }: typeof item): string =>
  `<title>Shop</title><h1>${title}</h1><div class="text">${text}</div><p class="price">${price}</p><article>${around}</article>`
async function pageOf(change: Partial<typeof item>, given = rule): Promise<ParsedPage> {
  const body = Uint8Array.from(Buffer.from(htmlOf({ ...item, ...change }))).buffer
  const outcome = await parser.parse({
    url: 'http://h.test/',
    body,
    encoding: '',
    contentType: 'text/html',
    robotsTag: '',
    rule: given,
    depth: 0,
    seed: store.fingerprintSeed,
  })
  assert.ok(outcome.kind === 'page')
  return outcome.page
}
const digestOf = async (change: Partial<typeof item>, given = rule): Promise<string> =>
  Buffer.from((await pageOf(change, given)).fingerprint.digest).toString('hex')

describe('a page that is recognised by fields', () => {
  const around = 'Other customers also looked at our seventeen tea pots. '.repeat(8)
  it('has the fingerprint of another whose fields are equal, whatever stands around', async () =>
    assert.equal(await digestOf({ around }), await digestOf({ around: 'Sold out in Ghent.' })))
  for (const change of [{ title: 'Toaster' }, { text: 'It boils two litres.' }, { price: '21' }])
    it(`has another one with ${JSON.stringify(change)}`, async () =>
      assert.notEqual(await digestOf(change), await digestOf({})))
  it('is recognised by its main text where it lacks one of them', async () => {
    const without = await pageOf({ price: '', around })
    assert.equal(without.fingerprintFields, undefined)
    assert.notEqual(await digestOf({ price: '' }), await digestOf({}))
    const plain = ruleFor({ page: { title: 'h1', text: '.text' } })
    assert.equal(await digestOf({ price: '' }), await digestOf({}, plain))
  })
  it('is never an exact copy of one that is recognised by its main text', async () => {
    const onlyText = ruleFor({ page: { text: '.text' }, fingerprintFields: ['text'] })
    const plain = ruleFor({ page: { text: '.text' } })
    assert.notEqual(await digestOf({}, onlyText), await digestOf({}, plain))
  })
  it('takes a field of the rule before a property of the page of that name', () => {
    const page = { title: 't', text: 'x', description: '', author: '', publishedAtMs: 5 }
    const made = (fields: object, name: string) =>
      recognise({ ...page, fields: { ...fields } }, [name], 7).fingerprint.digest
    assert.deepEqual(made({ title: 'other' }, 'title'), made({ name: 'other' }, 'name'))
    assert.deepEqual(made({}, 'date'), made({ date: '5' }, 'date'))
    assert.deepEqual(made({ tags: ['a', 'b'] }, 'tags'), made({ tags: 'a\nb' }, 'tags'))
  })
  it('keeps words of its own: it shares postings with nobody', () => {
    assert.equal(postingsOf({ kind: 'exact', original: 3 }, ['title']), null)
    assert.equal(postingsOf({ kind: 'exact', original: 3 }, undefined), 3)
    assert.equal(postingsOf(null, undefined), null)
  })
})

describe('stored pages that are recognised by fields', () => {
  const put = (urlId: number, page: ParsedPage) =>
    store.transaction(() => {
      const hostId = store.hostId('http://h.test')
      store.db
        .prepare(
          `INSERT OR IGNORE INTO url(id, host, path, source, epoch, state, outcome, next_at) VALUES(?, ?, ?, 0, 0, 2, 'stored', NULL)`,
        )
        .run(urlId, hostId, `/${urlId}`)
      const placed = duplicates.place({ urlId, hostId, fingerprint: page.fingerprint })
      const { title, lang, text: body, rest, description, author, headings, fields } = page
      const named = page.fingerprintFields
      const extra = { description, author, headings, keywords: [], fields }
      return store.putDocument({
        urlId,
        url: `http://h.test/${urlId}`,
        hostId,
        title,
        lang,
        body,
        rest,
        type: 'text/html',
        size: 1,
        publishedAtMs: null,
        fetchedAtMs: 1,
        copyOf: postingsOf(placed, named),
        extra: named === undefined ? extra : { ...extra, fingerprintFields: named },
      })
    })
  const groups = (): number[] =>
    store.db
      .prepare<{ grp: number }>('SELECT grp FROM fingerprint ORDER BY url_id')
      .all()
      .map(({ grp }) => grp)

  it('leave the copies of their main text behind when their rule begins to name fields', async () => {
    const plain = ruleFor({ page: { title: 'h1', text: '.text' } })
    const first = await pageOf({}, plain)
    assert.deepEqual([put(1, first).copyOf, put(2, first).copyOf], [null, 1])
    const moved = put(1, await pageOf({}))
    assert.equal(moved.promoted?.urlId, 2)
    assert.deepEqual(checkStore(store.db), [])
    assert.equal(new Set(groups()).size, 2)
  })
  it('come together by their fields, each with its own postings', async () => {
    const [third, fourth] = [await pageOf({ around: 'one' }), await pageOf({ around: 'two two' })]
    assert.deepEqual([put(3, third).copyOf, put(4, fourth).copyOf], [null, null])
    const [one, , three, four] = groups()
    assert.deepEqual([three, four], [one, one])
  })
  it('stay together when words of them are masked, also with what comes masked', async () => {
    const list = { name: 'l', policy: 'mask', words: ['kettle'], allowed: [] } as const
    const documents = store.wholeDocumentsAfter(0, 100)
    masked = openWords(packWords([list]))
    const result = rejudge(documents, masked, { store, duplicates }, Infinity)
    assert.equal(result.changed, 4)
    put(5, await pageOf({ around: 'Come later.' }))
    const [one, two, three, four, five] = groups()
    assert.deepEqual([three, four, five], [one, one, one])
    assert.notEqual(two, one)
    assert.deepEqual(checkStore(store.db), [])
  })
})
