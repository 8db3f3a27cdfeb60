/** Conditions on language, type, site and fields through kept sets, against a look at every page, while pages come, change, go and are copied. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { AppError } from '../../../src/lib/errors.ts'
import { Attributes } from '../../../src/search/attributes.ts'
import { FilterSets } from '../../../src/search/filter-sets.ts'
import { requestDefaults } from '../../../src/search/request.ts'
import { createCollection, type Page } from './collection.ts'

const langs = ['en', 'zh', 'zh-Hant', 'de']
const types = ['text/html', 'application/pdf']
const colours = ['red', 'blue', 'blue/dark']

type Step = {
  at: number
  lang: number
  type: number
  colour: number
  price: number
  kind: 'page' | 'copy' | 'gone'
}
const step = fc.record<Step>({
  at: fc.nat({ max: 11 }),
  lang: fc.nat({ max: 3 }),
  type: fc.nat({ max: 1 }),
  colour: fc.nat({ max: 2 }),
  price: fc.nat({ max: 30 }),
  kind: fc.constantFrom('page', 'page', 'page', 'copy', 'gone'),
})
const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), {
  minLength: 2,
  maxLength: 6,
})

const isLang = (wanted: string) => (page: Page) =>
  page.lang === wanted || (page.lang ?? '').startsWith(`${wanted}-`)
const priceOf = (page: Page): number => Number(page.fields?.['price'])
const colourOf = (page: Page): string => String(page.fields?.['colour'])
/** Queries, and what each condition of them means. A document fulfils one where one of its exact copies does. */
const questions: [query: string, ...isMeant: ((page: Page) => boolean)[]][] = [
  ['lang:zh', isLang('zh')],
  ['lang:de', isLang('de')],
  ['filetype:pdf', ({ type }) => type === 'application/pdf'],
  ['site:h1.test', ({ url }) => url.includes('h1.test')],
  ['field:colour=blue', (page) => colourOf(page).startsWith('blue')],
  ['field:price>=15', (page) => priceOf(page) >= 15],
  // Of an address only that of the page itself counts.
  ['inurl:h1.test', ({ url }) => url.includes('h1.test') && !url.endsWith('/copy')],
  ['common inurl:1', ({ url }) => url.includes('1') && !url.endsWith('/copy')],
  [
    'site:h1.test/1',
    ({ url }) => url.startsWith('http://h1.test/1/') || url === 'http://h1.test/1',
  ],
  [
    'common site:h1.test/4/copy site:h2.test',
    ({ url }) => url.startsWith('http://h1.test/4/copy') || url.includes('h2.'),
  ],
  ['-site:h1.test/1 common', ({ url }) => url !== 'http://h1.test/1' && !url.endsWith('/copy')],
  ['lang:en field:colour=red', isLang('en'), (page) => colourOf(page) === 'red'],
  ['common lang:en', isLang('en')],
]

describe('a condition on what a document has', () => {
  const opened: { close(): void }[] = []
  after(() => opened.forEach((one) => one.close()))

  it('finds what a look at every page finds, after any changes', () => {
    fc.assert(
      fc.property(batches, (given) => {
        const collection = createCollection()
        opened.push(collection)
        let serial = 0
        /** Pages that have postings, with their exact copies. */
        const pages = new Map<string, Page>()
        const copies = new Map<string, Page>()
        const urlOf = (at: number): string => `http://h${at % 3}.test/${at}`
        for (const steps of given) {
          for (const { at, kind, ...had } of steps) {
            const url = urlOf(at)
            const page: Page = {
              url,
              // Never as before: an unchanged page is not written again.
              text: `common words of ${at}, number ${(serial += 1)}`,
              lang: langs[had.lang] ?? 'en',
              type: types[had.type] ?? 'text/html',
              fields: { colour: colours[had.colour], price: had.price, serial },
            }
            if (kind === 'gone') {
              if ([...copies.values()].some(({ copyOf }) => copyOf === url)) continue
              collection.remove(url)
              pages.delete(url)
              copies.delete(url)
            } else if (kind === 'copy') {
              const copyUrl = `${url}/copy`
              if (!pages.has(url)) continue
              const copy = { ...page, url: copyUrl, copyOf: url }
              collection.add([copy])
              copies.set(copyUrl, copy)
            } else {
              // Of an original with copies the text stays, or they would become originals.
              const hasCopies = [...copies.values()].some(({ copyOf }) => copyOf === url)
              const text = hasCopies ? pages.get(url)?.text : page.text
              collection.add([{ ...page, text: text ?? '' }])
              pages.set(url, { ...page, text: text ?? '' })
            }
          }
          for (const [q, ...conditions] of questions) {
            const request = { ...requestDefaults, q, limit: 100, group: 'none' as const }
            const found = collection.searcher.answer(request, performance.now() + 10_000)
            const meant = [...pages.values()].filter((page) => {
              const own = [...copies.values()].filter(({ copyOf }) => copyOf === page.url)
              return conditions.every((isMeant) => [page, ...own].some(isMeant))
            })
            // Shown is what passes: of a page and its copies perhaps a copy alone.
            const urls = new Set(found.hits.map(({ url }) => url.replace(/\/copy$/, '')))
            assert.deepEqual(urls, new Set(meant.map(({ url }) => url)), q)
          }
        }
      }),
      { numRuns: 8, endOnFailure: true },
    )
  })
})

describe('kept sets', () => {
  it('are made once, go on with new documents, and are few bytes', () => {
    const collection = createCollection()
    const pageOf = (i: number): Page => ({
      url: `http://h${i % 2}.test/${i}`,
      lang: i % 2 === 0 ? 'en' : 'de',
      fields: { n: i },
    })
    collection.add(Array.from({ length: 300 }, (_, i) => pageOf(i)))
    const attributes = new Attributes(collection.reader.db)
    attributes.refresh(300)
    const sets = new FilterSets(collection.reader.db, attributes)
    const never = (): boolean => false
    assert.equal(
      sets.filtered('lang', 'en', () => true),
      null,
    )
    const english = sets.filtered('lang', 'en', never)
    assert.equal(english?.size, 150)
    assert.equal(sets.field('n', range(0, 9)).size, 10)
    assert.equal(sets.field('none', range(0, 9)).size, 0)
    collection.add(Array.from({ length: 20 }, (_, i) => pageOf(300 + i)))
    attributes.refresh(320)
    assert.equal(
      sets.filtered('lang', 'en', () => true),
      english,
      'the same set, though few are asked about',
    )
    assert.equal(english?.size, 160)
    assert.equal(sets.field('n', range(300, 1_000)).size, 20)
    assert.equal(sets.field('n', range(0, 309)).size, 310)
    assert.ok(sets.bytes < 10_000, String(sets.bytes))
    collection.close()
  })
  it('are made in as many goes as the time of the questions asks for, while pages come', () => {
    const collection = createCollection()
    const pageOf = (i: number): Page => ({
      url: `http://h.test/${i}`,
      fields: { n: i, half: i % 2 },
    })
    const addTo = (from: number, to: number): void =>
      collection.add(Array.from({ length: to - from }, (_, i) => pageOf(from + i)))
    addTo(0, 2_200)
    const attributes = new Attributes(collection.reader.db)
    const sets = new FilterSets(collection.reader.db, attributes)
    let late = 0
    const ask = (documents: number, name: string, test: ReturnType<typeof range>): number => {
      for (;;) {
        // Every question is late already: each goes some way.
        attributes.refresh(documents, 0)
        try {
          return sets.field(name, test).size
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === 'overloaded')
          late += 1
          assert.ok(late < 50)
        }
        if (late === 6) addTo(2_200, 2_500)
      }
    }
    assert.equal(ask(2_500, 'n', range(1_000, 9_999)), 1_500)
    assert.ok(late >= 6, String(late))
    const before = late
    assert.equal(ask(2_500, 'half', range(1, 1)), 1_250)
    assert.equal(late, before, 'nothing is left to read')
    collection.close()
  })
  it('are not more than there is room for: those go that were not asked for longest', () => {
    const collection = createCollection()
    collection.add([{ url: 'http://a.test/', lang: 'en' }])
    const attributes = new Attributes(collection.reader.db)
    attributes.refresh(1)
    const sets = new FilterSets(collection.reader.db, attributes)
    const isKept = (value: string): boolean => sets.filtered('site', value, () => true) !== null
    for (let i = 0; i < 600; i += 1) {
      sets.filtered('site', `${i}.test`, () => false)
      sets.filtered('site', '0.test', () => false)
    }
    assert.ok(isKept('0.test'))
    assert.ok(isKept('599.test'))
    assert.ok(!isKept('1.test'))
    collection.close()
  })
})

function range(from: number, to: number) {
  return { op: 'between', unit: 'number', from, to, isFromOpen: false, isToOpen: false } as const
}
