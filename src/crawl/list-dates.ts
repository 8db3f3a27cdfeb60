/** Dates as sitemaps and feeds write them: W3C profile of ISO 8601 and RFC 822. Pure. */

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
/** RFC 822 5.1, in minutes. */
const zones: Readonly<Record<string, number>> = {
  gmt: 0,
  ut: 0,
  utc: 0,
  z: 0,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
}
const w3c =
  /^(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(z|[+-]\d\d:?\d\d)?)?)?)?$/i
const rfc822 =
  /^(?:[a-z]{3,9},?\s+)?(\d\d?)[\s-]+([a-z]{3})[a-z]*\.?[\s-]+(\d{4}|\d\d)\s+(\d\d?):(\d\d)(?::(\d\d))?\s+([a-z]{1,4}|[+-]\d{4})$/i

/**
 * Milliseconds since 1970, or null where the text is no date. A W3C date without a zone is UTC; an RFC 822 one without a zone says
 * too little (it may be a day off) and is none.
 */
export function listDate(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed.length > 60) return null
  const iso = w3c.exec(trimmed)
  if (iso !== null) {
    const [, year, month = '1', day = '1', hour = '0', minute = '0', second = '0', zone = 'z'] = iso
    return dateOf([year, month, day, hour, minute, second].map(Number), zoneMinutes(zone))
  }
  const mail = rfc822.exec(trimmed)
  if (mail === null) return null
  const [, day, name = '', year = '', hour, minute, second = '0', zone = ''] = mail
  const month = months.indexOf(name.toLowerCase()) + 1
  const parts = [fullYear(year), month, ...[day, hour, minute, second].map(Number)]
  return dateOf(parts, zoneMinutes(zone))
}

/** RFC 2822 4.3: two digits below 50 are of this century. */
const fullYear = (year: string): number =>
  year.length === 4 ? Number(year) : Number(year) + (Number(year) < 50 ? 2000 : 1900)

function zoneMinutes(zone: string): number | null {
  const offset = /^([+-])(\d\d):?(\d\d)$/.exec(zone)
  if (offset === null) return zones[zone.toLowerCase()] ?? null
  const minutes = Number(offset[2]) * 60 + Number(offset[3])
  return offset[1] === '-' ? -minutes : minutes
}

function dateOf(parts: readonly number[], zone: number | null): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
  if (zone === null || hour > 24 || minute > 59 || second > 60) return null
  const ms = Date.UTC(year, month - 1, day, hour, minute, second)
  const date = new Date(Date.UTC(year, month - 1, day))
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isReal ? ms - zone * 60_000 : null
}
