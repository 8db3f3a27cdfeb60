/** Question and answer of a search, as they cross the thread border and leave through the API. */

/** What a field must be: one of `values` (or a path below one), and within [min, max]. Empty and null ask nothing. */
export type FieldCondition = {
  name: string
  values: readonly string[]
  min: string | null
  max: string | null
  isExcluded?: boolean
}

export type SearchRequest = {
  q: string
  limit: number
  offset: number
  /** Where an answer before this one said it goes on; null = at `offset`. */
  cursor: string | null
  /** relevance | fresh (by relevance, where new pages gain a little) | date (newest first) | -date | id | -id | field:NAME (smallest first) | -field:NAME */
  sort: string
  match: 'auto' | 'all' | 'any'
  site: readonly string[]
  notSite: readonly string[]
  lang: readonly string[]
  /** Media types or their short names. */
  type: readonly string[]
  fields: readonly FieldCondition[]
  /** A hit has all of them among its keywords. */
  keyword: readonly string[]
  /** ISO 8601 date or duration (P7D); null = no bound. Judged against published_at, else changed_at. */
  since: string | null
  until: string | null
  /** Fold near and exact copies into one hit. */
  group: 'duplicate' | 'none'
  /** One hit for each site. */
  collapse: 'site' | null
  /** host | lang | type | date | keyword | field:NAME | field:NAME/NODE, as facets.ts reads them. */
  facets: readonly string[]
  facetLimit: number
  /** Width of a snippet in columns: a CJK character counts two. */
  snippet: number
  /** Whether each hit says how its score came about. */
  explain?: boolean
}

/** UTF-16 code unit offsets [start, end). */
export type Range = readonly [number, number]

export type Hit = {
  id: string
  url: string
  display_url: string
  site: string
  title: string
  title_ranges: readonly Range[]
  snippet: { text: string; ranges: readonly Range[] }
  lang: string
  type: string
  published_at: string | null
  fetched_at: string
  changed_at: string
  size: number
  score: number
  /** Query words this page lacks. */
  missing: readonly string[]
  fields: Record<string, unknown>
  /** Only where it was asked for; null where nothing was scored. */
  explanation?: Explanation | null
  /** Other pages of the group: how many, the ids of some, and what the first few are called. */
  duplicates: {
    count: number
    group: string | null
    ids: readonly string[]
    items: readonly { id: string; url: string; title: string }[]
  }
  /** Where one hit a site is shown: how many more the site has. */
  more_from_site: number | null
}

/** How many hits there would be with this value as a further filter. */
export type FacetValue = {
  /** As a filter takes it: of a tree the whole path. */
  value: string
  count: number
  /** Of a tree: whether something is below it. */
  has_children: boolean
}
export type Facets = Record<string, readonly FacetValue[]>

/** For an answer without hits: what else finds something, best first. */
export type Help = {
  words: readonly { word: string; q: string; total: number }[]
  /** `parameter`: of the request; null where the filter is written in the query. `q`: the query without it. */
  filters: readonly { filter: string; parameter: string | null; q: string; total: number }[]
}

/** How often a term stands in each field of a page. `rest` = the page without its main content. */
export type FieldCounts = {
  title: number
  text: number
  headings: number
  url: number
  rest: number
}

/**
 * `score` = weight x idf x frequency (k1 + 1) / (frequency + k1 length_norm). Kinds: a word, two neighbouring characters, the whole title;
 * links follows the word itself, and its score is how much more that is with the frequency in links on top.
 */
export type TermPart = {
  term: string
  kind: 'word' | 'pair' | 'title' | 'links'
  weight: number
  documents: number
  idf: number
  frequency: number
  length_norm: number
  k1: number
  fields: FieldCounts
  score: number
  /** Of kind links: whether links of its own site call the page so, and how many other sites do. */
  own_site?: boolean
  sites?: number
}

/** What a page gets whatever was asked: for other sites that link to it, for the depth of its address, and where that is wished for its age. */
export type StandingPart = {
  kind: 'links' | 'depth' | 'age'
  /** Sites, parts of the path, days. */
  value: number
  /** Of the sum of the terms. */
  share: number
  score: number
}

/** `score`, unrounded = the sums of the four lists, added in this order, each from its first part on. */
export type Explanation = {
  score: number
  terms: readonly TermPart[]
  /** At most some hundredths of that, so that words always come first. */
  standing: readonly StandingPart[]
  /** From a second look at the best pages; empty for the others. */
  reread: readonly RereadPart[]
  feedback: readonly RereadPart[]
  field_weights: FieldCounts
}

type RereadPart = {
  kind: 'title' | 'exact' | 'near' | 'feedback'
  terms: readonly string[]
  score: number
}

export type SearchAnswer = {
  query: {
    text: string
    parsed: {
      must: readonly string[]
      phrases: readonly string[]
      without: readonly string[]
      site: readonly string[]
      lang: readonly string[]
    }
    matched: 'all' | 'any' | 'none'
    lang: string
  }
  total: { value: number; relation: 'eq' | 'gte' }
  took_ms: number
  generation: string
  limit: number
  offset: number
  suggestions: readonly { text: string; type: 'correction' | 'shorter' }[]
  warnings: readonly string[]
  hits: readonly Hit[]
  /** Where this list goes on; null at its end. */
  next_cursor: string | null
  facets: Facets
  help: Help | null
}

export type SimilarAnswer = {
  /** Pages of the same group. similarity 0..1 and distance in bits of 64 are those from the centre of the group. */
  copies: readonly {
    id: string
    url: string
    title: string
    is_exact: boolean
    similarity: number | null
    distance: number | null
  }[]
  /** Pages on the same matter, best first. */
  related: readonly { id: string; url: string; site: string; title: string; score: number }[]
}

export type SuggestAnswer = {
  suggestions: readonly { text: string; type: 'query' | 'title' | 'term'; count: number }[]
}
