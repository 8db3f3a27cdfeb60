/** Builds the packed dictionary from jieba's word list: at build time, and at the first start in development. Reads no file itself. */
import assert from 'node:assert/strict'
import {
  checksumOf,
  dictionaryVersion,
  findCell,
  HAN_FIRST,
  HAN_LAST,
  HEADER_WORDS,
  MAGIC,
  ROOT,
  TABLE_WORDS,
  WEIGHT_SCALE,
} from './dictionary.ts'

export { dictionaryVersion }

/** Share of the cells in use, at most: above it the probes of a failing look-up grow long. */
const LOAD_MAX = 0.6
const HAN_WORD = /^[\u3400-\u9fff]+$/

/**
 * `jiebaDict`: lines "word count tag" (@node-rs/jieba/dict.txt). `toSimplified` turns traditional characters of a
 * text into simplified ones (opencc-js, from 't' to 'cn'). Words are folded first and equal ones added up; words with
 * other than Han characters are left out, for only runs of Han are cut. Same input, same bytes.
 */
export function buildDictionary(
  jiebaDict: string,
  toSimplified: (text: string) => string,
): Uint8Array<ArrayBuffer> {
  const simplified = simplifiedUnits(toSimplified)
  const { counts, total } = readWords(jiebaDict, simplified)
  const head = HEADER_WORDS + TABLE_WORDS
  let size = 2 ** Math.ceil(Math.log2(Math.max(16, counts.size / LOAD_MAX)))
  let image = new Int32Array(head + size * 2)
  while (!fill(image.subarray(head), size - 1, size * LOAD_MAX, counts, total)) {
    size *= 2 // more beginnings of words than words
    image = new Int32Array(head + size * 2)
  }
  new Uint16Array(image.buffer, HEADER_WORDS * 4, simplified.length).set(simplified)
  const unknown = Math.round(Math.log(Math.max(2, total)) * WEIGHT_SCALE)
  image.set([MAGIC, dictionaryVersion, 0, size, counts.size, unknown])
  image[2] = checksumOf(image.subarray(HEADER_WORDS))
  return new Uint8Array(image.buffer)
}

/** One character at a time, until nothing changes any more: folding twice must be folding once. */
function simplifiedUnits(toSimplified: (text: string) => string): Uint16Array {
  const units = Uint16Array.from({ length: HAN_LAST - HAN_FIRST + 1 }, (_, i) => HAN_FIRST + i)
  const lines = toSimplified(
    Array.from(units, (unit) => String.fromCharCode(unit)).join('\n'),
  ).split('\n')
  assert(lines.length === units.length, 'toSimplified keeps line feeds')
  const direct = units.map((unit, i) => {
    const to = lines[i] as string
    return to.length === 1 && HAN_WORD.test(to) ? to.charCodeAt(0) : unit
  })
  return direct.map((unit) => {
    let to = unit
    for (let step = 0; step < 4; step += 1) to = direct[to - HAN_FIRST] as number
    return to
  })
}

function readWords(jiebaDict: string, simplified: Uint16Array) {
  const counts = new Map<string, number>()
  let total = 0
  for (const line of jiebaDict.split('\n')) {
    const space = line.indexOf(' ')
    const word = fold(space < 0 ? line.trim() : line.slice(0, space), simplified)
    if (!HAN_WORD.test(word)) continue
    const count = space < 0 ? 1 : Math.max(1, Number.parseInt(line.slice(space + 1), 10) || 1)
    counts.set(word, (counts.get(word) ?? 0) + count)
    total += count
  }
  return { counts, total }
}

function fold(word: string, simplified: Uint16Array): string {
  let folded = ''
  for (let i = 0; i < word.length; i += 1) {
    const unit = word.charCodeAt(i)
    const isHan = unit >= HAN_FIRST && unit <= HAN_LAST
    folded += String.fromCharCode(isHan ? (simplified[unit - HAN_FIRST] as number) : unit)
  }
  return folded
}

/** False where the cells would get too full: then nothing in them is of use. */
function fill(
  cells: Int32Array,
  mask: number,
  usedMax: number,
  counts: ReadonlyMap<string, number>,
  total: number,
): boolean {
  let used = 0
  for (const [word, count] of counts) {
    let cell = ROOT
    for (let i = 0; i < word.length; i += 1) {
      const parent = cell
      cell = findCell(cells, mask, parent, word.charCodeAt(i))
      if (cells[cell * 2] !== 0) continue
      if (used >= usedMax) return false
      used += 1
      cells[cell * 2] = parent + 2
      cells[cell * 2 + 1] = word.charCodeAt(i)
    }
    const weight = Math.round((Math.log(total) - Math.log(count)) * WEIGHT_SCALE)
    const high = Math.min(0xffff, Math.max(1, weight))
    cells[cell * 2 + 1] = (cells[cell * 2 + 1] as number) | (high << 16)
  }
  return true
}
