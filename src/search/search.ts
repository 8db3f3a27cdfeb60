/** Answers a search: parse, find, page, count, show. The search thread's only owner of reader and attributes. */
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { AppError } from '../lib/errors.ts'
import type { Reader } from '../store/reader.ts'
import type { DocumentRecord } from '../store/records.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { WordMatcher } from '../text/word-match.ts'
import type {
  Facets,
  Hit,
  SearchAnswer,
  SearchRequest,
  SimilarAnswer,
  SuggestAnswer,
} from './answer.ts'
import { Attributes } from './attributes.ts'
import { createConditions } from './conditions.ts'
import type { CurrentAnalyzer } from './current-analyzer.ts'
import { createExplainer } from './explain.ts'
import { countFacet, facetsFor, siteBuckets } from './facets.ts'
import { Finder, type FinderTools } from './finder.ts'
import { createIndexReader } from './flex.ts'
import { KnownTexts } from './known-texts.ts'
import { createHelp } from './help.ts'
import { createHitMaker } from './hits.ts'
import type { IndexAnswer, IndexHit, PackedSegment } from './index.ts'
import { createRarity, keywordsMax, tellingKeywords } from './keywords.ts'
import { Pager, type Page } from './paging.ts'
import { freshnessOf, type Plan, planQuery } from './plan.ts'
import { type ParsedQuery, parseQuery, queryCharsMax } from './query.ts'
import { type Related, relatedTo } from './related.ts'
import { createReranker } from './rerank.ts'
import { filterOf, foldersOf, orderOf, requestDefaults } from './request.ts'
import { queryWordsMax } from './score.ts'
import { createSecondTry } from './second-try.ts'
import { shorterQueries } from './shorter.ts'
import { createSimilar } from './similar.ts'
import { createSuggester } from './suggest.ts'
import { createSynonyms, withSynonyms } from './synonyms.ts'

const warmUpMs = 2_000
/** Of what can be read in parts. */
const warmUpSliceMs = 25
const warmUpQueries = 4
const warmUpTitlesRead = 500
const warmUpChars = 64
const warmUpRequest: Omit<SearchRequest, 'q'> = {
  ...requestDefaults,
  match: 'any',
  snippet: 240,
  facets: ['host', 'lang', 'type', 'date'],
}

export type Searcher = {
  addPending(segment: PackedSegment): void
  /** Word lists in force: what has a word of them is not suggested. */
  hide(words: WordMatcher | null): void
  /**
   * One search over one state of the database.
   * @param deadlineMs by performance.now()
   * @throws AppError query_too_long | invalid_parameter | overloaded
   */
  answer(request: SearchRequest, deadlineMs: number): SearchAnswer
  suggest(q: string, limit: number): SuggestAnswer
  /** A document, its keywords by what is in the index now; null where there is none with this id. */
  document(id: string): DocumentRecord | null
  /** Copies of a page and pages on the same matter; null where there is no such page. @param deadlineMs as above */
  similar(id: string, limit: number, deadlineMs: number): SimilarAnswer | null
  /** A few searches for words of the newest titles, one a call; false after the last. Before them a first query takes its time over cold code and tables. */
  warmUp(): boolean
}

/** Lists that only flag hide nothing. */
function isHidden(text: string, words: WordMatcher | null): boolean {
  let isFound = false
  words?.find(text, ({ list }) => {
    isFound ||= list.policy !== 'flag'
  })
  return isFound
}

/** @param analyzer one that never changes, or one that follows the index */
export function createSearcher(store: Reader, analyzer: Analyzer | CurrentAnalyzer): Searcher {
  const index = createIndexReader(store.db)
  const attributes = new Attributes(store.db)
  let rerank = createReranker(store, analyzer, index)
  const tools: FinderTools = { store, index, attributes, rerank: (...asked) => rerank(...asked) }
  let hidden: WordMatcher | null = null
  const known = new KnownTexts(store)
  const hides = (text: string): boolean => isHidden(text, hidden)
  const suggester = createSuggester(store, analyzer, index, hides, known)
  const similar = createSimilar(store, analyzer, index)
  const answer = createAnswerer({ ...tools, hides }, analyzer)
  const within = <R>(work: () => R, deadlineMs = Number.POSITIVE_INFINITY): R => {
    index.begin()
    try {
      attributes.refresh(index.documents(), deadlineMs)
      // It remembers pages as they were cut before.
      if ('refresh' in analyzer && analyzer.refresh())
        rerank = createReranker(store, analyzer, index)
      return work()
    } finally {
      index.end()
    }
  }

  const withKeywords = (record: DocumentRecord): DocumentRecord => {
    const rarityOf = createRarity(analyzer, index)
    const keywords = store.keywordsOf(record.id).filter(({ word }) => !hides(word))
    const telling = tellingKeywords(keywords, rarityOf, keywordsMax)
    return { ...record, keywords: telling.map(({ word }) => word) }
  }
  const warmUp = createWarmUp(store, (request) =>
    within(() => answer(request, performance.now() + warmUpMs)),
  )

  return {
    addPending: (segment) => index.addPending(segment),
    hide(words) {
      hidden = words
    },
    answer(request, deadlineMs) {
      refuseLong(request.q)
      const found = within(() => answer(request, deadlineMs), deadlineMs)
      if (found.suggestions.length === 0 || hidden === null) return found
      // Segments may still have the terms of a page that was masked or dropped.
      const suggestions = found.suggestions.filter(({ text }) => !isHidden(text, hidden))
      return { ...found, suggestions }
    },
    suggest: (q, limit) => within(() => suggester(q, limit)),
    document: (id) =>
      within(() => {
        const record = store.documentRecord(id)
        return record && withKeywords(record)
      }),
    similar: (id, limit, deadlineMs) => within(() => similar(id, limit, deadlineMs)),
    warmUp: () =>
      warmUp() ||
      within(
        () =>
          known.readOn() ||
          !attributes.readFieldsOn(performance.now() + warmUpSliceMs) ||
          !attributes.readKeywordsOn(performance.now() + warmUpSliceMs),
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

/** What is shown of each hit; one that went away meanwhile is left out. */
const showerOf =
  (
    makeHits: ReturnType<typeof createHitMaker>,
    explain: ReturnType<typeof createExplainer>,
    attributes: Attributes,
  ) =>
  (page: Page, plan: Plan, request: SearchRequest): Hit[] => {
    const explanations = request.explain === true ? explain(page.hits, plan) : null
    return makeHits(page.hits, plan, request)
      .map((made, i): Hit | null => {
        const { docno } = page.hits[i] as IndexHit
        const count = page.siteCounts?.[attributes.siteOf(docno)]
        const shown = made && { ...made, more_from_site: count === undefined ? null : count - 1 }
        return shown && explanations ? { ...shown, explanation: explanations[i] ?? null } : shown
      })
      .filter((hit) => hit !== null)
  }

/** An answer, and the plan that a second try goes on from. */
type Once = { answer: SearchAnswer; plan: Plan }
type Answerer = (request: SearchRequest, deadlineMs: number) => SearchAnswer

/** `hides`: a text that is not offered. */
type AnswerTools = FinderTools & { hides: Hides }
type Hides = (text: string) => boolean

function createAnswerer(tools: AnswerTools, analyzer: Analyzer): Answerer {
  const { store, index, attributes } = tools
  const begin = createBegin(tools, analyzer)
  const help = createHelp((asked, deadlineMs) => begin(asked, deadlineMs).finder.count().total)
  const secondTry = createSecondTry(store, analyzer, index)
  const show = showerOf(
    createHitMaker(store, analyzer),
    createExplainer(store, analyzer, index),
    attributes,
  )
  const pager = new Pager({
    attributes,
    key: cursorKeyOf(store),
    facets: (request, finder) => facetsOf(request, finder, tools),
    siteCounts: (request, finder) => siteCountsOf(request, finder, attributes),
  })

  const once = (request: SearchRequest, deadlineMs: number): Once => {
    const startMs = performance.now()
    const { parsed, plan, finder } = begin(request, deadlineMs)
    const page =
      request.cursor === null
        ? firstPage(request, finder, tools, pager)
        : pager.page(request, finder)
    const hits = show(page, plan, request)
    const isEmpty = page.total === 0
    const answer: SearchAnswer = {
      query: describe(parsed, plan, page.matched, request),
      total: { value: page.total, relation: page.isExact ? 'eq' : 'gte' },
      took_ms: Math.round((performance.now() - startMs) * 10) / 10,
      generation: store.meta('generation') ?? '0',
      limit: request.limit,
      offset: page.offset,
      suggestions: isEmpty ? shorterQueries(plan, index) : [],
      warnings: [...parsed.warnings, ...plan.warnings],
      hits,
      next_cursor: page.next,
      facets: page.facets,
      help: null,
    }
    return { answer, plan }
  }

  return (request, deadlineMs) => {
    const { answer: first, plan } = once(request, deadlineMs)
    if (request.cursor !== null) return first
    // A cursor belongs to the question as it was asked, which is not the one that was answered then.
    const ask = (q: string): SearchAnswer => ({
      ...once({ ...request, q }, deadlineMs).answer,
      next_cursor: null,
    })
    const answer = secondTry(request.q, plan, first, deadlineMs, ask)
    return answer.total.value > 0 ? answer : { ...answer, help: help(request, plan, deadlineMs) }
  }
}

const isFresh = (sort: string): boolean => {
  const order = orderOf(sort)
  return order.by === 'relevance' && order.isFresh
}

/** From a request to what finds its hits. */
function createBegin(tools: FinderTools, analyzer: Analyzer) {
  const { store, index, attributes } = tools
  const conditions = createConditions(store, analyzer, index, attributes)
  const synonyms = createSynonyms(dirname(store.db.file))
  return (request: SearchRequest, deadlineMs: number) => {
    const typed = parseQuery(request.q)
    const parsed = withSynonyms(typed, synonyms().synonyms, analyzer, index)
    const related = parsed.related && relatedTo(parsed.related, store, analyzer, index)
    const plan = planQuery(parsed, analyzer, index, request.match)
    if (related) takeRelated(plan, related)
    if (isFresh(request.sort)) plan.fresh = freshnessOf(attributes, Date.now())
    if (!related && parsed.related)
      parsed.warnings.push(`related: ${parsed.related} is no known page.`)
    const passes = both(
      attributes.accepts(filterOf(request, parsed, Date.now())),
      conditions.within(foldersOf(request, parsed)),
    )
    const held = conditions.evaluate(parsed.conditions, deadlineMs, related ? related.docno : null)
    const limits = { passes, held: held?.set ?? null, isExact: held?.isExact ?? true }
    return { parsed, plan, finder: new Finder(tools, plan, limits, request, deadlineMs) }
  }
}

type Test = (docno: number) => boolean
const both = (one: Test | null, other: Test | null): Test | null =>
  one === null || other === null ? (one ?? other) : (docno) => one(docno) && other(docno)

function firstPage(request: SearchRequest, finder: Finder, tools: AnswerTools, pager: Pager): Page {
  const end = request.offset + request.limit
  const { hits, isExact, matched } = finder.find(end + 1)
  const shown = hits.slice(request.offset, end)
  return {
    hits: shown,
    offset: request.offset,
    total: finder.matches.total(),
    isExact,
    matched,
    facets: facetsOf(request, finder, tools),
    siteCounts: siteCountsOf(request, finder, tools.attributes),
    next: hits.length > end ? pager.begin(request, shown) : null,
  }
}

const facetsOf = (
  { facets, facetLimit }: SearchRequest,
  { matches }: Finder,
  { attributes, hides }: AnswerTools,
): Facets =>
  Object.fromEntries(
    facetsFor(facets, matches, attributes).map((facet) => [
      facet,
      countFacet(facet, facetLimit, matches, attributes, hides),
    ]),
  )

/** How many hits each site has, by its number. */
function siteCountsOf(
  { collapse }: SearchRequest,
  { matches }: Finder,
  attributes: Attributes,
): Uint32Array | null {
  if (collapse === null) return null
  const { end, each, addAll } = siteBuckets(matches, attributes)
  return matches.count(end, each, addAll)
}

/** Without one, in a directory that no engine has opened since, cursors live as long as this thread. */
const cursorKeyOf = (store: Reader): Uint8Array =>
  Buffer.from(store.meta('cursor_key') ?? randomBytes(16).toString('hex'), 'hex')

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
