/** Where a rule meets the page: HTML with its rule applied, and JSON documents, which only a rule asks for. */
import { copyOf, shownLine } from './kept-text.ts'
import type { AppliedRule } from './apply-rule.ts'
import type { AppliedItem } from './rule-items.ts'
import type { RuleReport } from './rule-types.ts'
import type { Content } from './extract.ts'
import { asText, textsOf } from './json-list.ts'
import type { ParsedPage, ParseJob } from './page.ts'
import { dateIn } from './page-date.ts'
import type { PageTree } from './page-tree.ts'

const jsonTextCharsMax = 1_000_000

type RuledParts = Pick<ParsedPage, 'fields' | 'links'> & Pick<ParsedPage, 'rule' | 'isUnstored'>

/** Loaded for the first page with a rule: a crawl without them never pays for a DOM. */
const applied = async (...args: Parameters<typeof import('./apply-rule.ts').applyRule>) =>
  (await import('./apply-rule.ts')).applyRule(...args)

/** Applies the rule of the job, if it has one. */
export async function applyToHtml(
  html: string,
  { url, rule, depth }: ParseJob,
  { metas, jsonLd, shape }: PageTree,
): Promise<AppliedRule | null> {
  if (rule === null) return null
  return applied(rule, { kind: 'html', html, shape, url, depth, metas, jsonLd })
}

/** The content with what the rule found in its place. */
export function withRule(content: Content, found: Pick<AppliedRule, 'page'> | null): Content {
  if (found === null) return content
  const { title, text, description, author, date } = found.page
  return {
    ...content,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(author === undefined ? {} : { author }),
    ...(date === undefined ? {} : { publishedAtMs: dateIn(date) }),
    ...(text === undefined ? {} : textInstead(content, text)),
  }
}

/** What the rule left out stays findable, as the rest of the page. */
const textInstead = (content: Content, text: string): Partial<Content> => ({
  text,
  rest: [content.text, content.rest].filter((part) => part !== '').join('\n'),
  confidence: 1,
  doubtful: '',
})

/** What a page with a rule has beside its text. `pageLinks`: all links of the page, for rules that follow them. */
export function ruledParts(
  { rule }: ParseJob,
  found: AppliedRule | null,
  pageLinks: readonly string[],
): RuledParts {
  if (rule === null || found === null) return { fields: {}, links: pageLinks }
  const links = rule.rule.follow ? [...new Set([...found.links, ...pageLinks])] : found.links
  return {
    fields: found.fields,
    links,
    rule: found.report,
    ...(rule.rule.store ? {} : { isUnstored: true as const }),
  }
}

/** A JSON document as a page: its texts, under the title that its rule or a member of a usual name gives; null where it is no JSON. */
export async function readJsonPage(
  text: string,
  { url, rule, depth }: ParseJob,
): Promise<{ content: Content; found: AppliedRule } | null> {
  if (rule === null) return null
  let document: unknown
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return null // said to the user as the reason of the refusal
  }
  const found = await applied(rule, {
    kind: 'json',
    document,
    url,
    depth,
    metas: new Map(),
    jsonLd: [],
  })
  const member = (name: string): string =>
    typeof document === 'object' && document !== null && Object.hasOwn(document, name)
      ? asText((document as Record<string, unknown>)[name])
      : ''
  const title = shownLine(member('title') || member('name')) || url
  const content: Content = {
    title,
    description: '',
    author: '',
    publishedAtMs: null,
    text: copyOf(textsOf(document, jsonTextCharsMax)) || title,
    headings: '',
    rest: '',
    confidence: 1,
    doubtful: '',
    kind: 'all',
  }
  return { content: withRule(content, found), found }
}

/** What can be read of an item, before its rule says otherwise. */
export const contentOfItem = ({ title, text }: AppliedItem): Content => ({
  title: shownLine(title),
  description: '',
  author: '',
  publishedAtMs: null,
  text: copyOf(text) || title,
  headings: '',
  rest: '',
  confidence: 1,
  doubtful: '',
  kind: 'all',
})

/** How the rule fared on one item of its page. */
export const reportOfItem = (
  { source, rule }: RuleReport,
  { empty, missing }: AppliedItem,
): RuleReport => ({ source, rule, empty, missing, problems: [], unexpected: null, links: 0 })
