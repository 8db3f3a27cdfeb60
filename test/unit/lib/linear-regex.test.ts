/** Expressions of users: the same answer as the language's own engine, in linear time, and a clear word about what is not possible. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { array, assert as assertProperty, constantFrom, property } from 'fast-check'
import { compileRegex, RegexProblem } from '../../../src/lib/linear-regex.ts'

const expressions = [
  '',
  'a',
  '^a$',
  'a|b',
  'a*',
  '(a|b)*c',
  '(?:ab)+',
  'a?b',
  '^(a|ab)(c|bcd)$',
  'a{2}',
  'a{2,}',
  'a{0,2}b',
  '^a{1,3}$',
  '[a-c]+',
  '[^a-c]',
  '[]a]'.replace('[]', '[\\]'),
  '[a-]',
  '\\d+',
  '\\D',
  '\\w\\W',
  '\\s',
  '.',
  '^.*$',
  'a.c',
  '\\.',
  '\\/p\\/\\d+',
  '\\u4e2d',
  '\\x61',
  '(a*)*b',
  '(|a)b',
  '(a?){3}',
  '^$',
  'b$|^a',
  'a+?b',
]

describe('a linear regular expression', () => {
  it('answers as the language does, over random texts', () => {
    const letters = constantFrom('a', 'b', 'c', 'd', '-', '1', ' ', '.', '/', 'p', '中', '\n', ']')
    const texts = array(letters, { maxLength: 12 }).map((parts) => parts.join(''))
    assertProperty(
      property(constantFrom(...expressions), texts, (source, text) => {
        assert.equal(
          compileRegex(source).test(text),
          new RegExp(source).test(text),
          `/${source}/ on ${JSON.stringify(text)}`,
        )
      }),
      { numRuns: 5_000 },
    )
  })

  it('may ignore case', () => {
    assert.equal(compileRegex('^/News[A-C]$', true).test('/newsB'), true)
    assert.equal(compileRegex('^/News$').test('/news'), false)
  })

  it('takes a bounded time where the engine of the language takes for ever', () => {
    const text = `${'a'.repeat(2_000)}!`
    const startMs = performance.now()
    for (const source of ['^(a+)+$', '^(a|a)*$', '(.*)*b', '^(a?){100}a{100}$'])
      assert.equal(compileRegex(source).test(text), false, source)
    assert.ok(performance.now() - startMs < 5_000)
  })

  for (const source of [
    'a)',
    '(a',
    '[a',
    '*',
    'a{3,1}',
    'a{999}',
    '\\1',
    '(?=a)',
    '(?<n>a)',
    'a\\',
    '[z-a]',
  ])
    it(`refuses ${source}`, () => {
      assert.throws(() => compileRegex(source), RegexProblem)
    })

  it('refuses what grows too large when it is written out', () => {
    assert.throws(() => compileRegex('((a{200}){200}){200}'), /too large/)
  })
})
