/** A growing Bloom filter that survives a restart: answers "certainly new" or "maybe seen", never a false "new". No list of keys. */
import assert from 'node:assert'
import { type BloomFile, blockWords, type Chunk, chunksMax, openBloomFile } from './bloom-file.ts'
import { AppError } from './errors.ts'
import { mix32 } from './hash.ts'
import { loadMapper, mapGranuleBytes, type Mapper } from './mmap.ts'

export { hashKey } from './hash.ts'

export type BloomOptions = {
  file: string
  /** The number that the owner of the keys noted at the last clean close. A file with another one is not trusted. */
  generation: number
  /** mapped: bits in a file mapped into memory. memory: bits on the heap, written at a clean close: for flash cards. */
  mode: 'mapped' | 'memory'
  /** Sizes the first chunk. */
  keysExpected?: number
  /** No further chunk beyond this: more "maybe", still no false "new". */
  bytesMax?: number
}

export type BloomStats = {
  /** memory also where mapping did not work. */
  mode: 'mapped' | 'memory'
  keys: number
  bytes: number
  chunks: number
  /** Expected share of new keys that are answered with "maybe". */
  falsePositives: number
}

export type Bloom = {
  /** True until `rebuilt`: everything is "maybe" meanwhile. Add all keys, then call it. */
  readonly needsRebuild: boolean
  /** Why, for the log; '' where nothing is to be rebuilt. */
  readonly reason: string
  /** Remembers the key of two unsigned halves (see `hashKey`). False where it was "maybe seen" already. */
  add(h1: number, h2: number): boolean
  /** False: certainly never added. */
  mayHave(h1: number, h2: number): boolean
  rebuilt(): void
  /** Waits until the disk has the mapped bits. Does not make a crash harmless: only a clean close does. */
  flush(): void
  /** With the generation that the owner of the keys notes now; without, or while a rebuild is due, the next start rebuilds. May be called twice. */
  close(cleanGeneration?: number): void
  stats(): BloomStats
}

/** With 15 probes 0.79 false positives in a million, blocks of 512 bits included. */
export const bitsPerKey = 40
const probes = 15
const keysExpectedDefault = 250_000
const bytesMaxDefault = 512 * 1_024 * 1_024
const blockBits = blockWords * 32
const granuleWords = mapGranuleBytes / 4

/**
 * Opens the filter, empty and due for a rebuild where its file cannot be trusted. `load` finds the door to mmap.
 * @throws AppError io | storage_full where not even a file of its own can be removed or made
 */
export async function openBloom(options: BloomOptions, load = loadMapper): Promise<Bloom> {
  const mapper = options.mode === 'mapped' ? await mapperOrNull(load) : null
  const file = openOrFallBack(options, mapper)
  return new GrowingBloom(file, options)
}

/** Without koffi the filter works from the heap; its mode says so. */
async function mapperOrNull(load: typeof loadMapper): Promise<Mapper | null> {
  try {
    return await load()
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function openOrFallBack(options: BloomOptions, mapper: Mapper | null): BloomFile {
  const { keysExpected = keysExpectedDefault, bytesMax = bytesMaxDefault } = options
  const words = Math.min(wordsFor(keysExpected), wordsFor((bytesMax * 8) / bitsPerKey))
  const open = (use: Mapper | null): BloomFile => {
    const file = openBloomFile(options.file, options.generation, use)
    if (file.chunks.length === 0) file.grow(words)
    return file
  }
  try {
    return open(mapper)
  } catch (error) {
    if (mapper === null || !(error instanceof AppError)) throw error
    return open(null)
  }
}

/** Words of a chunk for so many keys: whole granules, so that each chunk can be mapped by itself. */
const wordsFor = (keys: number): number =>
  Math.max(1, Math.ceil((keys * bitsPerKey) / 32 / granuleWords)) * granuleWords

const capacityOf = (chunk: Chunk): number => Math.floor((chunk.words.length * 32) / bitsPerKey)

/** Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters" (WEA 2007), in chunks that double. */
class GrowingBloom implements Bloom {
  readonly #file: BloomFile
  readonly #bytesMax: number
  /** Bit positions of the key at hand inside its block: the same in every chunk. */
  readonly #positions = new Uint16Array(probes)
  #needsRebuild: boolean
  #isOpen = true
  /** Keys of the last chunk at which growing is tried again. */
  #growAtKeys = 0

  constructor(file: BloomFile, { bytesMax = bytesMaxDefault }: BloomOptions) {
    this.#file = file
    this.#bytesMax = bytesMax
    this.#needsRebuild = file.mistrust !== null
    this.#growAtKeys = capacityOf(this.#lastChunk())
  }

  get needsRebuild(): boolean {
    return this.#needsRebuild
  }

  get reason(): string {
    return this.#needsRebuild ? (this.#file.mistrust ?? '') : ''
  }

  add(h1: number, h2: number): boolean {
    assert(this.#isOpen, 'the filter is closed')
    this.#locate(h1, h2)
    if (this.#isInAnyChunk(h1)) return false
    if (this.#lastChunk().keys >= this.#growAtKeys) this.#grow()
    const chunk = this.#lastChunk()
    const base = blockOf(chunk, h1)
    for (let i = 0; i < probes; i++) {
      const position = this.#positions[i] as number
      const at = base + (position >>> 5)
      chunk.words[at] = (chunk.words[at] as number) | (1 << (position & 31))
    }
    chunk.keys += 1
    return true
  }

  mayHave(h1: number, h2: number): boolean {
    assert(this.#isOpen, 'the filter is closed')
    if (this.#needsRebuild) return true
    this.#locate(h1, h2)
    return this.#isInAnyChunk(h1)
  }

  rebuilt(): void {
    this.#needsRebuild = false
  }

  flush(): void {
    this.#file.flush()
  }

  close(cleanGeneration?: number): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#file.close(this.#needsRebuild ? null : (cleanGeneration ?? null))
  }

  stats(): BloomStats {
    const { mode, chunks } = this.#file
    const passed = chunks.reduce((product, chunk) => product * (1 - falsePositives(chunk)), 1)
    return {
      mode,
      keys: chunks.reduce((sum, { keys }) => sum + keys, 0),
      bytes: chunks.reduce((sum, { words }) => sum + words.byteLength, 0),
      chunks: chunks.length,
      falsePositives: 1 - passed,
    }
  }

  #lastChunk(): Chunk {
    const chunk = this.#file.chunks.at(-1)
    assert(chunk !== undefined)
    return chunk
  }

  /** Three positions of 9 bits from each mix. Plain double hashing has too few patterns for one block: 7 times the false positives. */
  #locate(h1: number, h2: number): void {
    const step = mix32(h1 ^ 0x6a09e667) | 1
    let state = h2
    for (let i = 0; i < probes; i += 3) {
      const mixed = mix32(state)
      this.#positions[i] = mixed >>> 23
      this.#positions[i + 1] = (mixed >>> 14) & 511
      this.#positions[i + 2] = (mixed >>> 5) & 511
      state = (state + step) | 0
    }
  }

  #isInAnyChunk(h1: number): boolean {
    const { chunks } = this.#file
    for (let c = chunks.length - 1; c >= 0; c--) if (this.#isIn(chunks[c] as Chunk, h1)) return true
    return false
  }

  #isIn(chunk: Chunk, h1: number): boolean {
    const base = blockOf(chunk, h1)
    for (let i = 0; i < probes; i++) {
      const position = this.#positions[i] as number
      const word = chunk.words[base + (position >>> 5)] as number
      if ((word & (1 << (position & 31))) === 0) return false
    }
    return true
  }

  /** A chunk twice as large, where there is room; else the last one takes more than it is made for, and it is tried again later. */
  #grow(): void {
    const last = this.#lastChunk()
    const words = last.words.length * 2
    const bytes = this.stats().bytes + words * 4
    try {
      if (bytes > this.#bytesMax || this.#file.chunks.length === chunksMax)
        throw new AppError('storage_full', 'the filter has reached its limit')
      this.#file.grow(words)
      this.#growAtKeys = capacityOf(this.#lastChunk())
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#growAtKeys = last.keys + Math.ceil(capacityOf(last) / 8)
    }
  }
}

/** First word of the block of a key. */
const blockOf = ({ words }: Chunk, h1: number): number =>
  Math.floor((h1 / 2 ** 32) * (words.length / blockWords)) * blockWords

/** The number of keys in a block is about Poisson distributed. */
function falsePositives({ words, keys }: Chunk): number {
  const mean = keys / (words.length / blockWords)
  let probability = Math.exp(-mean)
  let sum = 0
  for (let n = 1; n <= mean * 4 + 40; n++) {
    probability *= mean / n
    sum += probability * allSet(probes * n)
  }
  return sum
}

/**
 * Expected share of foreign keys whose probes are all set in a block that so many bits were thrown into. Blocks of equally many keys are not
 * equally full, and the fuller ones count for more: the power of the mean alone would be 7 % too low at 40 bits a key (Bose et al., "On the
 * false-positive rate of Bloom filters", Information Processing Letters 2008).
 */
function allSet(throws: number): number {
  const one = (1 - 1 / blockBits) ** throws
  const two = (1 - 2 / blockBits) ** throws
  const mean = 1 - one
  const variance = one / blockBits + (1 - 1 / blockBits) * two - one * one
  return Math.min(1, mean ** probes * (1 + (probes * (probes - 1) * variance) / (2 * mean ** 2)))
}
