/** Taking words apart: the quick way of ASCII says what the patterns say. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { splitWord } from '../../../src/text/words.ts'
import { loadTestTables } from '../../text-tables.ts'

loadTestTables()

describe('splitWord', () => {
  it('finds the same parts in a compound of ASCII as in one that goes on with another letter', () => {
    const piece = fc.constantFrom(
      'get',
      'User',
      'XML',
      'node',
      'jS',
      '2',
      '10a',
      '_',
      '.',
      'a',
      'Z',
      '@',
      "'",
    )
    fc.assert(
      fc.property(fc.array(piece, { minLength: 2, maxLength: 9 }), (pieces) => {
        const word = pieces.join('')
        const ascii = splitWord(`${word}_end`)
        const other = splitWord(`${word}_ënd`)
        const partsOf = ({ parts }: ReturnType<typeof splitWord>) =>
          parts
            .filter(({ start }) => start < word.length)
            .map(({ start, form }) => [start, form.replace('ë', 'e')])
        assert.deepEqual(partsOf(ascii), partsOf(other), word)
      }),
      { numRuns: 3_000 },
    )
  })
})
