/** Pages made to hurt: extraction must end in time, throw nothing and never be empty. Bounds are CPU ms, five to ten times what a small machine needs. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { extractContent } from '../../../src/crawl/extract.ts'
import { linksOf } from '../../../src/crawl/page-links.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'

const url = 'http://h.example/'
const repeat = (text: string, times: number) => text.repeat(times)

function run(html: string): { text: string; cpuMs: number; links: number } {
  const start = process.cpuUsage()
  const tree = parsePageTree(html)
  const { text } = extractContent(tree, url)
  const links = linksOf(tree, url, 5_000, false).size
  const { user, system } = process.cpuUsage(start)
  return { text, links, cpuMs: (user + system) / 1_000 }
}

describe('hostile pages', () => {
  const cases: [name: string, html: string, cpuMsMax: number][] = [
    ['100,000 nested div', repeat('<div>', 100_000) + 'x', 1_000],
    ['30,000 nested div with a link', `${repeat('<div>', 30_000)}<a href="/x">x</a>`, 500],
    ['20,000 nested tables', repeat('<table><tr><td>', 20_000) + 'x', 500],
    ['20,000 nested lists', repeat('<ul><li>', 20_000) + 'x', 500],
    ['40,000 paragraphs', repeat('<p>x', 40_000), 3_000],
    ['50,000 ends of paragraphs', repeat('</p>', 50_000), 3_000],
    ['500,000 entities', repeat('&amp;&lt;&#65;', 170_000), 1_500],
    ['a million <', repeat('<', 1_000_000), 1_000],
    [
      '100,000 attributes',
      `<p ${Array.from({ length: 100_000 }, (_, i) => `a${i}=b`).join(' ')}>x`,
      1_000,
    ],
    [
      '100,000 links',
      Array.from({ length: 100_000 }, (_, i) => `<a href=/${i}>x</a>`).join(''),
      2_000,
    ],
    ['200,000 open b', repeat('<b>', 200_000) + 'x', 2_000],
    [
      '20,000 blocks beside each other',
      repeat('<div class=post>some words, and more of them</div>', 20_000),
      4_000,
    ],
    ['2 MB in one line', repeat('word, ', 350_000), 2_000],
    [
      '100,000 brackets in JSON-LD',
      `<script type="application/ld+json">${repeat('[', 100_000)}</script>x`,
      500,
    ],
    ['blanks in code', `<pre>${repeat(' ', 500_000)}x${repeat(' \n', 200_000)}y</pre>`, 1_000],
    ['blanks in a title', `<title>a${repeat(' ', 500_000)}b</title>`, 1_000],
    ['blanks in a refresh', `<meta http-equiv=refresh content="0${repeat(' ', 300_000)}">x`, 1_000],
    ['a class of a million words', `<div class="${repeat('promo_', 160_000)}">x</div>`, 1_000],
    ['lines that nearly are dates', repeat(`<p>${repeat('jan 1 ', 15)}`, 2_000), 2_000],
    [
      '500 nested div around 40,000 paragraphs',
      repeat('<div>', 500) + repeat('<p>x', 40_000),
      2_000,
    ],
    [
      '20,000 headings of lists of other pages in prose',
      repeat(`<p>${repeat('words, ', 20)}</p>`, 200) + repeat('<p>related</p>', 20_000),
      2_000,
    ],
    [
      '20,000 headings under a long title',
      `<title>${repeat('long title ', 180)}</title>${repeat('<div><h2>part</h2></div>', 20_000)}`,
      2_000,
    ],
    ['meta without an end', repeat('<meta ', 100_000), 1_000],
    ['combining marks', `<p>a${repeat('\u0301', 300_000)}`, 1_000],
    ['halves of surrogate pairs', `<p>${repeat('\ud83d', 100_000)}`, 1_000],
  ]
  for (const [name, html, cpuMsMax] of cases)
    it(name, () => {
      const { text, cpuMs } = run(html)
      assert.notEqual(text, '')
      assert.ok(cpuMs < cpuMsMax, `${cpuMs} ms`)
    })

  it('finds the link below 30,000 nested div', () =>
    assert.equal(run(`${repeat('<div>', 30_000)}<a href="/x">x</a>`).links, 1))

  it('takes any markup, and what it says does not change without comments and scripts', () => {
    const piece = fc.constantFrom(
      '<p>',
      '</p>',
      '<div class="nav">',
      '<td>',
      '<table>',
      '</div>',
      '<a href="/x">',
      '<h1>',
      '<title>t</title>',
      '<br>',
      '<pre>',
      'words, and more',
      '图书馆，开门',
      '&amp;',
      '< ',
      '>',
      '"',
      '<form>',
      '<svg>',
      '</svg>',
      '<footer>',
    )
    const noise = fc.constantFrom(
      '<!-- c -->',
      '<script>var a = "<p>";</script>',
      '<style>p{}</style>',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 5, arbitrary: piece }, noise), { maxLength: 60 }),
        (parts) => {
          const content = extractContent(parsePageTree(parts.join('')), url)
          assert.notEqual(content.text, '')
          assert.notEqual(content.title, '')
          assert.ok(content.confidence >= 0 && content.confidence <= 1)
          const quiet = parts.filter((part) => !/^<(!--|script|style)/.test(part)).join('')
          assert.equal(content.text, extractContent(parsePageTree(quiet), url).text)
        },
      ),
      { numRuns: 300 },
    )
  })
})
