/** Many documents on one page: how they are found, stored, confirmed, changed and taken out; and what must not become of their page. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explainUrl } from '../../../src/crawl/explain.ts'
import { applyRule } from '../../../src/crawl/apply-rule.ts'
import { itemUrl } from '../../../src/crawl/item-url.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'
import { readRule } from '../../../src/crawl/rule-file.ts'
import { checkStore } from '../../../src/store/check.ts'
import { ended, openCrawl, spec, runToEnd, words, type Answer } from './crawl-fixture.ts'
import { ruleFor } from './rule-fixture.ts'

const dayMs = 86_400_000
const listUrl = 'http://shop.test/list'
type Product = { id: string; name: string; price: number | '' }
const products: Product[] = [
  { id: 'k1', name: 'Kettle of steel', price: 20 },
  { id: 't2', name: '面包机 Toaster', price: 35 },
  { id: 'l3', name: 'Lamp with a green shade', price: 12 },
]
const htmlOf = (some: readonly Product[], around = ''): Answer => ({
  type: 'text/html',
  body: `<title>Shop</title><p>Welcome. ${around}</p><ul>${some
    .map(
      ({ id, name, price }) =>
        `<li class="p" data-id="${id}"><h3>${name}</h3><p>${words(id)}</p><b>${price}</b></li>`,
    )
    .join('')}</ul><a href="/other">other</a>`,
})
const rule = {
  name: 'shelf',
  kind: 'list',
  match: '/list',
  items: {
    each: '.p',
    values: { id: { xpath: '@data-id' } },
    fields: { price: { css: 'b', type: 'number', required: true }, kind: { constant: 'product' } },
  },
}

function openShop(given: object = rule) {
  const clock = { nowMs: Date.UTC(2026, 5, 1) }
  const web: Record<string, Answer> = { [listUrl]: htmlOf(products) }
  const opened = openCrawl(web, {}, { now: () => clock.nowMs })
  const { crawl, store, described, rules } = opened
  described.put({ name: 'shop', seeds: listUrl, scope: 'page', rules: [given] })
  const visit = async () => {
    clock.nowMs += 11 * dayMs
    const job = await ended(crawl, crawl.startSource('shop').id)
    assert.deepEqual(checkStore(store.db), [])
    return job
  }
  const documents = () => store.exportAfter(0, 1_000).records
  const items = () => documents().filter(({ url }) => url !== listUrl)
  const explain = (url: string): string[] =>
    explainUrl(url, {
      store,
      robots: { judge: () => assert.fail(), recall: () => null, sitemaps: () => [] },
      scopes: crawl.scopes(),
      seen: { mayHave: () => true, add: () => {} },
      rules,
      described,
    }).lines.map(({ about, text }) => `${about}: ${text}`)
  return { ...opened, web, visit, documents, items, explain }
}
const names = (records: readonly { url: string }[]): string[] =>
  records.map(({ url }) => url.slice(url.lastIndexOf('/'))).toSorted()

describe('the items of a page', () => {
  it('become documents with URLs, titles, texts and fields of their own', async () => {
    const { visit, items, documents } = openShop()
    const job = await visit()
    assert.deepEqual(names(items()), ['/list#k1', '/list#l3', '/list#t2'])
    const toaster = items().find(({ url }) => url.endsWith('#t2'))
    assert.equal(toaster?.title, '面包机 Toaster')
    assert.deepEqual(toaster?.fields, { price: 35, kind: 'product' })
    assert.match(toaster?.text ?? '', /t20 .* 35$/)
    assert.doesNotMatch(toaster?.text ?? '', /Kettle|Welcome/)
    // The page itself stays findable.
    assert.equal(documents().find(({ url }) => url === listUrl)?.title, 'Shop')
    assert.equal(job.counts.stored, 1)
    assert.deepEqual(job.counts.rules['shop/shelf']?.items, {
      found: 3,
      empty: {},
      incomplete: 0,
      pagesWithout: 0,
    })
  })

  it('are not stored anew while they are as they were, and are confirmed', async () => {
    const { visit, items } = openShop()
    await visit()
    const before = items()
    await visit()
    const after = items()
    assert.deepEqual(
      after.map(({ id, changed_at }) => [id, changed_at]),
      before.map(({ id, changed_at }) => [id, changed_at]),
    )
    assert.ok(after.every(({ fetched_at }, i) => fetched_at > (before[i]?.fetched_at ?? '')))
  })

  it('are confirmed by a page that was not modified', async () => {
    const { visit, items, web } = openShop()
    await visit()
    const before = items()
    web[listUrl] = { notModified: true }
    await visit()
    assert.ok(items().every(({ fetched_at }, i) => fetched_at > (before[i]?.fetched_at ?? '')))
    assert.equal(items().length, 3)
  })

  it('change, come and go with the page', async () => {
    const { visit, items, web } = openShop()
    await visit()
    const [kettle, toaster] = products
    assert.ok(kettle && toaster)
    web[listUrl] = htmlOf([{ ...kettle, price: 25 }, toaster, { id: 'n4', name: 'New', price: 1 }])
    await visit()
    assert.deepEqual(names(items()), ['/list#k1', '/list#n4', '/list#t2'])
    assert.equal(items().find(({ url }) => url.endsWith('#k1'))?.fields['price'], 25)
    web[listUrl] = htmlOf(products)
    await visit()
    assert.deepEqual(names(items()), ['/list#k1', '/list#l3', '/list#t2'])
  })

  it('stay once when the page shows none at all, and go when it shows none again', async () => {
    const { visit, items, web, explain } = openShop()
    await visit()
    web[listUrl] = htmlOf([], 'The markup is another one.')
    const job = await visit()
    assert.equal(items().length, 3)
    assert.equal(job.counts.rules['shop/shelf']?.items?.pagesWithout, 1)
    assert.ok(
      explain(listUrl).some((line) => /3 documents .* the last visit found none/.test(line)),
    )
    await visit()
    assert.deepEqual(items(), [])
  })

  it('go when their page is gone for good, and stay while it cannot be had', async () => {
    const { visit, items, web } = openShop()
    await visit()
    web[listUrl] = { forbidden: true }
    await visit()
    assert.equal(items().length, 3)
    web[listUrl] = { status: 404 }
    await visit()
    await visit()
    assert.deepEqual(items(), [])
  })

  it('go when the rule has none any more', async () => {
    const { visit, items, described } = openShop()
    await visit()
    const { items: _, ...without } = rule
    described.put({ name: 'shop', seeds: listUrl, scope: 'page', rules: [without] })
    await visit()
    assert.deepEqual(items(), [])
  })

  it('stand alone where the page is not stored', async () => {
    const { visit, documents } = openShop({ ...rule, store: false })
    await visit()
    assert.deepEqual(names(documents()), ['/list#k1', '/list#l3', '/list#t2'])
  })

  it('are told of, from the page and from each', async () => {
    const { visit, explain } = openShop()
    await visit()
    assert.ok(explain(listUrl).includes('items: 3 documents stand on it'))
    const told = explain(`${listUrl}#k1`)
    assert.ok(told.includes(`item: it stands on ${listUrl}`))
    assert.ok(told.includes('outcome: item'))
    assert.ok(explain(`${listUrl}#none`).includes('items: 3 documents stand on it'))
  })

  it('lack required fields one by one, which is counted', async () => {
    const { visit, web } = openShop()
    web[listUrl] = htmlOf([...products, { id: 'x', name: 'No price', price: '' }])
    const job = await visit()
    assert.deepEqual(job.counts.rules['shop/shelf']?.items, {
      found: 4,
      empty: { price: 1 },
      incomplete: 1,
      pagesWithout: 0,
    })
  })

  it('of two pages with one URL are one document, which stays while one of them has it', async () => {
    const given = {
      ...rule,
      match: '/list*',
      items: { ...rule.items, template: 'http://shop.test/product/{id}' },
    }
    const { visit, items, web, described } = openShop(given)
    const second = 'http://shop.test/list2'
    const [kettle, toaster, lamp] = products
    assert.ok(kettle && toaster && lamp)
    described.put({ name: 'shop', seeds: [listUrl, second], scope: 'page', rules: [given] })
    web[listUrl] = htmlOf([kettle, toaster])
    web[second] = htmlOf([toaster, lamp])
    await visit()
    const urls = () => names(items().filter(({ url }) => url.includes('/product/')))
    assert.deepEqual(urls(), ['/k1', '/l3', '/t2'])
    web[listUrl] = htmlOf([kettle])
    await visit()
    assert.deepEqual(urls(), ['/k1', '/l3', '/t2'])
  })

  it('never take the place of a page that is fetched, nor are fetched themselves', async () => {
    const given = { ...rule, items: { ...rule.items, template: '/product/{id}' } }
    const { visit, web, asked, crawl, documents } = openShop(given)
    web['http://shop.test/product/k1'] = { text: words('own') }
    await runToEnd(crawl, spec(['http://shop.test/product/k1'], { scope: 'page' }))
    await visit()
    const own = documents().find(({ url }) => url.endsWith('/product/k1'))
    assert.match(own?.text ?? '', /^own/)
    web['http://shop.test/'] = {
      text: words('home'),
      links: ['http://shop.test/product/t2', 'http://shop.test/product/l3'],
    }
    await runToEnd(crawl, spec(['http://shop.test/']))
    assert.ok(!asked.includes('http://shop.test/product/t2'))
    assert.equal(documents().find(({ url }) => url.endsWith('/t2'))?.title, '面包机 Toaster')
  })

  it('are taken from JSON', async () => {
    const given = {
      name: 'api',
      kind: 'list',
      format: 'json',
      match: '/list',
      items: {
        each: '$.data[*]',
        values: { id: '$.id' },
        template: 'http://shop.test/p/{id}',
        page: { title: '$.name', text: '$.about' },
        fields: {
          price: { json: '$.price', type: 'number' },
          tags: { json: '$.tags[*]', many: true },
        },
      },
    }
    const { visit, web, documents } = openShop(given)
    const data = products.map(({ id, name, price }) => ({
      id,
      name,
      price,
      about: `About ${name}`,
      tags: ['a', id],
    }))
    web[listUrl] = { type: 'application/json', body: JSON.stringify({ data }) }
    await visit()
    assert.deepEqual(names(documents()), ['/k1', '/l3', '/t2'])
    const lamp = documents().find(({ url }) => url.endsWith('/l3'))
    assert.equal(lamp?.title, 'Lamp with a green shade')
    assert.equal(lamp?.text, 'About Lamp with a green shade')
    assert.deepEqual(lamp?.fields, { price: 12, tags: ['a', 'l3'] })
  })
})

describe('a rule for items', () => {
  const applied = (html: string, items: object) => {
    const { metas, jsonLd, shape } = parsePageTree(html)
    const subject = { kind: 'html', html, shape, url: listUrl, depth: 0, metas, jsonLd } as const
    return applyRule(ruleFor({ items }), subject)
  }
  it('takes the first of two with one URL, and tells of those without one', () => {
    const html = '<p data-id=a>one<p data-id=a>two<p>three<p data-id=b>four'
    const { items, report } = applied(html, { each: 'p', values: { id: { xpath: '@data-id' } } })
    assert.ok(Array.isArray(items))
    assert.deepEqual(
      items.map(({ url, text }) => [url, text]),
      [
        [`${listUrl}#a`, 'one'],
        [`${listUrl}#b`, 'four'],
      ],
    )
    assert.deepEqual(report.problems, ['items: 1 have no URL: a value of it is missing'])
  })
  for (const [max, found] of [
    [9, 9],
    [10, 10],
    [11, 10],
  ] as const)
    it(`takes ${found} of 10 where ${max} are allowed, and says where there are more`, () => {
      const html = Array.from({ length: 10 }, (_, i) => `<p id=${i}>text ${i}</p>`).join('')
      const { items, report } = applied(html, { each: 'p', values: { id: { xpath: '@id' } }, max })
      assert.equal(items?.length, found)
      assert.deepEqual(report.problems, max < 10 ? [`items: there are more than ${max}`] : [])
    })
  it('codes what stands in a value', () => {
    const { items } = applied('<p id="a/b c#d">x</p>', {
      each: 'p',
      values: { id: { xpath: '@id' } },
      template: '/p/{id}',
    })
    assert.ok(Array.isArray(items))
    assert.equal(items[0]?.url, 'http://shop.test/p/a%2Fb%20c%23d')
  })
  it('survives a selector that is none, and says so', () => {
    const { items, report } = applied('<p>x</p>', { each: 'p[', values: { id: '.' } })
    assert.deepEqual(items, [])
    assert.match(report.problems.join(), /^items: /)
  })
  const wrong: [items: object, message: RegExp][] = [
    [{ values: { id: '.' } }, /each/],
    [{ each: 'p' }, /values/],
    [{ each: 'p', values: { id: '.' }, template: '/p/{no}' }, /\{no\} is none of the values/],
    [{ each: 'p', values: { id: '.' }, template: '/p/' }, /it names no value/],
    [
      { each: 'p', values: { id: '.' }, template: 'https://{id}.test/' },
      /a value stands in its host/,
    ],
    [{ each: 'p', values: { id: '.' }, template: 'ftp://a.test/{id}' }, /no http or https URL/],
    [{ each: 'p', values: { id: '.' }, max: 5_001 }, /5,?000/],
  ]
  for (const [items, message] of wrong)
    it(`is refused as ${JSON.stringify(items)}`, () =>
      assert.throws(
        () => readRule({ name: 'r', kind: 'list', match: '/**', items }, 'rules[0]'),
        (error: Error & { path?: string }) => message.test(`${error.path} ${error.message}`),
      ))
})

describe('the address of an item', () => {
  const cases: [address: string, url: string | null][] = [
    ['#a', `${listUrl}#a`],
    ['/p/1', 'http://shop.test/p/1'],
    ['HTTP://Shop.TEST:80/p#x y', 'http://shop.test/p#x%20y'],
    ['#', null],
    ['', null],
    ['mailto:a@b.test', null],
    [`#${'x'.repeat(2_050)}`, null],
  ]
  for (const [address, url] of cases)
    it(`${JSON.stringify(address.slice(0, 30))} is ${url}`, () =>
      assert.equal(itemUrl(address, listUrl), url))
})
