/** What was typed, taken apart: words, conditions, filters. Never fails: what it does not understand becomes words and a warning. */
import { dayOf, periodOf } from './dates.ts'
import { fieldTestOf, type FieldTest } from './field-test.ts'
import { readTokens, type Token } from './query-tokens.ts'

export { dayOf }

/** Longer queries are refused before they come here. */
export const queryCharsMax = 2_048

/** Words that belong together; every page that holds some of them may be a hit, as `match` says. */
export type QueryPiece = { text: string }

/** What a hit must be, whatever `match` says. */
export type Condition =
  | { kind: 'all' | 'any'; of: readonly Condition[] }
  | { kind: 'not'; of: Condition }
  /** Every word of the text. */
  | { kind: 'words'; text: string }
  /** The text as it stands there; blanks and punctuation are alike. `weight`: how much its words rank, 1 where it is not given. */
  | { kind: 'phrase'; text: string; weight?: number }
  | { kind: 'title'; text: string; isPhrase: boolean }
  /** A word that begins so. */
  | { kind: 'prefix'; text: string }
  | { kind: 'url'; text: string }
  | { kind: 'site' | 'lang' | 'type'; text: string }
  /** One of the page's keywords, in whatever spelling. */
  | { kind: 'keyword'; text: string }
  /** Milliseconds, [afterMs, beforeMs). */
  | { kind: 'time'; afterMs: number | null; beforeMs: number | null }
  | { kind: 'field'; name: string; test: FieldTest }

export type ParsedQuery = {
  text: string
  /** Plain words, in order. */
  pieces: QueryPiece[]
  /** Each must hold. Phrases, exclusions and `inTitle` are among them; the lists below only tell. */
  conditions: Condition[]
  /** These only rank. */
  ranking: Condition[]
  phrases: string[]
  without: string[]
  withoutPhrases: string[]
  inTitle: string[]
  /** Filters that stand outside of groups; any of a list will do. */
  site: string[]
  notSite: string[]
  lang: string[]
  fileType: string[]
  /** All of these. */
  keyword: string[]
  /** Milliseconds, [after, before). */
  afterMs: number | null
  beforeMs: number | null
  /** URL or id of the page whose like is wanted. */
  related: string | null
  warnings: string[]
}

/** A text of more words than this is prose, whose quotation marks quote; a question with operators is shorter. */
const questionWordsMax = 16
/** Words outside of the quotation marks of prose. A long quotation alone is meant as one. */
const proseWordsMin = 8
const depthMax = 16
const conditionsMax = 64

const operators = {
  site: 'site',
  lang: 'lang',
  intitle: 'intitle',
  inurl: 'inurl',
  filetype: 'filetype',
  ext: 'filetype',
  before: 'before',
  after: 'after',
  field: 'field',
  keyword: 'keyword',
  related: 'related',
} as const
type Operator = (typeof operators)[keyof typeof operators]
const isOperator = (name: string): name is keyof typeof operators => Object.hasOwn(operators, name)

export function parseQuery(text: string): ParsedQuery {
  const { tokens, warnings } = readTokens(text, isOperator)
  const parser = new Parser(tokens, warnings)
  if (isProse(tokens)) {
    if (tokens.some((token) => token.kind === 'term' && token.isQuoted))
      parser.warn('In a text of this length quotation marks were taken as part of it.')
    for (const token of tokens) if (isPlainTerm(token)) token.isQuoted = false
  }
  if (isQuestion(tokens))
    for (const token of tokens) if (isPlainTerm(token) && token.isTitle) token.isQuoted = false
  const parsed: ParsedQuery = {
    text,
    pieces: [],
    conditions: [],
    ranking: [],
    phrases: [],
    without: [],
    withoutPhrases: [],
    inTitle: [],
    site: [],
    notSite: [],
    lang: [],
    fileType: [],
    keyword: [],
    afterMs: null,
    beforeMs: null,
    related: null,
    warnings,
  }
  for (const condition of parser.all(0)) addTop(parsed, condition)
  parsed.related = parser.related
  return parsed
}

type Term = Extract<Token, { kind: 'term' }>
const isPlainTerm = (token: Token): token is Term => token.kind === 'term' && token.operator === ''

/** Words outside of 《》, from which on those are punctuation. */
const questionWordsMin = 4
const wordsOf = (text: string): number =>
  text.match(/[^\s\p{Script=Han}]+|\p{Script=Han}{1,2}/gu)?.length ?? 0

function isQuestion(tokens: readonly Token[]): boolean {
  let words = 0
  for (const token of tokens)
    if (isPlainTerm(token) && !token.isQuoted) words += wordsOf(token.value)
  return words >= questionWordsMin
}

function isProse(tokens: readonly Token[]): boolean {
  let words = 0
  let unquoted = 0
  for (const token of tokens) {
    if (token.kind !== 'term') continue
    const count = wordsOf(token.value)
    words += count
    if (!token.isQuoted) unquoted += count
  }
  return words > questionWordsMax && unquoted >= proseWordsMin
}

/** Recursive descent: OR joins what stands next to it, all else is AND. */
class Parser {
  readonly #tokens: readonly Token[]
  readonly #warnings: string[]
  #at = 0
  #conditions = 0
  related: string | null = null

  constructor(tokens: readonly Token[], warnings: string[]) {
    this.#tokens = tokens
    this.#warnings = warnings
  }

  warn(warning: string): void {
    if (!this.#warnings.includes(warning)) this.#warnings.push(warning)
  }

  /** Up to the closing parenthesis or the end. */
  all(depth: number): Condition[] {
    const conditions: Condition[] = []
    while (this.#at < this.#tokens.length) {
      const kind = this.#tokens[this.#at]?.kind
      if (kind === 'close') {
        this.#at += 1
        if (depth > 0) break
        continue
      }
      if (kind === 'and' || kind === 'or') {
        if (kind === 'or') this.warn('OR stands between two words or groups; here it was left out.')
        this.#at += 1
        continue
      }
      const condition = this.#alternatives(depth)
      if (condition !== null) conditions.push(condition)
    }
    return conditions
  }

  #alternatives(depth: number): Condition | null {
    const found: Condition[] = []
    let isOr = false
    for (;;) {
      const operand = this.#operand(depth)
      if (operand !== null) found.push(operand)
      const next = this.#tokens[this.#at + 1]?.kind
      const isJoined = this.#tokens[this.#at]?.kind === 'or'
      if (!isJoined || next === undefined || next === 'close' || next === 'or' || next === 'and')
        break
      isOr = true
      this.#at += 1
    }
    if (found.length > 1) return { kind: 'any', of: found }
    if (isOr) this.warn('OR stands between two words or groups; here it was left out.')
    return found[0] ?? null
  }

  #operand(depth: number): Condition | null {
    const token = this.#tokens[this.#at]
    this.#at += 1
    if (token === undefined) return null
    if (token.kind === 'not') {
      const next = this.#tokens[this.#at]?.kind
      if (next !== 'term' && next !== 'open') return null
      const of = this.#operand(depth)
      return of && { kind: 'not', of }
    }
    if (token.kind === 'open') {
      if (depth >= depthMax)
        this.warn(`Parentheses deeper than ${depthMax} were read as if they were not there.`)
      const of = this.all(Math.min(depth + 1, depthMax))
      return of.length === 0 ? null : of.length === 1 ? (of[0] ?? null) : { kind: 'all', of }
    }
    if (token.kind !== 'term') return null
    const condition = this.#term(token)
    if (condition === null) return null
    if (condition.kind !== 'words') this.#conditions += 1
    if (this.#conditions > conditionsMax) {
      this.warn(`Only the first ${conditionsMax} operators and phrases were obeyed.`)
      return null
    }
    return condition
  }

  #term({ operator, value, isQuoted }: Term): Condition | null {
    if (operator !== '')
      return this.#operatorTerm(operators[operator as keyof typeof operators], value, isQuoted)
    if (isQuoted) return { kind: 'phrase', text: value }
    const prefix = /^([\p{L}\p{M}\p{N}]+)[*＊]$/u.exec(value)?.[1]
    // Any string of Han is found within longer ones.
    if (prefix === undefined || /\p{Script=Han}$/u.test(prefix))
      return { kind: 'words', text: value }
    return { kind: 'prefix', text: prefix }
  }

  #operatorTerm(operator: Operator, value: string, isQuoted: boolean): Condition | null {
    switch (operator) {
      case 'site':
        return { kind: 'site', text: siteOf(value) }
      case 'lang':
        return { kind: 'lang', text: value.normalize('NFKC').toLowerCase() }
      case 'filetype':
        return { kind: 'type', text: value.normalize('NFKC').toLowerCase().replace(/^\./, '') }
      case 'intitle':
        return { kind: 'title', text: value, isPhrase: isQuoted }
      case 'inurl':
        return { kind: 'url', text: value }
      case 'keyword':
        return { kind: 'keyword', text: value }
      case 'related':
        this.related ??= value
        return null
      case 'before':
      case 'after': {
        const period = periodOf(value)
        if (period === null) {
          this.warn(
            `${operator}:${value} is no date (2026-11-30, 2026-11 or 2026); it was left out.`,
          )
          return null
        }
        const isBefore = operator === 'before'
        return {
          kind: 'time',
          afterMs: isBefore ? null : period.fromMs,
          beforeMs: isBefore ? period.fromMs : null,
        }
      }
      case 'field': {
        const field = fieldTestOf(value)
        if (field !== null) return { kind: 'field', ...field }
        this.warn(`field:${value} is no condition (field:name=value, field:price=10..20).`)
        return { kind: 'words', text: value }
      }
    }
  }
}

/** A host, with a path where one was given; a pasted URL may be the way to say it. */
const siteOf = (value: string): string => {
  const place = value.normalize('NFKC').replace(/^https?:\/\//i, '')
  const slash = place.indexOf('/')
  const host = (slash < 0 ? place : place.slice(0, slash)).toLowerCase()
  return slash < 0 || slash === place.length - 1 ? host : host + place.slice(slash)
}

/** What stands outside of groups: words are matched as `match` says, filters are those of the request. */
function addTop(parsed: ParsedQuery, condition: Condition): void {
  switch (condition.kind) {
    case 'words':
      parsed.pieces.push({ text: condition.text })
      return
    case 'all':
      for (const one of condition.of) addTop(parsed, one)
      return
    case 'lang':
      parsed.lang.push(condition.text)
      return
    case 'type':
      parsed.fileType.push(condition.text)
      return
    case 'keyword':
      parsed.keyword.push(condition.text)
      return
    case 'time':
      parsed.afterMs = latest(parsed.afterMs, condition.afterMs)
      parsed.beforeMs = earliest(parsed.beforeMs, condition.beforeMs)
      return
    case 'site':
      parsed.site.push(condition.text)
      return
    case 'not':
      if (condition.of.kind === 'site' && !condition.of.text.includes('/'))
        parsed.notSite.push(condition.of.text)
      else parsed.conditions.push(condition)
      if (condition.of.kind === 'words') parsed.without.push(condition.of.text)
      if (condition.of.kind === 'phrase') parsed.withoutPhrases.push(condition.of.text)
      return
    case 'phrase':
      parsed.phrases.push(condition.text)
      break
    case 'title':
      parsed.inTitle.push(condition.text)
      break
    case 'any':
    case 'prefix':
    case 'url':
    case 'field':
  }
  parsed.conditions.push(condition)
}

const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)
const earliest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)
