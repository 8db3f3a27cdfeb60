/** What a rule of a source says: which pages it is for, which links to take from them, which fields. Plain data, fit for JSON and for messages. */
import type { UrlPattern } from './url-pattern.ts'

export const valueTypes = ['text', 'number', 'date', 'category', 'html'] as const
export type ValueType = (typeof valueTypes)[number]

/** One step that changes a text. */
export type Transform =
  | 'trim'
  | 'lower'
  | 'upper'
  | 'absolute'
  | { replace: string; with: string }
  | { split: string }
  | { join: string }
  | { prefix: string }
  | { suffix: string }

/** Where a value comes from: exactly one of css, xpath, json, jsonLd, meta, itemprop, constant. */
export type Extractor = {
  css?: string
  xpath?: string
  /** A path into the document of a JSON page: "$.data.title". */
  json?: string
  /** A path into the page's JSON-LD. */
  jsonLd?: string
  /** Name or property of a meta element. */
  meta?: string
  itemprop?: string
  constant?: string | number
  /** Of the found elements, in place of their text. */
  attribute?: string
  /** The first group, or the whole match, of this expression; a text in which it does not occur gives nothing. */
  regex?: string
  transform?: readonly Transform[]
}

export type FieldSpec = Extractor & {
  type?: ValueType
  /** All matches, not the first. */
  many?: boolean
  /** A page that lacks it is reported and marked. */
  required?: boolean
  /** How a date is written, where it is none of the usual ways: "DD/MM/YYYY HH:mm". */
  format?: string
  /** Between whole and fraction; "." by default. */
  decimal?: '.' | ','
  /** Between the parts of a category path that stands in one text: " > ". */
  separator?: string
}

export type LinkSpec = Extractor & { max?: number }

/** URLs made from extracted values: `{name}` in the template. */
export type TemplateSpec = {
  template: string
  values: Readonly<Record<string, Extractor>>
  /** The elements or JSON values that hold one URL's values each; without it, `values` names one thing with many matches. */
  each?: { css?: string; xpath?: string; json?: string }
  max?: number
}

/** Documents of their own that stand on one page; `{name}` in the template for each of the values, all read within what holds the item. */
export type ItemSpec = {
  each: { css?: string; xpath?: string; json?: string }
  values: TemplateSpec['values']
  /** "#{id}" is a part of the page itself. */
  template: string
  page: Readonly<Partial<Record<PageProperty, FieldSpec>>>
  fields: Readonly<Record<string, FieldSpec>>
  max?: number
}

export type NextSpec = Extractor & {
  /** Pages further than so many links from the start lead to no next one. */
  max?: number
}

/** What a page is known to hold: `rules test` and every crawl compare. */
export type Expectation = { url: string; fields: Readonly<Record<string, FieldResult>> }

export type FieldResult = string | number | readonly string[]

export const pageProperties = ['title', 'text', 'description', 'author', 'date'] as const
export type PageProperty = (typeof pageProperties)[number]

export type Rule = {
  name: string
  kind: 'list' | 'detail'
  match: readonly UrlPattern[]
  format: 'html' | 'json'
  /** Whether the page itself becomes a document. */
  store: boolean
  /** Whether all links of the page are followed, beside those the rule names. */
  follow: boolean
  links: readonly LinkSpec[]
  next: readonly NextSpec[]
  details: readonly TemplateSpec[]
  /** What stands in for the program's own findings. */
  page: Readonly<Partial<Record<PageProperty, FieldSpec>>>
  fields: Readonly<Record<string, FieldSpec>>
  items?: ItemSpec
  expect: readonly Expectation[]
  /** Properties of the page and fields that alone make its fingerprint; none = its main text. Left out by older versions. */
  fingerprintFields?: readonly string[]
}

/** How a rule fared on one page. Goes into the document's record and into the counts of the job. */
export type RuleReport = {
  source: string
  rule: string
  /** Fields without a value. */
  empty: readonly string[]
  /** Those of them that are required. */
  missing: readonly string[]
  /** One sentence each, bounded. */
  problems: readonly string[]
  /** Fields that are not as the rule expects of this URL; null where it expects nothing. */
  unexpected: readonly string[] | null
  links: number
  /** Of a rule for items: how many there are, and how many of them lack a field, or one that is required. */
  items?: { found: number; empty: Readonly<Record<string, number>>; incomplete: number }
}
