/**
 * The frontier in the store's own database: one row per URL, the queue a partial index over it. Taking writes nothing; `add` and
 * `settle` write within the batch transaction. What is out, whose turn it is and the counts live in memory.
 */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'
import { splitUrl } from '../lib/url.ts'
import type {
  AddCounts,
  Fared,
  FoundUrl,
  Frontier,
  FrontierCounts,
  Lease,
  Settled,
  Settlement,
} from './frontier.ts'
import { restMs, restsFrom, restToWaitForMs } from './breaker.ts'
import type { FrontierOptions } from './frontier-options.ts'
import {
  asideState,
  columnsOf,
  isDueNow,
  isWantedAgain,
  prepareFrontier,
  isListed,
  isPlainLink,
  leaseOf,
  queuedState,
  settleValues,
  trapReason,
  urlKinds,
  waitingState,
  type FrontierStatements,
  type HostRow,
  type KnownRow,
} from './frontier-rows.ts'
import { kindOf, Tallies, type Kind } from './frontier-tallies.ts'
import { HostSchedule, type Candidate, type Host, type Pick } from './host-schedule.ts'
import { isFirstVisit, isStep, rowsOfLinks, type RowsOfLinks } from './inlinks.ts'
import { createRecentKeys, type RecentKeys } from './recent-keys.ts'
import { LoadedHosts, type KnownHosts } from './loaded-hosts.ts'
import { Suspects, type Suspect } from './suspects.ts'
import { clearQueue, type Judge } from './unwanted.ts'

type Out = {
  lease: Lease
  host: Host
  sourceId: number
  isReleased: boolean
  history: Uint8Array | null
}

const recentKeysMax = 20_000
const sweepRows = 1_000
const sweepRowsMin = 64
const relistMsDefault = 3_600_000

export const openFrontier = (store: { db: Db }, options: FrontierOptions): SqliteFrontier =>
  new SqliteFrontier(store.db, options)

export class SqliteFrontier implements Frontier {
  readonly sharesStore = true
  readonly #db: Db
  readonly #options: FrontierOptions
  readonly #sql: FrontierStatements
  readonly #links: RowsOfLinks
  readonly #schedule: HostSchedule
  readonly #hosts: LoadedHosts
  readonly #suspects: Suspects
  readonly #tallies = new Tallies(() => this.#sql.tally.iterate())
  readonly #recent: RecentKeys = createRecentKeys(recentKeysMax)
  readonly #out = new Map<number, Out>()
  #active: ReadonlySet<number> = new Set()
  /** When the next waiting URL of an active source is due; null = none, undefined = to be asked. */
  #sweepAtMs: number | null | undefined = undefined
  /** The last row that `add` queued: where it is missing later, its transaction was rolled back. */
  #doubt: { urlId: number; sourceId: number } | null = null

  constructor(db: Db, options: FrontierOptions) {
    this.#db = db
    this.#options = options
    this.#sql = prepareFrontier(db)
    this.#links = rowsOfLinks(db)
    this.#suspects = new Suspects(db, options.now())
    this.#schedule = new HostSchedule({
      connections: options.hostConnections ?? 1,
      readQueue: (host, sourceId, limit) => this.#readQueue(host, sourceId, limit),
    })
    this.#hosts = new LoadedHosts(this.#sql, this.#schedule, options)
  }

  add(urls: readonly FoundUrl[]): AddCounts {
    this.#trust()
    // Not remembered as recent: nobody says whether this transaction was committed.
    const { added, known } = this.#addAll(urls, new Map(), null)
    return { added, known }
  }

  activate(sourceIds: readonly number[]): void {
    const wished = new Set(sourceIds)
    const added = [...wished].filter((id) => !this.#active.has(id))
    if (added.length === 0 && wished.size === this.#active.size) return
    this.#active = wished
    this.#sweepAtMs = undefined
    // Whose a known URL is, and whether it is to be claimed, depends on what is active.
    this.#recent.clear()
    this.#schedule.keepOnly(wished)
    for (const id of added) this.#hosts.load(id)
  }

  take(nowMs: number): Lease | null {
    this.#trust()
    this.#sweep(nowMs)
    if (this.#suspects.isTrying()) return null
    const suspect = this.#dueSuspect(nowMs)
    if (suspect !== null) return this.#out.size > 0 ? null : this.#takeAlone(suspect)
    this.#hosts.loadWhereRoom(this.#active)
    const pick = this.#pickWanted(nowMs)
    if (pick === null) return null
    const { host, sourceId, candidate } = pick
    const lease = leaseOf(host.origin, sourceId, candidate, false)
    this.#suspects.taken(lease.urlId)
    return this.#goesOut(lease, host, candidate.history)
  }

  release(lease: Lease, nowMs: number, delayMs: number, pauseMs = 0, fared?: Fared): void {
    const out = this.#out.get(lease.urlId)
    if (out?.lease !== lease || out.isReleased) return
    out.isReleased = true
    const { host } = out
    const rests = fared === undefined ? 0 : restMs(this.#schedule.fared(host, fared))
    this.#schedule.free(host, Math.round(nowMs + Math.max(delayMs, pauseMs, rests)))
  }

  wake(origin: string, nowMs: number): void {
    const row = this.#sql.findHost.get(origin)
    const host = row === undefined ? undefined : this.#hosts.of(row)
    if (host !== undefined && host.failures >= restsFrom) this.#schedule.wake(host, nowMs)
  }

  isAllResting(sourceIds: readonly number[], nowMs: number): boolean {
    return this.#schedule.isAllResting(new Set(sourceIds), nowMs, restToWaitForMs)
  }

  settle(batch: readonly Settled[], nowMs: number): AddCounts {
    this.#trust()
    const hosts: KnownHosts = new Map()
    const counts: AddCounts = { added: 0, known: 0 }
    const settledIds = new Set<number>()
    // The links of every page were judged for all sources that run now.
    const epoch = Math.max(0, ...this.#active)
    for (const { lease, settlement, links } of batch) {
      const out = this.#out.get(lease.urlId)
      if (out?.lease === lease) {
        this.#settleRow(out, settlement, epoch, nowMs)
        settledIds.add(lease.urlId)
      }
      const { added, known, elsewhere } = this.#addAll(links, hosts, nowMs, isFirstVisit(lease))
      counts.added += added
      counts.known += known
      this.#options.onLinksAdded?.(lease.urlId, elsewhere)
    }
    // `settled` tells how this transaction ended.
    this.#doubt = null
    for (const host of this.#schedule.hosts()) {
      if (host.isDirty) this.#sql.saveDue.run(host.dueAtMs, host.failures, host.id)
    }
    const stillOut = [...this.#out.keys()].filter((id) => !settledIds.has(id))
    this.#suspects.save(stillOut, settledIds)
    return counts
  }

  settled(batch: readonly Settled[], committed: boolean): void {
    if (!committed) return this.#reload()
    for (const host of this.#schedule.hosts()) host.isDirty = false
    const ids: number[] = []
    for (const { lease } of batch) {
      const out = this.#out.get(lease.urlId)
      if (out?.lease !== lease) continue
      ids.push(lease.urlId)
      this.#out.delete(lease.urlId)
      out.host.out--
      if (!out.isReleased) this.#schedule.free(out.host, out.host.dueAtMs)
      this.#schedule.dropIfDone(out.host)
    }
    this.#suspects.committed(ids)
  }

  nextDueAt(nowMs: number): number | null {
    this.#trust()
    if (this.#suspects.isTrying()) return null
    const times = [this.#schedule.nextDueAt(nowMs), this.#nextSweepAt()]
    for (const { suspect, host } of this.#activeSuspects()) {
      if (host.dueAtMs <= nowMs && this.#out.size > 0) return null
      if (!this.#out.has(suspect.urlId)) times.push(host.dueAtMs)
    }
    const known = times.filter((time) => time !== null)
    return known.length === 0 ? null : Math.max(nowMs, Math.min(...known))
  }

  isFinished(sourceIds: readonly number[] = [...this.#active]): boolean {
    this.#trust()
    const { queued, retries } = this.#tallies.sum(sourceIds)
    // What is out is queued until it is settled, and out until that is committed.
    return queued === 0 && retries === 0 && this.#countOut(sourceIds) === 0
  }

  counts(sourceIds: readonly number[] = [...this.#active]): FrontierCounts {
    this.#trust()
    const { queued, retries, revisits, settled, aside } = this.#tallies.sum(sourceIds)
    const out = this.#countOut(sourceIds)
    return { queued: queued - out, waiting: retries + revisits, out, settled, aside }
  }

  close(): void {
    this.#suspects.close()
  }

  /**
   * @param settledAtMs null outside of `settle`: then nothing is remembered as recent
   * @param isCounted they stand on a page that is read for the first time
   */
  #addAll(
    urls: readonly FoundUrl[],
    hosts: KnownHosts,
    settledAtMs: number | null,
    isCounted = false,
  ): AddCounts & { elsewhere: number } {
    let added = 0
    let elsewhere = 0
    const nowMs = settledAtMs ?? this.#options.now()
    for (const found of urls) {
      const key = `${found.sourceId} ${found.url}`
      // A link from a page of its own shape says less than one from elsewhere.
      const weakKey = `${found.sourceId}~${found.url}`
      const isWeak = found.isOfOwnShape === true
      const uses = isCounted && !isWeak ? this.#recent.again(key) : Number(this.#recent.has(key))
      if (isStep(uses)) this.#linked(found, hosts, uses)
      const isRecent = uses > 0 || (isWeak && this.#recent.has(weakKey))
      if (isRecent && isPlainLink(found)) continue
      if (this.#addOne(found, hosts, nowMs)) {
        added++
        if (!isWeak) elsewhere++
      }
      // What a source at rest has found is judged anew with each link: the answer changes when the page is visited.
      if (settledAtMs !== null && this.#active.has(found.sourceId))
        this.#recent.add(isWeak ? weakKey : key)
    }
    return { added, known: urls.length - added, elsewhere }
  }

  /** So many pages link to it by now: in the queue it moves up. */
  #linked({ url }: FoundUrl, hosts: KnownHosts, pages: number): void {
    const { origin, path } = splitUrl(url)
    const host = this.#hosts.find(origin, hosts)
    const moved = this.#links.noted(host.id, path, pages)
    if (moved !== null) this.#queued(moved.id, host, moved.sourceId, moved.priority)
  }

  /** True where the URL is in the queue now because of this link. */
  #addOne(found: FoundUrl, hosts: KnownHosts, nowMs: number): boolean {
    const { seen } = this.#options
    const { origin, path } = splitUrl(found.url)
    const host = this.#hosts.find(origin, hosts)
    const mayBeKnown = seen?.mayHave(found.url) ?? true
    if (!mayBeKnown) {
      seen?.add(found.url)
      if (this.#insert(found, host, path)) return true
    }
    const known = this.#sql.find.get(host.id, path)
    if (known !== undefined) {
      if (found.lastmodMs !== undefined) this.#noteLastmod(found, host, known, nowMs)
      return this.#addKnown(found, host, known, nowMs)
    }
    return this.#insert(found, host, path)
  }

  #insert(found: FoundUrl, host: HostRow, path: string): boolean {
    const { sourceId, depth, priority = depth } = found
    const row = this.#sql.insert.run(
      host.id,
      path,
      sourceId,
      sourceId,
      priority,
      depth,
      urlKinds.indexOf(found.kind ?? 'page'),
      found.isOfOwnShape === true ? 1 : 0,
      found.lastmodMs === undefined ? null : Math.round(found.lastmodMs),
    )
    if (row.changes === 0) return false
    this.#tallies.of(sourceId).queued++
    this.#queued(Number(row.lastInsertRowid), host, sourceId, priority)
    return true
  }

  /** A URL that is there already: in the queue of a source at rest, or judged before this source was there. */
  #addKnown(found: FoundUrl, host: HostRow, known: KnownRow, nowMs: number): boolean {
    const { sourceId, depth, priority = depth } = found
    const isRetry = known.state === waitingState && known.outcome === 'failed'
    const kind = kindOf(known.state, isRetry)
    if (isWantedAgain(found, known, nowMs)) {
      this.#requeue(found, host, known, kind)
      return true
    }
    if (known.via === 1 && found.isOfOwnShape !== true) this.#foundElsewhere(known, host)
    if (known.sourceId === sourceId) return false
    if (known.state === queuedState || known.state === asideState || isRetry) {
      if (this.#active.has(known.sourceId) || !this.#active.has(sourceId)) return false
      this.#sql.claim.run(sourceId, known.id)
      this.#tallies.move(known.sourceId, kind, sourceId, kind)
      this.#claimed(known, host, sourceId, priority)
      return known.state === queuedState
    }
    if (known.epoch >= sourceId || this.#isServed(known.sourceId, sourceId)) return false
    this.#requeue(found, host, known, kind)
    return true
  }

  #requeue(found: FoundUrl, host: HostRow, known: KnownRow, kind: Kind): void {
    const { sourceId, depth, priority = depth } = found
    const urlKind = found.kind === undefined ? known.kind : urlKinds.indexOf(found.kind)
    const tries = found.redirected === undefined ? 0 : 1
    this.#sql.requeue.run(sourceId, sourceId, priority, depth, tries, urlKind, known.id)
    this.#tallies.move(known.sourceId, kind, sourceId, 'queued')
    this.#queued(known.id, host, sourceId, priority)
  }

  /** A page of another shape leads here: it is no child of a trap, and comes back where it was taken for one. */
  #foundElsewhere(known: KnownRow, host: HostRow): void {
    this.#sql.setFoundElsewhere.run(known.id)
    if (known.state !== asideState || known.reason !== trapReason) return
    this.#sql.wake.run(known.id)
    this.#tallies.move(known.sourceId, 'aside', known.sourceId, 'queued')
    this.#queued(known.id, host, known.sourceId, 0)
    known.state = queuedState
  }

  /** A list names a change after the last visit: what waits for its next one is due now. */
  #noteLastmod(found: FoundUrl, host: HostRow, known: KnownRow, nowMs: number): void {
    const lastmodMs = Math.round(found.lastmodMs ?? 0)
    if (known.lastmodMs === lastmodMs) return
    const history = this.#sql.readHistory.get(known.id)?.history ?? null
    const intervalMinMs = this.#options.relistMs ?? relistMsDefault
    const isDue = isDueNow(known, lastmodMs, { history, nowMs, intervalMinMs })
    this.#sql.setLastmod.run(lastmodMs, known.id)
    if (!isDue) return
    this.#sql.wake.run(known.id)
    this.#tallies.move(known.sourceId, 'revisits', known.sourceId, 'queued')
    this.#queued(known.id, host, known.sourceId, found.priority ?? found.depth)
    known.state = queuedState
  }

  /** What the new source would find behind this URL, the old one has found, or will. */
  #isServed(oldSourceId: number, newSourceId: number): boolean {
    if (!this.#options.covers(oldSourceId, newSourceId)) return false
    return this.#active.has(oldSourceId) || this.#tallies.of(oldSourceId).queued === 0
  }

  #claimed(known: KnownRow, host: HostRow, sourceId: number, priority: number): void {
    this.#sweepAtMs = undefined
    this.#suspects.move(known.id, sourceId)
    const out = this.#out.get(known.id)
    if (out !== undefined) out.sourceId = sourceId
    else if (known.state === queuedState) this.#queued(known.id, host, sourceId, priority)
  }

  #queued(urlId: number, row: HostRow, sourceId: number, priority: number): void {
    this.#doubt = { urlId, sourceId }
    if (this.#active.has(sourceId)) this.#hosts.queued(row, sourceId, priority)
  }

  #settleRow({ lease, history }: Out, settlement: Settlement, epoch: number, nowMs: number): void {
    const columns = columnsOf(lease, settlement)
    const values = settleValues(lease, settlement, { columns, epoch, nowMs, history })
    const row = this.#sql.settle.get(...values)
    // Settled before, in this transaction.
    if (row === undefined) return
    this.#tallies.move(row.sourceId, 'queued', row.sourceId, kindOf(columns.state, columns.isRetry))
    if (columns.nextAtMs === null || !this.#active.has(row.sourceId)) return
    if (this.#sweepAtMs === null) this.#sweepAtMs = columns.nextAtMs
    else if (this.#sweepAtMs !== undefined)
      this.#sweepAtMs = Math.min(this.#sweepAtMs, columns.nextAtMs)
  }

  #readQueue(host: Host, sourceId: number, limit: number): Candidate[] {
    return this.#sql.readQueue
      .all(sourceId, host.id, limit + host.out + this.#suspects.size)
      .filter(({ id }) => !this.#out.has(id) && !this.#suspects.has(id))
      .slice(0, limit)
  }

  /** The next pick that is still wanted; what is not, leaves the queue of its host, many at a time. */
  #pickWanted(nowMs: number): Pick | null {
    const { judge } = this.#options
    for (;;) {
      const pick = this.#schedule.pick(nowMs)
      if (pick === null || judge === undefined || isListed(pick.candidate)) return pick
      const { host, sourceId, candidate } = pick
      if (judge(host.origin + candidate.path, candidate.via === 1).kind === 'wanted') return pick
      // Few at first: where most of them go, more are looked at.
      for (let rows = sweepRowsMin; ; rows *= 4) {
        const gone = this.#db.transaction(() => this.#clearOut(host, sourceId, judge, rows))
        if (gone < rows / 2 || rows >= sweepRows) break
      }
      // Read anew, from its new head on.
      this.#schedule.queued(host, sourceId, Number.NEGATIVE_INFINITY)
    }
  }

  /** @returns how many of the first rows of this queue have left it */
  #clearOut(host: Host, sourceId: number, judge: Judge, rows: number): number {
    const gone = clearQueue(this.#readQueue(host, sourceId, rows), host.origin, sourceId, {
      judge,
      sql: this.#sql,
      tallies: this.#tallies,
      add: (found) => void this.#addAll([found], new Map(), null),
    })
    this.#doubt = null
    return gone
  }

  /** Due retries and revisits, and what was put aside long enough, go back into the queue. */
  #sweep(nowMs: number): void {
    const atMs = this.#nextSweepAt()
    if (atMs === null || atMs > nowMs) return
    this.#sweepAtMs = undefined
    this.#db.transaction(() => {
      for (const sourceId of this.#active) {
        for (const row of this.#sql.due.all(sourceId, Math.round(nowMs), sweepRows)) {
          this.#sql.wake.run(row.id)
          this.#tallies.move(sourceId, kindOf(row.state, row.isRetry === 1), sourceId, 'queued')
          this.#queued(row.id, this.#hosts.row(row.hostId), sourceId, row.priority)
        }
      }
    })
  }

  #nextSweepAt(): number | null {
    if (this.#sweepAtMs !== undefined) return this.#sweepAtMs
    const times = [...this.#active]
      .map((id) => this.#sql.nextDue.value(id))
      .filter((time) => time !== undefined)
    this.#sweepAtMs = times.length === 0 ? null : Math.min(...times)
    return this.#sweepAtMs
  }

  #activeSuspects(): { suspect: Suspect; host: Host }[] {
    return [...this.#suspects.list()].flatMap((suspect) => {
      if (!this.#active.has(suspect.sourceId)) return []
      const host = this.#hosts.of(this.#hosts.row(suspect.hostId))
      return host === undefined ? [] : [{ suspect, host }]
    })
  }

  #dueSuspect(nowMs: number): { suspect: Suspect; host: Host } | null {
    if (this.#suspects.size === 0) return null
    return this.#activeSuspects().find(({ host }) => host.dueAtMs <= nowMs) ?? null
  }

  #takeAlone({ suspect, host }: { suspect: Suspect; host: Host }): Lease {
    const candidate = this.#sql.readCandidate.get(suspect.urlId)
    assert(candidate, `suspect ${suspect.urlId} is not in the queue`)
    this.#suspects.tryAlone(suspect)
    const lease = leaseOf(host.origin, suspect.sourceId, candidate, true)
    return this.#goesOut(lease, host, candidate.history)
  }

  #goesOut(lease: Lease, host: Host, history: Uint8Array | null): Lease {
    const { sourceId } = lease
    this.#out.set(lease.urlId, { lease, host, sourceId, isReleased: false, history })
    this.#schedule.occupy(host)
    return lease
  }

  #countOut(sourceIds: readonly number[]): number {
    return [...this.#out.values()].filter(({ sourceId }) => sourceIds.includes(sourceId)).length
  }

  /** Nobody says how the transaction of `add` ended: this looks. */
  #trust(): void {
    if (this.#doubt !== null) {
      const { urlId, sourceId } = this.#doubt
      if (this.#sql.isQueued.get(urlId, sourceId) === undefined) this.#reload()
      if (!this.#db.inTransaction) this.#doubt = null
    }
    this.#tallies.load()
  }

  /** After a rollback: what is in memory of the table is read anew. What is out stays out. */
  #reload(): void {
    this.#doubt = null
    this.#sweepAtMs = undefined
    this.#recent.clear()
    this.#tallies.forget()
    this.#schedule.clear()
    for (const id of this.#active) this.#hosts.load(id)
  }
}
