/** Progress events: joined, bounded, ended; on timers of the test. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createProgressEvents } from '../../../src/server/events.ts'
import { createMemoryCrawl } from './ports.ts'

function createWorld() {
  const timers = new Map<() => void, number>()
  const crawl = createMemoryCrawl()
  const events = createProgressEvents(crawl, (run, delayMs) => {
    timers.set(run, delayMs)
    return () => timers.delete(run)
  })
  const fire = (delayMs: number): void => {
    for (const [run, after] of Array.from(timers)) {
      if (after === delayMs && timers.delete(run)) run()
    }
  }
  const listen = () => {
    const seen: string[] = []
    let isEnded = false
    const stop = events.stream().open(
      (event) => seen.push(event) > 0,
      () => (isEnded = true),
    )
    return { seen, stop, isEnded: () => isEnded }
  }
  return { crawl, events, timers, fire, listen }
}

describe('Progress events', () => {
  it('begin with the state of now', async () => {
    const { listen, crawl } = createWorld()
    await crawl.start({
      seeds: [],
      scope: 'path',
      include: [],
      maxPages: null,
      depth: 1,
      delayMs: null,
    })
    const { seen } = listen()
    await crawl.jobs()
    assert.match(seen.at(-1) ?? '', /^event: jobs\ndata: \{"jobs":\[\{"id":1,.*\}\]\}\n\n$/)
  })
  it('are at most one a second, and that one is the newest', async () => {
    const { listen, crawl, fire } = createWorld()
    await crawl.start({
      seeds: [],
      scope: 'path',
      include: [],
      maxPages: null,
      depth: 1,
      delayMs: null,
    })
    const { seen } = listen()
    await crawl.jobs()
    const before = seen.length
    for (let queued = 10; queued <= 100; queued += 10) crawl.progress(1, { queued })
    assert.equal(seen.length, before)
    fire(1000)
    assert.equal(seen.length, before + 1)
    assert.match(seen.at(-1) ?? '', /"queued":100/)
    fire(1000)
    assert.equal(seen.length, before + 1)
  })
  it('ask the crawl once for all listeners, and not at all without one', () => {
    const { listen, crawl, timers } = createWorld()
    const first = listen()
    const second = listen()
    assert.equal(crawl.listeners.size, 1)
    first.stop()
    assert.equal(crawl.listeners.size, 1)
    second.stop()
    second.stop()
    assert.equal(crawl.listeners.size, 0)
    assert.equal(timers.size, 0)
  })
  it('have sixteen listeners at most', () => {
    const { listen, events } = createWorld()
    const all = Array.from({ length: 16 }, listen)
    assert.throws(() => events.stream(), { code: 'rate_limited' })
    all[0]?.stop()
    listen()
  })
  it('say something on a quiet line', () => {
    const { listen, fire } = createWorld()
    const { seen } = listen()
    fire(15_000)
    fire(15_000)
    assert.equal(seen.filter((event) => event.startsWith(':')).length, 2)
  })
  it('end for everyone when the server closes', () => {
    const { listen, events, crawl } = createWorld()
    const listeners = [listen(), listen()]
    events.close()
    assert.ok(listeners.every(({ isEnded }) => isEnded()))
    assert.equal(events.listeners(), 0)
    assert.equal(crawl.listeners.size, 0)
  })
})
