/** `findling rules test`: what rules make of pages, whether that is what they are expected to make, and `--record`, which keeps it. */
import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { ruleAmong, type RuleForPage } from '../crawl/described.ts'
import type { ParsedPage } from '../crawl/page.ts'
import {
  type Difference,
  differencesOf,
  type Recorded,
  recordedFileOf,
  recordedText,
  withNewer,
} from '../crawl/recorded.ts'
import type { FieldResult } from '../crawl/rule-types.ts'
import type { SourceSpec } from '../crawl/source-file.ts'
import { AppError } from '../lib/errors.ts'
import { normalizeUrl } from '../lib/url.ts'
import { formatOf, write, type Call, type CommandOption } from './command.ts'
import { PageTrial, readPageFile } from './page-trial.ts'
import { differenceText, resultOf, resultText } from './rules-view.ts'
import { readRecordedFile, readSourceFile } from './sources.ts'

export const rulesOptions: Readonly<Record<string, CommandOption>> = {
  url: { type: 'string', value: 'URL', about: 'Address of a page that is given as a file.' },
  record: {
    type: 'boolean',
    about: 'Keeps the fields that were found, beside the sources: they are expected from then on.',
  },
}

/**
 * Exits 1 where no rule is for a page, or a rule did not find what it must, or not what is expected of the page. Without a page: all pages of
 * which something is expected.
 */
export async function rulesCommand(call: Call): Promise<number> {
  const [verb, ...targets] = call.operands
  if (verb !== 'test')
    throw new AppError('usage', `rules ${verb ?? ''}: rules test URL|FILE is wanted.`)
  if (call.config.sources === '')
    throw new AppError('usage', 'rules test needs --sources FILE, which holds the rules.')
  const sources = readSourceFile(call.config.sources).map(({ spec }) => spec)
  const trial = new PageTrial(call, sources)
  try {
    if (call.options['record'] === true) return await recordAll(call, trial, sources, targets)
    if (targets.length === 0) return await testAll(call, trial, sources)
    let code = 0
    for (const target of targets) code = Math.max(code, await testOne(call, trial, sources, target))
    return code
  } finally {
    await trial.close()
  }
}

type Tried = { url: string; rule: RuleForPage | null; page: ParsedPage }

/** @throws AppError bad_input where it is no page that can be read */
async function tryOne(
  call: Call,
  trial: PageTrial,
  sources: readonly SourceSpec[],
  target: string,
): Promise<Tried> {
  const isFile = existsSync(target) && statSync(target).isFile()
  const url = addressOf(isFile ? (call.options['url'] ?? firstSeed(sources)) : target)
  const rule = ruleAmong(sources, url)
  const input = isFile ? readPageFile(target, url) : await trial.fetch(url, rule)
  const outcome = await trial.parse(input, rule)
  if (outcome.kind !== 'page')
    throw new AppError('bad_input', `${url} is not read: ${outcome.reason}`)
  return { url, rule, page: outcome.page }
}

async function testOne(
  call: Call,
  trial: PageTrial,
  sources: readonly SourceSpec[],
  target: string,
): Promise<number> {
  const { url, rule, page } = await tryOne(call, trial, sources, target)
  const result = resultOf(url, sources, rule, page)
  const isText = formatOf(call, 'text') === 'text'
  await write(isText ? resultText(result) : `${JSON.stringify(result)}\n`)
  return isAsWanted(page) ? 0 : 1
}

type Report = {
  url: string
  rule: string
  /** Why there is nothing to compare; '' where there is. */
  problem: string
  differences: Difference[]
}

/** Every page of which the sources, or what was recorded, expect something. */
async function testAll(
  call: Call,
  trial: PageTrial,
  sources: readonly SourceSpec[],
): Promise<number> {
  const reports: Report[] = []
  for (const { source, rule, url, fields } of expectedPages(sources)) {
    const name = `${source}/${rule}`
    try {
      const tried = await tryOne(call, trial, sources, url)
      const isOther = tried.rule?.source !== source || tried.rule.rule.name !== rule
      const problem = isOther ? 'another rule is for it now' : troubleOf(tried.page)
      const differences = isOther ? [] : differencesOf(fields, foundBy(tried))
      reports.push({ url, rule: name, problem, differences })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'bad_input') throw error
      reports.push({ url, rule: name, problem: error.message, differences: [] })
    }
  }
  if (reports.length === 0)
    throw new AppError(
      'usage',
      'Nothing is expected of any page: name one, or keep what is found by --record.',
    )
  const bad = reports.filter((one) => one.problem !== '' || one.differences.length > 0)
  const isText = formatOf(call, 'text') === 'text'
  if (!isText) for (const one of reports) await write(`${JSON.stringify(one)}\n`)
  else {
    for (const one of bad) await write(differenceText(one))
    const count = `${bad.length} of ${reports.length} pages`
    await write(
      bad.length === 0
        ? `${reports.length} pages are as expected\n`
        : `${count} are not as expected\n`,
    )
  }
  return bad.length === 0 ? 0 : 1
}

/** Without a page: all of which something is expected are recorded anew. A page without a rule, or that lacks what it must have, is not. */
async function recordAll(
  call: Call,
  trial: PageTrial,
  sources: readonly SourceSpec[],
  targets: readonly string[],
): Promise<number> {
  const file = recordedFileOf(call.config.sources)
  const before = readRecordedFile(call.config.sources)
  const isText = formatOf(call, 'text') === 'text'
  const expected = expectedPages(sources)
  const newer: Recorded[] = []
  let code = 0
  for (const target of targets.length > 0 ? targets : expected.map(({ url }) => url)) {
    const tried = await tryOne(call, trial, sources, target)
    const { url, rule, page } = tried
    const fields = foundBy(tried)
    const problem = rule === null ? 'no rule is for it' : troubleOf(page)
    const name = rule === null ? '' : `${rule.source}/${rule.rule.name}`
    const was = expected.find((one) => one.url === url && `${one.source}/${one.rule}` === name)
    const names = [...new Set([...Object.keys(was?.fields ?? {}), ...Object.keys(fields)])]
    const differences = differencesOf(was?.fields ?? {}, fields, names)
    const report: Report = { url, rule: name, problem, differences }
    if (rule === null || problem !== '') code = 1
    else newer.push({ source: rule.source, rule: rule.rule.name, url, fields })
    await write(isText ? differenceText(report) : `${JSON.stringify(report)}\n`)
  }
  if (newer.length === 0) return 1
  writeFileSync(`${file}.new`, recordedText(withNewer(before, newer)))
  renameSync(`${file}.new`, file)
  // Proves that the two files still go together, before a crawl has to.
  readSourceFile(call.config.sources)
  if (isText) await write(`${newer.length} pages recorded in ${basename(file)}\n`)
  return code
}

const expectedPages = (sources: readonly SourceSpec[]): Recorded[] =>
  sources.flatMap(({ name, rules }) =>
    rules.flatMap((rule) =>
      rule.expect.map(({ url, fields }) => ({
        source: name,
        rule: rule.name,
        url: normalizeUrl(url) ?? url,
        fields,
      })),
    ),
  )

/** The fields that the rule of the page names; others come from elsewhere (word lists). */
const foundBy = ({ rule, page }: Tried): Record<string, FieldResult> =>
  Object.fromEntries(
    Object.entries(page.fields).filter(([name]) => rule?.rule.fields[name] !== undefined),
  ) as Record<string, FieldResult>

const firstSeed = (sources: readonly SourceSpec[]): string => sources[0]?.seeds[0] ?? ''

function addressOf(given: unknown): string {
  const url = typeof given === 'string' ? normalizeUrl(given) : null
  if (url === null)
    throw new AppError('usage', `${String(given)} is neither a file nor an http or https URL.`)
  return url
}

/** What is wrong whatever is expected; '' where nothing is. */
function troubleOf({ rule }: ParsedPage): string {
  if (rule === undefined) return 'no rule is for it'
  const { missing, problems } = rule
  if (missing.length > 0) return `required fields are missing: ${missing.join(', ')}`
  return problems[0] ?? ''
}

const isAsWanted = (page: ParsedPage): boolean =>
  troubleOf(page) === '' && (page.rule?.unexpected ?? []).length === 0
