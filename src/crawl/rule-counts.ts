/** How rules fare over a job, as counts that say when a site has changed under them: "field price empty in 9 of 10 pages". Pure. */
import type { RuleCounts } from '../store/records.ts'
import type { RuleForPage } from './described.ts'
import type { ParsedPage } from './page.ts'
import type { RuleReport } from './rule-types.ts'

/** Rules counted in one job; a rule has a bounded number of fields. */
const rulesMax = 200

export function countRule(counts: Record<string, RuleCounts>, report: RuleReport): void {
  const name = `${report.source}/${report.rule}`
  const known = counts[name]
  if (known === undefined && Object.keys(counts).length >= rulesMax) return
  const count = (counts[name] = known ?? emptyCounts())
  count.pages++
  count.links += report.links
  if (report.missing.length > 0) count.incomplete++
  for (const field of report.empty) count.empty[field] = (count.empty[field] ?? 0) + 1
  for (const field of report.unexpected ?? [])
    count.unexpected[field] = (count.unexpected[field] ?? 0) + 1
  if (report.items !== undefined) countItems(count, report.items)
  if (report.problems.length > 0) {
    count.troubled++
    count.problem = report.problems[0] ?? ''
  }
}

function countItems(count: RuleCounts, items: NonNullable<RuleReport['items']>): void {
  const of = (count.items ??= { found: 0, empty: {}, incomplete: 0, pagesWithout: 0 })
  of.found += items.found
  of.incomplete += items.incomplete
  if (items.found === 0) of.pagesWithout++
  for (const [field, n] of Object.entries(items.empty)) of.empty[field] = (of.empty[field] ?? 0) + n
}

const emptyCounts = (): RuleCounts => ({
  pages: 0,
  empty: {},
  unexpected: {},
  incomplete: 0,
  links: 0,
  troubled: 0,
  problem: '',
})

/** What a page that was read without its rule says of it. */
export const failedRule = (
  { source, rule }: RuleForPage,
  problem: string,
): Pick<ParsedPage, 'rule' | 'items'> => ({
  ...(rule.items === undefined ? {} : { items: 'unknown' as const }),
  rule: {
    source,
    rule: rule.name,
    empty: Object.keys(rule.fields),
    missing: Object.keys(rule.fields).filter((name) => rule.fields[name]?.required === true),
    problems: [problem],
    unexpected: null,
    links: 0,
  },
})
