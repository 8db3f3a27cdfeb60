/** When a source is crawled: "every 6h" or a cron expression, read from a description; and the next time. Pure. */
import { AppError } from '../lib/errors.ts'
import { nextTime, parseCron, type Zone } from './cron.ts'

/** A time table, resolved. `text` as a user wrote it. */
export type Plan = { text: string; zone: Zone }

const unitsMs: Readonly<Record<string, number>> = {
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
}
const intervalMaxMs = 366 * 86_400_000

/** null where it is no "every ...". @throws AppError invalid_parameter */
function intervalOf(text: string): number | null {
  const match = /^every\s+(?:(\d{1,6})\s*)?([a-z]+?)s?$/i.exec(text.trim())
  if (match === null) return null
  const unitMs = unitsMs[match[2]?.toLowerCase() ?? '']
  const intervalMs = Number(match[1] ?? 1) * (unitMs ?? 0)
  if (unitMs !== undefined && intervalMs > 0 && intervalMs <= intervalMaxMs) return intervalMs
  throw new AppError(
    'invalid_parameter',
    `schedule "${text.slice(0, 80)}": "every 30m", "every 6h", "every day" or "every 2w" are possible, from a minute to a year`,
  )
}

/** @throws AppError invalid_parameter, naming what is wrong */
export function checkPlan(text: string): void {
  if (intervalOf(text) === null) parseCron(text)
}

/** The first time after `afterMs`; an interval counts from there. null = never again. */
export function nextRunAt({ text, zone }: Plan, afterMs: number): number | null {
  const intervalMs = intervalOf(text)
  return intervalMs === null ? nextTime(parseCron(text), afterMs, zone) : afterMs + intervalMs
}
