/** The records that leave the store: what the API, the export and the pages show of a document. */

export type DocumentRecord = {
  id: string
  url: string
  title: string
  text: string
  lang: string
  type: string
  fields: Record<string, unknown>
  description: string
  author: string
  keywords: readonly string[]
  published_at: string | null
  fetched_at: string
  changed_at: string
  /** Bytes on the wire. */
  size: number
  /** Equal exactly for the pages of one group of copies; null for a page without copies. */
  group: string | null
  /** Id of the original where this is an exact copy. */
  duplicate_of: string | null
}

export type StoreStats = {
  documents: number
  hosts: number
  urls: number
  queued: number
  exact_copies: number
  near_copies: number
  groups: number
  languages: readonly { value: string; count: number }[]
  newest: string | null
  generation: number
  database_bytes: number
}
