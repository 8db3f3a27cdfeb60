/** Scheduled runs with a clock of the test's own: when they start, what is skipped, what is made up for, what the history tells. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkPlan, nextRunAt, type Plan } from '../../../src/crawl/plan.ts'
import { Scheduler } from '../../../src/crawl/scheduler.ts'
import { ended, openCrawl, site, words, type Web } from './crawl-fixture.ts'

const hourMs = 3_600_000
const startMs = Date.UTC(2026, 5, 1, 12, 30)

/** A crawl with one source and a scheduler, on a clock that only the test moves. */
function openScheduled(web: Web, source: Record<string, unknown>) {
  const clock = { nowMs: startMs }
  const opened = openCrawl(web, {}, { now: () => clock.nowMs })
  const { crawl, store, described } = opened
  described.put({ name: 'it', seeds: 'http://a.test/0', scope: 'host', ...source })
  let timer: { run: () => void; atMs: number } | null = null
  const waits: number[] = []
  const open = (): Scheduler =>
    new Scheduler({
      store,
      runs: crawl.runs,
      plans: () => described.plans(),
      isRunning: (name) => crawl.isUnderWay(name),
      start: (name) => void crawl.startSource(name, 'schedule'),
      setTimer(run, waitMs) {
        waits.push(waitMs)
        timer = { run, atMs: clock.nowMs + waitMs }
        return () => (timer = null)
      },
      log: () => {},
      now: () => clock.nowMs,
    })
  return {
    ...opened,
    clock,
    waits,
    open,
    /** Lets the time go on, with every timer that falls into it. */
    pass: (ms: number): void => {
      const untilMs = clock.nowMs + ms
      while (timer !== null && timer.atMs <= untilMs) {
        const { run, atMs } = timer
        clock.nowMs = Math.max(clock.nowMs, atMs)
        timer = null
        run()
      }
      clock.nowMs = untilMs
    },
    hasTimer: () => timer !== null,
    runs: () => crawl.runsOf('it'),
    end: () => ended(crawl, crawl.jobs()[0]?.id ?? 0),
  }
}

describe('A schedule', () => {
  const at = (text: string): string =>
    new Date(nextRunAt({ text, zone: 'utc' }, startMs) ?? 0).toISOString()
  const cases: [text: string, next: string][] = [
    ['every 6h', '2026-06-01T18:30:00.000Z'],
    ['every 90 minutes', '2026-06-01T14:00:00.000Z'],
    ['every day', '2026-06-02T12:30:00.000Z'],
    ['every 2w', '2026-06-15T12:30:00.000Z'],
    ['0 3 * * *', '2026-06-02T03:00:00.000Z'],
    ['@hourly', '2026-06-01T13:00:00.000Z'],
  ]
  for (const [text, next] of cases)
    it(`"${text}" comes next at ${next}`, () => assert.equal(at(text), next))

  for (const wrong of ['every', 'every 0h', 'every 9 moons', 'every 2y', '61 * * * *', 'soon'])
    it(`"${wrong}" is refused`, () =>
      assert.throws(() => checkPlan(wrong), { code: 'invalid_parameter' }))

  it('of a source is read, and a time zone without one is refused', () => {
    const { described } = openCrawl({})
    const put = (more: object) => described.put({ name: 'x', seeds: 'http://a.test/', ...more })
    put({ schedule: '0 4 * * 1', timeZone: 'utc' })
    assert.deepEqual(described.plans().get('x'), { text: '0 4 * * 1', zone: 'utc' } satisfies Plan)
    assert.throws(
      () => put({ schedule: 'now and then' }),
      /schedule: schedule "now and then": five fields/,
    )
    assert.throws(() => put({ timeZone: 'utc' }), /timeZone: it says nothing without "schedule"/)
  })
})

describe('Scheduled runs', () => {
  it('start at their times with one timer, and look for what is new where things are listed', async () => {
    const web = { 'http://a.test/0': { text: words('front'), links: [] as string[] } }
    const { open, pass, end, runs, urls, clock, asked } = openScheduled(web, {
      schedule: 'every 6h',
    })
    const scheduler = open()
    scheduler.begin()
    assert.equal(scheduler.nextAt('it'), startMs + 6 * hourMs)
    pass(5 * hourMs)
    assert.deepEqual(runs(), [])
    pass(hourMs)
    await end()
    assert.equal(runs().length, 1)
    assert.equal(runs()[0]?.cause, 'schedule')
    assert.equal(runs()[0]?.state, 'done')
    assert.equal(runs()[0]?.counts.stored, 1)
    web['http://a.test/0'].links.push('http://a.test/new')
    Object.assign(web, { 'http://a.test/new': { text: words('news') } })
    pass(6 * hourMs)
    await end()
    assert.deepEqual(urls(), ['http://a.test/0', 'http://a.test/new'])
    assert.equal(asked.length, 3)
    const [second] = runs()
    // The front page is as it was: its links are no part of its text.
    assert.deepEqual(
      [second?.counts.fetched, second?.counts.stored, second?.counts.unchanged],
      [2, 1, 1],
    )
    assert.equal(scheduler.nextAt('it'), clock.nowMs + 6 * hourMs)
    scheduler.close()
  })

  it('are skipped, and told so, while the one before is under way', async () => {
    const { open, pass, crawl, runs, end } = openScheduled(site(3), {
      schedule: '@hourly',
      timeZone: 'utc',
    })
    open().begin()
    pass(hourMs)
    const { id } = crawl.jobs()[0] ?? { id: 0 }
    crawl.setState(id, 'paused')
    pass(2 * hourMs)
    assert.deepEqual(
      runs().map(({ state }) => state),
      ['skipped', 'skipped', 'paused'],
    )
    assert.match(runs()[0]?.note ?? '', /still under way/)
    crawl.setState(id, 'running')
    await end()
    assert.equal(runs()[2]?.state, 'done')
    assert.equal(runs()[2]?.counts.stored, 3)
  })

  it('missed while nobody ran are made up for once', async () => {
    const { open, pass, clock, runs, end } = openScheduled(site(2), {
      schedule: '0 * * * *',
      timeZone: 'utc',
    })
    const before = open()
    before.begin()
    before.close()
    clock.nowMs += 50 * hourMs
    const scheduler = open()
    scheduler.begin()
    await end()
    assert.equal(runs().length, 1)
    assert.equal(scheduler.nextAt('it'), startMs + 50.5 * hourMs)
    pass(hourMs)
    await end()
    assert.equal(runs().length, 2)
    scheduler.close()
  })

  it('wait in pieces of an hour, and not at all where no source has a schedule', () => {
    const { open, waits, hasTimer, described, pass, runs } = openScheduled(
      {},
      { schedule: 'every 3d' },
    )
    const scheduler = open()
    scheduler.begin()
    assert.deepEqual(waits, [hourMs])
    described.remove('it')
    scheduler.changed()
    assert.equal(hasTimer(), false)
    assert.equal(scheduler.nextAt('it'), null)
    pass(100 * hourMs)
    assert.throws(runs, { code: 'not_found' })
  })

  it('are planned anew where the schedule changed', () => {
    const { open, described } = openScheduled({}, { schedule: 'every 6h' })
    const scheduler = open()
    scheduler.begin()
    described.put({ name: 'it', seeds: 'http://a.test/0', schedule: 'every 2h' })
    scheduler.changed()
    assert.equal(scheduler.nextAt('it'), startMs + 2 * hourMs)
    scheduler.close()
  })

  it('that cannot be started are told as such, and planned again', () => {
    const { store, crawl, described, clock } = openScheduled({}, { schedule: 'every 1h' })
    let ring = (): void => {}
    const scheduler = new Scheduler({
      store,
      runs: crawl.runs,
      plans: () => described.plans(),
      isRunning: () => false,
      start: () => {
        throw new Error('no room')
      },
      setTimer: (next) => {
        ring = next
        return () => {}
      },
      log: () => {},
      now: () => clock.nowMs,
    })
    scheduler.begin()
    clock.nowMs += hourMs
    ring()
    assert.deepEqual(
      crawl.runsOf('it').map(({ state, note }) => [state, note]),
      [['failed', 'no room']],
    )
    assert.equal(scheduler.nextAt('it'), clock.nowMs + hourMs)
  })

  it('are remembered, the last fifty', () => {
    const { open, pass, crawl, runs } = openScheduled(site(1), { schedule: 'every 1h' })
    open().begin()
    pass(hourMs)
    crawl.setState(crawl.jobs()[0]?.id ?? 0, 'paused')
    pass(70 * hourMs)
    assert.equal(runs().length, 50)
    assert.equal(runs()[0]?.state, 'skipped')
  })
})
