/** Cron expressions: what they mean, and the next time they name. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextTime, parseCron } from '../../../src/crawl/cron.ts'

const next = (expression: string, after: string): string | null => {
  const at = nextTime(parseCron(expression), Date.parse(after), 'utc')
  return at === null ? null : new Date(at).toISOString().slice(0, 16)
}

describe('nextTime', () => {
  const cases: [expression: string, after: string, next: string][] = [
    ['* * * * *', '2026-01-31T23:59:30Z', '2026-02-01T00:00'],
    ['*/15 * * * *', '2026-01-01T00:15:00Z', '2026-01-01T00:30'],
    ['5/20 * * * *', '2026-01-01T00:26:00Z', '2026-01-01T00:45'],
    ['0 4 * * *', '2026-01-01T04:00:00Z', '2026-01-02T04:00'],
    ['30 3-5,22 * * *', '2026-01-01T05:30:00Z', '2026-01-01T22:30'],
    ['0 0 31 * *', '2026-02-01T00:00:00Z', '2026-03-31T00:00'],
    ['0 0 29 2 *', '2026-03-01T00:00:00Z', '2028-02-29T00:00'],
    ['0 0 * * mon', '2026-01-01T00:00:00Z', '2026-01-05T00:00'],
    ['0 0 * * 7', '2026-01-01T00:00:00Z', '2026-01-04T00:00'],
    ['0 0 * * MON-fri/2', '2026-01-05T00:00:00Z', '2026-01-07T00:00'],
    // A day of the month or of the week: either is enough.
    ['0 0 13 * fri', '2026-01-03T00:00:00Z', '2026-01-09T00:00'],
    ['0 0 13 * fri', '2026-01-10T00:00:00Z', '2026-01-13T00:00'],
    ['0 12 * JAN,jul *', '2026-02-01T00:00:00Z', '2026-07-01T12:00'],
    ['@weekly', '2026-01-01T00:00:00Z', '2026-01-04T00:00'],
  ]
  for (const [expression, after, wanted] of cases)
    it(`of "${expression}" after ${after} is ${wanted}`, () => {
      assert.equal(next(expression, after), wanted)
    })

  it('names the same minutes as a walk minute by minute', () => {
    const cron = parseCron('7,*/13 2-23/5 */3 * 1-5')
    let at = Date.UTC(2026, 1, 20)
    const end = at + 20 * 86_400_000
    for (let ms = at + 60_000; ms < end; ms += 60_000) {
      const date = new Date(ms)
      const minute = date.getUTCMinutes()
      const fits =
        (minute === 7 || minute % 13 === 0) &&
        [2, 7, 12, 17, 22].includes(date.getUTCHours()) &&
        date.getUTCDate() % 3 === 1 &&
        date.getUTCDay() >= 1 &&
        date.getUTCDay() <= 5
      if (!fits) continue
      assert.equal(nextTime(cron, at, 'utc'), ms)
      at = ms
    }
  })
})

describe('parseCron', () => {
  for (const wrong of ['', '* * * *', '60 * * * *', '* * 0 * *', '* * * 13 *', '5-1 * * * *'])
    it(`refuses "${wrong}"`, () => {
      assert.throws(() => parseCron(wrong), { code: 'invalid_parameter' })
    })
  for (const wrong of ['*/0 * * * *', 'a * * * *', '* * * * funday', '0 0 30 2 *', '1,,2 * * * *'])
    it(`refuses "${wrong}", with words that name the field`, () => {
      assert.throws(() => parseCron(wrong), /minute|day|month|field/)
    })
})
