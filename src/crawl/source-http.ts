/** How the pages of one source are asked for: headers, User-Agents, cookies, login, proxies. Checks plain JSON; asks no network. */
import { AppError } from '../lib/errors.ts'

/** Settings of one source. What is left out of the JSON has the value of `defaultSourceHttp`. */
export type SourceHttp = {
  /** Taken in turn, one a request; none = the program's own honest name. */
  userAgents: readonly string[]
  /** Sent with every request to the pages of the source; names in lower case. */
  headers: Readonly<Record<string, string>>
  /** keep: cookies that pages set are sent back, by one jar for all workers of the source; none: they are ignored. */
  cookies: 'keep' | 'none'
  /** A file in Netscape's format (cookies.txt), read when the crawl begins; null = none. */
  cookiesFile: string | null
  login: SourceLogin | null
  /** http://, https:// or socks5://, perhaps with user:password; taken in turn. None = no proxy. */
  proxies: readonly string[]
}

export type SourceLogin = {
  /** The page that holds the form. */
  url: string
  /** The form's id (`#id`) or name; null = the first form that has a password field, else all the named fields. */
  form: string | null
  /** Field name -> value. What the form holds besides (hidden fields, tokens) is sent as it is. */
  fields: Readonly<Record<string, string>>
  /** What the page after the login shows; with all null, a page without a password field will do. */
  check: LoginCheck
  /** A page that shows this (text) or is this address (URL prefix) means that the login was lost; empty = the login page itself. */
  lost: readonly string[]
}
/** All that are given must hold. */
export type LoginCheck = { text: string | null; urlPrefix: string | null }

export const defaultSourceHttp: SourceHttp = Object.freeze({
  userAgents: [],
  headers: {},
  cookies: 'keep',
  cookiesFile: null,
  login: null,
  proxies: [],
})

const listMax = 50
const headersMax = 32
const fieldsMax = 64
const textCharsMax = 4_096

/** What the program decides for each request itself; cookies and User-Agents have a setting of their own. */
const ownHeaders = new Set(
  `host connection content-length transfer-encoding upgrade te trailer expect keep-alive accept-encoding
  if-none-match if-modified-since range cookie user-agent proxy-authorization proxy-connection`.split(
    /\s+/,
  ),
)

/**
 * Reads the settings from plain JSON, as a source file or the API holds them. Wherever a text is wanted, {"env": "NAME"} takes it from
 * the environment, so that no secret need stand in a file.
 * @param where how a message calls this place: "source news: http"
 * @throws AppError invalid_parameter, naming place and reason; never with the value of a secret.
 */
export function parseSourceHttp(
  given: unknown,
  where: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): SourceHttp {
  if (given === undefined || given === null) return defaultSourceHttp
  const read = new Reader(environment)
  const all = read.object(given, where, Object.keys(defaultSourceHttp))
  return {
    userAgents: read.texts(all['userAgents'], `${where}.userAgents`),
    headers: headersOf(read, all['headers'], `${where}.headers`),
    cookies: cookiesOf(all['cookies'], `${where}.cookies`),
    cookiesFile: read.optional(all['cookiesFile'], `${where}.cookiesFile`),
    login: loginOf(read, all['login'], `${where}.login`),
    proxies: read
      .texts(all['proxies'], `${where}.proxies`)
      .map((text, i) => proxyOf(text, `${where}.proxies[${i}]`)),
  }
}

/** Proves settings without the environment that they name: that may be another process's. @throws AppError as `parseSourceHttp` */
export function checkSourceHttp(given: unknown, where: string): void {
  parseSourceHttp(given, where, new Proxy({}, { get: () => standIn }))
}

/** Fit for whatever stands in the environment: it is a text, a URL and a proxy. */
const standIn = 'https://from-the-environment.example/'

/** A proxy without user and password: for logs. */
export function proxyName(proxy: string): string {
  const { protocol, host } = new URL(proxy)
  return `${protocol}//${host}`
}

const wrong = (where: string, what: string): AppError =>
  new AppError('invalid_parameter', `${where}: ${what}`)

class Reader {
  readonly #environment: Readonly<Record<string, string | undefined>>
  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment
  }

  object(given: unknown, where: string, names: readonly string[] | null): Record<string, unknown> {
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw wrong(where, 'an object is wanted')
    const unknown = names === null ? undefined : Object.keys(given).find((n) => !names.includes(n))
    if (unknown !== undefined)
      throw wrong(where, `unknown setting "${unknown}"; known are ${names?.join(', ')}`)
    return given as Record<string, unknown>
  }

  text(given: unknown, where: string): string {
    if (typeof given === 'string') return checkedText(given, where)
    const { env } = this.object(given, where, ['env'])
    if (typeof env !== 'string') throw wrong(where, 'a text or {"env": "NAME"} is wanted')
    const value = this.#environment[env]
    if (value === undefined) throw wrong(where, `the environment has no ${env}`)
    return checkedText(value, where)
  }

  optional(given: unknown, where: string): string | null {
    return given === undefined || given === null ? null : this.text(given, where)
  }

  texts(given: unknown, where: string): string[] {
    if (given === undefined || given === null) return []
    const list: readonly unknown[] = Array.isArray(given) ? given : [given]
    if (list.length > listMax) throw wrong(where, `more than ${listMax}`)
    return list.map((one, i) => this.text(one, `${where}[${i}]`))
  }

  record(given: unknown, where: string, max: number): [string, string][] {
    if (given === undefined || given === null) return []
    const entries = Object.entries(this.object(given, where, null))
    if (entries.length > max) throw wrong(where, `more than ${max}`)
    return entries.map(([name, value]) => [name, this.text(value, `${where}.${name}`)])
  }
}

/** Line feeds in a value would be further headers. */
function checkedText(text: string, where: string): string {
  if (text.trim() === '') throw wrong(where, 'it is empty')
  if (text.length > textCharsMax) throw wrong(where, `longer than ${textCharsMax} characters`)
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(text)) throw wrong(where, 'it has a control character')
  return text
}

function headersOf(read: Reader, given: unknown, where: string): Record<string, string> {
  const headers: [string, string][] = []
  for (const [name, value] of read.record(given, where, headersMax)) {
    const lower = name.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) throw wrong(where, `"${name}" is no header name`)
    if (ownHeaders.has(lower)) throw wrong(where, `${name} is set by the program itself`)
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw wrong(`${where}.${name}`, 'a header holds only Latin-1')
    headers.push([lower, value])
  }
  return Object.fromEntries(headers)
}

function cookiesOf(given: unknown, where: string): 'keep' | 'none' {
  if (given === undefined || given === null) return 'keep'
  if (given !== 'keep' && given !== 'none') throw wrong(where, 'one of keep, none is wanted')
  return given
}

function loginOf(read: Reader, given: unknown, where: string): SourceLogin | null {
  if (given === undefined || given === null) return null
  const all = read.object(given, where, ['url', 'form', 'fields', 'check', 'lost'])
  const fields = read.record(all['fields'], `${where}.fields`, fieldsMax)
  if (fields.length === 0) throw wrong(`${where}.fields`, 'at least one field is wanted')
  const check = read.object(all['check'] ?? {}, `${where}.check`, ['text', 'urlPrefix'])
  return {
    url: httpUrl(read.text(all['url'] ?? '', `${where}.url`), `${where}.url`),
    form: read.optional(all['form'], `${where}.form`),
    fields: Object.fromEntries(fields),
    check: {
      text: read.optional(check['text'], `${where}.check.text`),
      urlPrefix: read.optional(check['urlPrefix'], `${where}.check.urlPrefix`),
    },
    lost: read.texts(all['lost'], `${where}.lost`),
  }
}

function httpUrl(text: string, where: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw wrong(where, 'it is no http or https URL')
  if (url.username !== '' || url.password !== '')
    throw wrong(where, 'user and password belong into the fields, not into the URL')
  return url.href
}

/** The message names no user and no password. */
function proxyOf(text: string, where: string): string {
  const url = URL.parse(text)
  const isKnown = url !== null && /^(https?|socks5):$/.test(url.protocol) && url.hostname !== ''
  if (!isKnown) throw wrong(where, 'http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT')
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw wrong(where, 'a proxy has no path')
  return url.href
}
