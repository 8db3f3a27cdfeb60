/** Values that rules were seen to find (`rules test --record`): kept in a file beside that of the sources, and expected of the same pages from then on. Pure. */
import { AppError } from '../lib/errors.ts'
import { named, list, object, text, type Reader, ValueProblem, number } from '../lib/read-value.ts'
import { normalizeUrl } from '../lib/url.ts'
import { expectationsMax, fieldNames, readResult } from './rule-file.ts'
import type { Expectation, FieldResult, Rule } from './rule-types.ts'
import { type DescribedInFile, parseSource, sourcesMax } from './source-file.ts'

/** What one page gave. */
export type Recorded = { source: string; rule: string } & Expectation

const version = 1
const recordedMax = sourcesMax * 10

const readRecorded: Reader<Recorded> = object(
  {
    source: text({ max: 63 }),
    rule: text({ max: 64 }),
    url: text({ max: 2_048 }),
    fields: named(fieldNames, readResult),
  },
  ['source', 'rule', 'url', 'fields'],
)
const readFile = object(
  {
    version: number({ min: version, max: version }),
    recorded: list(readRecorded, { max: recordedMax }),
  },
  ['version', 'recorded'],
)

/** "sources.json" -> "sources.expected.json" */
export const recordedFileOf = (sourceFile: string): string =>
  `${sourceFile.replace(/\.(?:json|toml)$/i, '')}.expected.json`

/** @throws AppError bad_input, naming file and place */
export function parseRecorded(content: string, file: string): Recorded[] {
  try {
    return [...readFile(JSON.parse(content), '').recorded]
  } catch (error) {
    if (error instanceof ValueProblem)
      throw new AppError('bad_input', `${file}: ${error.path}: ${error.message}`)
    if (!(error instanceof SyntaxError)) throw error
    throw new AppError('bad_input', `${file}: no JSON: ${error.message}`)
  }
}

/** In an order that keeps differences between versions of the file small. */
export function recordedText(recorded: readonly Recorded[]): string {
  const key = ({ source, rule, url }: Recorded): string => `${source}\n${rule}\n${url}`
  const sorted = recorded.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
  return `${JSON.stringify({ version, recorded: sorted }, null, 2)}\n`
}

/** The newer take the place of those of the same page and rule. */
export function withNewer(before: readonly Recorded[], newer: readonly Recorded[]): Recorded[] {
  const isSame = (a: Recorded, b: Recorded): boolean =>
    a.source === b.source && a.rule === b.rule && a.url === b.url
  return [...before.filter((old) => !newer.some((each) => isSame(old, each))), ...newer]
}

/**
 * The sources with what was recorded among what their rules expect. What the file of the sources says itself of a page and field stays; what
 * was recorded by a rule, or of a field, that is no longer there is left out.
 * @throws AppError bad_input where a rule would expect too much
 */
export function withRecorded(
  described: readonly DescribedInFile[],
  recorded: readonly Recorded[],
): DescribedInFile[] {
  return described.map((one) => {
    const own = recorded.filter(({ source }) => source === one.spec.name)
    if (own.length === 0) return one
    const { rules: givenRules } = one.given as { rules?: readonly object[] }
    const rules = one.spec.rules.map((rule, i) => ({
      ...givenRules?.[i],
      ...expectOf(rule, own),
    }))
    const given = { ...(one.given as object), rules }
    return { given, spec: parseSource(given) }
  })
}

function expectOf(rule: Rule, recorded: readonly Recorded[]): { expect?: Expectation[] } {
  const expect = rule.expect.map(({ url, fields }) => ({ url, fields: { ...fields } }))
  for (const { rule: name, url, fields } of recorded) {
    if (name !== rule.name) continue
    const known = Object.fromEntries(
      Object.entries(fields).filter(([field]) => rule.fields[field] !== undefined),
    )
    const written = expect.find((each) => normalizeUrl(each.url) === normalizeUrl(url))
    if (written !== undefined) written.fields = { ...known, ...written.fields }
    else if (Object.keys(known).length > 0) expect.push({ url, fields: known })
  }
  if (expect.length > expectationsMax)
    throw new AppError(
      'bad_input',
      `rule "${rule.name}" expects values of ${expect.length} pages: at most ${expectationsMax} are possible`,
    )
  return expect.length === 0 ? {} : { expect }
}

export type Difference = { field: string; expected: FieldResult | null; found: FieldResult | null }

/** Field by field, where the two are not equal. null = without a value. */
export function differencesOf(
  expected: Readonly<Record<string, FieldResult>>,
  found: Readonly<Record<string, FieldResult>>,
  names: readonly string[] = Object.keys(expected),
): Difference[] {
  return names.flatMap((field): Difference[] => {
    const [was, is] = [expected[field] ?? null, found[field] ?? null]
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ field, expected: was, found: is }]
  })
}
