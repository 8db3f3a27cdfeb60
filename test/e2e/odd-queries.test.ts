/** What people and programs type that is no query: a real server answers each as the API says, and goes on. DATA names a directory to ask instead of a small one. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createRandom, sentences, titleOf } from '../site/words.ts'
import { localServe, makeDirectory, run, serve, type Json, type Server } from './program.ts'

/** By kind, so that a failure names what it is about. `status` 200 unless another is said. */
const many = (count: number, of: (i: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, i) => of(i)).join(between)
const nested = (depth: number): string => '('.repeat(depth) + 'harbour' + ')'.repeat(depth)

const odd: Record<string, readonly string[]> = {
  'parentheses without partners': [
    '(',
    ')',
    '()',
    '((((',
    '))))',
    '(harbour',
    'harbour)',
    ')(',
    '(()',
    '(harbour OR (',
    ') OR (',
    '( )  ( )',
    nested(32),
    nested(400),
    `${'('.repeat(1_000)}harbour`,
  ],
  'quotation marks without partners': [
    '"',
    '""',
    '"""',
    '"harbour',
    'harbour"',
    '" "',
    '“',
    '”harbour“',
    '「',
    '「」',
    '《harbour',
    "'\"'",
    '"-"',
    '"OR"',
    '"*"',
  ],
  'operators alone': [
    '-',
    '--',
    '- -',
    'OR',
    'OR OR OR',
    '|',
    '||',
    'AND',
    'NOT',
    '*',
    '**',
    '* *',
    '+',
    '~',
    '^',
    '-*',
    '-()',
    '-""',
    '-(OR)',
    'OR -',
    '(OR)',
    'OR harbour',
    'harbour OR',
    'harbour OR OR kettle',
  ],
  'filters without values': [
    'site:',
    'lang:',
    'intitle:',
    'inurl:',
    'filetype:',
    'before:',
    'after:',
    'field:',
    'field:=',
    'field:a=',
    'field:=b',
    'field:a>',
    'field:a=1..',
    'field:a=..',
    'related:',
    '-site:',
    '-intitle:',
    'site:site:site:',
    'site:"',
    'intitle:()',
    'inurl:(a OR b)',
  ],
  'filters with odd values': [
    'site:..',
    'site://',
    'site:*',
    'site:a..b',
    `site:${'a'.repeat(500)}`,
    'lang:xx-yy-zz',
    'before:0000-00-00',
    'before:9999-99-99',
    'after:-1',
    'after:2024-13-45',
    'before:tomorrow',
    'field:a=1..0',
    'field:a>=x',
    'field:__proto__=1',
    'field:constructor=1',
    'related:javascript:alert(1)',
    'related:http://[',
    'inurl:%',
    'inurl:%00',
    'filetype:../..',
  ],
  'full-width operators': [
    '（harbour',
    'harbour）',
    '（harbour ＯＲ kettle）',
    '－harbour',
    '－',
    '＊',
    'harbour＊',
    '＂harbour kettle＂',
    'ｓｉｔｅ：a.example',
    'ｉｎｔｉｔｌｅ：茶壶',
    '｜',
    '茶壶｜灯笼',
    '　　',
    '－（茶壶　ＯＲ　灯笼）',
    '：',
    'site：',
    '，。！？',
  ],
  'other characters': [
    '😀',
    '😀😀😀 harbour',
    '👩‍👩‍👧‍👦',
    '🇨🇳',
    'שלום עולם',
    'مرحبا بالعالم',
    '\u202eruobrah',
    '\u202e',
    '\u200b',
    'har\u200bbour',
    '\u200b\u200c\u200d\ufeff',
    '\u00ad',
    '\u0000',
    'a\u0000b',
    '\ufffd',
    '\ufffe\uffff',
    '\u{10ffff}',
    '𠀀𠀁𠀂',
    'Z̴̡̛a̷l̸g̶o̷'.repeat(20),
    `a${'\u0301'.repeat(500)}`,
    'ﷺ',
    'ﬁﬂ',
    '①②③',
    'ℌ𝔞𝔯𝔟',
    '\r\n\t',
    '\u2028\u2029',
    'ก็็็็็็็็็็',
    'ｶﾞｷﾞｸﾞ',
    '한국어',
    'İıſß',
  ],
  'what other programs take for orders': [
    "' OR 1=1 --",
    '"; DROP TABLE doc; --',
    '<script>alert(1)</script>',
    '${7*7}',
    '{{7*7}}',
    '../../etc/passwd',
    '%00%ff%',
    '\\',
    '\\"',
    '/(a+)+$/',
    '[a-z]{1000}',
    'NEAR(a b)',
    'a NEAR/2 b',
    'title:a^2~0.5',
    '_exists_:a',
    '{"$gt":""}',
    'a&b=c#d?e',
    'NaN',
    'undefined',
    'null',
    '-1',
    '1e308',
    '0x0',
  ],
  'many of something': [
    many(33, (i) => `w${i}`),
    many(200, (i) => `w${i}`),
    many(33, () => 'harbour'),
    many(32, (i) => `w${i}`, ' OR '),
    many(300, () => 'OR'),
    `"${many(100, (i) => `w${i}`)}"`,
    `"${many(100, () => 'harbour')}"`,
    many(100, (i) => `"harbour ${i}"`),
    many(100, (i) => `-w${i}`),
    many(100, (i) => `site:h${i}.example`),
    many(100, (i) => `intitle:w${i}`),
    many(60, () => 'lang:en -lang:en'),
    many(100, (i) => `h${i}*`),
    '茶'.repeat(2_048),
    '茶壶灯笼码头'.repeat(300),
    `"${'茶壶灯笼'.repeat(400)}"`,
    'a'.repeat(2_048),
    '-'.repeat(2_048),
    '*'.repeat(2_048),
    `${'-('.repeat(600)}a`,
    many(32, (i) => `(w${i} OR "w${i} harbour" OR -kettle)`, ' OR '),
    many(20, () => '(a OR (b OR (c -d)))', ' '),
  ],
  'prefixes of one letter': [
    'h*',
    'a* b* c*',
    'h* OR k* OR l*',
    '-h*',
    '"h*"',
    'intitle:h*',
    '茶*',
    '1*',
    'é*',
    'h*r',
    '*h',
    'h**',
    'h* -h*',
    many(26, (i) => `${String.fromCharCode(97 + i)}*`),
  ],
}
const tooLong = [
  'a'.repeat(2_049),
  '茶'.repeat(2_049),
  ' '.repeat(2_049),
  '😀'.repeat(1_025),
  many(700, () => 'ab'),
]

type Hit = {
  title: string
  title_ranges: [number, number][]
  snippet: { text: string; ranges: [number, number][] }
  score: number
}

const plain = (text: string): string => text.replace(/\p{Cc}/gu, '').trim()

function judgeAnswer(answer: Json, q: string): void {
  // Where nothing was found another query may have been asked, which is said. Control characters are no part of a query.
  const isOther = answer.warnings.some((one: string) => one.startsWith('Nothing was found for'))
  if (!isOther) assert.equal(plain(answer.query.text), plain(q))
  assert.ok(
    ['eq', 'gte'].includes(answer.total.relation) && answer.total.value >= answer.hits.length,
  )
  for (const { title, title_ranges: marks, snippet, score } of answer.hits as Hit[]) {
    assert.ok(Number.isFinite(score))
    for (const [text, ranges] of [
      [title, marks],
      [snippet.text, snippet.ranges],
    ] as const)
      for (const [from, to] of ranges) assert.ok(from >= 0 && from < to && to <= text.length)
  }
}

describe('a server that is asked what no query is', () => {
  const directory = makeDirectory()
  const data = process.env['DATA'] ?? directory.path
  let server: Server
  before(async () => {
    const random = createRandom(11)
    const lines = Array.from({ length: 300 }, (_, i) => {
      const lang = i % 3 === 0 ? 'zh-Hans' : 'en'
      const [title, text] = [titleOf(random, lang), sentences(random, lang, 20).join(' ')]
      return JSON.stringify({
        url: `http://h${i % 7}.example/${i}`,
        title,
        text,
        a: i,
        b: ['x', 'y'],
      })
    })
    if (data === directory.path) {
      const { code, stderr } = await run(['import', '-', '--data', data], {
        stdin: lines.join('\n'),
      })
      assert.equal(code, 0, stderr)
    }
    server = await serve(['--data', data, ...localServe])
    assert.equal((await server.api('/api/v1/search?q=harbour')).status, 200)
  })
  after(async () => {
    await server?.stop()
    directory.remove()
  })

  const post = (body: Record<string, unknown>): Promise<{ status: number; body: Json }> =>
    server.api('/api/v1/search', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  for (const [kind, queries] of Object.entries(odd))
    it(`answers ${kind} (${queries.length})`, async () => {
      for (const q of queries) {
        const shown = JSON.stringify(q.slice(0, 80))
        const found = await post({ q, facets: ['host', 'lang', 'date', 'field:b'], explain: true })
        assert.equal(found.status, 200, `${shown}: ${JSON.stringify(found.body).slice(0, 300)}`)
        judgeAnswer(found.body, q)
        const any = await post({ q, match: 'any', sort: 'date', group: 'none', limit: 50 })
        assert.equal(any.status, 200, shown)
        judgeAnswer(any.body, q)
        const page = await fetch(`${server.url}/search?${new URLSearchParams({ q })}`)
        assert.ok(
          page.status === 200 || page.status === 431,
          `${shown}: the page says ${page.status}`,
        )
        assert.ok(!(await page.text()).includes('<script>alert'))
        const suggested = await server.api(
          `/api/v1/suggest?${new URLSearchParams({ q: q.slice(0, 100) })}`,
        )
        assert.equal(suggested.status, 200, `suggestions for ${shown}`)
      }
    })

  it('refuses what is too long, and says how long a query may be', async () => {
    for (const q of tooLong) {
      const { status, body } = await post({ q })
      assert.equal(status, 400, JSON.stringify(body).slice(0, 200))
      assert.match(JSON.stringify(body), /2,?048/)
    }
  })

  it('still answers', async () => {
    const { status, body } = await server.api('/api/v1/search?q=harbour')
    assert.equal(status, 200)
    if (data === directory.path) assert.ok(body.total.value > 0)
  })
})
