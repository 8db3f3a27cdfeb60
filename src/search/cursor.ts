/** Cursors: where a list was left, signed so that nobody makes one up. Bytes in, bytes out; what they mean is paging.ts's part. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { AppError } from '../lib/errors.ts'

const version = 1
const macBytes = 12
const markBytes = 8
const headBytes = 1 + markBytes + 4 + 4
/** Pages have at most 50 hits; a number takes at most 5 bytes. */
export const cursorCharsMax = 600

export type Cursor = {
  /** Tells the question that it belongs to; 8 bytes. */
  mark: Uint8Array
  /** The list that it goes on with; 0 = none yet. */
  list: number
  /** Hits before the next one. */
  position: number
  /** URLs that were shown before there was a list. */
  shown: readonly number[]
}

/** [version, mark 8, list 4, position 4, shown as varints, MAC 12] as base64url. */
export function encodeCursor({ mark, list, position, shown }: Cursor, key: Uint8Array): string {
  const head = Buffer.alloc(headBytes)
  head[0] = version
  head.set(mark.subarray(0, markBytes), 1)
  head.writeUInt32LE(list, 1 + markBytes)
  head.writeUInt32LE(position, 5 + markBytes)
  const body = Buffer.concat([head, Buffer.from(shown.flatMap(varint))])
  return Buffer.concat([body, macOf(body, key)]).toString('base64url')
}

/** @throws AppError invalid_cursor for anything that this key did not sign */
export function decodeCursor(text: string, key: Uint8Array): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const isWhole = text.length <= cursorCharsMax && bytes.toString('base64url') === text
  if (!isWhole || bytes.length < headBytes + macBytes || bytes[0] !== version) throw refusal()
  const body = bytes.subarray(0, bytes.length - macBytes)
  if (!timingSafeEqual(bytes.subarray(body.length), macOf(body, key))) throw refusal()
  const shown: number[] = []
  for (let at = headBytes; at < body.length;) {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = body[at++] as number
      value += (byte & 127) * unit
      if (byte < 128) break
    }
    shown.push(value)
  }
  return {
    mark: body.subarray(1, 1 + markBytes),
    list: body.readUInt32LE(1 + markBytes),
    position: body.readUInt32LE(5 + markBytes),
    shown,
  }
}

export const refusal = (
  detail = 'The cursor is none that this index gave out for this question.',
): AppError => new AppError('invalid_cursor', detail)

const macOf = (body: Uint8Array, key: Uint8Array): Buffer =>
  createHmac('sha256', key).update(body).digest().subarray(0, macBytes)

function varint(value: number): number[] {
  const bytes: number[] = []
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128)
  bytes.push(left)
  return bytes
}
