/** One visit: robots, fetch, parse; from a lease to a value that can be committed. Writes nothing. */
import type { FoundWord } from '../text/judge-words.ts'
import type { RuleForPage } from './described.ts'
import type { Fared, Lease, Settlement } from './frontier.ts'
import { hostLimitReason } from './host-budget.ts'
import type { FetchOutcome, ParsedItem, ParsedPage, ParseJob, ParseOutcome } from './page.ts'
import type { RuleReport } from './rule-types.ts'
import { readListVisit, type Listed, type ListTools } from './visit-list.ts'
import type { RobotsGate } from './robots-gate.ts'

type PageFetched = Extract<FetchOutcome, { kind: 'page' }>

/** What a visit came to. `page` is null where there is nothing to store. */
export type Visited = {
  lease: Lease
  settlement: Settlement
  page: ParsedPage | null
  type: string
  wireBytes: number
  truncated: boolean
  /** Canonical URLs found, not yet judged by any scope. */
  links: readonly string[]
  /** Of a list: what it names. */
  listed: readonly Listed[]
  /** Feeds that the page names, canonical. */
  feeds: readonly string[]
  /** May be recognised as a copy of another page. */
  mayFold: boolean
  /** Its source keeps no copies of other pages. */
  dropsCopies?: boolean
  /** How the rule of a page that is not stored fared. */
  rule?: RuleReport
  /** Documents of their own that stand on it; null: its rule knows none. Left out where that is not known: it was not read. */
  items?: readonly ParsedItem[] | null
  /** The word lists that a page which is not stored was judged by. */
  wordsVersion?: number
  /** Words of lists for which a page is not stored. */
  words?: readonly FoundWord[]
  /** Asked the network for the page itself (robots refusals do not). */
  wasFetched: boolean
}

export type VisitLimits = {
  /** Further attempts after the first failure. */
  retriesMax: number
  /** First wait before a retry; each later one is four times as long. */
  retryMs: number
  /** Until a list page that a rule describes is read again. */
  recrawlMs: number
}

export type VisitTools = ListTools & {
  /** Asked first: false where the source has enough pages of this host. */
  admits?: (lease: Lease) => Promise<boolean>
  robots: RobotsGate
  /** @param takes any: whatever its type says it is */
  fetchPage: (lease: Lease, takes: 'pages' | 'any') => Promise<FetchOutcome>
  parse: (job: ParseJob) => Promise<ParseOutcome>
  /** The rule of a described source that is for this URL. */
  ruleFor?: (url: string) => RuleForPage | null
  /** The response is in: the host is free again after its delay. */
  release: (crawlDelayMs: number | null, elapsedMs: number, pauseMs: number, fared?: Fared) => void
  limits: VisitLimits
  fingerprintSeed: number
  now: () => number
  /** 0..1, for jitter. */
  random: () => number
}

export async function visit(lease: Lease, tools: VisitTools): Promise<Visited> {
  if (tools.admits !== undefined && !(await tools.admits(lease))) {
    tools.release(null, 0, 0)
    const refused: Settlement = { kind: 'refused', status: 0, reason: hostLimitReason }
    return { ...nothing(lease, refused), wasFetched: false }
  }
  const judged = await tools.robots.judge(lease.url, tools.now(), lease.sourceId)
  if (judged.kind !== 'allowed') {
    tools.release(null, 0, 0)
    const settlement: Settlement =
      judged.kind === 'refused'
        ? { kind: 'refused', status: 0, reason: 'robots' }
        : failed(lease, 0, 'robots-unreachable', tools)
    return { ...nothing(lease, settlement), wasFetched: false }
  }
  const rule = tools.ruleFor?.(lease.url) ?? null
  // JSON is asked for by a rule, whatever its label.
  const outcome = await tools.fetchPage(lease, rule?.rule.format === 'json' ? 'any' : 'pages')
  const pauseMs =
    outcome.kind === 'failed' && outcome.pausesHost === true ? (outcome.retryAfterMs ?? 0) : 0
  tools.release(judged.delayMs, outcome.elapsedMs, pauseMs, faredOf(outcome))
  if (outcome.kind !== 'page') return settleWithoutPage(lease, outcome, tools)
  if (lease.kind === 'page') return readPage(lease, outcome, tools, rule)
  const { settlement, listed } = await readListVisit(lease, outcome, tools)
  return { ...nothing(lease, settlement), listed, wireBytes: outcome.wireBytes }
}

const redirectOf = ({ status, to, withCookie }: Extract<FetchOutcome, { kind: 'redirect' }>) => ({
  kind: 'redirect' as const,
  status,
  to,
  ...(withCookie === true ? { withCookie } : {}),
})

/** Statuses of a gateway behind which nobody is. */
const hostStatuses: ReadonlySet<number> = new Set([0, 502, 504])

/** An error that a page answers with is an answer; who asks for a pause is there, too. What we refuse without asking tells nothing. */
function faredOf(outcome: FetchOutcome): Fared | undefined {
  if (outcome.kind === 'refused' && outcome.status === 0) return undefined
  if (outcome.kind !== 'failed') return 'answered'
  return hostStatuses.has(outcome.status) ? 'failed' : 'answered'
}

const nothing = (lease: Lease, settlement: Settlement): Visited => ({
  lease,
  settlement,
  page: null,
  type: '',
  wireBytes: 0,
  truncated: false,
  links: [],
  listed: [],
  feeds: [],
  mayFold: true,
  wasFetched: true,
})

function settleWithoutPage(
  lease: Lease,
  outcome: Exclude<FetchOutcome, PageFetched>,
  tools: VisitTools,
): Visited {
  switch (outcome.kind) {
    case 'notModified': {
      const { status } = outcome
      if (lease.kind === 'page') return nothing(lease, { kind: 'unchanged', status })
      const { etag, modified } = lease
      return nothing(lease, {
        kind: 'listed',
        status,
        isChanged: false,
        ...(etag === null ? {} : { etag }),
        ...(modified === null ? {} : { modified }),
      })
    }
    case 'redirect':
      return {
        ...nothing(lease, redirectOf(outcome)),
        links: [outcome.to],
      }
    case 'gone':
      return nothing(lease, { kind: 'gone', status: outcome.status })
    case 'refused':
      return nothing(lease, { kind: 'refused', status: outcome.status, reason: outcome.reason })
    case 'failed':
      return nothing(
        lease,
        failed(lease, outcome.status, outcome.reason, tools, outcome.retryAfterMs),
      )
  }
}

/** Waits longer each time, with jitter so that the URLs of a host do not come back all at once. */
function failed(
  lease: Lease,
  status: number,
  reason: string,
  tools: VisitTools,
  retryAfterMs?: number,
): Settlement {
  const { retriesMax, retryMs } = tools.limits
  if (lease.tries >= retriesMax) return { kind: 'failed', status, reason, retryAtMs: null }
  const waitMs = retryAfterMs ?? retryMs * 4 ** lease.tries * (1 + tools.random() / 2)
  return { kind: 'failed', status, reason, retryAtMs: Math.round(tools.now() + waitMs) }
}

async function readPage(
  lease: Lease,
  fetched: PageFetched,
  tools: VisitTools,
  rule: RuleForPage | null,
): Promise<Visited> {
  const { body, encoding, contentType, robotsTag, status, wireBytes, truncated } = fetched
  const parsed = await tools.parse({
    url: fetched.finalUrl,
    body,
    encoding,
    contentType,
    robotsTag,
    rule: tools.ruleFor?.(fetched.finalUrl) ?? rule,
    depth: lease.depth,
    seed: tools.fingerprintSeed,
  })
  // What stands on a page that leads on is read; one without text is only a way.
  if (parsed.kind === 'refused' && fetched.refresh !== null) {
    const { refresh: to } = fetched
    return { ...nothing(lease, { kind: 'redirect', status, to }), links: [to] }
  }
  if (parsed.kind === 'refused')
    return nothing(lease, { kind: 'refused', status, reason: parsed.reason })
  // A page that kills or stalls a parser will do so again: no retry.
  if (parsed.kind === 'failed')
    return nothing(lease, { kind: 'failed', status, reason: parsed.reason, retryAtMs: null })
  const { page } = parsed
  const links = [...page.links]
  if (page.canonical !== null) links.push(page.canonical)
  if (page.refresh !== null) links.push(page.refresh)
  if (fetched.refresh !== null) links.push(fetched.refresh)
  const visited = {
    lease,
    type: contentType.split(';', 1)[0]?.trim().toLowerCase() || 'text/html',
    wireBytes,
    truncated,
    links,
    listed: [],
    feeds: page.feeds,
    mayFold: true,
    wasFetched: true,
    ...itemsOn(page),
  }
  if (page.noindex)
    return { ...visited, page: null, settlement: { kind: 'refused', status, reason: 'noindex' } }
  if (page.isFiltered) {
    const recrawlAtMs = tools.now() + tools.limits.recrawlMs
    const words = page.words ?? []
    const filtered: Settlement = { kind: 'refused', status, reason: 'filtered', recrawlAtMs }
    return { ...visited, words, page: null, settlement: filtered }
  }
  if (page.isUnstored) {
    const recrawlAtMs = tools.now() + tools.limits.recrawlMs
    const report = page.rule === undefined ? {} : { rule: page.rule }
    const list: Settlement = { kind: 'refused', status, reason: 'list', recrawlAtMs }
    return { ...visited, ...report, page: null, settlement: list }
  }
  const settlement: Settlement = {
    kind: 'stored',
    status,
    // A body that ended early is kept, and asked for again soon without its validators.
    ...(truncated ? { recrawlAtMs: tools.now() + truncatedRecrawlMs } : {}),
    ...(fetched.etag === null || truncated ? {} : { etag: fetched.etag }),
    ...(fetched.modified === null || truncated ? {} : { modified: fetched.modified }),
  }
  return { ...visited, page, settlement }
}

function itemsOn({
  items,
  noindex,
  wordsVersion,
}: ParsedPage): Pick<Visited, 'items' | 'wordsVersion'> {
  if (items === 'unknown') return {}
  return {
    items: noindex ? null : (items ?? null),
    ...(wordsVersion === undefined ? {} : { wordsVersion }),
  }
}

const truncatedRecrawlMs = 3_600_000

/** A unit of a term, and its share of what the inverter makes of it. */
const termUnitBytes = 5

/** Bytes a visit holds until it is committed, roughly. */
export const weightOf = ({ page, items }: Visited): number => {
  let bytes = 200
  for (const each of [page, ...(items ?? []).map((item) => item.page)])
    if (each !== null)
      bytes += each.text.byteLength + each.rest.byteLength + each.terms.length * termUnitBytes
  return bytes
}

export const isAlone = ({ lease }: Visited): boolean => lease.alone
