/** Scripts and spellings, synonyms, slips of the pen: small collections, what must be found, what must not, what is marked. */
import assert from 'node:assert'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { editDistance } from '../../../src/search/typo.ts'
import { parseSynonyms } from '../../../src/search/synonyms.ts'
import { createCollection, searchRequest } from './collection.ts'

type Case = { q: string; finds: number[]; not?: number[]; marks?: string; warns?: RegExp }
type Set = { name: string; pages: string[]; cases: Case[]; synonyms?: string }

const sets: Set[] = [
  {
    name: 'Latin letters and digits beside Han',
    pages: [
      '学习C语言的第一步',
      'GB2312编码与UTF-8编码',
      '5G基站建设',
      'Windows11系统安装C++',
      '语言学概论',
    ],
    cases: [
      { q: 'C语言', finds: [0], not: [4], marks: '语言' },
      { q: 'c语言', finds: [0] },
      { q: 'Ｃ语言', finds: [0] },
      { q: 'GB2312编码', finds: [1], marks: 'GB2312' },
      { q: 'gb2312', finds: [1] },
      { q: '5G基站', finds: [2], marks: '5G' },
      { q: '５Ｇ 基站', finds: [2] },
      { q: 'C++', finds: [3], not: [0] },
      { q: '"C语言"', finds: [0], not: [4] },
      { q: '系统安装', finds: [3] },
    ],
  },
  {
    name: 'strings across the borders of words, single characters, names',
    pages: ['欧阳若澜在昆仑山下', '我们研究生命起源', '𠮷野家与龘字', '招商银行股份有限公司'],
    cases: [
      { q: '若澜', finds: [0] },
      { q: '阳若', finds: [0] },
      { q: '欧阳若澜', finds: [0] },
      { q: '究生', finds: [1] },
      { q: '生命', finds: [1] },
      { q: '龘', finds: [2], marks: '龘' },
      { q: '𠮷', finds: [2] },
      { q: '行股', finds: [3] },
      { q: '"银行股份"', finds: [3] },
      { q: '山 -昆仑', finds: [], not: [0] },
      { q: '公司 -行股', finds: [], not: [3] },
    ],
  },
  {
    name: 'traditional and simplified, widths, punctuation',
    pages: ['資料庫與網絡安全', '数据库与网络安全', '食品、安全；抽检'],
    cases: [
      { q: '网络安全', finds: [0, 1] },
      { q: '網絡安全', finds: [0, 1] },
      { q: '「網絡安全」', finds: [0, 1], not: [2] },
      { q: '网络　安全', finds: [0, 1] },
      { q: '网络，安全！', finds: [0, 1] },
      { q: '食品安全', finds: [2] },
      { q: '资料库', finds: [0], not: [1] },
      { q: '（资料库 ｜ 抽检）', finds: [0, 2], not: [1] },
      { q: '安全 －抽检', finds: [0, 1], not: [2] },
      { q: '网络*', finds: [0, 1] },
    ],
  },
  {
    name: 'Japanese, Korean, Thai',
    pages: [
      '東京タワーの夜景です',
      'ひらがなとカタカナ',
      '대한민국의 수도는 서울입니다',
      'ภาษาไทยเป็นภาษาราชการ',
    ],
    cases: [
      { q: '東京タワー', finds: [0], marks: 'タワー' },
      { q: 'タワー', finds: [0] },
      { q: 'ﾀﾜｰ', finds: [0] },
      { q: 'カタカナ', finds: [1], not: [0] },
      { q: '서울', finds: [2], marks: '서울' },
      { q: '민국', finds: [2] },
      { q: 'ภาษาไทย', finds: [3] },
      { q: 'ราช', finds: [3], marks: 'ราช' },
    ],
  },
  {
    name: 'Cyrillic, Greek, accents, Turkish i',
    pages: [
      'Привет, МИР!',
      'Ἑλληνική φιλοσοφία ΟΔΟΣ',
      'Crème brûlée à la carte',
      'İSTANBUL ve ısı',
      'Straße nach Zürich',
      'ёлка зелёная',
    ],
    cases: [
      { q: 'мир', finds: [0], marks: 'МИР' },
      { q: 'φιλοσοφια', finds: [1], marks: 'φιλοσοφία' },
      { q: 'οδος', finds: [1] },
      { q: 'creme brulee', finds: [2], marks: 'Crème' },
      { q: '"crème BRÛLÉE"', finds: [2] },
      { q: 'istanbul', finds: [3], marks: 'İSTANBUL' },
      { q: 'isi', finds: [3] },
      { q: 'strasse', finds: [4], marks: 'Straße' },
      { q: 'zurich', finds: [4] },
      { q: 'елка', finds: [5] },
    ],
  },
  {
    name: 'slips of the pen in Latin words',
    pages: [
      'The kernel receives a function call',
      'kernel modules and databases',
      '内核 12345',
      'kernal panic',
    ],
    cases: [
      { q: 'functoin', finds: [0], warns: /function/ },
      { q: 'recieve', finds: [0], warns: /receives/ },
      { q: 'databsae', finds: [1], warns: /databases/ },
      { q: 'kernel functoin', finds: [0], warns: /kernel function/ },
      { q: '12346', finds: [], not: [2] },
      { q: '内合', finds: [], not: [0, 1] },
    ],
  },
  {
    name: 'pinyin, only where nothing else is found',
    pages: ['食品安全抽检', '视频教程', '重庆银行', 'shipin in Latin letters', '略谈绿色建筑'],
    cases: [
      { q: 'shipin', finds: [3], not: [0, 1] },
      { q: 'shipinanquan', finds: [0], not: [1], warns: /食品安全/ },
      { q: 'Chong Qing', finds: [2] },
      { q: 'chongqing', finds: [2], warns: /重庆/ },
      { q: 'yinhang', finds: [2] },
      { q: 'jiaocheng', finds: [1] },
      { q: 'lvse', finds: [4] },
      { q: '视品', finds: [], not: [0] },
      { q: 'xyzzy', finds: [] },
    ],
  },
  {
    name: 'synonyms',
    synonyms: '# comment\ncar, automobile\n机器学习, machine learning\nlaptop => notebook\n',
    pages: [
      'a red automobile',
      'the car',
      '机器学习入门',
      'machine learning basics',
      'learning a machine',
      'notebook',
      'laptop',
    ],
    cases: [
      { q: 'car', finds: [0, 1] },
      { q: 'automobile', finds: [0, 1] },
      { q: 'red car', finds: [0], not: [1] },
      { q: '机器学习', finds: [2, 3], not: [4] },
      { q: 'Machine Learning', finds: [2, 3] },
      { q: 'laptop', finds: [5, 6] },
      { q: 'notebook', finds: [5], not: [6] },
      { q: 'car qwertz', finds: [0, 1] },
      { q: '"car"', finds: [1], not: [0] },
    ],
  },
]

for (const { name, pages, cases, synonyms } of sets)
  describe(name, () => {
    for (const { q, finds, not = [], marks, warns } of cases)
      it(`${q} finds ${finds.join(', ') || 'nothing'}`, () => {
        const collection = createCollection()
        try {
          if (synonyms)
            writeFileSync(join(dirname(collection.store.db.file), 'synonyms.txt'), synonyms)
          collection.add(pages.map((text, n) => ({ url: `https://h.example.com/${n}`, text })))
          const answer = collection.searcher.answer(searchRequest(q), performance.now() + 5_000)
          const found = answer.hits.map(({ url }) => Number(new URL(url).pathname.slice(1)))
          for (const n of finds) assert.ok(found.includes(n), `page ${n}: ${found.join()}`)
          for (const n of not) assert.ok(!found.includes(n), `not page ${n}: ${found.join()}`)
          if (finds.length === 0) assert.deepEqual(found, [])
          if (warns) assert.match(answer.warnings.join('\n'), warns)
          if (marks) {
            const { text, ranges } = answer.hits[0]?.snippet ?? { text: '', ranges: [] }
            const marked = ranges.map(([a, b]) => text.slice(a, b))
            assert.ok(
              marked.some((one) => one.includes(marks)),
              `${marks}: ${marked.join()}`,
            )
          }
        } finally {
          collection.close()
        }
      })
  })

describe('a file of synonyms', () => {
  it('tells bad lines by their numbers and keeps the good ones', () => {
    const { synonyms, problems } = parseSynonyms(
      'a, b\nlonely\nx => \n1 => 2 => 3\n，\nc => d、e\r\n',
    )
    assert.deepEqual(
      [...synonyms],
      [
        ['a', ['b']],
        ['b', ['a']],
        ['c', ['d', 'e']],
      ],
    )
    assert.deepEqual(
      problems.map((problem) => problem.split(':')[0]),
      ['line 2', 'line 3', 'line 4', 'line 5'],
    )
  })

  it('has limits', () => {
    const lines = Array.from({ length: 10_002 }, (_, n) => `a${n}, b${n}`).join('\n')
    const { synonyms, problems } = parseSynonyms(lines)
    assert.equal(synonyms.size, 20_000)
    assert.match(problems.join(), /line 10001/)
    assert.match(parseSynonyms(`a, ${'b'.repeat(65)}`).problems.join(), /64/)
  })
})

describe('the distance of two words', () => {
  for (const [a, b, edits] of [
    ['kernel', 'kernal', 1],
    ['recieve', 'receive', 1],
    ['functoin', 'function', 1],
    ['abcd', 'abcd', 0],
    ['abcd', 'abxyd', 2],
    ['abcd', 'wxyz', 3],
    ['', 'ab', 2],
  ] as const)
    it(`${a} and ${b}: ${edits}`, () => assert.equal(editDistance(a, b, 2), edits))

  it('is that of the whole table, as far as it is wanted', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })
    fc.assert(
      fc.property(words, words, fc.integer({ min: 0, max: 4 }), (a, b, max) =>
        assert.equal(editDistance(a, b, max), Math.min(max + 1, wholeTable(a, b))),
      ),
      { numRuns: 5_000 },
    )
    const long = 'ab'.repeat(200)
    assert.equal(editDistance(long, `x${long}`, 2), 1)
  })
})

/** The restricted distance of Damerau and Levenshtein by its definition. */
function wholeTable(a: string, b: string): number {
  const at = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j
    const known = table[i]?.[j]
    if (known !== undefined) return known
    const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
    const least = Math.min(
      at(i - 1, j) + 1,
      at(i, j - 1) + 1,
      at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
      isSwapped ? at(i - 2, j - 2) + 1 : Infinity,
    )
    ;(table[i] ??= [])[j] = least
    return least
  }
  const table: number[][] = []
  return at(a.length, b.length)
}

describe('related:', () => {
  it('finds pages of the same subject, not the page itself', () => {
    const collection = createCollection()
    try {
      const texts = ['zebra stripes savanna', 'zebra savanna grass', 'kernel driver module']
      collection.add(texts.map((text, n) => ({ url: `https://h.example.com/${n}`, text })))
      const ask = (q: string) =>
        collection.searcher.answer(searchRequest(q), performance.now() + 5_000)
      const paths = (q: string) => ask(q).hits.map(({ url }) => new URL(url).pathname)
      assert.deepEqual(paths('related:https://h.example.com/0'), ['/1'])
      assert.deepEqual(paths('related:h.example.com/1'), ['/0'])
      assert.match(ask('related:https://other.example/').warnings.join(), /no known page/)
    } finally {
      collection.close()
    }
  })
})
