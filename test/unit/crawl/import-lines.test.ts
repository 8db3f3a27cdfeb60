/** An import whose parser fails: which lines are stored, which are told of. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { importLines, type Imported } from '../../../src/crawl/import-lines.ts'
import { readRecord } from '../../../src/crawl/imported.ts'
import type { Distinct } from '../../../src/crawl/distinct.ts'
import type { ParseOutcome } from '../../../src/crawl/page.ts'
import { checkStore } from '../../../src/store/check.ts'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'
import { openCrawl, words } from './crawl-fixture.ts'

const analyzer = createAnalyzer(loadTestTables())
const noKeywords = { keywords: () => Promise.resolve([]) }
const timeout: ParseOutcome = { kind: 'failed', reason: 'parser-timeout' }

/** Imports so many lines; `troubles` says how often reading a line fails. */
async function imported(lines: number, troubles: Readonly<Record<number, number>>) {
  const crawl = openCrawl({})
  return { ...crawl, ...(await importInto(crawl, lines, troubles)) }
}

async function importInto(
  { store, frontier, duplicates, urls }: ReturnType<typeof openCrawl>,
  lines: number,
  troubles: Readonly<Record<number, number>>,
  more: Partial<Parameters<typeof importLines>[2]> = {},
) {
  const left = new Map(Object.entries(troubles).map(([n, times]) => [`http://a.test/${n}`, times]))
  const order: string[] = []
  const result: Imported = await importLines(
    Array.from({ length: lines }, (_, i) => ({
      number: i + 1,
      text: JSON.stringify({ url: `http://a.test/${i + 1}`, title: `${i}`, text: words(`w${i}x`) }),
    })),
    true,
    {
      store,
      frontier,
      duplicates,
      async analyse(record) {
        order.push(record.url)
        const times = left.get(record.url) ?? 0
        left.set(record.url, times - 1)
        if (times > 0) return timeout
        return readRecord(record, store.fingerprintSeed, analyzer, noKeywords)
      },
      onCommitted: () => {},
      now: Date.now,
      ...more,
    },
  )
  return { result, urls: urls(), order }
}

describe('an import that fails at its end', () => {
  it('leaves no URL behind without its document', async () => {
    const crawl = openCrawl({})
    const full = (): never => {
      throw new Error('the disk is full')
    }
    const distinct = { note: () => {}, save: full } as unknown as Distinct
    await assert.rejects(importInto(crawl, 3, {}, { distinct }), /disk is full/)
    assert.equal(crawl.store.urlRow('http://a.test/1'), null)
    assert.deepEqual(checkStore(crawl.store.db), [])
    const { result } = await importInto(crawl, 3, {})
    assert.equal(result.stored, 3)
  })
})

describe('an import on a starved machine', () => {
  it('reads a line once more when the parser ran out of time, after all others', async () => {
    const { result, urls, order } = await imported(5, { 2: 1 })
    assert.equal(result.stored, 5)
    assert.deepEqual(result.failed, {})
    assert.equal(urls.length, 5)
    assert.deepEqual(order.slice(-1), ['http://a.test/2'])
  })

  it('tells of a line that fails twice, and stores all others', async () => {
    const { result, urls, store } = await imported(5, { 2: 2, 4: 9 })
    assert.equal(result.stored, 3)
    assert.deepEqual(result.failed, { 'parser-timeout': 2 })
    assert.deepEqual(result.failures, [
      { line: 2, url: 'http://a.test/2', reason: 'parser-timeout' },
      { line: 4, url: 'http://a.test/4', reason: 'parser-timeout' },
    ])
    assert.deepEqual(
      urls,
      [1, 3, 5].map((n) => `http://a.test/${n}`),
    )
    assert.equal(store.urlRow('http://a.test/2'), null)
  })

  it('names a few of many failures and counts all', async () => {
    const { result } = await imported(
      30,
      Object.fromEntries([...Array(31).keys()].map((n) => [n, 2])),
    )
    assert.equal(result.failures.length, 20)
    assert.deepEqual(result.failed, { 'parser-timeout': 30 })
    assert.equal(result.stored, 0)
  })
})
