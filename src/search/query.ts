/** What was typed, taken apart: words, phrases, exclusions, filters. Never fails: what it does not understand becomes words and a warning. */

/** Longer queries are refused before they come here. */
export const queryCharsMax = 2_048

/** A stretch of words that belong together. Pieces with the same `group` are alternatives. */
export type QueryPiece = { text: string; group: number | null }

export type ParsedQuery = {
  text: string
  /** Plain words, in order. */
  pieces: QueryPiece[]
  phrases: string[]
  /** Words, and phrases, that no hit may hold. */
  without: string[]
  withoutPhrases: string[]
  inTitle: string[]
  site: string[]
  notSite: string[]
  lang: string[]
  fileType: string[]
  /** Milliseconds, [after, before). */
  afterMs: number | null
  beforeMs: number | null
  warnings: string[]
}

/** A text of more words than this is prose, whose quotation marks quote; a question with operators is shorter. */
const questionWordsMax = 16

type Token = {
  isNegative: boolean
  /** '' = none */
  operator: string
  value: string
  isQuoted: boolean
}

const quotes = /[“”„‟«»「」『』＂]/g
const known = ['site', 'lang', 'intitle', 'filetype', 'before', 'after'] as const
type Operator = (typeof known)[number]

export function parseQuery(text: string): ParsedQuery {
  const parsed: ParsedQuery = {
    text,
    pieces: [],
    phrases: [],
    without: [],
    withoutPhrases: [],
    inTitle: [],
    site: [],
    notSite: [],
    lang: [],
    fileType: [],
    afterMs: null,
    beforeMs: null,
    warnings: [],
  }
  const isProse =
    (text.match(/[^\s\p{Script=Han}]+|\p{Script=Han}{1,2}/gu)?.length ?? 0) > questionWordsMax
  const tokens = tokenize(text, parsed.warnings)
  if (isProse && tokens.some(isPhrase)) {
    warn(parsed, 'In a text of this length quotation marks were taken as part of it.')
    for (const token of tokens) if (isPhrase(token)) token.isQuoted = false
  }
  let groups = 0
  for (const [i, token] of tokens.entries()) {
    if (isOr(token)) {
      const before = tokens[i - 1]
      const after = tokens[i + 1]
      const last = parsed.pieces.at(-1)
      if (before && after && last && isPlainWord(before) && isPlainWord(after)) {
        if (last.group === null) last.group = groups++
      } else {
        warn(parsed, 'OR joins two single words; here it was left out.')
      }
      continue
    }
    const previous = tokens[i - 1]
    const last = parsed.pieces.at(-1)
    const isAlternative = previous !== undefined && isOr(previous) && isPlainWord(token)
    take(parsed, token, isAlternative ? (last?.group ?? null) : null)
  }
  return parsed
}

function take(parsed: ParsedQuery, token: Token, group: number | null): void {
  const { operator, value, isNegative, isQuoted } = token
  if (operator !== '') return takeOperator(parsed, operator as Operator, value, isNegative)
  if (isQuoted) {
    if (value.trim() !== '') (isNegative ? parsed.withoutPhrases : parsed.phrases).push(value)
    return
  }
  if (isNegative) parsed.without.push(value)
  else parsed.pieces.push({ text: value, group })
}

function takeOperator(
  parsed: ParsedQuery,
  operator: Operator,
  value: string,
  isNegative: boolean,
): void {
  if (isNegative && operator !== 'site')
    return warn(parsed, `-${operator}: is not known; it was left out.`)
  switch (operator) {
    case 'site':
      ;(isNegative ? parsed.notSite : parsed.site).push(siteOf(parsed, value))
      return
    case 'lang':
      parsed.lang.push(value.toLowerCase())
      return
    case 'intitle':
      parsed.inTitle.push(value)
      return
    case 'filetype':
      parsed.fileType.push(value.toLowerCase().replace(/^\./, ''))
      return
    case 'before':
    case 'after': {
      const ms = dayOf(value)
      if (ms === null)
        return warn(parsed, `${operator}:${value} is no date (2026-11-30, 2026-11 or 2026).`)
      if (operator === 'before') parsed.beforeMs = Math.min(parsed.beforeMs ?? ms, ms)
      else parsed.afterMs = Math.max(parsed.afterMs ?? ms, ms)
      return
    }
  }
}

/** A host, of which a pasted URL may be the way to say it. */
function siteOf(parsed: ParsedQuery, value: string): string {
  const host = value.toLowerCase().replace(/^https?:\/\//, '')
  const slash = host.indexOf('/')
  if (slash < 0) return host
  if (slash < host.length - 1)
    warn(parsed, `site: takes a host; the path of ${value} was left out.`)
  return host.slice(0, slash)
}

/** First millisecond (UTC) of a year, a month or a day. */
export function dayOf(value: string): number | null {
  const match = /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?$/.exec(value.normalize('NFKC'))
  if (match === null) return null
  const [year, month, day] = [match[1], match[2] ?? '1', match[3] ?? '1'].map(Number) as [
    number,
    number,
    number,
  ]
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : null
}

const isOr = ({ operator, value, isQuoted, isNegative }: Token): boolean =>
  operator === '' &&
  !isQuoted &&
  !isNegative &&
  (value === 'OR' || value === 'ＯＲ' || value === '|')

const isPhrase = ({ operator, isQuoted, isNegative }: Token): boolean =>
  operator === '' && isQuoted && !isNegative

const isPlainWord = (token: Token): boolean =>
  token.operator === '' && !token.isQuoted && !token.isNegative && !isOr(token)

const warn = (parsed: ParsedQuery, warning: string): void => {
  if (!parsed.warnings.includes(warning)) parsed.warnings.push(warning)
}

/** Linear: each character is looked at a constant number of times. */
function tokenize(text: string, warnings: string[]): Token[] {
  const straight = text.replace(quotes, '"')
  const tokens: Token[] = []
  const next =
    /(?<minus>[-－](?=[^\s\-－]))?(?:(?<name>[A-Za-z]{2,12})[:：](?=[^\s/:：]))?(?:"(?<quoted>[^"]*)"|(?<plain>[^\s"]+)|(?<lone>"))/gu
  for (const { groups } of straight.matchAll(next)) {
    const { minus, name, quoted, plain, lone } = groups as Record<string, string | undefined>
    if (lone !== undefined) {
      warnings.push('A quotation mark has no partner; it was left out.')
      continue
    }
    const value = quoted ?? plain ?? ''
    const isNegative = minus !== undefined
    const isQuoted = quoted !== undefined
    const operator = name?.toLowerCase() ?? ''
    if (operator === '' || (known as readonly string[]).includes(operator)) {
      tokens.push({ isNegative, operator, value, isQuoted })
      continue
    }
    warnings.push(`${operator}: is no operator here; it was searched as a word.`)
    tokens.push({ isNegative: false, operator: '', value: `${name} ${value}`, isQuoted: false })
  }
  return tokens
}
