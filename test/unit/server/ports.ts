/** Small real ports in memory and a started server, for the tests of the HTTP side. Searches by substring, no more. */
import { readFileSync } from 'node:fs'
import { createServer } from '../../../src/server/server.ts'
import type { ServerOptions } from '../../../src/server/server.ts'
import type {
  CrawlControl,
  IndexControl,
  CrawlSpec,
  HostStatus,
  JobState,
  JobStatus,
  RunStatus,
  SourceStatus,
  SearchPort,
} from '../../../src/server/control.ts'
import { createPublicFiles, publicFileNames } from '../../../src/server/public-files.ts'
import { AppError } from '../../../src/lib/errors.ts'
import type {
  FacetValue,
  Facets,
  Help,
  Hit,
  Range,
  SearchAnswer,
  SearchRequest,
} from '../../../src/search/answer.ts'
import type { DocumentRecord } from '../../../src/store/records.ts'

export const key = 'correct-horse-battery-staple-1234'

export const documentOf = (change: Partial<DocumentRecord> & { id: string }): DocumentRecord => ({
  url: `https://${change.id}.example/page`,
  title: `Title of ${change.id}`,
  text: `The text of ${change.id}.`,
  lang: 'en',
  type: 'text/html',
  fields: {},
  description: '',
  author: '',
  keywords: [],
  published_at: null,
  fetched_at: '2026-11-02T03:04:05.000Z',
  changed_at: '2026-11-01T03:04:05.000Z',
  size: 1234,
  group: null,
  duplicate_of: null,
  noarchive: false,
  ...change,
})

function rangesOf(text: string, words: readonly string[]): Range[] {
  const lower = text.toLowerCase()
  return words.flatMap((word) => {
    const at = lower.indexOf(word.toLowerCase())
    return at < 0 ? [] : [[at, at + word.length] as const]
  })
}

function hitOf(document: DocumentRecord, request: SearchRequest, copies: DocumentRecord[]): Hit {
  const words = request.q.split(/\s+/).filter((word) => word !== '')
  const whole = `${document.title} ${document.text}`.toLowerCase()
  const url = URL.canParse(document.url) ? new URL(document.url) : null
  const { id, title, lang, type, published_at, fetched_at, changed_at, size, fields } = document
  const text = document.text.slice(0, request.snippet)
  return {
    id,
    url: document.url,
    display_url: url ? `${url.host}${url.pathname.replaceAll('/', ' › ')}` : document.url,
    site: url?.host ?? '',
    title,
    title_ranges: rangesOf(title, words),
    snippet: { text, ranges: rangesOf(text, words) },
    lang,
    type,
    published_at,
    fetched_at,
    changed_at,
    size,
    score: 1,
    missing: words.filter((word) => !whole.includes(word.toLowerCase())),
    fields,
    duplicates: {
      count: copies.length,
      group: document.group,
      ids: copies.map((copy) => copy.id),
      items: copies.slice(0, 3).map((copy) => ({ id: copy.id, url: copy.url, title: copy.title })),
    },
    more_from_site: null,
  }
}

const helpFor = (words: readonly string[], { q, site }: SearchRequest): Help => ({
  words: words.map((word, at) => ({ word, q: words.toSpliced(at, 1).join(' '), total: at + 1 })),
  filters: site.map((name) => ({ filter: `site:${name}`, parameter: 'site', q, total: 7 })),
})

const isPlainField = (facet: string): boolean => /^field:[^/]+$/.test(facet)

const hostFacet = (found: readonly DocumentRecord[]): FacetValue[] =>
  [...Map.groupBy(found, ({ url }) => url.split('/')[2] ?? '')].map(([value, { length }]) => ({
    value,
    count: length,
    has_children: false,
  }))

export type MemorySearch = SearchPort & {
  documents: DocumentRecord[]
  failure: Error | null
  /** What is counted beside the hosts. */
  facets: Facets
  asked: SearchRequest | null
}

export function createMemorySearch(documents: DocumentRecord[] = []): MemorySearch {
  const namesOf = (facet: string): string[] =>
    facet === 'field:*' ? Object.keys(port.facets).filter(isPlainField) : [facet]
  const port: MemorySearch = {
    documents,
    failure: null,
    facets: {},
    asked: null,
    search(request) {
      port.asked = request
      if (port.failure) return Promise.reject(port.failure)
      const words = request.q.split(/\s+/).filter((word) => word !== '')
      const found = port.documents.filter((document) => {
        const whole = `${document.title} ${document.text} ${document.url}`.toLowerCase()
        const isOurs =
          request.site.length === 0 || request.site.some((s) => document.url.includes(s))
        const isAsked =
          words.length === 0 || words.some((word) => whole.includes(word.toLowerCase()))
        return isOurs && isAsked
      })
      const heads = found.filter(({ duplicate_of }) => duplicate_of === null)
      const hits = heads.slice(request.offset, request.offset + request.limit).map((head) =>
        hitOf(
          head,
          request,
          port.documents.filter(({ duplicate_of }) => duplicate_of === head.id),
        ),
      )
      const answer: SearchAnswer = {
        query: {
          text: request.q,
          parsed: { must: words, phrases: [], without: [], site: request.site, lang: request.lang },
          matched: heads.length > 0 ? 'any' : 'none',
          lang: 'en',
        },
        total: { value: heads.length, relation: 'eq' },
        took_ms: 1.5,
        generation: 'g-1',
        limit: request.limit,
        offset: request.offset,
        suggestions: heads.length > 0 ? [] : [{ text: 'stones', type: 'correction' }],
        warnings: request.q.includes('(') ? [`"${request.q}" was read as plain words`] : [],
        hits,
        next_cursor: null,
        facets: Object.fromEntries(
          request.facets.flatMap(namesOf).flatMap((facet) => {
            const values = facet === 'host' ? hostFacet(heads) : (port.facets[facet] ?? [])
            return values.length > 0 ? [[facet, values] as const] : []
          }),
        ),
        help: heads.length > 0 ? null : helpFor(words, request),
      }
      return Promise.resolve(answer)
    },
    suggest(q, limit) {
      const texts = port.documents.map(({ title }) => title)
      const fitting = texts.filter((title) => title.toLowerCase().startsWith(q.toLowerCase()))
      return Promise.resolve({
        suggestions: fitting.slice(0, limit).map((text) => ({ text, type: 'title', count: 1 })),
      })
    },
    similar(id, limit) {
      const asked = port.documents.find((document) => document.id === id)
      if (!asked) return Promise.resolve(null)
      const others = port.documents.filter((document) => document !== asked).slice(0, limit)
      return Promise.resolve({
        copies: [],
        related: others.map(({ id: other, url, title }) => ({
          id: other,
          url,
          title,
          site: url.split('/')[2] ?? '',
          score: 0.5,
        })),
      })
    },
    document: (id) =>
      Promise.resolve(port.documents.find((document) => document.id === id) ?? null),
    stats: () =>
      Promise.resolve({
        documents: port.documents.length,
        hosts: new Set(port.documents.map(({ url }) => url.split('/')[2])).size,
        urls: port.documents.length,
        queued: 0,
        exact_copies: 0,
        near_copies: 0,
        groups: 0,
        languages: [{ value: 'en', count: port.documents.length }],
        newest: port.documents[0]?.fetched_at ?? null,
        distinct: { urls: 9, hosts: 2, contents: 3 },
        generation: 1,
        database_bytes: 4096,
      }),
    exportAfter(cursor, limit) {
      const records = port.documents.slice(cursor, cursor + limit)
      const end = cursor + records.length
      return Promise.resolve({ records, cursor: end < port.documents.length ? end : null })
    },
    isReady: () => true,
  }
  return port
}

const jobOf = (id: number, spec: CrawlSpec): JobStatus => ({
  id,
  state: 'running',
  note: '',
  source: spec.source ?? null,
  seeds: spec.seeds,
  scope: spec.scope,
  maxPages: spec.maxPages,
  queued: 3,
  counts: {
    fetched: 1,
    stored: 1,
    unchanged: 0,
    exactCopies: 0,
    nearCopies: 0,
    redirects: 0,
    gone: 0,
    refused: { robots: 2 },
    failed: {},
    bytes: 2048,
    javascriptOnly: 0,
    rules: {},
  },
  pagesPerSecond: 1.25,
  etaSeconds: null,
  startedAt: '2026-11-30T10:00:00.000Z',
  endedAt: null,
  seconds: 2,
})

export type MemoryCrawl = CrawlControl & {
  runsMade: Map<string, RunStatus[]>
  learned: Map<string, HostStatus>
  specs: CrawlSpec[]
  described: Map<string, SourceStatus>
  listeners: Set<(jobs: JobStatus[]) => void>
  /** Changes a job as the crawl would, and tells the listeners. */
  progress: (id: number, change: Partial<JobStatus>) => void
}

export function createMemoryCrawl(): MemoryCrawl {
  const jobs = new Map<number, JobStatus>()
  const change = (id: number, part: Partial<JobStatus>): JobStatus => {
    const job = jobs.get(id)
    if (!job) throw new AppError('not_found', 'no such job')
    const changed = { ...job, ...part }
    jobs.set(id, changed)
    for (const listener of port.listeners) listener([...jobs.values()])
    return changed
  }
  const become = (state: JobState) => (id: number) => Promise.resolve(change(id, { state }))
  const port: MemoryCrawl = {
    specs: [],
    described: new Map(),
    runsMade: new Map(),
    learned: new Map(),
    listeners: new Set(),
    progress: change,
    start(spec) {
      port.specs.push(spec)
      const job = jobOf(port.specs.length, spec)
      jobs.set(job.id, job)
      return Promise.resolve(job)
    },
    jobs: () => Promise.resolve([...jobs.values()]),
    job: (id) => Promise.resolve(jobs.get(id) ?? null),
    pause: become('paused'),
    resume: become('running'),
    stop: become('stopped'),
    explain: (url) =>
      Promise.resolve({
        url,
        canonicalUrl: url,
        known: false,
        state: 'never seen',
        lines: [{ about: 'robots', text: 'allowed' }],
        document: null,
      }),
    sources: () => Promise.resolve([...port.described.values()]),
    putSource(given, { mayReplace }) {
      const { name } = given as { name?: unknown }
      if (typeof name !== 'string')
        throw new AppError('invalid_parameter', 'name: a text is wanted')
      if (!mayReplace && port.described.has(name))
        throw new AppError('conflict', `There is a source "${name}" already.`)
      const status = { name, changed_at: '2026-11-30T10:00:00.000Z', next_run: null, source: given }
      port.described.set(name, status)
      return Promise.resolve(status)
    },
    removeSource(name) {
      if (!port.described.delete(name)) throw new AppError('not_found', 'no such source')
      return Promise.resolve()
    },
    startSource(name) {
      const { source } = port.described.get(name) ?? { source: null }
      if (source === null) throw new AppError('not_found', 'no such source')
      const seeds = ['https://a.example/']
      const limits = { maxPages: null, depth: 64, delayMs: null }
      return port.start({ source: name, seeds, scope: 'path', include: [], ...limits })
    },
    runs: (name) => Promise.resolve(port.runsMade.get(name) ?? []),
    hosts: () => Promise.resolve([...port.learned.values()]),
    host(host) {
      const found = port.learned.get(host)
      if (!found) throw new AppError('not_found', 'no such host')
      return Promise.resolve(found)
    },
    async decideRule(host, { kind, name }, state) {
      const found = await port.host(host)
      const decide = <R extends { state: string }>(rules: readonly R[], of: (rule: R) => string) =>
        rules.map((rule) => (of(rule) === name ? { ...rule, state } : rule))
      const changed =
        kind === 'shape'
          ? { ...found, shapes: decide(found.shapes, (rule) => rule.shape) }
          : { ...found, parameters: decide(found.parameters, (rule) => rule.name) }
      port.learned.set(host, changed)
      return changed
    },
    filters: () =>
      Promise.resolve({
        seen: { urls: 5, keys: 5, bytes: 64, mode: 'memory', false_positives: 7.4e-7 },
        distinct: { urls: 12_345, hosts: 678, contents: 3 },
        copies: {
          exact: 1,
          near: 0,
          groups: 1,
          hosts: [{ host: 'https://a.example', exact: 1, near: 0 }],
        },
        words: {
          lists: [{ name: 'x', policy: 'mask', words: 1, allowed: 0 }],
          problems: ['y.txt, line 2: "<b>" has no letter'],
          applied: false,
          judged: 3,
          changed: 1,
          words: [{ list: 'x', policy: 'mask', word: '<i>word</i>', documents: 2, hits: 3 }],
        },
      }),
    copyGroups: (cursor, limit) =>
      Promise.resolve({
        groups: [
          {
            group: String(cursor ?? limit),
            pages: 2,
            members: (['original', 'exact'] as const).map((kind) => ({
              id: kind,
              url: `https://${kind}.example/`,
              title: '<b>title</b>',
              kind,
              similarity: 1,
              distance: 0,
              reasons: kind === 'exact' ? (['canonical', 'earlier'] as const).slice() : [],
            })),
          },
        ],
        cursor: cursor === null ? 7 : null,
      }),
    onProgress(listener) {
      port.listeners.add(listener)
      return () => port.listeners.delete(listener)
    },
  }
  return port
}

/** Each look at it takes it one document further. */
export function createMemoryIndex(total: number): IndexControl {
  let done = total
  const status = () => ({ running: done < total, done, total })
  return {
    reindex() {
      if (done >= total) done = 0
      return Promise.resolve(status())
    },
    reindexStatus() {
      done = Math.min(total, done + 1)
      return Promise.resolve(status())
    },
  }
}

export const publicFilesFromDisk = () =>
  createPublicFiles(publicFileNames.map((name) => [name, readFileSync(`public/${name}`)] as const))

export type Started = {
  url: string
  search: MemorySearch
  crawl: MemoryCrawl
  /** Events and fields, as text. */
  logged: string[]
  close: () => Promise<void>
}

/** A server on a free port of the loopback. */
export async function startServer(
  documents: DocumentRecord[] = [],
  options: Partial<ServerOptions> = {},
): Promise<Started> {
  const search = createMemorySearch(documents)
  const crawl = createMemoryCrawl()
  const logged: string[] = []
  const server = createServer({
    search,
    crawl,
    index: createMemoryIndex(documents.length),
    health: () => ({ ready: true, search: true, engine: true, crawl: 'idle', restarts: 0 }),
    key,
    log: (level, event, fields) => logged.push(`${level} ${event} ${JSON.stringify(fields)}`),
    version: '1.2.3',
    publicFiles: publicFilesFromDisk(),
    hostNames: ['findling.example'],
    ...options,
  })
  const url = await server.listen('127.0.0.1', 0)
  return { url, search, crawl, logged, close: server.close }
}

/** Signs in as a browser would: the cookie and the token of its forms. */
export async function signIn(url: string): Promise<{ cookie: string; csrf: string }> {
  const answer = await fetch(`${url}/admin/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ key }),
  })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = await (await fetch(`${url}/admin`, { headers: { cookie } })).text()
  return { cookie, csrf: /name="csrf"\s+value="([^"]+)"/.exec(page)?.[1] ?? '' }
}
