/** A map with an end: the oldest entry goes, and only where a new one needs its room. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { remember } from '../../../src/lib/remember.ts'

describe('what is remembered', () => {
  it('forgets the oldest for a new one, when it is full', () => {
    const map = new Map<string, number>()
    for (const [i, key] of ['a', 'b', 'c'].entries()) remember(map, key, i, 2)
    assert.deepEqual([...map.keys()], ['b', 'c'])
  })

  it('forgets nothing for a new value of a known key, of whatever type keys are', () => {
    const map = new Map([
      [0, 'nought'],
      [1, 'one'],
    ])
    remember(map, 1, 'uno', 2)
    assert.deepEqual([...map.values()], ['nought', 'uno'])
    remember(map, 2, 'two', 2)
    assert.deepEqual([...map.keys()], [1, 2])
  })
})
