/** Corrections of words that no page holds: terms of the index within one or two edits, the nearest and most frequent first. Latin letters only. */
import type { IndexReader } from './index.ts'

/** Shorter words have too many neighbours. */
const lettersMin = 4
/** From so many letters on two edits are allowed. */
const twoEditsLettersMin = 8
const termsLookedAtMax = 20_000
/** A word of a page or two may be a mistake itself: it is corrected only to one that is so many times as frequent. */
const timesMoreFrequent = 20

export type Correction = { term: string; documents: number }

export const isCorrectable = (word: string): boolean =>
  word.length >= lettersMin && /^[a-z]+$/.test(word)

/** @param word folded, as typed or stemmed; @param frequency documents that hold it */
export function correctionOf(
  word: string,
  frequency: number,
  index: Pick<IndexReader, 'complete'>,
): Correction | null {
  if (!isCorrectable(word)) return null
  const editsMax = word.length >= twoEditsLettersMin ? 2 : 1
  let best: (Correction & { edits: number }) | null = null
  // Of letters of ASCII, as the word is: a byte each.
  const length = { min: word.length - editsMax, max: word.length + editsMax }
  const seen = new Set<string>()
  for (const prefix of beginnings(word))
    for (const { term, documents } of index.complete(prefix, termsLookedAtMax, length)) {
      if (seen.has(term)) continue
      seen.add(term)
      if (term === word || !/^[a-z]+$/.test(term)) continue
      if (documents < Math.max(1, frequency * timesMoreFrequent)) continue
      const edits = editDistance(word, term, editsMax)
      if (edits > editsMax) continue
      const isBetter =
        best === null || edits < best.edits || (edits === best.edits && documents > best.documents)
      if (isBetter) best = { term, documents, edits }
    }
  return best && { term: best.term, documents: best.documents }
}

/** How a correct word may begin where one of the first letters is wrong, missing, too many or swapped; the likely ones first. */
const beginnings = (word: string): Set<string> => {
  const [a = '', b = '', c = ''] = word
  return new Set([a + b + c, a + b, b + a, a + c, b + c, a])
}

/**
 * Damerau-Levenshtein in the restricted form (no substring is edited twice); anything above `max` is `max` + 1.
 * O(length x max).
 */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1
  if (b.length >= rows[0].length) rows = newRows(2 * b.length)
  let [before, last, row] = rows
  for (let j = 0; j <= b.length; j += 1) last[j] = j
  for (let i = 1; i <= a.length; i += 1) {
    const from = Math.max(1, i - max)
    const to = Math.min(b.length, i + max)
    const unit = a.charCodeAt(i - 1)
    const unitBefore = i > 1 ? a.charCodeAt(i - 2) : -1
    // Beside the band all is too far.
    row[from - 1] = from === 1 ? i : max + 1
    if (to < b.length) row[to + 1] = max + 1
    let least = i
    for (let j = from; j <= to; j += 1) {
      const other = b.charCodeAt(j - 1)
      let cost = (last[j - 1] as number) + (unit === other ? 0 : 1)
      cost = Math.min(cost, (last[j] as number) + 1, (row[j - 1] as number) + 1)
      if (j > 1 && unit === b.charCodeAt(j - 2) && unitBefore === other)
        cost = Math.min(cost, (before[j - 2] as number) + 1)
      row[j] = cost
      if (cost < least) least = cost
    }
    if (least > max) return max + 1
    ;[before, last, row] = [last, row, before]
  }
  return Math.min(max + 1, last[b.length] as number)
}

type Row = Uint16Array<ArrayBuffer>
const newRows = (length: number): [Row, Row, Row] => [
  new Uint16Array(length),
  new Uint16Array(length),
  new Uint16Array(length),
]
/** Used again: thousands of words are compared for one. */
let rows = newRows(128)
