/** Reads replies that break the grammar of HTTP but that every browser shows: bare line feeds, headers without a colon or with controls, two lengths, no chunks. */
import type { Socket } from 'node:net'

export type LenientReply = {
  status: number
  /** Lower-case names, values as Latin-1: what the strict reader gives too. */
  headers: Record<string, string | string[]>
  body: Uint8Array
  /** The body ended before its length or last chunk. */
  truncated: boolean
}

/** Browsers allow 256 KiB. */
export const lenientHeadBytesMax = 262_144
const headersMax = 1_000
const interimRepliesMax = 10

/**
 * A whole reply, read to the end of its connection. Null where it has no status line and no blank line after its headers. Interim replies
 * (1xx) are passed over. Chunked counts before a length, the first of two lengths before the second; what is no chunk is taken as it is.
 */
export function readReply(bytes: Uint8Array): LenientReply | null {
  let from = 0
  for (let replies = 0; replies <= interimRepliesMax; replies++) {
    const end = endOfHead(bytes, from)
    if (end === null) return null
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset + from, end.at - from)
      .toString('latin1')
      .replace(/^[\r\n]+/, '')
      .replace(/\r?\n[ \t]+/g, ' ')
      .split(/\r?\n/)
    const status = Number(/^(?:HTTP\/\d(?:\.\d)?|ICY)\s*(\d{3})(?!\d)/i.exec(lines[0] ?? '')?.[1])
    if (Number.isNaN(status)) return null
    from = end.bodyAt
    if (status < 200 && status !== 101) continue
    const headers = headersOf(lines.slice(1, headersMax))
    return { status, headers, ...bodyOf(bytes.subarray(from), headers) }
  }
  return null
}

function endOfHead(bytes: Uint8Array, from: number): { at: number; bodyAt: number } | null {
  let at = from
  while (bytes[at] === 13 || bytes[at] === 10) at++
  for (; at < Math.min(bytes.length, from + lenientHeadBytesMax); at++) {
    if (bytes[at] !== 10) continue
    if (bytes[at + 1] === 10) return { at, bodyAt: at + 2 }
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return { at, bodyAt: at + 3 }
  }
  return null
}

function headersOf(lines: readonly string[]): LenientReply['headers'] {
  const headers = Object.create(null) as LenientReply['headers']
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+)\s*:(.*)$/s.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const key = name.toLowerCase()
    // oxlint-disable-next-line no-control-regex -- controls are what is taken out
    const text = value.replace(/[\0-\x08\x0b-\x1f\x7f]/g, '').trim()
    const known = headers[key]
    if (known === undefined) headers[key] = text
    else if (Array.isArray(known)) known.push(text)
    else headers[key] = [known, text]
  }
  return headers
}

const firstOf = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value[0] : value) ?? ''

function bodyOf(
  bytes: Uint8Array,
  headers: LenientReply['headers'],
): { body: Uint8Array; truncated: boolean } {
  if (/chunked/i.test([headers['transfer-encoding'] ?? ''].flat().join())) {
    const dechunked = dechunk(bytes)
    return dechunked ?? { body: bytes, truncated: false }
  }
  const length = /^\s*\+?(\d{1,12})/.exec(firstOf(headers['content-length']))?.[1]
  if (length === undefined) return { body: bytes, truncated: false }
  return { body: bytes.subarray(0, Number(length)), truncated: bytes.length < Number(length) }
}

/** Null where not even the first chunk has a length. */
function dechunk(bytes: Uint8Array): { body: Uint8Array; truncated: boolean } | null {
  const pieces: Uint8Array[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf(10, at)
    const line = Buffer.from(
      bytes.subarray(at, lineEnd < 0 ? bytes.length : Math.min(lineEnd, at + 1_024)),
    )
    const size = /^\s*([\da-f]{1,8})\s*(?:;.*)?\r?$/is.exec(line.toString('latin1'))?.[1]
    if (size === undefined || lineEnd < 0) {
      if (at === 0) return null
      return { body: Buffer.concat(pieces), truncated: true }
    }
    const length = Number.parseInt(size, 16)
    if (length === 0) return { body: Buffer.concat(pieces), truncated: false }
    const piece = bytes.subarray(lineEnd + 1, lineEnd + 1 + length)
    pieces.push(piece)
    if (piece.length < length) return { body: Buffer.concat(pieces), truncated: true }
    at = lineEnd + 1 + length
    if (bytes[at] === 13) at++
    if (bytes[at] === 10) at++
  }
}

/**
 * Sends one request on a connection of its own and collects everything until it ends, the signal aborts, or there is more than `bytesMax`.
 * @param head request line and headers, with the blank line. @throws the socket's error where nothing came at all
 */
export function collectReply(
  socket: Socket,
  head: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  return new Promise((done, fail) => {
    const chunks: Uint8Array[] = []
    let bytes = 0
    const finish = (error?: Error): void => {
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      if (bytes === 0) fail(error ?? new Error('no reply'))
      else done(Buffer.concat(chunks, bytes))
    }
    const onAbort = (): void => {
      bytes = 0
      finish(new Error('aborted'))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    socket.on('data', (chunk: Uint8Array) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= bytesMax) finish()
    })
    socket.once('end', () => finish())
    socket.once('error', finish)
    socket.once('close', () => finish())
    if (signal.aborted) onAbort()
    else socket.write(head, 'latin1')
  })
}
