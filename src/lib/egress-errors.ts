/** Errors of sockets, DNS, TLS and undici's parser as the few reasons that a visit records. Pure. */
import type { EgressFailureReason } from './egress.ts'

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

export const noSuchHost = (host: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })

const reasons: readonly (readonly [RegExp, EgressFailureReason])[] = [
  [/^EPROXY$/, 'proxy'],
  [/TIMEOUT|ETIMEDOUT/, 'timeout'],
  [/^(ENOTFOUND|EAI_\w+|ENODATA)$/, 'dns'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'reset'],
  [/CERT|SSL|TLS|EPROTO|UNABLE_TO|SELF_SIGNED/, 'tls'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EMFILE|ENFILE|EACCES)$/, 'connect'],
]
/** The reason that a failure is recorded under. */
export const reasonOf = (error: unknown): EgressFailureReason =>
  reasons.find(([code]) => code.test(codeOf(error)))?.[1] ?? 'protocol'

/** Replies that undici's parser ends, or takes for a broken connection (100 Continue), though they can be read. */
export const isUnreadable = (error: unknown): boolean =>
  (error instanceof Error && error.name === 'HTTPParserError') ||
  /^UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/.test(codeOf(error)) ||
  (codeOf(error) === 'UND_ERR_SOCKET' && error instanceof Error && error.message === 'bad response')

export const asProxyFault = (error: Error | null): Error =>
  Object.assign(new Error(`the proxy cannot be reached: ${error?.message ?? ''}`), {
    code: 'EPROXY',
  })
