/** Words of lists in texts: every spelling that hides them, and every neighbour that is innocent. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { judgeWords } from '../../../src/text/judge-words.ts'
import { readWordFile } from '../../../src/text/word-file.ts'
import { packWords, type WordList } from '../../../src/text/word-list.ts'
import { openWords } from '../../../src/text/word-match.ts'
import { loadTestTables } from '../../text-tables.ts'

loadTestTables()

const list = (words: string[], more: Partial<WordList> = {}): WordList => ({
  name: 'test',
  policy: 'mask',
  words,
  allowed: [],
  ...more,
})
const found = (lists: readonly WordList[], text: string): string[] => {
  const hits: string[] = []
  openWords(packWords(lists)).find(text, ({ word, start, end }) =>
    hits.push(`${word}=${text.slice(start, end)}`),
  )
  return hits
}

describe('words of a list', () => {
  const words = ['赌博网站', '赌博', 'casino', 'make money', 'therapist', 'café', 'QQ群']
  const cases: readonly [text: string, expected: readonly string[]][] = [
    ['去赌博吧', ['赌博=赌博']],
    ['这是赌博网站。', ['赌博=赌博', '赌博网站=赌博网站']],
    ['賭博網站', ['赌博=賭博', '赌博网站=賭博網站']],
    ['赌\u200b\u200d博', ['赌博=赌\u200b\u200d博']],
    [`赌${'\u200b'.repeat(50)}博`, [`赌博=赌${'\u200b'.repeat(50)}博`]],
    ['赌 * 博', ['赌博=赌 * 博']],
    ['赌。。博', ['赌博=赌。。博']],
    ['赌\n博', ['赌博=赌\n博']],
    ['赌😀博', ['赌博=赌😀博']],
    ['赌……………博', []],
    ['赌什么博', []],
    ['A CASINO here', ['casino=CASINO']],
    ['ｃａｓｉｎｏ', ['casino=ｃａｓｉｎｏ']],
    ['c a s i n o', ['casino=c a s i n o']],
    ['c.a.s.i.n.o', ['casino=c.a.s.i.n.o']],
    ['cas*ino', ['casino=cas*ino']],
    ['casi\u0301no', ['casino=casi\u0301no']],
    ['casinos', []],
    ['1casino', []],
    ['我的casino网', ['casino=casino']],
    ['\u200bcas\u00adino\u200b', ['casino=cas\u00adino']],
    ['x\u200bcasino', []],
    ['the rapist', []],
    ['the-rapist', []],
    ['a therapist', ['therapist=therapist']],
    ['MAKE  money', ['make money=MAKE  money']],
    ['makemoney', ['make money=makemoney']],
    ['remake money', []],
    ['cafe Cafe\u0301', ['café=cafe', 'café=Cafe']],
    ['加q q 群', ['QQ群=q q 群']],
    ['', []],
  ]
  for (const [text, expected] of cases)
    it(`finds ${expected.length} in ${JSON.stringify(text.slice(0, 30))}`, () =>
      assert.deepEqual(found([list(words)], text), expected))

  it('agrees with looking for each word by itself', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    let state = seed
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
      return (state >> 8) % below
    }
    const text = (length: number): string =>
      Array.from({ length }, () => '一二三人'.charAt(random(4))).join('')
    for (let turn = 0; turn < 300; turn += 1) {
      const some = [...new Set(Array.from({ length: 1 + random(12) }, () => text(1 + random(5))))]
      const page = text(60)
      const expected: string[] = []
      for (let end = 1; end <= page.length; end += 1)
        for (const word of some.toSorted((a, b) => b.length - a.length))
          if (page.slice(0, end).endsWith(word)) expected.push(`${word}@${end - word.length}`)
      const actual: string[] = []
      openWords(packWords([list(some)])).find(page, ({ word, start }) =>
        actual.push(`${word}@${start}`),
      )
      assert.deepEqual(actual, expected, `seed ${seed}, words ${some.join(' ')}, text ${page}`)
    }
  })
})

describe('an allow-list', () => {
  it('takes away hits within its words, for its own list', () => {
    const lists = [
      list(['赌博'], { allowed: ['反赌博'] }),
      list(['赌博'], { name: 'other', policy: 'flag' }),
    ]
    assert.equal(found(lists, '反赌博').length, 1)
    assert.equal(found(lists, '爱赌博，反赌博').length, 3)
  })
  it('of policy allow holds for every list, and is no hit itself', () => {
    const lists = [list(['赌博']), list(['反赌博法'], { name: 'a', policy: 'allow' })]
    assert.deepEqual(found(lists, '反赌博法'), [])
    assert.equal(found(lists, '反赌博').length, 1)
  })
})

describe('judging a document', () => {
  const matcher = openWords(
    packWords([
      list(['赌博', 'casino']),
      list(['毒品'], { name: 'hard', policy: 'drop' }),
      list(['股票'], { name: 'money', policy: 'flag' }),
    ]),
  )
  it('masks in place and keeps every offset', () => {
    const judge = judgeWords(matcher)
    assert.equal(judge.read('text', '去赌 博，casino！'), '去＊＊＊，＊＊＊＊＊＊！')
    assert.deepEqual(judge.found(), [
      { list: 'test', policy: 'mask', word: '赌博', hits: 1, place: 'text 1' },
      { list: 'test', policy: 'mask', word: 'casino', hits: 1, place: 'text 5' },
    ])
    assert.equal(judge.isDropped(), false)
  })
  it('leaves flagged words, says what drops first, counts parts once', () => {
    const judge = judgeWords(matcher)
    assert.equal(judge.read('title', '股票 股票'), '股票 股票')
    assert.equal(judge.mask('股票赌博'), '股票＊＊')
    judge.read('text', '毒品')
    assert.equal(judge.isDropped(), true)
    assert.deepEqual(
      judge.found().map(({ word, hits, place }) => [word, hits, place]),
      [
        ['毒品', 1, 'text 0'],
        ['股票', 2, 'title'],
      ],
    )
  })
  it('finds nothing in what it has masked', () => {
    const judge = judgeWords(matcher)
    const once = judge.read('text', '賭博 c a s i n o 赌\n博')
    assert.equal(judgeWords(matcher).read('text', once), once)
    assert.equal(once.includes('\n'), true)
  })
})

describe('a list file', () => {
  const read = (text: string, file = 'x.mask.txt') => readWordFile(Buffer.from(text), file)
  it('has its policy from its name or its first line', () => {
    assert.equal(read('赌博').list?.policy, 'mask')
    assert.equal(read('赌博').list?.name, 'x')
    assert.deepEqual(read('\ufeff# mine\npolicy: drop\n赌博\n!反赌博\n', 'gambling.txt').list, {
      name: 'gambling',
      policy: 'drop',
      words: ['赌博'],
      allowed: ['反赌博'],
    })
    assert.equal(read('a word', 'drop.txt').list?.policy, 'drop')
  })
  it('names the line of each mistake and keeps the others', () => {
    const { list: kept, problems } = read(`ok\n...\nx\n\n${'长'.repeat(65)}\n赌博`)
    assert.deepEqual(kept?.words, ['ok', '赌博'])
    assert.deepEqual(
      problems.map((problem) => problem.slice(0, 7)),
      ['line 2:', 'line 3:', 'line 5:'],
    )
    assert.match(
      read('policy: burn\nx y', 'a.mask.txt').problems[0] ?? '',
      /line 1: .*burn.*drop, mask/,
    )
    const { list: none, problems: why } = read('赌博', 'a.txt')
    assert.equal(none, null)
    assert.match(why[0] ?? '', /policy: mask/)
  })
  it('may be in GB18030', () => {
    const gbk = Uint8Array.of(0xb6, 0xc4, 0xb2, 0xa9, 0x0a)
    assert.deepEqual(readWordFile(gbk, 'a.drop.txt').list?.words, ['赌博'])
  })
})
