/** robots.txt: parses and judges (RFC 9309; where it is silent, as Google's robotstxt does). Plain data, no network, no clock. */
import { isUtf8 } from 'node:buffer'

/** RFC 9309 2.5: at least 500 KiB must be read; the rest is ignored. */
export const robotsBytesMax = 500 * 1024
/** Longer lines are cut (8 x the longest URL of old browsers less one, as Google does). */
const lineCharsMax = 16_663
const sitemapsMax = 1000
/** No crawl lives with a longer Crawl-delay: it is taken as a refusal (as crawler-commons does). */
const delayMsMax = 300_000
/** A group of a shorter name is no family name: "d" does not speak to "dd", "bot" not to "botany". */
const familyCharsMin = 4

/** `pattern` is escaped alike for all spellings; `line` counts from 1. */
export type RobotsRule = { allow: boolean; pattern: string; line: number; text: string }
/** What is said about one product token (lower case, '*' for all others), over the whole file. */
export type RobotsGroup = {
  agent: string
  /** Which of `Robots.sections` speak to it: shared, so that many names for many rules stay small. */
  sections: number[]
  delayMs: number | null
  /** Request-rate: so many requests in so many seconds, perhaps only in a time of day (minutes, UTC). */
  rate: { requests: number; seconds: number; between: TimeOfDay | null } | null
  visit: TimeOfDay | null
}
/** Minutes since midnight. */
export type TimeOfDay = { from: number; to: number }
/** Plain data: fit for messages and JSON. */
export type Robots = {
  groups: RobotsGroup[]
  /** Rules that stand together, in the order in which they decide: the longest first, allow before disallow. */
  sections: RobotsRule[][]
  sitemaps: string[]
  preferredHost: string | null
}

export type RobotsVerdict = {
  allowed: boolean
  /** Line of the deciding rule; null where none matched. */
  line: number | null
  /** The rule as the file has it, or why none applies. */
  rule: string
}

/** Never fails: what is no directive is passed over. Takes bytes of any charset or text, the whole lines of its first 500 KiB. */
export function parseRobots(robots: Uint8Array | string): Robots {
  const { text, escape } = typeof robots === 'string' ? fromText(robots) : fromBytes(robots)
  const parser = new RobotsParser(escape)
  text.split(/\r\n|\n|\r/).forEach((line, i) => parser.take(line.slice(0, lineCharsMax), i + 1))
  return parser.finish()
}

/** Signs outside ASCII become the bytes that a server sees; null where they are none (half a surrogate pair). */
type Escape = (text: string) => string | null
const escapeUtf8: Escape = (text) => (text.isWellFormed() ? encodeURIComponent(text) : null)
const escapeBytes: Escape = (text) =>
  text.replace(/./gsu, (sign) => {
    const code = sign.charCodeAt(0)
    return code < 128 ? encodeURIComponent(sign) : `%${code.toString(16)}`
  })

const fromText = (robots: string): { text: string; escape: Escape } => ({
  text: wholeLines(robots.replace(/^\uFEFF/, '')),
  escape: escapeUtf8,
})

function fromBytes(robots: Uint8Array): { text: string; escape: Escape } {
  // Cut on a line, and 2 bytes a sign at most: half a rule ("Disallow: /") would say another thing.
  const bytes = robots.subarray(0, robotsBytesMax + 1)
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return fromText(new TextDecoder('utf-16le').decode(bytes))
  }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return fromText(new TextDecoder('utf-16be').decode(bytes))
  }
  const text = wholeLines(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'),
  )
  const kept = bytes.subarray(0, text.length)
  // Not UTF-8: the bytes as they are, since the paths of such a server hold them too.
  if (!isUtf8(kept)) return { text, escape: escapeBytes }
  return fromText(new TextDecoder().decode(kept))
}

function wholeLines(text: string): string {
  if (text.length <= robotsBytesMax) return text
  const end = Math.max(
    text.lastIndexOf('\n', robotsBytesMax),
    text.lastIndexOf('\r', robotsBytesMax),
  )
  return text.slice(0, end < 0 ? robotsBytesMax : end)
}

/**
 * May `agentToken` fetch this? The longest matching pattern decides, allow where two are equally long; /robots.txt always.
 * Time is linear in the path for each rule, whatever the wildcards.
 * @param agentToken product token ("Findling"); a version after a slash is ignored.
 * @param pathAndQuery as on the wire; the empty path is "/".
 */
export function isAllowed(robots: Robots, agentToken: string, pathAndQuery: string): RobotsVerdict {
  const group = groupFor(robots, agentToken)
  if (group === null) return { allowed: true, line: null, rule: 'no group for us' }
  const path = literal(spelled(pathAndQuery.toWellFormed(), escapeUtf8) ?? '') || '/'
  if (path === '/robots.txt') return { allowed: true, line: null, rule: '/robots.txt itself' }
  if (group.delayMs !== null && group.delayMs > delayMsMax) {
    const rule = `Crawl-delay of ${group.delayMs / 1000} s: taken as a refusal`
    return { allowed: false, line: null, rule }
  }
  const deciding = group.sections
    .map((at) => robots.sections[at]?.find(({ pattern }) => matches(pattern, path)))
    .filter((rule) => rule !== undefined)
    .toSorted(byPrecedence)[0]
  if (deciding !== undefined) {
    return { allowed: deciding.allow, line: deciding.line, rule: deciding.text }
  }
  return { allowed: true, line: null, rule: `no rule for this path in the group of ${group.agent}` }
}

const byPrecedence = (a: RobotsRule, b: RobotsRule): number =>
  b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow)

/** The least time between two requests: Crawl-delay, else Request-rate, of the group that applies; null where none is given. */
export function crawlDelayMs(robots: Robots, agentToken: string): number | null {
  const group = groupFor(robots, agentToken)
  if (group === null) return null
  if (group.delayMs !== null) return group.delayMs
  if (group.rate === null) return null
  return Math.min(delayMsMax, Math.ceil((group.rate.seconds * 1000) / group.rate.requests))
}

/** Sitemap addresses as given (they may be relative), at most 1,000, in order. */
export const sitemaps = (robots: Robots): readonly string[] => robots.sitemaps

/**
 * The group that names the agent, else the one of its family (the longest name that its token begins with, so "newsbot"
 * speaks to "newsbot-images"), else the one for all. '*' as agent asks for that one.
 */
export function groupFor(robots: Robots, agentToken: string): RobotsGroup | null {
  const whole = agentToken.trim().toLowerCase()
  // With a version or more it is a whole User-Agent header: any of its names counts.
  const names = whole.includes('/') ? [whole, ...wordsOf(whole).map(nameOf)] : [nameOf(whole)]
  const isNamed = ({ agent }: RobotsGroup): boolean => names.includes(agent)
  const isFamily = ({ agent }: RobotsGroup): boolean =>
    agent.length >= familyCharsMin && whole.startsWith(agent)
  return (
    robots.groups.find(isNamed) ??
    robots.groups.filter(isFamily).toSorted((a, b) => b.agent.length - a.agent.length)[0] ??
    robots.groups.find(({ agent }) => agent === '*') ??
    null
  )
}

const wordsOf = (text: string): string[] => text.split(/[\s,()]+/).filter((word) => word !== '')
/** The product token: without version, and without the stars that some files put around it. */
const nameOf = (word: string): string =>
  word === '*' ? word : word.replace(/\/.*$|[;*]/gs, '').toLowerCase()

/** Agents of a User-agent line: several divided by blanks or commas. In a comment (in brackets) a word counts only as it stands. */
function agentsOf(value: string): string[] {
  if (/^\*(\s|$)/.test(value)) return ['*']
  const comments = [...value.matchAll(/\(([^()]*)\)/g)].flatMap(([, text = '']) => wordsOf(text))
  const names = wordsOf(value.replace(/\([^()]*\)/g, ' ')).map(nameOf)
  return [...names, ...comments.map((word) => word.toLowerCase())].filter((name) => name !== '')
}

/** Directive names with the misspellings that are common in the wild (Google's list, and a blank for the hyphen). */
const directives: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'user-agent': ['useragent', 'user agent', 'useg-agent'],
    disallow: ['dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw', 'desallow'],
    allow: [],
    sitemap: ['site-map', 'site map'],
    'crawl-delay': ['crawldelay', 'crawl delay'],
    'request-rate': ['requestrate', 'request rate'],
    'visit-time': ['visittime', 'visit time'],
    host: [],
  }).flatMap(([name, typos]) => [name, ...typos].map((word) => [word, name])),
)
const bareLine = new RegExp(`^(${[...directives.keys()].join('|')})\\s+(.+)$`, 'i')

/** `name` is null for a directive unknown to us. `isOneName`: without a colon, blanks in the value divide nothing. */
type Directive = { name: string | null; value: string; isOneName: boolean }

/** Name and value of a line; the colon may be missing where a known name stands first. */
function directiveOf(raw: string): Directive | null {
  // Some servers wrap the file into HTML: a tag at the end of a line is none of its value.
  const line = raw
    .replace(/#.*$/s, '')
    .replace(/(<\/?[a-z][^<>]*>\s*)+$/i, '')
    .trim()
  const colon = line.indexOf(':')
  const name = colon < 0 ? undefined : directives.get(line.slice(0, colon).trim().toLowerCase())
  if (name !== undefined) return { name, value: line.slice(colon + 1).trim(), isOneName: false }
  const [, word = '', value = ''] = bareLine.exec(line) ?? []
  const bare = directives.get(word.toLowerCase())
  if (bare !== undefined) return { name: bare, value: value.trim(), isOneName: true }
  return colon < 0 ? null : { name: null, value: line.slice(colon + 1).trim(), isOneName: false }
}

/**
 * User-agent lines in a row open a group. Allow and disallow close the list of its agents (RFC 9309 2.2.1: other records
 * must not interfere), and so does an unknown directive whose value is a path: a rule of a dialect. Delays, rates and times
 * close a list of their own, because files in the wild write them so.
 */
class RobotsParser {
  readonly #escape: Escape
  readonly #groups = new Map<string, RobotsGroup>()
  readonly #sitemaps: string[] = []
  #preferredHost: string | null = null
  readonly #sections: RobotsRule[][] = []
  #rulesBegan = true
  #timingAgents = new Set<RobotsGroup>()
  /** Directives of time that the agents above already have: the first of each counts. */
  #timingSaid = new Set<string>()
  #timingBegan = false

  constructor(escape: Escape) {
    this.#escape = escape
  }

  take(raw: string, line: number): void {
    const directive = directiveOf(raw)
    if (directive === null) return
    const { name, value, isOneName } = directive
    switch (name) {
      case null:
        this.#rulesBegan ||= value.startsWith('/')
        return
      case 'user-agent':
        return this.#open(isOneName ? [value.toLowerCase()] : agentsOf(value))
      case 'allow':
      case 'disallow':
        return this.#rule(name === 'allow', value, line, raw)
      case 'sitemap':
        if (value !== '' && this.#sitemaps.length < sitemapsMax) this.#sitemaps.push(value)
        return
      case 'host':
        this.#preferredHost = value === '' ? this.#preferredHost : value
        return
      default:
        this.#timing(name, value)
    }
  }

  finish(): Robots {
    for (const rules of this.#sections) rules.sort(byPrecedence)
    return {
      groups: [...this.#groups.values()],
      sections: this.#sections,
      sitemaps: this.#sitemaps,
      preferredHost: this.#preferredHost,
    }
  }

  #open(agents: readonly string[]): void {
    if (this.#rulesBegan || this.#timingBegan) {
      this.#timingAgents = new Set()
      this.#timingSaid = new Set()
    }
    if (this.#rulesBegan) this.#sections.push([])
    this.#rulesBegan = false
    this.#timingBegan = false
    const section = this.#sections.length - 1
    for (const agent of agents) {
      let group = this.#groups.get(agent)
      if (group === undefined) {
        group = { agent, sections: [], delayMs: null, rate: null, visit: null }
        this.#groups.set(agent, group)
      }
      if (group.sections.at(-1) !== section) group.sections.push(section)
      this.#timingAgents.add(group)
    }
  }

  #rule(allow: boolean, value: string, line: number, raw: string): void {
    this.#rulesBegan = true
    // An empty pattern says nothing; one without a leading slash or star can match no path, but for a whole URL as path.
    const pattern = spelled(/^https?:\/\//i.test(value) ? `/${value}` : value, this.#escape)
    if (pattern === null || pattern === '') return
    const text = raw.trim().slice(0, 200)
    const rules: RobotsRule[] = [{ allow, pattern: withWildcards(pattern), line, text }]
    const folder = allow ? /^(.*\/)index\.htm[^/]*$/s.exec(pattern)?.[1] : undefined
    // Google: allowing /folder/index.html allows /folder/ itself.
    if (folder !== undefined)
      rules.push({ allow, pattern: `${withWildcards(folder)}$`, line, text })
    this.#sections.at(-1)?.push(...rules)
  }

  #timing(name: string, value: string): void {
    this.#timingBegan = true
    if (this.#timingSaid.has(name)) return
    const delayMs = name === 'crawl-delay' ? delayOf(value) : null
    const rate = name === 'request-rate' ? rateOf(value) : null
    const visit = name === 'visit-time' ? timeOfDay(value) : null
    if ((delayMs ?? rate ?? visit) === null) return
    this.#timingSaid.add(name)
    for (const group of this.#timingAgents) {
      group.delayMs ??= delayMs
      group.rate ??= rate
      group.visit ??= visit
    }
  }
}

function delayOf(value: string): number | null {
  if (!/^\d{1,12}(\.\d{0,9})?$|^\.\d{1,9}$/.test(value)) return null
  return Math.ceil(Number(value) * 1000)
}

const unitSeconds: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }

/** "1/10s 1820-1940": one request in ten seconds between 18:20 and 19:40. */
function rateOf(value: string): RobotsGroup['rate'] {
  const match = /^(\d{1,9})\s*\/\s*(\d{1,9})\s*([smhd]?)(?:\s+(\d{4}\s*-\s*\d{4}))?$/i.exec(value)
  if (match === null) return null
  const requests = Number(match[1])
  const seconds = Number(match[2]) * (unitSeconds[(match[3] ?? '').toLowerCase()] ?? 1)
  if (requests === 0) return null
  return { requests, seconds, between: match[4] === undefined ? null : timeOfDay(match[4]) }
}

function timeOfDay(value: string): TimeOfDay | null {
  const match = /^([01]\d|2[0-3])([0-5]\d)\s*[-\s]\s*([01]\d|2[0-3])([0-5]\d)$/.exec(value)
  if (match === null) return null
  const minutes = (at: number): number => Number(match[at]) * 60 + Number(match[at + 1])
  return { from: minutes(1), to: minutes(3) }
}

/**
 * One spelling for patterns and paths (RFC 9309 2.2.2): bytes outside ASCII and what no URL may hold become %XX, escapes of
 * unreserved signs are undone, the others written in capitals.
 */
function spelled(text: string, escape: Escape): string | null {
  let isSound = true
  const coded = text.replace(/[^!-~]+|["<>\\^`{|}]+/g, (run) => {
    const code = escape(run)
    isSound &&= code !== null
    return code ?? ''
  })
  if (!isSound) return null
  return coded.replace(/%[\da-f]{2}/gi, (code) => {
    const sign = String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return /[\w.~-]/.test(sign) ? sign : code.toUpperCase()
  })
}

/** In a path, and in a pattern before its end, these stand for themselves: written as escapes they meet no wildcard. */
const literal = (path: string): string => path.replaceAll('*', '%2A').replaceAll('$', '%24')
const withWildcards = (pattern: string): string => pattern.replace(/\$(?!$)/g, '%24')

/**
 * '*' stands for anything, '$' at the end for the end of the path (or for itself there). The pieces between stars are looked
 * for from left to right, each at its first place: leaving one out to find a later one never helps, so no step is taken back.
 */
function matches(pattern: string, path: string): boolean {
  if (!pattern.endsWith('$')) return matchEnd(pattern.split('*'), path) !== null
  const pieces = pattern.slice(0, -1).split('*')
  const tail = pieces.at(-1) ?? ''
  return [path, path.replace(/%24$/, '')].some((whole) => {
    if (!whole.endsWith(tail)) return false
    if (pieces.length === 1) return whole === tail
    const end = matchEnd(pieces.slice(0, -1), whole)
    return end !== null && end <= whole.length - tail.length
  })
}

/** Where the pieces, first one at the very beginning, end at the earliest; null where they are not all there. */
function matchEnd(pieces: readonly string[], path: string): number | null {
  let at = 0
  for (const [i, piece] of pieces.entries()) {
    const found = i === 0 ? (path.startsWith(piece) ? 0 : -1) : path.indexOf(piece, at)
    if (found < 0) return null
    at = found + piece.length
  }
  return at
}
