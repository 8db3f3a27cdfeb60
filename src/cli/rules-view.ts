/** What `rules test` shows of one page: everything that its rule made of it. Pure. */
import type { RuleForPage } from '../crawl/described.ts'
import { scopeOf } from '../crawl/jobs.ts'
import type { ParsedItem, ParsedPage } from '../crawl/page.ts'
import type { Difference } from '../crawl/recorded.ts'
import { isInScope } from '../crawl/scope.ts'
import { crawlSpecOfSource, type SourceSpec } from '../crawl/source-file.ts'
import { unpackText } from '../lib/packed-text.ts'
import { normalizeUrl } from '../lib/url.ts'

const tokensShown = 60
const linksShown = 30
const itemsShown = 20
const textCharsShown = 300

export type Result = ReturnType<typeof resultOf>

export function resultOf(
  url: string,
  sources: readonly SourceSpec[],
  rule: RuleForPage | null,
  page: ParsedPage,
) {
  const { simHi, simLo, digest } = page.fingerprint
  const hex = (half: number): string => half.toString(16).padStart(8, '0')
  const text = unpackText(page.text)
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
    items: itemsOf(page),
    links: page.links,
    text: text.slice(0, textCharsShown),
    text_characters: page.textChars,
    javascript_only: page.isShell === true,
    tokens: page.terms.split('\n'),
    keywords: page.keywords.map(({ word }) => word),
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

const itemsOf = ({ items }: ParsedPage) =>
  (Array.isArray(items) ? (items as ParsedItem[]) : []).map(({ url, page }) => ({
    url,
    title: page.title,
    fields: page.fields,
    missing: page.rule?.missing ?? [],
    text_characters: page.textChars,
  }))

const scopeLines = (url: string, sources: readonly SourceSpec[]): string[] =>
  sources.flatMap((source) => {
    const spec = crawlSpecOfSource(source)
    const judged = spec.seeds.map((each) => isInScope(scopeOf(spec, each), url))
    const best = judged.find(({ inScope }) => inScope) ?? judged[0]
    if (best === undefined) return []
    return [`${source.name} ${best.inScope ? 'admits it' : 'does not admit it'}: ${best.line}`]
  })

const shown = (value: unknown): string =>
  Array.isArray(value)
    ? value.join(' | ')
    : typeof value === 'string' || typeof value === 'number'
      ? `${value}`
      : '(none)'

/** "news/article URL", and below it what was expected (-) and what was found (+). */
export function differenceText(report: {
  url: string
  rule: string
  problem: string
  differences: readonly Difference[]
}): string {
  const { url, rule, problem, differences } = report
  const lines = differences.flatMap(({ field, expected, found }) => [
    ...(expected === null ? [] : [`- ${field}: ${shown(expected)}`]),
    `+ ${field}: ${shown(found)}`,
  ])
  const head = [rule, url].filter((part) => part !== '').join(' ')
  const all = [head, ...(problem === '' ? [] : [`! ${problem}`]), ...lines]
  return `${all.join('\n  ')}\n`
}

function itemTexts(items: Result['items']): [string, string][] {
  if (items.length === 0) return []
  const lines = items.slice(0, itemsShown).map(({ url, title, fields, missing }) => {
    const parts = Object.entries(fields).map(([name, value]) => `${name}: ${shown(value)}`)
    const lack = missing.length === 0 ? [] : [`missing: ${missing.join(', ')}`]
    return `${url}  ${title.slice(0, 60)}  {${[...parts, ...lack].join('; ').slice(0, 200)}}`
  })
  const more = items.length > itemsShown ? [`... ${items.length - itemsShown} more`] : []
  const indent = `\n${' '.repeat(13)}`
  return [['items', `${items.length}${indent}${[...lines, ...more].join(indent)}`]]
}

export function resultText(result: Result): string {
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
    ...itemTexts(result.items),
    ['text', `${result.text_characters} characters: ${result.text.replace(/\s+/g, ' ')}`],
    ['tokens', `${result.tokens.length}: ${some(result.tokens, tokensShown, ' ')}`],
    ['keywords', some(result.keywords, tokensShown, ', ')],
    ['simhash', result.simhash],
  ]
  return `${lines.map(([name, value]) => `${name.padEnd(12)} ${value}`).join('\n')}\n`
}
