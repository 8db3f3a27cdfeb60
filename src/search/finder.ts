/** One search, from a plan to documents in their order: by relevance, by a key, judged by their text, or simply all that pass the filters. */
import type { Reader } from '../store/reader.ts'
import type { SearchRequest } from './answer.ts'
import type { Attributes } from './attributes.ts'
import { createSet, type DocnoSet, eachOf, has, insert } from './docno-set.ts'
import type { IndexAnswer, IndexHit, IndexReader } from './index.ts'
import { Matches } from './matches.ts'
import type { Plan } from './plan.ts'
import { orderOf } from './request.ts'
import type { Reranker } from './rerank.ts'
import { createTopList } from './top.ts'

/** Where nobody wants facets, so many matches are counted; of more the total says "at least". */
const matchesCounted = 10_000

export type FinderTools = {
  store: Reader
  index: IndexReader
  attributes: Attributes
  rerank: Reranker
}

/** An original is looked for so many places behind the first of its group: no further than any page of results looks ahead. */
const copiesBehindMax = 20
/** Two pages of one site that a query tells apart are two pages, however alike: its original is shown where it scores nearly as much. */
const sameSiteScoreMin = 0.95

/** What a hit must be beside holding the words. */
export type Limits = {
  /** The filters; null where all pass. */
  passes: ((docno: number) => boolean) | null
  /** Documents that hold the conditions of the query; null where it has none. */
  held: DocnoSet | null
  /** Whether there was time to judge all conditions. */
  isExact: boolean
}

/** Documents best first, before folding. */
type Ranked = {
  hits: readonly IndexHit[]
  /** Whether there are no further ones. */
  isAll: boolean
  /** Whether all that match were counted. */
  isExact: boolean
  matched: IndexAnswer['matched']
}
export type Found = Omit<Ranked, 'isAll' | 'hits'> & { hits: IndexHit[] }

export class Finder {
  /** All that the last call found. */
  readonly matches: Matches
  readonly #tools: FinderTools
  readonly #plan: Plan
  readonly #limits: Limits
  readonly #request: SearchRequest
  readonly #deadlineMs: number
  readonly #isFolding: boolean

  constructor(
    tools: FinderTools,
    plan: Plan,
    limits: Limits,
    request: SearchRequest,
    deadlineMs: number,
  ) {
    this.#tools = tools
    this.#plan = plan
    this.#limits = limits
    this.#request = request
    this.#deadlineMs = deadlineMs
    this.#isFolding = request.group === 'duplicate'
    this.matches = new Matches(tools.attributes, limits.passes, this.#isFolding)
  }

  /** Hits as they are shown, at least `wanted` where there are so many. `only`: those documents, and in the order of the index alone. */
  find(wanted: number, only?: (docno: number) => boolean): Found {
    for (let limit = wanted * 2 + 20; ; limit *= 4) {
      const ranked = this.#rank(limit, only)
      const hits = this.#shape(ranked.hits)
      if (hits.length >= wanted || ranked.isAll) return { ...ranked, hits }
    }
  }

  /** How many hits there are. */
  count(): { total: number; isExact: boolean } {
    const { isExact } = this.#rank(0)
    return { total: this.matches.total(), isExact }
  }

  #rank(limit: number, only?: (docno: number) => boolean): Ranked {
    this.matches.clear()
    const { words, bigrams } = this.#plan.index
    const order = orderOf(this.#request.sort)
    if (words.length + bigrams.length === 0) return this.#listed(limit, only)
    if (order.by !== 'relevance') return this.#byKey(limit, only)
    const mayStop = limit > 0 && !only && !this.#needsAll()
    const { hits, total, matched, isCounted } = this.#ask(limit, only, mayStop)
    const isAll = isCounted && hits.length >= total
    const isExact = isCounted && this.#limits.isExact
    const ranked =
      only || limit === 0
        ? hits
        : this.#tools.rerank(hits, this.#plan, this.#deadlineMs, this.#request.explain)
    return { hits: ranked, isAll, isExact, matched }
  }

  /** Whether more is asked of the matches than the best of them and about how many they are. */
  #needsAll(): boolean {
    const { facets, collapse, cursor } = this.#request
    return facets.length > 0 || collapse !== null || cursor !== null || this.#plan.isConditional
  }

  /** @param mayStop whether matches that are not among the best need not all be counted */
  #ask(limit: number, only?: (docno: number) => boolean, mayStop = false): IndexAnswer {
    const { index } = this.#tools
    const ranked = this.#plan.isConditional ? createSet(index.docnoLimit()) : null
    const judge = this.#judgeOf(ranked, only)
    const fresh = this.#plan.fresh?.shareOf
    const countMin = mayStop ? matchesCounted : Number.POSITIVE_INFINITY
    const { index: query } = this.#plan
    const answer = index.search(query, limit, this.#deadlineMs, judge, fresh, countMin)
    if (answer.total === 0 && this.#plan.isPartlyConditional && this.#request.match !== 'all')
      return this.#withoutPlainWords(limit, judge)
    return ranked === null ? answer : this.#withUnranked(answer, limit, ranked, judge)
  }

  /** Whether a document is a hit; it is noted then. */
  #judgeOf(ranked: DocnoSet | null, only?: (docno: number) => boolean): (docno: number) => boolean {
    const { matches } = this
    const { held, passes } = this.#limits
    // Of half of a collection this is asked in most searches.
    if (ranked === null && only === undefined && held === null && passes === null)
      return (docno) => {
        matches.add(docno)
        return true
      }
    return (docno) => {
      if (!this.#accepts(docno) || (only && !only(docno))) return false
      matches.add(docno)
      if (ranked !== null) insert(ranked, docno)
      return true
    }
  }

  /** No page has one of the plain words: those that hold the conditions are the partial matches. */
  #withoutPlainWords(limit: number, judge: (docno: number) => boolean): IndexAnswer {
    const { words } = this.#plan.index
    const plain = words.filter(({ isPart }) => !isPart).map(({ term }) => term)
    const query = {
      ...this.#plan.index,
      words: words.map((word) => ({ ...word, isPart: true })),
      bigrams: [],
      match: 'all' as const,
    }
    const { hits, total } = this.#tools.index.search(query, limit, this.#deadlineMs, judge)
    return {
      isCounted: true,
      hits: hits.map((hit) => ({ ...hit, missing: plain })),
      total,
      matched: total > 0 ? 'any' : 'none',
    }
  }

  /** A condition can hold for pages without any word that ranks (a OR inurl:b): they come last. */
  #withUnranked(
    answer: IndexAnswer,
    limit: number,
    ranked: DocnoSet,
    judge: (docno: number) => boolean,
  ): IndexAnswer {
    const hits = [...answer.hits]
    let total = answer.total
    if (this.#limits.held !== null)
      eachOf(this.#limits.held, (docno) => {
        if (has(ranked, docno) || !this.#tools.index.isLiving(docno) || !judge(docno)) return true
        total += 1
        if (hits.length < limit) hits.push({ docno, score: 0, missing: [] })
        return true
      })
    return { hits, total, isCounted: true, matched: total > 0 ? 'all' : 'none' }
  }

  /** A document passes when it, or an exact copy of it, passes the filters. */
  #accepts(docno: number): boolean {
    const { held, passes } = this.#limits
    if (held !== null && !has(held, docno)) return false
    return passes === null || passes(docno) || this.#tools.attributes.copiesOf(docno).some(passes)
  }

  /** One hit for each group of copies, or every exact copy as a hit of its own; then one for each site, where that is asked for. */
  #shape(hits: readonly IndexHit[]): IndexHit[] {
    const { attributes } = this.#tools
    const shaped: IndexHit[] = []
    /** By group, the place at which it is shown. */
    const places = new Map<number, number>()
    for (const [i, hit] of hits.entries()) {
      const members = this.matches.expanded(hit.docno)
      if (!this.#isFolding) {
        for (const docno of members) shaped.push({ ...hit, docno, scoredAs: hit.docno })
        continue
      }
      const key = attributes.foldKey(hit.docno)
      if (!attributes.hasCopies(key)) {
        shaped.push({ ...hit, docno: members[0] ?? hit.docno, scoredAs: hit.docno })
        continue
      }
      const place = places.get(key) ?? this.#placeOf(hits, i, key)
      places.set(key, place)
      if (place !== i) continue
      const original = attributes.originalOf(key)
      const docno = original !== null && members.includes(original) ? original : members[0]
      shaped.push({ ...hit, docno: docno ?? hit.docno, scoredAs: hit.docno })
    }
    if (this.#request.collapse === null) return shaped
    const sites = new Set<number>()
    return shaped.filter(({ docno }) => {
      const site = attributes.siteOf(docno)
      const isFirst = !sites.has(site)
      sites.add(site)
      return isFirst
    })
  }

  /**
   * Where a group of copies is shown: as its original and at the place of that, where it holds as many words of the query, passes the
   * filters and stands not far behind; else at the place of the first. So what another host publishes does not take the original's place,
   * and a page whose title is asked for is not shown as another of its site that is much like it.
   */
  #placeOf(hits: readonly IndexHit[], first: number, key: number): number {
    const { attributes } = this.#tools
    const best = hits[first] as IndexHit
    for (let i = first; i < Math.min(hits.length, first + copiesBehindMax); i += 1) {
      const hit = hits[i] as IndexHit
      if (attributes.foldKey(hit.docno) !== key || hit.missing.length > best.missing.length)
        continue
      const original = attributes.originalOf(key)
      if (original === null) return first
      if (!this.matches.expanded(hit.docno).includes(original)) continue
      const isSameSite = attributes.siteOf(original) === attributes.siteOf(best.docno)
      return isSameSite && hit.score < best.score * sameSiteScoreMin ? first : i
    }
    return first
  }

  /** The larger, the earlier. Where a document lacks the field it comes last. */
  #key(): (docno: number) => number {
    const { attributes } = this.#tools
    const order = orderOf(this.#request.sort)
    switch (order.by) {
      case 'id': {
        const sign = order.isDescending ? 1 : -1
        return (docno) => sign * attributes.urlId(docno)
      }
      case 'field': {
        const field = attributes.fields().order(order.name, order.isDescending)
        if (field === null) return () => 0
        const sign = order.isDescending ? 1 : -1
        return (docno) => {
          const rank = field(docno)
          return Number.isNaN(rank) ? Number.NEGATIVE_INFINITY : sign * rank
        }
      }
      case 'relevance':
        // Without words nothing is more relevant than another: the newest first.
        return (docno) => attributes.dateMs(docno)
      case 'date': {
        const sign = order.isDescending ? 1 : -1
        return (docno) => sign * attributes.dateMs(docno)
      }
    }
  }

  /** No words: all that pass the filters. The same time for every page, however deep. */
  #listed(limit: number, only?: (docno: number) => boolean): Ranked {
    const { passes, held, isExact } = this.#limits
    // Nothing was asked for, or nothing but characters that are no words.
    if (passes === null && held === null && this.#request.q.trim() !== '')
      return { hits: [], isAll: true, isExact: true, matched: 'none' }
    const living = this.#tools.index.living()
    const end = Math.min(living.length, this.#tools.attributes.lastDocno() + 1)
    const key = this.#key()
    const top = createTopList(limit)
    let total = 0
    for (let docno = 1; docno < end; docno += 1) {
      if (living[docno] === 0 || !this.#accepts(docno) || (only && !only(docno))) continue
      total += 1
      this.matches.add(docno)
      top.offer(key(docno), docno)
    }
    const hits = top.take().map(({ docno }): IndexHit => ({ docno, score: 0, missing: [] }))
    const isAll = hits.length >= total
    return { hits, isAll, isExact, matched: total > 0 ? 'all' : 'none' }
  }

  /** All that match, by a key; scores come from a second look at the ones that are shown. */
  #byKey(limit: number, only?: (docno: number) => boolean): Ranked {
    const key = this.#key()
    const top = createTopList(limit)
    const { total, matched } = this.#ask(0, (docno) => {
      if (only && !only(docno)) return false
      top.offer(key(docno), docno)
      return true
    })
    const docnos = top.take().map(({ docno }) => docno)
    const wanted = new Set(docnos)
    const { index } = this.#tools
    const scored = index.search(this.#plan.index, wanted.size, this.#deadlineMs, (docno) =>
      wanted.has(docno),
    )
    const scores = new Map(scored.hits.map((hit) => [hit.docno, hit]))
    const hits = docnos.map((docno) => scores.get(docno) ?? { docno, score: 0, missing: [] })
    const isAll = docnos.length >= total
    return { hits, isAll, isExact: this.#limits.isExact, matched }
  }
}
