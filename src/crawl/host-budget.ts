/** How many pages of each host a job takes, where it takes only so many. Counts pages, not requests: what is no page costs nothing. */
import { hostOf, splitUrl } from '../lib/url.ts'
import type { HostPages } from '../store/host-pages.ts'
import type { UrlStory } from '../store/records.ts'
import type { FoundUrl, Lease } from './frontier.ts'
import type { Job } from './jobs.ts'
import { isAdmitted, type ScopeSpec } from './scope.ts'

/** `reason` of a URL that was not asked for because its host has its pages. */
export const hostLimitReason = 'host-limit'

type HostCount = { stored: number; underWay: number; waiting: (() => void)[] }
type Taken = { jobId: number; host: HostCount; hadDocument: boolean; isCounted: boolean }
type JobOf = Pick<Job, 'id' | 'spec' | 'sourceIds' | 'counts'>

const leftOutRows = 1_000

export class HostBudgets {
  readonly #store: HostPages
  /** By job and host: read from the store when a job first asks, then kept. */
  readonly #counts = new Map<number, Map<string, HostCount>>()
  readonly #taken = new Map<number, Taken>()

  constructor(store: HostPages) {
    this.#store = store
  }

  /**
   * May this URL be asked for? Where pages under way could use up what is left, the answer waits for them, so that neither one page too
   * many is stored nor, but for copies that are not kept, one too few. A page that is stored already is always visited again.
   */
  async admits(job: JobOf | null, lease: Lease): Promise<boolean> {
    const max = job?.spec.maxPagesPerHost ?? null
    if (job === null || max === null || lease.kind !== 'page') return true
    const host = this.#hostOf(job, lease.url)
    const hadDocument = this.#store.hasDocument(lease.urlId)
    if (!hadDocument) {
      while (host.stored < max && host.stored + host.underWay >= max)
        await new Promise<void>((go) => host.waiting.push(go))
      if (host.stored >= max) return false
    }
    host.underWay++
    this.#taken.set(lease.urlId, { jobId: job.id, host, hadDocument, isCounted: false })
    return true
  }

  /** The visit is over; `isPage`: it brought a page, which is to be stored. */
  visited({ urlId }: Lease, isPage: boolean): void {
    const taken = this.#taken.get(urlId)
    if (taken === undefined) return
    const { host } = taken
    host.underWay--
    if (isPage && !taken.hadDocument) {
      taken.isCounted = true
      host.stored++
    }
    for (const go of host.waiting.splice(0)) go()
  }

  /** After the commit: what was counted and is not stored (a copy that is dropped), and what has gone, makes room. */
  committed(leases: Iterable<Lease>): void {
    for (const { urlId } of leases) {
      const taken = this.#taken.get(urlId)
      if (taken === undefined) continue
      this.#taken.delete(urlId)
      const wasThere = taken.hadDocument || taken.isCounted
      const isThere = this.#store.hasDocument(urlId)
      if (wasThere !== isThere) taken.host.stored += isThere ? 1 : -1
    }
  }

  /** What was left out, of hosts that may have more pages by now: the limit was raised, or pages have gone. */
  *wantedAgain(job: JobOf): Generator<FoundUrl> {
    this.#counts.delete(job.id)
    if ((job.counts.refused[hostLimitReason] ?? 0) === 0) return
    const max = job.spec.maxPagesPerHost ?? null
    for (let last = 0; ;) {
      const rows = this.#store.refusedAfter(last, job.sourceIds, hostLimitReason, leftOutRows)
      for (const { id, origin, path, sourceId, depth, priority } of rows) {
        last = id
        const url = origin + path
        if (max === null || this.#hostOf(job, url).stored < max)
          yield { url, sourceId, depth, priority, isSeed: true }
      }
      if (rows.length < leftOutRows) return
    }
  }

  /** For people: what is left for the host of this URL, by each job that takes only so many. */
  lines(
    url: string,
    jobs: readonly JobOf[],
    scopes: ReadonlyMap<number, ScopeSpec>,
  ): UrlStory['lines'][number][] {
    return jobs.flatMap((job) => {
      const { maxPagesPerHost: max = null, source } = job.spec
      const admits = (id: number): boolean => {
        const scope = scopes.get(id)
        return scope !== undefined && isAdmitted(scope, url)
      }
      if (max === null || !job.sourceIds.some(admits)) return []
      const { stored } = this.#hostOf(job, url)
      const whose = source === undefined ? `job ${job.id}` : `source "${source}"`
      const rest = stored >= max ? '; no further one is asked for' : ''
      const text = `${stored} pages of ${hostOf(url)} are stored, of ${max} that ${whose} takes${rest}`
      return [{ about: 'host limit', text }]
    })
  }

  #hostOf(job: JobOf, url: string): HostCount {
    let counts = this.#counts.get(job.id)
    if (counts === undefined) {
      counts = new Map()
      this.#counts.set(job.id, counts)
      for (const { origin, pages } of this.#store.pagesByOrigin(job.sourceIds))
        countOf(counts, origin).stored += pages
    }
    return countOf(counts, splitUrl(url).origin)
  }
}

/** http and https of a host count together. */
function countOf(counts: Map<string, HostCount>, origin: string): HostCount {
  const host = hostOf(`${origin}/`)
  let count = counts.get(host)
  if (count === undefined) {
    count = { stored: 0, underWay: 0, waiting: [] }
    counts.set(host, count)
  }
  return count
}
