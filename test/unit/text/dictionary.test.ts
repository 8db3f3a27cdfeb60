/** The packed dictionary: building, opening, cutting. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { AppError } from '../../../src/lib/errors.ts'
import { buildDictionary } from '../../../src/text/dictionary-source.ts'
import { openDictionary, type Dictionary } from '../../../src/text/dictionary.ts'
import { loadTestTables } from '../../text-tables.ts'

/** Far above what linear work takes on a busy machine, far below what quadratic work would. */
const CPU_US_MAX = 3_000_000

/** A list of our own: 臺 folds to 台, 颱 to 台 in two steps. */
const LIST = [
  '工具 50 n',
  '工具箱 20 n',
  '测试 100 v',
  '試 5 n',
  '台湾 30 ns',
  '臺灣 12 ns',
  'T恤 9 n',
  '测 3 v',
  '试工 40 n',
].join('\n')
const SIMPLIFIED: Readonly<Record<string, string>> = { 臺: '台', 灣: '湾', 試: '试', 颱: '臺' }
const toSimplified = (text: string) =>
  text.replaceAll(/[臺灣試颱]/g, (char) => SIMPLIFIED[char] as string)

const build = () => buildDictionary(LIST, toSimplified)
const open = () => openDictionary(build().buffer)

/** Whole words of the cut in order; parts in brackets. */
function cut(dictionary: Dictionary, run: string): string[] {
  const words: string[] = []
  dictionary.cut(run, (start, end, _id, isPart) => {
    words.push(isPart ? `(${run.slice(start, end)})` : run.slice(start, end))
  })
  return words
}

describe('buildDictionary', () => {
  it('gives the same bytes for the same list', () => assert.deepEqual(build(), build()))

  it('adds up words that are one when folded and leaves out words that are not all Han', () => {
    const dictionary = open()
    const total = 50 + 20 + 100 + 5 + 42 + 3 + 40
    assert.equal(dictionary.words, 7)
    assert(Math.abs((dictionary.weight('台湾') as number) - Math.log(total / 42)) < 0.001)
    assert.equal(dictionary.weight('臺灣'), null)
    assert.equal(dictionary.weight('恤'), null)
    assert.equal(dictionary.weight(''), null)
  })

  it('follows a chain of simplifications to its end', () => {
    const { simplified } = open()
    assert.equal(simplified['颱'.charCodeAt(0) - 0x3400], '台'.charCodeAt(0))
  })

  it('takes an empty list', () => {
    const dictionary = openDictionary(buildDictionary('', (text) => text).buffer)
    assert.deepEqual(cut(dictionary, '工具'), ['工', '具'])
  })
})

describe('openDictionary', () => {
  const damages: readonly (readonly [
    what: string,
    (bytes: Uint8Array<ArrayBuffer>) => ArrayBuffer,
  ])[] = [
    ['nothing', () => new ArrayBuffer(0)],
    ['another file', () => new TextEncoder().encode('PK'.repeat(100)).buffer],
    ['half of it', (bytes) => bytes.slice(0, bytes.length / 2).buffer],
    [
      'one flipped bit',
      (bytes) => {
        const copy = bytes.slice()
        copy[copy.length - 9] = (copy[copy.length - 9] as number) ^ 4
        return copy.buffer
      },
    ],
    [
      'another version',
      (bytes) => {
        const copy = bytes.slice()
        copy[4] = 99
        return copy.buffer
      },
    ],
  ]
  for (const [what, damage] of damages) {
    it(`refuses ${what}`, () => {
      const isCorrupt = (error: unknown) => error instanceof AppError && error.code === 'corrupt'
      assert.throws(() => openDictionary(damage(build())), isCorrupt)
    })
  }

  it('works over shared memory without a copy', () => {
    const bytes = build()
    const shared = new SharedArrayBuffer(bytes.length)
    new Uint8Array(shared).set(bytes)
    const dictionary = openDictionary(shared)
    assert.equal(dictionary.simplified.buffer, shared)
    assert.deepEqual(cut(dictionary, '测试'), ['测试'])
  })
})

describe('cut', () => {
  it('takes the most probable words, with the parts of long ones before them', () => {
    assert.deepEqual(cut(open(), '测试工具箱'), ['测试', '(工具)', '工具箱'])
  })

  it('gives characters it does not know one by one, pairs of surrogates whole', () => {
    assert.deepEqual(cut(open(), '鿿𠮷工具'), ['鿿', '𠮷', '工具'])
  })

  it('covers any run without gap or overlap, and parts lie inside the next word', () => {
    const dictionary = loadTestTables()
    const chars = fc.constantFrom(...Array.from('中华人民共和国测试工具箱招商证券的了𠮷〇'))
    fc.assert(
      fc.property(
        fc.array(chars, { maxLength: 60 }).map((list) => list.join('')),
        (run) => {
          let at = 0
          let partsEnd = 0
          dictionary.cut(run, (start, end, _id, isPart) => {
            if (isPart) {
              assert(start >= at)
              partsEnd = Math.max(partsEnd, end)
              return
            }
            assert.equal(start, at)
            assert(partsEnd <= end)
            at = end
          })
          assert.equal(at, run.length)
        },
      ),
    )
  })

  it('is linear: a run of 200,000 characters is no problem', () => {
    const run = '中华人民共和国'.repeat(30_000)
    let units = 0
    const before = process.cpuUsage().user
    loadTestTables().cut(run, (start, end, _id, isPart) => (units += isPart ? 0 : end - start))
    assert.equal(units, run.length)
    assert(process.cpuUsage().user - before < CPU_US_MAX)
  })
})
