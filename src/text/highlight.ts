/** Marks query terms in a text and picks the passage to show. Escaping for HTML is the reader's task. */
import type { Analyzer, Token } from './tokenize.ts'

/** UTF-16 units [start, end). */
export type TextRange = readonly [start: number, end: number]

export type Snippet = { text: string; ranges: TextRange[] }

/** What is looked at of a text, in UTF-16 units. */
export const HIGHLIGHT_UNITS_MAX = 100_000
/** A text is looked at in slices of about this size, until every term was found once. */
const SLICE_UNITS = 8_000
/** Share of a snippet that may stand before its first mark. */
const LEAD_SHARE = 0.35
/** A sentence that ends in the last part of the window ends the snippet. */
const FULL_SHARE = 0.75
const ELLIPSIS = '…'
/** A longer word is cut. */
const WORD_UNITS_MAX = 64

const LETTER = /[\p{L}\p{N}\p{M}]/u
const MARK = /\p{M}/u

/** Blanks that are not one blank or line feed already, which most are. */
const BLANKS = /[\s\u0085]{2,}|[^\S \n]|\u0085/gu
/** Control characters but the line feed, and those that turn the direction of what follows. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff](?<!\n)/gu
const SENTENCE_END = /[。！？!?…]["'”’」』）)]*|\.["'”’)]*(?= )|\n/gu
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u

/** Marks of `terms` (as `query` gives them, of both spaces) in `text`: sorted, none overlapping or touching another. */
export function highlightRanges(
  analyzer: Analyzer,
  text: string,
  terms: ReadonlySet<string>,
): TextRange[] {
  return terms.size === 0 ? [] : mergeRanges(analyzer.places(clip(text), terms))
}

/**
 * The passage of at most `columns` columns (a CJK character takes two) that holds most of `terms`, from a sentence's
 * beginning where one is near. Blanks are collapsed, control and bidirectional characters removed, left-out text is
 * shown by an ellipsis. Ranges refer to the returned text. The beginning of the text where no term is found.
 */
export function snippet(
  analyzer: Analyzer,
  text: string,
  terms: ReadonlySet<string>,
  columns: number,
): Snippet {
  const plain = cleanText(clip(text))
  const marks = terms.size === 0 ? [] : findMarks(analyzer, plain, terms)
  const width = measure(plain)
  const budget = Math.max(8, columns)
  const [from, to] = chooseWindow(plain, width, bestStretch(marks, width, budget), budget)
  const before = from > 0 && plain[from - 1] !== '\n' && !endsSentence(plain, from) ? ELLIPSIS : ''
  const after = to < plain.length ? ELLIPSIS : ''
  const body = plain.slice(from, to).trimEnd()
  const shift = before.length - from
  const ranges = mergeRanges(marks)
    .map(
      ([start, end]) =>
        [Math.max(start, from) + shift, Math.min(end, from + body.length) + shift] as const,
    )
    .filter(([start, end]) => start < end)
  return { text: before + body.replaceAll('\n', ' ') + after, ranges }
}

function clip(text: string): string {
  if (text.length <= HIGHLIGHT_UNITS_MAX) return text
  return text
    .slice(0, HIGHLIGHT_UNITS_MAX)
    .toWellFormed()
    .replace(/\ufffd$/, '')
}

/** Line feeds stay as borders of sentences, one unit wide like the blank they become in the end. */
function cleanText(text: string): string {
  return text
    .replace(BLANKS, (blanks) => (blanks.includes('\n') ? '\n' : ' '))
    .replace(UNSAFE, '')
    .toWellFormed()
    .trim()
}

function findMarks(analyzer: Analyzer, text: string, terms: ReadonlySet<string>): Token[] {
  const marks: Token[] = []
  const missing = new Set(terms)
  for (let from = 0; from < text.length && missing.size > 0;) {
    const to = sliceEnd(text, from)
    for (const { term, start, end } of analyzer.places(text.slice(from, to), terms)) {
      marks.push({ term, start: start + from, end: end + from })
      missing.delete(term)
    }
    from = to
  }
  return marks
}

/** A slice ends at a blank or line feed where there is one in its second half. */
function sliceEnd(text: string, from: number): number {
  const to = from + SLICE_UNITS
  if (to >= text.length) return text.length
  const border = Math.max(
    text.lastIndexOf('\n', to),
    text.lastIndexOf('。', to),
    text.lastIndexOf(' ', to),
  )
  if (border > from + SLICE_UNITS / 2) return border + 1
  return isLow(text, to) ? to - 1 : to
}

/** Columns before each unit; one more at the end. */
function measure(text: string): Uint32Array {
  if (!WIDE.test(text)) return narrow.subarray(0, text.length + 1)
  const columns = new Uint32Array(text.length + 1)
  for (let i = 0; i < text.length; i += 1)
    columns[i + 1] = (columns[i] as number) + widthOf(text, i)
  return columns
}

/** A column a unit. */
const narrow = Uint32Array.from({ length: HIGHLIGHT_UNITS_MAX + 1 }, (_, i) => i)

function widthOf(text: string, i: number): number {
  const unit = text.charCodeAt(i)
  if (unit < 0x1100) return 1
  if ((unit & 0xf800) === 0xd800) return isLow(text, i) ? 0 : 2
  let width = widths[unit] as number
  if (width === 0) width = widths[unit] = WIDE.test(text[i] as string) ? 2 : 1
  return width
}

/** Columns of a unit; 0 = not looked at yet. */
const widths = new Uint8Array(65_536)

/** First and last mark of the window with most distinct terms, then most marks, then the earliest. Two pointers: linear. */
function bestStretch(
  marks: readonly Token[],
  width: Uint32Array,
  columns: number,
): TextRange | null {
  const column = (unit: number) => width[unit] as number
  const inside = new Map<string, number>()
  let best: TextRange | null = null
  let bestScore = 0
  let first = 0
  for (const [last, mark] of marks.entries()) {
    inside.set(mark.term, (inside.get(mark.term) ?? 0) + 1)
    for (
      let head = marks[first] as Token;
      first < last && column(mark.end) - column(head.start) > columns * (1 - LEAD_SHARE / 2);
    ) {
      const left = (inside.get(head.term) as number) - 1
      if (left === 0) inside.delete(head.term)
      else inside.set(head.term, left)
      first += 1
      head = marks[first] as Token
    }
    const score = inside.size + Math.min(9, last - first) * 0.05
    if (score > bestScore) {
      bestScore = score
      best = [(marks[first] as Token).start, mark.end]
    }
  }
  return best
}

/** Units [from, to) to show around the stretch. */
function chooseWindow(
  text: string,
  width: Uint32Array,
  stretch: TextRange | null,
  columns: number,
): TextRange {
  const from = stretch ? chooseStart(text, width, stretch, columns) : 0
  const room = columns - (from > 0 ? 1 : 0)
  const limit = unitAt(width, (width[from] as number) + room)
  if (limit >= text.length) return [from, text.length]
  const end = unitAt(width, (width[from] as number) + room - 1)
  const full = from + Math.floor((end - from) * FULL_SHARE)
  const least = Math.max(full, Math.min(stretch ? stretch[1] : 0, end))
  const sentence = lastSentenceBorder(text.slice(least, end))
  if (sentence >= 0) return [from, least + sentence]
  return [from, wordBorder(text, end, Math.max(from, Math.min(stretch ? stretch[1] : 0, end)))]
}

function chooseStart(text: string, width: Uint32Array, [a, b]: TextRange, columns: number): number {
  const spare = columns - 2 - ((width[b] as number) - (width[a] as number))
  const earliest = unitAt(
    width,
    Math.max(0, (width[a] as number) - Math.max(0, Math.min(spare, columns * LEAD_SHARE))),
  )
  if (earliest === 0) return 0
  const sentence = lastSentenceBorder(text.slice(earliest, a))
  if (sentence >= 0) return skipBlank(text, earliest + sentence)
  let at = isLow(text, earliest) ? earliest - 1 : earliest
  while (at < a && isJoined(text, at)) at += 1
  while (at < a && !LETTER.test(text[at] as string)) at += 1 // no comma first
  return at
}

/** Right behind the last sentence that ends in `text`; -1 where none does. */
function lastSentenceBorder(text: string): number {
  let border = -1
  for (const { 0: end, index } of text.matchAll(SENTENCE_END)) border = index + end.length
  return border
}

function endsSentence(text: string, at: number): boolean {
  return /(?:[。！？!?…]["'”’」』）)]*|\.["'”’)]* |[!?]["'”’)]* )$/u.test(
    text.slice(Math.max(0, at - 4), at),
  )
}

const skipBlank = (text: string, at: number): number =>
  text[at] === ' ' || text[at] === '\n' ? at + 1 : at

/** `end`, or the beginning of the word of an alphabet or of the character that it would cut; never before `least`. */
function wordBorder(text: string, end: number, least: number): number {
  let at = end
  while (at > least && end - at < WORD_UNITS_MAX && isJoined(text, at)) at -= 1
  const border = isJoined(text, at) ? end : at
  return isLow(text, border) ? border - 1 : border
}

/** Whether the units before and at `at` belong together. */
function isJoined(text: string, at: number): boolean {
  const [before = ' ', after = ' '] = [text[at - 1], text[at]]
  if (MARK.test(after)) return true
  return LETTER.test(before) && LETTER.test(after) && !WIDE.test(before) && !WIDE.test(after)
}

/** The last unit that begins at or before `column`. */
function unitAt(width: Uint32Array, column: number): number {
  let low = 0
  let high = width.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((width[middle] as number) <= column) low = middle
    else high = middle - 1
  }
  return low
}

const isLow = (text: string, i: number): boolean => (text.charCodeAt(i) & 0xfc00) === 0xdc00

function mergeRanges(tokens: readonly Token[]): TextRange[] {
  const ranges: [number, number][] = []
  for (const { start, end } of tokens) {
    const last = ranges.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else ranges.push([start, end])
  }
  return ranges
}
