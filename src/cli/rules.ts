/** `findling rules test`: one page through robots, fetch and parser as in a crawl, and all that its rule makes of it. Writes nothing. */
import assert from 'node:assert'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { spawnThread, textTables } from '../assets.ts'
import { httpOfSource, ruleAmong, type RuleForPage } from '../crawl/described.ts'
import { fetchPage, fetchRobots } from '../crawl/fetch.ts'
import { scopeOf } from '../crawl/jobs.ts'
import type { ParsedPage, ParseOutcome } from '../crawl/page.ts'
import { createRobotsGate } from '../crawl/robots-gate.ts'
import { isInScope } from '../crawl/scope.ts'
import { Session } from '../crawl/session.ts'
import { crawlSpecOfSource, type SourceSpec } from '../crawl/source-file.ts'
import { agentToken, egressOptions, fetchLimits } from '../egress-options.ts'
import { createEgress } from '../lib/egress.ts'
import { AppError } from '../lib/errors.ts'
import { createPool, JobFailure } from '../lib/pool.ts'
import { normalizeUrl } from '../lib/url.ts'
import { machineOf } from '../machine.ts'
import { profileOf } from '../memory.ts'
import type { ParserAnswer, ParserJob } from '../parser.ts'
import { formatOf, write, type Call, type CommandOption } from './command.ts'
import { readSourceFile } from './sources.ts'

export const rulesOptions: Readonly<Record<string, CommandOption>> = {
  url: { type: 'string', value: 'URL', about: 'Address of a page that is given as a file.' },
}

type Input = {
  url: string
  body: ArrayBuffer
  encoding: string
  contentType: string
  robotsTag: string
}

const tokensShown = 60
const linksShown = 30
const textCharsShown = 300
const seed = 1

/** Exits 1 where no rule is for the page, or the rule did not find what it must. */
export async function rulesCommand(call: Call): Promise<number> {
  const format = formatOf(call, 'text')
  const [verb, target = ''] = call.operands
  if (verb !== 'test')
    throw new AppError('usage', `rules ${verb ?? ''}: rules test URL|FILE is wanted.`)
  if (call.config.sources === '')
    throw new AppError('usage', 'rules test needs --sources FILE, which holds the rules.')
  const sources = readSourceFile(call.config.sources).map(({ spec }) => spec)
  const isFile = existsSync(target) && statSync(target).isFile()
  const url = addressOf(isFile ? (call.options['url'] ?? firstSeed(sources)) : target)
  const rule = ruleAmong(sources, url)
  const input = isFile ? readPageFile(target, url) : await fetchInput(call, url, rule, sources)
  const outcome = await parseOne(call, input, rule)
  if (outcome.kind !== 'page')
    throw new AppError('bad_input', `${url} is not read: ${outcome.reason}`)
  const result = resultOf(url, sources, rule, outcome.page)
  await write(format === 'text' ? resultText(result) : `${JSON.stringify(result)}\n`)
  return isAsWanted(outcome.page) ? 0 : 1
}

const firstSeed = (sources: readonly SourceSpec[]): string => sources[0]?.seeds[0] ?? ''

function addressOf(given: unknown): string {
  const url = typeof given === 'string' ? normalizeUrl(given) : null
  if (url === null)
    throw new AppError('usage', `${String(given)} is neither a file nor an http or https URL.`)
  return url
}

const typesByName: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
}

function readPageFile(file: string, url: string): Input {
  const bytes = readFileSync(resolve(file))
  const body = new ArrayBuffer(bytes.byteLength)
  new Uint8Array(body).set(bytes)
  const contentType = typesByName[extname(file).toLowerCase()] ?? 'text/html'
  return { url, body, encoding: '', contentType, robotsTag: '' }
}

/** As its source asks for its pages: with a login where there is one. */
async function fetchInput(
  { config, log }: Call,
  url: string,
  rule: RuleForPage | null,
  sources: readonly SourceSpec[],
): Promise<Input> {
  const egress = createEgress(egressOptions(config))
  try {
    const source = sources.find(({ name }) => name === rule?.source) ?? sources[0]
    assert(source, 'a file of sources has at least one')
    const { http, homes } = httpOfSource(source)
    for (const asked of [url, ...(http.login === null ? [] : [http.login.url])]) {
      const { hostname, port, protocol } = new URL(asked)
      egress.allowPort(hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
    }
    const session = new Session(egress, http, log, Date.now, homes)
    const ask = (origin: string) => fetchRobots(session.bare, origin)
    const robots = createRobotsGate(
      agentToken,
      ask,
      () => null,
      () => {},
    )
    const judged = await robots.judge(url, Date.now())
    if (judged.kind !== 'allowed')
      throw new AppError('bad_input', `robots.txt does not allow ${url}`)
    const visit = { url, etag: null, modified: null }
    const takes = rule?.rule.format === 'json' ? 'lists' : 'pages'
    const outcome = await fetchPage(session, visit, { ...fetchLimits(config), takes })
    if (outcome.kind === 'page') return { ...outcome, url: outcome.finalUrl }
    const why = 'reason' in outcome ? outcome.reason : 'to' in outcome ? `to ${outcome.to}` : ''
    throw new AppError('bad_input', `${url} gave no page: ${outcome.kind} ${why}`.trim())
  } finally {
    await egress.close()
  }
}

/** In a parser thread of its own, under its limits of time and memory. */
async function parseOne(call: Call, input: Input, rule: RuleForPage | null): Promise<ParseOutcome> {
  const profile = profileOf(call.config, machineOf(process.cwd(), call.config.flash))
  const config = { ...call.config, ...profile.settings }
  const data = { config, usesKeywordModel: profile.usesKeywordModel, tables: textTables() }
  const pool = createPool<ParserJob, ParserAnswer>({
    spawn: () => spawnThread('parser', data, { resourceLimits: profile.heaps.parser }),
    sizeMax: 1,
    jobTimeoutMs: config['parse-timeout-ms'],
    queueMax: 1,
  })
  try {
    const job = { ...input, rule, depth: 0, seed }
    const { outcome } = await pool.run({ kind: 'page', job }, [input.body])
    // A page is answered as one.
    return outcome as ParseOutcome
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    return { kind: 'failed', reason: `the parser gave up: ${error.kind}, ${error.message}` }
  } finally {
    await pool.close()
  }
}

function isAsWanted({ rule }: ParsedPage): boolean {
  if (rule === undefined) return false
  const { missing, problems, unexpected } = rule
  return missing.length === 0 && problems.length === 0 && (unexpected ?? []).length === 0
}

type Result = ReturnType<typeof resultOf>

function resultOf(
  url: string,
  sources: readonly SourceSpec[],
  rule: RuleForPage | null,
  page: ParsedPage,
) {
  const { simHi, simLo, digest } = page.fingerprint
  const hex = (half: number): string => half.toString(16).padStart(8, '0')
  const text = inflateRawSync(page.text).toString('utf8')
  return {
    url,
    scope: scopeLines(url, sources),
    rule: rule === null ? null : `${rule.source}/${rule.rule.name}`,
    kind: rule?.rule.kind ?? null,
    stored: page.isUnstored !== true && !page.noindex,
    title: page.title,
    author: page.author,
    published_at: page.publishedAtMs === null ? null : new Date(page.publishedAtMs).toISOString(),
    lang: page.lang,
    fields: page.fields,
    empty: page.rule?.empty ?? [],
    missing: page.rule?.missing ?? [],
    problems: page.rule?.problems ?? [],
    expected: expectedOf(url, rule, page),
    links: page.links,
    text: text.slice(0, textCharsShown),
    text_characters: page.textChars,
    javascript_only: page.isShell === true,
    tokens: page.terms.split('\n'),
    keywords: page.keywords,
    simhash: hex(simHi) + hex(simLo),
    digest: Buffer.from(digest).toString('hex'),
  }
}

/** What the rule expects and the page has not: field -> both. */
function expectedOf(url: string, rule: RuleForPage | null, page: ParsedPage) {
  const wanted = rule?.rule.expect.find((each) => normalizeUrl(each.url) === url)?.fields ?? {}
  return Object.fromEntries(
    (page.rule?.unexpected ?? []).map((name) => [
      name,
      { wanted: wanted[name], found: page.fields[name] ?? null },
    ]),
  )
}

const scopeLines = (url: string, sources: readonly SourceSpec[]): string[] =>
  sources.flatMap((source) => {
    const spec = crawlSpecOfSource(source)
    const judged = spec.seeds.map((each) => isInScope(scopeOf(spec, each), url))
    const best = judged.find(({ inScope }) => inScope) ?? judged[0]
    if (best === undefined) return []
    return [`${source.name} ${best.inScope ? 'admits it' : 'does not admit it'}: ${best.line}`]
  })

function resultText(result: Result): string {
  const shown = (value: unknown): string =>
    Array.isArray(value)
      ? value.join(' | ')
      : typeof value === 'string' || typeof value === 'number'
        ? `${value}`
        : '(none)'
  const some = (values: readonly string[], max: number, glue: string): string =>
    values.length === 0
      ? '(none)'
      : values.slice(0, max).join(glue) +
        (values.length > max ? `${glue}... ${values.length - max} more` : '')
  const lines: [string, string][] = [
    ['url', result.url],
    ...result.scope.map((line): [string, string] => ['scope', line]),
    ['rule', result.rule === null ? 'none is for this URL' : `${result.rule} (${result.kind})`],
    ['stored', result.stored ? 'yes' : 'no'],
    ['title', result.title],
    ['author', result.author],
    ['date', result.published_at ?? ''],
    ['language', result.lang],
    ...Object.entries(result.fields).map(([name, value]): [string, string] => [
      `. ${name}`,
      shown(value),
    ]),
    ...result.empty.map((name): [string, string] => [
      `. ${name}`,
      result.missing.includes(name) ? '(empty, though required)' : '(empty)',
    ]),
    ...Object.entries(result.expected).map(([name, { wanted, found }]): [string, string] => [
      'expected',
      `${name}: ${shown(wanted)}, found ${shown(found)}`,
    ]),
    ...result.problems.map((problem): [string, string] => ['problem', problem]),
    ...(result.javascript_only
      ? [['javascript', 'there is nothing to read before JavaScript runs'] as [string, string]]
      : []),
    [
      'links',
      `${result.links.length}\n${' '.repeat(13)}${some(result.links, linksShown, `\n${' '.repeat(13)}`)}`,
    ],
    ['text', `${result.text_characters} characters: ${result.text.replace(/\s+/g, ' ')}`],
    ['tokens', `${result.tokens.length}: ${some(result.tokens, tokensShown, ' ')}`],
    ['keywords', some(result.keywords, tokensShown, ', ')],
    ['simhash', result.simhash],
  ]
  return `${lines.map(([name, value]) => `${name.padEnd(12)} ${value}`).join('\n')}\n`
}
