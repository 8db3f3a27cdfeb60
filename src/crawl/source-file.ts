/**
 * Described sources: what to crawl, how far, how often, with which rules, as one JSON or TOML text or as a value from the API.
 * Every key is checked, defaults are put in; a mistake names its line and path. The format is described in docs/SOURCES.md.
 */
import { AppError } from '../lib/errors.ts'
import { lineOfPath, lineOfOffset } from '../lib/json-lines.ts'
import {
  below,
  choice,
  list,
  number,
  object,
  oneOrMore,
  type Reader,
  text,
  ValueProblem,
} from '../lib/read-value.ts'
import { parseToml } from '../lib/toml.ts'
import { normalizeTyped } from '../lib/url.ts'
import type { CrawlSpec, Scope } from '../store/records.ts'
import { checkPlan, type Plan } from './plan.ts'
import { readFingerprintFields, readRules, refuseUnknownFields } from './rule-file.ts'
import type { Rule } from './rule-types.ts'
import { checkSourceHttp } from './source-http.ts'
import { readPattern, type UrlPattern } from './url-pattern.ts'

/** A described source, resolved: nothing is left to defaults. Plain data, kept as JSON. */
export type SourceSpec = {
  name: string
  seeds: readonly string[]
  scope: Scope
  /** Further URL prefixes in scope. */
  include: readonly string[]
  /** Of what is in scope, only these; none = all. Seeds are fetched all the same. */
  only: readonly UrlPattern[]
  exclude: readonly UrlPattern[]
  maxPages: number | null
  /** Of each host; left out by older versions. */
  maxPagesPerHost?: number | null
  depth: number
  delayMs: number | null
  /** drop: a copy of another page is not kept as a document of its own. */
  copies: 'fold' | 'drop'
  /** A page not confirmed for so long is no longer shown; null = for ever. */
  ttlDays: number | null
  /** When it is crawled by itself; null = only where somebody asks for it. Left out by older versions. */
  schedule?: Plan | null
  /** As given, and proved: secrets stay names of the environment until they are used. null = nothing was said. */
  http: unknown
  rules: readonly Rule[]
}

export const sourcesMax = 1_000
export const sourceFileBytesMax = 4 * 1_024 * 1_024
const seedsMax = 1_000
const patternsMax = 100
const scopes: readonly Scope[] = ['page', 'path', 'host', 'domain', 'any']

/** People paste example.org as often as https://example.org. */
const readUrl: Reader<string> = (value, path) => {
  const given = text({ max: 2_000 })(value, path).trim()
  const url = normalizeTyped(given)
  if (url === null) throw new ValueProblem(path, 'no http or https URL: write "https://host/path"')
  return url
}

const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,62}$/u
const readName: Reader<string> = (value, path) => {
  const name = text({ max: 63 })(value, path)
  if (namePattern.test(name)) return name
  throw new ValueProblem(path, 'letters, digits, blanks, "_", "." and "-" are possible in a name')
}

const readHttp: Reader<unknown> = (value, path) => {
  try {
    checkSourceHttp(value, path)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // The message begins with the place itself.
    const end = error.message.indexOf(': ')
    throw new ValueProblem(error.message.slice(0, end), error.message.slice(end + 2))
  }
  return value
}

const readSchedule: Reader<string> = (value, path) => {
  const given = text({ max: 200 })(value, path)
  try {
    checkPlan(given)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new ValueProblem(path, error.message)
  }
  return given
}

const readShape = object(
  {
    name: readName,
    seeds: oneOrMore(readUrl, { max: seedsMax }),
    scope: choice(scopes),
    include: oneOrMore(readUrl, { max: patternsMax }),
    only: oneOrMore(readPattern, { max: patternsMax }),
    exclude: oneOrMore(readPattern, { max: patternsMax }),
    limits: object(
      {
        pages: number({ min: 1, max: 1_000_000_000 }),
        pagesPerHost: number({ min: 1, max: 1_000_000_000 }),
        depth: number({ min: 0, max: 10_000 }),
        delayMs: number({ min: 0, max: 3_600_000 }),
      },
      [],
    ),
    copies: choice(['fold', 'drop']),
    ttlDays: number({ min: 1, max: 36_500 }),
    schedule: readSchedule,
    timeZone: choice(['local', 'utc']),
    http: readHttp,
    fingerprintFields: readFingerprintFields,
    rules: readRules,
  },
  ['name', 'seeds'],
)

export const depthDefault = 64

/** One source as a user wrote it. @throws ValueProblem */
export const readSource: Reader<SourceSpec> = (value, path) => {
  const read = readShape(value, path)
  const { limits = {} } = read
  if (read.timeZone !== undefined && read.schedule === undefined)
    throw new ValueProblem(below(path, 'timeZone'), 'it says nothing without "schedule"')
  return {
    name: read.name,
    seeds: [...new Set(read.seeds)],
    scope: read.scope ?? 'path',
    include: [...new Set(read.include ?? [])],
    only: read.only ?? [],
    exclude: read.exclude ?? [],
    maxPages: limits.pages ?? null,
    maxPagesPerHost: limits.pagesPerHost ?? null,
    depth: limits.depth ?? depthDefault,
    delayMs: limits.delayMs ?? null,
    copies: read.copies ?? 'fold',
    ttlDays: read.ttlDays ?? null,
    schedule:
      read.schedule === undefined ? null : { text: read.schedule, zone: read.timeZone ?? 'local' },
    http: read.http ?? null,
    rules: withFingerprintFields(read.rules ?? [], read.fingerprintFields, path),
  }
}

/** What the source names holds for each of its rules that names nothing itself. */
function withFingerprintFields(
  rules: readonly Rule[],
  fingerprintFields: readonly string[] | undefined,
  path: string,
): readonly Rule[] {
  if (fingerprintFields === undefined) return rules
  const fields = rules.flatMap((rule) => Object.keys({ ...rule.fields, ...rule.items?.fields }))
  if (rules.length === 0)
    throw new ValueProblem(
      below(path, 'fingerprintFields'),
      'it says nothing without "rules": {"name": "all", "kind": "detail", "match": "/**"} is for every page',
    )
  refuseUnknownFields(fingerprintFields, [...new Set(fields)], path)
  return rules.map((rule) => ({ fingerprintFields, ...rule }))
}

const readFile = object({ sources: list(readSource, { min: 1, max: sourcesMax }) }, ['sources'])

/** A source as it stands in a file, and resolved. */
export type DescribedInFile = { given: unknown; spec: SourceSpec }

/**
 * All sources of a file. `.toml` is read as TOML, anything else as JSON.
 * @throws AppError bad_input: "FILE, line 12: sources[0].rules[1].mach: this key is not known: did you mean "match"?"
 */
export function parseSourceFile(content: string, file: string): DescribedInFile[] {
  const wrong = (line: number | null, what: string): AppError =>
    new AppError('bad_input', `${file}${line === null ? '' : `, line ${line}`}: ${what}`)
  let value: unknown
  const isToml = /\.toml$/i.test(file)
  if (isToml) {
    const parsed = parseToml(content)
    if ('problem' in parsed) throw wrong(parsed.line, parsed.problem)
    value = parsed.value
  } else
    try {
      value = JSON.parse(content)
    } catch (error) {
      const { message } = error as Error
      const offset = /position (\d+)/.exec(message)?.[1]
      throw wrong(
        offset === undefined ? null : lineOfOffset(content, Number(offset)),
        `no JSON: ${message}`,
      )
    }
  try {
    const { sources } = readFile(value, '')
    sources.forEach(({ name }, i) => {
      if (sources.findIndex((source) => source.name === name) < i)
        throw new ValueProblem(`sources[${i}].name`, `there is a source "${name}" already`)
    })
    const given = (value as { sources: unknown[] }).sources
    return sources.map((spec, i) => ({ given: given[i], spec }))
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    const { path, message } = error
    throw wrong(lineOfPath(content, path, isToml), path === '' ? message : `${path}: ${message}`)
  }
}

/** One source from a request. @throws AppError invalid_parameter, naming the path */
export function parseSource(value: unknown): SourceSpec {
  try {
    return readSource(value, '')
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    const { path, message } = error
    throw new AppError('invalid_parameter', path === '' ? message : `${path}: ${message}`)
  }
}

/** The wish to crawl that a described source is. */
export const crawlSpecOfSource = (source: SourceSpec): CrawlSpec => {
  const { name, seeds, scope, include, only, exclude, maxPages, depth, delayMs } = source
  const { maxPagesPerHost = null } = source
  const limits = { maxPages, maxPagesPerHost, depth, delayMs }
  return { source: name, seeds, scope, include, only, exclude, ...limits }
}
