/** What can be typed, and what is made of it. Cases are data. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type Condition, dayOf, parseQuery } from '../../../src/search/query.ts'

/** `is`: the fields that are not empty; pieces as texts, conditions written down by `written`, without those that the other lists tell. */
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
    is: { site: ['example.com/docs'], pieces: ['x'] },
  },
  { q: 'intitle:guide intitle:"two words"', is: { inTitle: ['guide', 'two words'] } },
  { q: 'filetype:.PDF lang:ZH', is: { fileType: ['pdf'], lang: ['zh'] } },
  {
    q: 'after:2026-02 before:2026',
    is: { afterMs: Date.UTC(2026, 1, 1), beforeMs: Date.UTC(2026, 0, 1) },
  },
  { q: 'after:yesterday x', is: { pieces: ['x'] }, warns: /no date/ },
  { q: 'cats OR dogs food', is: { pieces: ['food'], conditions: '(cats|dogs)' } },
  { q: 'a OR b OR c d', is: { pieces: ['d'], conditions: '(a|b|c)' } },
  { q: 'a ＯＲ b', is: { conditions: '(a|b)' } },
  { q: 'a|b', is: { conditions: '(a|b)' } },
  { q: '食品｜药品', is: { conditions: '(食品|药品)' } },
  { q: 'a AND b && c', is: { pieces: ['a', 'b', 'c'] } },
  { q: '(a b) c', is: { pieces: ['a', 'b', 'c'] } },
  { q: '(a b) OR (c -d)', is: { conditions: '((a&b)|(c&!d))' } },
  { q: 'x (a OR (b (c OR "d e")))', is: { pieces: ['x'], conditions: '(a|(b&(c|"d e")))' } },
  { q: '招商（公司 OR 银行）', is: { pieces: ['招商'], conditions: '(公司|银行)' } },
  { q: '-(a OR b) c', is: { pieces: ['c'], conditions: '!(a|b)' } },
  { q: 'a NOT b', is: { pieces: ['a'], conditions: '!b', without: ['b'] } },
  { q: 'DO NOT ENTER', is: { pieces: ['DO', 'NOT', 'ENTER'] } },
  { q: 'OR x', is: { pieces: ['x'] }, warns: /OR/ },
  { q: 'x OR', is: { pieces: ['x'] }, warns: /OR/ },
  { q: 'a OR OR b', is: { pieces: ['a', 'b'] }, warns: /OR/ },
  { q: '"a b" OR c', is: { conditions: '("a b"|c)' } },
  { q: 'f(x) foo() :)', is: { pieces: ['f(x)', 'foo()', ':)'] } },
  { q: ')( ) (', is: {} },
  { q: 'wor* 食品*', is: { pieces: ['食品*'], conditions: 'wor*' } },
  { q: 'comput＊', is: { conditions: 'comput*' } },
  { q: '* ** a*b', is: { pieces: ['*', '**', 'a*b'] } },
  { q: 'inurl:docs -inurl:old', is: { conditions: 'url:docs !url:old' } },
  { q: 'inurl:/docs file:/etc', is: { conditions: 'url:/docs', pieces: ['file:/etc'] } },
  { q: '-intitle:a -filetype:pdf -lang:zh', is: { conditions: '!title:a !type:pdf !lang:zh' } },
  { q: 'site:a.com OR site:b.com', is: { conditions: '(site:a.com|site:b.com)' } },
  { q: '-site:a.com/x', is: { conditions: '!site:a.com/x' } },
  { q: 'field:price=10..20', is: { conditions: 'price number 10..20' } },
  { q: 'field：price＞=10', is: { conditions: 'price number 10..null' } },
  { q: 'field:date<2026-02', is: { conditions: `date time null..${Date.UTC(2026, 2, 1) - 1}` } },
  { q: 'field:author="Ann Lee" x', is: { pieces: ['x'], conditions: 'author is ann lee' } },
  { q: 'field:nothing', is: { pieces: ['nothing'] }, warns: /condition/ },
  { q: 'keyword:"search engine" x', is: { pieces: ['x'], keyword: ['search engine'] } },
  { q: '关键词 keyword：茶园', is: { pieces: ['关键词'], keyword: ['茶园'] } },
  { q: 'related:https://a.com/b', is: { related: 'https://a.com/b' } },
  { q: '《三体》 ｢黑暗森林｣', is: { phrases: ['三体', '黑暗森林'] } },
  { q: '《三体》是由哪个公司出版的', is: { pieces: ['三体', '是由哪个公司出版的'] } },
  { q: '「甲『乙』丙」', is: { phrases: ['甲『乙』丙'] } },
  { q: `"${'long quotation of words '.repeat(6)}"`, is: { phrases: 1 } },
  { q: 'color:red x', is: { pieces: ['color red', 'x'] }, warns: /color/ },
  { q: 'https://example.com/a?b=c', is: { pieces: ['https://example.com/a?b=c'] } },
  { q: 'std::vector 12:30', is: { pieces: ['std::vector', '12:30'] } },
  { q: 'half "a phrase', is: { pieces: ['half', 'a', 'phrase'] }, warns: /partner/ },
  { q: `${'long text of words '.repeat(5)}"quoted words"`, is: { pieces: 21 }, warns: /length/ },
]

function written(condition: Condition): string {
  switch (condition.kind) {
    case 'all':
      return `(${condition.of.map(written).join('&')})`
    case 'any':
      return `(${condition.of.map(written).join('|')})`
    case 'not':
      return `!${written(condition.of)}`
    case 'words':
      return condition.text
    case 'phrase':
      return `"${condition.text}"`
    case 'prefix':
      return `${condition.text}*`
    case 'time':
      return `${condition.afterMs}-${condition.beforeMs}`
    case 'field': {
      const { name, test } = condition
      return test.op === 'between'
        ? `${name} ${test.unit} ${test.from}..${test.to}`
        : `${name} ${test.op} ${test.value}`
    }
    case 'title':
    case 'url':
    case 'site':
    case 'lang':
    case 'type':
    case 'keyword':
      return `${condition.kind}:${condition.text}`
  }
}

/** Phrases, exclusions and titles have lists of their own. */
const isListed = ({ kind, ...more }: Condition): boolean =>
  kind === 'phrase' ||
  kind === 'title' ||
  (kind === 'not' && 'of' in more && ['words', 'phrase'].includes((more.of as Condition).kind))

describe('a query', () => {
  for (const { q, is, warns } of cases)
    it(`"${q.slice(0, 40)}" is taken apart`, () => {
      const parsed = parseQuery(q)
      const pieces = parsed.pieces.map(({ text }) => text)
      const conditions = parsed.conditions
        .filter((one) => !isListed(one) || q.includes('NOT'))
        .map(written)
        .join(' ')
      const flat: Record<string, unknown> = { ...parsed, pieces, conditions }
      for (const [name, value] of Object.entries(flat)) {
        if (name === 'text' || name === 'warnings') continue
        if (typeof is[name] === 'number' && Array.isArray(value)) {
          assert.equal(value.length, is[name])
          continue
        }
        const empty = name === 'conditions' ? '' : Array.isArray(value) ? [] : null
        assert.deepEqual(value, is[name] ?? empty, name)
      }
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
      ')',
      '|',
      '*',
      'field:x>',
      'NOT ',
      '「',
      'related:',
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
    assert.equal(dayOf('0050'), null)
  })

  it('takes dates as people write them', () => {
    const day = Date.UTC(2026, 1, 3)
    for (const text of [
      '2026-02-03',
      '2026/2/3',
      '2026.2.3',
      '20260203',
      '2026年2月3日',
      '２０２６-02-03',
    ])
      assert.equal(dayOf(text), day, text)
    for (const text of ['2026-02', '2026年2月', '2026/2'])
      assert.equal(dayOf(text), Date.UTC(2026, 1, 1))
    for (const text of ['', '26', '2026-', '2026-2-3-4', 'x', '20261', '2026年13月'])
      assert.equal(dayOf(text), null, text)
  })
})
