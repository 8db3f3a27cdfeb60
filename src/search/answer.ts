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
  /** Other pages of the group: how many, the ids of some, and what the first few are called. */
  duplicates: {
    count: number
    group: string | null
    ids: readonly string[]
    items: readonly { id: string; url: string; title: string }[]
  }
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
