/** A memory of what a function said: asked once for a key, as long as there is room. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemo } from '../../../src/lib/memo.ts'

describe('a memory of answers', () => {
  it('asks once for each key, also where the answer is null, 0 or empty', () => {
    const asked: number[] = []
    const answers = [null, 0, '', 'four'] as const
    const memo = createMemo(10, (key: number) => {
      asked.push(key)
      return answers[key] as string | number | null
    })
    for (const key of [0, 1, 2, 3, 3, 2, 1, 0]) assert.equal(memo.get(key), answers[key])
    assert.deepEqual(asked, [0, 1, 2, 3])
  })

  it('keeps what is asked for again and again, and never more than two generations', () => {
    const asked: number[] = []
    const memo = createMemo(4, (key: number) => asked.push(key))
    for (let key = 1; key <= 100; key++) {
      memo.get(0)
      memo.get(key)
    }
    assert.equal(asked.filter((key) => key === 0).length, 1)
    for (let key = 100; key > 100 - 4; key--) memo.get(key)
    assert.equal(asked.length, 101)
    memo.get(90)
    assert.equal(asked.length, 102)
  })

  it('asks anew once it was cleared', () => {
    let asked = 0
    const memo = createMemo(4, () => ++asked)
    assert.equal(memo.get('a'), 1)
    memo.clear()
    assert.equal(memo.get('a'), 2)
  })
})
