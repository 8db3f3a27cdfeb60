/** Applies a rule to a page or a JSON document: fields, links, what stands in for title and text. Total: what cannot be done is a problem in the report. */
import { normalizeUrl } from '../lib/url.ts'
import type { RuleForPage } from './described.ts'
import { type AppliedItem, readItems } from './rule-items.ts'
import { Reader, type RuleSubject } from './rule-reader.ts'
import type {
  Expectation,
  Extractor,
  FieldResult,
  FieldSpec,
  PageProperty,
  Rule,
  RuleReport,
} from './rule-types.ts'
import { openRulePage } from './rules.ts'

export type { RuleSubject } from './rule-reader.ts'

export type AppliedRule = {
  fields: Record<string, FieldResult>
  page: Partial<Record<PageProperty, string>>
  /** Canonical, distinct, without the page itself. */
  links: string[]
  /** Left out where the rule has none; 'unknown' where the page cannot be read for them. */
  items?: AppliedItem[] | 'unknown'
  report: RuleReport
}

const problemsMax = 20
const problemCharsMax = 200

export function applyRule({ source, rule }: RuleForPage, subject: RuleSubject): AppliedRule {
  const problems: string[] = []
  const report = (what: string, problem: string): void => {
    if (problems.length < problemsMax)
      problems.push(`${what}: ${problem.replace(/\s+/g, ' ').slice(0, problemCharsMax)}`)
  }
  const needsPage = subject.kind === 'html' && usesDocument(rule)
  const page = needsPage ? openRulePage(subject.html, subject.url, subject.shape) : null
  if (typeof page === 'string') report('page', page)
  const reader = new Reader(subject, typeof page === 'string' ? null : page, report)
  const fields: Record<string, FieldResult> = {}
  const empty: string[] = []
  for (const [name, spec] of Object.entries(rule.fields)) {
    const value = reader.field(name, spec)
    if (value === null) empty.push(name)
    else fields[name] = value
  }
  const shown: Partial<Record<PageProperty, string>> = {}
  for (const [name, spec] of Object.entries(rule.page) as [PageProperty, FieldSpec][]) {
    const value = reader.field(name, name === 'date' ? { type: 'date', ...spec } : spec)
    if (value !== null) shown[name] = Array.isArray(value) ? value.join('\n') : String(value)
  }
  const links = reader.links(rule)
  const items =
    rule.items === undefined
      ? undefined
      : typeof page === 'string'
        ? ('unknown' as const)
        : readItems(reader, rule.items, subject.url, report)
  const missing = empty.filter((name) => rule.fields[name]?.required === true)
  return {
    fields,
    page: shown,
    links,
    ...(items === undefined ? {} : { items }),
    report: {
      source,
      rule: rule.name,
      empty,
      missing,
      problems,
      unexpected: unexpectedIn(rule.expect, subject.url, fields),
      links: links.length,
      ...(items === undefined || items === 'unknown' ? {} : { items: itemsReport(items) }),
    },
  }
}

function itemsReport(items: readonly AppliedItem[]): NonNullable<RuleReport['items']> {
  const empty: Record<string, number> = {}
  for (const item of items) for (const name of item.empty) empty[name] = (empty[name] ?? 0) + 1
  const incomplete = items.filter(({ missing }) => missing.length > 0).length
  return { found: items.length, empty, incomplete }
}

/** Names of fields that differ from what the rule expects of this URL; null where it expects nothing. */
function unexpectedIn(
  expectations: readonly Expectation[],
  url: string,
  fields: Readonly<Record<string, FieldResult>>,
): string[] | null {
  const expected = expectations.find((each) => normalizeUrl(each.url) === url)
  if (expected === undefined) return null
  return Object.entries(expected.fields)
    .filter(([name, value]) => JSON.stringify(fields[name]) !== JSON.stringify(value))
    .map(([name]) => name)
}

const isOfDocument = ({ css, xpath, itemprop }: Extractor): boolean =>
  css !== undefined || xpath !== undefined || itemprop !== undefined

function usesDocument({ fields, page, links, next, details, items }: Rule): boolean {
  const extractors = [
    ...Object.values(fields),
    ...Object.values(page),
    ...links,
    ...next,
    ...details.flatMap(({ values, each }) => [...Object.values(values), each ?? {}]),
    // The rest of an item is looked for in what holds it.
    ...(items === undefined ? [] : [items.each]),
  ]
  return extractors.some(isOfDocument)
}
