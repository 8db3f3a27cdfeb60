/** How characters are read, and letters taken apart. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  initialsOf,
  isReadAs,
  pinyinOf,
  readingsOf,
  splitSyllables,
} from '../../../src/text/pinyin.ts'

const words = {
  食品安全: 'shi pin an quan',
  北京大学: 'bei jing da xue',
  中国: 'zhong guo',
  程序设计: 'cheng xu she ji',
  女: 'nv',
  略: 'lve',
  虐: 'nve',
  證券: 'zheng quan',
  数据库: 'shu ju ku',
  鹦鹉: 'ying wu',
  人工智能: 'ren gong zhi neng',
}

describe('pinyin', () => {
  for (const [word, syllables] of Object.entries(words))
    it(`reads ${word} as ${syllables}`, () =>
      assert.deepEqual(pinyinOf(word), syllables.split(' ')))

  it('knows the second reading of common characters', () => {
    for (const entry of '重chong 行hang 乐yue 长zhang 都du 女nu 银yin'.split(' '))
      assert.ok(isReadAs(entry.charAt(0), entry.slice(1)), entry)
    assert.ok(!isReadAs('银', 'ying'))
  })

  it('leaves what is no Han character as it is', () => {
    assert.deepEqual(pinyinOf('C语言 5'), ['c', 'yu', 'yan', ' ', '5'])
    assert.deepEqual(readingsOf('a'), [])
    assert.equal(initialsOf('食品安全'), 'spaq')
  })

  it('takes letters apart in every way, the fewest syllables first', () => {
    assert.deepEqual(splitSyllables('xian'), [['xian'], ['xi', 'an']])
    assert.deepEqual(splitSyllables("xi'an"), [['xi', 'an']])
    assert.deepEqual(splitSyllables('BeiJing'), [['bei', 'jing']])
    assert.deepEqual(splitSyllables('lvse')[0], ['lv', 'se'])
    for (const none of ['kernel', '', 'x', 'bei jing 2', '食品'])
      assert.deepEqual(splitSyllables(none), [], none)
  })

  it('is quick for any letters', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 3_000 }), (text) => splitSyllables(text).length <= 16),
    )
    const start = performance.now()
    splitSyllables('a'.repeat(2_048))
    splitSyllables('xian'.repeat(512))
    assert.ok(performance.now() - start < 500)
  })
})
