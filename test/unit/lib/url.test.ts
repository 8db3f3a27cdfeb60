/** The canonical URL: one key for a page through its whole life, and what is shown of it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  displayUrl,
  hasRepeatingPath,
  hostOf,
  normalizeTyped,
  normalizeUrl,
  registrableDomain,
  splitUrl,
  urlCharsMax,
} from '../../../src/lib/url.ts'
import { conformance } from '../../conformance.ts'

const canonical: readonly (readonly [said: string, canonical: string | null])[] = [
  ['http://h.example', 'http://h.example/'],
  ['HTTP://H.Example:80/A/b?B=2&a=1#top', 'http://h.example/A/b?B=2&a=1'],
  ['https://h.example:443/', 'https://h.example/'],
  ['https://h.example:80/', 'https://h.example:80/'],
  ['http://h.example:/x', 'http://h.example/x'],
  ['http://h.example./x', 'http://h.example/x'],
  ['http://h.example.../x', 'http://h.example/x'],
  ['http://./x', null],
  ['http://127.1/', 'http://127.0.0.1/'],
  ['http://127.0.0.1../', 'http://127.0.0.1/'],
  ['http://h.example/x?', 'http://h.example/x'],
  ['http://h.example/x?#', 'http://h.example/x'],
  ['http://h.example/x??', 'http://h.example/x??'],
  [' http://h.example/x \n', 'http://h.example/x'],
  ['http://h.example/a b?c d', 'http://h.example/a%20b?c%20d'],
  ['http://h.example/sale-100%25', 'http://h.example/sale-100%25'],
  ['http://h.example/x?q=|&u=\u011f', 'http://h.example/x?q=|&u=%C4%9F'],
  ['http://h.example/../up', 'http://h.example/up'],
  ['http://a_b.example/', 'http://a_b.example/'],
  ['http://i❤.example/', 'http://xn--i-7iq.example/'],
  ['http://例え.jp/あ', 'http://xn--r8jz45g.jp/%E3%81%82'],
  ['http://user@h.example/', null],
  ['http://user:word@h.example/', null],
  ['http://good.example@127.0.0.1/', null],
  ['http://127.0.0.1\\@good.example/', 'http://127.0.0.1/@good.example/'],
  ['http://h.example%00.evil/', null],
  ['http://h.example%0d%0aX:1/', null],
  ['http://\u202ee.example/', null],
  ['h.example/x', null],
  ['/x', null],
  ['', null],
  ...['file:///etc/passwd', 'data:text/html,x', 'javascript:alert(1)', 'ftp://h.example/'].map(
    (said) => [said, null] as const,
  ),
  ...['blob:http://h.example/1', 'ws://h.example/', 'mailto:a@h.example', 'about:blank'].map(
    (said) => [said, null] as const,
  ),
]

describe('normalizeUrl', () => {
  for (const [said, expected] of canonical) {
    it(`${JSON.stringify(said)} is ${expected ?? 'none of ours'}`, () => {
      assert.equal(normalizeUrl(said), expected)
      if (expected !== null) assert.equal(normalizeUrl(expected), expected)
    })
  }

  it('resolves a link against its page', () => {
    const base = 'http://h.example/a/b?x=1'
    assert.equal(normalizeUrl('c', base), 'http://h.example/a/c')
    assert.equal(normalizeUrl('?y', base), 'http://h.example/a/b?y')
    assert.equal(normalizeUrl('//o.example/z', base), 'http://o.example/z')
    assert.equal(normalizeUrl('\n /w/ page\t', base), 'http://h.example/w/%20page')
  })

  it('takes exactly so long a URL and no longer', () => {
    const fill = (chars: number): string => 'http://h.example/'.padEnd(chars, 'a')
    assert.equal(normalizeUrl(fill(urlCharsMax))?.length, urlCharsMax)
    assert.equal(normalizeUrl(fill(urlCharsMax + 1)), null)
    assert.equal(normalizeUrl(`${fill(100)}#${'f'.repeat(4000)}`), fill(100))
    assert.equal(normalizeUrl(fill(10_000_000)), null)
  })

  it('never throws, is stable, keeps the host and drops the fragment, whatever it is given', () => {
    const piece = fc.constantFrom(
      'http://',
      'https://',
      '//',
      '/',
      '?',
      '#',
      '@',
      ':',
      '%',
      '%2',
      '%25',
      '\\',
      '.',
      '..',
      ' ',
      'ⓗ',
      '例',
      '[',
      ']',
      '::1',
      '127.1',
      'a',
      'Ä',
      '\0',
      '\ud800',
      '&',
      '=',
    )
    const text = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 12 }).map((parts) => `http://${parts.join('')}`),
    )
    fc.assert(
      fc.property(text, fc.option(fc.webUrl(), { nil: undefined }), (said, base) => {
        const url = normalizeUrl(said, base)
        if (url === null) return
        assert.equal(normalizeUrl(url), url)
        assert.ok(
          url.length <= urlCharsMax && !url.includes('#') && /^https?:\/\/[^/]+\//.test(url),
        )
        const bare = new URL(said, base).hostname.replace(/\.+$/, '')
        assert.equal(new URL(url).hostname, new URL(`http://${bare}/`).hostname)
        const { origin, path } = splitUrl(url)
        assert.equal(origin + path, url)
        assert.equal(origin, new URL(url).origin)
        assert.equal(hostOf(url), new URL(url).hostname)
        assert.equal(typeof displayUrl(url), 'string')
        hasRepeatingPath(url)
      }),
      { numRuns: 1500 },
    )
  })
})

describe('the URL suites of other projects', () => {
  it('resolve links as we do, but for what is none of ours', (t) => {
    const suite = conformance('url-crawler-commons-resolve.json', t)
    if (suite === null) return
    for (const { input, base, output } of suite.cases as {
      input: string
      base: string
      output: string
    }[]) {
      const expected = new URL(output)
      expected.hash = ''
      const isOurs = expected.protocol.startsWith('http') && expected.username === ''
      assert.equal(
        normalizeUrl(input, base === '' ? undefined : base),
        isOurs ? expected.href : null,
        input,
      )
    }
  })

  const files = [
    'urlcanon-idempotence',
    'urlcanon-semantic_precise',
    'wpt-urltestdata',
    'crawler-commons-normalizer',
  ]
  for (const file of files) {
    it(`${file}: what comes out is canonical`, (t) => {
      const suite = conformance(`url-${file}.json`, t)
      if (suite === null) return
      let taken = 0
      for (const { input, base } of suite.cases as { input: string; base?: string | null }[]) {
        const url = normalizeUrl(input, base ?? undefined)
        if (url === null) continue
        taken += 1
        assert.equal(normalizeUrl(url), url, input)
        assert.equal(new URL(url).href, url, input)
      }
      assert.ok(taken > suite.cases.length / 5, `${taken}`)
    })
  }
})

describe('registrableDomain', () => {
  const domains: readonly (readonly [url: string, domain: string, withPrivate?: string])[] = [
    ['http://a.b.example.com/x', 'example.com'],
    ['http://www.news.example.co.uk:8080/', 'example.co.uk'],
    ['http://www.example.com.cn/', 'example.com.cn'],
    ['http://alice.github.io/', 'github.io', 'alice.github.io'],
    ['http://localhost:8080/', 'localhost'],
    ['http://com/', 'com'],
    ['http://127.0.0.1:8080/', '127.0.0.1'],
    ['http://[::1]:8080/', '[::1]'],
  ]
  for (const [url, domain, withPrivate = domain] of domains) {
    it(`${url} belongs to ${domain}`, () => {
      assert.equal(registrableDomain(url), domain)
      assert.equal(registrableDomain(url, true), withPrivate)
    })
  }

  it('agrees with the tests of the public suffix list', (t) => {
    const suite = conformance('psl-tests.json', t)
    if (suite === null) return
    type Case = { domain: string | null; registrable: string | null }
    const asHost = (name: string): string => new URL(`http://${name}/`).hostname
    for (const { domain, registrable } of suite.cases as Case[]) {
      if (domain === null) continue
      const url = normalizeUrl(`http://${domain}/`)
      assert.ok(url !== null, domain)
      // What has no registrable domain stands for itself.
      assert.equal(registrableDomain(url, true), asHost(registrable ?? domain), domain)
    }
  })
})

describe('displayUrl', () => {
  const shown: readonly (readonly [url: string, shown: string])[] = [
    ['https://h.example/', 'h.example'],
    ['https://h.example:8443/a/b.html', 'h.example:8443 › a › b.html'],
    ['https://h.example/a/b/?q=x%20y', 'h.example › a › b?q=x y'],
    ['https://xn--fiqs8s.example/%E4%B8%AD%E6%96%87/', '中国.example › 中文'],
    ['https://xn--bcher-kva.example/', 'bücher.example'],
    ['https://h.example/%E4%B8/%D6%D0', 'h.example › %E4%B8 › %D6%D0'],
    ['https://h.example/%E2%80%AEgpj.exe', 'h.example › gpj.exe'],
    ['https://h.example/a%00b%0Ac%E2%80%8Bd', 'h.example › abcd'],
    ['https://h.example/%ED%A0%80', 'h.example › %ED%A0%80'],
  ]
  for (const [url, text] of shown) {
    it(`${url} is shown as ${text}`, () => assert.equal(displayUrl(url), text))
  }

  const deceiving = [
    'аррӏе.example',
    'pаypal.example',
    'ехаmple.example',
    'h.exampleノlogin.example',
  ]
  for (const name of deceiving) {
    it(`${name} stays coded`, () => {
      const url = normalizeUrl(`http://${name}/`)
      assert.ok(url !== null)
      assert.match(displayUrl(url), /^[\x21-\x7E]+$/)
    })
  }

  it('is at most 240 characters long and ends with a whole sign', () => {
    const url = normalizeUrl(`http://h.example/${'😀'.repeat(160)}`)
    assert.ok(url !== null)
    const text = displayUrl(url)
    assert.ok(text.length <= 240 && text.endsWith('…') && text.isWellFormed())
  })
})

describe('hasRepeatingPath', () => {
  const traps: readonly (readonly [path: string, isTrap: boolean])[] = [
    ['/a/a/a/', false],
    ['/a/a/a/a/', true],
    ['/x/a/a/a/a', true],
    ['/a/b/a/b/a/b/', false],
    ['/a/b/a/b/a/b/a/b/', true],
    ['/a/b/a/c/a/b/a/c/', false],
    ['/www.h.example/x/www.h.example/x/www.h.example/x/www.h.example/x/', true],
    ['/2024/01/01/01/', false],
    ['/?x=1&amp;amp;amp;y', false],
    ['/?x=1&amp;amp;amp;amp;y', true],
    ['/?a=1&a=1&a=1&a=1', true],
    ['/?a=1&b=2&a=1&c=3&a=1', false],
    ['/?a=1&b=2&a=1&c=3&a=1&a=2&a=1', true],
    ['/?b&a=1&b&a=2&b&a=3&b', false],
    ['/?f[]=a&f[]=b&f[]=c&f[]=d&f[]=e', false],
    ['/', false],
  ]
  for (const [path, isTrap] of traps) {
    it(`${path} is ${isTrap ? 'a trap' : 'a path'}`, () =>
      assert.equal(hasRepeatingPath(`http://h.example${path}`), isTrap))
  }
})

describe('an address that a person typed', () => {
  const cases: [string, string | null][] = [
    ['example.org/docs/', 'https://example.org/docs/'],
    ['localhost:8080', 'https://localhost:8080/'],
    ['http://example.org', 'http://example.org/'],
    ['htp:/example.org', null],
    ['https:example.org', null],
    ['mailto:a@example.org', null],
  ]
  for (const [text, url] of cases)
    it(`${text} is ${url ?? 'none'}`, () => assert.equal(normalizeTyped(text), url))
})
