/** The shape of a URL: what is left of its path and parameters when figures, dates and ids are folded. And URLs without a parameter. Pure. */
import { splitUrl } from '../lib/url.ts'

/** `pattern` of the path; `names` of the parameters, distinct, sorted. `key` is both, and many parameters in any combination are one. */
export type Shape = { key: string; pattern: string; names: readonly string[] }

/** More parameters than this: their combinations count as one shape. */
const namesMax = 2
const keyCharsMax = 200
const partsMax = 64
const parametersMax = 16

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i
const hex = /^(?=.*\d)[\da-f]{8,}$/i
/** An id of letters and figures mixed, as programs make them. */
const opaque = /^(?=.*\d.*[a-z].*\d)[\w~-]{20,}$/i

/** @param url canonical */
export function shapeOf(url: string): Shape {
  const { path } = splitUrl(url)
  const mark = path.indexOf('?')
  const pattern = patternOf(mark < 0 ? path : path.slice(0, mark))
  const names = mark < 0 ? [] : namesOf(path.slice(mark + 1))
  const tail = names.length === 0 ? '' : `?${names.length > namesMax ? '*' : names.join('&')}`
  return { key: `${pattern.slice(0, keyCharsMax)}${tail.slice(0, keyCharsMax)}`, pattern, names }
}

/** Many URLs can have it: only such a shape can be a trap. */
export const isOpenEnded = ({ key }: Shape): boolean => /[#?]/.test(key)

function patternOf(path: string): string {
  const parts = path.split('/', partsMax).map((segment) => fold(segment.split(';', 1)[0] ?? ''))
  return turnsInCircles(parts) ? `${[...new Set(parts)].join('/')}/#` : parts.join('/')
}

/** A folder that stands three times in one path: relative links that lead deeper with every step. All of them are one shape. */
function turnsInCircles(parts: readonly string[]): boolean {
  const counts = new Map<string, number>()
  for (const part of parts) {
    const count = (counts.get(part) ?? 0) + 1
    if (part !== '' && part !== '#' && count >= 3) return true
    counts.set(part, count)
  }
  return false
}

const fold = (part: string): string =>
  uuid.test(part) || hex.test(part) || opaque.test(part) ? '#' : part.replace(/\d+/g, '#')

function namesOf(query: string): string[] {
  const names = query
    .split(/[&;]/, partsMax)
    .map((pair) => fold((pair.split('=', 1)[0] ?? '').toLowerCase()))
    .filter((name) => name !== '' && name !== 'amp')
  return [...new Set(names)].toSorted()
}

/** `name` of a parameter of the path begins with a semicolon: ";jsessionid". */
export type UrlParameter = { name: string; value: string }

/** The parameters of a canonical URL, at most 16. */
export function parametersOf(url: string): UrlParameter[] {
  const { path } = splitUrl(url)
  const mark = path.indexOf('?')
  const found: UrlParameter[] = []
  for (const part of (mark < 0 ? path : path.slice(0, mark)).split(';').slice(1)) {
    const [name = '', value] = part.split('/', 1)[0]?.split('=', 2) ?? []
    if (value !== undefined && name !== '') found.push({ name: `;${name.toLowerCase()}`, value })
  }
  if (mark >= 0) {
    for (const pair of path.slice(mark + 1).split('&', partsMax)) {
      const [name = '', value = ''] = pair.split('=', 2)
      if (name !== '') found.push({ name: name.toLowerCase(), value })
    }
  }
  return found.slice(0, parametersMax)
}

/** The URL without these parameters; what stays keeps its order and spelling. A canonical URL stays one. */
export function withoutParameters(url: string, isDropped: (name: string) => boolean): string {
  const { origin, path } = splitUrl(url)
  const mark = path.indexOf('?')
  const bare = (mark < 0 ? path : path.slice(0, mark)).replace(
    /;([^;/=]+)=[^;/]*/g,
    (whole, name: string) => (isDropped(`;${name.toLowerCase()}`) ? '' : whole),
  )
  if (mark < 0) return origin + bare
  const kept = path
    .slice(mark + 1)
    .split('&')
    .filter((pair) => !isDropped((pair.split('=', 1)[0] ?? '').toLowerCase()))
  return origin + bare + (kept.length === 0 ? '' : `?${kept.join('&')}`)
}

/** Sessions and sources of visitors, as many programs and campaigns call them: one pair of like pages is proof enough. */
const wellKnown =
  /^(?:;jsessionid|jsessionid|phpsessid|aspsessionid\w*|sessionid|session_id|sid|utm_\w+|gclid|fbclid|msclkid|yclid|dclid|mc_cid|mc_eid|spm|scm|_ga|igshid)$/
export const isWellKnownNoise = (name: string): boolean => wellKnown.test(name)
