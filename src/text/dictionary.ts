/** The packed dictionary: words with their weights in one shareable buffer, and the most probable cut of a run of Chinese. Building it is dictionary-source.ts. */
import { AppError } from '../lib/errors.ts'

/*
 * Layout, little endian, 32-bit words:
 *
 *   header   magic, version, checksum of all that follows it, cells (a power of two), words, weight of an unknown
 *            character, two spare
 *   table    simplified form of each unit HAN_FIRST..HAN_LAST, 16 bits each
 *   cells    an open-addressed hash table that is the trie: the cell of a character under its parent is found by
 *            hash(parent cell, character), so a cell's own index names the state and no pointer is stored
 *              word 0   parent cell + 1; 0 = empty
 *              word 1   character in the low half; in the high half the weight, 0 = no word ends here
 *
 * A weight is -ln(probability) in steps of 1/WEIGHT_SCALE.
 */
export const MAGIC = 0x4346_4446 // "FDFC"
/** Of layout and content: raise it when either changes. */
export const dictionaryVersion = 1
export const HEADER_WORDS = 8
export const HAN_FIRST = 0x3400
export const HAN_LAST = 0x9fff
export const TABLE_WORDS = (HAN_LAST - HAN_FIRST + 1) / 2
export const WEIGHT_SCALE = 3000
/** Parent of a word's first character. */
export const ROOT = -1

/** A longer run is cut in pieces of this size: bounds the memory of one cut. */
const PIECE_UNITS_MAX = 2048

/** A word of a cut: units [start, end) of the run. `id` names the word, -1 = not in the dictionary; a part lies inside the next longer word. */
export type UseWord = (start: number, end: number, id: number, isPart: boolean) => void

export type Dictionary = {
  /** Tells assets apart: equal content, equal checksum. */
  checksum: number
  words: number
  /** Simplified form of unit HAN_FIRST + i. */
  simplified: Uint16Array
  /**
   * The most probable cut of a folded run of Han characters, in search mode: before a word of four characters
   * or more (three: only its pairs) come the dictionary words of two and three characters inside it. Linear.
   */
  cut(run: string, use: UseWord): void
  /** -ln of the word's probability; null where it is not in the dictionary. */
  weight(word: string): number | null
}

/** The cell that holds `char` under `parent`, or the empty one where it belongs. */
export function findCell(cells: Int32Array, mask: number, parent: number, char: number): number {
  let hash = Math.imul(parent, 0x9e37_79b1) ^ Math.imul(char, 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d)
  let cell = (hash ^ (hash >>> 13)) & mask
  for (;;) {
    const owner = cells[cell * 2] as number
    if (owner === 0) return cell
    if (owner === parent + 2 && ((cells[cell * 2 + 1] as number) & 0xffff) === char) return cell
    cell = (cell + 1) & mask
  }
}

/** FNV-1a over 32-bit words: finds a damaged or truncated asset, no defence against intent. */
export function checksumOf(words: Int32Array): number {
  let hash = 0x811c_9dc5
  for (let i = 0; i < words.length; i += 1)
    hash = Math.imul(hash ^ (words[i] as number), 0x0100_0193)
  return hash >>> 0
}

/** Opens an asset that `buildDictionary` made. Throws AppError 'corrupt' for anything else. */
export function openDictionary(bytes: ArrayBufferLike): Dictionary {
  const fail = (why: string): never => {
    throw new AppError('corrupt', `The dictionary asset ${why}.`)
  }
  if (bytes.byteLength < HEADER_WORDS * 4 || bytes.byteLength % 4 !== 0) fail('is cut off')
  const header = new Int32Array(bytes, 0, HEADER_WORDS)
  const [magic, version, checksum = 0, size = 0, words = 0, unknown = 0] = header
  if (magic !== MAGIC) fail('has a strange beginning')
  if (version !== dictionaryVersion) fail(`has version ${version}, not ${dictionaryVersion}`)
  const expected = (HEADER_WORDS + TABLE_WORDS + size * 2) * 4
  if (size < 2 || (size & (size - 1)) !== 0 || bytes.byteLength !== expected) fail('is cut off')
  if (checksumOf(new Int32Array(bytes, HEADER_WORDS * 4)) !== checksum >>> 0) fail('is damaged')
  const simplified = new Uint16Array(bytes, HEADER_WORDS * 4, TABLE_WORDS * 2)
  const cells = new Int32Array(bytes, (HEADER_WORDS + TABLE_WORDS) * 4)
  return {
    checksum: checksum >>> 0,
    words,
    simplified,
    cut: createCut(cells, size - 1, unknown),
    weight: (word) => weightOf(cells, size - 1, word),
  }
}

function weightOf(cells: Int32Array, mask: number, word: string): number | null {
  let state = ROOT
  for (let i = 0; i < word.length; i += 1) {
    state = findCell(cells, mask, state, word.charCodeAt(i))
    if (cells[state * 2] === 0) return null
  }
  const weight = state === ROOT ? 0 : (cells[state * 2 + 1] as number) >>> 16
  return weight === 0 ? null : weight / WEIGHT_SCALE
}

function createCut(cells: Int32Array, mask: number, unknown: number): Dictionary['cut'] {
  const cost = new Float64Array(PIECE_UNITS_MAX + 1)
  const ends = new Uint16Array(PIECE_UNITS_MAX)
  const ids = new Int32Array(PIECE_UNITS_MAX)
  /* Cells of the words of two and of three characters that start at a place; -1 = none. */
  const pairs = new Int32Array(PIECE_UNITS_MAX)
  const triples = new Int32Array(PIECE_UNITS_MAX)

  /** From the last character to the first: the cheapest way from here to the end of the piece. */
  function weigh(run: string, from: number, size: number): void {
    cost[size] = 0
    for (let i = size - 1; i >= 0; i -= 1) {
      const alone = isPair(run, from + i) && i + 2 <= size ? i + 2 : i + 1
      let [best, end, id, state] = [unknown + (cost[alone] as number), alone, -1, ROOT]
      pairs[i] = triples[i] = -1
      for (let j = i; j < size; j += 1) {
        state = findCell(cells, mask, state, run.charCodeAt(from + j))
        if (cells[state * 2] === 0) break
        const weight = (cells[state * 2 + 1] as number) >>> 16
        if (weight === 0) continue
        if (j === i + 1) pairs[i] = state
        if (j === i + 2) triples[i] = state
        const total = weight + (cost[j + 1] as number)
        if (total < best || id === -1) [best, end, id] = [total, j + 1, state]
      }
      cost[i] = best
      ends[i] = end
      ids[i] = id
    }
  }

  function useParts(
    of: Int32Array,
    size: number,
    from: number,
    i: number,
    end: number,
    use: UseWord,
  ) {
    for (let a = i; a + size <= end; a += 1) {
      if (of[a] !== -1) use(from + a, from + a + size, of[a] as number, true)
    }
  }

  return (run, use) => {
    for (let from = 0; from < run.length;) {
      let size = Math.min(PIECE_UNITS_MAX, run.length - from)
      if (from + size < run.length && isPair(run, from + size - 1)) size -= 1
      weigh(run, from, size)
      for (let i = 0; i < size;) {
        const end = ends[i] as number
        if (end - i > 2) useParts(pairs, 2, from, i, end, use)
        if (end - i > 3) useParts(triples, 3, from, i, end, use)
        use(from + i, from + end, ids[i] as number, false)
        i = end
      }
      from += size
    }
  }
}

const isPair = (text: string, i: number): boolean =>
  (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
