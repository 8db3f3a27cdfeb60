/** Plain words, found and hashed in one go, against the runs of a text. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { eachRun } from '../../../src/text/characters.ts'
import { eachPlainWord, hashOf } from '../../../src/text/plain-words.ts'
import { isSimple } from '../../../src/text/words.ts'

/** What touches where words begin and end, more often than chance would have it. */
const pieces = fc.constantFrom(
  ...[
    "word Word WORD camelCase x 7 2026 . .. ' _ @ , + ++ # - : ; ( /",
    '\n \t é ß 漢 ば ก ١ ё Ω \u0301 \u{20000}',
  ]
    .join(' ')
    .split(' '),
  ' ',
  'a'.repeat(64),
  'a'.repeat(65),
)
const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))

type Run = string

function runsOf(text: string): Run[] {
  const runs: Run[] = []
  eachRun(text, (start, end, kind) => runs.push(`${start}-${end} ${kind}`))
  return runs
}

/** @param plain collects those that came as plain words */
function plainRunsOf(text: string, plain: Run[] = []): Run[] {
  const runs: Run[] = []
  eachPlainWord(
    text,
    (whole, start, end, hash) => {
      assert.equal(whole, text)
      assert.ok(isSimple(text, start, end), text.slice(start, end))
      assert.equal(hash, hashOf(text, start, end))
      plain.push(text.slice(start, end))
      runs.push(`${start}-${end} word`)
    },
    (start, end, kind) => runs.push(`${start}-${end} ${kind}`),
  )
  return runs
}

describe('plain words', () => {
  it('are, with the other runs, all runs of a text in their order', () => {
    fc.assert(
      fc.property(texts, (text) => assert.deepEqual(plainRunsOf(text), runsOf(text))),
      { numRuns: 20_000 },
    )
  })

  it('are most words of a sentence, whatever stands around them', () => {
    const plain: Run[] = []
    const text = 'In 2026, (some) "words": one/two; end. node.js .NET C++ 1,000 don\'t iPhone'
    assert.deepEqual(plainRunsOf(text, plain), runsOf(text))
    assert.deepEqual(plain, ['In', '2026', 'some', 'words', 'one', 'two', 'end'])
  })

  it('have the hash of their small letters', () => {
    assert.equal(hashOf('Words', 0, 5), hashOf('two words', 4, 9))
    assert.notEqual(hashOf('words', 0, 5), hashOf('sword', 0, 5))
  })
})
