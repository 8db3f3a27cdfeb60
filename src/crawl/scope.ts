/** Which URLs belong to a source: resolves a wish into prefixes, judges URLs in plain words, compares scopes. Pure. */
import { AppError } from '../lib/errors.ts'
import { hostOf, normalizeUrl, registrableDomain, splitUrl } from '../lib/url.ts'
import { compilePattern, type UrlMatcher, type UrlPattern } from './url-pattern.ts'

/** The same words as in server/control.ts, which this layer may not import. */
export type Scope = 'page' | 'path' | 'host' | 'domain' | 'any'

/**
 * A resolved scope. `prefixes[0]` is the place the scope speaks of, the rest are further prefixes, sorted; none for `any`.
 * Places are written without the scheme ("//host[:port]/path"), because sites move from http to https: page = exactly this
 * address, path and host = all that begins so; for domain it is the registrable domain alone ("example.org").
 */
export type ScopeSpec = {
  scope: Scope
  prefixes: string[]
  depth: number
  /** Of what is in scope only these, and never those; absent = no such limits. */
  only?: readonly UrlPattern[]
  exclude?: readonly UrlPattern[]
  /** The described source it belongs to, and which of its scopes it is. */
  name?: string
  place?: number
}

const includesMax = 100

/**
 * @param seed URL as the user gave it. @param include further URL prefixes in scope. @param depth links from the seed, 0 = only it.
 * @throws AppError `invalid_parameter` for a seed or prefix that is no http(s) URL, too many prefixes, or a negative depth.
 */
export function resolveScope(
  seed: string,
  scope: Scope,
  include: readonly string[],
  depth: number,
): ScopeSpec {
  if (!Number.isSafeInteger(depth) || depth < 0) {
    throw new AppError('invalid_parameter', `depth must be a whole number from 0 on: ${depth}`)
  }
  if (include.length > includesMax) {
    throw new AppError('invalid_parameter', `more than ${includesMax} prefixes to include`)
  }
  if (scope === 'any') return { scope, prefixes: [], depth }
  const url = canonical(seed)
  const root = rootOf(url, scope)
  const bare: ScopeSpec = { scope, prefixes: [root], depth }
  const others = [...new Set(include.map((prefix) => placeOf(canonical(prefix))))]
    .filter((place, _, all) => !coversPlace(bare, place) && !all.some((one) => isBelow(place, one)))
    .toSorted()
  return { scope, prefixes: [root, ...others], depth }
}

/** Is a canonical URL in scope, and which rule says so? Depth is judged by the caller: it is no property of a URL. */
export function isInScope(spec: ScopeSpec, url: string): { inScope: boolean; line: string } {
  const judged = isInReach(spec, url)
  if (!judged.inScope || (spec.only === undefined && spec.exclude === undefined)) return judged
  const { only, exclude } = matchersOf(spec)
  const excluded = exclude.find(({ matches }) => matches(url))
  if (excluded !== undefined) return { inScope: false, line: `excluded by ${excluded.shown}` }
  if (only.length === 0 || only.some(({ matches }) => matches(url))) return judged
  return { inScope: false, line: `it fits none of ${only.length} patterns of "only"` }
}

type Matcher = { shown: string; matches: UrlMatcher }
type Matchers = { only: Matcher[]; exclude: Matcher[] }
const compiled = new WeakMap<ScopeSpec, Matchers>()

function matchersOf(spec: ScopeSpec): Matchers {
  const known = compiled.get(spec)
  if (known !== undefined) return known
  const matcher = (pattern: UrlPattern): Matcher => ({
    shown: typeof pattern === 'string' ? pattern : `/${pattern.regex}/`,
    matches: compilePattern(pattern),
  })
  const fresh = {
    only: (spec.only ?? []).map(matcher),
    exclude: (spec.exclude ?? []).map(matcher),
  }
  compiled.set(spec, fresh)
  return fresh
}

/** As isInScope, but for the patterns of `only` and `exclude`. */
function isInReach(spec: ScopeSpec, url: string): { inScope: boolean; line: string } {
  if (spec.scope === 'any') return { inScope: true, line: 'scope any: every URL belongs to it' }
  const { prefixes } = spec
  const rule = describe(spec.scope, prefixes[0] ?? '')
  const at = prefixOf(spec.scope, prefixes, url)
  if (at === 0) return { inScope: true, line: `scope ${spec.scope}: it is ${rule}` }
  if (at > 0) return { inScope: true, line: `included: it begins with ${prefixes[at]}` }
  const others = prefixes.length - 1
  const tail = others < 1 ? '' : ` and begins with none of ${others} included prefixes`
  return { inScope: false, line: `scope ${spec.scope}: it is not ${rule}${tail}` }
}

/** Which of its prefixes says so: 0 the root, -1 none. */
function prefixOf(scope: Exclude<Scope, 'any'>, prefixes: readonly string[], url: string): number {
  const place = placeOf(url)
  if (isUnderRoot(scope, prefixes[0] ?? '', place)) return 0
  for (let i = 1; i < prefixes.length; i += 1) if (place.startsWith(prefixes[i] as string)) return i
  return -1
}

/** As isAdmitted, but for the patterns of `only` and `exclude`. */
export const isReached = (spec: ScopeSpec, url: string): boolean =>
  spec.scope === 'any' || prefixOf(spec.scope, spec.prefixes, url) >= 0

/** What isInScope says, without the words: for each link of each page. */
export const isAdmitted = (spec: ScopeSpec, url: string): boolean =>
  isReached(spec, url) &&
  ((spec.only === undefined && spec.exclude === undefined) || isInScope(spec, url).inScope)

/** True only when `wide` admits everything that `narrow` admits, at every depth. Never true by mistake; may be false though it holds. */
export function covers(wide: ScopeSpec, narrow: ScopeSpec): boolean {
  if (wide.depth < narrow.depth) return false
  // The rules of a described source hold for its own visits.
  if (narrow.name !== undefined && narrow.name !== wide.name) return false
  if (wide.exclude !== undefined || wide.only !== undefined) return false
  if (wide.scope === 'any') return true
  if (narrow.scope === 'any') return false
  return narrow.prefixes.every((place, i) => {
    if (i > 0 || narrow.scope === 'path' || narrow.scope === 'host') return coversPlace(wide, place)
    if (narrow.scope === 'domain') return wide.scope === 'domain' && wide.prefixes[0] === place
    return isInScope(wide, `http:${place}`).inScope
  })
}

/** One text for equal scopes: the key of a source. */
export const scopeKey = (spec: ScopeSpec): string => {
  const { scope, prefixes, depth, only, exclude, name, place } = spec
  return JSON.stringify({ scope, prefixes, depth, only, exclude, name, place })
}

function canonical(text: string): string {
  const url = normalizeUrl(text)
  if (url === null)
    throw new AppError('invalid_parameter', `not an http or https URL: ${text.slice(0, 200)}`)
  return url
}

/** The URL without its scheme. */
const placeOf = (url: string): string => url.slice(url.indexOf('//'))

function rootOf(url: string, scope: Exclude<Scope, 'any'>): string {
  const { origin, path } = splitUrl(url)
  const host = placeOf(origin)
  switch (scope) {
    case 'page':
      return host + path
    case 'path':
      // Up to the last slash of the path; one in the query means nothing.
      return host + path.replace(/\?.*$/s, '').replace(/[^/]*$/, '')
    case 'host':
      return `${host}/`
    case 'domain':
      // Strangers share the suffixes that companies run (github.io): each of them is a domain here.
      return registrableDomain(url, true)
  }
}

function isUnderRoot(scope: Exclude<Scope, 'any'>, root: string, place: string): boolean {
  switch (scope) {
    case 'page':
      return place === root
    case 'path':
    case 'host':
      return place.startsWith(root)
    case 'domain':
      return isOfDomain(place, root)
  }
}

function isOfDomain(place: string, domain: string): boolean {
  const host = hostOf(place)
  return host === domain || host.endsWith(`.${domain}`)
}

const isBelow = (place: string, other: string): boolean =>
  place !== other && place.startsWith(other)

/** Does the scope admit everything that begins with `place`? A place always holds its whole host. */
function coversPlace(spec: ScopeSpec, place: string): boolean {
  const [root = '', ...others] = spec.prefixes
  if (spec.scope === 'domain' && isOfDomain(place, root)) return true
  if ((spec.scope === 'path' || spec.scope === 'host') && place.startsWith(root)) return true
  return others.some((prefix) => place.startsWith(prefix))
}

function describe(scope: Exclude<Scope, 'any'>, root: string): string {
  switch (scope) {
    case 'page':
      return `exactly ${root}`
    case 'path':
      return `in the folder ${root} or below`
    case 'host':
      return `on the host ${root.slice(2, -1)}`
    case 'domain':
      return `of the domain ${root}`
  }
}
