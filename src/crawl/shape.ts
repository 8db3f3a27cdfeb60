/** The shape of a URL: what is left of its path and parameters when figures, dates and ids are folded. And URLs without a parameter. Pure. */
import { createMemo } from '../lib/memo.ts'
import { splitUrl } from '../lib/url.ts'

/** `pattern` of the path; `names` of the parameters, distinct, sorted. `key` is both, and many parameters in any combination are one. */
export type Shape = { key: string; pattern: string; names: readonly string[] }

/** More parameters than this: their combinations count as one shape. */
const namesMax = 2
const keyCharsMax = 200
const partsMax = 64
const parametersMax = 16
/** So often a folder stands in one path before it counts as a circle. */
const circleMin = 3

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i
const hex = /^(?=.*\d)[\da-f]{8,}$/i
/** An id of letters and figures mixed, as programs make them. */
const opaque = /^(?=.*\d.*[a-z].*\d)[\w~-]{20,}$/i

/** A site's menus stand on each of its pages: most links were asked for lately. About 200 bytes each. */
const remembered = createMemo(2_048, toShape)

/** @param url canonical */
export const shapeOf = (url: string): Shape => remembered.get(url)

function toShape(url: string): Shape {
  const { path } = splitUrl(url)
  const mark = path.indexOf('?')
  const pattern = patternOf(mark < 0 ? path : path.slice(0, mark))
  const names = mark < 0 ? [] : namesOf(path.slice(mark + 1))
  const tail = names.length === 0 ? '' : `?${names.length > namesMax ? '*' : names.join('&')}`
  return { key: `${pattern.slice(0, keyCharsMax)}${tail.slice(0, keyCharsMax)}`, pattern, names }
}

/** Many URLs can have it: only such a shape can be a trap. */
export const isOpenEnded = ({ key }: Pick<Shape, 'key'>): boolean => /[#?]/.test(key)

function patternOf(path: string): string {
  // Most paths are folders and names without a figure: nothing of them folds.
  if (isPlain(path)) return path
  const parts = path.split('/', partsMax).map(foldSegment)
  return turnsInCircles(parts) ? `${[...new Set(parts)].join('/')}/#` : parts.join('/')
}

/** No figure, no parameter of the path, and no circle. Asked for every link: a scan. */
function isPlain(path: string): boolean {
  let slashes = 0
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code === 0x2f) slashes++
    else if ((code >= 0x30 && code <= 0x39) || code === 0x3b) return false
  }
  if (slashes < circleMin) return true
  return slashes < partsMax && !turnsInCircles(path.split('/'))
}

/** The URL of this path has no open-ended shape. */
export const isClearlyFixed = (path: string): boolean => !path.includes('?') && isPlain(path)

/** A folder that stands three times in one path: relative links that lead deeper with every step. All of them are one shape. */
function turnsInCircles(parts: readonly string[]): boolean {
  for (let i = 0; i + circleMin <= parts.length; i++) {
    const part = parts[i]
    if (part === '' || part === '#') continue
    let count = 1
    for (let j = i + 1; j < parts.length; j++) if (parts[j] === part) count++
    if (count >= circleMin) return true
  }
  return false
}

const foldSegment = (segment: string): string => fold(segment.split(';', 1)[0] ?? '')

/** An id may stand within other signs: "(S(id))", "id.html". */
function fold(part: string): string {
  if (!hasFigure(part)) return part
  return isOneWord(part) ? foldWord(part) : part.replace(/[\w~-]+/g, foldWord)
}

const isOneWord = (part: string): boolean => /^[\w~-]*$/.test(part)

function foldWord(part: string): string {
  const { length } = part
  const isId =
    (length >= 8 && hex.test(part)) ||
    (length >= 20 && opaque.test(part)) ||
    (length >= 36 && uuid.test(part))
  return isId ? '#' : part.replace(/\d+/g, '#')
}

function hasFigure(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x30 && code <= 0x39) return true
  }
  return false
}

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
