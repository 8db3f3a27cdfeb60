/** The counter of hashes counts as a Map would, page after page. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createHashCounter } from '../../../src/text/hash-counter.ts'

/** Few values that meet in one slot, and any others. */
const anyHash = fc.oneof(
  fc.constantFrom(0, 1, 4_096, 8_192, 0xffff_ffff, 0x8000_0000),
  fc.integer({ min: 0, max: 0xffff_ffff }),
)

describe('the hash counter', () => {
  it('counts as a Map does, and forgets the page before', () => {
    const counter = createHashCounter()
    fc.assert(
      fc.property(fc.array(anyHash, { maxLength: 60 }), (hashes) => {
        counter.begin(hashes.length)
        const expected = new Map<number, number>()
        for (const hash of hashes) {
          const before = expected.get(hash) ?? 0
          assert.equal(counter.add(hash), before)
          expected.set(hash, before + 1)
        }
        const counted: [number, number][] = []
        counter.each((hash, count) => counted.push([hash, count]))
        assert.deepEqual(counted, [...expected])
      }),
    )
  })

  it('holds as many different hashes as it was told, and a small page after a large one', () => {
    const counter = createHashCounter()
    for (const size of [5_000, 3, 100_000, 0]) {
      counter.begin(size)
      for (let hash = 0; hash < size; hash++) counter.add(hash)
      let seen = 0
      counter.each((_, count) => (seen += count))
      assert.equal(seen, size)
    }
  })
})
