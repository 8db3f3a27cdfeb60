/** Answers a search: parse, ask the index, filter, verify, fold, show. The search thread's only owner of reader and attributes. */
import { dirname } from 'node:path'
import { AppError } from '../lib/errors.ts'
import type { Reader } from '../store/reader.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { Hit, SearchAnswer, SearchRequest, SuggestAnswer } from './answer.ts'
import { Attributes } from './attributes.ts'
import { createExplainer } from './explain.ts'
import { createIndexReader } from './flex.ts'
import { createConditions } from './conditions.ts'
import { type DocnoSet, eachOf, has } from './docno-set.ts'
import { createHitMaker } from './hits.ts'
import type { IndexAnswer, IndexHit, IndexReader, PackedSegment } from './index.ts'
import { type Plan, planQuery } from './plan.ts'
import { type ParsedQuery, parseQuery, queryCharsMax } from './query.ts'
import { type Related, relatedTo } from './related.ts'
import { createReranker } from './rerank.ts'
import { filterOf } from './request.ts'
import { queryWordsMax } from './score.ts'
import { createSecondTry } from './second-try.ts'
import { shorterQueries } from './shorter.ts'
import { createSuggester } from './suggest.ts'
import { createSynonyms, withSynonyms } from './synonyms.ts'
import { createTopList } from './top.ts'

const warmUpMs = 2_000
const warmUpQueries = 4
const warmUpTitlesRead = 500
const warmUpChars = 64
const warmUpRequest: Omit<SearchRequest, 'q'> = {
  limit: 10,
  offset: 0,
  sort: 'relevance',
  match: 'any',
  site: [],
  notSite: [],
  lang: [],
  since: null,
  until: null,
  group: 'duplicate',
  snippet: 240,
}

export type Searcher = {
  addPending(segment: PackedSegment): void
  /**
   * One search over one state of the database.
   * @param deadlineMs by performance.now()
   * @throws AppError query_too_long | invalid_parameter | overloaded
   */
  answer(request: SearchRequest, deadlineMs: number): SearchAnswer
  suggest(q: string, limit: number): SuggestAnswer
  /** A few searches for words of the newest titles, one a call; false after the last. Before them a first query takes its time over cold code and tables. */
  warmUp(): boolean
}

type Once = { answer: SearchAnswer; plan: Plan }

/** The words of a page rank, and any of them will do. */
function takeRelated(plan: Plan, { words }: Related): void {
  const known = new Set(plan.index.words.map(({ term }) => term))
  const more = words.filter(({ term }) => !known.has(term))
  plan.index = {
    ...plan.index,
    words: [...plan.index.words, ...more].slice(0, queryWordsMax),
    match: known.size === 0 ? 'any' : plan.index.match,
  }
  plan.isConditional = false
}

/** What was found, best first, before folding: `total` documents, exact or at least. */
type Found = {
  hits: IndexHit[]
  total: number
  isExact: boolean
  matched: IndexAnswer['matched']
}

/** Counts what the index accepts, because totals are told after folding. */
type Tally = { grouped: number; groups: Set<number>; copies: number }

export function createSearcher(store: Reader, analyzer: Analyzer): Searcher {
  const index = createIndexReader(store.db)
  const attributes = new Attributes(store.db)
  const rerank = createReranker(store, analyzer, index)
  const makeHit = createHitMaker(store, analyzer)
  const explain = createExplainer(store, analyzer, index)
  const suggester = createSuggester(store, analyzer, index)
  const synonyms = createSynonyms(dirname(store.db.file))
  const secondTry = createSecondTry(store, analyzer, index)
  const conditions = createConditions(store, analyzer, index, attributes)

  const within = <R>(work: () => R): R => {
    index.begin()
    try {
      attributes.refresh(index.documents())
      return work()
    } finally {
      index.end()
    }
  }

  const show = showerOf(makeHit, explain)
  const once = (request: SearchRequest, deadlineMs: number): Once => {
    const startMs = performance.now()
    const typed = parseQuery(request.q)
    const parsed = withSynonyms(typed, synonyms().synonyms, analyzer, index)
    const plan = planQuery(parsed, analyzer, index, request.match)
    const related = parsed.related && relatedTo(parsed.related, store, analyzer, index)
    if (related) takeRelated(plan, related)
    else if (parsed.related) parsed.warnings.push(`related: ${parsed.related} is no known page.`)
    const passes = attributes.accepts(filterOf(request, parsed, Date.now()))
    const held = conditions.evaluate(parsed.conditions, deadlineMs, related ? related.docno : null)
    const finder = new Finder(store, index, attributes, plan, passes, held, request, deadlineMs)
    const isBlank = plan.index.words.length + plan.index.bigrams.length === 0
    const { hits, total, isExact, matched } = isBlank ? finder.newest() : finder.find(rerank)
    const page = hits.slice(request.offset, request.offset + request.limit)
    const shown = show(page, plan, request)
    const answer: SearchAnswer = {
      query: describe(parsed, plan, matched, request),
      total: { value: total, relation: isExact ? 'eq' : 'gte' },
      took_ms: Math.round((performance.now() - startMs) * 10) / 10,
      generation: store.meta('generation') ?? '0',
      limit: request.limit,
      offset: request.offset,
      suggestions: total === 0 ? shorterQueries(plan, index) : [],
      warnings: [...parsed.warnings, ...plan.warnings],
      hits: shown,
    }
    return { answer, plan }
  }

  const answer = (request: SearchRequest, deadlineMs: number): SearchAnswer => {
    const { answer: first, plan } = once(request, deadlineMs)
    const ask = (q: string): SearchAnswer => once({ ...request, q }, deadlineMs).answer
    return secondTry(request.q, plan, first, deadlineMs, ask)
  }

  return {
    addPending: (segment) => index.addPending(segment),
    answer(request, deadlineMs) {
      refuseLong(request.q)
      return within(() => answer(request, deadlineMs))
    },
    suggest: (q, limit) => within(() => suggester(q, limit)),
    warmUp: createWarmUp(store, (request) =>
      within(() => answer(request, performance.now() + warmUpMs)),
    ),
  }
}

function refuseLong(q: string): void {
  if (q.length > queryCharsMax)
    throw new AppError(
      'query_too_long',
      `the query has ${q.length} characters, ${queryCharsMax} are allowed`,
    )
}

/** What is shown of each hit; one that went away meanwhile is left out. */
const showerOf =
  (makeHit: ReturnType<typeof createHitMaker>, explain: ReturnType<typeof createExplainer>) =>
  (page: readonly IndexHit[], plan: Plan, request: SearchRequest): Hit[] => {
    const explanations = request.explain === true ? explain(page, plan) : null
    return page
      .map((hit, i): Hit | null => {
        const made = makeHit(hit, plan, request)
        return made && explanations ? { ...made, explanation: explanations[i] ?? null } : made
      })
      .filter((hit): hit is Hit => !!hit)
  }

/** Questions of the kind that will come: the titles of the newest pages, in the languages that are there. */
function createWarmUp(store: Reader, ask: (request: SearchRequest) => void): () => boolean {
  let titles: string[] | null = null
  return () => {
    titles ??= store.db
      .prepare<{ title: string }>(
        `SELECT title FROM (SELECT title, lang FROM doc ORDER BY docno DESC LIMIT ${warmUpTitlesRead})
         WHERE title <> '' GROUP BY lang ORDER BY count(*) DESC LIMIT ${warmUpQueries}`,
      )
      .all()
      .map(({ title }) => title)
    const title = titles.pop()
    if (title === undefined) return false
    try {
      ask({ ...warmUpRequest, q: title.slice(0, warmUpChars) })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      // Too slow a machine is warm enough by now.
      return false
    }
    return titles.length > 0
  }
}

/** One search: carries what its steps share. */
class Finder {
  readonly #store: Reader
  readonly #index: IndexReader
  readonly #attributes: Attributes
  readonly #plan: Plan
  readonly #passes: ((docno: number) => boolean) | null
  /** Documents that hold the conditions of the query; null = it has none. */
  readonly #held: DocnoSet | null
  readonly #isExact: boolean
  readonly #request: SearchRequest
  readonly #deadlineMs: number
  readonly #isFolding: boolean
  #tally: Tally = { grouped: 0, groups: new Set(), copies: 0 }

  constructor(
    store: Reader,
    index: IndexReader,
    attributes: Attributes,
    plan: Plan,
    passes: ((docno: number) => boolean) | null,
    held: ReturnType<ReturnType<typeof createConditions>['evaluate']>,
    request: SearchRequest,
    deadlineMs: number,
  ) {
    this.#store = store
    this.#index = index
    this.#attributes = attributes
    this.#plan = plan
    this.#passes = passes
    this.#held = held?.set ?? null
    this.#isExact = held?.isExact ?? true
    this.#request = request
    this.#deadlineMs = deadlineMs
    this.#isFolding = request.group === 'duplicate'
  }

  /** Enough hits for the page that was asked for, folded or expanded. */
  find(rerank: ReturnType<typeof createReranker>): Found {
    const wanted = this.#request.offset + this.#request.limit
    if (this.#request.sort !== 'relevance') return this.#byDate()
    for (let limit = wanted * 2 + 20; ; limit *= 4) {
      const { hits, total, matched } = this.#ask(limit)
      const ranked = rerank(hits, this.#plan, this.#deadlineMs, this.#request.explain)
      const shaped = this.#shape(ranked)
      if (shaped.length >= wanted || hits.length >= total)
        return { hits: shaped, total: this.#total(total), isExact: this.#isExact, matched }
    }
  }

  /** A query of filters only, or of nothing: the newest pages. */
  newest(): Found {
    const top = createTopList(this.#request.offset + this.#request.limit)
    const sign = this.#request.sort === 'date' ? -1 : 1
    let total = 0
    const hasFilter = this.#passes !== null || this.#held !== null
    const documents = this.#store.db.prepare<{ docno: number }>(
      'SELECT docno FROM doc WHERE copy_of IS NULL',
    )
    if (hasFilter) {
      const seen = new Set<number>()
      for (const { docno } of documents.iterate()) {
        if (!this.#accepts(docno)) continue
        const key = this.#attributes.foldKey(docno)
        if (this.#isFolding && this.#attributes.hasCopies(key)) {
          if (seen.has(key)) continue
          seen.add(key)
        }
        total += 1
        top.offer(sign * this.#attributes.dateMs(docno), docno)
      }
    }
    const hits = top.take().map(({ docno }): IndexHit => ({ docno, score: 0, missing: [] }))
    const matched = total > 0 ? 'all' : 'none'
    return { hits: this.#shape(hits), total, isExact: this.#isExact, matched }
  }

  #ask(limit: number, accept?: (docno: number) => boolean): IndexAnswer {
    this.#tally = { grouped: 0, groups: new Set(), copies: 0 }
    const ranked = new Set<number>()
    const isRanked = this.#plan.isConditional
    const judge = (docno: number): boolean => {
      if (!this.#accepts(docno) || (accept && !accept(docno))) return false
      const key = this.#attributes.foldKey(docno)
      if (this.#attributes.hasCopies(key)) {
        this.#tally.grouped += 1
        this.#tally.groups.add(key)
      }
      this.#tally.copies += this.#passingCopies(docno)
      if (isRanked) ranked.add(docno)
      return true
    }
    const answer = this.#index.search(this.#plan.index, limit, this.#deadlineMs, judge)
    if (answer.total === 0 && this.#plan.isPartlyConditional && this.#request.match !== 'all')
      return this.#withoutPlainWords(limit, judge)
    return isRanked ? this.#withUnranked(answer, limit, ranked, judge) : answer
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
    const { hits, total } = this.#index.search(query, limit, this.#deadlineMs, judge)
    return {
      hits: hits.map((hit) => ({ ...hit, missing: plain })),
      total,
      matched: total > 0 ? 'any' : 'none',
    }
  }

  /** A condition can hold for pages without any word that ranks (a OR inurl:b): they come last. */
  #withUnranked(
    answer: IndexAnswer,
    limit: number,
    ranked: ReadonlySet<number>,
    judge: (docno: number) => boolean,
  ): IndexAnswer {
    const hits = [...answer.hits]
    let total = answer.total
    if (this.#held !== null)
      eachOf(this.#held, (docno) => {
        if (ranked.has(docno) || !this.#index.isLiving(docno) || !judge(docno)) return true
        total += 1
        if (hits.length < limit) hits.push({ docno, score: 0, missing: [] })
        return true
      })
    return { hits, total, matched: total > 0 ? 'all' : 'none' }
  }

  /** A document passes when it, or an exact copy of it, passes the filters. */
  #accepts(docno: number): boolean {
    if (this.#held !== null && !has(this.#held, docno)) return false
    const passes = this.#passes
    return passes === null || passes(docno) || this.#attributes.copiesOf(docno).some(passes)
  }

  /** How many more hits a document is when nothing is folded. */
  #passingCopies(docno: number): number {
    if (this.#isFolding) return 0
    return this.#expanded(docno).length - 1
  }

  #expanded(docno: number): number[] {
    const all = [docno, ...this.#attributes.copiesOf(docno)]
    return this.#passes === null ? all : all.filter(this.#passes)
  }

  #total(documents: number): number {
    const { grouped, groups, copies } = this.#tally
    return this.#isFolding ? documents - grouped + groups.size : documents + copies
  }

  /** One hit for each group of copies, or every exact copy as a hit of its own. */
  #shape(hits: readonly IndexHit[]): IndexHit[] {
    if (!this.#isFolding)
      return hits.flatMap((hit) =>
        this.#expanded(hit.docno).map((docno) => ({ ...hit, docno, scoredAs: hit.docno })),
      )
    const seen = new Set<number>()
    const shaped: IndexHit[] = []
    for (const hit of hits) {
      const key = this.#attributes.foldKey(hit.docno)
      if (this.#attributes.hasCopies(key)) {
        if (seen.has(key)) continue
        seen.add(key)
      }
      const docno = this.#expanded(hit.docno)[0] ?? hit.docno
      shaped.push({ ...hit, docno, scoredAs: hit.docno })
    }
    return shaped
  }

  /** All that match, by date; scores come from a second look at the ones that are shown. */
  #byDate(): Found {
    const wanted = this.#request.offset + this.#request.limit
    const sign = this.#request.sort === 'date' ? -1 : 1
    for (let limit = wanted * 2 + 20; ; limit *= 4) {
      const top = createTopList(limit)
      const { total } = this.#ask(0, (docno) => {
        top.offer(sign * this.#attributes.dateMs(docno), docno)
        return true
      })
      const counted = this.#total(total)
      const order = new Map(top.take().map(({ docno }, i) => [docno, i]))
      const { hits, matched } = this.#ask(order.size, (docno) => order.has(docno))
      const sorted = hits.sort((a, b) => (order.get(a.docno) ?? 0) - (order.get(b.docno) ?? 0))
      const shaped = this.#shape(sorted)
      if (shaped.length >= wanted || order.size >= total)
        return { hits: shaped, total: counted, isExact: this.#isExact, matched }
    }
  }
}

function describe(
  parsed: ParsedQuery,
  plan: Plan,
  matched: IndexAnswer['matched'],
  request: SearchRequest,
): SearchAnswer['query'] {
  return {
    text: request.q,
    parsed: {
      must: [...new Set(plan.sequence.map(({ form }) => form))],
      phrases: parsed.phrases,
      without: [...parsed.without, ...parsed.withoutPhrases],
      site: [...request.site, ...parsed.site],
      lang: [...request.lang, ...parsed.lang],
    },
    matched,
    lang: /\p{Script=Han}/u.test(request.q) ? 'zh' : /\p{L}/u.test(request.q) ? 'en' : 'und',
  }
}
