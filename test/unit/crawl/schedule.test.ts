/** When a page is visited again, and when it counts as gone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appendVisit, readVisits, visitsKept, type PastVisit } from '../../../src/crawl/history.ts'
import { isDueByList, isGoneForGood, nextVisit } from '../../../src/crawl/schedule.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const nowMs = Date.UTC(2026, 5, 1)
const adaptive = {
  kind: 'adaptive',
  intervalMs: 30 * dayMs,
  intervalMinMs: hourMs,
  intervalMaxMs: 120 * dayMs,
} as const
/** Visits every `gapMs`, the last one now; a letter each: c = changed, u = unchanged. */
const history = (letters: string, gapMs: number): PastVisit[] =>
  Array.from(letters, (letter, i) => ({
    atMs: nowMs - (letters.length - 1 - i) * gapMs,
    status: 200,
    outcome: letter === 'c' ? 'stored' : 'unchanged',
    isChanged: letter === 'c',
  }))
const intervalDays = (letters: string, gapMs = dayMs): number =>
  (nextVisit({ history: history(letters, gapMs), nowMs }, adaptive) - nowMs) / dayMs

describe('nextVisit', () => {
  it('keeps to the interval where it is fixed, and after the first visit', () => {
    const fixed = { ...adaptive, kind: 'fixed' } as const
    assert.equal(nextVisit({ history: history('cccc', hourMs), nowMs }, fixed), nowMs + 30 * dayMs)
    assert.equal(intervalDays('c'), 30)
  })
  it('comes sooner the more often the page changed, never less than half as soon as before', () => {
    const all = intervalDays('cccccccc')
    const some = intervalDays('cucucucu')
    const none = intervalDays('cuuuuuuu')
    assert.ok(all < some && some < none, `${all} ${some} ${none}`)
    assert.equal(all, 0.5)
    assert.equal(none, 2)
  })
  it('stays within its bounds', () => {
    assert.equal(intervalDays('cccccccc', hourMs), 1 / 24)
    assert.equal(intervalDays('cuuuuuuu', 100 * dayMs), 120)
  })
})

describe('isDueByList', () => {
  const facts = (letters: string, ago: number) => ({
    history: history(letters, dayMs).map((visit) => ({ ...visit, atMs: visit.atMs - ago })),
    nowMs,
  })
  it('is where the list names a change after the last visit', () => {
    assert.equal(isDueByList(nowMs - hourMs + 1, facts('c', 2 * hourMs), adaptive), true)
    assert.equal(isDueByList(nowMs - 3 * hourMs, facts('c', 2 * hourMs), adaptive), false)
  })
  it('takes a day without a time for its end', () => {
    assert.equal(isDueByList(nowMs - dayMs, facts('c', 2 * hourMs), adaptive), true)
  })
  it('is not within the shortest interval, nor for a date far ahead', () => {
    assert.equal(isDueByList(nowMs + 1, facts('c', hourMs - 1), adaptive), false)
    assert.equal(isDueByList(nowMs + 3 * dayMs, facts('c', 2 * hourMs), adaptive), false)
  })
  it('is not where the list named changes before that were none', () => {
    assert.equal(isDueByList(nowMs - 1, facts('cuu', 2 * hourMs), adaptive), false)
    assert.equal(isDueByList(nowMs - 1, facts('ccu', 2 * hourMs), adaptive), true)
    assert.equal(isDueByList(nowMs - 1, facts('cuu', 8 * dayMs), adaptive), true)
  })
})

describe('isGoneForGood', () => {
  const missing = (ago: number): PastVisit[] => [
    ...history('c', dayMs),
    { atMs: nowMs - ago, status: 404, outcome: 'missing', isChanged: false },
  ]
  it('is at once for 410, and for 404 at the second look after a while', () => {
    assert.equal(isGoneForGood(410, history('c', dayMs), nowMs, dayMs), true)
    assert.equal(isGoneForGood(404, history('c', dayMs), nowMs, dayMs), false)
    assert.equal(isGoneForGood(404, missing(dayMs), nowMs, dayMs), true)
    assert.equal(isGoneForGood(404, missing(hourMs), nowMs, dayMs), false)
  })
  it('begins anew once the page was there again', () => {
    const seen = {
      atMs: nowMs - hourMs,
      status: 200,
      outcome: 'unchanged',
      isChanged: false,
    } as const
    assert.equal(isGoneForGood(404, [...missing(dayMs), seen], nowMs, dayMs), false)
  })
})

describe('the history of a URL', () => {
  it('keeps the last visits as they were, to the second', () => {
    let packed: Uint8Array | null = null
    const visits = history('cucucucucucu', dayMs)
    for (const visit of visits) packed = appendVisit(packed, visit)
    assert.equal(packed?.length, 7 * visitsKept)
    assert.deepEqual(readVisits(packed), visits.slice(-visitsKept))
  })
  it('leaves out what it does not understand', () => {
    assert.deepEqual(readVisits(new Uint8Array([1, 2, 3])), [])
    assert.deepEqual(readVisits(new Uint8Array(7).fill(0x7f)), [])
  })
})
