/** The file of a Bloom filter: a header in two slots and chunks of bits. Decides whether what it holds can be trusted; knows no key. */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import { AppError } from './errors.ts'
import { mapGranuleBytes, type MappedRegion, type Mapper } from './mmap.ts'

/** Bits are looked up in blocks of 512, so that a key touches one line of the cache and one page. */
export const blockWords = 16
export const chunksMax = 32

export type Chunk = {
  words: Uint32Array<ArrayBuffer>
  keys: number
}

/** Where the bits live. `mapped`: the kernel writes them back when it likes. `memory`: written at a clean close only, which spares flash. */
export type BloomFile = {
  readonly mode: 'mapped' | 'memory'
  readonly chunks: Chunk[]
  /** Why the chunks are empty and all keys must be added again; null where they can be trusted. */
  readonly mistrust: string | null
  /** @throws AppError storage_full | io: the chunks stay as they are */
  grow(words: number): void
  flush(): void
  /** After this nothing may be added. With a generation the file says that it is whole. */
  close(generation: number | null): void
}

/** File format; another number is rebuilt. */
const formatVersion = 1
const magic = 0x424c_4d46
const slotBytes = 512
/** Far enough apart that one torn sector or page hits one slot. */
const slotOffsets = [0, 4_096] as const
const headerBytes = mapGranuleBytes
const fixedBytes = 32
const checksumOffset = slotBytes - 4

type Header = {
  /** The higher of two valid slots counts. */
  sequence: number
  isClean: boolean
  generation: number
  chunks: { words: number; keys: number; checksum: number }[]
}

/** Opens what is there when it is whole and of this generation, else starts empty. */
export function openBloomFile(file: string, generation: number, mapper: Mapper | null): BloomFile {
  const found = existsSync(file) ? readTrusted(file, generation) : 'there was no file'
  return mapper === null ? openInMemory(file, found) : openMapped(file, found, mapper)
}

function openMapped(file: string, found: Header | string, mapper: Mapper): BloomFile {
  if (typeof found !== 'string') {
    const regions = offsetsOf(found).map(({ offset, bytes }) => mapper.map(file, offset, bytes))
    const isWhole = regions.every(
      ({ words }, i) => crc32(bytesOf(words)) === found.chunks[i]?.checksum,
    )
    if (isWhole) return new MappedBloomFile(file, mapper, regions, found, null)
  }
  const mistrust = typeof found === 'string' ? found : 'the bits are damaged'
  // A new file, because the old one may still be mapped.
  rmSync(file, { force: true })
  writeFile(file, [Buffer.alloc(headerBytes)])
  return new MappedBloomFile(file, mapper, [], emptyHeader(), mistrust)
}

function openInMemory(file: string, found: Header | string): BloomFile {
  let mistrust = typeof found === 'string' ? found : null
  let chunks: Chunk[] = []
  if (typeof found !== 'string') {
    chunks = readChunks(file, found)
    const isWhole = chunks.every(
      ({ words }, i) => crc32(bytesOf(words)) === found.chunks[i]?.checksum,
    )
    if (!isWhole) [chunks, mistrust] = [[], 'the bits are damaged']
  }
  // From the first added key on the file would be stale, and it looks whole.
  rmSync(file, { force: true })
  return {
    mode: 'memory',
    chunks,
    mistrust,
    grow: (words) => void chunks.push({ words: new Uint32Array(words), keys: 0 }),
    flush() {},
    close(generation) {
      if (generation === null) return
      const header = encodeHeader({ sequence: 2, isClean: true, generation, chunks: sums(chunks) })
      const start = Buffer.alloc(headerBytes)
      for (const offset of slotOffsets) start.set(header, offset)
      writeFile(`${file}.new`, [start, ...chunks.map(({ words }) => bytesOf(words))])
      renameSync(`${file}.new`, file)
    },
  }
}

class MappedBloomFile implements BloomFile {
  readonly mode = 'mapped'
  readonly chunks: Chunk[]
  readonly mistrust: string | null
  readonly #file: string
  readonly #mapper: Mapper
  readonly #regions: MappedRegion[]
  #sequence: number

  constructor(
    file: string,
    mapper: Mapper,
    regions: MappedRegion[],
    header: Header,
    mistrust: string | null,
  ) {
    this.#file = file
    this.#mapper = mapper
    this.#regions = regions
    this.#sequence = header.sequence
    this.mistrust = mistrust
    this.chunks = regions.map(({ words }, i) => ({ words, keys: header.chunks[i]?.keys ?? 0 }))
    // Both slots, before the first key: a slot that is damaged later must not bring an older clean one back to life.
    for (const _ of slotOffsets) this.#writeHeader(emptyHeader())
  }

  grow(words: number): void {
    const offset = this.chunks.reduce((sum, chunk) => sum + chunk.words.byteLength, headerBytes)
    const region = this.#mapper.map(this.#file, offset, words * 4)
    this.#regions.push(region)
    this.chunks.push({ words: region.words, keys: 0 })
  }

  flush(): void {
    for (const region of this.#regions) region.sync()
  }

  close(generation: number | null): void {
    if (generation === null) return
    this.flush()
    const chunks = sums(this.chunks)
    this.#writeHeader({ sequence: 0, isClean: true, generation, chunks })
  }

  /** Writes the slot that is not the newest. The file is opened anew each time: nothing of SQLite's is near it. */
  #writeHeader(header: Header): void {
    this.#sequence += 1
    const fd = openSync(this.#file, 'r+')
    try {
      const bytes = encodeHeader({ ...header, sequence: this.#sequence })
      writeSync(fd, bytes, 0, slotBytes, slotOffsets[this.#sequence % 2])
      fdatasyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
}

const emptyHeader = (): Header => ({ sequence: 0, isClean: false, generation: 0, chunks: [] })

const bytesOf = (words: Uint32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(words.buffer, words.byteOffset, words.byteLength)

const sums = (chunks: readonly Chunk[]): Header['chunks'] =>
  chunks.map(({ words, keys }) => ({
    words: words.length,
    keys,
    checksum: crc32(bytesOf(words)),
  }))

function offsetsOf({ chunks }: Header): { offset: number; bytes: number }[] {
  let end = headerBytes
  return chunks.map(({ words }) => {
    const offset = end
    end += words * 4
    return { offset, bytes: words * 4 }
  })
}

function encodeHeader({ sequence, isClean, generation, chunks }: Header): Buffer {
  const slot = Buffer.alloc(slotBytes)
  slot.writeUInt32LE(magic, 0)
  slot.writeUInt32LE(formatVersion, 4)
  slot.writeDoubleLE(sequence, 8)
  slot.writeDoubleLE(generation, 16)
  slot.writeUInt32LE(isClean ? 1 : 0, 24)
  slot.writeUInt32LE(chunks.length, 28)
  for (const [i, { words, keys, checksum }] of chunks.entries()) {
    slot.writeUInt32LE(words, fixedBytes + 12 * i)
    slot.writeUInt32LE(keys, fixedBytes + 12 * i + 4)
    slot.writeUInt32LE(checksum, fixedBytes + 12 * i + 8)
  }
  slot.writeUInt32LE(crc32(slot.subarray(0, checksumOffset)), checksumOffset)
  return slot
}

function decodeHeader(slot: Buffer): Header | null {
  if (slot.readUInt32LE(checksumOffset) !== crc32(slot.subarray(0, checksumOffset))) return null
  if (slot.readUInt32LE(0) !== magic || slot.readUInt32LE(4) !== formatVersion) return null
  const chunks = Array.from({ length: Math.min(chunksMax, slot.readUInt32LE(28)) }, (_, i) => ({
    words: slot.readUInt32LE(fixedBytes + 12 * i),
    keys: slot.readUInt32LE(fixedBytes + 12 * i + 4),
    checksum: slot.readUInt32LE(fixedBytes + 12 * i + 8),
  }))
  return {
    sequence: slot.readDoubleLE(8),
    generation: slot.readDoubleLE(16),
    isClean: slot.readUInt32LE(24) === 1,
    chunks,
  }
}

/** The header of a file that can be trusted as far as the header tells, else why not. */
function readTrusted(file: string, generation: number): Header | string {
  const fd = openSync(file, 'r')
  try {
    let newest: Header | null = null
    for (const offset of slotOffsets) {
      const slot = Buffer.alloc(slotBytes)
      if (readSync(fd, slot, 0, slotBytes, offset) < slotBytes) return 'the file is cut off'
      const header = decodeHeader(slot)
      if (header !== null && header.sequence > (newest?.sequence ?? -1)) newest = header
    }
    if (newest === null) return 'the header is damaged'
    if (!newest.isClean) return 'it was not closed'
    if (newest.generation !== generation) return 'it is of another generation'
    const end = offsetsOf(newest).at(-1)
    if (end !== undefined && fstatSync(fd).size < end.offset + end.bytes)
      return 'the file is cut off'
    return newest
  } finally {
    closeSync(fd)
  }
}

function readChunks(file: string, header: Header): Chunk[] {
  const fd = openSync(file, 'r')
  try {
    return offsetsOf(header).map(({ offset, bytes }, i) => {
      const words = new Uint32Array(bytes / 4)
      readSync(fd, bytesOf(words), 0, bytes, offset)
      return { words, keys: header.chunks[i]?.keys ?? 0 }
    })
  } finally {
    closeSync(fd)
  }
}

/** Writes and syncs a whole file. */
function writeFile(file: string, parts: readonly Uint8Array[]): void {
  try {
    const fd = openSync(file, 'w', 0o600)
    try {
      for (const part of parts)
        for (let at = 0; at < part.byteLength;) at += writeSync(fd, part, at)
      fdatasyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC'
    throw new AppError(isFull ? 'storage_full' : 'io', `${file}: ${String(error)}`, {
      cause: error,
    })
  }
}
