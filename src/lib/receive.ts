/** A response's body as far as it is wanted: with a cap, a deadline, and whatever came before the connection broke. Judges no status. */
import type { Readable } from 'node:stream'
import type { Deadline } from './deadline.ts'
import type { EgressAnswer, EgressRequest } from './egress.ts'

/** What a client gives when the headers are in. */
export type Response = {
  statusCode: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Readable & { dump(options: { limit: number; signal: AbortSignal }): Promise<unknown> }
}
export type Received = Extract<EgressAnswer, { kind: 'answer' }>

const drainBytesMax = 65_536
const drainMs = 2_000

/** null = the deadline or the caller ended it. */
export async function receive(
  response: Response,
  request: EgressRequest,
  deadline: Deadline,
  remoteAddress: string,
): Promise<Received | null> {
  const { statusCode: status, body } = response
  const headers = plainHeaders(response.headers)
  const answer = { kind: 'answer', status, headers, remoteAddress } as const
  const none = { body: new ArrayBuffer(0), truncated: false, capped: false, wireBytes: 0 }
  // A body that is destroyed says so by an error nobody else listens to.
  body.on('error', () => undefined)
  if (request.wantsBody?.(status, headers) === false) {
    deadline.extend(drainMs, body.dump({ limit: drainBytesMax, signal: deadline.signal }))
    return { ...answer, ...none }
  }
  const { wireBytesMax, keepsCapped = false } = request
  if (!keepsCapped && Number(headers['content-length'] ?? 0) > wireBytesMax) {
    body.destroy()
    return { ...answer, ...none, capped: true }
  }
  const { chunks, wireBytes, end } = await collect(body, wireBytesMax)
  if (end === 'broken' && deadline.signal.aborted) return null
  const capped = end === 'capped'
  if (capped && !keepsCapped) return { ...answer, ...none, capped, wireBytes }
  const truncated = end === 'broken'
  return { ...answer, body: joined(chunks, wireBytes), truncated, capped, wireBytes }
}

type Collected = {
  chunks: readonly Uint8Array[]
  wireBytes: number
  end: 'complete' | 'broken' | 'capped'
}

/** By events: cheaper than a stream's async iterator. Whatever comes first ends it. */
function collect(body: Readable, wireBytesMax: number): Promise<Collected> {
  return new Promise((done) => {
    const chunks: Uint8Array[] = []
    let wireBytes = 0
    const finish = (end: Collected['end']): void => done({ chunks, wireBytes, end })
    body.on('data', (chunk: Uint8Array) => {
      const room = wireBytesMax - wireBytes
      const isOver = chunk.length > room
      chunks.push(isOver ? chunk.subarray(0, room) : chunk)
      wireBytes += Math.min(room, chunk.length)
      if (!isOver) return
      finish('capped')
      body.destroy()
    })
    body.on('end', () => finish('complete'))
    body.on('error', () => finish('broken'))
    body.on('close', () => finish('broken'))
  })
}

function joined(chunks: readonly Uint8Array[], bytes: number): ArrayBuffer {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole.buffer
}

/** Headers that say one thing: of several, the first counts. */
const single = new Set(['location', 'etag', 'last-modified', 'retry-after', 'content-length'])

/** Headers of which each line stands for itself: a robot that one names is not that of the next. */
const byLine: ReadonlySet<string> = new Set(['set-cookie', 'x-robots-tag'])

export function plainHeaders(headers: Response['headers']): Record<string, string> {
  const plain = Object.create(null) as Record<string, string>
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    if (!Array.isArray(value)) plain[name] = value
    else if (single.has(name)) plain[name] = value[0] ?? ''
    else plain[name] = value.join(byLine.has(name) ? '\n' : ', ')
  }
  return plain
}
