/** Cuts folded text into runs of one script, character class by character class. Knows no word and no dictionary. */

/* Classes; 0 = not looked at yet. DIGIT joins any alphabet; MARK continues whatever it stands in. */
const SEPARATOR = 1
const MARK = 2
const DIGIT = 3
const LATIN = 4
const GREEK = 5
const CYRILLIC = 6
const ALPHABETIC = 7
const HAN = 8
const HIRAGANA = 9
const KATAKANA = 10
const HANGUL = 11
/** Thai, Lao, Khmer, Burmese: no blanks between words. */
const UNSPACED = 12

/** What a run is made of: a word of an alphabet (with its connectors), Han, or another script that is matched by pairs of characters. */
export type RunKind = 'word' | 'han' | 'pairs'

/** Units [start, end) of the text. */
export type UseRun = (start: number, end: number, kind: RunKind) => void

/** First character of a term of the second term space, which no word begins with. */
export const BIGRAM_PREFIX = ' '

const SCRIPTS: readonly (readonly [RegExp, number])[] = [
  [/\p{Script=Han}/u, HAN],
  [/\p{Script=Hiragana}/u, HIRAGANA],
  [/[\p{Script=Katakana}\u30fc]/u, KATAKANA],
  [/\p{Script=Hangul}/u, HANGUL],
  [/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u, UNSPACED],
  [/\p{M}/u, MARK],
  [/\p{N}/u, DIGIT],
  [/(?=\p{L})\p{Script=Latin}/u, LATIN],
  [/(?=\p{L})\p{Script=Greek}/u, GREEK],
  [/(?=\p{L})\p{Script=Cyrillic}/u, CYRILLIC],
  [/\p{L}/u, ALPHABETIC],
]

const classes = new Uint8Array(65_536)

const APOSTROPHE = 0x27
const COMMA = 0x2c
const DOT = 0x2e
const AT = 0x40
const UNDERSCORE = 0x5f
const PLUS = 0x2b
const HASH = 0x23
const PROLONGED_SOUND = 0x30fc

/**
 * Calls `use` for each run of `text` (as `foldText` or `foldCase` makes it), in order, nothing overlapping. A word
 * takes connectors along that stand between its letters (o'clock, node.js, a_b, me@here.org, 1,000), a leading dot
 * (.NET) and a trailing ++ or # (C++, C#); splitting those is the caller's task. Linear.
 */
export function eachRun(text: string, use: UseRun): void {
  for (let i = 0; i < text.length;) i = useRunAt(text, i, use)
}

/** Behind what stands at `i`: a run, which is used, or a character that is in none. For callers that come from the beginning, as `eachRun` does. */
export function useRunAt(text: string, i: number, use: UseRun): number {
  const kind = classAt(text, i)
  if (kind <= MARK) return i + 1
  const end = kind <= ALPHABETIC ? endOfWord(text, i, kind) : endOfScript(text, i, kind)
  if (kind === HAN) use(i, end, 'han')
  else if (kind > HAN) use(i, end, 'pairs')
  else use(hasLeadingDot(text, i, kind) ? i - 1 : i, end, 'word')
  return end
}

/** Whether a term is made of characters of scripts without an alphabet, in either term space. */
export const isCharTerm = (term: string): boolean =>
  classAt(term, term.startsWith(BIGRAM_PREFIX) ? 1 : 0) >= HAN

/**
 * The second term space, which leaves no string of these scripts unfindable: every single character of `run`, and for
 * Han every two neighbours (the other scripts have those as words). Behind BIGRAM_PREFIX in the index.
 */
export function eachSecondTerm(
  run: string,
  kind: RunKind,
  use: (start: number, end: number, isPair: boolean) => void,
): void {
  let previous = -1
  for (let i = 0; i < run.length;) {
    const end = i + characterLength(run, i)
    use(i, end, false)
    if (kind === 'han' && previous >= 0) use(previous, end, true)
    previous = i
    i = end
  }
}

/** What stands for words in scripts without a dictionary: every two neighbours, or the character that is alone. */
export function eachPairWord(run: string, use: (start: number, end: number) => void): void {
  let start = 0
  let middle = characterLength(run, 0)
  if (middle >= run.length) return use(0, run.length)
  while (middle < run.length) {
    const end = middle + characterLength(run, middle)
    use(start, end)
    start = middle
    middle = end
  }
}

const characterLength = (text: string, i: number): number =>
  (text.codePointAt(i) as number) > 0xffff ? 2 : 1

function endOfScript(text: string, start: number, kind: number): number {
  let i = start + 1
  while (i < text.length) {
    const next = classAt(text, i)
    if (next !== kind && next !== MARK && text.charCodeAt(i) !== PROLONGED_SOUND) break
    i += 1
  }
  return i
}

function endOfWord(text: string, start: number, first: number): number {
  let script = first
  let i = start + 1
  for (;;) {
    const kind = classAt(text, i)
    const at = kind === SEPARATOR && isConnector(text, i) ? i + 1 : i
    const next = at === i ? kind : classAt(text, at)
    if (next === DIGIT || next === script || (next === MARK && at === i)) {
      i = at + 1
    } else if (script === DIGIT && next > DIGIT && next <= ALPHABETIC) {
      script = next
      i = at + 1
    } else break
  }
  return i + suffixLength(text, i)
}

function isConnector(text: string, i: number): boolean {
  const unit = text.charCodeAt(i)
  if (unit === COMMA) return classAt(text, i - 1) === DIGIT && classAt(text, i + 1) === DIGIT
  return unit === DOT || unit === APOSTROPHE || unit === UNDERSCORE || unit === AT
}

/** Of "++" and "#" where nothing follows that would make them something else. */
function suffixLength(text: string, i: number): number {
  const unit = text.charCodeAt(i)
  const length = unit === HASH ? 1 : unit === PLUS && text.charCodeAt(i + 1) === PLUS ? 2 : 0
  const after = text.charCodeAt(i + length)
  const isOpen = after === HASH || after === PLUS || classAt(text, i + length) > MARK
  return length > 0 && !isOpen ? length : 0
}

function hasLeadingDot(text: string, i: number, kind: number): boolean {
  if (kind === DIGIT || text.charCodeAt(i - 1) !== DOT) return false
  return text.charCodeAt(i - 2) !== DOT && classAt(text, i - 2) <= MARK
}

/** SEPARATOR outside of the text. */
function classAt(text: string, i: number): number {
  if (i < 0 || i >= text.length) return SEPARATOR
  const unit = text.charCodeAt(i)
  return (classes[unit] as number) || (classes[unit] = classify(unit))
}

function classify(unit: number): number {
  /* Halves of pairs, without looking at the other half: planes 2 and 3 are Han, symbols and emoji (D83C to D83E) are nothing to search for. */
  if (unit >= 0xd840 && unit <= 0xd8bf) return HAN
  if (unit >= 0xd800 && unit <= 0xd83b) return ALPHABETIC
  if (unit >= 0xdc00 && unit <= 0xdfff) return MARK
  const char = String.fromCharCode(unit)
  return SCRIPTS.find(([pattern]) => pattern.test(char))?.[1] ?? SEPARATOR
}
