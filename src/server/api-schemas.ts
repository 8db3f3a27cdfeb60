/** Every question and answer of the API as JSON Schema: the checks at run time, the OpenAPI document and the tests read these. */
import type { Schema } from './json-schema.ts'

export const queryCharactersMax = 2048
export const seedsMax = 1000

const string: Schema = { type: 'string' }
const count: Schema = { type: 'integer', minimum: 0 }
const strings: Schema = { type: 'array', items: string }
const time: Schema = { type: 'string', format: 'date-time' }
const timeOrNull: Schema = { type: ['string', 'null'], format: 'date-time' }
const open: Schema = { type: 'object', additionalProperties: true }
const tally: Schema = { type: 'object', additionalProperties: count }
const range: Schema = {
  type: 'array',
  prefixItems: [count, count],
  minItems: 2,
  maxItems: 2,
  description: 'UTF-16 code unit offsets [start, end)',
}
const ranges: Schema = { type: 'array', items: range }

/** All properties are required and no others exist: what an answer promises. */
const record = (properties: Record<string, Schema>, description?: string): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...(description === undefined ? {} : { description }),
})

// A duration has to have a part, and a T has to have one after it.
const moment: Schema = {
  type: 'string',
  maxLength: 40,
  pattern:
    '^(\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)?)?|P(?=[\\dT])(\\d{1,4}Y)?(\\d{1,4}M)?(\\d{1,4}W)?(\\d{1,5}D)?(T(?=\\d)(\\d{1,5}H)?(\\d{1,6}M)?(\\d{1,7}S)?)?)$',
}
const hostName: Schema = { type: 'string', minLength: 1, maxLength: 253 }
const language: Schema = { type: 'string', pattern: '^[a-z]{2,3}(-[A-Za-z]{2,8})?$', maxLength: 12 }

export const searchParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['q'],
  properties: {
    q: {
      type: 'string',
      maxLength: queryCharactersMax,
      description:
        'Words, "phrases", -without, OR, site:, -site:, intitle:, inurl:, lang:, before:, after:',
    },
    limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
    offset: { type: 'integer', minimum: 0, maximum: 1000, default: 0 },
    sort: {
      type: 'string',
      enum: ['relevance', 'date', '-date'],
      default: 'relevance',
      description: 'date = newest first, -date = oldest first',
    },
    match: {
      type: 'string',
      enum: ['auto', 'all', 'any'],
      default: 'auto',
      description: 'auto: a short query shows only pages with all its words, where there are some',
    },
    site: { type: 'array', items: hostName, maxItems: 20, default: [] },
    '-site': { type: 'array', items: hostName, maxItems: 20, default: [] },
    lang: { type: 'array', items: language, maxItems: 20, default: [] },
    since: { ...moment, description: 'A date, or how long ago (P7D)' },
    until: { ...moment, description: 'A date, or how long ago' },
    group: {
      type: 'string',
      enum: ['duplicate', 'none'],
      default: 'duplicate',
      description: 'duplicate: exact and near copies are folded into one hit',
    },
    snippet: {
      type: 'integer',
      minimum: 20,
      maximum: 600,
      default: 160,
      description: 'Columns; a CJK character counts two',
    },
    explain: {
      type: 'boolean',
      default: false,
      description: 'Adds to each hit how its score came about',
    },
  },
}

const number: Schema = { type: 'number' }
const fieldNumbers = record({
  title: number,
  text: number,
  headings: number,
  url: number,
  rest: number,
})
const rereadParts: Schema = {
  type: 'array',
  items: record({
    kind: { type: 'string', enum: ['title', 'exact', 'near', 'feedback'] },
    terms: strings,
    score: number,
  }),
}
const explanation: Schema = {
  ...record({
    score: number,
    terms: {
      type: 'array',
      items: record({
        term: string,
        kind: { type: 'string', enum: ['word', 'pair', 'title'] },
        weight: number,
        documents: count,
        idf: number,
        frequency: number,
        length_norm: number,
        k1: number,
        fields: fieldNumbers,
        score: number,
      }),
    },
    reread: rereadParts,
    feedback: rereadParts,
    field_weights: fieldNumbers,
  }),
  type: ['object', 'null'],
  description: 'With explain=1: score is the sum of the scores in the three lists',
}

const plainHit = record({
  id: string,
  url: string,
  display_url: string,
  site: string,
  title: string,
  title_ranges: ranges,
  snippet: record({ text: string, ranges }),
  lang: string,
  type: string,
  published_at: timeOrNull,
  fetched_at: time,
  changed_at: time,
  size: count,
  score: { type: 'number' },
  missing: { ...strings, description: 'Words of the query that this page lacks' },
  fields: open,
  duplicates: record({
    count,
    group: { type: ['string', 'null'] },
    ids: strings,
    items: { type: 'array', items: record({ id: string, url: string, title: string }) },
  }),
})

const hit: Schema = { ...plainHit, properties: { ...plainHit.properties, explanation } }

const searchAnswer = record({
  query: record({
    text: string,
    parsed: record({
      must: strings,
      phrases: strings,
      without: strings,
      site: strings,
      lang: strings,
    }),
    matched: { type: 'string', enum: ['all', 'any', 'none'] },
    lang: string,
  }),
  total: record({ value: count, relation: { type: 'string', enum: ['eq', 'gte'] } }),
  took_ms: { type: 'number', minimum: 0 },
  generation: string,
  limit: count,
  offset: count,
  suggestions: {
    type: 'array',
    items: record({ text: string, type: { type: 'string', enum: ['correction', 'shorter'] } }),
  },
  warnings: strings,
  hits: { type: 'array', items: hit },
})

export const suggestParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['q'],
  properties: {
    q: { type: 'string', maxLength: 200 },
    limit: { type: 'integer', minimum: 1, maximum: 20, default: 8 },
  },
}
const suggestAnswer = record({
  suggestions: {
    type: 'array',
    items: record({ text: string, type: { type: 'string', enum: ['title', 'term'] }, count }),
  },
})

export const documentParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { format: { type: 'string', enum: ['json', 'text', 'markdown'], default: 'json' } },
}
const documentRecord = record({
  id: string,
  url: string,
  title: string,
  text: string,
  lang: string,
  type: string,
  fields: open,
  description: string,
  author: string,
  keywords: strings,
  published_at: timeOrNull,
  fetched_at: time,
  changed_at: time,
  size: count,
  group: { type: ['string', 'null'], description: 'Equal exactly for the pages of one group' },
  duplicate_of: { type: ['string', 'null'], description: 'Id of the original of an exact copy' },
})

const stats = record({
  documents: count,
  hosts: count,
  urls: count,
  queued: count,
  exact_copies: count,
  near_copies: count,
  groups: count,
  languages: { type: 'array', items: record({ value: string, count }) },
  newest: timeOrNull,
  generation: count,
  database_bytes: count,
})

const scope: Schema = { type: 'string', enum: ['page', 'path', 'host', 'domain', 'any'] }
const address: Schema = { type: 'string', minLength: 1, maxLength: 2048 }
export const crawlSpec: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['seeds'],
  properties: {
    seeds: { type: 'array', items: address, minItems: 1, maxItems: seedsMax },
    scope: {
      ...scope,
      default: 'path',
      description: 'path = the folder of the seed and below; domain = same registrable domain',
    },
    include: { type: 'array', items: address, maxItems: 100, default: [] },
    maxPages: { type: ['integer', 'null'], minimum: 1, maximum: 1e9, default: null },
    depth: { type: 'integer', minimum: 0, maximum: 1000, default: 64 },
    delayMs: { type: ['integer', 'null'], minimum: 0, maximum: 3_600_000, default: null },
  },
}
/** What is in it is described in docs/SOURCES.md and checked by the crawl, which names the path of a mistake. */
export const sourceBody: Schema = {
  type: 'object',
  additionalProperties: true,
  description: 'A source: name, seeds, scope, limits, rules and more, as in docs/SOURCES.md',
}
const source = record({ name: string, changed_at: time, source: sourceBody })

const ruleCounts = record({
  pages: count,
  empty: { ...tally, description: 'Field -> pages in which it was empty' },
  unexpected: { ...tally, description: 'Field -> pages in which it is not as the rule expects' },
  incomplete: { ...count, description: 'Pages that lack a required field' },
  links: count,
  troubled: count,
  problem: string,
})
const jobStatus = record({
  id: count,
  state: { type: 'string', enum: ['running', 'paused', 'waiting', 'done', 'stopped', 'limit'] },
  note: string,
  source: { type: ['string', 'null'], description: 'Name of the described source' },
  seeds: strings,
  scope,
  maxPages: { type: ['integer', 'null'] },
  queued: count,
  counts: record({
    fetched: count,
    stored: count,
    unchanged: count,
    exactCopies: count,
    nearCopies: count,
    redirects: count,
    gone: count,
    refused: tally,
    failed: tally,
    bytes: count,
    javascriptOnly: count,
    rules: { type: 'object', additionalProperties: ruleCounts },
  }),
  pagesPerSecond: { type: 'number', minimum: 0 },
  etaSeconds: { type: ['number', 'null'] },
  startedAt: time,
  endedAt: timeOrNull,
  seconds: { type: 'number', minimum: 0 },
})

export const exportPageMax = 500
export const exportParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    cursor: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'From the last page; 0 to begin.',
    },
    limit: { type: 'integer', minimum: 1, maximum: exportPageMax, default: 100 },
  },
}
export const explainParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  properties: { url: address },
}
const urlStory = record({
  url: string,
  canonicalUrl: string,
  known: { type: 'boolean' },
  state: string,
  lines: { type: 'array', items: record({ about: string, text: string }) },
  document: { anyOf: [documentRecord, { type: 'null' }] },
})

const live = record({ status: { type: 'string', enum: ['ok'] }, version: string })
const health = record({
  ready: { type: 'boolean' },
  search: { type: 'boolean' },
  engine: { type: 'boolean' },
  crawl: string,
  restarts: count,
})

const problem: Schema = {
  type: 'object',
  description: 'RFC 9457, as application/problem+json',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  additionalProperties: false,
  properties: {
    type: string,
    title: string,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: string,
    instance: string,
    code: string,
    errors: { type: 'array', items: record({ pointer: string, detail: string }) },
    request_id: string,
  },
}

/** Named in the OpenAPI document. */
export const answers = {
  SearchAnswer: searchAnswer,
  Hit: hit,
  SuggestAnswer: suggestAnswer,
  Document: documentRecord,
  ExportPage: record({
    records: { type: 'array', items: documentRecord },
    cursor: { type: ['integer', 'null'] },
  }),
  Stats: stats,
  CrawlSpec: crawlSpec,
  Job: jobStatus,
  Jobs: record({ jobs: { type: 'array', items: jobStatus } }),
  Source: source,
  Sources: record({ sources: { type: 'array', items: source } }),
  Removed: record({ removed: { type: 'boolean' } }),
  UrlStory: urlStory,
  Live: live,
  Health: health,
  Problem: problem,
} as const satisfies Record<string, Schema>
