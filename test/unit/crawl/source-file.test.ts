/** Described sources: defaults, limits, and mistakes that are told with their line, their path and what was meant. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '../../../src/lib/errors.ts'
import { parseSource, parseSourceFile } from '../../../src/crawl/source-file.ts'
import { compilePattern } from '../../../src/crawl/url-pattern.ts'

const faultOf = (work: () => unknown): AppError => {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    return error
  }
  throw new Error('nothing was refused')
}
const rule = { name: 'r', kind: 'detail', match: '/p/*' }
const source = (change: object): unknown => ({ name: 'n', seeds: 'example.org', ...change })

describe('a described source', () => {
  it('has defaults for all but its name and its seeds', () => {
    assert.deepEqual(parseSource(source({})), {
      name: 'n',
      seeds: ['https://example.org/'],
      scope: 'path',
      include: [],
      only: [],
      exclude: [],
      maxPages: null,
      maxPagesPerHost: null,
      depth: 64,
      delayMs: null,
      copies: 'fold',
      ttlDays: null,
      schedule: null,
      http: null,
      rules: [],
    })
  })
  it('follows of a list only what its rule names; of a detail page everything', () => {
    const { rules } = parseSource(
      source({
        rules: [
          { name: 'list', kind: 'list', match: '/list', links: 'a.item' },
          { name: 'plain list', kind: 'list', match: '/all' },
          { name: 'json', kind: 'list', match: '/api/**', format: 'json', links: '$.items[*].url' },
          rule,
        ],
      }),
    )
    assert.deepEqual(
      rules.map(({ follow, store }) => [follow, store]),
      [
        [false, true],
        [true, true],
        [false, false],
        [true, true],
      ],
    )
    assert.deepEqual(rules[0]?.links, [{ css: 'a.item' }])
    assert.deepEqual(rules[2]?.links, [{ json: '$.items[*].url' }])
  })
  it('names what makes the fingerprint for each rule that names nothing itself', () => {
    const fields = { price: '.price' }
    const rules = [
      { ...rule, fields },
      { ...rule, name: 'own', fingerprintFields: 'title' },
    ]
    assert.deepEqual(
      parseSource(source({ fingerprintFields: ['text', 'price'], rules })).rules.map(
        ({ fingerprintFields }) => fingerprintFields,
      ),
      [['text', 'price'], ['title']],
    )
    assert.equal(parseSource(source({ rules })).rules[0]?.fingerprintFields, undefined)
  })
  const faults: [object, RegExp][] = [
    [{ name: 'a/b' }, /^name: letters/],
    [{ seeds: [] }, /^seeds: 1 to 1000/],
    [{ seeds: ['ftp://h/'] }, /^seeds\[0\]: no http/],
    [{ scope: 'hots' }, /^scope: .*did you mean "host"/],
    [{ exclude: 'private' }, /^exclude: a pattern is wanted/],
    [{ exclude: [{ regex: '(a' }] }, /^exclude\[0\]: a \) is missing/],
    [{ limits: { pages: 0 } }, /^limits\.pages: /],
    [{ limit: {} }, /^limit: .*did you mean "limits"/],
    [{ http: { userAgent: 'x' } }, /^http: .*userAgent/],
    [{ ttlDays: 0 }, /^ttlDays: /],
    [{ rules: [{ ...rule, kind: 'page' }] }, /^rules\[0\]\.kind/],
    [{ rules: [rule, rule] }, /^rules\[1\]\.name: there is a rule "r" already/],
    [{ rules: [{ ...rule, fields: { a: {} } }] }, /^rules\[0\]\.fields\.a: one of css/],
    [{ rules: [{ ...rule, fields: { a: { css: 'a', xpath: '//a' } } }] }, /only one of css, xpath/],
    [{ rules: [{ ...rule, fields: { a: '$.[' } }] }, /fields\.a\.json: the JSON path is not/],
    [{ rules: [{ ...rule, fields: { a: { css: 'a', regex: '(' } } }] }, /fields\.a\.regex: /],
    [{ rules: [{ ...rule, fields: { '1a': 'a' } }] }, /fields\.1a: the name/],
    [{ rules: [{ ...rule, fields: { a: { css: 'a', type: 'int' } } }] }, /a\.type: one of text/],
    [
      { rules: [{ ...rule, details: { template: 'https://h/{x}', values: { id: 'a' } } }] },
      /\{x\} is none of the values/,
    ],
    [
      { rules: [{ ...rule, details: { template: '/p', values: { id: 'a' } } }] },
      /it names no value/,
    ],
    [
      { rules: [{ ...rule, details: { template: '/{a}/{b}', values: { a: 'a', b: 'b' } } }] },
      /more than one value needs "each"/,
    ],
    [
      { rules: [{ ...rule, expect: { url: 'https://h/', fields: { price: 1 } } }] },
      /expect\[0\]\.fields\.price: the rule has no such field/,
    ],
    [{ rules: [{ name: 'j', kind: 'list', match: '/a', format: 'json' }] }, /JSON list needs/],
    [{ fingerprintFields: 'title' }, /^fingerprintFields: it says nothing without "rules"/],
    [
      { fingerprintFields: ['text', 'price'], rules: [rule] },
      /^fingerprintFields\[1\]: "price" is/,
    ],
    [
      { rules: [{ ...rule, fingerprintFields: 'titel' }] },
      /^rules\[0\]\.fingerprintFields\[0\]: "titel" is none of title, text/,
    ],
  ]
  for (const [change, wanted] of faults)
    it(`is refused with ${JSON.stringify(change)}`, () => {
      const fault = faultOf(() => parseSource(source(change)))
      assert.equal(fault.code, 'invalid_parameter')
      assert.match(fault.message, wanted)
    })
})

describe('a file of sources', () => {
  it('is JSON or, by its name, TOML, and means the same', () => {
    const json = `{"sources": [{"name": "n", "seeds": ["h.example"], "limits": {"pages": 7}}]}`
    const toml = `[[sources]]\nname = "n"\nseeds = ["h.example"]\nlimits.pages = 7\n`
    assert.deepEqual(parseSourceFile(json, 'a.json'), parseSourceFile(toml, 'a.toml'))
  })
  const faults: [string, string, RegExp][] = [
    ['a.json', '{\n"sources": [\n{"name": "n" "seeds": []}]}', /^a\.json, line 3: no JSON/],
    ['a.toml', '[[sources]]\nname = \n', /^a\.toml, line 2: /],
    ['a.json', '{\n"sourcse": []}', /^a\.json, line 2: sourcse: .*did you mean "sources"/],
    [
      'a.json',
      '{"sources": [{\n"name": "n",\n"seeds": "h",\n"scop": "host"}]}',
      /^a\.json, line 4: sources\[0\]\.scop: .*"scope"/,
    ],
    [
      'a.toml',
      '[[sources]]\nname = "n"\nseeds = "h"\nscop = "host"',
      /^a\.toml, line 4: sources\[0\]\.scop: /,
    ],
    [
      'a.json',
      '{"sources": [{"name": "n", "seeds": "h"},\n{"name": "n", "seeds": "i"}]}',
      /^a\.json, line 2: sources\[1\]\.name: there is a source "n" already/,
    ],
    ['a.json', '[]', /^a\.json, line 1: an object is wanted/],
  ]
  for (const [file, content, wanted] of faults)
    it(`is refused: ${content.replaceAll('\n', ' ')}`, () => {
      const fault = faultOf(() => parseSourceFile(content, file))
      assert.equal(fault.code, 'bad_input')
      assert.match(fault.message, wanted)
    })
})

describe('a pattern of URLs', () => {
  const cases: [string | { regex: string }, string, boolean][] = [
    ['/p/*', 'https://h.example/p/1', true],
    ['/p/*', 'https://h.example/p/', true],
    ['/p/*', 'https://h.example/p/1/2', false],
    ['/p/*', 'https://h.example/p/1?page=2', false],
    ['/p/**', 'https://h.example/p/1/2?page=2', true],
    ['/list?page=*', 'https://h.example/list?page=12', true],
    ['/list?page=*', 'https://h.example/listxpage=12', false],
    ['https://h.example/p/*', 'http://h.example/p/1', true],
    ['https://h.example/p/*', 'https://other.example/p/1', false],
    ['https://h.example:8080/**', 'https://h.example:8080/', true],
    ['https://*.example/**', 'https://a.b.example/x', true],
    ['/', 'https://h.example/', true],
    ['/', 'https://h.example/p', false],
    [{ regex: '/p/[0-9]+$' }, 'https://h.example/p/12', true],
    [{ regex: '/p/[0-9]+$' }, 'https://h.example/p/12a', false],
  ]
  for (const [pattern, url, fits] of cases)
    it(`${JSON.stringify(pattern)} ${fits ? 'fits' : 'does not fit'} ${url}`, () =>
      assert.equal(compilePattern(pattern)(url), fits))
})
