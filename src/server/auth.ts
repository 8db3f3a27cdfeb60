/**
 * Who may administer: one key, given as Bearer by programs or once in a form by people, who then hold a signed session cookie.
 * Nothing is kept per session: it is valid until it ends or the key changes, also over a restart.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Call } from './call.ts'
import { isSameOrigin } from './gate.ts'

export const sessionCookie = 'findling_session'
const sessionMs = 12 * 3_600_000
/** Wrong keys an address may give before it has to wait; the wait doubles with each further one. */
const freeFailures = 5
const waitMsMax = 300_000
/** Failures are forgotten after this time without one. */
const forgetMs = 900_000
const addressesMax = 2000
/** Wrong keys a minute from everywhere; then everyone but holders of a session waits. */
const failuresAMinuteMax = 1000

export type Session = { id: string; csrf: string }
export type Guard = {
  /** The session of the cookie, if it is one of ours and still good. */
  session: (call: Call) => Session | null
  /** Throws auth_required or rate_limited unless this is the key; returns a new session. */
  login: (call: Call, key: string) => Session
  /** For the API: Bearer key, or the cookie; with the cookie a change also needs our origin and the token. */
  admit: (call: Call) => void
  /** For forms: throws forbidden unless our own page sent it, with the token of this session. */
  checkForm: (call: Call, session: Session | null, token: string | undefined) => void
  cookie: (session: Session | null) => string
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
/** Takes the same time wherever the difference is, and tells nothing about the length. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

/** One IPv6 customer owns a whole /64. */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [head = '', tail = ''] = address.toLowerCase().split('%')[0]?.split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}

type Failures = { count: number; last: number }

/** Counts wrong keys; the address that waited longest makes room for a new one. */
function createBackOff(now: () => number) {
  const failures = new Map<string, Failures>()
  let minute = 0
  let inMinute = 0
  const waitMs = (known: Failures): number =>
    known.count < freeFailures
      ? 0
      : Math.min(waitMsMax, 1000 * 2 ** Math.min(20, known.count - freeFailures))
  return {
    check(client: string): void {
      const known = failures.get(client)
      const leftMs = known ? known.last + waitMs(known) - now() : 0
      const isFlood = Math.floor(now() / 60_000) === minute && inMinute >= failuresAMinuteMax
      if (leftMs <= 0 && !isFlood) return
      throw new AppError('rate_limited', 'Too many wrong keys.', {
        retryAfterS: Math.ceil((isFlood ? 60_000 : leftMs) / 1000),
      })
    },
    failed(client: string): void {
      const thisMinute = Math.floor(now() / 60_000)
      inMinute = thisMinute === minute ? inMinute + 1 : 1
      minute = thisMinute
      const known = failures.get(client)
      const count = known && now() - known.last < forgetMs ? known.count + 1 : 1
      failures.delete(client)
      failures.set(client, { count, last: now() })
      const oldest = failures.keys().next()
      if (failures.size > addressesMax && oldest.done !== true) failures.delete(oldest.value)
    },
    passed(client: string): void {
      failures.delete(client)
    },
  }
}

/** `id` = end.random.signature; the token for forms is signed from it. */
function createSessions(key: string, now: () => number) {
  const secret = createHmac('sha256', digest(key)).update('findling session v1').digest()
  const signed = (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url')
  const sessionOf = (id: string): Session => ({ id, csrf: signed(`csrf ${id}`) })
  return {
    create(): Session {
      const claim = `${(now() + sessionMs).toString(36)}.${randomBytes(16).toString('base64url')}`
      return sessionOf(`${claim}.${signed(claim)}`)
    },
    read(id: string | undefined): Session | null {
      const match = /^([\da-z]{1,12})\.[\w-]{22}(?=\.[\w-]{43}$)/.exec(id ?? '')
      if (id === undefined || !match) return null
      const isOurs = isSame(id.slice(match[0].length + 1), signed(match[0]))
      return isOurs && parseInt(match[1] ?? '', 36) > now() ? sessionOf(id) : null
    },
  }
}

const isUnsafe = (method: string): boolean => method !== 'GET' && method !== 'HEAD'

/**
 * @param key of the administrator; anyone who has it may crawl and stop crawls
 * @param now milliseconds of the wall clock
 */
export function createGuard(options: {
  key: string
  hostNames: ReadonlySet<string>
  cookiePath: string
  log: Log
  now: () => number
}): Guard {
  const { hostNames, cookiePath, log, now } = options
  const backOff = createBackOff(now)
  const sessions = createSessions(options.key, now)

  const checkKey = (call: Call, key: string): void => {
    const client = clientOf(call.address)
    backOff.check(client)
    if (isSame(key, options.key)) return backOff.passed(client)
    backOff.failed(client)
    log('warn', 'auth.refused', { client, path: call.path.slice(0, 100) })
    throw new AppError('auth_required', 'The key is wrong.')
  }
  const refuseForeign = (call: Call): void => {
    if (isSameOrigin(call.header, hostNames)) return
    throw new AppError('forbidden', 'The request came from a page of another site.')
  }
  const checkToken = (session: Session, token: string | undefined): void => {
    if (token !== undefined && isSame(token, session.csrf)) return
    throw new AppError('forbidden', 'The form is out of date: load the page again.')
  }
  return {
    session: (call) => sessions.read(call.cookie(sessionCookie)),
    login(call, key) {
      checkKey(call, key)
      return sessions.create()
    },
    admit(call) {
      const bearer = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(call.header('authorization') ?? '')?.[1]
      if (bearer !== undefined) return checkKey(call, bearer)
      const session = sessions.read(call.cookie(sessionCookie))
      if (!session) throw new AppError('auth_required', 'This needs the key of the administrator.')
      if (!isUnsafe(call.method)) return
      refuseForeign(call)
      checkToken(session, call.header('x-csrf-token'))
    },
    checkForm(call, session, token) {
      refuseForeign(call)
      if (session) checkToken(session, token)
    },
    cookie: (session) =>
      `${sessionCookie}=${session?.id ?? ''}; Path=${cookiePath}; HttpOnly; SameSite=Strict; ` +
      `Max-Age=${session ? sessionMs / 1000 : 0}`,
  }
}
