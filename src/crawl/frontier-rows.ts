/** The URL table as the queue uses it: its statements, and a settlement as the columns of a row. Holds no state. */
import type { Db } from '../lib/sqlite.ts'
import type { FoundUrl, Lease, Settlement, UrlKind } from './frontier.ts'
import { appendVisit, readVisits } from './history.ts'
import type { Candidate } from './host-schedule.ts'
import { isDueByList } from './schedule.ts'

/** `state` of a URL row. */
export const queuedState = 0
export const waitingState = 1
export const settledState = 2
export const asideState = 3

/** `reason` of what was put aside because its shape brings nothing. */
export const trapReason = 'trap'

/** `kind` of a URL row. */
export const urlKinds: readonly UrlKind[] = ['page', 'sitemap', 'feed']

/** What `add` must know of a URL that is there already. */
export type KnownRow = {
  id: number
  sourceId: number
  epoch: number
  state: number
  tries: number
  outcome: string | null
  reason: string | null
  kind: number
  via: number
  fetchedAtMs: number | null
  lastmodMs: number | null
}

/** Visited to the end, and nothing came of it, or not what is stored; or taken for a trap. */
const wasFruitless = ({ state, outcome, reason }: KnownRow): boolean =>
  (state === asideState && reason === trapReason) ||
  (state === waitingState && outcome === 'missing' && reason !== null) ||
  (state === settledState && (outcome === 'refused' || outcome === 'gone' || outcome === 'failed'))

/** So long a redirect that was asked once more is not asked again: it would go in circles. */
const askAgainMs = 3_600_000

/** Does a redirect to this URL, which was one itself, say that it is worth another request? */
function isToBeAskedAgain(
  { state, outcome, tries, reason, fetchedAtMs }: KnownRow,
  { redirected }: FoundUrl,
  nowMs: number,
): boolean {
  if (redirected === undefined || state !== settledState || outcome !== 'redirect') return false
  const isOld = fetchedAtMs !== null && nowMs - fetchedAtMs >= askAgainMs
  return redirected.withCookie ? tries === 0 || isOld : isOld && reason === redirected.from
}

const pageKind = 0

/** Visited, and to be visited once more for this link: somebody asks for it, or it turned out to be a list. */
export function isWantedAgain(found: FoundUrl, known: KnownRow, nowMs: number): boolean {
  if (found.isSeed === true && wasFruitless(known)) return true
  if (isToBeAskedAgain(known, found, nowMs)) return true
  const isNowList = (found.kind ?? 'page') !== 'page' && known.kind === pageKind && !wasPage(known)
  return isNowList && (known.state === settledState || known.state === waitingState)
}

const pageOutcomes = new Set(['stored', 'duplicate', 'unchanged', 'missing'])
const pageReasons = new Set(['noindex', 'filtered', 'list', 'copy'])

/** It was read, so it is a page whoever takes it for a list: servers send home all that they do not know, a sitemap too. */
const wasPage = ({ outcome, reason }: KnownRow): boolean =>
  pageOutcomes.has(outcome ?? '') || (outcome === 'refused' && pageReasons.has(reason ?? ''))

/** It waits for its next visit, and a list says that it changed since the last one. */
export function isDueNow(
  known: KnownRow,
  lastmodMs: number,
  times: { history: Uint8Array | null; nowMs: number; intervalMinMs: number },
): boolean {
  if (known.state !== waitingState || known.outcome === 'failed') return false
  const { history, nowMs, intervalMinMs } = times
  return isDueByList(lastmodMs, { history: readVisits(history), nowMs }, { intervalMinMs })
}

export type DueRow = {
  id: number
  hostId: number
  priority: number
  state: number
  isRetry: number
}

export type TallyRow = { sourceId: number; state: number; isRetry: number; n: number }
export type HostRow = { id: number; origin: string; dueAtMs: number; failures: number }

export type FrontierStatements = ReturnType<typeof prepareFrontier>

export function prepareFrontier(db: Db) {
  const host = 'SELECT id, origin, due_at AS dueAtMs, failures FROM host'
  const candidate = 'id, path, prio AS priority, depth, tries, etag, modified, kind, via, history'
  return {
    findHost: db.prepare<HostRow>(`${host} WHERE origin=?`),
    hostById: db.prepare<HostRow>(`${host} WHERE id=?`),
    insertHost: db.prepare('INSERT INTO host(origin) VALUES(?) ON CONFLICT DO NOTHING'),
    saveDue: db.prepare('UPDATE host SET due_at=?, failures=? WHERE id=?'),
    /** One step of a walk over the hosts of a queue: two or three pages of the index each, however long the queues. */
    nextHost: db.prepare<{ id: number }>(
      'SELECT host AS id FROM url WHERE source=? AND state=0 AND host>? ORDER BY host LIMIT 1',
    ),
    insert: db.prepare(
      `INSERT INTO url(host, path, source, epoch, prio, depth, kind, via, lastmod)
       VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    find: db.prepare<KnownRow>(
      `SELECT id, source AS sourceId, epoch, state, tries, outcome, reason, kind, via, fetched_at AS fetchedAtMs,
         lastmod AS lastmodMs
       FROM url WHERE host=? AND path=?`,
    ),
    /** Back into the queue, for a source that reaches further. */
    requeue: db.prepare(
      `UPDATE url SET state=0, source=?, epoch=?, prio=?, depth=?, tries=?, next_at=NULL, kind=?, via=0
       WHERE id=?`,
    ),
    claim: db.prepare('UPDATE url SET source=? WHERE id=?'),
    readQueue: db.prepare<Candidate>(
      `SELECT ${candidate} FROM url WHERE source=? AND host=? AND state=0 ORDER BY prio, id LIMIT ?`,
    ),
    readHistory: db.prepare<{ history: Uint8Array | null }>('SELECT history FROM url WHERE id=?'),
    /** What a list says of a page that is known. */
    setLastmod: db.prepare('UPDATE url SET lastmod=? WHERE id=?'),
    /** Found on a page of another shape as well: no child of a trap. */
    setFoundElsewhere: db.prepare('UPDATE url SET via=0 WHERE id=?'),
    putAside: db.prepare('UPDATE url SET state=3, reason=?, next_at=? WHERE id=? AND state=0'),
    /** A URL that is known under a shorter name: never asked for. */
    rename: db.prepare(
      "UPDATE url SET state=2, outcome='redirect', reason=?, next_at=NULL WHERE id=? AND state=0",
    ),
    readCandidate: db.prepare<Candidate>(`SELECT ${candidate} FROM url WHERE id=? AND state=0`),
    isQueued: db.prepare<{ one: number }>(
      'SELECT 1 AS one FROM url WHERE id=? AND source=? AND state=0',
    ),
    settle: db.prepare<{ sourceId: number }>(
      `UPDATE url SET state=?, status=?, outcome=?, reason=?, next_at=?, tries=?, epoch=max(epoch, ?),
         fetched_at=coalesce(?, fetched_at), etag=?, modified=?, history=?
       WHERE id=? AND state=0 RETURNING source AS sourceId`,
    ),
    nextDue: db.prepare<{ atMs: number }>(
      `SELECT next_at AS atMs FROM url WHERE source=? AND state IN (1, 3) AND next_at IS NOT NULL
       ORDER BY next_at LIMIT 1`,
    ),
    due: db.prepare<DueRow>(
      `SELECT id, host AS hostId, prio AS priority, state, outcome = 'failed' AS isRetry FROM url
       WHERE source=? AND state IN (1, 3) AND next_at <= ? ORDER BY next_at LIMIT ?`,
    ),
    wake: db.prepare('UPDATE url SET state=0, next_at=NULL WHERE id=?'),
    tally: db.prepare<TallyRow>(
      `SELECT source AS sourceId, state, state = 1 AND outcome = 'failed' AS isRetry, count(*) AS n
       FROM url GROUP BY source, state, isRetry`,
    ),
  }
}

/** The columns that a settlement writes. */
export type SettledColumns = {
  state: typeof waitingState | typeof settledState
  isRetry: boolean
  reason: string | null
  nextAtMs: number | null
  tries: number
  /** False where the page was not reached: the time of the last answer stays. */
  isAnswered: boolean
  etag: string | null
  modified: string | null
}

export function columnsOf(lease: Lease, settlement: Settlement): SettledColumns {
  const columns: SettledColumns = {
    state: settledState,
    isRetry: false,
    reason: null,
    nextAtMs: null,
    tries: 0,
    isAnswered: true,
    // An old validator for a new state of the page would make the server say "not modified".
    etag: null,
    modified: null,
  }
  const comeBack = (atMs: number | null | undefined): SettledColumns =>
    atMs === null || atMs === undefined
      ? columns
      : { ...columns, state: waitingState, nextAtMs: Math.round(atMs) }
  switch (settlement.kind) {
    case 'stored':
      return {
        ...comeBack(settlement.recrawlAtMs),
        etag: settlement.etag ?? null,
        modified: settlement.modified ?? null,
      }
    case 'duplicate':
      return { ...comeBack(settlement.recrawlAtMs), reason: settlement.of }
    case 'unchanged':
      return { ...comeBack(settlement.recrawlAtMs), etag: lease.etag, modified: lease.modified }
    case 'redirect':
      // Whether it was asked once more already stays known.
      return { ...columns, reason: settlement.to, tries: lease.tries }
    case 'refused':
      return { ...comeBack(settlement.recrawlAtMs), reason: settlement.reason }
    case 'gone':
      return columns
    case 'missing':
      return { ...comeBack(settlement.recrawlAtMs), reason: settlement.reason ?? null }
    case 'listed':
      return {
        ...comeBack(settlement.recrawlAtMs),
        etag: settlement.etag ?? null,
        modified: settlement.modified ?? null,
      }
    case 'failed':
      return {
        ...comeBack(settlement.retryAtMs),
        isRetry: settlement.retryAtMs !== null,
        reason: settlement.reason,
        tries: lease.tries + 1,
        isAnswered: false,
        etag: lease.etag,
        modified: lease.modified,
      }
  }
}

/** What the statement `settle` takes. */
export function settleValues(
  { urlId }: Lease,
  settlement: Settlement,
  known: {
    columns: SettledColumns
    epoch: number
    nowMs: number
    history: Uint8Array | null
  },
) {
  const { columns, epoch, nowMs, history } = known
  const { kind, status } = settlement
  const isChanged =
    kind === 'stored' || kind === 'duplicate' || (kind === 'listed' && settlement.isChanged)
  return [
    columns.state,
    status,
    kind,
    columns.reason,
    columns.nextAtMs,
    columns.tries,
    epoch,
    columns.isAnswered ? Math.round(nowMs) : null,
    columns.etag,
    columns.modified,
    appendVisit(history, { atMs: nowMs, status, outcome: kind, isChanged }),
    urlId,
  ] as const
}

export const leaseOf = (
  origin: string,
  sourceId: number,
  candidate: Candidate,
  alone: boolean,
): Lease => ({
  urlId: candidate.id,
  url: origin + candidate.path,
  origin,
  sourceId,
  depth: candidate.depth,
  tries: candidate.tries,
  alone,
  etag: candidate.etag,
  modified: candidate.modified,
  kind: urlKinds[candidate.kind] ?? 'page',
  history: readVisits(candidate.history),
})

/** It says nothing but that there is a page: once known, it is no news. */
export const isPlainLink = ({ isSeed, redirected, lastmodMs, kind }: FoundUrl): boolean =>
  isSeed !== true &&
  redirected === undefined &&
  lastmodMs === undefined &&
  (kind ?? 'page') === 'page'

/** Lists are few and bounded: no trap. */
export const isListed = ({ kind }: Candidate): boolean => kind !== 0
