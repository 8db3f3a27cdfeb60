/** Cron expressions: five fields, ranges, steps, lists, names; the next time they name, in UTC or the machine's zone. Pure. */
import { AppError } from '../lib/errors.ts'

/** Allowed values of each field, ascending. */
export type Cron = {
  minutes: readonly number[]
  hours: readonly number[]
  days: ReadonlySet<number>
  months: ReadonlySet<number>
  /** 0 = Sunday. */
  weekdays: ReadonlySet<number>
  /** Both days and weekdays are restricted: either is enough, as in every cron since Vixie's. */
  isEitherDay: boolean
}
export type Zone = 'utc' | 'local'

type Field = { name: string; min: number; max: number; names?: readonly string[] }

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const weekdayNames = 'sun mon tue wed thu fri sat'.split(' ')
const fields: readonly [Field, Field, Field, Field, Field] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: monthNames },
  { name: 'day of week', min: 0, max: 7, names: weekdayNames },
]
const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}
/** 29 February on a weekday comes again within 40 years at most. */
const yearsAhead = 41
const expressionCharsMax = 200

/** @throws AppError invalid_parameter, naming the field, also where no day can ever match */
export function parseCron(expression: string): Cron {
  const wrong = (what: string): AppError =>
    new AppError('invalid_parameter', `schedule "${expression.slice(0, 80)}": ${what}`)
  if (expression.length > expressionCharsMax) throw wrong('it is too long')
  const trimmed = expression.trim().toLowerCase()
  const parts = (nicknames[trimmed] ?? trimmed).split(/\s+/)
  if (parts.length !== fields.length)
    throw wrong('five fields are wanted: minute, hour, day of month, month, day of week')
  const values = fields.map((field, i) => {
    const found = valuesOf(parts[i] ?? '', field)
    if (found === null) throw wrong(`"${parts[i]}" is no ${field.name}`)
    return found
  })
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = values
  const isFree = (i: number): boolean => (parts[i] ?? '').startsWith('*')
  const cron: Cron = {
    minutes,
    hours,
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((day) => day % 7)),
    isEitherDay: !isFree(2) && !isFree(4),
  }
  if (nextTime(cron, Date.UTC(2000, 0, 1), 'utc') === null) throw wrong('it names no day at all')
  return cron
}

/** null = not understood. */
function valuesOf(text: string, field: Field): number[] | null {
  const found = new Set<number>()
  for (const item of text.split(',')) {
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,3}))?$/.exec(item)
    if (match === null) return null
    const [, star, first = '', last, stepText] = match
    const step = stepText === undefined ? 1 : Number(stepText)
    const from = star === undefined ? valueOf(first, field) : field.min
    // "5/15" goes on to the end, "*" up to the last value that is no second name of another.
    const open = stepText === undefined && star === undefined ? from : endOf(field)
    const to = last === undefined ? open : valueOf(last, field)
    if (from === null || to === null || from > to || step < 1) return null
    for (let value = from; value <= to; value += step) found.add(value)
  }
  return [...found].toSorted((a, b) => a - b)
}

/** Sunday is 0 and 7. */
const endOf = ({ min, max }: Field): number => (min === 0 && max === 7 ? 6 : max)

function valueOf(text: string, { min, max, names }: Field): number | null {
  const named = names?.indexOf(text.slice(0, 3)) ?? -1
  if (named >= 0 && text.length === 3) return named + min
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : null
}

/**
 * The first time after `afterMs` that the expression names, to the minute; null where there is none within 40 years. In the
 * machine's zone a time that a change of the clock skips is the first moment after the gap, and one that comes twice counts once.
 */
export function nextTime(cron: Cron, afterMs: number, zone: Zone): number | null {
  const clock = zone === 'utc' ? utcClock : localClock
  const start = clock.read(afterMs)
  const yearEnd = start.year + yearsAhead
  for (let { year, month, day } = start; year <= yearEnd;) {
    if (cron.months.has(month) && isDay(cron, year, month, day)) {
      const at = firstOfDay(cron, clock, { year, month, day }, afterMs)
      if (at !== null) return at
    }
    day++
    // Months without a chance are passed over as a whole.
    if (!cron.months.has(month) || day > daysOf(year, month)) {
      day = 1
      month++
    }
    if (month > 12) {
      month = 1
      year++
    }
  }
  return null
}

type Day = { year: number; month: number; day: number }
type Clock = {
  read(ms: number): Day
  time(day: Day, hour: number, minute: number): number
}

const utcClock: Clock = {
  read(ms) {
    const date = new Date(ms)
    return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
  },
  time: ({ year, month, day }, hour, minute) => Date.UTC(year, month - 1, day, hour, minute),
}
const localClock: Clock = {
  read(ms) {
    const date = new Date(ms)
    return { year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() }
  },
  time: ({ year, month, day }, hour, minute) =>
    new Date(year, month - 1, day, hour, minute).getTime(),
}

const daysOf = (year: number, month: number): number =>
  new Date(Date.UTC(year, month, 0)).getUTCDate()

function isDay(cron: Cron, year: number, month: number, day: number): boolean {
  const isOfMonth = cron.days.has(day)
  const isOfWeek = cron.weekdays.has(new Date(Date.UTC(year, month - 1, day)).getUTCDay())
  return cron.isEitherDay ? isOfMonth || isOfWeek : isOfMonth && isOfWeek
}

function firstOfDay(cron: Cron, clock: Clock, day: Day, afterMs: number): number | null {
  for (const hour of cron.hours) {
    for (const minute of cron.minutes) {
      const at = clock.time(day, hour, minute)
      if (at > afterMs) return at
    }
  }
  return null
}
