/** Questions and answers of searches as JSON Schema: parameters, hits, facets, similar pages, suggestions. The rest is api-schemas.ts. */
import type { Schema } from './json-schema.ts'
import { string, count, strings, time, timeOrNull, open, ranges, record } from './schema-parts.ts'

export const queryCharactersMax = 2048

// A duration has to have a part, and a T has to have one after it.
const moment: Schema = {
  type: 'string',
  maxLength: 40,
  pattern:
    '^(\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)?)?|P(?=[\\dT])(\\d{1,4}Y)?(\\d{1,4}M)?(\\d{1,4}W)?(\\d{1,5}D)?(T(?=\\d)(\\d{1,5}H)?(\\d{1,6}M)?(\\d{1,7}S)?)?)$',
}
const hostName: Schema = { type: 'string', minLength: 1, maxLength: 253 }
const language: Schema = { type: 'string', pattern: '^[a-z]{2,3}(-[A-Za-z]{2,8})?$', maxLength: 12 }

const facetList: Schema = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 320 },
  maxItems: 10,
  default: [],
}
const without = <T>(all: Readonly<Record<string, T>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)))

export const searchParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['q'],
  properties: {
    q: {
      type: 'string',
      maxLength: queryCharactersMax,
      description:
        'Words, "phrases", -without, OR, site:, -site:, intitle:, inurl:, lang:, keyword:, before:, after:',
    },
    limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
    offset: { type: 'integer', minimum: 0, maximum: 1000, default: 0 },
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: 600,
      description:
        'next_cursor of the answer before this one: goes on without end, each hit once; `offset` then counts for nothing',
    },
    sort: {
      type: 'string',
      pattern: '^(relevance|fresh|-?date|-?id|-?field[:.].+)$',
      maxLength: 120,
      default: 'relevance',
      description:
        'fresh = by relevance, where new pages gain a little, date = newest first, -date = oldest first, id, field:NAME = smallest first, -field:NAME = largest first',
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
    type: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 100 },
      maxItems: 20,
      default: [],
      description: 'Media types, or their short names: html, pdf',
    },
    keyword: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 100 },
      maxItems: 10,
      default: [],
      description: 'Keywords that a hit has, all of them, in whatever spelling; repeated',
    },
    since: { ...moment, description: 'A date, or how long ago (P7D)' },
    until: { ...moment, description: 'A date, or how long ago' },
    group: {
      type: 'string',
      enum: ['duplicate', 'none'],
      default: 'duplicate',
      description: 'duplicate: exact and near copies are folded into one hit',
    },
    collapse: {
      type: 'string',
      enum: ['site', 'none'],
      default: 'none',
      description: 'site: one hit for each site, which says how many more the site has',
    },
    facets: {
      ...facetList,
      description:
        'host, lang, type, keyword (those that tell most about the hits), date (date:year, date:month, date:day), field:NAME; field:NAME/NODE: what is below a node of a tree; field:*: the fields that most hits have. Repeated, or with commas',
    },
    facet: { ...facetList, description: 'The same' },
    facet_limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
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
  patternProperties: {
    '^field\\.[^/]{1,100}\\.(gte|lte)$': {
      type: ['string', 'number'],
      description: 'field.NAME.gte, field.NAME.lte: a number, or a text (a date as 2026-11-30)',
      maxLength: 200,
    },
    '^field\\.[^/]{1,100}$': {
      type: 'array',
      items: { type: ['string', 'number'], maxLength: 200 },
      maxItems: 20,
      description: 'field.NAME: one of these values, or a path below one',
    },
  },
}

export const facetParameters: Schema = {
  ...searchParameters,
  required: ['field'],
  properties: {
    ...without(searchParameters.properties ?? {}, [
      'limit',
      'offset',
      'cursor',
      'sort',
      'facets',
      'facet',
      'facet_limit',
      'snippet',
      'collapse',
    ]),
    q: { ...searchParameters.properties?.['q'], default: '' },
    field: { type: 'string', minLength: 1, maxLength: 320, description: 'As in `facets`' },
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
}
export const facetValues: Schema = {
  type: 'array',
  items: record(
    { value: string, count, has_children: { type: 'boolean' } },
    'The hits that there are with this value as a further filter',
  ),
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
const termPart = record({
  term: string,
  kind: { type: 'string', enum: ['word', 'pair', 'title', 'links'] },
  weight: number,
  documents: count,
  idf: number,
  frequency: number,
  length_norm: number,
  k1: number,
  fields: fieldNumbers,
  score: number,
})
const explanation: Schema = {
  ...record({
    score: number,
    terms: {
      type: 'array',
      items: {
        ...termPart,
        properties: {
          ...termPart.properties,
          own_site: {
            type: 'boolean',
            description: 'Of kind links: links of its own site call the page so',
          },
          sites: { ...count, description: 'Of kind links: how many other sites call it so' },
        },
      },
    },
    standing: {
      type: 'array',
      description: 'What the page gets whatever was asked: a small share of the sum of the terms',
      items: record({
        kind: { type: 'string', enum: ['links', 'depth', 'age'] },
        value: { ...count, description: 'Other sites that link here, parts of the path, days' },
        share: number,
        score: number,
      }),
    },
    reread: rereadParts,
    feedback: rereadParts,
    field_weights: fieldNumbers,
  }),
  type: ['object', 'null'],
  description: 'With explain=1: score is the sum of the scores in the four lists',
}

export const plainHit = record({
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
  more_from_site: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'Further hits of the site, with collapse=site',
  },
})

const totalRelation: Schema = {
  type: 'string',
  enum: ['eq', 'gte'],
  description:
    'gte: at least so many, where time ran out, or where there are more than 10,000 and neither facets nor collapse nor cursor need the rest',
}

export const hit: Schema = { ...plainHit, properties: { ...plainHit.properties, explanation } }

export const searchAnswer = record({
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
  total: record({ value: count, relation: totalRelation }),
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
  next_cursor: {
    type: ['string', 'null'],
    description: 'For `cursor`: the hits after these; null at the end',
  },
  facets: {
    type: 'object',
    additionalProperties: facetValues,
    description: 'By the names that were asked for',
  },
  help: {
    description: 'Where nothing was found: without which words or filters something is',
    anyOf: [
      { type: 'null' },
      record({
        words: { type: 'array', items: record({ word: string, q: string, total: count }) },
        filters: {
          type: 'array',
          items: record({
            filter: string,
            parameter: { type: ['string', 'null'] },
            q: string,
            total: count,
          }),
        },
      }),
    ],
  },
})

export const facetAnswer = record({
  field: string,
  values: facetValues,
  total: record({ value: count, relation: totalRelation }),
})

export const similarParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 } },
}
export const similarAnswer = record({
  copies: {
    type: 'array',
    items: record({
      id: string,
      url: string,
      title: string,
      is_exact: { type: 'boolean' },
      similarity: { type: ['number', 'null'], description: '0 to 1, to the centre of the group' },
      distance: {
        type: ['integer', 'null'],
        description: 'Differing bits of 64 between the SimHash values of page and centre',
      },
    }),
  },
  related: {
    type: 'array',
    items: record({
      id: string,
      url: string,
      site: string,
      title: string,
      score: { type: 'number', description: '1 = as like as the page itself' },
    }),
  },
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
export const suggestAnswer = record({
  suggestions: {
    type: 'array',
    items: record({
      text: string,
      type: { type: 'string', enum: ['query', 'title', 'term'] },
      count,
    }),
  },
})
