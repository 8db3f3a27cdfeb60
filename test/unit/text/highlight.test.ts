/** Marks and snippets: the right passage, the right units, nothing dangerous. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { highlightRanges, snippet } from '../../../src/text/highlight.ts'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'

/** Far above what linear work takes on a busy machine, far below what quadratic work would. */
const CPU_US_MAX = 3_000_000

const analyzer = createAnalyzer(loadTestTables())
const termsOf = (query: string) => {
  const { words, bigrams } = analyzer.query(query)
  return new Set([...words.map(({ term }) => term), ...bigrams])
}
/** The text with its marks in brackets. */
function marked(text: string, ranges: readonly (readonly [number, number])[]): string {
  let shown = ''
  let at = 0
  for (const [start, end] of ranges) {
    shown += `${text.slice(at, start)}[${text.slice(start, end)}]`
    at = end
  }
  return shown + text.slice(at)
}
const highlight = (text: string, query: string) =>
  marked(text, highlightRanges(analyzer, text, termsOf(query)))
const snip = (text: string, query: string, columns = 60) => {
  const { text: shown, ranges } = snippet(analyzer, text, termsOf(query), columns)
  return marked(shown, ranges)
}
/** Columns by a rule of thumb that is right for the texts of this file. */
const columnsOf = (text: string) =>
  Array.from(text).reduce(
    (sum, char) => sum + (/[\u3000-\u9fff\uff00-\uff60\u{20000}-\u{2ffff}]/u.test(char) ? 2 : 1),
    0,
  )

const highlights: readonly (readonly [what: string, text: string, query: string, shown: string])[] =
  [
    [
      'marks other forms of a word',
      'Searching finds searches.',
      'search',
      '[Searching] finds [searches].',
    ],
    ['marks no word inside another', 'research and sea', 'sea', 'research and [sea]'],
    ['marks accents and full width in the source', 'Café ＣＡＦＥ', 'cafe', '[Café] [ＣＡＦＥ]'],
    ['marks traditional for simplified', '臺灣與台湾', '台湾', '[臺灣]與[台湾]'],
    ['marks Chinese across word borders', '一段简单的', '段简', '一[段简]单的'],
    ['marks the word inside a longer one', '虚拟机器与虚拟机', '虚拟机', '[虚拟机]器与[虚拟机]'],
    ['marks a compound as one', 'Use node.js now', 'node.js', 'Use [node.js] now'],
    [
      'marks a compound and its parts as one',
      'Use node.js now',
      'node.js node',
      'Use [node.js] now',
    ],
    ['marks a part of a compound', 'Call getUserName', 'user', 'Call get[User]Name'],
    ['joins what touches', '中文检索', '中文 检索', '[中文检索]'],
    ['marks nothing where nothing is', 'abc', 'xyz', 'abc'],
  ]

describe('highlightRanges', () => {
  for (const [what, text, query, shown] of highlights) {
    it(what, () => assert.equal(highlight(text, query), shown))
  }

  it('gives sorted ranges apart from each other, inside the text', () => {
    const piece = fc.constantFrom(
      'search',
      'Searching',
      '臺灣',
      '湾',
      '段简',
      'ﬁ',
      'e\u0301',
      '𠮷',
      ' ',
      '.',
      '\u200b',
      '\ud800',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (parts) => {
        const text = parts.join('')
        let last = -1
        for (const [start, end] of highlightRanges(
          analyzer,
          text,
          termsOf('search 台湾 段简 e fi 𠮷'),
        )) {
          assert(start > last && end > start && end <= text.length)
          last = end
        }
      }),
    )
  })

  it('looks at the first 100,000 units only', () => {
    const text = `${'x '.repeat(50_000)}needle`
    assert.deepEqual(highlightRanges(analyzer, text, termsOf('needle')), [])
  })
})

const story =
  'Nothing of interest stands here. Nor does it here. The frontier keeps what waits.\n\n' +
  'A filter says whether an address is new. It may be wrong, so a unique index confirms each maybe. Ranking is another matter.'
const chinese =
  '本软件可以在小电脑上运行。请先阅读安装说明，然后启动程序。中文检索不会遗漏任何文字，这一点非常重要。最后请看许可。'

const snippets: readonly (readonly [
  what: string,
  text: string,
  query: string,
  columns: number,
  shown: string,
])[] = [
  [
    'takes the passage that holds most of the words',
    story,
    'unique index maybe',
    70,
    'It may be wrong, so a [unique] [index] confirms each [maybe].…',
  ],
  [
    'begins with the sentence, across a line feed',
    story,
    'filter',
    50,
    'A [filter] says whether an address is new.…',
  ],
  [
    'shows the beginning where nothing is found',
    story,
    'zebra',
    34,
    'Nothing of interest stands here.…',
  ],
  ['shows a short text whole', 'Short text.', 'text', 60, 'Short [text].'],
  [
    'counts ideographs twice and begins with the sentence',
    chinese,
    '检索',
    44,
    '中文[检索]不会遗漏任何文字，这一点非常重要。…',
  ],
  ['collapses blanks', 'a   b\n\n c\td', 'c', 60, 'a b [c] d'],
  ['is empty for an empty text', '', 'a', 60, ''],
]

describe('snippet', () => {
  for (const [what, text, query, columns, shown] of snippets) {
    it(what, () => assert.equal(snip(text, query, columns), shown))
  }

  it('removes control and direction characters', () => {
    assert.equal(snip('safe \u202egnp.exe\u202c\u0007 text\u2066', 'text'), 'safe gnp.exe [text]')
  })

  it('cuts no word of an alphabet in the middle', () => {
    for (let columns = 12; columns < 60; columns += 1) {
      const { text } = snippet(analyzer, story, termsOf('confirms'), columns)
      const shown = text.replaceAll('…', '').trim()
      assert(story.replaceAll(/\s+/g, ' ').split(' ').join(' ').includes(shown), text)
      const around = new RegExp(`(?<![A-Za-z])${shown.replaceAll('.', '\\.')}(?![A-Za-z])`)
      assert.match(story.replaceAll(/\s+/g, ' '), around)
    }
  })

  it('keeps to its columns, is well-formed and puts marks on what it shows', () => {
    const piece = fc.constantFrom(
      'word',
      '水',
      '检索',
      '𠮷',
      '. ',
      '。',
      ' ',
      '\n',
      'x',
      '\u202e',
      '\ud83d',
      '长一点的句子',
      'u\u0301',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 120 }),
        fc.integer({ min: 10, max: 80 }),
        (parts, columns) => {
          const { text, ranges } = snippet(
            analyzer,
            parts.join(''),
            termsOf('检索 word 水'),
            columns,
          )
          assert(text.isWellFormed())
          assert(!/[\n\u202e]/.test(text))
          assert(
            columnsOf(text.replaceAll('\u0301', '').replaceAll('\ufffd', '')) <= columns + 1,
            text,
          )
          for (const [start, end] of ranges) assert.match(text.slice(start, end), /^[word水检索]+$/)
        },
      ),
      { numRuns: 500 },
    )
  })

  const hostile: readonly (readonly [what: string, text: string])[] = [
    ['one character a hundred thousand times', '水'.repeat(100_000)],
    ['a million blanks', ' '.repeat(1_000_000)],
    ['a hundred thousand line feeds and dots', '.\n'.repeat(50_000)],
    ['one word without end', 'a'.repeat(300_000)],
    ['quotation marks after a dot', `.${'"'.repeat(100_000)}`],
  ]
  for (const [what, text] of hostile) {
    it(`takes ${what} without trouble`, () => {
      const before = process.cpuUsage().user
      const shown = snippet(analyzer, text, termsOf('水 a'), 160)
      assert(shown.text.length <= 161)
      assert(process.cpuUsage().user - before < CPU_US_MAX)
    })
  }
})
