/** Scopes: what is in, which rule says so, when two are the same and when one holds the other. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  covers,
  isAdmitted,
  isInScope,
  resolveScope,
  scopeKey,
  type Scope,
  type ScopeSpec,
} from '../../../src/crawl/scope.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { normalizeUrl } from '../../../src/lib/url.ts'

/** Said in words and without them. */
function inScope(spec: ScopeSpec, url: string): boolean {
  const judged = isInScope(spec, url).inScope
  assert.equal(isAdmitted(spec, url), judged)
  return judged
}

const seed = 'http://www.h.example:8080/docs/guide/start.html?v=1/2'
const verdicts: Record<Exclude<Scope, 'any'>, { isIn: string[]; isOut: string[] }> = {
  page: {
    isIn: [seed, 'https://www.h.example:8080/docs/guide/start.html?v=1/2'],
    isOut: ['http://www.h.example:8080/docs/guide/start.html', `${seed}3`],
  },
  path: {
    isIn: ['http://www.h.example:8080/docs/guide/', 'https://www.h.example:8080/docs/guide/a/b'],
    isOut: [
      'http://www.h.example:8080/docs/',
      'http://www.h.example:8080/docs/guides/',
      'http://www.h.example/docs/guide/',
    ],
  },
  host: {
    isIn: ['http://www.h.example:8080/', 'https://www.h.example:8080/other'],
    isOut: ['http://www.h.example/', 'http://h.example:8080/', 'http://www.h.example:80801/'],
  },
  domain: {
    isIn: ['http://h.example/', 'https://a.b.h.example:8443/x'],
    isOut: ['http://xh.example/', 'http://h.example.evil/', 'http://example/'],
  },
}

describe('isInScope', () => {
  for (const [scope, { isIn, isOut }] of Object.entries(verdicts)) {
    const spec = resolveScope(seed, scope as Scope, [], 64)
    for (const url of isIn)
      it(`${scope}: ${url} is in`, () => assert.equal(inScope(spec, url), true))
    for (const url of isOut)
      it(`${scope}: ${url} is out`, () => assert.equal(inScope(spec, url), false))
  }

  it('any: everything is in', () => {
    const spec = resolveScope(seed, 'any', [], 64)
    assert.equal(inScope(spec, 'https://elsewhere.example/'), true)
  })

  it('takes included prefixes in, under every scope', () => {
    for (const scope of ['page', 'path', 'host', 'domain'] as const) {
      const spec = resolveScope(seed, scope, ['https://other.example/blog'], 64)
      assert.equal(inScope(spec, 'http://other.example/blog/2026'), true)
      assert.equal(inScope(spec, 'http://other.example/shop'), false)
    }
  })

  it('keeps neighbours under one hosting suffix apart', () => {
    const spec = resolveScope('http://alice.github.io/', 'domain', [], 64)
    assert.equal(inScope(spec, 'http://bob.github.io/'), false)
  })

  it('says in words which rule decided', () => {
    const spec = resolveScope(
      'http://h.example/docs/a.html',
      'path',
      ['http://h.example/blog/'],
      64,
    )
    const line = (url: string): string => isInScope(spec, url).line
    assert.equal(
      line('http://h.example/docs/b'),
      'scope path: it is in the folder //h.example/docs/ or below',
    )
    assert.equal(line('http://h.example/blog/b'), 'included: it begins with //h.example/blog/')
    assert.equal(
      line('http://h.example/x'),
      'scope path: it is not in the folder //h.example/docs/ or below and begins with none of 1 included prefixes',
    )
  })
})

describe('resolveScope', () => {
  it('refuses what is no URL, too many prefixes and a depth that is none', () => {
    const invalid = (error: unknown): boolean =>
      error instanceof AppError && error.code === 'invalid_parameter'
    assert.throws(() => resolveScope('ftp://h.example/', 'host', [], 1), invalid)
    assert.throws(() => resolveScope(seed, 'host', ['nonsense'], 1), invalid)
    assert.throws(() => resolveScope(seed, 'host', [], -1), invalid)
    assert.throws(() => resolveScope(seed, 'host', [], 1.5), invalid)
    const prefixes = (count: number): string[] =>
      Array.from({ length: count }, (_, i) => `http://p${i}.example/`)
    assert.equal(resolveScope(seed, 'host', prefixes(100), 1).prefixes.length, 101)
    assert.throws(() => resolveScope(seed, 'host', prefixes(101), 1), invalid)
  })

  it('gives equal scopes one key, however they were wished for', () => {
    const one = resolveScope(
      'http://h.example/docs/a',
      'path',
      ['http://b.example/', 'http://a.example/x', 'http://a.example/'],
      8,
    )
    const two = resolveScope(
      'https://H.example:443/docs/b?c#d',
      'path',
      ['https://a.example', 'http://b.example/', 'http://h.example/docs/deep/'],
      8,
    )
    assert.equal(scopeKey(one), scopeKey(two))
    assert.notEqual(scopeKey(one), scopeKey({ ...one, depth: 9 }))
  })

  it('survives the key as JSON', () => {
    const spec = resolveScope(seed, 'domain', ['http://a.example/'], 3)
    assert.deepEqual(JSON.parse(scopeKey(spec)), spec)
  })
})

describe('covers', () => {
  const spec = (url: string, scope: Scope, depth = 64, include: string[] = []): ScopeSpec =>
    resolveScope(url, scope, include, depth)
  const root = 'http://a.h.example/'
  const pairs: readonly (readonly [wide: ScopeSpec, narrow: ScopeSpec, covers: boolean])[] = [
    [spec(root, 'any'), spec(root, 'any'), true],
    [spec(root, 'any'), spec(seed, 'domain'), true],
    [spec(root, 'domain'), spec(root, 'any'), false],
    [spec(root, 'domain'), spec('http://b.h.example/x', 'host'), true],
    [spec(root, 'domain'), spec('http://b.h.example/x', 'domain'), true],
    [spec(root, 'host'), spec(root, 'domain'), false],
    [spec(root, 'host'), spec(`${root}x/y`, 'path'), true],
    [spec(root, 'host', 3), spec(`${root}x/y`, 'path', 4), false],
    [spec(`${root}x/`, 'path'), spec(root, 'host'), false],
    [spec(`${root}x/`, 'path'), spec(`${root}x/y`, 'page'), true],
    [spec(`${root}x/y`, 'page'), spec(`${root}x/y`, 'page'), true],
    [spec(`${root}x/y/`, 'page'), spec(`${root}x/y/`, 'path'), false],
    [spec(root, 'host'), spec(root, 'host', 64, ['http://o.example/']), false],
    [spec(root, 'host', 64, ['http://o.example/']), spec('http://o.example/b', 'path'), true],
  ]
  for (const [wide, narrow, expected] of pairs) {
    it(`${scopeKey(wide)} ${expected ? 'holds' : 'does not hold'} ${scopeKey(narrow)}`, () =>
      assert.equal(covers(wide, narrow), expected))
  }

  it('never says yes where a URL is in the narrow scope and not in the wide one', () => {
    const url = fc
      .tuple(
        fc.constantFrom('http', 'https'),
        fc.constantFrom('h.example', 'a.h.example', 'o.example', 'h.example:8080'),
        fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }),
        fc.boolean(),
      )
      .map(
        ([scheme, host, path, isFolder]) =>
          `${scheme}://${host}/${path.join('/')}${isFolder ? '/' : ''}`,
      )
      .map((text) => normalizeUrl(text) ?? root)
    const scopes = fc
      .record({
        url,
        scope: fc.constantFrom<Scope>('page', 'path', 'host', 'domain', 'any'),
        include: fc.array(url, { maxLength: 2 }),
        depth: fc.nat(2),
      })
      .map((wish) => resolveScope(wish.url, wish.scope, wish.include, wish.depth))
    fc.assert(
      fc.property(
        scopes,
        scopes,
        fc.array(url, { minLength: 10, maxLength: 20 }),
        (wide, narrow, urls) => {
          assert.ok(covers(wide, wide))
          if (!covers(wide, narrow)) return
          for (const one of urls) {
            if (inScope(narrow, one)) assert.ok(inScope(wide, one), one)
          }
        },
      ),
      { numRuns: 1500 },
    )
  })
})
