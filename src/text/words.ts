/** Takes one word of an alphabet apart: possessives, contractions, identifiers, numbers, addresses. Does not stem. */
import { foldText } from './normalize.ts'

/** Forms are folded; units [start, end) of the raw word. */
export type WordPart = { form: string; start: number; end: number }

/** `whole` = null where only the parts count. `parts` are empty for a plain word. */
export type SplitWord = { whole: WordPart | null; parts: WordPart[] }

/** A longer term is cut: nobody types it, and the index stores it. */
export const TERM_UNITS_MAX = 64
/** A longer compound is only its parts. */
const COMPOUND_UNITS_MAX = 128

const PLAIN = /^[\p{L}\p{N}\p{M}]+$/u
const PLAIN_CASE = /^\p{L}?[^\p{Lu}]*$|^\p{Lu}+$/u
const CONTRACTION = /'(?:s|re|ve|ll|d|m)$/i
const NEGATION = /^\p{L}+n't$/iu
const GROUPED_NUMBER = /^\p{N}{1,3}(?:,\p{N}{3})+(?:\.\p{N}+)?$/u
const ACRONYM = /^(?:\p{L}\.)+\p{L}$/u
const PIECE = /[\p{L}\p{N}\p{M}]+/gu
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** `raw` is a run that `eachRun` called a word, case kept. Linear in its length. */
export function splitWord(raw: string): SplitWord {
  if (isSimple(raw, 0, raw.length)) {
    return { whole: { form: raw.toLowerCase(), start: 0, end: raw.length }, parts: [] }
  }
  if (PLAIN.test(raw)) return { whole: part(raw, 0, raw.length), parts: humps(raw, 0) }
  const contraction = CONTRACTION.exec(raw.slice(-3))
  const word = contraction ? raw.slice(0, raw.length - contraction[0].length) : raw
  if (contraction && PLAIN.test(word)) {
    return { whole: part(word, 0, word.length), parts: humps(word, 0) }
  }
  if (word.length > COMPOUND_UNITS_MAX) return { whole: null, parts: pieces(word) }
  const joined = { start: 0, end: word.length }
  if (NEGATION.test(word) || ACRONYM.test(word) || GROUPED_NUMBER.test(word)) {
    return {
      whole: { form: foldText(word.replace(/['.,](?!\p{N}+$)|[',]/gu, '')), ...joined },
      parts: [],
    }
  }
  if (word.includes(',')) return { whole: null, parts: pieces(word) }
  if (word.includes("'")) {
    const parts = pieces(word).filter(({ form }) => form.length > 1)
    return {
      whole: { form: foldText(word.replaceAll("'", '')).slice(0, TERM_UNITS_MAX), ...joined },
      parts,
    }
  }
  const sides = word.includes('@') ? addressSides(word) : []
  const whole = word.length > TERM_UNITS_MAX ? null : part(word, 0, word.length)
  const parts = sides
  for (const piece of pieces(word)) {
    parts.push(piece)
    const inner = humps(word.slice(piece.start, piece.end), piece.start)
    if (inner.length > 0) parts.push(...inner)
  }
  return { whole, parts }
}

/**
 * Most words: small letters of ASCII behind any first one, or digits. `splitWord` would say the same of units [start, end) without it,
 * slower: one form and no parts.
 */
export function isSimple(text: string, start: number, end: number): boolean {
  if (end - start > TERM_UNITS_MAX) return false
  const first = text.charCodeAt(start)
  if (isDigit(first)) {
    for (let i = start + 1; i < end; i += 1) if (!isDigit(text.charCodeAt(i))) return false
    return true
  }
  if (!isSmall(first | 0x20)) return false
  for (let i = start + 1; i < end; i += 1) if (!isSmall(text.charCodeAt(i))) return false
  return true
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39
const isSmall = (unit: number): boolean => unit >= 0x61 && unit <= 0x7a

function part(raw: string, start: number, end: number): WordPart {
  return { form: foldText(raw.slice(start, Math.min(end, start + TERM_UNITS_MAX))), start, end }
}

function pieces(word: string): WordPart[] {
  if (isAscii(word)) return asciiPieces(word)
  return Array.from(word.matchAll(PIECE), ({ 0: piece, index }) =>
    part(word, index, index + piece.length),
  )
}

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

/** What the pattern finds, without an iterator and a match for each: nearly all compounds are names in programs. */
function asciiPieces(word: string): WordPart[] {
  const found: WordPart[] = []
  let start = -1
  for (let i = 0; i <= word.length; i += 1) {
    const unit = i < word.length ? word.charCodeAt(i) : 0
    if (isDigit(unit) || isSmall(unit | 0x20)) {
      if (start < 0) start = i
    } else if (start >= 0) {
      found.push(part(word, start, i))
      start = -1
    }
  }
  return found
}

/** No capital of ASCII behind the first letter, and nothing else: surely no camelCase. */
function hasNoHump(word: string): boolean {
  if (!isSmall(word.charCodeAt(0) | 0x20)) return false
  for (let i = 1; i < word.length; i += 1) {
    const unit = word.charCodeAt(i)
    if (!isSmall(unit) && !isDigit(unit)) return false
  }
  return true
}

/** Parts of camelCase; a name with one odd letter (iPhone, PhD) is left whole. */
function humps(word: string, offset: number): WordPart[] {
  if (word.length > COMPOUND_UNITS_MAX || hasNoHump(word) || PLAIN_CASE.test(word)) return []
  let start = 0
  const parts: WordPart[] = []
  for (const hump of word.split(HUMP)) {
    if (hump.length > 1) {
      parts.push({
        ...part(word, start, start + hump.length),
        start: offset + start,
        end: offset + start + hump.length,
      })
    }
    start += hump.length
  }
  return parts.length > 1 ? parts : []
}

/** Name and domain of an e-mail address, where they have parts themselves. */
function addressSides(word: string): WordPart[] {
  const at = word.indexOf('@')
  const sides = [part(word, 0, at), part(word, at + 1, word.length)]
  return sides.filter(({ form }) => form.includes('.') || form.includes('_'))
}
