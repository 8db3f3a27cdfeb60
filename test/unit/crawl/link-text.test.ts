/** What links call pages: the text of which link counts, and which texts tell nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tellingText } from '../../../src/crawl/link-text.ts'
import { linksOf } from '../../../src/crawl/page-links.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'

const url = 'http://h.example/dir/page.html'
const textOf = (html: string): string | undefined =>
  linksOf(parsePageTree(html), url, 100, false).get('http://h.example/a')

describe('the text of a link', () => {
  const cases: [name: string, html: string, text: string][] = [
    [
      'inline elements are part of it',
      '<a href=/a>Cutting <b>glass</b> &amp; more</a>',
      'Cutting glass & more',
    ],
    [
      'blocks in it are apart',
      '<a href=/a><h2>Glass</h2><p>How to cut it</p></a>',
      'Glass How to cut it',
    ],
    [
      'a picture gives what it stands for',
      '<a href=/a><img src=x alt="Glass works"></a>',
      'Glass works',
    ],
    [
      'a picture outside of it does not',
      '<img alt="no"><a href=/a>Glass</a><img alt="no">',
      'Glass',
    ],
    [
      'the first link that tells something',
      '<a href=/a></a><a href=/a>next</a><a href=/a>Glass</a><a href=/a>Other</a>',
      'Glass',
    ],
    [
      'fragments lead to the same page',
      '<a href="/a#x">Glass</a><a href="/a#y">Other</a>',
      'Glass',
    ],
    ['another address of the page', '<a href="../a">Glass</a><a href="/a">Other</a>', 'Glass'],
    ['hidden links are not read', '<a href=/a style="display:none">Glass</a>', ''],
    ['a link without end ends with the next', '<a href=/a>Glass<a href=/b>Other</a>', 'Glass'],
    ['what anybody may write is not counted', '<a rel="ugc" href=/a>Glass</a>', ''],
    ['what is paid for is not counted', '<a rel="Sponsored noopener" href=/a>Glass</a>', ''],
    [
      'but a link of the page itself is',
      '<a rel=ugc href=/a>Spam</a><a href=/a>Glass</a>',
      'Glass',
    ],
    ['text after it is not of it', '<a href=/a></a>Glass', ''],
  ]
  for (const [name, html, text] of cases) it(name, () => assert.equal(textOf(html), text))
})

describe('a text that tells something', () => {
  const cases: [raw: string, text: string][] = [
    ['  Cutting\n  glass ', 'Cutting glass'],
    ['如何切割玻璃', '如何切割玻璃'],
    ['C++', 'C++'],
    ['第 3 章 玻璃', '第 3 章 玻璃'],
    ['glass '.repeat(20), 'glass glass glass glass glass glass glass glass glass glass'],
    ['玻'.repeat(80), '玻'.repeat(60)],
    ['', ''],
    ['12', ''],
    ['»', ''],
    ['x', ''],
    ['Next »', ''],
    ['« PREV', ''],
    ['[more]', ''],
    ['Click here!', ''],
    ['下一页', ''],
    ['【首页】', ''],
    ['返回首頁', ''],
    ['https://h.example/glass', ''],
  ]
  for (const [raw, text] of cases)
    it(JSON.stringify(raw.slice(0, 20)), () => assert.equal(tellingText(raw), text))
})
