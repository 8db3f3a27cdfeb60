/** Errors as the API tells them (RFC 9457): a stable code, a sentence, an id to look up in the log; never a stack, path or statement. */
import { AppError } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import type { Reply } from './call.ts'
import type { SchemaError } from './json-schema.ts'

/** Codes whose sentence may name files, SQL or other inner things: the client gets the general one, the log the rest. */
const innerCodes: ReadonlySet<ErrorCode> = new Set([
  'internal',
  'io',
  'corrupt',
  'cannot_create',
  'schema_too_new',
])

/** What the HTTP framework refuses by itself, told in our codes. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_input',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'bad_input',
  413: 'payload_too_large',
  414: 'bad_input',
  415: 'unsupported_media_type',
  431: 'bad_input',
  503: 'overloaded',
}
const detailOfCode: Partial<Record<ErrorCode, string>> = {
  bad_input: 'The request could not be read.',
  not_found: 'There is nothing at this address.',
  payload_too_large: 'The body of the request is too large.',
  unsupported_media_type: 'The body has to be application/json.',
}

/** Any thrown value as one of our errors. What is not expected is `internal`. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  const code = codeOfStatus[status] ?? 'internal'
  return new AppError(code, detailOfCode[code] ?? 'The request failed.', { cause: error })
}

/** The sentence that may leave this machine. */
export const publicDetail = (error: AppError): string =>
  innerCodes.has(error.code) ? 'The request failed on this side.' : error.message

export const titleOf = (code: ErrorCode): string => {
  const words = code.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Headers that go with an error whatever the body is. */
export function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' }
  const isTemporary = error.status === 429 || error.status === 503
  if (isTemporary) headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterS ?? 1)))
  if (error.status === 401) headers['www-authenticate'] = 'Bearer realm="findling"'
  return headers
}

function faultsOf(error: AppError): readonly SchemaError[] | undefined {
  const { cause } = error
  const has = typeof cause === 'object' && cause !== null && 'faults' in cause
  return has && Array.isArray(cause.faults) ? (cause.faults as SchemaError[]) : undefined
}

export function problemReply(error: AppError, path: string, requestId: string): Reply {
  const errors = faultsOf(error)
  const problem = {
    type: `urn:findling:error:${error.code}`,
    title: titleOf(error.code),
    status: error.status,
    detail: `${publicDetail(error)} ${error.remedy}`,
    instance: path.slice(0, 200),
    code: error.code,
    ...(errors ? { errors } : {}),
    request_id: requestId,
  }
  return {
    status: error.status,
    headers: { 'content-type': 'application/problem+json; charset=utf-8', ...errorHeaders(error) },
    body: JSON.stringify(problem),
  }
}
