/** Folding: what counts as the same character for index, query, highlight and fingerprint. Knows no words. */
import { HAN_FIRST, HAN_LAST } from './dictionary.ts'
import { textTables } from './tables.ts'

/** Folded text with, for each of its UTF-16 units, the offset in the source of the character it came from; one more at the end = source length. */
export type FoldedText = { text: string; offsets: Uint32Array }

/** Longest character with its marks that is folded as one: Unicode's stream-safe limit, so that a million marks stay linear; further marks are dropped. */
const CLUSTER_UNITS_MAX = 32
/** Clusters of letter and marks that are remembered: Indic and pointed texts repeat a few hundred. */
const CLUSTERS_MAX = 2048
/** Output buffers above this many units are given back after use. */
const KEPT_UNITS_MAX = 65_536
/** Beyond what is asked for: most texts that grow in folding do so by little. */
const SPARE_UNITS = 1_024

/* What the table says about a unit; any other value is the folded unit itself (no folded unit is a control character). */
const UNSEEN = 0
const DROPPED = 1
const COMPLEX = 2
const CONTINUES = 3

const PLAIN_ASCII = /^[\t\n\r\x20-\x7e]*$/
const IGNORED = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const MARK = /\p{M}/u
const IGNORED_CHAR = /^[\p{Cf}\p{Default_Ignorable_Code_Point}]$/u
const CONTINUING = /[\p{M}\u1160-\u11ff\uff9e\uff9f\uffa0-\uffdc]/u
/** Marks that readers leave out when they type: accents of Latin and Greek, anything on Han, Arabic and Hebrew vowel points. */
const MARKS =
  /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Han}]\p{Mn}*)\p{Mn}|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]/gu

/** Letters that no normalisation form takes apart, in the spelling people type without them. */
const SPELLED: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  ħ: 'h',
  Ħ: 'H',
  ł: 'l',
  Ł: 'L',
  þ: 'th',
  Þ: 'TH',
  ŧ: 't',
  Ŧ: 'T',
  ŋ: 'n',
  Ŋ: 'N',
  ı: 'i',
  ς: 'σ',
  ё: 'е',
  Ё: 'Е',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ٱ: 'ا',
  ـ: '',
  '’': "'",
}

/** Control characters that stay, or part words. */
const BLANKS: Readonly<Record<string, string>> = {
  '\t': '\t',
  '\n': '\n',
  '\r': '\r',
  '\v': ' ',
  '\f': ' ',
  '\u0085': ' ',
}

type Folding = {
  keepsCase: boolean
  /** One entry a UTF-16 unit, filled when the unit is first seen. */
  units: Uint16Array
  clusters: Map<string, string>
}
const newFolding = (keepsCase: boolean): Folding => ({
  keepsCase,
  units: new Uint16Array(65_536),
  clusters: new Map(),
})
const lower = newFolding(false)
const cased = newFolding(true)

/** Each unit comes from itself: for all texts that stay what they are, so nobody changes it. */
let ownOffsets = new Uint32Array(0)

let output = new Uint16Array(8192)
let sources = new Uint32Array(8192)

/**
 * Folds `text`: NFKC, lower case, traditional to simplified character by character, Latin and Greek accents and
 * Semitic vowel points dropped, zero-width and control characters dropped (form feeds become blanks), unpaired
 * surrogates U+FFFD. Linear; at most 18 units for one (a ligature of Arabic), as a rule no more than the source.
 */
export function foldText(text: string): string {
  if (PLAIN_ASCII.test(text)) return text.toLowerCase()
  const known = remembered(text)
  if (known === null) return fold(text, lower, false)
  if (known.folded === null) {
    const source = known.cased ?? text
    // Few texts are of more than ASCII once their quotes and blanks are folded.
    known.folded = PLAIN_ASCII.test(source) ? source.toLowerCase() : fold(source, lower, false)
  }
  return known.folded
}

/** `foldText` without the lower case: foldText(foldCase(t)) = foldText(t). For what needs camelCase. */
export function foldCase(text: string): string {
  if (PLAIN_ASCII.test(text)) return text
  const known = remembered(text)
  if (known === null) return fold(text, cased, false)
  return (known.cased ??= fold(text, cased, false))
}

type Remembered = { text: string; cased: string | null; folded: string | null }

/** The texts of a page are folded for its terms, for its pairs of words and for its fingerprint. */
const rememberedUnits = { min: 512, max: 65_536 }
/** Main text, headings, rest. */
const recent: Remembered[] = Array.from({ length: 3 }, () => ({
  text: '',
  cased: null,
  folded: null,
}))
let eldest = 0

function remembered(text: string): Remembered | null {
  if (text.length < rememberedUnits.min || text.length > rememberedUnits.max) return null
  for (const known of recent) if (known.text === text) return known
  const known = recent[eldest] as Remembered
  eldest = (eldest + 1) % recent.length
  known.text = text
  known.cased = known.folded = null
  return known
}

/** `foldText` with the way back: unit i of the result comes from the character at `offsets[i]` of the source. */
export const foldWithOffsets = (text: string): FoldedText => foldKeeping(text, lower)

/** `foldCase` with the way back. */
export const foldCaseWithOffsets = (text: string): FoldedText => foldKeeping(text, cased)

function foldKeeping(text: string, folding: Folding): FoldedText {
  if (text.length <= KEPT_UNITS_MAX && PLAIN_ASCII.test(text))
    return {
      text: folding.keepsCase ? text : text.toLowerCase(),
      offsets: offsetsOfPlain(text.length),
    }
  const folded = fold(text, folding, true)
  const offsets = sources.slice(0, folded.length + 1)
  offsets[folded.length] = text.length
  shrink()
  return { text: folded, offsets }
}

function offsetsOfPlain(units: number): Uint32Array {
  if (units >= ownOffsets.length) {
    ownOffsets = new Uint32Array(Math.min(KEPT_UNITS_MAX, 2 * units) + 1)
    for (let i = 0; i < ownOffsets.length; i += 1) ownOffsets[i] = i
  }
  return ownOffsets.subarray(0, units + 1)
}

/** Writes the folded units to `output`, which always has room for what is left, and on request their source offsets to `sources`. */
function fold(text: string, folding: Folding, keepsOffsets: boolean): string {
  const { units } = folding
  reserve(text.length, keepsOffsets)
  let size = 0
  let baseSource = 0 // where the last character began, here and in the output: a mark that follows changes it
  let baseSize = 0
  for (let i = 0; i < text.length;) {
    const from = i
    for (const [out, origins] = [output, sources]; i < text.length; i += 1) {
      const plain = units[text.charCodeAt(i)] as number
      if (plain <= CONTINUES) break
      if (keepsOffsets) origins[size] = i
      out[size] = plain
      size += 1
    }
    if (i > from) {
      baseSource = i - 1
      baseSize = size - 1
      if (i === text.length) break
    }
    const unit = text.charCodeAt(i)
    const folded = units[unit] as number
    if (folded === UNSEEN) {
      units[unit] = lookAt(unit, folding)
      continue
    }
    const isFar = folded === CONTINUES && i - baseSource >= CLUSTER_UNITS_MAX
    if (folded === DROPPED || (isFar && MARK.test(firstOf(text[i] as string)))) {
      i += 1
      continue
    }
    // Beyond the first plane too what is ignored parts no mark from its letter.
    if (folded === COMPLEX && isPair(text, i) && IGNORED_CHAR.test(text.slice(i, i + 2))) {
      i += 2
      continue
    }
    if (folded === COMPLEX || isFar) {
      baseSource = i
      baseSize = size
    }
    i += folded === COMPLEX && isPair(text, i) ? 2 : 1
    const last = baseSource + CLUSTER_UNITS_MAX
    while (i < text.length && i < last && continues(text.charCodeAt(i), folding)) i += 1
    const cluster = foldCluster(text.slice(baseSource, i), folding)
    const left = text.length - i
    if (baseSize + cluster.length + left > output.length)
      reserve(2 * (baseSize + cluster.length) + left, keepsOffsets)
    size = baseSize
    for (let k = 0; k < cluster.length; k += 1) {
      if (keepsOffsets) sources[size] = baseSource
      output[size++] = cluster.charCodeAt(k)
    }
  }
  const folded = Buffer.from(output.buffer, 0, size * 2).toString('utf16le')
  if (!keepsOffsets) shrink()
  return folded
}

function lookAt(unit: number, folding: Folding): number {
  if (unit >= 0xd800 && unit <= 0xdfff) return COMPLEX
  const char = String.fromCharCode(unit)
  if (CONTINUING.test(char) || MARK.test(firstOf(char))) return CONTINUES
  const folded = foldCluster(char, folding)
  if (folded.length === 0) return DROPPED
  return folded.length === 1 ? folded.charCodeAt(0) : COMPLEX
}

/** Some letters (Lao AM) are a mark and a letter in NFKC. */
const firstOf = (char: string): string => char.normalize('NFKC').charAt(0)

function continues(unit: number, folding: Folding): boolean {
  const folded = (folding.units[unit] ||= lookAt(unit, folding))
  return folded === CONTINUES
}

const isPair = (text: string, i: number): boolean =>
  (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00

/** The definition that all paths share: one character with its marks, at most 32 units. */
function foldCluster(source: string, folding: Folding): string {
  const known = folding.clusters.get(source)
  if (known !== undefined) return known
  let text = dropIgnored(source).toWellFormed().normalize('NFKC')
  if (!folding.keepsCase) text = text.toLowerCase()
  text = text.normalize('NFD').replace(MARKS, '').normalize('NFC')
  let folded = spell(text)
  // A letter that was spelled plainly may take the next mark: ё with a second diaeresis. Each turn uses up one mark.
  for (let turn = 0; turn < CLUSTER_UNITS_MAX; turn += 1) {
    const again = spell(folded.normalize('NFC'))
    if (again === folded) break
    folded = again
  }
  if (folding.clusters.size >= CLUSTERS_MAX) folding.clusters.clear()
  folding.clusters.set(source, folded)
  return folded
}

/** NFKC makes fillers of half-width ones, so what is ignored is dropped here too. */
function spell(text: string): string {
  let spelled = ''
  for (const char of text) spelled += SPELLED[char] ?? foldHan(char)
  return dropIgnored(spelled)
}

const dropIgnored = (text: string): string => text.replace(IGNORED, (char) => BLANKS[char] ?? '')

function foldHan(char: string): string {
  const unit = char.charCodeAt(0)
  if (unit < HAN_FIRST || unit > HAN_LAST) return char
  return String.fromCharCode(textTables().simplified[unit - HAN_FIRST] ?? unit)
}

/** Room for `units` and some more; what is written stays. Offsets are seldom wanted, so they have room only then. */
function reserve(units: number, keepsOffsets: boolean): void {
  const wanted = units + SPARE_UNITS
  if (output.length < wanted) {
    const old = output
    output = new Uint16Array(wanted)
    output.set(old)
  }
  if (keepsOffsets && sources.length < output.length) {
    const old = sources
    sources = new Uint32Array(output.length)
    sources.set(old)
  }
}

function shrink(): void {
  if (output.length <= KEPT_UNITS_MAX) return
  output = new Uint16Array(8192)
  sources = new Uint32Array(8192)
}
