/** What every request passes first and every answer carries: the names we answer to (against DNS rebinding), the headers of safety. */
import { isIP } from 'node:net'
import { AppError } from '../lib/errors.ts'

/** Nothing from elsewhere, nothing inline, no framing. Sent with every answer, errors and JSON included. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: browsers would then send `Origin: null` with our own forms. Other sites learn nothing either way.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

/** Host and port apart; null for what is no host at all. IPv6 keeps no brackets, a trailing dot is dropped. */
function hostOf(header: string): string | null {
  const match = /^(?:\[([\da-f:.]+)\]|([a-z\d._-]+))(?::\d{1,5})?$/i.exec(header)
  const host = match?.[1] ?? match?.[2]
  return host === undefined ? null : host.toLowerCase().replace(/\.$/, '')
}

/**
 * A page of another site can point its own name at our address and then read us as "same origin". It cannot forge the Host:
 * so we answer to IP literals, localhost and the configured names only.
 */
export function isOurHost(header: string | undefined, hostNames: ReadonlySet<string>): boolean {
  const host = hostOf(header ?? '')
  if (host === null) return false
  return (
    isIP(host) > 0 || host === 'localhost' || host.endsWith('.localhost') || hostNames.has(host)
  )
}

export function refuseForeignHost(
  header: string | undefined,
  hostNames: ReadonlySet<string>,
): void {
  if (isOurHost(header, hostNames)) return
  throw new AppError('misdirected', 'This server does not answer to that host name.')
}

/**
 * Whether the browser says that our own page sent this. Old browsers and plain http have no Sec-Fetch-Site: then the Origin
 * must be ours. A program sends neither and has no ambient cookie to abuse; `null` is what a sandboxed frame says.
 */
export function isSameOrigin(
  header: (name: string) => string | undefined,
  hostNames: ReadonlySet<string>,
): boolean {
  const site = header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = header('origin')
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host, hostname } = new URL(origin)
  return host === header('host')?.toLowerCase() || hostNames.has(hostname)
}
