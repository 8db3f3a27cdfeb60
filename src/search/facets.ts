/** Counts by host, language, type, date, keyword or field over all that a search found. A value counts the hits that the search with it as a further filter has. */
import { AppError } from '../lib/errors.ts'
import type { FacetValue } from './answer.ts'
import type { Attributes } from './attributes.ts'
import { countKeywords } from './keyword-facet.ts'
import type { Matches } from './matches.ts'

export const facetsMax = 10
const dayMs = 86_400_000

/** Where a document counts: in no, one or several buckets, each a number below `end`. */
type Buckets = {
  end: number
  each: (docno: number, see: (bucket: number) => void) => void
  /** What that comes to for many documents, added to `counts`; null where there is no quicker way. */
  addAll: ((docnos: Uint32Array, counts: Uint32Array) => void) | null
  value(bucket: number): string
  hasChildren(bucket: number): boolean
  /** Dates stand in their order, the newest first; the rest by count. */
  isOrdered: boolean
}

type Wish =
  | { kind: 'host' | 'lang' | 'type' }
  | { kind: 'keyword' }
  | { kind: 'date'; unit: DateUnit | null }
  | { kind: 'field'; name: string; node: string | null }
type DateUnit = 'year' | 'month' | 'day'

/**
 * `host`, `lang` (`language`), `type`, `keyword`, `date` (`date:year`, `date:month`, `date:day`), `field:NAME` (`field.NAME`); for `field:*` see facetsFor. Of a field whose values are
 * paths (a/b/c) it gives the first steps; `field:NAME/a` gives the steps below a, `field:NAME/` the first ones, whatever the values are.
 * @throws AppError invalid_parameter
 */
export function readFacet(text: string): Wish {
  if (text === 'host' || text === 'lang' || text === 'type' || text === 'keyword')
    return { kind: text }
  if (text === 'site') return { kind: 'host' }
  if (text === 'language') return { kind: 'lang' }
  const unit = /^date(?::(year|month|day))?$/.exec(text)
  if (unit) return { kind: 'date', unit: (unit[1] as DateUnit | undefined) ?? null }
  const [, name, node] = /^field[:.]([^/]+)(?:\/(.*))?$/s.exec(text) ?? []
  if (name === undefined)
    throw new AppError(
      'invalid_parameter',
      `facets: "${text}" is none of host, lang, type, date, keyword, field:NAME`,
    )
  return { kind: 'field', name, node: node === undefined ? null : node.replace(/\/+$/, '') }
}

/**
 * `field:*` becomes the fields that most of what was found has, at most six. Not those whose values tell pages apart instead of
 * bringing them together: more than 20 values, and more than half as many as pages.
 */
export function facetsFor(
  asked: readonly string[],
  matches: Matches,
  attributes: Attributes,
): readonly string[] {
  if (!asked.includes(anyField)) return asked
  const fields = attributes.fields()
  const found = new Map<number, { values: number; count: number }>()
  matches
    .count(fields.valuesEnd(), (docno, see) => fields.eachId(docno, see))
    .forEach((count, id) => {
      if (count === 0) return
      const field = fields.fieldOf(id)
      const known = found.get(field) ?? { values: 0, count: 0 }
      found.set(field, { values: known.values + 1, count: known.count + count })
    })
  const names = [...found]
    .filter(
      ([field, { values, count }]) =>
        values <= fewValues || values * 2 <= count || fields.isTree(field),
    )
    .sort(([a, one], [b, other]) => other.count - one.count || a - b)
    .map(([field]) => fields.fieldName(field))
    .filter((name) => name !== '' && !name.includes('/'))
    .slice(0, anyFieldsMax)
  const all = asked.flatMap((facet) =>
    facet === anyField ? names.map((name) => `field:${name}`) : [facet],
  )
  return [...new Set(all)]
}
const anyField = 'field:*'
const anyFieldsMax = 6
const fewValues = 20

/** Most frequent first, then by value; at most `limit`. @param hides a keyword that may not be shown */
export function countFacet(
  text: string,
  limit: number,
  matches: Matches,
  attributes: Attributes,
  hides: (word: string) => boolean = () => false,
): FacetValue[] {
  const wish = readFacet(text)
  if (wish.kind === 'keyword') return countKeywords(limit, matches, attributes.keywords(), hides)
  const buckets = bucketsOf(wish, matches, attributes)
  if (buckets === null) return []
  const counts = matches.count(buckets.end, buckets.each, buckets.addAll)
  const filled: { bucket: number; count: number }[] = []
  counts.forEach((count, bucket) => {
    if (count > 0) filled.push({ bucket, count })
  })
  // Before the values are read: there may be many. Which of equal counts are shown is then decided by their number.
  const order = buckets.isOrdered
    ? (a: Filled, b: Filled): number => b.bucket - a.bucket
    : (a: Filled, b: Filled): number => b.count - a.count || a.bucket - b.bucket
  const shown = filled.sort(order).slice(0, limit)
  const values = shown.map(({ bucket, count }) => ({
    value: buckets.value(bucket),
    count,
    has_children: buckets.hasChildren(bucket),
  }))
  if (buckets.isOrdered) return values
  return values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
}
type Filled = { bucket: number; count: number }

function bucketsOf(
  wish: Exclude<Wish, { kind: 'keyword' }>,
  matches: Matches,
  attributes: Attributes,
): Buckets | null {
  switch (wish.kind) {
    case 'host':
      return {
        ...siteBuckets(matches, attributes),
        value: (site) => attributes.siteName(site),
        ...flat,
      }
    case 'lang':
      return {
        end: codesEnd,
        each: (docno, see) => see(attributes.langOf(docno)),
        addAll: (docnos, counts) => countCodes(docnos, attributes.columns().langs, counts),
        value: (lang) => attributes.langName(lang),
        ...flat,
      }
    case 'type':
      return {
        end: codesEnd,
        each: (docno, see) => see(attributes.typeOf(docno)),
        addAll: (docnos, counts) => countCodes(docnos, attributes.columns().types, counts),
        value: (type) => attributes.typeName(type),
        ...flat,
      }
    case 'date':
      return dateBuckets(wish.unit, matches, attributes)
    case 'field':
      return fieldBuckets(wish.name, wish.node, attributes)
  }
}

const flat = { hasChildren: () => false, isOrdered: false }
const addOne = (counts: Uint32Array, bucket: number): void => {
  counts[bucket] = (counts[bucket] as number) + 1
}
function countCodes(docnos: Uint32Array, codes: Uint8Array, counts: Uint32Array): void {
  for (let i = 0; i < docnos.length; i += 1) addOne(counts, codes[docnos[i] as number] as number)
}
/** Of languages and types. */
const codesEnd = 256

/** By the number of the site. */
export function siteBuckets(
  matches: Matches,
  attributes: Attributes,
): Pick<Buckets, 'end' | 'each' | 'addAll'> {
  // Every site that occurs gets its number first.
  const { single } = matches
  const { hosts, siteOfHost } = attributes.columns()
  for (let i = 0; i < single.length; i += 1) {
    const docno = single[i] as number
    if ((siteOfHost[hosts[docno] as number] ?? 0) === 0) attributes.siteOf(docno)
  }
  matches.eachCopied((docno) => attributes.siteOf(docno))
  return {
    end: attributes.sites(),
    each: (docno, see) => see(attributes.siteOf(docno)),
    addAll(docnos, counts) {
      const known = attributes.columns()
      for (let i = 0; i < docnos.length; i += 1) {
        const host = known.hosts[docnos[i] as number] as number
        addOne(counts, (known.siteOfHost[host] as number) - 1)
      }
    },
  }
}

/** Years where there are more than three, months where there are more than three, else days: UTC. */
function dateBuckets(
  wished: DateUnit | null,
  matches: Matches,
  attributes: Attributes,
): Buckets | null {
  const [first, last] = datesOf(matches, attributes)
  if (first > last) return null
  const days = (last - first) / dayMs
  const unit = wished ?? (days > 3 * 366 ? 'year' : days > 93 ? 'month' : 'day')
  const firstDay = Math.floor(first / dayMs)
  const lastDay = Math.floor(last / dayMs)
  const from = numberOfDay(firstDay, unit)
  const end = numberOfDay(lastDay, unit) - from + 1
  // What claims to be of the year 9999 must not take a table of all days until then.
  if (end > dateBucketsMax)
    return dateBuckets(unit === 'day' ? 'month' : 'year', matches, attributes)
  // Most documents share their day with others: its year is found out once.
  const isFew = lastDay - firstDay < dateBucketsMax
  const bucketOfDay = new Int32Array(isFew ? lastDay - firstDay + 1 : 0).fill(-1)
  const bucketOf = (ms: number): number => {
    const day = Math.floor(ms / dayMs)
    if (!isFew) return numberOfDay(day, unit) - from
    const known = bucketOfDay[day - firstDay] as number
    return known >= 0 ? known : (bucketOfDay[day - firstDay] = numberOfDay(day, unit) - from)
  }
  return {
    end,
    each: (docno, see) => see(bucketOf(attributes.dateMs(docno))),
    addAll(docnos, counts) {
      const { dates } = attributes.columns()
      for (let i = 0; i < docnos.length; i += 1)
        addOne(counts, bucketOf(dates[docnos[i] as number] as number))
    },
    value(bucket) {
      const number = bucket + from
      if (unit === 'day') return new Date(number * dayMs).toISOString().slice(0, 10)
      if (unit === 'year') return yearText(number)
      return `${yearText(Math.floor(number / 12))}-${String((number % 12) + 1).padStart(2, '0')}`
    },
    hasChildren: () => false,
    isOrdered: true,
  }
}
const dateBucketsMax = 400_000

/** The first and the last; the first is the later one where nothing was found. */
function datesOf(matches: Matches, attributes: Attributes): [number, number] {
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  const { single } = matches
  const { dates } = attributes.columns()
  for (let i = 0; i < single.length; i += 1) {
    const ms = dates[single[i] as number] as number
    if (ms < first) first = ms
    if (ms > last) last = ms
  }
  matches.eachCopied((docno) => {
    first = Math.min(first, attributes.dateMs(docno))
    last = Math.max(last, attributes.dateMs(docno))
  })
  return [first, last]
}

function numberOfDay(day: number, unit: DateUnit): number {
  if (unit === 'day') return day
  const date = new Date(day * dayMs)
  const year = date.getUTCFullYear()
  return unit === 'year' ? year : year * 12 + date.getUTCMonth()
}
const yearText = (year: number): string => String(year).padStart(4, '0')

function fieldBuckets(name: string, node: string | null, attributes: Attributes): Buckets | null {
  const fields = attributes.fields()
  const field = fields.fieldId(name)
  if (field === null) return null
  if (node === null && !fields.isTree(field))
    return {
      end: fields.valuesEnd(),
      each: (docno, see) => fields.eachValue(docno, field, see),
      addAll: (docnos, counts) => fields.countValues(docnos, field, counts),
      value: (id) => fields.valueText(id),
      hasChildren: () => false,
      isOrdered: false,
    }
  const root = node ?? ''
  const skipped = root === '' ? 0 : root.length + 1
  const children: { value: string; hasChildren: boolean }[] = []
  const bucketOfChild = new Map<string, number>()
  const bucketOfValue = new Map<number, number>()
  for (const { id, value } of fields.valuesBelow(field, root)) {
    const slash = value.indexOf('/', skipped)
    const child = slash < 0 ? value : value.slice(0, slash)
    if (child.length === skipped) continue
    const bucket =
      bucketOfChild.get(child) ?? children.push({ value: child, hasChildren: false }) - 1
    bucketOfChild.set(child, bucket)
    bucketOfValue.set(id, bucket)
    const entry = children[bucket]
    if (entry && slash >= 0 && slash + 1 < value.length) entry.hasChildren = true
  }
  return {
    end: children.length,
    addAll: null,
    each(docno, see) {
      // Two paths below one node are one document.
      const seen: number[] = []
      fields.eachValue(docno, field, (id) => {
        const bucket = bucketOfValue.get(id)
        if (bucket === undefined || seen.includes(bucket)) return
        seen.push(bucket)
        see(bucket)
      })
    },
    value: (bucket) => children[bucket]?.value ?? '',
    hasChildren: (bucket) => children[bucket]?.hasChildren ?? false,
    isOrdered: false,
  }
}
