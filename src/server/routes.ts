/** Every address that programs use: search, suggestions, documents, jobs, health. Pages for people are in pages.ts. */
import { AppError } from '../lib/errors.ts'
import type { DocumentRecord } from '../store/records.ts'
import {
  answers,
  crawlSpec,
  documentParameters,
  explainParameters,
  exportParameters,
  facetParameters,
  searchParameters,
  similarParameters,
  suggestParameters,
} from './api-schemas.ts'
import { json, text } from './call.ts'
import type { Call, Reply, Route } from './call.ts'
import type { CrawlControl, Health, IndexControl, SearchPort } from './control.ts'
import type { ProgressEvents } from './events.ts'
import { escapeHtml } from './html.ts'
import { objectOfQuery } from './json-schema.ts'
import type { Schema } from './json-schema.ts'
import { openApiDocument } from './openapi.ts'
import type { Operation } from './openapi.ts'
import { filterRoutes } from './filter-pages.ts'
import type { Visitors } from './visitors.ts'
import { reindexRoutes } from './reindex-routes.ts'
import { hostRoutes, sourceRoutes } from './source-routes.ts'
import { readCrawlSpec, readFacetSearch, readParameters, readSearch } from './requests.ts'

export type Ports = {
  search: SearchPort
  crawl: CrawlControl
  index: IndexControl
  health: () => Health | Promise<Health>
  version: string
}
export type ApiRoute = Route & { operation: Operation }

const idPattern = /^[\w-]{1,64}$/

export async function documentOf(
  search: SearchPort,
  id: string | undefined,
): Promise<DocumentRecord> {
  const document = idPattern.test(id ?? '') ? await search.document(id ?? '') : null
  if (!document) throw new AppError('not_found', 'No page of the index has this id.')
  return document
}

/** The number of a job in an address; an unknown one is not_found. */
export async function jobNumber(crawl: CrawlControl, id: string | undefined): Promise<number> {
  const number = /^\d{1,15}$/.test(id ?? '') ? Number(id) : null
  if (number === null || !(await crawl.job(number))) {
    throw new AppError('not_found', 'There is no such job.')
  }
  return number
}

export function refuseWhileStarting(search: SearchPort): void {
  if (search.isReady()) return
  throw new AppError('starting', 'The index is being opened.', { retryAfterS: 2 })
}

const oneLine = (value: string): string => value.replace(/\s+/g, ' ').trim()

/** For readers of Markdown, programs and agents: the head is ours, all below the rule is the page's own text. */
const markdownOf = (document: DocumentRecord): string =>
  `# ${oneLine(document.title)}\n\nSource: <${document.url}>\nFetched: ${document.fetched_at}\n\n---\n\n${document.text}\n`

/** What everyone may see: of a page that wants no stored copy shown, all but its text. */
export const shownOf = (document: DocumentRecord): DocumentRecord =>
  document.noarchive ? { ...document, text: '' } : document

function documentReply(document: DocumentRecord, format: unknown): Reply {
  if (format === 'text') return text('text/plain; charset=utf-8', document.text)
  if (format === 'markdown') return text('text/markdown; charset=utf-8', markdownOf(document))
  return json(document)
}

const jsonOf = (schema: Schema): Operation['answer'] => ({ 'application/json': schema })

function searchRoutes({ search }: Ports): ApiRoute[] {
  const answer = async (question: unknown): Promise<Reply> => {
    const request = readSearch(question)
    refuseWhileStarting(search)
    return json(await search.search(request))
  }
  const found: Operation = {
    summary: 'Search',
    access: 'public',
    answer: jsonOf(answers.SearchAnswer),
  }
  return [
    {
      method: 'GET',
      path: '/api/v1/search',
      operation: { ...found, parameters: searchParameters },
      handle: (call) => answer(objectOfQuery(searchParameters, call.query)),
    },
    {
      method: 'POST',
      path: '/api/v1/search',
      operation: { ...found, body: searchParameters },
      handle: (call) => answer(call.body),
    },
    {
      method: 'GET',
      path: '/api/v1/documents/:id',
      operation: {
        summary: 'A stored page',
        access: 'public',
        parameters: documentParameters,
        answer: {
          ...jsonOf(answers.Document),
          'text/plain': { type: 'string' },
          'text/markdown': { type: 'string' },
        },
      },
      async handle(call) {
        const { format } = readParameters(documentParameters, call.query)
        refuseWhileStarting(search)
        return documentReply(shownOf(await documentOf(search, call.params['id'])), format)
      },
    },
    {
      method: 'GET',
      path: '/api/v1/stats',
      operation: {
        summary: 'How much there is',
        access: 'public',
        answer: jsonOf(answers.Stats),
      },
      async handle() {
        refuseWhileStarting(search)
        return json(await search.stats())
      },
    },
  ]
}

function findMoreRoutes({ search }: Ports): ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/facets',
      operation: {
        summary: 'How the hits of a search are spread over the values of one field',
        access: 'public',
        parameters: facetParameters,
        answer: jsonOf(answers.FacetAnswer),
      },
      async handle(call) {
        const { request, field } = readFacetSearch(call.query)
        refuseWhileStarting(search)
        const { facets, total } = await search.search(request)
        return json({ field, values: facets[field] ?? [], total })
      },
    },
    {
      method: 'GET',
      path: '/api/v1/documents/:id/similar',
      operation: {
        summary: 'Copies of a page, and pages on the same matter',
        access: 'public',
        parameters: similarParameters,
        answer: jsonOf(answers.SimilarAnswer),
      },
      async handle(call) {
        const { limit } = readParameters(similarParameters, call.query)
        refuseWhileStarting(search)
        const id = call.params['id'] ?? ''
        const answer = idPattern.test(id) ? await search.similar(id, Number(limit)) : null
        if (answer === null) throw new AppError('not_found', 'No page of the index has this id.')
        return json(answer)
      },
    },
  ]
}

function suggestRoutes({ search }: Ports): ApiRoute[] {
  const suggestions = async (call: Call) => {
    const { q, limit } = readParameters(suggestParameters, call.query)
    const wish = String(q).trim()
    if (wish === '') return { q: wish, answer: { suggestions: [] } }
    refuseWhileStarting(search)
    return { q: wish, answer: await search.suggest(wish, Number(limit)) }
  }
  return [
    {
      method: 'GET',
      path: '/api/v1/suggest',
      operation: {
        summary: 'Completions of what has been typed',
        access: 'public',
        parameters: suggestParameters,
        answer: jsonOf(answers.SuggestAnswer),
      },
      handle: async (call) => json((await suggestions(call)).answer),
    },
    {
      method: 'GET',
      path: '/suggest',
      operation: {
        summary: 'The same for the search bar of a browser (OpenSearch)',
        access: 'public',
        parameters: suggestParameters,
        answer: { 'application/x-suggestions+json': { type: 'array' } },
      },
      async handle(call) {
        const { q, answer } = await suggestions(call)
        const list = [q, answer.suggestions.map((suggestion) => suggestion.text)]
        return text('application/x-suggestions+json; charset=utf-8', JSON.stringify(list))
      },
    },
  ]
}

const admin = (summary: string, schema: Schema): Operation => ({
  summary,
  access: 'admin',
  answer: jsonOf(schema),
})

function jobChangeRoutes({ crawl }: Ports): ApiRoute[] {
  const change = (verb: 'pause' | 'resume' | 'stop'): ApiRoute => ({
    method: 'POST',
    path: `/api/v1/admin/jobs/:id/${verb}`,
    operation: admin(`${verb.charAt(0).toUpperCase()}${verb.slice(1)} a job`, answers.Job),
    handle: async (call) => json(await crawl[verb](await jobNumber(crawl, call.params['id']))),
  })
  return [change('pause'), change('resume'), change('stop')]
}

function adminRoutes({ crawl, search }: Ports, events: ProgressEvents): ApiRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/v1/admin/jobs',
      operation: { ...admin('Start a crawl', answers.Job), body: crawlSpec, status: 201 },
      async handle(call) {
        const job = await crawl.start(readCrawlSpec(call.body))
        return json(job, 201, { location: `jobs/${job.id}` })
      },
    },
    {
      method: 'GET',
      path: '/api/v1/admin/jobs',
      operation: admin('All jobs', answers.Jobs),
      handle: async () => json({ jobs: await crawl.jobs() }),
    },
    {
      method: 'GET',
      path: '/api/v1/admin/jobs/:id',
      operation: admin('One job', answers.Job),
      handle: async (call) => json(await crawl.job(await jobNumber(crawl, call.params['id']))),
    },
    {
      method: 'GET',
      path: '/api/v1/admin/explain',
      operation: {
        ...admin('Why a page is, or is not, in the index', answers.UrlStory),
        parameters: explainParameters,
      },
      async handle(call) {
        const { url } = readParameters(explainParameters, call.query)
        return json(await crawl.explain(String(url)))
      },
    },
    {
      method: 'GET',
      path: '/api/v1/admin/export',
      operation: {
        ...admin('All documents in pages, copies included', answers.ExportPage),
        parameters: exportParameters,
      },
      async handle(call) {
        const { cursor, limit } = readParameters(exportParameters, call.query)
        refuseWhileStarting(search)
        return json(await search.exportAfter(Number(cursor), Number(limit)))
      },
    },
    {
      method: 'GET',
      path: '/api/v1/admin/events',
      operation: {
        summary: 'Progress of the jobs: event `jobs` with {jobs}, at most once a second',
        access: 'admin',
        answer: { 'text/event-stream': { type: 'string' } },
      },
      handle: () => Promise.resolve(events.stream()),
    },
  ]
}

function stateRoutes({ health, version }: Ports): ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/livez',
      operation: {
        summary: 'Whether the process answers',
        access: 'public',
        answer: jsonOf(answers.Live),
      },
      handle: () => Promise.resolve(json({ status: 'ok', version })),
    },
    {
      method: 'GET',
      path: '/readyz',
      operation: {
        summary: 'Whether it can do its work; 503 while it cannot',
        access: 'public',
        answer: jsonOf(answers.Health),
      },
      async handle() {
        const state = await health()
        return state.ready ? json(state) : json(state, 503, { 'retry-after': '2' })
      },
    },
  ]
}

/** Lets a browser add this search to its own. The address is that under which we were just asked. */
function openSearchDescription(call: Call): Reply {
  const scheme = call.header('x-forwarded-proto') === 'https' ? 'https' : 'http'
  const prefix = call.header('x-forwarded-prefix') ?? ''
  const safePrefix = /^(\/[\w.-]+)+$/.test(prefix) ? prefix : ''
  const root = escapeHtml(`${scheme}://${call.header('host') ?? 'localhost'}${safePrefix}`)
  return text(
    'application/opensearchdescription+xml; charset=utf-8',
    `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>Findling</ShortName>
<Description>Search with Findling</Description>
<InputEncoding>UTF-8</InputEncoding>
<Url type="text/html" template="${root}/search?q={searchTerms}"/>
<Url type="application/x-suggestions+json" template="${root}/suggest?q={searchTerms}"/>
</OpenSearchDescription>
`,
  )
}

/** The list that the server registers and the OpenAPI document prints. */
export function apiRoutes(ports: Ports, events: ProgressEvents, visitors: Visitors): ApiRoute[] {
  const routes = [
    ...searchRoutes(ports),
    ...findMoreRoutes(ports),
    ...suggestRoutes(ports),
    ...adminRoutes(ports, events),
    ...filterRoutes(ports.crawl, visitors),
    ...jobChangeRoutes(ports),
    ...sourceRoutes(ports.crawl),
    ...hostRoutes(ports.crawl),
    ...reindexRoutes(ports.index),
    ...stateRoutes(ports),
  ]
  const document = JSON.stringify(openApiDocument(routes, ports.version))
  const own: ApiRoute[] = [
    {
      method: 'GET',
      path: '/openapi.json',
      operation: {
        summary: 'This description',
        access: 'public',
        answer: jsonOf({ type: 'object' }),
      },
      handle: () => Promise.resolve(text('application/json; charset=utf-8', document)),
    },
    {
      method: 'GET',
      path: '/opensearch.xml',
      operation: {
        summary: 'For the search bar of a browser',
        access: 'public',
        answer: { 'application/opensearchdescription+xml': { type: 'string' } },
      },
      handle: (call) => Promise.resolve(openSearchDescription(call)),
    },
  ]
  return [...routes, ...own]
}
