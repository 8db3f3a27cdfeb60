/** POSIX tar (ustar), the part that an archive of plain files needs, as streams of bounded memory. Knows no file system and no directories. */
import { AppError } from './errors.ts'

export type TarFile = {
  /** At most 100 bytes of ASCII. */
  name: string
  bytes: number
  modifiedAtMs: number
  /** Exactly `bytes` bytes. */
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

const blockBytes = 512
const nameBytesMax = 100
/** Eleven octal digits; above, GNU's binary form is used, which every tar of today reads. */
const octalMax = 8 ** 11 - 1
const regularFile = '0'
const magic = 'ustar\u000000'
// Field of the header: where it begins, how long it is.
const at = {
  mode: 100,
  user: 108,
  group: 116,
  size: 124,
  time: 136,
  sum: 148,
  type: 156,
  magic: 257,
}

/** The bytes of an archive, its end mark included. */
export async function* writeTar(files: Iterable<TarFile>): AsyncGenerator<Uint8Array> {
  for (const file of files) {
    yield encodeHeader(file)
    let written = 0
    for await (const chunk of file.content) {
      written += chunk.byteLength
      yield chunk
    }
    if (written !== file.bytes)
      throw new AppError('io', `${file.name} had ${file.bytes} bytes and gave ${written}.`)
    yield Buffer.alloc(paddingOf(file.bytes))
  }
  yield Buffer.alloc(2 * blockBytes)
}

/**
 * The files of an archive, in order. `content` is read before the next file is asked for; what is left of it is skipped.
 * @throws AppError bad_input where it is no archive, is cut off, or holds anything but plain files
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile> {
  const source = new ByteSource(chunks)
  for (;;) {
    const header = await source.take(blockBytes)
    if (header.every((byte) => byte === 0)) return
    const file = decodeHeader(header)
    let left = file.bytes
    const content = async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const chunk = await source.some(left)
        left -= chunk.byteLength
        yield chunk
      }
    }
    yield { ...file, content: content() }
    while (left > 0) left -= (await source.some(left)).byteLength
    await source.take(paddingOf(file.bytes))
  }
}

const paddingOf = (bytes: number): number => (blockBytes - (bytes % blockBytes)) % blockBytes

function encodeHeader({ name, bytes, modifiedAtMs }: TarFile): Buffer {
  if (!/^[\x20-\x7e]+$/.test(name) || name.length > nameBytesMax)
    throw new RangeError(`a name that tar cannot hold: ${name}`)
  const header = Buffer.alloc(blockBytes)
  header.write(name, 0, 'latin1')
  putNumber(header, at.mode, 8, 0o600)
  putNumber(header, at.user, 8, 0)
  putNumber(header, at.group, 8, 0)
  putNumber(header, at.size, 12, bytes)
  putNumber(header, at.time, 12, Math.max(0, Math.floor(modifiedAtMs / 1_000)))
  header.write(regularFile, at.type, 'latin1')
  header.write(magic, at.magic, 'latin1')
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, at.sum, 'latin1')
  return header
}

function decodeHeader(header: Buffer): Omit<TarFile, 'content'> {
  if (readNumber(header, at.sum, 8) !== checksum(header))
    throw new AppError('bad_input', 'This is no tar archive, or it is damaged.')
  const name = header.toString('latin1', 0, nameBytesMax).replace(/\0.*$/s, '')
  const type = header.toString('latin1', at.type, at.type + 1)
  if (type !== regularFile && type !== '\0')
    throw new AppError('bad_input', `The archive holds "${name}", which is no plain file.`)
  const bytes = readNumber(header, at.size, 12)
  if (!Number.isSafeInteger(bytes) || bytes < 0)
    throw new AppError('bad_input', `The archive gives "${name}" no size.`)
  return { name, bytes, modifiedAtMs: readNumber(header, at.time, 12) * 1_000 }
}

/** The sum of the header's bytes, with its own field taken as spaces. */
const checksum = (header: Uint8Array): number =>
  header.reduce(
    (sum, byte, index) => sum + (index >= at.sum && index < at.sum + 8 ? 0x20 : byte),
    0,
  )

function putNumber(header: Buffer, offset: number, width: number, value: number): void {
  if (value <= octalMax) {
    header.write(value.toString(8).padStart(width - 1, '0'), offset, 'latin1')
    return
  }
  header[offset] = 0x80
  header.writeUIntBE(value, offset + width - 6, 6)
}

/** NaN where there is no number. */
function readNumber(header: Buffer, offset: number, width: number): number {
  if (header[offset] === 0x80) {
    const high = header.subarray(offset + 1, offset + width - 6)
    return high.every((byte) => byte === 0) ? header.readUIntBE(offset + width - 6, 6) : Number.NaN
  }
  const digits = header
    .toString('latin1', offset, offset + width)
    .replace(/[\0 ]+$/, '')
    .trimStart()
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

/** Chunks of any size as pieces of a wanted size. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** One to `bytesMax` bytes, whatever is at hand. */
  async some(bytesMax: number): Promise<Uint8Array> {
    while (this.#rest.byteLength === 0) {
      const next = await this.#chunks.next()
      if (next.done === true) throw new AppError('bad_input', 'The archive is cut off.')
      this.#rest = next.value
    }
    const piece = this.#rest.subarray(0, bytesMax)
    this.#rest = this.#rest.subarray(piece.byteLength)
    return piece
  }

  /** Exactly so many; for headers and padding, which are small. */
  async take(bytes: number): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    for (let left = bytes; left > 0;) {
      const piece = await this.some(left)
      pieces.push(piece)
      left -= piece.byteLength
    }
    return Buffer.concat(pieces)
  }
}
