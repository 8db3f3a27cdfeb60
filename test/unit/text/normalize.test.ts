/** Folding: what is the same character, and the way back to the source. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  foldCase,
  foldCaseWithOffsets,
  foldText,
  foldWithOffsets,
} from '../../../src/text/normalize.ts'
import { loadTestTables } from '../../text-tables.ts'

/** Far above what linear work takes on a busy machine, far below what quadratic work would. */
const CPU_US_MAX = 3_000_000

loadTestTables()

const cases: readonly (readonly [what: string, from: string, to: string])[] = [
  ['lowers ASCII', 'Hello, World', 'hello, world'],
  ['folds full width', 'ＡＢＣ１２３！', 'abc123!'],
  ['joins half-width kana with its mark', 'ｶﾞｷﾞﾊﾟｰ', 'ガギパー'],
  ['composes a combining dakuten', 'か\u3099', 'が'],
  ['composes conjoining jamo', '\u1112\u1161\u11ab\u1100\u1173\u11af', '한글'],
  ['takes ligatures apart', 'ﬁnd ﬂow', 'find flow'],
  ['drops composed and combining accents', 'Crème bru\u0302le\u0301e naïve', 'creme brulee naive'],
  [
    'spells ß, æ, ø, ł',
    'Straße STRASSE GROẞ Æsop København Łódź',
    'strasse strasse gross aesop kobenhavn lodz',
  ],
  ['makes one i of the four Turkish ones', 'İstanbul Iğdır', 'istanbul igdir'],
  ['makes one sigma of three and drops tonos', 'ΟΔΌΣ οδός', 'οδοσ οδοσ'],
  ['keeps й and folds ё', 'Ёлка йод', 'елка йод'],
  ['drops Arabic vowel points and tatweel', 'كِتَابٌ أحمد مـصر', 'كتاب احمد مصر'],
  ['drops Hebrew points', 'שָׁלוֹם', 'שלום'],
  ['keeps vowel signs of Devanagari', 'हिन्दी', 'हिन्दी'],
  ['simplifies traditional characters', '臺灣繁體字與軟體', '台湾繁体字与软体'],
  ['folds compatibility ideographs and radicals', '\uf900\u2f00', '岂一'],
  ['keeps ideographs of plane 2', '𠮷野家', '𠮷野家'],
  ['drops zero-width, soft hyphen and direction marks', 'a\u200bb\u00adc\u202ed\ufeff', 'abcd'],
  [
    'drops controls, keeps tab and line feed, blanks a form feed',
    'a\u0000\u0007b\tc\nd\fe',
    'ab\tc\nd e',
  ],
  ['replaces unpaired surrogates', 'x\ud800y\udc00', 'x\ufffdy\ufffd'],
  ['makes one apostrophe', 'it’s', "it's"],
]

/** Text of many scripts, marks and oddities. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...Array.from('aÉßİıΣςあｶﾞ한臺湾𠮷\u0301\u0308\u3099\u200b\u00ad\u0000\n ﬁ½')),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

describe('foldText', () => {
  for (const [what, from, to] of cases) {
    it(what, () => assert.equal(foldText(from), to))
  }

  it('lets no ignored character of any plane part a mark from its letter', () => {
    assert.equal(foldText('か\u{e0001}\u3099'), 'が')
    assert.equal(foldText('e\u{e0001}\u0301'), 'e')
    assert.equal(foldText('\u{e0001}字'), '字')
  })

  it('spells a letter plainly whatever marks it has', () => {
    assert.equal(foldText('ё\u0308'), 'е')
    assert.equal(foldText(`ё${'\u0308'.repeat(5)}`), 'е')
  })

  it('gives well-formed text, and the same when folded again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const folded = foldText(text)
        assert(folded.isWellFormed())
        assert.equal(foldText(folded), folded)
      }),
      { numRuns: 2000 },
    )
  })

  it('folds the same whether ASCII is alone or beside other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        assert.equal(foldText(`${text} 字`), `${foldText(text)} 字`)
      }),
    )
  })

  it('is what foldCase makes, in lower case', () => {
    fc.assert(
      fc.property(anyText, (text) => assert.equal(foldText(foldCase(text)), foldText(text))),
      {
        numRuns: 2000,
      },
    )
  })

  it('takes linear time for a letter with a hundred thousand marks', () => {
    const marks = '\u0301\u0323'.repeat(50_000)
    const before = process.cpuUsage().user
    assert.equal(foldText(`e${marks}x`), 'ex')
    assert(process.cpuUsage().user - before < CPU_US_MAX)
  })
})

describe('foldWithOffsets', () => {
  it('points at the character each unit came from', () => {
    const { text, offsets } = foldWithOffsets('ＡﬁX e\u0301臺')
    assert.equal(text, 'afix e台')
    assert.deepEqual([...offsets], [0, 1, 1, 2, 3, 4, 6, 7])
  })

  it('folds like foldText, with offsets that never go back and end at the source length', () => {
    fc.assert(
      fc.property(anyText, (source) => {
        for (const [{ text, offsets }, plain] of [
          [foldWithOffsets(source), foldText(source)],
          [foldCaseWithOffsets(source), foldCase(source)],
        ] as const) {
          assert.equal(text, plain)
          assert.equal(offsets.length, text.length + 1)
          assert.equal(offsets[text.length], source.length)
          assert(offsets.every((offset, i) => i === 0 || offset >= (offsets[i - 1] as number)))
        }
      }),
      { numRuns: 1000 },
    )
  })
})
