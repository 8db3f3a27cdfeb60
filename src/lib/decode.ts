/** Content codings: gzip and deflate, with caps, keeping what came before a damage. Looks at the bytes, since labels lie. No charsets. */
import { gunzipSync, inflateRawSync, inflateSync, constants, type ZlibOptions } from 'node:zlib'

export type Decoded =
  | {
      kind: 'decoded'
      bytes: Uint8Array
      /** The coded data broke off or was spoilt: `bytes` is what came before. */
      damaged: boolean
    }
  /** encoding: none of ours, or more than two layers. size: more than `decodedBytesMax` in any layer. */
  | { kind: 'refused'; reason: 'encoding' | 'size' }

const layersMax = 2
const ours: ReadonlySet<string> = new Set(['gzip', 'deflate'])
/** The registered ones (IANA); servers write charsets and languages into this header too. */
const codingNames = /^(gzip|deflate|br|zstd|compress|x-compress|dcb|dcz|exi|pack200-gzip)$/
/** A page packs to a quarter or a tenth; a length that claims much more is not worth the room. */
const likelyRatioMax = 64

/**
 * The codings of a Content-Encoding header, outermost last, as `decodeBody` takes them: '' | 'gzip' | 'deflate', two joined
 * by ", "; null where we cannot decode them (br, zstd, compress, more than two). What names no coding ("utf-8", "none") says nothing.
 */
export function contentCodings(header: string): string | null {
  const codings = header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim().replace(/^x-(?=gzip$)/, ''))
    .filter((coding) => codingNames.test(coding))
  const isKnown = codings.every((coding) => ours.has(coding))
  return isKnown && codings.length <= layersMax ? codings.join(', ') : null
}

/**
 * Undoes the codings of a body. What is labelled but not coded is taken as it is; gzip without a label is undone too
 * (double wrapping, files named .gz), two layers in all.
 * @param codings as `contentCodings` gives them.
 */
export function decodeBody(
  body: ArrayBuffer | Uint8Array,
  codings: string,
  decodedBytesMax: number,
): Decoded {
  const labels = contentCodings(codings)?.split(', ')
  if (labels === undefined) return { kind: 'refused', reason: 'encoding' }
  let bytes = body instanceof Uint8Array ? body : new Uint8Array(body)
  let damaged = false
  for (let layer = 0; layer < layersMax; layer++) {
    const inflate = inflaterOf(bytes, labels.pop() ?? '')
    if (inflate === null) break
    const inner = undo(inflate, bytes, decodedBytesMax)
    if (inner === null) return { kind: 'refused', reason: 'size' }
    // "deflate" has no sure mark of its own: what breaks off shorter than it came was text with a wrong label.
    if (inner.damaged && inner.bytes.length < bytes.length && !isGzip(bytes)) break
    bytes = inner.bytes
    damaged ||= inner.damaged
  }
  if (bytes.length > decodedBytesMax) return { kind: 'refused', reason: 'size' }
  return { kind: 'decoded', bytes, damaged }
}

type Inflate = (bytes: Uint8Array, options: ZlibOptions) => Uint8Array

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/**
 * Room for all of the output, so that it is neither gathered from pieces nor copied: gzip ends with its length (RFC 1952), modulo
 * 2^32. Only a hint: whatever it says, no more than deflate can pack is believed.
 */
function chunkSizeFor(bytes: Uint8Array, decodedBytesMax: number): number {
  const end = bytes.length
  if (!isGzip(bytes) || end < 18) return constants.Z_DEFAULT_CHUNK
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(end - 4)
  const length = (a | (b << 8) | (c << 16) | (d << 24)) >>> 0
  const isLikely = length <= decodedBytesMax && length <= likelyRatioMax * end
  // One more byte: zlib asks for room once more when it has filled all it had.
  return isLikely ? Math.max(constants.Z_MIN_CHUNK, length + 1) : constants.Z_DEFAULT_CHUNK
}

/** RFC 1950: method 8 and a check over both bytes. Many servers send raw deflate (RFC 1951) under the same name. */
const isZlib = (bytes: Uint8Array): boolean => {
  const [first = 0, second = 0] = bytes
  return (first & 15) === 8 && ((first << 8) | second) % 31 === 0
}

function inflaterOf(bytes: Uint8Array, label: string): Inflate | null {
  if (isGzip(bytes)) return gunzipSync
  if (bytes.length === 0 || label === '') return null
  if (isZlib(bytes)) return inflateSync
  return label === 'deflate' ? inflateRawSync : null
}

/** null = more than the cap. */
function undo(
  inflate: Inflate,
  bytes: Uint8Array,
  decodedBytesMax: number,
): { bytes: Uint8Array; damaged: boolean } | null {
  const whole = attempt(inflate, bytes, decodedBytesMax, constants.Z_FINISH)
  if (whole === 'size') return null
  if (whole !== 'damaged') return { bytes: whole, damaged: false }
  // Cut short: everything up to the cut comes out. Spoilt: the longest beginning that decodes, by halving, since a beginning
  // of a good beginning is good.
  let good: Uint8Array = new Uint8Array(0)
  let from = 0
  let to = bytes.length
  let length = to
  while (from < to) {
    const part = attempt(
      inflate,
      bytes.subarray(0, length),
      decodedBytesMax,
      constants.Z_SYNC_FLUSH,
    )
    if (part === 'size') return null
    if (part === 'damaged') {
      to = length - 1
    } else {
      good = part
      from = length
    }
    length = Math.ceil((from + to) / 2)
  }
  return { bytes: good, damaged: true }
}

function attempt(
  inflate: Inflate,
  bytes: Uint8Array,
  decodedBytesMax: number,
  finishFlush: number,
): Uint8Array | 'damaged' | 'size' {
  try {
    const chunkSize = chunkSizeFor(bytes, decodedBytesMax)
    return inflate(bytes, { maxOutputLength: Math.max(1, decodedBytesMax), finishFlush, chunkSize })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ERR_BUFFER_TOO_LARGE') return 'size'
    if (typeof code === 'string' && code.startsWith('Z_')) return 'damaged'
    throw error
  }
}
