/** Filters of a request and of the operators in its query, as one. Times are given as dates or as durations back from now. */
import { AppError } from '../lib/errors.ts'
import type { SearchRequest } from './answer.ts'
import type { Filter } from './attributes.ts'
import { periodOf } from './dates.ts'
import type { ParsedQuery } from './query.ts'

const dayMs = 86_400_000

/** What the filters of a search are when there are none. */
export const noFilters = {
  site: [],
  notSite: [],
  lang: [],
  type: [],
  fields: [],
  keyword: [],
  since: null,
  until: null,
} satisfies Partial<SearchRequest>

/** A search as it is without wishes. */
export const requestDefaults: Omit<SearchRequest, 'q'> = {
  limit: 10,
  offset: 0,
  cursor: null,
  sort: 'relevance',
  match: 'auto',
  ...noFilters,
  group: 'duplicate',
  collapse: null,
  facets: [],
  facetLimit: 10,
  snippet: 160,
}

/** What a list is ordered by; `isDescending`: the largest first. */
export type Order =
  | { by: 'relevance'; isFresh: boolean }
  | { by: 'date' | 'id'; isDescending: boolean }
  | { by: 'field'; name: string; isDescending: boolean }

/** @throws AppError invalid_parameter */
export function orderOf(sort: string): Order {
  if (sort === 'relevance' || sort === 'fresh')
    return { by: 'relevance', isFresh: sort === 'fresh' }
  if (sort === 'date' || sort === '-date') return { by: 'date', isDescending: sort === 'date' }
  if (sort === 'id' || sort === '-id') return { by: 'id', isDescending: sort === '-id' }
  const [, minus, name] = /^(-?)field[:.](.+)$/s.exec(sort) ?? []
  if (name === undefined)
    throw new AppError(
      'invalid_parameter',
      `sort: "${sort}" is none of relevance, fresh, date, -date, id, field:NAME, -field:NAME`,
    )
  return { by: 'field', name, isDescending: minus === '-' }
}

const sitesOf = (request: SearchRequest, parsed: ParsedQuery): string[] =>
  [...request.site, ...parsed.site].map((site) => site.toLowerCase())

/** All sites that are asked for, where one of them is a folder (a.example/docs): a filter knows hosts alone. Else none. */
export const foldersOf = (request: SearchRequest, parsed: ParsedQuery): string[] =>
  parsed.site.some((site) => site.includes('/'))
    ? [...request.site.map((site) => site.toLowerCase()), ...parsed.site]
    : []

/** @throws AppError invalid_parameter for a time that is none */
export function filterOf(request: SearchRequest, parsed: ParsedQuery, nowMs: number): Filter {
  const since = request.since === null ? null : timeOf('since', request.since, nowMs)
  const until = request.until === null ? null : timeOf('until', request.until, nowMs)
  return {
    site: foldersOf(request, parsed).length > 0 ? [] : sitesOf(request, parsed),
    notSite: [...request.notSite, ...parsed.notSite].map((site) => site.toLowerCase()),
    lang: [...request.lang, ...parsed.lang].map((lang) => lang.toLowerCase()),
    fileType: parsed.fileType,
    type: request.type.map((type) => type.toLowerCase()),
    fields: request.fields,
    keyword: [...request.keyword, ...parsed.keyword],
    sinceMs: latest(since?.fromMs ?? null, parsed.afterMs),
    untilMs: earliest(until?.toMs ?? null, parsed.beforeMs),
  }
}

const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)
const earliest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** The moments that a time means: a day is all of it, a moment and a duration are a point. */
function timeOf(name: string, text: string, nowMs: number): { fromMs: number; toMs: number } {
  const backMs = durationMs(text)
  if (backMs !== null) return { fromMs: nowMs - backMs, toMs: nowMs - backMs }
  const period = periodOf(text)
  if (period !== null) return period
  const pointMs = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(pointMs))
    throw new AppError(
      'invalid_parameter',
      `${name}: "${text}" is neither a date (2026-11-30) nor a duration (P7D)`,
    )
  return { fromMs: pointMs, toMs: pointMs }
}

/** ISO 8601 durations; a month is 30 days, a year 365. */
function durationMs(text: string): number | null {
  const match =
    /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/.exec(
      text,
    )
  if (match === null || text.endsWith('P') || text.endsWith('T')) return null
  const units = [365 * dayMs, 30 * dayMs, 7 * dayMs, dayMs, 3_600_000, 60_000, 1_000]
  return units.reduce((sum, unit, i) => sum + unit * Number(match[i + 1] ?? 0), 0)
}
