/** Why a URL is, or is not, in the index: everything the crawl knows of one address, in plain words. Asks nothing of the network. */
import { hasRepeatingPath, normalizeUrl } from '../lib/url.ts'
import { AppError } from '../lib/errors.ts'
import type { OriginReason } from '../store/copies.ts'
import type { DocumentRecord, UrlStory } from '../store/records.ts'
import type { DocumentNote } from '../store/read-documents.ts'
import type { Store } from '../store/store.ts'
import type { UrlRow } from '../store/urls.ts'
import type { Described } from './described.ts'
import { changeLines, isoTime, learnedLines, visitLines } from './explain-host.ts'
import { expiredReason } from './expiry.ts'
import { trapReason } from './frontier-rows.ts'
import type { HostRules } from './host-rules.ts'
import { itemUrl } from './item-url.ts'
import type { RobotsGate } from './robots-gate.ts'
import { isInScope, type ScopeSpec } from './scope.ts'
import type { SeenFilter } from './seen.ts'

export type ExplainTools = {
  store: Store
  robots: RobotsGate
  scopes: ReadonlyMap<number, ScopeSpec>
  seen: SeenFilter
  rules: Pick<HostRules, 'describe' | 'shorten' | 'isClosed'>
  described: Pick<Described, 'ruleFor'>
  /** What is left of the limits by host. */
  budgetLines?: (url: string) => readonly Line[]
}

type Line = UrlStory['lines'][number]

/** @throws AppError invalid_parameter */
export function explainUrl(text: string, tools: ExplainTools): UrlStory {
  const { store } = tools
  const canonicalUrl = addressOf(text, store)
  if (canonicalUrl === null)
    throw new AppError('invalid_parameter', `no http or https URL: ${text.slice(0, 200)}`)
  const row = store.urlRow(canonicalUrl)
  const document = row === null ? null : store.documentByUrlId(row.id)
  const lines: Line[] = [
    ...addressLines(text, canonicalUrl),
    ...scopeLines(canonicalUrl, tools.scopes),
    robotsLine(canonicalUrl, tools.robots),
    seenLine(canonicalUrl, row, tools.seen),
    ...(tools.budgetLines?.(canonicalUrl) ?? []),
    ...learnedLines(canonicalUrl, tools.rules),
    ...historyLines(row),
    ...ruleForLines(canonicalUrl, row, tools),
    ...wordLines(row, store),
    ...documentLines(row, document, store),
    ...itemLines(row, store),
  ]
  return { url: text, canonicalUrl, known: row !== null, state: stateOf(row), lines, document }
}

/** A fragment means something where it names a document that stands on the page. */
function addressOf(text: string, store: Store): string | null {
  const page = normalizeUrl(text)
  const item = page === null || !text.includes('#') ? null : itemUrl(text, page)
  return item !== null && store.urlRow(item) !== null ? item : page
}

const itemsShown = 10

function itemLines(row: UrlRow | null, store: Store): Line[] {
  if (row === null) return []
  const parent = store.parentOf(row.id)
  if (parent !== null) return [{ about: 'item', text: `it stands on ${parent}` }]
  const items = store.itemsOf(row.id)
  if (items.length === 0) return []
  const missing = items.filter(({ isMissing }) => isMissing).length
  const doubt =
    missing === 0 ? '' : '; the last visit found none, they go if the next one finds none either'
  return [
    { about: 'items', text: `${items.length} documents stand on it${doubt}` },
    ...items.slice(0, itemsShown).map(({ urlId }) => ({
      about: 'item',
      text: store.documentByUrlId(urlId)?.url ?? 'without a document',
    })),
  ]
}

function addressLines(given: string, canonicalUrl: string): Line[] {
  const lines: Line[] = []
  if (given !== canonicalUrl) lines.push({ about: 'address', text: `known as ${canonicalUrl}` })
  if (hasRepeatingPath(canonicalUrl)) {
    lines.push({ about: 'trap', text: 'the path repeats itself: links to it are not followed' })
  }
  return lines
}

function scopeLines(url: string, scopes: ReadonlyMap<number, ScopeSpec>): Line[] {
  if (scopes.size === 0) return [{ about: 'scope', text: 'nothing was crawled yet' }]
  return [...scopes].map(([id, spec]) => {
    const { inScope, line } = isInScope(spec, url)
    return {
      about: 'scope',
      text: `source ${id} ${inScope ? 'admits it' : 'does not admit it'}: ${line}`,
    }
  })
}

function robotsLine(url: string, robots: RobotsGate): Line {
  const judged = robots.recall(url)
  if (judged === null)
    return { about: 'robots', text: 'robots.txt of this host was never asked for' }
  switch (judged.kind) {
    case 'allowed':
      return {
        about: 'robots',
        text:
          judged.delayMs === null
            ? 'allowed'
            : `allowed, with a Crawl-delay of ${judged.delayMs / 1000} s`,
      }
    case 'refused':
      return {
        about: 'robots',
        text: `refused by "${judged.rule}"${judged.line === null ? '' : ` in line ${judged.line}`}`,
      }
    case 'closed':
      return {
        about: 'robots',
        text: `robots.txt could not be read: closed until ${isoTime(judged.retryAtMs)}`,
      }
  }
}

/** The filter alone may be wrong one way; what it answers is shown beside the truth. */
function seenLine(url: string, row: UrlRow | null, seen: SeenFilter): Line {
  const isMaybe = seen.mayHave(url)
  const known = row === null ? 'the table does not have it' : 'the table has it'
  const filter = isMaybe ? 'the filter says perhaps' : 'the filter says never'
  const verdict = isMaybe === (row !== null) ? '' : isMaybe ? ' (a false alarm)' : ' (a fault)'
  return { about: 'seen', text: `${filter}, ${known}${verdict}` }
}

/** The rule that its next visit would meet. */
function ruleForLines(
  url: string,
  row: UrlRow | null,
  { described, scopes }: ExplainTools,
): Line[] {
  const found = described.ruleFor(url, row?.sourceId ?? 0, scopes)
  if (found === null) return []
  const { source, rule } = found
  return [{ about: 'rule', text: `${source}/${rule.name} (${rule.kind}) is for it` }]
}

function stateOf(row: UrlRow | null): string {
  if (row === null) return 'never seen'
  if (row.state === 'settled') return 'fetched'
  return row.state === 'aside' ? 'put aside' : row.state
}

function historyLines(row: UrlRow | null): Line[] {
  if (row === null) return []
  const lines: Line[] = [
    { about: 'found', text: `${row.depth} links from the start, for source ${row.sourceId}` },
  ]
  lines.push(...visitLines(row))
  if (row.outcome !== null) {
    lines.push({
      about: 'outcome',
      text:
        row.reason === null || row.reason === '' ? row.outcome : `${row.outcome}: ${row.reason}`,
    })
    if (row.reason === expiredReason)
      lines.push({ about: 'expired', text: 'it was not confirmed in its time, and left the index' })
  }
  if (row.lastmodMs !== null)
    lines.push({ about: 'list', text: `says that it changed at ${isoTime(row.lastmodMs)}` })
  if (row.tries > 0) lines.push({ about: 'attempts', text: `${row.tries} failed` })
  if (row.state === 'aside') lines.push({ about: 'aside', text: asideText(row) })
  if (row.nextAtMs !== null && row.state !== 'aside')
    lines.push({ about: 'next', text: `visited again at ${isoTime(row.nextAtMs)}` })
  return lines
}

const asideText = ({ reason }: UrlRow): string =>
  reason === trapReason
    ? 'URLs of this shape bring nothing new: allow the shape to have it fetched'
    : 'the process died three times while it was fetched alone'

function wordLines(row: UrlRow | null, store: Store): Line[] {
  if (row === null) return []
  return store.wordHitsOf(row.id).map(({ list, policy, word, hits, place }) => ({
    about: 'words',
    text: `list "${list}" (${policy}): "${word}", ${hits === 1 ? 'once' : `${hits} times`}, first in ${place}`,
  }))
}

const reasonTexts: Record<OriginReason, string> = {
  canonical: 'this page names it as canonical',
  'own-host': 'it is on a site that was asked for',
  earlier: 'it was known earlier',
  shorter: 'its address is shorter',
  'more-links': 'more pages link to it',
}

const membersShown = 10

function documentLines(row: UrlRow | null, document: DocumentRecord | null, store: Store): Line[] {
  if (row === null) return []
  if (document === null) return [{ about: 'document', text: 'none is stored' }]
  const lines: Line[] = [
    {
      about: 'document',
      text: `"${document.title}", ${document.text.length} characters, language ${document.lang}`,
    },
  ]
  const note = store.noteOf(row.id)
  lines.push(...changeLines(store.changesOf(row.id)), ...ruleLines(note))
  if (note.canonical !== undefined)
    lines.push({ about: 'canonical', text: `the page names ${note.canonical}` })
  if (document.noarchive)
    lines.push({ about: 'noarchive', text: 'the page wants no stored copy of it shown' })
  if (note.likeness !== undefined) {
    const { similarity, distance } = note.likeness
    const text = `a near copy: ${Math.round(similarity * 100)} % like the first of its group, ${distance} of 64 bits apart`
    lines.push({ about: 'copy', text })
  }
  const others = store.groupOf(row.id, membersShown).filter(({ id }) => id !== document.id)
  if (document.duplicate_of !== null) {
    const original = others.find(({ id }) => id === document.duplicate_of)
    lines.push({
      about: 'copy',
      text: `the same text as ${original?.url ?? document.duplicate_of}, whose words are in the index for both`,
    })
  }
  const origin = store.originOf(row.id)
  if (origin !== null) {
    const { original, similarity, distance, reasons } = origin
    const why = reasons.map((reason) => reasonTexts[reason]).join(', ') || 'it was there first'
    const text = `${original}: ${Math.round(similarity * 100)} % of the text, ${distance} of 64 bits differ; ${why}`
    lines.push({ about: 'original', text })
  }
  for (const { url, isExact } of others)
    lines.push({ about: 'group', text: `${isExact ? 'exact' : 'near'} copy: ${url}` })
  return lines
}

function ruleLines({ rule, isShell }: DocumentNote): Line[] {
  const lines: Line[] = []
  if (isShell)
    lines.push({ about: 'javascript', text: 'there is nothing to read before JavaScript runs' })
  if (rule === undefined) return lines
  lines.push({ about: 'rule', text: rule.name })
  if (rule.missing.length > 0)
    lines.push({ about: 'rule', text: `required fields are missing: ${rule.missing.join(', ')}` })
  for (const problem of rule.problems) lines.push({ about: 'rule', text: problem })
  return lines
}
