/** That no text of a stranger becomes markup. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { escapeHtml, html, marked, webHref } from '../../../src/server/html.ts'

describe('html', () => {
  it('escapes every value but other html', () => {
    const inner = html`<b>${'<i>'}</b>`
    assert.equal(html`${inner}|${'"&\''}|${7}`.text, '<b>&lt;i&gt;</b>|&quot;&amp;&#39;|7')
  })
  it('joins lists and shows nothing for null, undefined and false', () => {
    assert.equal(
      html`[${['a', html`<i>i</i>`, ['b']]}${null}${undefined}${false}]`.text,
      '[a<i>i</i>b]',
    )
  })
  it('does not take an object that only looks like html for html', () => {
    const fake: unknown = JSON.parse('{"text": "<script>"}')
    assert.doesNotMatch(html`${fake as string}`.text, /<script>/)
  })
  it('drops controls and bidi overrides, keeps line feeds and Chinese', () => {
    assert.equal(escapeHtml('a\u0000\u0008\u202eb\u2066c\n食\u{20bb7}'), 'abc\n食\u{20bb7}')
  })
})

describe('marked', () => {
  const cases: [string, readonly (readonly [number, number])[], string][] = [
    ['abc', [[1, 2]], 'a<mark>b</mark>c'],
    ['abc', [], 'abc'],
    ['<b>', [[0, 1]], '<mark>&lt;</mark>b&gt;'],
    [
      'abcd',
      [
        [2, 4],
        [0, 1],
      ],
      '<mark>a</mark>b<mark>cd</mark>',
    ],
    [
      'abcd',
      [
        [0, 3],
        [1, 4],
      ],
      '<mark>abc</mark><mark>d</mark>',
    ],
    ['abc', [[-5, 99]], '<mark>abc</mark>'],
    [
      'abc',
      [
        [2, 1],
        [NaN, 2],
        [5, 9],
      ],
      'abc',
    ],
  ]
  for (const [text, ranges, expected] of cases) {
    it(`makes ${expected}`, () => assert.equal(marked(text, ranges).text, expected))
  }
  it('adds nothing but marks, whatever the ranges are', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.tuple(fc.integer(), fc.integer())), (text, ranges) => {
        const bare = marked(text, ranges).text.replaceAll(/<\/?mark>/g, '')
        assert.equal(bare, escapeHtml(text))
      }),
    )
  })
})

describe('webHref', () => {
  const refused = [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    '\u0001javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example/',
    '/relative',
    '',
  ]
  for (const url of refused) {
    it(`refuses ${JSON.stringify(url)}`, () => assert.equal(webHref(url), null))
  }
  it('gives http and https back in canonical form', () => {
    assert.equal(webHref('HTTPS://Example.org/a b'), 'https://example.org/a%20b')
  })
})
