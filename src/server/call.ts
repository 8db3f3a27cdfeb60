/** A request and an answer as plain values, so that routes and pages know nothing of the HTTP framework. */
import type { Html } from './html.ts'

/** All values of each parameter, in order; decoding never fails, NUL is dropped. */
export type Query = ReadonlyMap<string, readonly string[]>

export type Call = {
  method: string
  /** Without the query, as sent. */
  path: string
  query: Query
  params: Readonly<Record<string, string>>
  /** JSON of an API call, or the fields of a form as a Query. */
  body: unknown
  header: (name: string) => string | undefined
  cookie: (name: string) => string | undefined
  /** Of the client, as far as proxies are trusted. */
  address: string
  requestId: string
}

export type Reply = {
  status: number
  headers: Record<string, string>
  body: string | Uint8Array
}
/** An answer that goes on: `open` gets the way to write and to end, and returns what must be called when the client has gone. */
export type EventStream = {
  open: (write: (event: string) => boolean, end: () => void) => () => void
}

export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `:name` for a part that varies. */
  path: string
  handle: (call: Call) => Promise<Reply | EventStream>
}

const reply = (
  type: string,
  body: string | Uint8Array,
  status: number,
  headers: Record<string, string>,
): Reply => ({ status, headers: { 'content-type': type, ...headers }, body })

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Reply =>
  reply('application/json; charset=utf-8', JSON.stringify(value), status, headers)

export const text = (type: string, value: string | Uint8Array): Reply => reply(type, value, 200, {})

export const page = (value: Html, status = 200, headers: Record<string, string> = {}): Reply =>
  // The indentation of the templates is a third of a page. Nothing here is preformatted.
  reply(
    'text/html; charset=utf-8',
    `<!doctype html>\n${value.text.replace(/\n\s+/g, '\n').trim()}\n`,
    status,
    headers,
  )

/** After a form: the browser goes on with GET. A relative address keeps any prefix that a proxy put before ours. */
export const seeOther = (location: string, headers: Record<string, string> = {}): Reply =>
  reply('text/plain; charset=utf-8', '', 303, { location, ...headers })

/** A query string or a form body: never throws, whatever the bytes are. */
export function readQuery(encoded: string): Query {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(encoded)) {
    const clean = value.replaceAll('\0', '')
    const known = values.get(name)
    if (known) known.push(clean)
    else values.set(name, [clean])
  }
  return values
}

export const firstOf = (query: Query, name: string): string | undefined => query.get(name)?.[0]

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}
