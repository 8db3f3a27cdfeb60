/** Patterns that say which URLs a rule or a source means: plain ones with * and **, or regular expressions that cannot take long. Pure. */
import { compileRegex, type LinearRegex, RegexProblem } from '../lib/linear-regex.ts'
import { type Reader, ValueProblem } from '../lib/read-value.ts'
import type { UrlPattern } from '../store/records.ts'

/**
 * A text that begins with "/" speaks of path and query on any host; one with "http://" or "https://" (which mean the same) of the whole
 * URL. `*` = any characters but / and ?, `**` = any characters. It must fit from beginning to end. A regex may fit anywhere in the URL.
 */
export type { UrlPattern }

export type UrlMatcher = (url: string) => boolean

/** A pattern as given by a user; it is proved that it can be compiled. */
export const readPattern: Reader<UrlPattern> = (value, path) => {
  const wanted = 'a pattern is wanted: "/path/*", "https://host/path/**" or {"regex": "..."}'
  const isText = typeof value === 'string'
  const regex =
    typeof value === 'object' && value !== null && Object.keys(value).join() === 'regex'
      ? (value as { regex: unknown }).regex
      : null
  if (isText && !/^(\/|https?:\/\/[^/]+\/)/i.test(value)) throw new ValueProblem(path, wanted)
  if (!isText && typeof regex !== 'string') throw new ValueProblem(path, wanted)
  const pattern = isText ? value : { regex: String(regex) }
  try {
    compilePattern(pattern)
  } catch (error) {
    if (error instanceof RegexProblem) throw new ValueProblem(path, error.message)
    throw error
  }
  return pattern
}

/** @throws RegexProblem */
export function compilePattern(pattern: UrlPattern): UrlMatcher {
  if (typeof pattern !== 'string') {
    const regex = compileRegex(pattern.regex)
    return (url) => regex.test(url)
  }
  const isWhole = !pattern.startsWith('/')
  const regex = globRegex(isWhole ? placeOf(pattern) : pattern)
  return isWhole
    ? (url) => regex.test(placeOf(url))
    : (url) => regex.test(url.slice(url.indexOf('/', url.indexOf('//') + 2)))
}

const placeOf = (url: string): string => url.slice(url.indexOf('//'))

function globRegex(glob: string): LinearRegex {
  const source = glob
    .split(/(\*\*|\*)/)
    .map((part) =>
      part === '**' ? '.*' : part === '*' ? '[^/?]*' : part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
    )
    .join('')
  return compileRegex(`^${source}$`)
}
