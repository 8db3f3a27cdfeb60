/** The one pass: what becomes a line, what a link, what is left out, and that caps hold. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { collapseBlanks, livingLines, measureBlock } from '../../../src/crawl/blocks.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'

const linesOf = (html: string) => livingLines(parsePageTree(html).root).map((line) => line.text)
const linksOf = (html: string) =>
  parsePageTree(html).links.map(({ href, isNofollow }) => (isNofollow ? `${href} nofollow` : href))

describe('the text of a page', () => {
  const cases: [name: string, html: string, lines: string[]][] = [
    [
      'a line per block, inline elements inside it',
      '<p>one <b>two</b></p><div>three<br>four</div>',
      ['one two', 'three', 'four'],
    ],
    ['entities and blanks', '<p>a &amp; b&nbsp;&#x4e2d;\n  c</p>', ['a & b 中 c']],
    ['code keeps its lines', '<pre>\na\n  b\n</pre>', ['a\n  b']],
    [
      'nothing of scripts, styles, forms, pictures',
      '<script>a</script><style>b</style><button>c</button><svg><title>d</title></svg><p>e',
      ['e'],
    ],
    ['nothing of comments', '<p>a<!-- b --></p>', ['a']],
    [
      'nothing hidden inside a line',
      '<p>a<span style="display: none">b</span>c<i hidden>d</i></p>',
      ['ac'],
    ],
    ['markup in attributes is no markup', '<a title="x>y">t</a>', ['t']],
    ['text without any element', 'just text', ['just text']],
    ['text after the end', '<html><body>a</body></html>b', ['a', 'b']],
    [
      'frames without frames',
      '<frameset><frame src="/a"><noframes>no frames</noframes></frameset>',
      ['no frames'],
    ],
    ['nothing', '', []],
  ]
  for (const [name, html, lines] of cases) it(name, () => assert.deepEqual(linesOf(html), lines))

  it('measures lines in columns and links in them', () => {
    const { root } = parsePageTree('<p>中文，a <a href="/x">链接</a></p>')
    const [line] = livingLines(root)
    assert.deepEqual([line?.width, line?.linkedWidth, line?.commas], [11, 4, 1])
    measureBlock(root)
    assert.deepEqual([root.sums.width, root.sums.paragraphs], [11, 1])
  })

  it('takes the ids of book sections for topics, not for names of boxes', () => {
    const names = (html: string) => (parsePageTree(html).root.kids[0] as { names: string }).names
    assert.equal(names('<section id="menu">a</section>'), '')
    assert.equal(names('<div class="sect1" id="comments">a</div>'), '')
    assert.equal(names('<div class="side" id="menu">a</div>'), 'side menu')
  })
})

describe('the links of a page', () => {
  const cases: [name: string, html: string, links: string[]][] = [
    [
      'a, area, frame and iframe, in order',
      '<a href="/1"></a><map><area href="/2"></map><iframe src="/3"></iframe><frame src="/4">',
      ['/1', '/2', '/3', '/4'],
    ],
    ['the first of two addresses', '<a href="/1" title="x" href="/2"></a>', ['/1']],
    [
      'next, prev and alternate pages, not feeds and styles',
      '<link rel=next href=/n><link rel="Prev" href=/p><link rel=alternate hreflang=zh href=/zh><link rel=alternate type="application/rss+xml" href=/feed><link rel="alternate stylesheet" href=/css>',
      ['/n', '/p', '/zh'],
    ],
    [
      'each address once, without its fragment',
      '<a href="/a#1">x</a><a href="/a#2">y</a><a href="#top">z</a>',
      ['/a'],
    ],
    [
      'nofollow',
      '<a rel="noopener NoFollow" href=/a>x</a><a rel=nofollowing href=/b>y</a>',
      ['/a nofollow', '/b'],
    ],
    [
      'one link that may be followed is enough',
      '<a rel=nofollow href=/a>x</a><a href=/a>y</a><a href=/b></a><a href=/b rel=nofollow></a>',
      ['/a', '/b'],
    ],
    [
      'in hidden menus and for browsers without scripts',
      '<div style="display:none"><a href=/a>x</a></div><noscript><a href=/b>y</a></noscript>',
      ['/a', '/b'],
    ],
    [
      'not in templates, comments and scripts',
      '<template><a href=/a>x</a></template><!-- <a href=/b> --><script>"<a href=/c>"</script>',
      [],
    ],
  ]
  for (const [name, html, links] of cases) it(name, () => assert.deepEqual(linksOf(html), links))
})

describe('what a page says about itself', () => {
  const tree = parsePageTree(`<html lang="zh-CN"><head><title> A
    title </title><title>second</title><meta name="Description" content="d"><meta property="og:title" content="o">
    <meta name=robots content=noindex><meta name=robots content=nofollow><base target=x><base href="/b/"><base href="/c/">
    <link rel=canonical href=/canonical><script type="application/ld+json">{"a":1}</script></head>
    <body><h1>One</h1><h2>Two</h2><time datetime="2024-05-06"></time><span class="post author">Ann</span>
    <link rel=canonical href=/other><meta name="__proto__" content="x"><p itemprop="articleBody">t</body></html>`)

  it('keeps the first of each fact', () => {
    assert.equal(tree.title, 'A title')
    assert.equal(tree.lang, 'zh-CN')
    assert.equal(tree.metas.get('description'), 'd')
    assert.equal(tree.metas.get('og:title'), 'o')
    assert.equal(tree.base, '/b/')
    assert.deepEqual(tree.jsonLd, ['{"a":1}'])
    assert.deepEqual(tree.times, ['2024-05-06'])
    assert.deepEqual(tree.authors, ['Ann'])
    assert.deepEqual(tree.headings, ['One', 'Two'])
    assert.equal(tree.hasArticleBody, true)
  })
  it('keeps all orders to robots', () => assert.deepEqual(tree.robots, ['noindex', 'nofollow']))
  it('believes a canonical address in the head only', () =>
    assert.deepEqual(tree.canonicals, ['/canonical']))
  it('is not impressed by names like __proto__', () =>
    assert.equal(({} as { content?: string }).content, undefined))
  it('ignores base, meta and refresh where scripts are off', () => {
    const off = parsePageTree(
      '<noscript><base href=/x><meta http-equiv=refresh content="0;url=/y"><meta name=robots content=noindex></noscript>',
    )
    assert.deepEqual([off.base, off.refresh, off.robots], [null, null, []])
  })
})

describe('the caps of a page', () => {
  const limits = { depthMax: 8, nodesMax: 10, linksMax: 3 }
  it('flattens what is nested deeper, text and links kept', () => {
    const html = `${'<div>'.repeat(30)}deep<a href=/x>l</a>${'</div>'.repeat(30)}<p>after`
    const tree = parsePageTree(html, { ...limits, nodesMax: 1_000 })
    assert.deepEqual(
      livingLines(tree.root).map((line) => line.text),
      ['deepl', 'after'],
    )
    assert.equal(tree.links.length, 1)
    assert.equal(tree.shape.depth, 31)
    let deepest = 0
    for (let block = tree.root; ; deepest++) {
      const kid = block.kids.find((one) => one.kids !== null)
      if (kid === undefined || kid.kids === null) break
      block = kid
    }
    assert.ok(deepest <= 8, `${deepest}`)
  })
  it('joins the lines of a page with too many', () => {
    const lines = livingLines(parsePageTree('<p>x</p>'.repeat(50), limits).root)
    assert.ok(lines.length <= 11, `${lines.length}`)
    assert.equal(
      lines
        .map((line) => line.text)
        .join(' ')
        .match(/x/g)?.length,
      50,
    )
  })
  it('keeps the first links of a page with too many', () => {
    const html = Array.from({ length: 9 }, (_, i) => `<a href=/${i}>x</a>`).join('')
    assert.deepEqual(
      parsePageTree(html, limits).links.map(({ href }) => href),
      ['/0', '/1', '/2'],
    )
  })
})

describe('collapsing blanks', () => {
  const blanks = [9, 10, 11, 0, 0x1f, 0x20, 0xa0, 0x1680, 0x2003, 0x2019, 0x2028, 0x205f, 0x3000]
  const units = ['a', 'b', '字', ' ', ' ', ...blanks.map((unit) => String.fromCharCode(unit))]
  it('is what the regular expression says, by the quick way too', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...units), maxLength: 8 }), (text) =>
        assert.equal(collapseBlanks(text), text.replace(/\s+/g, ' ').trim()),
      ),
      { numRuns: 2_000 },
    )
  })
})
