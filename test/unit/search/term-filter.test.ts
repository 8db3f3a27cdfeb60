/** Filters of leaves: what is there passes always, what is not seldom. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { FilterWriter, hashOfTerm, openFilter } from '../../../src/search/term-filter.ts'

/** @param leaves the terms of each */
function filterOf(leaves: readonly (readonly string[])[]) {
  const writer = new FilterWriter()
  for (const terms of leaves) {
    for (const term of terms) writer.add(term)
    writer.endLeaf()
  }
  const packed = writer.finish()
  return { packed, mayHold: openFilter(packed, leaves.length) }
}

const manyTerms = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, i) => `${name}${i.toString(36)}`)

describe('the filter of a leaf', () => {
  it('lets all terms of the leaf pass', () => {
    const terms = fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1 })
    fc.assert(
      fc.property(fc.array(terms, { minLength: 1 }), (leaves) => {
        const { mayHold } = filterOf(leaves)
        for (const [n, own] of leaves.entries())
          for (const term of own) assert.ok(mayHold?.(n, hashOfTerm(term)), term)
      }),
    )
  })

  it('lets one of forty others pass, and takes eight bits a term', () => {
    const leaves = Array.from({ length: 40 }, (_, n) => manyTerms(250, `t${n}x`))
    const { packed, mayHold } = filterOf(leaves)
    let passed = 0
    for (const term of manyTerms(1_000, 'other'))
      for (const n of leaves.keys()) if (mayHold?.(n, hashOfTerm(term))) passed += 1
    assert.ok(passed > 0 && passed < 0.03 * 40_000, `${passed} of 40,000`)
    assert.equal(packed.length, leaves.length * (2 + 250))
  })

  it('holds more terms than a filter can be large for', () => {
    const terms = manyTerms(60_000, 't')
    const { mayHold } = filterOf([terms, ['last']])
    assert.ok(terms.every((term) => mayHold?.(0, hashOfTerm(term))))
    assert.ok(mayHold?.(1, hashOfTerm('last')))
  })

  it('is not opened where it is of other leaves, or cut', () => {
    const { packed } = filterOf([['a', 'b'], ['c']])
    assert.equal(openFilter(packed, 3), null)
    assert.equal(openFilter(packed, 1), null)
    assert.equal(openFilter(packed.subarray(0, packed.length - 1), 2), null)
    assert.equal(openFilter(new Uint8Array(), 1), null)
    assert.notEqual(openFilter(new Uint8Array(), 0), null)
  })
})
