/** Which charset do bytes have that nobody declared? By the likelihood of the text that each would make of them. Decides nothing else. */
import { alphabets, singleByteCharsets, type Language } from './charset-languages.ts'
import { decodeAs } from './charset-tables.ts'
import { frequentHan, frequentHangul, frequentKana } from './charset-signs.ts'

export type Guess = {
  charset: string
  /** More than the most plausible of many: the text is such that a language would have it. */
  confident: boolean
}

/** Bytes looked at for such beyond ASCII ... */
const sampleBytes = 65_536
/** ... and so many of these, with what stands beside them: enough for any language, and a bound on the time. */
const highBytesMax = 1_200
/** A guess is confident with this many bytes beyond ASCII ... */
const confidentBytes = 6
/** ... and this mean logarithm for each of them: a wrong charset makes of most of them what no language has. */
const confidentMean = -5

/** The most plausible charset of undeclared bytes. Total; linear. */
export function guessCharset(bytes: Uint8Array): Guess {
  const wide = utf32ByZeros(bytes) ?? utf16ByZeros(bytes)
  if (wide !== null) return { charset: wide, confident: true }
  const sample = bytes.subarray(0, sampleBytes)
  if (isUtf8(bytes)) return guessAscii(sample)
  if (isMostlyUtf8(sample, 0.1)) return { charset: 'utf-8', confident: true }
  const { near, high } = neighbourhoods(sample)
  let best = { charset: 'windows-1252', score: -Infinity }
  const offer = (charset: string, score: number): void => {
    if (score > best.score) best = { charset, score }
  }
  for (const one of doubleByte) offer(one.charset, likelihoodOfSigns(near, one))
  const pairs = countPairs(near)
  for (const one of singleByteCharsets) offer(one.charset, likelihoodOfLetters(pairs, one))
  const confident = high >= confidentBytes && best.score / high >= confidentMean
  return { charset: best.charset, confident }
}

/** UTF-16 without a mark shows by its zero bytes, which no other charset has; null where there are too few. */
export function utf16ByZeros(bytes: Uint8Array): string | null {
  const length = Math.min(bytes.length & ~1, 1_024)
  let [even, odd] = [0, 0]
  for (let i = 0; i < length; i += 2) {
    if (bytes[i] === 0) even++
    if (bytes[i + 1] === 0) odd++
  }
  const least = length * 0.15
  if (length < 4 || Math.max(even, odd) <= least || Math.min(even, odd) > least / 4) return null
  return even > odd ? 'utf-16be' : 'utf-16le'
}

/** UTF-32: every fourth byte is zero, the next one nearly always (0..16). */
export function utf32ByZeros(bytes: Uint8Array): string | null {
  const length = Math.min(bytes.length & ~3, 1_024)
  if (length < 8 || bytes.length % 4 !== 0) return null
  const isHigh = (first: number, second: number): boolean => {
    for (let i = 0; i < length; i += 4)
      if (bytes[i + first] !== 0 || (bytes[i + second] ?? 0) > 16) return false
    return true
  }
  const hasMark = bytes[0] === 0xff && bytes[1] === 0xfe
  if (isHigh(0, 1) && (bytes[2] !== 0 || bytes[3] !== 0)) return 'utf-32be'
  return isHigh(3, 2) && (hasMark || bytes[0] !== 0 || bytes[1] !== 0) ? 'utf-32le' : null
}

/** Seven bits are UTF-8, but for the mail charsets with their escapes. */
function guessAscii(sample: Uint8Array): Guess {
  const text = Buffer.from(sample.buffer, sample.byteOffset, sample.length).toString('latin1')
  const escape = text.indexOf('\u001b$')
  const designation = escape < 0 ? '' : text.slice(escape + 2, escape + 4)
  const isShifted = text.includes('\u000e')
  if (isShifted && designation === ')C') return { charset: 'iso-2022-kr', confident: true }
  if (isShifted && designation === ')A') return { charset: 'iso-2022-cn', confident: true }
  const isJapanese = /^[B@]/.test(designation)
  return { charset: isJapanese ? 'iso-2022-jp' : 'utf-8', confident: true }
}

/** Valid to the last byte, but for a character that the end cuts. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** So many sequences that stand right are no chance. */
const utf8SequencesMin = 12

/**
 * UTF-8 with a few broken characters: cut by a program that counts bytes, or pasted from another charset. Bytes of other charsets make hardly
 * one right sequence in five.
 * @param brokenShareMax broken ones for each right one
 */
export function isMostlyUtf8(bytes: Uint8Array, brokenShareMax: number): boolean {
  let [right, broken] = [0, 0]
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte < 0x80) continue
    const more = byte < 0xc2 || byte > 0xf4 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
    let at = 0
    while (at < more && ((bytes[i + at + 1] ?? 0) & 0xc0) === 0x80) at++
    if (more > 0 && at === more) right++
    else broken++
    i += at
  }
  return right >= utf8SequencesMin && broken <= right * brokenShareMax
}

const blank = 0x20

/** The bytes beyond ASCII with one before and one after each run (the second byte of a character may be ASCII), and how many they are. */
function neighbourhoods(sample: Uint8Array): { near: Uint8Array; high: number } {
  const near: number[] = []
  let high = 0
  for (let i = 0; i < sample.length && high < highBytesMax; i++) {
    const byte = sample[i] as number
    const before = i === 0 ? blank : (sample[i - 1] as number)
    if (byte >= 0x80) {
      if (before < 0x80 && (i < 2 || (sample[i - 2] as number) < 0x80)) near.push(blank, before)
      near.push(byte)
      high++
    } else if (before >= 0x80) near.push(byte)
  }
  near.push(blank)
  return { near: Uint8Array.from(near), high }
}

// ---- Charsets of two bytes a character: by frequent signs ----

/** What a character beyond ASCII weighs, as a logarithm, where `frequent` signs make up most of a text. */
type DoubleByte = { charset: string; frequent: ReadonlyMap<string, number> }

const damagedLog = -18
const privateLog = -15
const rareLog = -10.5
const symbolLog = -12
/** Half-width katakana: single bytes, as every wrong guess makes them in heaps. */
const halfWidthLog = -8.5

const signs = (...groups: readonly (readonly [signs: string, share: number])[]) =>
  new Map(
    groups.flatMap(([text, share]) =>
      Array.from(text, (sign) => [sign, Math.log(share / text.length)] as const),
    ),
  )
const chinese = signs([frequentHan, 0.7])
const japanese = signs([frequentHan, 0.25], [frequentKana, 0.6])
const korean = signs([frequentHangul, 0.75])

/** Earlier wins a tie. */
const doubleByte: readonly DoubleByte[] = [
  { charset: 'gb18030', frequent: chinese },
  { charset: 'big5', frequent: chinese },
  { charset: 'shift_jis', frequent: japanese },
  { charset: 'euc-jp', frequent: japanese },
  { charset: 'euc-kr', frequent: korean },
]

function likelihoodOfSigns(near: Uint8Array, { charset, frequent }: DoubleByte): number {
  const text = new TextDecoder(charset).decode(near)
  let sum = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) sum += frequent.get(text.charAt(i)) ?? unusualLog(code)
  }
  return sum
}

function unusualLog(code: number): number {
  if (code === 0xfffd || code < 0xa0) return damagedLog
  if (code >= 0xe000 && code < 0xf900) return privateLog
  if (code >= 0xff61 && code < 0xffa0) return halfWidthLog
  const isLetter = (code >= 0x3040 && code < 0xa000) || (code >= 0xac00 && code < 0xd7b0)
  return isLetter ? rareLog : symbolLog
}

// ---- Charsets of one byte a character: by letters, and by what may stand beside what ----

/** A text's distinct pairs of neighbouring bytes, one of them beyond ASCII (`before << 8 | byte`), and how often each stands. */
type Pairs = { keys: Uint16Array; counts: Uint32Array }

function countPairs(near: Uint8Array): Pairs {
  const places = new Map<number, number>()
  const counts = new Uint32Array(near.length)
  for (let i = 1; i < near.length; i++) {
    const [before, byte] = [near[i - 1] as number, near[i] as number]
    if (before < 0x80 && byte < 0x80) continue
    const key = (before << 8) | byte
    let place = places.get(key)
    if (place === undefined) places.set(key, (place = places.size))
    counts[place] = (counts[place] as number) + 1
  }
  return { keys: Uint16Array.from(places.keys()), counts: counts.subarray(0, places.size) }
}

/** Bits of a byte's kind in one charset. */
const kind = { letter: 1, capital: 2, latin: 4, mark: 8, damage: 16 } as const

type Table = { charset: string; kinds: Uint8Array; letters: Map<Language, Float64Array> }
const tables = new Map<string, Table>()

/** Letters of the language share this; the rest is for punctuation and foreign letters. */
const letterShare = 0.95
/** Each rank is so much rarer than the one before, for alphabets of few letters beyond ASCII and of many. */
const fallOfFew = 0.78
const fallOfMany = 0.91
const manyLetters = 18
const capitalLog = Math.log(0.06)
const punctuationLog = Math.log(0.006)
const foreignLetterLog = -8
const strangeLog = -10
const damageLog = -16
const punctuation = '’‘“”„«»–—…•·§°©®€£¡¿™\u00a0\u00ad‹›´№'

function tableOf(charset: string, languages: readonly Language[]): Table {
  const known = tables.get(charset)
  if (known !== undefined) return known
  const upper = decodeAs(
    Uint8Array.from({ length: 128 }, (_, i) => i + 128),
    charset,
  )
  const ascii = String.fromCharCode(...Array(128).keys())
  const all = ascii + upper
  const table: Table = {
    charset,
    kinds: Uint8Array.from(all, kindOf),
    letters: new Map(languages.map((language) => [language, logsOf(all, alphabets[language])])),
  }
  tables.set(charset, table)
  return table
}

function kindOf(sign: string): number {
  if (/[\ufffd\x80-\x9f]/.test(sign)) return kind.damage
  if (/\p{M}/u.test(sign)) return kind.letter | kind.mark
  if (!/\p{L}/u.test(sign) || /[ªº]/.test(sign)) return 0
  const isCapital = sign !== sign.toLowerCase()
  const isLatin = /\p{Script=Latin}/u.test(sign)
  return kind.letter | (isCapital ? kind.capital : 0) | (isLatin ? kind.latin : 0)
}

/** The logarithm of each byte's probability among the bytes beyond ASCII of a text in this language. */
function logsOf(all: string, alphabet: string): Float64Array {
  const letters = Array.from(alphabet)
  const fall = letters.length < manyLetters ? fallOfFew : fallOfMany
  const total = (1 - fall ** letters.length) / (1 - fall)
  const ranks = new Map(letters.map((letter, rank) => [letter, rank]))
  return Float64Array.from(all, (sign) => {
    const small = sign.toLowerCase()
    const rank = ranks.get(sign) ?? ranks.get(small)
    const isCapital = !ranks.has(sign)
    if (rank !== undefined)
      return Math.log((letterShare * fall ** rank) / total) + (isCapital ? capitalLog : 0)
    if (punctuation.includes(sign)) return punctuationLog
    const bits = kindOf(sign)
    if ((bits & kind.damage) !== 0) return damageLog
    return (bits & kind.letter) !== 0 ? foreignLetterLog : strangeLog
  })
}

function likelihoodOfLetters(
  pairs: Pairs,
  { charset, cost, languages }: (typeof singleByteCharsets)[number],
): number {
  const { kinds, letters } = tableOf(charset, languages)
  const counts = new Uint32Array(256)
  let together = -cost
  for (let i = 0; i < pairs.keys.length; i++) {
    const [pair, count] = [pairs.keys[i] as number, pairs.counts[i] as number]
    const byte = pair & 0xff
    if (byte >= 0x80) counts[byte] = (counts[byte] ?? 0) + count
    together += count * neighbourLog(kinds[pair >> 8] ?? 0, kinds[byte] ?? 0)
  }
  let best = -Infinity
  for (const logs of letters.values()) {
    let sum = 0
    for (let byte = 0x80; byte < 0x100; byte++) sum += (counts[byte] ?? 0) * (logs[byte] ?? 0)
    if (sum > best) best = sum
  }
  return best + together
}

/** What two signs side by side say against a charset: a capital inside a word, two scripts in one, Latin letters without a plain one. */
function neighbourLog(before: number, after: number): number {
  if ((before & after & kind.letter) === 0) return 0
  if (((before | after) & kind.mark) !== 0) return 0
  if ((before & kind.latin) !== (after & kind.latin)) return -4
  const isCapitalInside = (before & kind.capital) === 0 && (after & kind.capital) !== 0
  return isCapitalInside ? -4 : 0
}
