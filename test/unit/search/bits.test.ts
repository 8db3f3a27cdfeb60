/** Codes of numbers: what is written is read, however long the code. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  createBitWriter,
  endBits,
  orderOfGaps,
  putGaps,
  putSymbols,
  readAheadBytes,
  readGaps,
  readSymbols,
} from '../../../src/search/bits.ts'

/** Mostly small, sometimes huge. */
const gap = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 100_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 ** 27 }) },
)
const identity = Uint8Array.from({ length: 64 }, (_, i) => i)

function written(values: Uint32Array, quants: Uint8Array, order: number): DataView {
  // A gap has 65 bits at most, a symbol 13.
  const bytesMax = values.length * 9 + quants.length * 2 + readAheadBytes + 1
  const writer = createBitWriter(new Uint8Array(bytesMax))
  putGaps(writer, values, 0, values.length, order)
  putSymbols(writer, quants, 0, quants.length, identity, 0)
  const end = endBits(writer)
  return new DataView(writer.bytes.buffer, 0, end + readAheadBytes)
}

describe('gaps and symbols in bits', () => {
  it('are read as they were written, with any order', () => {
    fc.assert(
      fc.property(
        fc.array(gap, { maxLength: 20 }),
        fc.nat(1_000),
        fc.array(fc.nat(63), { maxLength: 20 }),
        fc.option(fc.integer({ min: 0, max: 27 })),
        (gaps, first, symbols, order) => {
          const values = Uint32Array.from([first, ...gaps])
          for (let i = 1; i < values.length; i += 1)
            values[i] = (values[i - 1] as number) + (gaps[i - 1] as number)
          const chosen = order ?? orderOfGaps(values, 0, values.length)
          const bytes = written(values, Uint8Array.from(symbols), chosen)
          const read = new Uint32Array(values.length)
          const bit = readGaps(bytes, 0, chosen, first, gaps.length, read, 0)
          const quants = new Uint8Array(symbols.length)
          readSymbols(bytes, bit, symbols.length, identity, 0, quants, 0)
          assert.deepEqual([...read], [...values])
          assert.deepEqual([...quants], symbols)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('take few bits: a gap of one has one, and a thousand alike take little more than their binary digits', () => {
    const dense = Uint32Array.from({ length: 1_001 }, (_, i) => i)
    assert.equal(written(dense, new Uint8Array(), 0).byteLength, 125 + readAheadBytes)
    const sparse = Uint32Array.from({ length: 1_001 }, (_, i) => i * 1_000)
    const order = orderOfGaps(sparse, 0, sparse.length)
    assert.ok(written(sparse, new Uint8Array(), order).byteLength < (1_000 * 12) / 8 + 8)
  })
})
