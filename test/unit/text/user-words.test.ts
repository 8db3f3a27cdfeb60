/** Words of the user's own: what their file may say, and how they change the cut. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import { textTables } from '../../../src/assets.ts'
import type { Dictionary } from '../../../src/text/dictionary.ts'
import { loadTextTables } from '../../../src/text/tables.ts'
import { createAnalyzer, termList } from '../../../src/text/tokenize.ts'
import {
  analyzerKey,
  parseUserWords,
  userWordsMax,
  withUserWords,
} from '../../../src/text/user-words.ts'

const dictionary = loadTextTables(textTables())
const cutOf = (from: Dictionary, run: string): string[] => {
  const words: string[] = []
  from.cut(run, (a, b, _id, isPart) => words.push((isPart ? '·' : '') + run.slice(a, b)))
  return words
}
const over = (...words: string[]): Dictionary => withUserWords(dictionary, words)

describe('the file of user words', () => {
  it('is one folded word a line, without comments, blanks and repeats', () => {
    const { words, problems } = parseUserWords(
      '\ufeff# names\r\n 軟體定義網路 # traditional\r\n\r\n王小波\n王小波\n#全是\n',
    )
    assert.deepEqual(words, ['王小波', '软体定义网路'].toSorted())
    assert.deepEqual(problems, [])
  })

  it('tells its bad lines by number and keeps the others', () => {
    const long = '长'.repeat(33)
    const { words, problems } = parseUserWords(`好\nPython\n云原生\nC语言\n${long}\n云 原生\n`)
    assert.deepEqual(words, ['云原生'])
    assert.deepEqual(
      problems.map((problem) => /^line (\d+)/.exec(problem)?.[1]),
      ['1', '2', '4', '5', '6'],
    )
  })

  it('ends at the limit and says so', () => {
    const lines = Array.from({ length: userWordsMax + 2 }, (_, i) =>
      String(100_000 + i).replace(/\d/g, (digit) => '〇一二三四五六七八九'.charAt(Number(digit))),
    )
    const { words, problems } = parseUserWords(lines.join('\n'))
    assert.equal(words.length, userWordsMax)
    assert.equal(problems.length, 1)
    assert.match(problems[0] ?? '', new RegExp(`^line ${userWordsMax + 1}: more than`))
  })
})

describe('the cut with user words', () => {
  it('takes the longest of them first, and cuts between them as ever', () => {
    const words = over('王小', '王小波涛', '小波')
    assert.deepEqual(
      cutOf(words, '我们喜欢王小波涛的作品').filter((word) => !word.startsWith('·')),
      ['我们', '喜欢', '王小波涛', '的', '作品'],
    )
    assert.deepEqual(cutOf(words, '王小小波'), ['王小', '小波'])
  })

  it('shows what the dictionary knows inside of one as its parts', () => {
    assert.deepEqual(cutOf(over('知识图谱引擎'), '知识图谱引擎').slice(-1), ['知识图谱引擎'])
    assert.ok(cutOf(over('知识图谱引擎'), '知识图谱引擎').includes('·知识'))
  })

  it('is that of the dictionary where none of them stands', () => {
    const run = '人工智能技术的发展与应用前景十分广阔'
    assert.deepEqual(cutOf(over('王小波'), run), cutOf(dictionary, run))
    assert.equal(withUserWords(dictionary, []), dictionary)
  })

  it('makes one term of a page and a query', () => {
    const analyzer = createAnalyzer(over('奥特智行'))
    const { terms } = analyzer.document({
      title: '',
      headings: '',
      text: '奥特智行发布新车',
      rest: '',
      url: 'http://a.example/',
    })
    assert.ok(termList(terms).includes('奥特智行'))
    assert.deepEqual(
      analyzer
        .query('奧特智行')
        .words.filter(({ isPart }) => !isPart)
        .map(({ term }) => term),
      ['奥特智行'],
    )
  })
})

describe('the key of an analyzer', () => {
  it('changes with its words alone', () => {
    const keys = [[], ['甲乙'], ['甲乙', '丙丁'], ['甲乙丙丁']].map((words) => analyzerKey(words))
    assert.equal(new Set(keys).size, 4)
    assert.equal(analyzerKey(['甲乙']), keys[1])
  })
})
