/** The table of words finds what a Map would, by the place in a text. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createWordTable } from '../../../src/text/word-table.ts'

describe('the word table', () => {
  it('finds each word inside of a text, and no other', () => {
    const anyWord = fc.string({
      unit: fc.constantFrom('a', 'b', 'é', '字', '\u{1f600}'),
      maxLength: 5,
    })
    fc.assert(
      fc.property(fc.array(anyWord, { maxLength: 40 }), fc.array(anyWord), (kept, asked) => {
        const table = createWordTable<number>()
        const expected = new Map<string, number>()
        for (const word of kept) {
          if (expected.has(word)) continue
          expected.set(word, expected.size)
          table.set(word, expected.size - 1)
        }
        assert.equal(table.size, expected.size)
        for (const word of [...kept, ...asked]) {
          const text = `ab${word}ba`
          assert.equal(table.get(text, 2, 2 + word.length), expected.get(word))
        }
      }),
    )
  })

  it('forgets all at once, and has room as before', () => {
    const table = createWordTable<number>()
    for (let i = 0; i < 3_000; i += 1) table.set(`w${i}`, i)
    table.clear()
    assert.equal(table.size, 0)
    for (let i = 0; i < 3_000; i += 1)
      assert.equal(table.get(`w${i}`, 0, `w${i}`.length), undefined)
    table.set('w7', 1)
    assert.equal(table.get('w7', 0, 2), 1)
    assert.equal(table.size, 1)
  })

  it('grows', () => {
    const table = createWordTable<number>()
    for (let i = 0; i < 20_000; i++) table.set(`w${i}`, i)
    for (let i = 0; i < 20_000; i++) assert.equal(table.get(`w${i}`, 0, `w${i}`.length), i)
    assert.equal(table.get('w20000', 0, 6), undefined)
  })
})
