/** Fields by CSS selectors: what browsers would give, where linkedom alone would not, and what is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { applyRule } from '../../../src/crawl/apply-rule.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'
import { ruleFor } from './rule-fixture.ts'

type FieldRule = { name: string; css: string; attribute?: string; many?: boolean }

function extractFields(html: string, url: string, rules: readonly FieldRule[]) {
  const given = Object.fromEntries(rules.map(({ name, ...spec }) => [name, spec]))
  const { metas, jsonLd, shape } = parsePageTree(html)
  const subject = { kind: 'html', html, shape, url, depth: 0, metas, jsonLd } as const
  const { fields, report } = applyRule(ruleFor({ fields: given }), subject)
  return { fields, problems: report.problems }
}

const url = 'http://h.example/dir/page.html'
const one = (html: string, rule: Omit<FieldRule, 'name'>) =>
  extractFields(html, url, [{ name: 'f', ...rule }])

describe('a rule', () => {
  const list = '<ul><li>one</li><li>two <b>bold</b></li></ul>'
  const cases: [name: string, html: string, rule: Omit<FieldRule, 'name'>, value: unknown][] = [
    ['takes the text of the first match', list, { css: 'li' }, 'one'],
    ['takes all matches', list, { css: 'li', many: true }, ['one', 'two bold']],
    ['takes an attribute', '<p data-price=" 12 ">x', { css: 'p', attribute: 'data-price' }, '12'],
    [
      'resolves addresses',
      '<a href="../x?y#z">l</a>',
      { css: 'a', attribute: 'href' },
      'http://h.example/x?y',
    ],
    [
      'resolves them against the base',
      '<base href="/b/"><img src="i.png">',
      { css: 'img', attribute: 'src' },
      'http://h.example/b/i.png',
    ],
    [
      'keeps a mail address',
      '<a href="mailto:a@b.example">m</a>',
      { css: 'a', attribute: 'href' },
      'mailto:a@b.example',
    ],
    [
      'gives no script for an address',
      '<a href="javascript:alert(1)">m</a>',
      { css: 'a', attribute: 'href' },
      undefined,
    ],
    ['gives no field without a match', list, { css: 'h1' }, undefined],
    ['gives no field for an empty text', '<p> </p>', { css: 'p', many: true }, undefined],
    ['joins text at entities', '<p>a &amp; b &lt; c</p>', { css: 'p' }, 'a & b < c'],
    ['parts the text of blocks', '<div><p>a</p><p>b</p>c<br>d</div>', { css: 'div' }, 'a b c d'],
    [
      'leaves scripts out of the text',
      '<div>a<script>x</script><style>y</style><template>z</template></div>',
      { css: 'div' },
      'a',
    ],
    ['works without html, head and body', '<title>T</title><p>one', { css: 'p' }, 'one'],
    ['works with a title first', '<title>T</title><p>one', { css: 'title' }, 'T'],
    ['works on text alone', 'just text', { css: 'body' }, 'just text'],
    ['works on nothing', '', { css: 'p' }, undefined],
    [
      'finds what stands after the end',
      '<html><head></head><body><p>1</p></body></html><p>2</p>',
      { css: 'body > p', many: true },
      ['1', '2'],
    ],
    [
      'finds what stands between head and body',
      '<html><head></head><p>1</p><body><p>2</p></body>',
      { css: 'html > body > p', many: true },
      ['2', '1'],
    ],
    [
      'knows the tbody that browsers add',
      '<table><tr><td>x</td></tr></table>',
      { css: 'table > tbody > tr > td' },
      'x',
    ],
    ['is not hung up by a canvas', '<canvas><p>c</p></canvas>', { css: 'p' }, 'c'],
    ['finds Chinese names', '<div id="价格">12 元</div>', { css: '#价格' }, '12 元'],
    ['may count on a page of moderate size', list, { css: 'li:nth-child(2)' }, 'two bold'],
  ]
  for (const [name, html, rule, value] of cases)
    it(name, () =>
      assert.deepEqual(one(html, rule), {
        fields: value === undefined ? {} : { f: value },
        problems: [],
      }),
    )

  it('keeps values within their limits', () => {
    const { fields } = one(`<p>${'x'.repeat(20_000)}</p>`.repeat(300), { css: 'p', many: true })
    const values = fields['f'] as string[]
    assert.deepEqual([values.length, values[0]?.length], [200, 10_000])
  })
})

describe('what rules cannot do', () => {
  const cases: [name: string, html: string, rule: FieldRule, problem: RegExp][] = [
    ['a selector that is none', '<p>a', { name: 'f', css: 'p[' }, /^f: .*name/],
    ['an unknown pseudo-class', '<p>a', { name: 'f', css: 'p:foo' }, /^f: .*:foo/],
    ['a deep page', '<div>'.repeat(2_000), { name: 'f', css: 'div' }, /deep/],
    [
      'a page of too many elements',
      '<b>x</b>'.repeat(50_001),
      { name: 'f', css: 'b' },
      /too many elements/,
    ],
    [
      'counting siblings without end',
      '<p>x'.repeat(3_000),
      { name: 'f', css: 'p:nth-child(2n)' },
      /siblings/,
    ],
    ['neighbours without end', '<p>x'.repeat(3_000), { name: 'f', css: 'p ~ p' }, /siblings/],
  ]
  for (const [name, html, rule, problem] of cases)
    it(`is a problem: ${name}`, () => {
      const start = process.cpuUsage()
      const { fields, problems } = extractFields(html, url, [rule])
      const { user, system } = process.cpuUsage(start)
      assert.deepEqual(fields, {})
      assert.equal(Object.getPrototypeOf(fields), Object.prototype)
      assert.match(problems[0] ?? '', problem)
      assert.ok((user + system) / 1_000 < 1_500)
    })

  it('does not spoil the other rules', () => {
    const { fields, problems } = extractFields('<p>a', url, [
      { name: 'bad', css: '[' },
      { name: 'good', css: 'p' },
    ])
    assert.deepEqual(fields, { good: 'a' })
    assert.equal(problems.length, 1)
    assert.match(problems[0] ?? '', /^bad: /)
  })
})
