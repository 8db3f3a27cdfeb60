/** Names the language of a page: by script, by letters that only one language has, by function words. No model, no tables beyond this file. */
import { createWordTable } from './word-table.ts'

/** Judged by the first 3,000 units and 1,000 from the middle: the middle escapes a header in another language. */
const HEAD_UNITS = 3000
const MIDDLE_UNITS = 1000
/** Fewer function words than this say something only where no other language has a claim. */
const HITS_MIN = 3
/** In a text of fewer words single letters are initials and list marks, no function words. */
const SHORT_WORDS = 40
/** Share of function words among the words of running text is 0.2-0.5; below this it is a list of names or code. */
const SHARE_MIN = 0.08
/** The best language has to be ahead of the next one by this factor, else the declared one decides. */
const LEAD_MIN = 1.15
/** Japanese has kana in every sentence; Chinese quotes a name now and then. */
const KANA_SHARE_MIN = 0.1
/** One ideograph says as much as so many letters of an alphabet. */
const IDEOGRAPH_LETTERS = 3

/** Function words, most of them in one language only; letters with accents kept. */
const PROFILES: Readonly<Record<string, string>> = {
  en: 'the and of to in is that for with as was are on by this be from it which or at have not has been were their an will can you we',
  de: 'der die das und ist nicht mit den von zu ein eine auf für des dem sich auch im wird werden als bei nach aus oder einer wie sie war',
  fr: 'le la les et des est dans une du que pour qui sur pas par au avec plus sont ce cette aux ou mais nous vous être leur il elle ont',
  es: 'el la los las de que y en un una es por con para del se no su al como más pero este esta son fue ha entre también sus',
  it: 'il la di che e un una per è con non del della dei le gli sono nel alla come più anche si da questo al dal delle ha essere',
  pt: 'o a os as de que e em um uma é por com para do da não se no na mais como dos das ao foi são também pelo sua ou',
  nl: 'de het een en van in is dat op te met voor niet zijn aan er ook als bij maar om door wordt deze uit naar worden heeft kan',
  sv: 'och att det som en på är av för med den till inte om ett har de kan från var vi eller så men sig vid också efter',
  da: 'og at det er en til på som af den for med de ikke der har om et kan fra var ved eller vil blev også efter sig men',
  no: 'og det er en til på som av den for med de ikke har om et kan fra var ved eller vil ble også etter seg men jeg',
  fi: 'ja on ei se että oli mutta kuin joka tai ovat hän myös sen niin voi ole kun jos mukaan sekä vain mitä tämä jälkeen',
  pl: 'i w na z się nie do to że jest o jak po co ale od za przez są dla oraz tym lub być jego który które może tylko',
  cs: 'a v na se je že to s z do o i za by pro jako ale k jsou po od které který nebo jeho bylo až také jen při',
  hu: 'a az és hogy nem is egy ez azt van volt meg csak vagy mint de még már ha kell lehet minden amely szerint után',
  ro: 'și în de la cu pe a nu este un o că din care pentru mai sau fi se prin sunt ca după fost între au dar le acest',
  tr: 've bir bu için ile da de çok olarak daha olan gibi ne kadar sonra en ancak var olduğu ya veya her değil tarafından',
  id: 'yang dan di dari untuk dengan pada ini itu dalam adalah tidak akan oleh ke sebagai juga atau dapat telah bisa ada karena',
  vi: 'và của là có trong được cho các một với những không người này để khi đã từ về như tại cũng đến hay vào',
}

/* Bits of a word's languages, so that each word of the text costs one look-up. */
const LATIN_LANGUAGES = Object.keys(PROFILES)
const bitsOfWord = new Map<string, number>()
for (const [i, language] of LATIN_LANGUAGES.entries()) {
  for (const word of (PROFILES[language] as string).split(' ')) {
    bitsOfWord.set(word, (bitsOfWord.get(word) ?? 0) | (1 << i))
  }
}
const languagesOf = createWordTable<number>()
for (const [word, bits] of bitsOfWord) languagesOf.set(word, bits)

type Script = 'han' | 'kana' | 'hangul' | 'latin' | 'cyrillic' | 'arabic' | 'other'

/** Ranges of letters by script, and the language that a script alone decides. */
const RANGES: readonly (readonly [
  first: number,
  last: number,
  script: Script,
  language: string,
])[] = [
  [0x41, 0x24f, 'latin', ''],
  [0x1e00, 0x1eff, 'latin', ''],
  [0x3400, 0x9fff, 'han', ''],
  [0x3041, 0x30fa, 'kana', ''],
  [0xac00, 0xd7a3, 'hangul', ''],
  [0x400, 0x52f, 'cyrillic', ''],
  [0x600, 0x6ff, 'arabic', ''],
  [0x370, 0x3ff, 'other', 'el'],
  [0x590, 0x5ff, 'other', 'he'],
  [0x530, 0x58f, 'other', 'hy'],
  [0x10a0, 0x10ff, 'other', 'ka'],
  [0x900, 0x97f, 'other', 'hi'],
  [0x980, 0x9ff, 'other', 'bn'],
  [0xb80, 0xbff, 'other', 'ta'],
  [0xe00, 0xe7f, 'other', 'th'],
  [0xe80, 0xeff, 'other', 'lo'],
  [0x1000, 0x109f, 'other', 'my'],
  [0x1780, 0x17ff, 'other', 'km'],
  [0x1200, 0x137f, 'other', 'am'],
]

/** Letters that tell the languages of one script apart, the first that occurs decides. */
const LETTERS: Readonly<Record<'cyrillic' | 'arabic', readonly (readonly [RegExp, string])[]>> = {
  cyrillic: [
    [/[ґїє]/i, 'uk'],
    [/ў/i, 'be'],
    [/[ђћ]/i, 'sr'],
    [/[ѓќѕ]/i, 'mk'],
    [/[ыэё]/i, 'ru'],
    [/ъ/i, 'bg'],
  ],
  arabic: [
    [/[ٹڈڑے]/, 'ur'],
    [/[پچژگ]/, 'fa'],
  ],
}
const FIRST_LANGUAGE = { cyrillic: 'ru', arabic: 'ar' } as const
const FAMILY = {
  cyrillic: ['ru', 'uk', 'be', 'bg', 'sr', 'mk', 'kk', 'ky', 'mn', 'tg'],
  arabic: ['ar', 'fa', 'ur', 'ckb', 'ps'],
} as const

/**
 * Primary language subtag of `text`, 'und' where nothing speaks for one. `declared` is what the page says of itself
 * (`<html lang>`): pages often say it wrongly, so it decides only between what the text leaves open.
 */
export function detectLanguage(text: string, declared = ''): string {
  const middle = Math.max(HEAD_UNITS, (text.length - MIDDLE_UNITS) >> 1)
  const sample = `${text.slice(0, HEAD_UNITS)} ${text.slice(middle, middle + MIDDLE_UNITS)}`
  const claim = /^[a-z]{2,3}(?=$|[-_])/.exec(declared.trim().toLowerCase())?.[0] ?? ''
  const { script, language, kanaShare } = mainScript(sample)
  switch (script) {
    case 'han':
    case 'kana':
      if (kanaShare > KANA_SHARE_MIN || (claim === 'ja' && kanaShare > 0)) return 'ja'
      return claim === 'ja' && sample.length < 60 ? 'ja' : 'zh'
    case 'hangul':
      return 'ko'
    case 'cyrillic':
    case 'arabic':
      return byLetters(script, sample, claim)
    case 'latin':
      return byFunctionWords(sample, claim)
    case 'other':
      return language
    case null:
      return claim || 'und'
  }
}

/** For each UTF-16 unit the range of its letter, one more; 0 = no letter that counts. */
const rangeOf = new Uint8Array(65_536)
for (const [i, [first, last]] of RANGES.entries()) {
  for (let unit = first; unit <= last; unit += 1) {
    if (rangeOf[unit] === 0 && (unit >= 0xc0 || isAsciiLetter(unit))) rangeOf[unit] = i + 1
  }
}

function mainScript(sample: string) {
  const counts = new Uint32Array(RANGES.length + 1)
  const seen: number[] = [] // in order of first sight, which decides between equals
  for (let i = 0; i < sample.length; i += 1) {
    const range = rangeOf[sample.charCodeAt(i)] as number
    if (counts[range] === 0 && range > 0) seen.push(range)
    counts[range] = (counts[range] as number) + 1
  }
  const letters = new Map<string, number>()
  for (const range of seen) {
    const [, , script, language] = RANGES[range - 1] as (typeof RANGES)[number]
    const key = language || script
    letters.set(key, (letters.get(key) ?? 0) + (counts[range] as number))
  }
  const han = letters.get('han') ?? 0
  const kana = letters.get('kana') ?? 0
  for (const key of ['han', 'kana', 'hangul']) {
    letters.set(key, (letters.get(key) ?? 0) * IDEOGRAPH_LETTERS)
  }
  letters.set('han', (letters.get('han') as number) + (letters.get('kana') as number))
  let best = ''
  let most = 0
  for (const [key, count] of letters) if (count > most) [best, most] = [key, count]
  const range = RANGES.find(([, , script, language]) => (language || script) === best)
  return {
    script: range?.[2] ?? null,
    language: range?.[3] ?? '',
    kanaShare: kana / Math.max(1, han + kana),
  }
}

function isAsciiLetter(unit: number): boolean {
  return (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a
}

function byLetters(script: 'cyrillic' | 'arabic', sample: string, claim: string): string {
  const found = LETTERS[script].find(([letters]) => letters.test(sample))?.[1]
  const isSibling = (FAMILY[script] as readonly string[]).includes(claim)
  /* Kazakh has ы too, Pashto گ: a claim of a language without a rule here is believed. */
  const hasRule = LETTERS[script].some(([, language]) => language === claim)
  if (isSibling && !hasRule && claim !== FIRST_LANGUAGE[script]) return claim
  return found ?? (isSibling ? claim : FIRST_LANGUAGE[script])
}

function byFunctionWords(sample: string, claim: string): string {
  const { hits, words } = countFunctionWords(sample.toLowerCase())
  const [first, second] = bestTwo(hits)
  const best = hits[first] as number
  const next = hits[second] as number
  const isEnough = best >= HITS_MIN || (best > 0 && next === 0)
  if (!isEnough || best < words * SHARE_MIN) return isLatinClaim(claim) ? claim : 'und'
  const language = LATIN_LANGUAGES[first] as string
  const claimed = LATIN_LANGUAGES.indexOf(claim)
  if (claimed >= 0 && (hits[claimed] as number) * LEAD_MIN >= best) return claim
  /* Catalan looks like Spanish here: a claim of a language without a profile is believed, unless this is English. */
  if (claimed < 0 && language !== 'en' && isLatinClaim(claim)) return claim
  return best >= next * LEAD_MIN ? language : 'und'
}

/** Places of the two highest counts, the first of equals first. */
function bestTwo(counts: Uint16Array): [number, number] {
  let [first, second] = [0, -1]
  for (let i = 1; i < counts.length; i += 1) {
    const count = counts[i] as number
    if (count > (counts[first] as number)) [first, second] = [i, first]
    else if (second < 0 || count > (counts[second] as number)) second = i
  }
  return [first, second]
}

/** How many words a text in lower case has, and how many of them belong to each language. */
function countFunctionWords(text: string): { hits: Uint16Array; words: number } {
  const hits = new Uint16Array(LATIN_LANGUAGES.length)
  /** Of words of one letter, which count in longer texts only. */
  const singles = new Uint16Array(LATIN_LANGUAGES.length)
  const words = countWords(text, hits, singles)
  if (words >= SHORT_WORDS)
    for (const [i, single] of singles.entries()) hits[i] = (hits[i] as number) + single
  return { hits, words }
}

function countWord(
  text: string,
  start: number,
  end: number,
  hits: Uint16Array,
  singles: Uint16Array,
): void {
  const into = end - start === 1 ? singles : hits
  let bits = languagesOf.get(text, start, end) ?? 0
  for (let i = 0; bits !== 0; i += 1, bits >>>= 1) {
    if (bits & 1) into[i] = (into[i] as number) + 1
  }
}

/** Counts what /\p{L}+/gu finds, without a match for each. */
function countWords(text: string, hits: Uint16Array, singles: Uint16Array): number {
  let words = 0
  let start = -1
  for (let i = 0; i <= text.length; i += 1) {
    const isLetter = i < text.length && isLetterAt(text, i)
    if (isLetter && start < 0) start = i
    else if (!isLetter && start >= 0) {
      words += 1
      countWord(text, start, i, hits, singles)
      start = -1
    }
  }
  return words
}

/** By unit: 0 = not looked at yet, 1 = a letter, 2 = none. */
const kindOf = new Uint8Array(65_536)

/** Either half of a pair is a letter where the pair is one. */
function isLetterAt(text: string, i: number): boolean {
  const unit = text.charCodeAt(i)
  if (isAsciiLetter(unit)) return true
  if (unit < 0x80) return false
  if ((unit & 0xf800) === 0xd800) return isPairOfLetter(text, i)
  return (kindOf[unit] ||= /\p{L}/u.test(String.fromCharCode(unit)) ? 1 : 2) === 1
}

function isPairOfLetter(text: string, i: number): boolean {
  const isLow = (text.charCodeAt(i) & 0xfc00) === 0xdc00
  const code = text.codePointAt(isLow && i > 0 ? i - 1 : i) as number
  return code > 0xffff && /\p{L}/u.test(String.fromCodePoint(code))
}

/** A claim of a language that is written in another alphabet is no use for Latin text. */
function isLatinClaim(claim: string): boolean {
  const others = RANGES.map(([, , , language]) => language).filter((language) => language !== '')
  return (
    claim !== '' &&
    !['zh', 'ja', 'ko', ...FAMILY.cyrillic, ...FAMILY.arabic, ...others].includes(claim)
  )
}
