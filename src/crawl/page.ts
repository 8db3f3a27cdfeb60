/** The values that travel through a visit: what the network gave, what the parser made of it. Plain data, fit for messages between threads. */
import type { RuleForPage } from './described.ts'
import type { RuleReport } from './rule-types.ts'
import type { Fingerprint } from '../text/fingerprint.ts'
import type { FoundWord } from '../text/judge-words.ts'
import type { Keyword } from '../text/keywords.ts'
import type { UrlList } from './sitemap.ts'

/** What one fetch ended with. Everything the web does is a value here. `finalUrl` is canonical, after redirects inside the same visit. */
export type FetchOutcome =
  | {
      kind: 'page'
      status: number
      finalUrl: string
      /** Bytes as received, still content-encoded; its own ArrayBuffer, ready to be transferred. */
      body: ArrayBuffer
      /** '' | 'gzip' | 'deflate', two layers joined by ', ': what `decodeBody` takes. */
      encoding: string
      contentType: string
      etag: string | null
      modified: string | null
      /** Canonical URL that a Refresh header leads to soon. */
      refresh: string | null
      /** X-Robots-Tag, joined by commas. */
      robotsTag: string
      /** The body ended early (Content-Length not reached, chunk cut off): kept and retried. */
      truncated: boolean
      wireBytes: number
      elapsedMs: number
    }
  | { kind: 'notModified'; status: number; elapsedMs: number }
  /** Leads elsewhere: judged by scope, robots and the seen test like any link. `to` is canonical. */
  | { kind: 'redirect'; status: number; to: string; elapsedMs: number; withCookie?: true }
  | { kind: 'gone'; status: number; elapsedMs: number }
  /** We will not take it: type, size, encoding, egress guard, scheme. */
  | { kind: 'refused'; status: number; reason: string; elapsedMs: number }
  /** Did not work this time. `retryAfterMs` where the server said so (already clamped), `pausesHost` for 429 and 503. */
  | {
      kind: 'failed'
      status: number
      reason: string
      elapsedMs: number
      retryAfterMs?: number
      pausesHost?: boolean
    }

/** One page for the parser thread. `body` is transferred. */
export type ParseJob = {
  url: string
  body: ArrayBuffer
  encoding: string
  contentType: string
  robotsTag: string
  /** The rule of a described source that is for this page. */
  rule: RuleForPage | null
  /** Links from the start. */
  depth: number
  /** Seed of the fingerprints, kept in the database. */
  seed: number
}

/** One list of URLs for the parser thread. `body` is transferred. */
export type ListJob = { url: string; body: ArrayBuffer; encoding: string; urlsMax: number }
export type ListOutcome =
  | { kind: 'list'; list: UrlList }
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; reason: string }

export type FieldValue = string | number | readonly string[]

/** The analysed page. Strings are copies: none pins the page they were cut from. */
export type ParsedPage = {
  title: string
  description: string
  /** Primary language subtag, 'und' where unknown. */
  lang: string
  /** h1-h6 of the main content, one a line, at most 40. */
  headings: string
  author: string
  publishedAtMs: number | null
  /** Best first. */
  keywords: readonly Keyword[]
  fields: Record<string, FieldValue>
  /** Main content: as `packText` makes it, in its own ArrayBuffer. */
  text: Uint8Array<ArrayBuffer>
  textChars: number
  /** The rest of the page, the same way; empty where all is main content. */
  rest: Uint8Array<ArrayBuffer>
  /** Canonical absolute http(s) URLs to follow, distinct, in order; nofollow links left out. */
  links: readonly string[]
  /** What the page calls its links, one a line in their order, '' where that tells nothing; left out where it is so for all. */
  linkTexts?: string
  /** rel=canonical, canonicalised; null where absent or the page itself. */
  canonical: string | null
  refresh: string | null
  /** rel=alternate of a feed type: canonical, few. */
  feeds: readonly string[]
  /** Hashes of the lines of the main content, figures folded: what a page brings that others of its shape do not. */
  lineHashes: Uint32Array<ArrayBuffer>
  noindex: boolean
  noarchive: boolean
  /** Not to be shown after this. */
  expiresAtMs?: number
  /** 0..1: how sure the extraction of the main content is. */
  confidence: number
  charset: string
  /**
   * Distinct index terms, their quantised weighted frequencies, weighted length: what the index takes. The terms are one text, one a line:
   * hundreds of strings would cost both threads more than all else about the message, and live until the commit.
   */
  terms: string
  quants: Uint8Array<ArrayBuffer>
  length: number
  /** Its neighbouring words, for phrases; null where they are too many to be counted. */
  pairs: Uint32Array<ArrayBuffer> | null
  fingerprint: Fingerprint
  /** What it is made of, where that is not the main text. */
  fingerprintFields?: readonly string[]
  /** How its rule fared, where it has one. */
  rule?: RuleReport
  /** Documents of their own that stand on it; left out where its rule knows none, 'unknown' where it could not be read for them. */
  items?: readonly ParsedItem[] | 'unknown'
  /** Its rule says that it is a way to other pages, and no document. */
  isUnstored?: true
  /** There is nothing to read before JavaScript ran. */
  isShell?: true
  /** Words of lists that it has; those to be masked are masked already. */
  words?: readonly FoundWord[]
  /** One of them says that it must not be stored. */
  isFiltered?: true
  /** Counts the changes of the lists: those it was judged by. */
  wordsVersion?: number
}

/** `page` has no links. */
export type ParsedItem = { url: string; page: ParsedPage }

export type ParseOutcome =
  | { kind: 'page'; page: ParsedPage }
  /** Not a document of ours: `reason` as in Settlement.refused (type, empty, encoding, size). */
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; reason: string }
