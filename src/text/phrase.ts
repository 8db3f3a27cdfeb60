/** Phrases: whether one stands in a text, and the neighbouring words that tell by postings where it may stand. Pure. */
import { mix32 } from '../lib/hash.ts'
import { foldText } from './normalize.ts'

/** A phrase as it is looked for: folded stretches of letters, between which anything else may stand. */
export type Phrase = { chunks: readonly string[] }

/* Classes of units. Surrogates are told by their code point. */
const SEPARATOR = 1
/** Letters with blanks between words: there a phrase begins and ends at a border. */
const ALPHABETIC = 2
/** Han and others, where words need no border. */
const BLANKLESS = 3

const word = /[\p{L}\p{N}\p{M}+#]/u
const blankless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u

const classes = new Uint8Array(65_536)

/** SEPARATOR outside of the text. */
function classAt(text: string, i: number): number {
  if (i < 0 || i >= text.length) return SEPARATOR
  const unit = text.charCodeAt(i)
  if ((unit & 0xf800) === 0xd800) return classOfPair(text, i)
  return (classes[unit] as number) || (classes[unit] = classOf(text.charAt(i)))
}

/** Either half of a pair has the class of the whole. */
function classOfPair(text: string, i: number): number {
  const isLow = (text.charCodeAt(i) & 0xfc00) === 0xdc00
  return classOf(String.fromCodePoint(text.codePointAt(isLow && i > 0 ? i - 1 : i) as number))
}

function classOf(char: string): number {
  if (blankless.test(char)) return BLANKLESS
  return word.test(char) ? ALPHABETIC : SEPARATOR
}

/** null where the text has no letter to look for. */
export function phraseOf(text: string): Phrase | null {
  const folded = foldText(text)
  const chunks: string[] = []
  for (let i = 0; i < folded.length;) {
    let end = i
    while (end < folded.length && classAt(folded, end) !== SEPARATOR) end += 1
    if (end > i) chunks.push(folded.slice(i, end))
    i = end + 1
  }
  return chunks.length === 0 ? null : { chunks }
}

/** @param folded by foldText */
export function holdsPhrase(folded: string, { chunks }: Phrase): boolean {
  const first = chunks[0] as string
  for (let at = folded.indexOf(first); at >= 0; at = folded.indexOf(first, at + 1)) {
    if (!isBorder(folded, at)) continue
    let end = at + first.length
    for (let i = 1; i < chunks.length && end > 0; i += 1)
      end = endOfNext(folded, end, chunks[i] as string)
    if (end > 0 && isBorder(folded, end)) return true
  }
  return false
}

/** The end of the chunk where it follows behind separators, else -1. */
function endOfNext(text: string, from: number, chunk: string): number {
  let at = from
  while (at < text.length && classAt(text, at) === SEPARATOR) at += 1
  return at > from && text.startsWith(chunk, at) ? at + chunk.length : -1
}

/** Whether a phrase may begin or end at `at`: not within a word of an alphabet. */
const isBorder = (text: string, at: number): boolean =>
  classAt(text, at - 1) !== ALPHABETIC || classAt(text, at) !== ALPHABETIC

/** Of the number that stands for a pair of neighbouring words: one question in ten thousand meets another pair of the same number. */
export const pairBits = 32

/**
 * Calls `use` for every two neighbouring words of alphabets with nothing but separators between them; where a stretch holds Han as well,
 * its end or beginning in an alphabet counts. What a phrase has of these, every text has that holds the phrase. Linear.
 * @param folded by foldText
 */
export function eachWordPair(folded: string, use: (pair: number) => void): void {
  let before = 0
  for (let i = 0; i < folded.length;) {
    if (classAt(folded, i) === SEPARATOR) {
      i += 1
      continue
    }
    let first = 0
    let hash = 0
    let isFirst = true
    for (; i < folded.length; i += 1) {
      const kind = classAt(folded, i)
      if (kind === ALPHABETIC) {
        hash = Math.imul((hash || seedOfWord) ^ folded.charCodeAt(i), 0x0100_0193)
        if (isFirst) first = hash
      } else if (kind === BLANKLESS) {
        isFirst = false
        hash = 0
      } else break
    }
    if (before !== 0 && first !== 0) use(pairOf(before, first))
    before = hash
  }
}

/* FNV-1a; a hash of 0 stands for no word, and one word in four milliards has none: its pairs are missing on both sides. */
const seedOfWord = 0x811c_9dc5

const pairOf = (first: number, second: number): number =>
  mix32(Math.imul(first, 0x85eb_ca6b) + second)

/** Whether the phrase is two words of alphabets, so that to hold it is to have its pair. */
export const isTwoWords = ({ chunks }: Phrase): boolean =>
  chunks.length === 2 && chunks.every((chunk) => isAlphabetic(chunk))

function isAlphabetic(chunk: string): boolean {
  for (let i = 0; i < chunk.length; i += 1) if (classAt(chunk, i) !== ALPHABETIC) return false
  return true
}

/** The pairs of a phrase, each once. */
export function pairsOfPhrase(text: string): number[] {
  const pairs = new Set<number>()
  eachWordPair(foldText(text), (pair) => pairs.add(pair))
  return [...pairs]
}
