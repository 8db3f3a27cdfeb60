/** Where a page leads: base, links, canonical, refresh, and what robots are asked. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import {
  baseOf,
  canonicalOf,
  directivesOf,
  linksOf,
  promptRefresh,
  refreshOf,
} from '../../../src/crawl/page-links.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'

const url = 'http://h.example/dir/page.html'

describe('linksOf', () => {
  const cases: [name: string, html: string, links: string[]][] = [
    [
      'resolves against the page',
      '<a href="z">x</a><a href="../up">x</a><a href="../../../root">',
      ['http://h.example/dir/z', 'http://h.example/up', 'http://h.example/root'],
    ],
    [
      'resolves against the base, late and relative',
      `<!--${'x'.repeat(6_000)}--><a href="p">x</a><base href="/sub/dir/">`,
      ['http://h.example/sub/dir/p'],
    ],
    [
      'takes no base of another scheme',
      '<base href="javascript:alert(1)"><a href="p">x</a>',
      ['http://h.example/dir/p'],
    ],
    ['strips blanks and breaks', '<a href="\n  /w/pa\n\tge \n">l</a>', ['http://h.example/w/page']],
    [
      'follows no other scheme',
      '<a href="mailto:a@b"></a><a href="javascript:x"></a><a href="ftp://h/x"></a><a href="data:,x">',
      [],
    ],
    [
      'leaves out the page itself and doubles after resolving',
      '<a href="page.html#x"></a><a href="./a"></a><a href="a"></a>',
      ['http://h.example/dir/a'],
    ],
    ['leaves out nofollow', '<a rel=nofollow href=/a></a><a href=/b></a>', ['http://h.example/b']],
  ]
  for (const [name, html, links] of cases)
    it(name, () =>
      assert.deepEqual([...linksOf(parsePageTree(html), url, 100, false).keys()], links),
    )

  it('keeps the first', () => {
    const html = '<a href=/1></a><a href=/2></a><a href=/3></a>'
    assert.equal(linksOf(parsePageTree(html), url, 2, false).size, 2)
  })
  it('follows nothing of a page that asks so', () =>
    assert.equal(linksOf(parsePageTree('<a href=/1></a>'), url, 9, true).size, 0))
})

describe('canonicalOf', () => {
  const cases: [name: string, hrefs: string[], canonical: string | null][] = [
    ['an absolute address', ['https://h.example/c'], 'https://h.example/c'],
    ['from the root', ['/c'], 'http://h.example/c'],
    ['twice the same', ['/c', 'http://h.example/c'], 'http://h.example/c'],
    ['another host is a claim like others', ['http://other.example/c'], 'http://other.example/c'],
    ['not the page itself', ['/dir/page.html'], null],
    ['not a host name without a scheme', ['h.example/c'], null],
    ['not two different ones', ['/c', '/d'], null],
    ['not the home page for every page', ['http://h.example/'], null],
    ['not another scheme', ['javascript:void(0)', 'mailto:a@b'], null],
    ['not an empty one', [''], null],
  ]
  for (const [name, hrefs, canonical] of cases)
    it(name, () => {
      const html = hrefs.map((href) => `<link rel="canonical" href="${href}">`).join('')
      assert.equal(canonicalOf(parsePageTree(html), url), canonical)
    })
  it('takes the home page from its other names', () => {
    const tree = parsePageTree('<link rel=canonical href="/">')
    assert.equal(canonicalOf(tree, 'http://h.example/index.html?x=1'), 'http://h.example/')
  })
})

describe('promptRefresh', () => {
  const cases: [content: string, target: string | null][] = [
    ['0;url=/x', 'http://h.example/x'],
    ["3; URL='/x'", 'http://h.example/x'],
    ['0,x.html', 'http://h.example/dir/x.html'],
    ['5', null],
    ['x;url=/x', null],
    ['0;url=page.html', null],
    ['600;url=/x', null],
    ['0;url=javascript:alert(1)', null],
  ]
  for (const [content, target] of cases)
    it(`${content} leads to ${target}`, () =>
      assert.equal(
        promptRefresh(parsePageTree(`<meta content="${content}" http-equiv="Refresh">`), url),
        target,
      ))
})

describe('directivesOf', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const read = (metas: string, header: string) => {
    const { noindex, nofollow, noarchive } = directivesOf(parsePageTree(metas), header, nowMs)
    return [noindex && 'noindex', nofollow && 'nofollow', noarchive && 'noarchive']
      .filter(Boolean)
      .join(' ')
  }
  const cases: [name: string, metas: string, header: string, directives: string][] = [
    ['nothing', '', '', ''],
    ['meta robots', '<meta name=ROBOTS content="NoIndex, nofollow">', '', 'noindex nofollow'],
    ['none means all', '<meta name=robots content=none>', '', 'noindex nofollow noarchive'],
    ['all and index mean nothing', '<meta name=robots content="all, index, follow">', '', ''],
    [
      'several elements add up',
      '<meta name=robots content=noindex><meta name=robots content=noarchive>',
      '',
      'noindex noarchive',
    ],
    [
      'the meta that names us',
      '<meta name=findling content=noindex><meta name=otherbot content=nofollow>',
      '',
      'noindex',
    ],
    [
      'the header adds to the meta',
      '<meta name=robots content=noarchive>',
      'nofollow',
      'nofollow noarchive',
    ],
    ['a header for another robot', '', 'otherbot: noindex, nofollow', ''],
    [
      'a header for another robot and for us',
      '',
      'otherbot: noindex, findling: nofollow',
      'nofollow',
    ],
    ['a line for another robot, a line for everyone', '', 'otherbot: nofollow\nnoindex', 'noindex'],
    ['blanks around the name', '<meta name=" robots " content=noindex>', '', 'noindex'],
    ['for everyone, then for another', '', 'noarchive, otherbot: noindex', 'noarchive'],
    ['a date that has passed', '', 'unavailable_after: Sun, 25 Aug 2024 15:00:00 GMT', 'noindex'],
    ['a date to come', '', 'unavailable_after: 25 Aug 2040 15:00:00 GMT', ''],
    [
      'a date in a meta',
      '<meta name=robots content="unavailable_after: 2024-01-01">',
      '',
      'noindex',
    ],
    ['no date at all', '', 'unavailable_after: some day', ''],
    ['values with colons are no robots', '', 'max-snippet: 20, noindex', 'noindex'],
  ]
  for (const [name, metas, header, directives] of cases)
    it(name, () => assert.equal(read(metas, header), directives))
})

type Coded = { b64: string }
type SuiteCase = {
  fn: string
  args: [string | Coded, (string | Coded)?, string?]
  kw: { encoding?: string; ignore_tags?: string[] }
  result: string | [number | null, string | null]
}
const suite = '../shared/conformance/html-w3lib-base-metarefresh.json'
const skip =
  existsSync(suite) || process.env['CI'] === 'true' ? false : 'the conformance suites are missing'

/** Where w3lib wants something else, and why we differ. */
const differences: Record<string, number[]> = {
  'queries are written in UTF-8, whatever the charset of the page': [32],
  'nothing is read in noscript and script, no option changes that': [40, 42],
}

describe('w3lib: base and refresh', { skip }, () => {
  it('agrees but for the listed differences', () => {
    const { cases } = JSON.parse(readFileSync(suite, 'utf8')) as { cases: SuiteCase[] }
    const differs: Record<number, string> = {}
    for (const [index, { fn, args, kw, result }] of cases.entries()) {
      const text = (value: string | Coded | undefined) =>
        typeof value === 'object'
          ? new TextDecoder(args[2] ?? kw.encoding ?? 'utf-8').decode(
              Buffer.from(value.b64, 'base64'),
            )
          : (value ?? '')
      const tree = parsePageTree(text(args[0]))
      const page = text(args[1]) || 'http://none.example/'
      const refresh = refreshOf(tree, page)
      const got =
        fn === 'get_base_url' ? baseOf(tree, page) : [refresh?.delayS ?? null, refresh?.url ?? null]
      const plain = (value: unknown) =>
        JSON.stringify(value)
          .replace('http://none.example/', '')
          .replace(/(https?:\/\/[^/"]+)\/?"/g, '$1"')
      if (plain(got) !== plain(result)) differs[index] = `${plain(got)}, not ${plain(result)}`
    }
    assert.deepEqual(
      Object.keys(differs).map(Number),
      Object.values(differences)
        .flat()
        .toSorted((a, b) => a - b),
      JSON.stringify(differs, null, 1),
    )
  })
})
