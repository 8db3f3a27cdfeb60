/** What can be typed, and what is made of it. Cases are data. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { dayOf, parseQuery } from '../../../src/search/query.ts'

/** `is`: the fields that are not empty; pieces as texts. */
const cases: { q: string; is: Record<string, unknown>; warns?: RegExp }[] = [
  { q: '', is: {} },
  { q: 'plain words', is: { pieces: ['plain', 'words'] } },
  { q: '"new york" pizza', is: { phrases: ['new york'], pieces: ['pizza'] } },
  { q: '“食品安全” 「抽检」', is: { phrases: ['食品安全', '抽检'] } },
  { q: '招商 -公司', is: { pieces: ['招商'], without: ['公司'] } },
  { q: '招商 －公司', is: { pieces: ['招商'], without: ['公司'] } },
  { q: 'a -"b c"', is: { pieces: ['a'], withoutPhrases: ['b c'] } },
  { q: 'well-known - x', is: { pieces: ['well-known', '-', 'x'] } },
  {
    q: 'site:Example.com -site:old.example.com x',
    is: { site: ['example.com'], notSite: ['old.example.com'], pieces: ['x'] },
  },
  { q: 'site：samr.gov.cn　抽检', is: { site: ['samr.gov.cn'], pieces: ['抽检'] } },
  {
    q: 'site:https://example.com/docs x',
    is: { site: ['example.com'], pieces: ['x'] },
    warns: /path/,
  },
  { q: 'intitle:guide intitle:"two words"', is: { inTitle: ['guide', 'two words'] } },
  { q: 'filetype:.PDF lang:ZH', is: { fileType: ['pdf'], lang: ['zh'] } },
  {
    q: 'after:2026-02 before:2026',
    is: { afterMs: Date.UTC(2026, 1, 1), beforeMs: Date.UTC(2026, 0, 1) },
  },
  { q: 'after:yesterday x', is: { pieces: ['x'] }, warns: /no date/ },
  { q: 'cats OR dogs food', is: { pieces: ['cats', 'dogs', 'food'], groups: [0, 0, null] } },
  { q: 'a OR b OR c d', is: { pieces: ['a', 'b', 'c', 'd'], groups: [0, 0, 0, null] } },
  { q: 'a ＯＲ b', is: { pieces: ['a', 'b'], groups: [0, 0] } },
  { q: 'OR x', is: { pieces: ['x'] }, warns: /OR/ },
  { q: '"a b" OR c', is: { phrases: ['a b'], pieces: ['c'] }, warns: /OR/ },
  { q: 'color:red x', is: { pieces: ['color red', 'x'] }, warns: /color/ },
  { q: 'https://example.com/a?b=c', is: { pieces: ['https://example.com/a?b=c'] } },
  { q: 'std::vector 12:30', is: { pieces: ['std::vector', '12:30'] } },
  { q: 'half "a phrase', is: { pieces: ['half', 'a', 'phrase'] }, warns: /partner/ },
  { q: `${'long text of words '.repeat(5)}"quoted words"`, is: { pieces: 21 }, warns: /length/ },
]

describe('a query', () => {
  for (const { q, is, warns } of cases)
    it(`"${q.slice(0, 40)}" is taken apart`, () => {
      const parsed = parseQuery(q)
      const pieces = parsed.pieces.map(({ text }) => text)
      const flat: Record<string, unknown> = { ...parsed, pieces }
      for (const [name, value] of Object.entries(flat)) {
        if (name === 'text' || name === 'warnings') continue
        if (name === 'pieces' && typeof is.pieces === 'number') {
          assert.equal(pieces.length, is.pieces)
          continue
        }
        const empty = name.endsWith('Ms') ? null : []
        assert.deepEqual(value, is[name] ?? empty, name)
      }
      if (is.groups)
        assert.deepEqual(
          parsed.pieces.map(({ group }) => group),
          is.groups,
        )
      if (warns) assert.match(parsed.warnings.join(), warns)
      else assert.deepEqual(parsed.warnings, [])
    })

  it('never makes the parser fail', () => {
    const piece = fc.constantFrom(
      '"',
      '-',
      'site:',
      'OR',
      ' ',
      '：',
      '“',
      'a',
      '食',
      'before:',
      '(',
      '\u0000',
      '\ud800',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ unit: 'binary' })), { maxLength: 30 }),
        (parts) => {
          const text = parts.join('')
          assert.equal(parseQuery(text).text, text)
        },
      ),
    )
  })

  it('names days that exist only', () => {
    assert.equal(dayOf('2026-02-29'), null)
    assert.equal(dayOf('2024-02-29'), Date.UTC(2024, 1, 29))
    assert.equal(dayOf('2026-13'), null)
  })
})
