/** What a crawl shows: the moving line and the summary. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { progressLine, summarise, summaryText } from '../../../src/cli/progress.ts'
import type { JobStatus } from '../../../src/store/records.ts'

const job: JobStatus = {
  id: 1,
  state: 'running',
  note: '',
  source: null,
  seeds: ['http://a.test/'],
  scope: 'path',
  maxPages: null,
  queued: 75,
  counts: {
    fetched: 25,
    stored: 20,
    unchanged: 0,
    exactCopies: 2,
    nearCopies: 1,
    redirects: 1,
    gone: 1,
    refused: { robots: 2, type: 5 },
    failed: { timeout: 1 },
    bytes: 12_345,
    javascriptOnly: 0,
    rules: {},
  },
  pagesPerSecond: 12.5,
  etaSeconds: 75,
  startedAt: '2026-11-30T12:00:00.000Z',
  endedAt: null,
  seconds: 2,
}

describe('the progress line', () => {
  it('tells pages, speed, queue, duplicates, errors and the time left', () => {
    const line = progressLine(job, 200)
    for (const part of [
      '[####------------]',
      '20 pages',
      '12.5/s',
      'queue 75',
      'duplicates 3',
      'errors 1',
      'ETA 1m15s',
    ])
      assert.ok(line.includes(part), `${part} in ${line}`)
  })

  it('never fills the last column, and takes 80 where the terminal does not say', () => {
    assert.equal(progressLine(job, 40).length, 39)
    assert.ok(progressLine(job, 0).length <= 79)
    assert.ok(progressLine(job, 0).includes('20 pages'))
  })

  it('says why it waits in place of the time left', () => {
    const waiting: JobStatus = {
      ...job,
      state: 'waiting',
      note: 'disk full: 3 MB free',
      etaSeconds: null,
    }
    assert.ok(progressLine(waiting, 200).includes('disk full: 3 MB free'))
  })
})

describe('the summary', () => {
  it('names every kind of ending, the largest reason first', () => {
    const text = summaryText(summarise({ ...job, state: 'done' }, null))
    assert.match(text, /^done\n/)
    for (const line of [
      /fetched +25$/m,
      /stored +20$/m,
      /duplicates +3 \(exact 2, near 1\)$/m,
      /refused +7 \(type 5, robots 2\)$/m,
      /failed +1 \(timeout 1\)$/m,
      /seconds +2$/m,
    ])
      assert.match(text, line)
  })

  it('tells what this run fetched where the job had run before', () => {
    const before = { ...job.counts, fetched: 20 }
    assert.match(summaryText(summarise(job, before)), /fetched +25, 5 in this run$/m)
  })
})
