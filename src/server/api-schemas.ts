/** Every question and answer of the API as JSON Schema: the checks at run time, the OpenAPI document and the tests read these. */
import { copyGroups, distinctCounts, filtersAnswer } from './filter-schemas.ts'
import type { Schema } from './json-schema.ts'
import { string, count, strings, time, timeOrNull, open, tally, record } from './schema-parts.ts'
import { upkeepAnswers } from './upkeep-schemas.ts'
import { hit, searchAnswer, facetAnswer, similarAnswer, suggestAnswer } from './search-schemas.ts'

export {
  facetParameters,
  queryCharactersMax,
  searchParameters,
  similarParameters,
  suggestParameters,
} from './search-schemas.ts'

export { ruleDecision, sourceBody } from './upkeep-schemas.ts'

export const seedsMax = 1000

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
  keywords: {
    ...strings,
    description:
      'At most ten, those first that tell the page from the others that are there now; in an export those first that the page says most of',
  },
  published_at: timeOrNull,
  fetched_at: time,
  changed_at: time,
  size: count,
  group: { type: ['string', 'null'], description: 'Equal exactly for the pages of one group' },
  duplicate_of: { type: ['string', 'null'], description: 'Id of the original of an exact copy' },
  noarchive: {
    type: 'boolean',
    description: 'The page asks that no stored copy is shown: its text is given in the export only',
  },
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
  distinct: distinctCounts,
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
    maxPagesPerHost: { type: ['integer', 'null'], minimum: 1, maximum: 1e9, default: null },
    depth: { type: 'integer', minimum: 0, maximum: 1000, default: 64 },
    delayMs: { type: ['integer', 'null'], minimum: 0, maximum: 3_600_000, default: null },
  },
}
const itemCounts = record(
  { found: count, empty: tally, incomplete: count, pagesWithout: count },
  'Of a rule for items; pagesWithout: pages on which none was found',
)
const ruleCountsAlways = record({
  pages: count,
  empty: { ...tally, description: 'Field -> pages in which it was empty' },
  unexpected: { ...tally, description: 'Field -> pages in which it is not as the rule expects' },
  incomplete: { ...count, description: 'Pages that lack a required field' },
  links: count,
  troubled: count,
  problem: string,
})
const ruleCounts: Schema = {
  ...ruleCountsAlways,
  properties: { ...ruleCountsAlways.properties, items: itemCounts },
}
const jobStatus = record({
  id: count,
  state: {
    type: 'string',
    enum: ['running', 'paused', 'waiting', 'done', 'stopped', 'limit', 'failed'],
    description: 'failed: none of its seeds could be had; the note says why',
  },
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
  FacetAnswer: facetAnswer,
  SimilarAnswer: similarAnswer,
  Document: documentRecord,
  ExportPage: record({
    records: { type: 'array', items: documentRecord },
    cursor: { type: ['integer', 'null'] },
  }),
  Stats: stats,
  CrawlSpec: crawlSpec,
  Job: jobStatus,
  Jobs: record({ jobs: { type: 'array', items: jobStatus } }),
  ...upkeepAnswers,
  Reindex: record({
    running: { type: 'boolean' },
    done: { type: 'integer' },
    total: { type: 'integer' },
  }),
  UrlStory: urlStory,
  Filters: filtersAnswer,
  CopyGroups: copyGroups,
  Live: live,
  Health: health,
  Problem: problem,
} as const satisfies Record<string, Schema>
