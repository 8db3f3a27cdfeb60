/** The batch transaction: visits become documents, links, hashes, counts and settled leases, all or nothing. Everything here may run twice. */
import { hostOf } from '../lib/url.ts'
import { packKeywords } from '../store/keywords.ts'
import type { DocumentExtra } from '../store/read-documents.ts'
import type { Store } from '../store/store.ts'
import type { Distinct } from './distinct.ts'
import { writeItems } from './commit-items.ts'
import type { Duplicates, Placement } from './duplicates.ts'
import type { FoundUrl, Frontier, Lease, Settled, Settlement } from './frontier.ts'
import { digestOf, sayingOf } from './copy-chains.ts'
import type { HostRules } from './host-rules.ts'
import type { InboundLinks } from './inbound.ts'
import { isGoneForGood, nextVisit, type RevisitPolicy } from './schedule.ts'
import type { Jobs } from './jobs.ts'
import type { ParsedPage } from './page.ts'
import type { Visited } from './visit.ts'

/** A document as the index takes it: the same shape as IndexedDocument of search/index.ts. */
export type CommittedDocument = {
  docno: number
  /** One a line. */
  terms: string
  quants: Uint8Array
  length: number
  pairs: Uint32Array | null
}

export type Committed = {
  /** New and changed documents with postings of their own, in docno order. */
  documents: CommittedDocument[]
  /** Docnos of copies that took the place of an original: their terms are to be made from the stored text. */
  promoted: number[]
  /** The settlements as they were written: a page may have turned out to be a copy, or unchanged. */
  settlements: Settlement[]
  /** The lowest docno given out, and the oldest word lists that a page was judged by; Infinity where there is none. */
  firstDocno: number
  wordsVersion: number
}

export const nothingCommitted = (): Committed => ({
  documents: [],
  promoted: [],
  settlements: [],
  firstDocno: Number.POSITIVE_INFINITY,
  wordsVersion: Number.POSITIVE_INFINITY,
})

export type Committer = {
  /**
   * Writes the batch in one transaction. Throws what SQLite throws; then nothing of it has happened.
   * @param batch a function makes it within that transaction
   */
  commit(batch: readonly Visited[] | (() => readonly Visited[])): Committed
}

export type CommitTools = {
  store: Store
  frontier: Frontier
  duplicates: Duplicates
  jobs: Pick<Jobs, 'ofSource' | 'count' | 'save' | 'reload'>
  /** What is to be queued because of a visit, with the source it is queued for. */
  findUrls: (visited: Visited) => FoundUrl[]
  /** Left out where nothing is learned: imports. */
  rules?: Pick<HostRules, 'note' | 'save' | 'rolledBack'>
  /** Counts what was met. Left out where nobody asks. */
  distinct?: Pick<Distinct, 'note' | 'save'>
  /** What pages call others; left out where nothing is crawled. */
  inbound?: InboundLinks
  revisits: Revisits
  /** How long pages of this source are shown without being confirmed; null = for ever. */
  ttlMsOf?: (sourceId: number) => number | null
  now: () => number
}

/** When pages and lists are visited again, and a page that is missing is looked for once more. */
export type Revisits = {
  page: RevisitPolicy
  list: RevisitPolicy
  confirmGoneMs: number
}

export function createCommitter(tools: CommitTools): Committer {
  const { store, frontier, duplicates, jobs } = tools
  return {
    commit(batch) {
      const result = nothingCommitted()
      const settled: Settled[] = []
      let isCommitted = false
      try {
        store.transaction(() => {
          for (const visited of typeof batch === 'function' ? batch() : batch) {
            const links = tools.findUrls(visited)
            const written = writeVisit(visited, tools, result)
            noteForRules(visited, written, tools)
            const settlement = withNextVisit(visited, written, tools)
            const job = jobs.ofSource(visited.lease.sourceId)
            if (job !== null) jobs.count(job, { ...visited, settlement })
            result.settlements.push(settlement)
            settled.push({ lease: visited.lease, settlement, links })
            tools.inbound?.note({ ...visited, settlement }, links)
          }
          // Where the frontier shares the store this returns no promise: it has happened when the transaction ends.
          void frontier.settle(settled, tools.now())
          tools.rules?.save()
          tools.distinct?.save()
          tools.inbound?.save()
          jobs.save()
        })
        isCommitted = true
      } finally {
        if (!isCommitted) {
          duplicates.rolledBack()
          tools.rules?.rolledBack()
          tools.inbound?.rolledBack()
          jobs.reload()
        }
        frontier.settled(settled, isCommitted)
      }
      return result
    },
  }
}

function writeVisit(visited: Visited, tools: CommitTools, result: Committed): Settlement {
  const settlement = writeOwn(visited, tools, result)
  if (visited.lease.kind !== 'page') return settlement
  const { store, duplicates, now } = tools
  writeItems(visited, isGone(settlement), {
    store,
    put: (item, page) => writePage(item, page, tools, result),
    remove(urlId) {
      duplicates.remove(urlId)
      const removed = store.removeDocument(urlId)
      if (removed?.promoted) result.promoted.push(removed.promoted.docno)
    },
    now,
  })
  return settlement
}

/** What becomes of the page itself. */
function writeOwn(visited: Visited, tools: CommitTools, result: Committed): Settlement {
  const { page, settlement, lease } = visited
  if (page !== null) {
    tools.distinct?.note(lease.url, page)
    tools.store.putWordHits(lease.urlId, page.words ?? [])
    return writePage(visited, page, tools, result)
  }
  // Not modified: the stored page is as fresh as this answer.
  if (settlement.kind === 'unchanged') tools.store.touchDocument(lease.urlId, tools.now())
  if (settlement.kind === 'gone' && mayComeBack(settlement.status, lease, tools)) {
    const recrawlAtMs = Math.round(tools.now() + tools.revisits.confirmGoneMs)
    return { kind: 'missing', status: settlement.status, recrawlAtMs }
  }
  if (visited.words !== undefined) {
    tools.store.putWordHits(lease.urlId, visited.words)
    // An import has no lease that would be settled.
    tools.store.settleFiltered(lease.urlId)
  }
  if (!isGone(settlement)) return comesBack(visited, tools) ?? settlement
  if (visited.words === undefined) tools.store.putWordHits(lease.urlId, [])
  tools.duplicates.remove(lease.urlId)
  const removed = tools.store.removeDocument(lease.urlId)
  if (removed?.promoted) result.promoted.push(removed.promoted.docno)
  return settlement
}

/** What is stored and cannot be had this time keeps its place and is asked for again: hosts are down, logins are lost. */
function comesBack({ lease, settlement }: Visited, tools: CommitTools): Settlement | null {
  const isOver = settlement.kind === 'failed' && settlement.retryAtMs === null
  if (!isOver && settlement.kind !== 'refused') return null
  const { store, revisits, now } = tools
  const wasList = lease.history.some(({ outcome }) => outcome === 'listed')
  if (!wasList && store.documentByUrlId(lease.urlId) === null) return null
  const waitMs = Math.max(revisits.confirmGoneMs, revisits.page.intervalMinMs)
  const { status, reason } = settlement
  return { kind: 'missing', status, reason, recrawlAtMs: Math.round(now() + waitMs) }
}

/** A page that is stored and answers 404: servers err, so it is looked for once more before it leaves. */
function mayComeBack(status: number, lease: Lease, tools: CommitTools): boolean {
  const { store, revisits, now } = tools
  if (store.documentByUrlId(lease.urlId) === null) return false
  return !isGoneForGood(status, lease.history, now(), revisits.confirmGoneMs)
}

function noteForRules(visited: Visited, settlement: Settlement, { rules }: CommitTools): void {
  const { lease, page } = visited
  if (rules === undefined || lease.kind !== 'page') return
  rules.note({
    urlId: lease.urlId,
    url: lease.url,
    settlement,
    digest: page === null ? null : digestOf(page),
    saying: page === null ? null : sayingOf(lease.url, page),
    lineHashes: page?.lineHashes ?? new Uint32Array(),
    canonical: page?.canonical ?? null,
    links: visited.links,
  })
}

/** The time of the next visit, by what this one and those before it showed. A time that the visit itself set (a body cut off) stays. */
function withNextVisit(visited: Visited, settlement: Settlement, tools: CommitTools): Settlement {
  const { kind, status } = settlement
  if (kind !== 'stored' && kind !== 'duplicate' && kind !== 'unchanged' && kind !== 'listed')
    return settlement
  if (settlement.recrawlAtMs !== undefined || status === 0) return settlement
  const { lease } = visited
  const nowMs = tools.now()
  const isChanged = kind === 'listed' ? settlement.isChanged : kind !== 'unchanged'
  const history = [...lease.history, { atMs: nowMs, status, outcome: kind, isChanged }]
  const policy = lease.kind === 'page' ? tools.revisits.page : tools.revisits.list
  const ttlMs = tools.ttlMsOf?.(lease.sourceId) ?? null
  // In time to be confirmed, with room for a second try.
  const latestMs = ttlMs === null ? Infinity : nowMs + Math.round(ttlMs / 2)
  return {
    ...settlement,
    recrawlAtMs: Math.min(latestMs, nextVisit({ history, nowMs }, policy)),
  }
}

/** What the page was known for is no longer to be shown. A failure of the network is no reason. */
const isGone = (settlement: Settlement): boolean =>
  settlement.kind === 'gone' ||
  settlement.kind === 'redirect' ||
  (settlement.kind === 'refused' &&
    (settlement.reason === 'robots' ||
      settlement.reason === 'filtered' ||
      (settlement.status >= 200 && settlement.status < 300)))

/** Not kept where its source wants no copies; what was stored of the page before goes too. */
function dropCopy(
  { lease, settlement }: Visited,
  { store, duplicates }: Pick<CommitTools, 'store' | 'duplicates'>,
  result: Committed,
): Settlement {
  duplicates.remove(lease.urlId)
  const removed = store.removeDocument(lease.urlId)
  if (removed?.promoted) result.promoted.push(removed.promoted.docno)
  const recrawlAtMs = settlement.kind === 'stored' ? settlement.recrawlAtMs : undefined
  return {
    kind: 'refused',
    status: settlement.status,
    reason: 'copy',
    ...(recrawlAtMs === undefined ? {} : { recrawlAtMs }),
  }
}

/** What is kept of how a rule fared, for those who ask why a page is as it is. */
const noteOf = ({
  rule,
  isShell,
  canonical,
  fingerprintFields,
}: ParsedPage): Pick<DocumentExtra, 'rule' | 'isShell' | 'canonical' | 'fingerprintFields'> => ({
  ...(canonical === null ? {} : { canonical }),
  ...(fingerprintFields === undefined ? {} : { fingerprintFields }),
  ...(isShell ? { isShell } : {}),
  ...(rule === undefined
    ? {}
    : {
        rule: {
          name: `${rule.source}/${rule.rule}`,
          missing: rule.missing,
          problems: rule.problems.slice(0, 3),
        },
      }),
})

/** The page that this one says it is a copy of, where it may say so: only of its own host. Whether it is like it, is seen by the fingerprints. */
function canonicalUrlId(canonical: string | null, url: string, store: Store): number | null {
  if (canonical === null || hostOf(canonical) !== hostOf(url)) return null
  return store.urlRow(canonical)?.id ?? null
}

/** The page whose postings an exact copy shares. One of fields only has words of its own around them, which must be found. */
export const postingsOf = (
  placed: Pick<Placement, 'kind' | 'original'> | null,
  fingerprintFields: readonly string[] | undefined,
): number | null =>
  placed?.kind === 'exact' && fingerprintFields === undefined ? placed.original : null

function writePage(
  visited: Visited,
  page: ParsedPage,
  { store, duplicates, now }: CommitTools,
  result: Committed,
): Settlement {
  const { lease, settlement } = visited
  const { urlId } = lease
  const hostId = store.hostId(lease.origin)
  if (!visited.mayFold) duplicates.remove(urlId)
  const placed = visited.mayFold
    ? duplicates.place({
        urlId,
        hostId,
        fingerprint: page.fingerprint,
        atMs: now(),
        canonicalUrlId: canonicalUrlId(page.canonical, lease.url, store),
      })
    : null
  if (visited.dropsCopies === true && placed !== null && placed.kind !== 'unique')
    return dropCopy(visited, { store, duplicates }, result)
  const put = store.putDocument({
    urlId,
    url: lease.url,
    hostId,
    title: page.title,
    lang: page.lang,
    type: visited.type,
    size: visited.wireBytes,
    publishedAtMs: page.publishedAtMs,
    fetchedAtMs: now(),
    copyOf: postingsOf(placed, page.fingerprintFields),
    body: page.text,
    rest: page.rest.byteLength === 0 ? null : page.rest,
    noarchive: page.noarchive,
    expiresAtMs: page.expiresAtMs ?? null,
    extra: {
      description: page.description,
      author: page.author,
      headings: page.headings,
      keywords: packKeywords(page.keywords),
      fields: page.fields,
      ...noteOf(page),
    },
  })
  if (put.promoted !== null) result.promoted.push(put.promoted.docno)
  const { status } = settlement
  const recrawl =
    settlement.kind === 'stored' && settlement.recrawlAtMs !== undefined
      ? { recrawlAtMs: settlement.recrawlAtMs }
      : {}
  if (put.isNew) {
    result.firstDocno = Math.min(result.firstDocno, put.docno)
    result.wordsVersion = Math.min(result.wordsVersion, page.wordsVersion ?? 0)
  }
  if (!put.isNew) return { kind: 'unchanged', status, ...recrawl }
  if (put.copyOf === null) {
    const { terms, quants, length, pairs } = page
    result.documents.push({ docno: put.docno, terms, quants, length, pairs })
  }
  if (placed === null || placed.kind === 'unique') return settlement
  return { kind: 'duplicate', of: placed.kind, status, ...recrawl }
}
