/** Talks to a Findling that already runs on the same data directory: the only place that asks our own API. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, errorCodes, type ErrorCode } from '../lib/errors.ts'
import { readLockHolder } from '../lib/lock.ts'

export type Client = {
  get<T>(path: string, parameters?: Record<string, string>): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
  put<T>(path: string, body: unknown): Promise<T>
}

const timeoutMs = 30_000
const probeMs = 2_000

/** The server that holds the directory, or null where none answers. */
export async function findServer(directory: string, configuredKey: string): Promise<Client | null> {
  const holder = readLockHolder(directory)
  const address = holder?.address ?? null
  if (address === null) return null
  try {
    await fetch(`${address}/livez`, { signal: AbortSignal.timeout(probeMs) })
  } catch {
    // Stale after a kill, or not listening yet: the lock decides what comes next.
    return null
  }
  const key = configuredKey === '' ? readKey(directory) : configuredKey
  const ask = async <T>(path: string, init: RequestInit): Promise<T> => {
    let response: Response
    try {
      response = await fetch(`${address}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(timeoutMs),
      })
    } catch (error) {
      throw new AppError('unreachable', `The server at ${address} does not answer.`, {
        cause: error,
      })
    }
    const body: unknown = await response.json()
    if (!response.ok) throw problemError(body, response.status)
    return body as T
  }
  return {
    get: (path, parameters = {}) => {
      const query = new URLSearchParams(parameters).toString()
      return ask(query === '' ? path : `${path}?${query}`, { method: 'GET' })
    },
    post: (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) }),
    put: (path, body) => ask(path, { method: 'PUT', body: JSON.stringify(body) }),
  }
}

const readKey = (directory: string): string =>
  readFileSync(join(directory, 'admin.key'), 'utf8').trim()

const isErrorCode = (value: unknown): value is ErrorCode =>
  errorCodes.some((code) => code === value)

function problemError(body: unknown, status: number): AppError {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const code = isErrorCode(problem['code']) ? problem['code'] : 'internal'
  // What the server says of it ends with what to do.
  return typeof problem['detail'] === 'string'
    ? new AppError(code, problem['detail'], { remedy: '' })
    : new AppError(code, `The server answered ${status}.`)
}
