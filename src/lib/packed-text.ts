/**
 * Texts as they are stored: UTF-8 in zstd frames (RFC 8878). What older versions stored as raw deflate (RFC 1951) is read as well: no
 * deflate stream begins with the mark of a frame, whose first byte would say "stored as it is" and whose next four contradict each other.
 */
import {
  constants,
  inflateRawSync,
  type ZstdOptions,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'

/** A stored text is never larger: what cannot be is an error, not an exhausted memory. */
const textBytesMax = 64 * 1_024 * 1_024
/** A frame each: the opening of a long text is had without the rest. As far as deflate looks back. */
const frameBytes = 32 * 1_024
/** The mark of a frame. */
const frameMark = [0x28, 0xb5, 0x2f, 0xfd] as const
/**
 * Not larger is stored as it is, in a frame of one raw block: a compressor costs as much for these as for a page, and a page has, beside its
 * main text, most often so little. 3 % more bytes for half of the calls.
 */
const rawBytesMax = 512
/** UTF-8 of one UTF-16 unit. */
const unitBytesMax = 3
/** Bytes of a character that is cut short, and the units they become. */
const tornBytesMax = 4

/**
 * Two thirds of what the usual way costs for pages, and as small as deflate makes them. Tables of 16 KB instead of up to 128: each call
 * begins with clearing them, and throws out of the cache what the parser has there.
 */
const params = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_strategy]: constants.ZSTD_dfast,
  [constants.ZSTD_c_hashLog]: 12,
  [constants.ZSTD_c_chainLog]: 12,
}

/** In an ArrayBuffer of its own, which may be transferred. A frame also for '': SQLite has no beginning of no bytes. */
export function packText(text: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(text)
  if (bytes.length <= frameBytes) return packFrame(bytes)
  const frames: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += frameBytes)
    frames.push(packFrame(bytes.subarray(at, at + frameBytes)))
  return new Uint8Array(Buffer.concat(frames))
}

/** A copy: what zlib gives may lie in a pool. It sizes its tables by what is to come, and half of that is room enough for almost any text. */
function packFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  if (bytes.length <= rawBytesMax) return rawFrame(bytes)
  const options: ZstdOptions = {
    params,
    pledgedSrcSize: bytes.length,
    chunkSize: Math.max(constants.Z_MIN_CHUNK, (bytes.length >> 1) + 64),
  }
  return new Uint8Array(zstdCompressSync(bytes, options))
}

function rawFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = rawHead(bytes.length)
  const frame = new Uint8Array(head.length + bytes.length)
  frame.set(head)
  frame.set(bytes, head.length)
  return frame
}

/** RFC 8878, 3.1.1: mark and descriptor of a single segment; its size, in one byte or, less 256, in two; the head of its one block. */
function rawHead(size: number): number[] {
  const block = (size << 3) | 1
  const sizeBytes = size < 256 ? [0x20, size] : [0x60, (size - 256) & 0xff, (size - 256) >> 8]
  return [...frameMark, ...sizeBytes, block & 0xff, block >> 8, 0]
}

/** What `rawFrame` was given; null for any other bytes. */
function rawBytes(bytes: Uint8Array): Uint8Array | null {
  const size = bytes.length - (bytes[4] === 0x60 ? 10 : 9)
  if (size < 0 || size > rawBytesMax) return null
  const head = rawHead(size)
  return head.every((byte, i) => byte === bytes[i]) ? bytes.subarray(head.length) : null
}

/** '' where there is none. @throws Error what `packText` did not make */
export const unpackText = (bytes: Uint8Array | null): string =>
  bytes === null || bytes.byteLength === 0 ? '' : unpack(bytes, true).toString('utf8')

/** Packed bytes that nearly always hold so many units of a text; Chinese takes 1.3 each. */
export const packedBytesOf = (units: number): number =>
  Math.max(frameBytes + 64, Math.ceil(units * 1.5) + 256)

/**
 * The first units of a packed text, from its first bytes alone where they are enough; null where they are not.
 * @param bytes the first ones of `bytesAll`
 */
export function unpackOpening(
  bytes: Uint8Array,
  bytesAll: number,
  unitsMax: number,
): string | null {
  if (bytes.byteLength === 0) return ''
  const isWhole = bytes.byteLength === bytesAll
  const unpacked = unpack(bytes, isWhole)
  // The last character may be torn: it comes after the units that are wanted.
  const bytesWanted = unitsMax * unitBytesMax + tornBytesMax
  const text = unpacked.toString('utf8', 0, Math.min(unpacked.length, bytesWanted))
  const isEnough =
    isWhole || unpacked.length >= bytesWanted || text.length >= unitsMax + tornBytesMax
  return isEnough ? text.slice(0, unitsMax) : null
}

/** The first bytes of a packed text, and how many there are of it. */
export type PackedOpening = { bytes: Uint8Array; bytesAll: number }

/**
 * The same for many texts at once. A call of zlib makes a decoder, which costs as much as unpacking a page: here one goes through
 * all frames, one behind the other.
 */
export function unpackOpenings(
  packed: readonly PackedOpening[],
  unitsMax: number,
): (string | null)[] {
  const bytesWanted = unitsMax * unitBytesMax + tornBytesMax
  const frames = packed.map(({ bytes, bytesAll }) => {
    const frame = firstFrame(bytes)
    const isEnough =
      frame !== null && (frame.bytes.length === bytesAll || frame.unpackedBytes >= bytesWanted)
    return isEnough ? frame : null
  })
  const together = frames.filter((frame) => frame !== null)
  const bytesTogether = together.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0)
  const unpacked =
    bytesTogether === 0
      ? Buffer.alloc(0)
      : zstdDecompressSync(Buffer.concat(together.map(({ bytes }) => bytes)), {
          maxOutputLength: bytesTogether,
          chunkSize: Math.max(constants.Z_MIN_CHUNK, bytesTogether),
        })
  if (unpacked.length !== bytesTogether) throw new Error('a stored text is shorter than it says')
  let at = 0
  return frames.map((frame, i) => {
    const { bytes, bytesAll } = packed[i] as PackedOpening
    if (frame === null) return unpackOpening(bytes, bytesAll, unitsMax)
    const start = at
    at += frame.unpackedBytes
    return unpacked.toString('utf8', start, Math.min(at, start + bytesWanted)).slice(0, unitsMax)
  })
}

/** Where the first frame ends and what it holds, by its header and those of its blocks (RFC 8878, 3.1.1); null where it is not all there, or says not how much it holds. */
function firstFrame(bytes: Uint8Array): { bytes: Uint8Array; unpackedBytes: number } | null {
  if (!isFrame(bytes)) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const descriptor = bytes[4] ?? 0
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] as number
  const sizeAt = 5 + (isSingleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] as number)
  let at = sizeAt + sizeBytes
  if (sizeBytes === 0 || sizeBytes === 8 || at > bytes.length) return null
  const unpackedBytes =
    sizeBytes === 1
      ? view.getUint8(sizeAt)
      : sizeBytes === 2
        ? view.getUint16(sizeAt, true) + 256
        : view.getUint32(sizeAt, true)
  // More than we put into one: not to be believed before it is unpacked.
  if (unpackedBytes > frameBytes) return null
  for (let isLast = false; !isLast;) {
    if (at + 3 > bytes.length) return null
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
    isLast = (header & 1) !== 0
    const isRepeatedByte = ((header >> 1) & 3) === 1
    at += 3 + (isRepeatedByte ? 1 : header >> 3)
  }
  const hasChecksum = (descriptor & 4) !== 0
  if (hasChecksum) at += 4
  return at > bytes.length ? null : { bytes: bytes.subarray(0, at), unpackedBytes }
}

function unpack(bytes: Uint8Array, isWhole: boolean): Buffer {
  if (!isFrame(bytes)) {
    const finishFlush = isWhole ? constants.Z_FINISH : constants.Z_SYNC_FLUSH
    return inflateRawSync(bytes, { maxOutputLength: textBytesMax, finishFlush })
  }
  const raw = isWhole ? rawBytes(bytes) : null
  if (raw !== null) return Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  const finishFlush = isWhole ? constants.ZSTD_e_end : constants.ZSTD_e_continue
  const chunkSize = Math.min(frameBytes, Math.max(constants.Z_MIN_CHUNK, bytes.length * 4))
  return zstdDecompressSync(bytes, { maxOutputLength: textBytesMax, finishFlush, chunkSize })
}

const isFrame = (bytes: Uint8Array): boolean => frameMark.every((byte, i) => bytes[i] === byte)
