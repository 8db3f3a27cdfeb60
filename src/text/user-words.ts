/** Words of the user's own over the dictionary: reads their file, cuts runs by them first. Pure. */
import { createHash } from 'node:crypto'
import type { Dictionary, UseWord } from './dictionary.ts'
import { foldText } from './normalize.ts'
import { analyzerVersion } from './tokenize.ts'

export const userWordsMax = 50_000
/** Units of one word. */
export const userWordUnitsMax = 32

const hanOnly = /^\p{Script=Han}{2,}$/u

/** `words`: folded, distinct, in order. Lines that are no word are told with their numbers and left out. */
export type UserWords = { words: readonly string[]; problems: string[] }

export const noUserWords: UserWords = { words: [], problems: [] }

/** One word a line; `#` begins a comment. Only Han is cut by words: other scripts have their borders already. */
export function parseUserWords(text: string): UserWords {
  const words = new Set<string>()
  const problems: string[] = []
  for (const [i, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const word = foldText(line.replace(/(?:^|\s)#.*$/, '').trim())
    if (word === '') continue
    const complain = (why: string): void => void problems.push(`line ${i + 1}: ${why}`)
    if (!hanOnly.test(word)) complain('a word is two Chinese characters or more, and nothing else')
    else if (word.length > userWordUnitsMax)
      complain(`a word of more than ${userWordUnitsMax} characters`)
    else if (words.size === userWordsMax && !words.has(word)) {
      complain(`more than ${userWordsMax} words; this and later ones are left out`)
      break
    } else words.add(word)
  }
  return { words: [...words].toSorted(), problems }
}

/** What an analyzer is told apart by: terms of different keys do not meet. The bare version where there are no words. */
export const analyzerKey = (words: readonly string[]): string =>
  words.length === 0
    ? String(analyzerVersion)
    : `${analyzerVersion}+${createHash('sha256').update(words.join('\n')).digest('hex').slice(0, 16)}`

/** The beginnings of all words: a run without any of them is cut as before. */
export const beginningsOf = (words: readonly string[]): ReadonlySet<string> =>
  new Set(words.map((word) => firstTwo(word)))

const firstTwo = (word: string): string => {
  const [first = '', second = ''] = word
  return first + second
}

/**
 * The dictionary with words over it: from left to right the longest of them is taken wherever one stands, and what lies between is cut
 * as ever. In search mode a word of three characters or more is preceded by what the dictionary makes of it, as its parts.
 */
export function withUserWords(dictionary: Dictionary, words: readonly string[]): Dictionary {
  if (words.length === 0) return dictionary
  /** By their first two units: all their lengths, longest first. */
  const lengths = new Map<string, number[]>()
  const known = new Set(words)
  for (const word of known) {
    const start = word.slice(0, 2)
    const all = lengths.get(start)
    if (all === undefined) lengths.set(start, [word.length])
    else if (!all.includes(word.length)) all.push(word.length)
  }
  for (const all of lengths.values()) all.sort((a, b) => b - a)

  const endOfWord = (run: string, at: number): number => {
    for (const length of lengths.get(run.slice(at, at + 2)) ?? []) {
      const end = at + length
      if (end <= run.length && known.has(run.slice(at, end))) return end
    }
    return -1
  }
  const cutBetween = (run: string, from: number, to: number, use: UseWord): void => {
    if (from === to) return
    dictionary.cut(run.slice(from, to), (a, b, id, isPart) => use(from + a, from + b, id, isPart))
  }
  const useParts = (run: string, from: number, to: number, use: UseWord): void => {
    dictionary.cut(run.slice(from, to), (a, b, id) => {
      const isWhole = b - a === to - from
      // A single character is in the second term space already.
      if (!isWhole && b - a > 1) use(from + a, from + b, id, true)
    })
  }
  return {
    ...dictionary,
    cut(run, use) {
      let from = 0
      for (let at = 0; at < run.length;) {
        const end = endOfWord(run, at)
        if (end < 0) {
          at += 1
          continue
        }
        cutBetween(run, from, at, use)
        if (end - at > 2) useParts(run, at, end, use)
        // No number of the dictionary's: those belong to its own words.
        use(at, end, -1, false)
        from = at = end
      }
      cutBetween(run, from, run.length, use)
    },
  }
}
