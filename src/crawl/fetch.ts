/** One visit to one URL: request, status, type, as a FetchOutcome. And robots.txt of an origin. Parses and decides no policy beyond HTTP. */
import { contentCodings, decodeBody } from '../lib/decode.ts'
import type { Egress, EgressAnswer } from '../lib/egress.ts'
import { robotsBytesMax } from '../lib/robots.ts'
import { normalizeUrl } from '../lib/url.ts'
import type { FetchOutcome } from './page.ts'
import { readRefresh, refreshDelayMaxS } from './refresh.ts'
import { mayBePage } from './sniff.ts'

/** What a fetch needs of a lease. `url` is canonical; the validators are those of the last answer. */
export type Visit = { url: string; etag: string | null; modified: string | null }

export type FetchLimits = {
  /** Of a whole visit. */
  totalTimeoutMs: number
  /** Until the status and headers are in; no other limit than `totalTimeoutMs` by default. */
  headersTimeoutMs?: number
  /** Of a page, as received. A longer one is refused. */
  wireBytesMax: number
  /** lists: sitemaps and feeds, where any type is taken; pages is the default. */
  takes?: 'pages' | 'lists'
  signal?: AbortSignal
}

export type RobotsAnswer = {
  /** Of the last answer; 0 where there was none. */
  status: number
  /** Decoded, at most 500 KiB; null unless the verdict is `rules`. */
  text: Uint8Array | null
  /** open: no restriction; closed: nothing may be fetched for now (RFC 9309 2.3.1). */
  verdict: 'rules' | 'open' | 'closed'
  /** How long this holds. */
  cacheMs: number
}

const retryAfterMinMs = 1_000
const retryAfterMaxMs = 24 * 3_600_000
const cookieCharsMax = 4_096

type Answer = Extract<EgressAnswer, { kind: 'answer' }>
/** Without the time, which is added at the end. */
type Ending<Outcome = FetchOutcome> = Outcome extends unknown ? Omit<Outcome, 'elapsedMs'> : never

/**
 * Fetches a page. Never throws. A redirect is an outcome, not followed, but for one to the same URL that sets a cookie: it is
 * asked once more with that cookie.
 * @param nowMs wall clock, for a Retry-After that is a date.
 */
export async function fetchPage(
  egress: Pick<Egress, 'request'>,
  visit: Visit,
  limits: FetchLimits,
  nowMs: () => number = Date.now,
): Promise<FetchOutcome> {
  const startMs = performance.now()
  const elapsedMs = (): number => performance.now() - startMs
  const first = await ask(egress, visit, limits, limits.totalTimeoutMs, '')
  let outcome = judge(first, visit, limits, nowMs)
  if (outcome.kind === 'redirect' && outcome.to === visit.url) {
    const cookie = first.kind === 'answer' ? cookieOf(first.headers['set-cookie'] ?? '') : ''
    const leftMs = limits.totalTimeoutMs - elapsedMs()
    const isWorthIt = cookie !== '' && leftMs > 0
    if (isWorthIt)
      outcome = judge(await ask(egress, visit, limits, leftMs, cookie), visit, limits, nowMs)
    if (outcome.kind === 'redirect' && outcome.to === visit.url) {
      outcome = { kind: 'failed', status: outcome.status, reason: 'redirect-loop' }
    }
  }
  return { ...outcome, elapsedMs: Math.round(elapsedMs()) }
}

function ask(
  egress: Pick<Egress, 'request'>,
  { url, etag, modified }: Visit,
  limits: FetchLimits,
  totalTimeoutMs: number,
  cookie: string,
): Promise<EgressAnswer> {
  const headers: Record<string, string> = {
    accept: 'text/html,application/xhtml+xml,text/plain;q=0.9,application/xml;q=0.8,*/*;q=0.1',
    'accept-encoding': 'gzip, deflate',
  }
  if (etag !== null) headers['if-none-match'] = etag
  if (modified !== null) headers['if-modified-since'] = modified
  if (cookie !== '') headers['cookie'] = cookie
  return egress.request(url, {
    headers,
    totalTimeoutMs,
    headersTimeoutMs: Math.min(limits.headersTimeoutMs ?? totalTimeoutMs, totalTimeoutMs),
    wireBytesMax: limits.wireBytesMax,
    wantsBody: (status, answer) =>
      hasPage(status) &&
      contentCodings(answer['content-encoding'] ?? '') !== null &&
      (limits.takes === 'lists' || mayBePage(answer['content-type'] ?? '')),
    ...(limits.signal === undefined ? {} : { signal: limits.signal }),
  })
}

/** 204 and 205 have no body by definition. */
const hasPage = (status: number): boolean =>
  status >= 200 && status < 300 && status !== 204 && status !== 205

function judge(
  answer: EgressAnswer,
  visit: Visit,
  limits: FetchLimits,
  nowMs: () => number,
): Ending {
  if (answer.kind === 'refused')
    return { kind: 'refused', status: 0, reason: `guard-${answer.reason}` }
  if (answer.kind === 'failed') return { kind: 'failed', status: 0, reason: answer.reason }
  const { status, headers } = answer
  if (hasPage(status)) return judgePage(answer, visit.url, limits)
  if (status === 304) {
    const wasAsked = visit.etag !== null || visit.modified !== null
    return wasAsked
      ? { kind: 'notModified', status }
      : { kind: 'failed', status, reason: 'unasked-304' }
  }
  if (status >= 300 && status < 400) {
    const to = locationOf(headers['location'] ?? '', visit.url)
    return to === null
      ? { kind: 'failed', status, reason: 'bad-redirect' }
      : { kind: 'redirect', status, to }
  }
  if (status === 404 || status === 410) return { kind: 'gone', status }
  if (status === 401 || status === 403) return { kind: 'refused', status, reason: 'forbidden' }
  if (status === 408 || status === 429 || status >= 500) return judgeFailure(answer, nowMs())
  return { kind: 'refused', status, reason: status < 300 ? 'empty' : 'status' }
}

function judgePage(answer: Answer, url: string, limits: FetchLimits): Ending {
  const { status, headers, body, truncated, wireBytes } = answer
  const contentType = headers['content-type'] ?? ''
  const encoding = contentCodings(headers['content-encoding'] ?? '')
  if (encoding === null) return { kind: 'refused', status, reason: 'encoding' }
  if (answer.capped) return { kind: 'refused', status, reason: 'size' }
  const to = refreshOf(headers['refresh'] ?? '', url)
  if (to !== null && wireBytes === 0) return { kind: 'redirect', status, to }
  if (truncated && wireBytes === 0) return { kind: 'failed', status, reason: 'truncated' }
  // What its bytes say of it is seen where they are unpacked: by the parser.
  if (limits.takes !== 'lists' && !mayBePage(contentType))
    return { kind: 'refused', status, reason: 'type' }
  return {
    kind: 'page',
    status,
    finalUrl: url,
    body,
    encoding,
    contentType,
    etag: headers['etag'] ?? null,
    modified: headers['last-modified'] ?? null,
    refresh: to,
    robotsTag: headers['x-robots-tag'] ?? '',
    truncated,
    wireBytes,
  }
}

function judgeFailure({ status, headers }: Answer, nowMs: number): Ending {
  const words: Record<number, string> = { 408: 'timeout', 429: 'rate-limited', 503: 'unavailable' }
  const retryAfterMs = retryAfter(headers['retry-after'] ?? '', nowMs)
  return {
    kind: 'failed',
    status,
    reason: words[status] ?? 'server-error',
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(status === 429 || status === 503 ? { pausesHost: true } : {}),
  }
}

/** Seconds or an HTTP date (RFC 9110 10.2.3), clamped to 1 s .. 24 h; null where absent or neither. */
export function retryAfter(header: string, nowMs: number): number | null {
  const text = header.trim()
  const isSeconds = /^[+-]?\d+(\.\d+)?$/.test(text)
  // A bare word that Date.parse would take for a year is no date.
  const waitMs = isSeconds
    ? Number(text) * 1000
    : /[a-z]{3}/i.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN
  if (Number.isNaN(waitMs)) return null
  return Math.min(retryAfterMaxMs, Math.max(retryAfterMinMs, Math.round(waitMs)))
}

/** Canonical target, or null. Headers come as Latin-1; many servers write UTF-8 into them. */
function locationOf(header: string, base: string): string | null {
  if (header === '') return null
  const bytes = Buffer.from(header, 'latin1')
  const text = bytes.toString('utf8')
  return normalizeUrl(text.includes('\uFFFD') ? header : text, base)
}

/** Where a Refresh header leads soon: to another page, or nowhere. */
function refreshOf(header: string, base: string): string | null {
  const refresh = readRefresh(header)
  if (refresh === null || refresh.delayS > refreshDelayMaxS) return null
  const to = locationOf(refresh.address, base)
  return to === base ? null : to
}

/** `name=value` of each Set-Cookie, for the one further request of the same visit to the same URL. */
function cookieOf(setCookies: string): string {
  const pairs = setCookies
    .split('\n')
    .map((cookie) => (cookie.split(';', 1)[0] ?? '').trim())
    .filter((pair) => /^[!-:<-~]+=[ -:<-~]*$/.test(pair))
  const cookie = pairs.join('; ')
  return cookie.length > cookieCharsMax ? '' : cookie
}

/** RFC 9309 2.3.1.2: at least five. */
const robotsHopsMax = 5
const robotsTimeoutMs = 10_000
/** RFC 9309 2.4: not longer than a day. */
const robotsCacheMaxMs = 24 * 3_600_000
const robotsCacheMinMs = 5 * 60_000
const robotsClosedMs = 10 * 60_000

/**
 * robots.txt of an origin (scheme://host[:port]). Never throws. 2xx gives its text; other 4xx, and more than five redirects,
 * mean no restriction; 429, 5xx, no answer within 10 s, a broken redirect and a redirect that the guard refuses close the site for now.
 */
export async function fetchRobots(
  egress: Pick<Egress, 'request'>,
  origin: string,
  limits: Partial<Pick<FetchLimits, 'totalTimeoutMs' | 'signal'>> = {},
  nowMs: () => number = Date.now,
): Promise<RobotsAnswer> {
  const endMs =
    performance.now() + Math.min(limits.totalTimeoutMs ?? robotsTimeoutMs, robotsTimeoutMs)
  let url = `${origin}/robots.txt`
  let status = 0
  for (let hops = 0; hops <= robotsHopsMax; hops++) {
    const leftMs = Math.ceil(endMs - performance.now())
    if (leftMs <= 0) return closed(0, null)
    const answer = await egress.request(url, {
      headers: { accept: 'text/plain,*/*;q=0.5', 'accept-encoding': 'gzip, deflate' },
      totalTimeoutMs: leftMs,
      headersTimeoutMs: leftMs,
      wireBytesMax: robotsBytesMax,
      keepsCapped: true,
      wantsBody: (code) => code >= 200 && code < 300,
      ...(limits.signal === undefined ? {} : { signal: limits.signal }),
    })
    // The guard refuses the pages of such an origin too, and its reason tells more than "closed". Holds for no other request.
    if (answer.kind === 'refused' && hops === 0)
      return { status: 0, text: null, verdict: 'open', cacheMs: 0 }
    if (answer.kind !== 'answer') return closed(0, null)
    status = answer.status
    if (status < 300 || status >= 400) return robotsVerdict(answer, nowMs())
    const to = locationOf(answer.headers['location'] ?? '', url)
    if (to === null) return closed(status, null)
    url = to
  }
  return { status, text: null, verdict: 'open', cacheMs: robotsCacheMaxMs }
}

const closed = (status: number, retryAfterMs: number | null): RobotsAnswer => ({
  status,
  text: null,
  verdict: 'closed',
  cacheMs: Math.max(retryAfterMs ?? robotsClosedMs, robotsClosedMs),
})

function robotsVerdict({ status, headers, body }: Answer, nowMs: number): RobotsAnswer {
  if (status === 429 || status >= 500)
    return closed(status, retryAfter(headers['retry-after'] ?? '', nowMs))
  const cacheMs = cacheTime(headers['cache-control'] ?? '')
  if (status >= 400) return { status, text: null, verdict: 'open', cacheMs }
  if (status < 200) return closed(status, null)
  const codings = contentCodings(headers['content-encoding'] ?? '')
  // One 500 KiB file packs into any number of bytes less: what unpacks beyond is no robots.txt.
  const decoded = codings === null ? null : decodeBody(body, codings, 4 * robotsBytesMax)
  if (decoded?.kind !== 'decoded') return closed(status, null)
  // The parser cuts at a line; one byte more tells it that there was more.
  return { status, text: decoded.bytes.slice(0, robotsBytesMax + 1), verdict: 'rules', cacheMs }
}

/** max-age within 5 minutes .. 24 hours; a day where nothing is said. */
function cacheTime(cacheControl: string): number {
  const seconds = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})/i.exec(cacheControl)?.[1]
  if (seconds === undefined) return robotsCacheMaxMs
  return Math.min(robotsCacheMaxMs, Math.max(robotsCacheMinMs, Number(seconds) * 1000))
}
