/** People who search, counted by day without being known. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createVisitors } from '../../../src/server/visitors.ts'

const dayMs = 86_400_000

describe('visitors', () => {
  it('are counted once a day each, and yesterday is remembered as a number', () => {
    let nowMs = 10 * dayMs + 5
    const visitors = createVisitors(() => nowMs)
    for (let turn = 0; turn < 3; turn += 1)
      for (const host of [1, 2, 3]) visitors.note(`192.0.2.${host}`)
    assert.deepEqual(visitors.counts(), { today: 3, yesterday: 0 })
    nowMs += dayMs
    visitors.note('192.0.2.1')
    assert.deepEqual(visitors.counts(), { today: 1, yesterday: 3 })
    nowMs += 2 * dayMs
    assert.deepEqual(visitors.counts(), { today: 0, yesterday: 0 })
  })
  it('have another hash each day', () => {
    let nowMs = 0
    let salts = 0
    const visitors = createVisitors(
      () => nowMs,
      (size: number) => Buffer.alloc(size, ++salts),
    )
    visitors.note('192.0.2.1')
    nowMs = dayMs
    visitors.note('192.0.2.1')
    assert.equal(salts, 2)
  })
})
