/** Dates in pages: which day, and when a page was published. English month names, ISO, Chinese, day first. */
import type { Line } from './blocks.ts'
import type { ArticleFacts } from './json-ld.ts'
import type { PageTree } from './page-tree.ts'

const yearMin = 1990
const yearMax = 2100
/** A date far down a long line is not the page's own. */
const lineWidthMax = 160
const linesMax = 60
const textCharsMax = 400

const monthNames = 'janfebmaraprmayjunjulaugsepoctnovdec'
const month = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?'
const yearFirst = /(?<!\d)((?:19|20)\d\d)\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)/
const monthFirst = new RegExp(
  `\\b${month}\\s+(\\d{1,2})(?:st|nd|rd|th)?,?\\s+((?:19|20)\\d\\d)`,
  'i',
)
const dayThenMonth = new RegExp(
  `\\b(\\d{1,2})(?:st|nd|rd|th)?\\.?\\s+${month},?\\s+((?:19|20)\\d\\d)`,
  'i',
)
const dayFirst = /(?<!\d)(\d{1,2})[./](\d{1,2})[./]((?:19|20)\d\d)(?!\d)/
const isoTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/

const metaKeys = [
  'article:published_time',
  'datepublished',
  'og:published_time',
  'dc.date',
  'dc.date.issued',
  'dcterms.created',
  'date',
  'pubdate',
  'publishdate',
  'parsely-pub-date',
  'sailthru.date',
  'publish-date',
  'og:article:published_time',
]

/** The first date in a text, ms since 1970: with its time where it is an ISO date and time (UTC if it names no zone), else that day at 0:00 UTC. */
export function dateIn(text: string): number | null {
  const short = text.slice(0, textCharsMax).trim()
  const time = isoTime.exec(short)
  if (time !== null) {
    const ms = Date.parse(short.replace(' ', 'T') + (time[1] === undefined ? 'Z' : ''))
    if (!Number.isNaN(ms) && isOfOurTime(new Date(ms).getUTCFullYear())) return ms
  }
  let found = yearFirst.exec(short)
  if (found !== null) return dayMs(found[1], found[2], found[3])
  found = monthFirst.exec(short)
  if (found !== null) return dayMs(found[3], monthNumber(found[1]), found[2])
  found = dayThenMonth.exec(short)
  if (found !== null) return dayMs(found[3], monthNumber(found[2]), found[1])
  found = dayFirst.exec(short)
  return found === null ? null : dayMs(found[3], found[2], found[1])
}

/** When a page was published, by its own word: JSON-LD, meta, time elements, its address, a short line of it; null where none says. */
export function publicationMs(
  tree: PageTree,
  facts: ArticleFacts,
  lines: readonly Line[],
  url: string,
): number | null {
  const inUrl = /\/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?=\D|$)/.exec(url)
  return (
    dateIn(facts.date) ??
    dateOfMetas(tree.metas) ??
    firstDate(tree.times) ??
    (inUrl === null ? null : dayMs(inUrl[1], inUrl[2], inUrl[3])) ??
    dateOfLines(lines)
  )
}

function dateOfMetas(metas: ReadonlyMap<string, string>): number | null {
  for (const key of metaKeys) {
    const text = metas.get(key) ?? ''
    const ms = text === '' ? null : dateIn(text)
    if (ms !== null) return ms
  }
  return null
}

/** Of the first short lines. */
function dateOfLines(lines: readonly Line[]): number | null {
  let short = 0
  for (const { text, width } of lines) {
    if (width >= lineWidthMax) continue
    const ms = text === '' ? null : dateIn(text)
    if (ms !== null) return ms
    short += 1
    if (short === linesMax) break
  }
  return null
}

function firstDate(texts: readonly string[]): number | null {
  for (const text of texts) {
    const ms = text === '' ? null : dateIn(text)
    if (ms !== null) return ms
  }
  return null
}

const isOfOurTime = (year: number): boolean => year >= yearMin && year <= yearMax

const monthNumber = (name = ''): string =>
  String(monthNames.indexOf(name.toLowerCase().slice(0, 3)) / 3 + 1)

/** null for days that no calendar has. */
function dayMs(year = '', monthOfYear = '', day = ''): number | null {
  const ms = Date.UTC(Number(year), Number(monthOfYear) - 1, Number(day))
  const date = new Date(ms)
  const isReal = date.getUTCMonth() === Number(monthOfYear) - 1 && date.getUTCDate() === Number(day)
  return isReal && isOfOurTime(date.getUTCFullYear()) ? ms : null
}
