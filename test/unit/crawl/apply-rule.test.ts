/** What a rule takes from a page: values of every type by every way, links of lists, URLs made of values; and what it says of what it could not do. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { applyRule, type AppliedRule } from '../../../src/crawl/apply-rule.ts'
import { cleanHtml } from '../../../src/crawl/clean-html.ts'
import { dateText, numberIn } from '../../../src/crawl/field-values.ts'
import { parseJsonPath, valuesAt } from '../../../src/crawl/json-list.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'
import { openRulePage } from '../../../src/crawl/rules.ts'
import { isShell } from '../../../src/crawl/shell.ts'
import { ruleFor } from './rule-fixture.ts'

const url = 'http://h.example/list/page.html'
const onPage = (html: string, rule: object, depth = 0): AppliedRule => {
  const { metas, jsonLd, shape } = parsePageTree(html)
  return applyRule(ruleFor(rule), { kind: 'html', html, shape, url, depth, metas, jsonLd })
}
const onJson = (document: unknown, rule: object): AppliedRule =>
  applyRule(ruleFor({ format: 'json', ...rule }), {
    kind: 'json',
    document,
    url,
    depth: 0,
    metas: new Map(),
    jsonLd: [],
  })

const shop = `<html><head><meta property="og:price:amount" content="12.50">
<script type="application/ld+json">{"@type":"Product","offers":{"price":"11.00"},"brand":[{"name":"A"},{"name":"B"}]}</script></head>
<body><nav class="crumbs"><a>程序设计</a> &gt; <a>循环</a> &gt; <a>for</a></nav>
<h1>求和 Sum</h1><p class="price">￥1,299.00 元</p><p class="seen">1.2万 次</p>
<p class="date">发布于 2024年5月3日 08:30</p><p class="us">03/05/2024 08:30</p>
<span itemprop="sku" content="X-1">sku</span><ul><li>贪心</li><li>数学 </li></ul>
<div class="body"><p onclick="x()">A<script>alert(1)</script> <a href="/x" onclick="y()">link</a> <a href="javascript:z()">bad</a></p></div>
</body></html>`

describe('a field of a rule', () => {
  const cases: [string, object | string, unknown][] = [
    ['is a CSS selector alone', 'h1', '求和 Sum'],
    ['is an XPath alone', '//h1', '求和 Sum'],
    ['takes an attribute by XPath', '//span[@itemprop]/@content', 'X-1'],
    ['takes a computed value by XPath', { xpath: 'string(count(//li))', type: 'number' }, 2],
    ['takes all by XPath', { xpath: '//li', many: true }, ['贪心', '数学']],
    ['takes the group of a regex', { css: '.seen', regex: '([\\d.]+万)' }, '1.2万'],
    ['takes the whole match without a group', { css: 'h1', regex: '[A-Z]\\w+' }, 'Sum'],
    ['is empty where the regex does not fit', { css: 'h1', regex: 'Q' }, undefined],
    ['is a number', { css: '.price', type: 'number' }, 1299],
    ['is a number of a Chinese scale', { css: '.seen', type: 'number' }, 12_000],
    ['is no number where there is none', { css: 'h1', type: 'number' }, undefined],
    ['is a date', { css: '.date', type: 'date' }, '2024-05-03'],
    [
      'is a date of a format',
      { css: '.us', type: 'date', format: 'DD/MM/YYYY HH:mm' },
      '2024-05-03T08:30:00Z',
    ],
    [
      'is a category path of many texts',
      { css: '.crumbs a', type: 'category' },
      '程序设计/循环/for',
    ],
    [
      'is a category path of one text',
      { css: '.crumbs', type: 'category', separator: '>' },
      '程序设计/循环/for',
    ],
    ['is a meta element', { meta: 'og:price:amount', type: 'number' }, 12.5],
    ['is in JSON-LD', { jsonLd: '$.offers.price', type: 'number' }, 11],
    ['is all of it in JSON-LD', { jsonLd: '$.brand[*].name', many: true }, ['A', 'B']],
    ['is microdata', { itemprop: 'sku' }, 'X-1'],
    ['is a constant', { constant: '题库' }, '题库'],
    ['is a constant number', { constant: 7, type: 'number' }, 7],
    [
      'goes through its transforms in their order',
      {
        css: 'h1',
        transform: ['lower', { replace: 'sum', with: 'x' }, { prefix: '<' }, { suffix: '>' }],
      },
      '<求和 x>',
    ],
    ['is split', { css: 'h1', transform: { split: ' ' }, many: true }, ['求和', 'Sum']],
    ['is joined', { css: 'li', transform: { join: '、' } }, '贪心、数学'],
    ['is made an address', { constant: '../a b', transform: 'absolute' }, 'http://h.example/a%20b'],
    [
      'is clean HTML',
      { css: '.body', type: 'html' },
      '<p>A <a href="http://h.example/x" rel="nofollow noopener noreferrer">link</a> <a>bad</a></p>',
    ],
  ]
  for (const [name, spec, value] of cases)
    it(name, () => {
      const { fields, report } = onPage(shop, { fields: { f: spec } })
      assert.deepEqual(fields, value === undefined ? {} : { f: value })
      assert.deepEqual(report.problems, [])
      assert.deepEqual(report.empty, value === undefined ? ['f'] : [])
    })

  it('is found by XPath behind a doctype too', () => {
    const xpath = "//dt[.='a']/following-sibling::dd[1]"
    const html = '<!DOCTYPE html>\n<html><body><dl><dt>a</dt><dd>b</dd></dl></body></html>'
    assert.deepEqual(onPage(html, { fields: { f: xpath } }).fields, { f: 'b' })
    const bare = '<!doctype html><dl><dt>a</dt><dd>b</dd></dl>'
    assert.deepEqual(onPage(bare, { fields: { f: xpath } }).fields, { f: 'b' })
  })
  it('that is required and missing is reported, one that is only empty too', () => {
    const { report } = onPage(shop, { fields: { a: { css: '.none', required: true }, b: '.none' } })
    assert.deepEqual([report.missing, report.empty], [['a'], ['a', 'b']])
  })
  it('that cannot be evaluated is a problem of its own', () => {
    const { fields, report } = onPage(shop, { fields: { a: { xpath: '//h1[' }, b: 'h1' } })
    assert.deepEqual(fields, { b: '求和 Sum' })
    assert.match(report.problems.join(), /^a: /)
  })
  it('is compared with what the rule expects of this URL, and of no other', () => {
    const expect = { url, fields: { title: '求和 Sum', price: 1 } }
    const fields = { title: 'h1', price: { css: '.price', type: 'number' } }
    assert.deepEqual(onPage(shop, { fields, expect }).report.unexpected, ['price'])
    const other = { ...expect, url: 'http://h.example/other' }
    assert.equal(onPage(shop, { fields, expect: other }).report.unexpected, null)
  })
  it('may stand in for title, text, author and date of the page', () => {
    const page = { title: 'h1', text: '.body', author: { constant: 'Li' }, date: '.date' }
    assert.deepEqual(onPage(shop, { page }).page, {
      title: '求和 Sum',
      text: 'A link bad',
      author: 'Li',
      date: '2024-05-03',
    })
  })
})

describe('a list', () => {
  const html = `<ul><li data-id="1" data-c="a b"><a class="i" href="/p/1">1</a></li><li data-id="2"><a class="i" href="/p/2#x">2</a></li>
    <li data-id="3" data-c="c"><a href="/about">about</a></li></ul><a class="next" href="?page=2">next</a>`
  const list = { kind: 'list' }
  it('gives the links of its selectors, and the next page within its limit', () => {
    const rule = { ...list, links: 'a.i', next: { css: 'a.next', max: 3 } }
    const first = ['http://h.example/p/1', 'http://h.example/p/2']
    assert.deepEqual(onPage(html, rule, 2).links, [
      ...first,
      'http://h.example/list/page.html?page=2',
    ])
    assert.deepEqual(onPage(html, rule, 3).links, first)
  })
  it('makes URLs of values, one for each holder that has them all', () => {
    const details = {
      each: { css: 'li' },
      values: { id: { xpath: '@data-id' }, c: { xpath: '@data-c' } },
      template: '/p/{c}/{id}',
    }
    assert.deepEqual(onPage(html, { ...list, details }).links, [
      'http://h.example/p/a%20b/1',
      'http://h.example/p/c/3',
    ])
  })
  it('makes URLs of the matches of one value, as many as it may', () => {
    const details = {
      values: { id: { css: 'li', attribute: 'data-id' } },
      template: 'https://o.example/{id}',
    }
    assert.deepEqual(onPage(html, { ...list, details: { ...details, max: 2 } }).links, [
      'https://o.example/1',
      'https://o.example/2',
    ])
  })
  it('may be JSON', () => {
    const document = {
      data: { items: [{ id: 7, s: 'a' }, { s: 'b' }, { id: 9, s: 'c' }] },
      next: '/list?page=2',
    }
    const rule = {
      ...list,
      details: {
        each: '$.data.items[*]',
        values: { id: '$.id', s: '$.s' },
        template: '/p/{s}/{id}',
      },
      next: '$.next',
      fields: { first: '$.data.items[0].s' },
    }
    const { links, fields } = onJson(document, rule)
    assert.deepEqual(links, [
      'http://h.example/p/a/7',
      'http://h.example/p/c/9',
      'http://h.example/list?page=2',
    ])
    assert.deepEqual(fields, { first: 'a' })
  })
})

describe('a JSON path', () => {
  const document = {
    a: [
      { b: 1, 'x y': 2 },
      { b: 3, c: { b: 4 } },
    ],
    标题: 't',
    n: null,
  }
  const cases: [string, unknown[]][] = [
    ['$', [document]],
    ['$.a[*].b', [1, 3]],
    ['$.a[-1].b', [3]],
    ['$.a[9].b', []],
    ['$.a[0]["x y"]', [2]],
    ["$.a[0]['x y']", [2]],
    ['$..b', [1, 3, 4]],
    ['$.标题', ['t']],
    ['$.a[0].*', [1, 2]],
    ['$.n', [null]],
    ['$.constructor', []],
    ['$.n.x', []],
  ]
  for (const [path, values] of cases)
    it(`${path} leads to ${JSON.stringify(values)}`, () => {
      const parsed = parseJsonPath(path)
      assert.ok(typeof parsed !== 'string')
      assert.deepEqual(valuesAt(document, parsed), values)
    })
  for (const path of ['', 'a.b', '$.', '$[', '$[a]', '$.a b', '$["\\q"]', `$${'.a'.repeat(31)}`])
    it(`refuses ${path.slice(0, 20)}`, () => assert.equal(typeof parseJsonPath(path), 'string'))
})

describe('texts as values', () => {
  const numbers: [string, '.' | ',', number | null][] = [
    ['1,234,567.5', '.', 1_234_567.5],
    ['1.234,50 €', ',', 1234.5],
    ['－３', '.', -3],
    ['5km', '.', 5],
    ['5k', '.', 5_000],
    ['3亿', '.', 300_000_000],
    ['1,2', '.', 1],
    ['none', '.', null],
    ['9'.repeat(400), '.', 999_999_999_999_999],
  ]
  for (const [text, decimal, value] of numbers)
    it(`${text.slice(0, 20)} is ${value}`, () => assert.equal(numberIn(text, decimal), value))
  const dates: [string, string | undefined, string | null][] = [
    ['2024年5月3日', undefined, '2024-05-03'],
    ['2024-05-03T10:00:00+08:00', undefined, '2024-05-03T02:00:00Z'],
    ['31.02.2024', 'DD.MM.YYYY', null],
    ['on 5/3/2024', 'M/D/YYYY', '2024-05-03'],
    ['none', undefined, null],
  ]
  for (const [text, format, value] of dates)
    it(`${text} is ${value}`, () => assert.equal(dateText(text, format), value))
  it('clean HTML holds no element, attribute or address that runs', () => {
    const bad = `<div><img src=x onerror=alert(1)><svg onload=1><a href="data:text/html,x">a</a></svg><b style="x" id=1>b</b>&lt;i&gt;<iframe src=x></iframe></div>`
    const page = openRulePage(bad, url)
    assert.ok(typeof page !== 'string')
    assert.equal(cleanHtml(page.document.body, url, 1_000), '<b>b</b>&lt;i&gt;')
  })
})

describe('a page that exists only after its JavaScript ran', () => {
  const shells = [
    '<title>App</title><body><div id="root"></div><script src="/m.js"></script>',
    '<body><div id=app><!-- --></div><script type=module src=a.js></script>',
    '<body><div id="__next"></div><script src="a.js"></script><noscript>x</noscript>',
    '<body><app-root>Loading</app-root><script src="a.js"></script>',
    '<body><noscript>You need to enable JavaScript to run this app.</noscript><script src="a.js"></script>',
    '<body><noscript>请启用JavaScript</noscript><script src="a.js"></script>',
  ]
  for (const html of shells)
    it(`is recognised: ${html.slice(0, 60)}`, () => assert.ok(isShell(html, 'App', '', 'App')))
  it('is not one that has text, or no scripts, or a root that is filled', () => {
    const [shell = ''] = shells
    assert.equal(isShell(shell, 'text '.repeat(60), 'text '.repeat(60), 'App'), false)
    assert.equal(isShell('<div id="root"></div>', '', '', ''), false)
    assert.equal(
      isShell('<div id="root"><p>x</p></div><script src=a></script>', 'x', '', ''),
      false,
    )
  })
})
