/** Documents that come as JSON lines instead of from the network: checked, then analysed as a page is. */
import { AppError } from '../lib/errors.ts'
import { packText } from '../lib/packed-text.ts'
import { normalizeUrl } from '../lib/url.ts'
import { fingerprint } from '../text/fingerprint.ts'
import { judgeWords } from '../text/judge-words.ts'
import { KEYWORDS_MAX, type Keywords } from '../text/keywords.ts'
import { detectLanguage } from '../text/language.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { WordMatcher } from '../text/word-match.ts'
import { judgePage } from './filter-page.ts'
import type { FieldValue, ParsedPage, ParseOutcome } from './page.ts'

export type ImportRecord = {
  url: string
  title: string
  text: string
  lang: string
  publishedAtMs: number | null
  fields: Record<string, FieldValue>
}

const textCharsMax = 5_000_000
const titleCharsMax = 1_000
const fieldsMax = 100

/**
 * One line of an import: {url, title, text, lang?, published_at?, fields?}. A document without text is kept.
 * @throws AppError bad_input, saying what is wrong with the line
 */
export function parseRecord(line: string): ImportRecord {
  const wrong = (what: string): AppError => new AppError('bad_input', what)
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new AppError('bad_input', `no JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong('no JSON object')
  const given = value as Record<string, unknown>
  const textOf = (name: string, charsMax: number): string => {
    const field = given[name] ?? ''
    if (typeof field !== 'string') throw wrong(`"${name}" is no string`)
    if (field.length > charsMax) throw wrong(`"${name}" has more than ${charsMax} characters`)
    return field
  }
  const url = normalizeUrl(textOf('url', 4_096))
  if (url === null) throw wrong('"url" is no http or https URL')
  const published = given['published_at'] ?? null
  const publishedAtMs =
    published === null ? null : typeof published === 'string' ? Date.parse(published) : Number.NaN
  if (Number.isNaN(publishedAtMs)) throw wrong('"published_at" is no ISO 8601 date')
  return {
    url,
    title: textOf('title', titleCharsMax),
    text: textOf('text', textCharsMax),
    lang: textOf('lang', 35),
    publishedAtMs,
    fields: fieldsOf(given['fields'] ?? {}),
  }
}

function fieldsOf(given: unknown): Record<string, FieldValue> {
  const wrong = (what: string): AppError => new AppError('bad_input', what)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong('"fields" is no object')
  const entries = Object.entries(given)
  if (entries.length > fieldsMax) throw wrong(`more than ${fieldsMax} fields`)
  const isPlain = (value: unknown): value is FieldValue =>
    typeof value === 'string' ||
    typeof value === 'number' ||
    (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  for (const [name, value] of entries) {
    if (name === '__proto__' || !isPlain(value))
      throw wrong(`field "${name}" is no text, number or list of texts`)
  }
  return Object.fromEntries(entries) as Record<string, FieldValue>
}

/** In the parser thread. */
export async function readRecord(
  record: ImportRecord,
  seed: number,
  analyzer: Analyzer,
  keywords: Keywords,
  words: WordMatcher | null = null,
): Promise<ParseOutcome> {
  const { url, fields, publishedAtMs } = record
  const judge = words === null ? null : judgeWords(words)
  const title = judge === null ? record.title : judge.read('title', record.title)
  const text = judge === null ? record.text : judge.read('text', record.text)
  const lang =
    record.lang === ''
      ? detectLanguage(`${title}\n${text.slice(0, 4_000)}`)
      : primarySubtag(record.lang)
  const { terms, quants, length, pairs } = analyzer.document({
    title,
    headings: '',
    text,
    rest: '',
    url,
  })
  const page: ParsedPage = {
    title,
    description: '',
    lang,
    headings: '',
    author: '',
    publishedAtMs,
    keywords: await keywords.keywords(text, title, lang, KEYWORDS_MAX),
    fields,
    text: packText(text),
    textChars: text.length,
    rest: new Uint8Array(),
    links: [],
    canonical: null,
    refresh: null,
    feeds: [],
    lineHashes: new Uint32Array(),
    noindex: false,
    noarchive: false,
    confidence: 1,
    charset: 'utf-8',
    terms,
    quants,
    length,
    pairs,
    fingerprint: fingerprint(text, seed),
  }
  return { kind: 'page', page: judgePage(page, judge) }
}

const primarySubtag = (lang: string): string => lang.toLowerCase().split(/[-_]/, 1)[0] ?? 'und'
