/** Question and answer of a search, as they cross the thread border and leave through the API. */

export type SearchRequest = {
  q: string
  limit: number
  offset: number
  sort: 'relevance' | 'date' | '-date'
  match: 'auto' | 'all' | 'any'
  site: readonly string[]
  notSite: readonly string[]
  lang: readonly string[]
  /** ISO 8601 date or duration (P7D); null = no bound. Judged against published_at, else changed_at. */
  since: string | null
  until: string | null
  /** Fold near and exact copies into one hit. */
  group: 'duplicate' | 'none'
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
}

/** How often a term stands in each field of a page. `rest` = the page without its main content. */
export type FieldCounts = {
  title: number
  text: number
  headings: number
  url: number
  rest: number
}

/** `score` = weight x idf x frequency (k1 + 1) / (frequency + k1 length_norm). Kinds: a word, two neighbouring characters, the whole title. */
export type TermPart = {
  term: string
  kind: 'word' | 'pair' | 'title'
  weight: number
  documents: number
  idf: number
  frequency: number
  length_norm: number
  k1: number
  fields: FieldCounts
  score: number
}

/** `score`, unrounded = the sums of the three lists, added in this order, each from its first part on. */
export type Explanation = {
  score: number
  terms: readonly TermPart[]
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
}

export type SuggestAnswer = {
  suggestions: readonly { text: string; type: 'title' | 'term'; count: number }[]
}
