/** The runs of a folded text, where most words are plain ones of ASCII: found and hashed in one go, and no string is made of them. */
import { type UseRun, useRunAt } from './characters.ts'
import { TERM_UNITS_MAX } from './words.ts'

/**
 * Units [start, end) of the text are a word as `isSimple` means it: small letters behind any first one, or digits.
 * @param hash `hashOf` it
 */
export type UsePlainWord = (text: string, start: number, end: number, hash: number) => void

const OTHER = 0
const GAP = 1
/** Between letters they join them to one word: . ' _ @ */
const CONNECTOR = 2
/** Between digits. */
const COMMA = 3
/** Behind a word they may be of it: C++, C# */
const SUFFIX = 4
const SMALL = 5
const CAPITAL = 6
const DIGIT = 7

const ASCII = 128
const DOT = 0x2e
const CASE = 0x20
/** FNV-1a. */
const HASH_START = 0x811c9dc5
const HASH_FACTOR = 0x01000193

const kinds = Uint8Array.from({ length: ASCII }, (_, unit) => {
  const char = String.fromCharCode(unit)
  if (/[a-z]/.test(char)) return SMALL
  if (/[A-Z]/.test(char)) return CAPITAL
  if (/\d/.test(char)) return DIGIT
  if (/[.'_@]/.test(char)) return CONNECTOR
  if (/[+#]/.test(char)) return SUFFIX
  return char === ',' ? COMMA : GAP
})

const kindAt = (text: string, i: number): number => {
  if (i >= text.length) return GAP
  const unit = text.charCodeAt(i)
  return unit < ASCII ? (kinds[unit] as number) : OTHER
}

/** Of a plain word in small letters, whatever its first one was. */
export function hashOf(text: string, start: number, end: number): number {
  let hash = Math.imul(HASH_START ^ (text.charCodeAt(start) | CASE), HASH_FACTOR)
  for (let i = start + 1; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), HASH_FACTOR)
  return hash ^ (hash >>> 15)
}

/** As `eachRun`, in the same order, but for plain words. A few of these may come as runs too. */
export function eachPlainWord(text: string, usePlain: UsePlainWord, use: UseRun): void {
  const { length } = text
  for (let i = 0; i < length;) {
    const first = text.charCodeAt(i)
    const kind = first < ASCII ? (kinds[first] as number) : OTHER
    if (kind < SMALL) {
      i = kind === OTHER ? useRunAt(text, i, use) : i + 1
      continue
    }
    const inner = kind === DIGIT ? DIGIT : SMALL
    let hash = Math.imul(HASH_START ^ (first | CASE), HASH_FACTOR)
    let end = i + 1
    let next = GAP
    for (; end < length; end += 1) {
      const unit = text.charCodeAt(end)
      next = unit < ASCII ? (kinds[unit] as number) : OTHER
      if (next !== inner) break
      hash = Math.imul(hash ^ unit, HASH_FACTOR)
    }
    if (end === length) next = GAP
    const mayJoin = next === CONNECTOR || (next === COMMA && kind === DIGIT)
    if (mayJoin && !isJoining(kindAt(text, end + 1))) next = GAP
    const isOver = next === GAP || (next === COMMA && kind !== DIGIT)
    // A dot before it may be of it: .NET
    if (isOver && end - i <= TERM_UNITS_MAX && (i === 0 || text.charCodeAt(i - 1) !== DOT)) {
      usePlain(text, i, end, hash ^ (hash >>> 15))
      i = end
    } else i = useRunAt(text, i, use)
  }
}

/** Whether what follows a connector may be of the same word. */
const isJoining = (kind: number): boolean => kind === OTHER || kind >= SMALL
