/** Which URLs a visit leads to: links, sitemaps, feeds and what they name, judged by every source's scope, with their place in the queue. */
import { hasRepeatingPath, hostOf, splitUrl } from '../lib/url.ts'
import { sayingOf } from './copy-chains.ts'
import type { FoundUrl, UrlKind } from './frontier.ts'
import type { HostRules } from './host-rules.ts'
import type { RobotsGate } from './robots-gate.ts'
import { isAdmitted, isReached, type ScopeSpec } from './scope.ts'
import { usualSitemap } from './sitemap.ts'
import type { Listed } from './visit-list.ts'
import type { Visited } from './visit.ts'

export type DiscoveryTools = {
  robots: Pick<RobotsGate, 'sitemaps'>
  rules: Pick<HostRules, 'shorten' | 'linksOf' | 'isDeadEnd'>
  scopes: ReadonlyMap<number, ScopeSpec>
  limits: DiscoveryLimits
}

export type DiscoveryLimits = {
  /** auto: those that robots.txt names, else the usual place is tried. named: only those. off: none, and no feeds. */
  sitemaps: 'auto' | 'named' | 'off'
  /** Sitemaps and feeds of one host. */
  listsPerHostMax: number
}

/* Places in the queue: lower is earlier. Seeds 0; lists right after them; then by links from the start. */
const perLink = 4
const linksDeepest = 250
const listPriority = 1
const feedItemPriority = 2
/** In a sitemap the site's own priority moves a page by as much as one link. */
const sitemapPriority = 4
/** Pages behind a query come after their like without one. */
const perParameter = 2
const parametersMax = 6
const hostsRemembered = 10_000
/** Of what is no page, as far as its name tells. */
const listName = /site-?map|feed|rss|atom|rdf|\.(?:xml|txt|gz)\b/i
/** As many redirects in a row as browsers follow. */
const hopsMax = 20
const hopsRemembered = 10_000

function redirectedBy({ lease, settlement }: Visited): Pick<FoundUrl, 'redirected'> {
  if (settlement.kind !== 'redirect') return {}
  return { redirected: { from: lease.url, withCookie: settlement.withCookie === true } }
}

/** One for the crawl: remembers which hosts were asked for their lists, and how many they have. */
export class Discovery {
  readonly #tools: DiscoveryTools
  readonly #asked = new Set<string>()
  readonly #lists = new Map<string, number>()
  /** Redirects in a row that led to a URL. */
  readonly #hops = new Map<string, number>()

  constructor(tools: DiscoveryTools) {
    this.#tools = tools
  }

  /**
   * All that is to be queued because of this visit. Every source judges every URL, the page's own first: a page is visited once,
   * whichever job reached it.
   */
  found(visited: Visited): FoundUrl[] {
    const { lease, settlement, links, listed } = visited
    const isSeedMoved = settlement.kind === 'redirect' && lease.depth === 0
    const depth = isSeedMoved ? 0 : lease.depth + 1
    const found: FoundUrl[] = []
    if (lease.kind !== 'page') {
      if (settlement.kind === 'redirect') this.#addMovedList(found, settlement.to, visited)
      for (const one of listed) this.#addListed(found, one, visited)
      return found
    }
    if (settlement.kind === 'redirect' && !this.#mayLeadOn(lease.url, settlement.to)) return found
    const { rules } = this.#tools
    const { page } = visited
    if (page !== null && rules.isDeadEnd(lease.url, sayingOf(lease.url, page))) return found
    const judge = rules.linksOf(lease.url)
    const redirected = redirectedBy(visited)
    // Of the first links of the visit, which are those of the page.
    const texts = page?.linkTexts?.split('\n') ?? []
    let next = 0
    for (const link of new Set(links)) {
      const text = texts[next++] ?? ''
      const url = rules.shorten(link)
      if (url === lease.url || hasRepeatingPath(url)) continue
      const sourceId = this.#sourceOf(url, depth, lease.sourceId, depth === 0)
      if (sourceId === null) continue
      const { isOfOwnShape, penalty } = judge(url)
      const priority = priorityOf(url, depth) + penalty
      found.push({
        url,
        sourceId,
        depth,
        priority,
        ...(isOfOwnShape ? { isOfOwnShape } : {}),
        ...(text === '' ? {} : { text }),
        ...redirected,
      })
    }
    this.#addLists(found, visited)
    return found
  }

  /** A redirect keeps the depth of a seed, so depth alone would not end a chain of them. */
  #mayLeadOn(from: string, to: string): boolean {
    const hops = (this.#hops.get(from) ?? 0) + 1
    if (this.#hops.size >= hopsRemembered) this.#hops.clear()
    this.#hops.set(to, hops)
    return hops <= hopsMax
  }

  /** After a rollback nobody knows which lists were queued. */
  rolledBack(): void {
    this.#asked.clear()
  }

  #addLists(found: FoundUrl[], { lease, feeds }: Visited): void {
    const { limits, robots, scopes } = this.#tools
    if (limits.sitemaps === 'off') return
    const scope = scopes.get(lease.sourceId)
    // One page, or nothing but the seeds, was asked for.
    if (scope === undefined || scope.scope === 'page' || scope.depth === 0) return
    for (const feed of feeds) this.#addList(found, feed, 'feed', { ...lease, depth: -1 })
    // Without a border a host is read whole only where somebody asked for it.
    if (scope.scope === 'any' && lease.depth > 0) return
    const { origin } = splitUrl(lease.url)
    const key = `${lease.sourceId} ${origin}`
    if (this.#asked.has(key)) return
    const named = robots.sitemaps(lease.url)
    if (named === null) return
    if (this.#asked.size >= hostsRemembered) this.#asked.clear()
    this.#asked.add(key)
    const isGuess = named.length === 0 && limits.sitemaps === 'auto'
    for (const url of isGuess ? [usualSitemap(lease.url)] : named)
      this.#addList(found, url, 'sitemap', { ...lease, depth: -1 })
  }

  /** The depth of a list is its nesting: 0 where robots.txt or a page names it. */
  #addList(
    found: FoundUrl[],
    url: string,
    kind: Exclude<UrlKind, 'page'>,
    { sourceId, depth }: { sourceId: number; depth: number },
  ): void {
    const host = hostOf(url)
    const lists = this.#lists.get(host) ?? 0
    if (lists >= this.#tools.limits.listsPerHostMax) return
    if (this.#lists.size >= hostsRemembered) this.#lists.clear()
    this.#lists.set(host, lists + 1)
    found.push({ url, sourceId, depth: depth + 1, priority: listPriority, kind })
  }

  /** A list that moved is still a list; but servers send home, or to a page of theirs, whoever asks for what they have not. */
  #addMovedList(found: FoundUrl[], to: string, visited: Visited): void {
    const kind = listName.test(splitUrl(to).path) ? visited.lease.kind : 'page'
    this.#addListed(found, { url: to, kind, priority: 0.5, lastmodMs: null }, visited)
  }

  #addListed(found: FoundUrl[], one: Listed, { lease }: Visited): void {
    if (one.kind !== 'page') return this.#addList(found, one.url, one.kind, lease)
    const url = this.#tools.rules.shorten(one.url)
    // Wherever the list lies, what it names is one link from the start.
    const sourceId = this.#sourceOf(url, 1, lease.sourceId)
    if (sourceId === null) return
    const base =
      lease.kind === 'feed' ? feedItemPriority : sitemapPriority + 4 - Math.round(8 * one.priority)
    const { lastmodMs } = one
    found.push({
      url,
      sourceId,
      depth: 1,
      priority: Math.max(feedItemPriority, base) + queryPenalty(url),
      ...(lastmodMs === null ? {} : { lastmodMs }),
    })
  }

  /** @param isSeed where a seed leads is as wanted as the seed, whatever patterns say */
  #sourceOf(url: string, depth: number, first: number, isSeed = false): number | null {
    if (this.#admits(first, url, depth, isSeed)) return first
    // Described sources first: theirs are rules and settings, which would not hold for a page of another.
    for (const isDescribed of [true, false])
      for (const [id, { name }] of this.#tools.scopes)
        if (
          id !== first &&
          (name !== undefined) === isDescribed &&
          this.#admits(id, url, depth, isSeed)
        )
          return id
    return null
  }

  #admits(id: number, url: string, depth: number, isSeed: boolean): boolean {
    const scope = this.#tools.scopes.get(id)
    if (scope === undefined || depth > scope.depth) return false
    return isSeed ? isReached(scope, url) : isAdmitted(scope, url)
  }
}

const priorityOf = (url: string, depth: number): number =>
  perLink * Math.min(depth, linksDeepest) + queryPenalty(url)

function queryPenalty(url: string): number {
  const mark = url.indexOf('?')
  if (mark < 0) return 0
  return perParameter * Math.min(parametersMax, url.slice(mark).split('&').length)
}
