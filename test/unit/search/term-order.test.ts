/** The quick order of terms is that of their texts. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sortedTerms } from '../../../src/search/term-order.ts'

const piece = fc.constantFrom(
  'a',
  'b',
  'same',
  '\u0000',
  '\u007e',
  '\u007f',
  '\u0080',
  'é',
  '食',
  '\ud83d\ude00',
  '\uffff',
)
const term = fc.array(piece, { maxLength: 8, size: 'max' }).map((pieces) => pieces.join(''))

describe('terms in order', () => {
  it('are in the order of their code units, however much they have in common', () => {
    fc.assert(
      fc.property(fc.uniqueArray(term, { maxLength: 80, size: 'max' }), (terms) => {
        assert.deepEqual(sortedTerms(terms), terms.toSorted())
      }),
      { numRuns: 500 },
    )
  })

  it('are so also where hundreds begin alike', () => {
    const terms = Array.from({ length: 500 }, (_, i) => `begin${(i * 7_919) % 1_009}`)
    assert.deepEqual(sortedTerms(terms), terms.toSorted())
  })
})
