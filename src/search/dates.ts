/** Dates as people write them in a query. Knows no clock. */

const dayMs = 86_400_000
/** 2026-11-30, 2026/11/30, 2026.11.30, 20261130, 2026年11月30日, or only year and month, or the year. */
const written =
  /^(\d{4})(?:(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)|(?:(\d{2})(\d{2}))|(?:年(?:(\d{1,2})月(?:(\d{1,2})[日号]?)?)?))?$/

/** The milliseconds (UTC) [fromMs, toMs) of a day, a month or a year; null for anything else and for days that do not exist. */
export function periodOf(text: string): { fromMs: number; toMs: number } | null {
  const match = written.exec(text.normalize('NFKC').trim())
  if (match === null) return null
  const year = Number(match[1])
  const monthText = match[2] ?? match[4] ?? match[6]
  const dayText = match[3] ?? match[5] ?? match[7]
  const month = Number(monthText ?? 1)
  const day = Number(dayText ?? 1)
  const date = new Date(Date.UTC(year, month - 1, day))
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null
  // Years before 100 would be taken for those of the last century.
  if (date.getUTCFullYear() !== year) return null
  const fromMs = date.getTime()
  if (monthText === undefined) return { fromMs, toMs: Date.UTC(year + 1, 0, 1) }
  if (dayText === undefined) return { fromMs, toMs: Date.UTC(year, month, 1) }
  return { fromMs, toMs: fromMs + dayMs }
}

/** First millisecond (UTC) of a year, a month or a day. */
export const dayOf = (text: string): number | null => periodOf(text)?.fromMs ?? null
