/** Applies a rule to a page or a JSON document: fields, links, what stands in for title and text. Total: what cannot be done is a problem in the report. */
import { normalizeUrl } from '../lib/url.ts'
import { cleanHtml } from './clean-html.ts'
import type { RuleForPage } from './described.ts'
import { fieldOf, transformed, valueCharsMax, valuesMax } from './field-values.ts'
import { asText, jsonMatchesMax, parseJsonPath, valuesAt } from './json-list.ts'
import { copyOf } from './kept-text.ts'
import { linksMaxDefault, nextMaxDefault } from './rule-file.ts'
import type {
  Expectation,
  Extractor,
  FieldResult,
  FieldSpec,
  PageProperty,
  Rule,
  RuleReport,
  TemplateSpec,
} from './rule-types.ts'
import { attributeOf, elementsOf, openRulePage, type RulePage, visibleText } from './rules.ts'
import { evaluate } from './xpath.ts'

/** What a rule is applied to. */
export type RuleSubject = {
  url: string
  /** Links from the start. */
  depth: number
  metas: ReadonlyMap<string, string>
  jsonLd: readonly string[]
} & (
  | { kind: 'html'; html: string; shape: { depth: number; elements: number } }
  | { kind: 'json'; document: unknown }
)

export type AppliedRule = {
  fields: Record<string, FieldResult>
  page: Partial<Record<PageProperty, string>>
  /** Canonical, distinct, without the page itself. */
  links: string[]
  report: RuleReport
}

const problemsMax = 20
const problemCharsMax = 200
const textCharsMax = 1_000_000

/** An element, a JSON value, or a text. */
type Found = Node | { value: unknown } | string

export function applyRule({ source, rule }: RuleForPage, subject: RuleSubject): AppliedRule {
  const problems: string[] = []
  const report = (what: string, problem: string): void => {
    if (problems.length < problemsMax)
      problems.push(`${what}: ${problem.replace(/\s+/g, ' ').slice(0, problemCharsMax)}`)
  }
  const needsPage = subject.kind === 'html' && usesDocument(rule)
  const page = needsPage ? openRulePage(subject.html, subject.url, subject.shape) : null
  if (typeof page === 'string') report('page', page)
  const reader = new Reader(subject, typeof page === 'string' ? null : page, report)
  const fields: Record<string, FieldResult> = {}
  const empty: string[] = []
  for (const [name, spec] of Object.entries(rule.fields)) {
    const value = reader.field(name, spec)
    if (value === null) empty.push(name)
    else fields[name] = value
  }
  const shown: Partial<Record<PageProperty, string>> = {}
  for (const [name, spec] of Object.entries(rule.page) as [PageProperty, FieldSpec][]) {
    const value = reader.field(name, name === 'date' ? { type: 'date', ...spec } : spec)
    if (value !== null) shown[name] = Array.isArray(value) ? value.join('\n') : String(value)
  }
  const links = reader.links(rule)
  const missing = empty.filter((name) => rule.fields[name]?.required === true)
  return {
    fields,
    page: shown,
    links,
    report: {
      source,
      rule: rule.name,
      empty,
      missing,
      problems,
      unexpected: unexpectedIn(rule.expect, subject.url, fields),
      links: links.length,
    },
  }
}

/** Names of fields that differ from what the rule expects of this URL; null where it expects nothing. */
function unexpectedIn(
  expectations: readonly Expectation[],
  url: string,
  fields: Readonly<Record<string, FieldResult>>,
): string[] | null {
  const expected = expectations.find((each) => normalizeUrl(each.url) === url)
  if (expected === undefined) return null
  return Object.entries(expected.fields)
    .filter(([name, value]) => JSON.stringify(fields[name]) !== JSON.stringify(value))
    .map(([name]) => name)
}

const isOfDocument = ({ css, xpath, itemprop }: Extractor): boolean =>
  css !== undefined || xpath !== undefined || itemprop !== undefined

function usesDocument({ fields, page, links, next, details }: Rule): boolean {
  const extractors = [
    ...Object.values(fields),
    ...Object.values(page),
    ...links,
    ...next,
    ...details.flatMap(({ values, each }) => [...Object.values(values), each ?? {}]),
  ]
  return extractors.some(isOfDocument)
}

class Reader {
  readonly #subject: RuleSubject
  readonly #page: RulePage | null
  readonly #report: (what: string, problem: string) => void
  readonly #base: string
  #jsonLd: unknown[] | null = null

  constructor(
    subject: RuleSubject,
    page: RulePage | null,
    report: (what: string, problem: string) => void,
  ) {
    this.#subject = subject
    this.#page = page
    this.#report = report
    this.#base = page?.base ?? subject.url
  }

  field(name: string, spec: FieldSpec): FieldResult | null {
    const wantsAll =
      spec.many === true ||
      spec.type === 'category' ||
      JSON.stringify(spec.transform ?? '').includes('"join"')
    const texts = this.#texts(name, spec, wantsAll, this.#root(), spec.type === 'html')
    return fieldOf(texts, spec)
  }

  links({ links, next, details }: Rule): string[] {
    const { depth, url } = this.#subject
    const found = new Set<string>()
    const add = (address: string): void => {
      const link = normalizeUrl(address, this.#base)
      if (link !== null && link !== url && found.size < linksMaxDefault) found.add(copyOf(link))
    }
    for (const spec of links)
      this.#addresses('links', spec)
        .slice(0, spec.max ?? linksMaxDefault)
        .forEach(add)
    for (const spec of details) this.#made(spec).forEach(add)
    for (const spec of next)
      if (depth < (spec.max ?? nextMaxDefault)) this.#addresses('next', spec).forEach(add)
    return [...found]
  }

  /** Of links the address is meant where nothing else is said. */
  #addresses(what: string, spec: Extractor): string[] {
    const isElement = spec.css !== undefined || spec.xpath !== undefined
    const named = isElement && spec.attribute === undefined ? { ...spec, attribute: 'href' } : spec
    return this.#texts(what, named, true, this.#root(), false, linksMaxDefault)
  }

  /** One URL for each holder of values, or for each match of the one value. */
  #made({ template, values, each, max = linksMaxDefault }: TemplateSpec): string[] {
    const fill = (texts: Readonly<Record<string, string>>): string =>
      template.replace(/\{([^{}]+)\}/g, (_, name: string) => encodeURIComponent(texts[name] ?? ''))
    const entries = Object.entries(values)
    if (each === undefined) {
      const [name, extractor] = entries[0] ?? ['', {}]
      return this.#texts('details', extractor, true, this.#root(), false, max).map((text) =>
        fill({ [name]: text }),
      )
    }
    const urls: string[] = []
    for (const holder of this.#find('details', each, true, this.#root()).slice(0, max)) {
      const texts: Record<string, string> = {}
      for (const [name, extractor] of entries) {
        const [text] = this.#texts('details', extractor, false, holder, false)
        if (text !== undefined) texts[name] = text
      }
      // A URL with a hole in it would be another page.
      if (entries.every(([name]) => texts[name] !== undefined)) urls.push(fill(texts))
    }
    return urls
  }

  #root(): Found | null {
    return this.#subject.kind === 'json'
      ? { value: this.#subject.document }
      : (this.#page?.document ?? null)
  }

  #texts(
    what: string,
    spec: Extractor,
    wantsAll: boolean,
    root: Found | null,
    asHtml: boolean,
    max = valuesMax,
  ): string[] {
    try {
      const found = this.#find(what, spec, wantsAll, root)
      const texts = found.slice(0, max).map((each) => this.#textOf(each, spec, asHtml))
      const values = transformed(
        texts.filter((text) => text !== ''),
        spec,
        this.#base,
        max,
      )
      return wantsAll ? values : values.slice(0, 1)
    } catch (error) {
      this.#report(what, error instanceof Error ? error.message : 'it failed')
      return []
    }
  }

  #textOf(found: Found, { attribute }: Extractor, asHtml: boolean): string {
    if (typeof found === 'string') return found
    if ('value' in found && !('nodeType' in found)) return asText(found.value)
    const node = found as Node
    if (node.nodeType === 2) return (node as Attr).value.trim()
    if (node.nodeType !== 1) return (node.nodeValue ?? node.textContent ?? '').trim()
    const element = node as Element
    if (attribute !== undefined) return attributeOf(element, attribute, this.#base)
    return asHtml
      ? cleanHtml(element, this.#base, valueCharsMax)
      : visibleText(element).slice(0, textCharsMax)
  }

  #find(what: string, spec: Extractor, wantsAll: boolean, root: Found | null): Found[] {
    if (spec.constant !== undefined) return [String(spec.constant)]
    if (spec.meta !== undefined) {
      const content = this.#subject.metas.get(spec.meta.toLowerCase())
      return content === undefined ? [] : [content]
    }
    if (spec.jsonLd !== undefined) return this.#inJsonLd(spec.jsonLd)
    if (spec.json !== undefined) return this.#inJson(what, spec.json, root)
    if (spec.itemprop !== undefined) return this.#marked(spec.itemprop, wantsAll)
    if (this.#page === null || root === null || typeof root === 'string') {
      if (this.#subject.kind === 'json') this.#report(what, 'a JSON page has no elements')
      return []
    }
    if (spec.xpath !== undefined) return evaluate(spec.xpath, root as Node)
    const elements = elementsOf(this.#page, root as Element, spec.css ?? '', wantsAll)
    if (typeof elements !== 'string') return elements
    this.#report(what, elements)
    return []
  }

  #inJson(what: string, text: string, root: Found | null): Found[] {
    if (root === null || typeof root === 'string' || !('value' in root)) {
      this.#report(what, 'this page is no JSON')
      return []
    }
    return at(root.value, text)
  }

  #inJsonLd(text: string): Found[] {
    this.#jsonLd ??= this.#subject.jsonLd.flatMap((script): unknown[] => {
      try {
        return [JSON.parse(script.replace(/\p{Cc}+/gu, ' ')) as unknown]
      } catch {
        return [] // broken scripts are common, and none of the page's text
      }
    })
    return this.#jsonLd.flatMap((document) => at(document, text)).slice(0, jsonMatchesMax)
  }

  /** Microdata: the content, the address, the time, else the text. */
  #marked(name: string, wantsAll: boolean): Found[] {
    if (this.#page === null) return []
    const css = `[itemprop~="${name.replace(/["\\]/g, '')}"]`
    const elements = elementsOf(this.#page, this.#page.document, css, wantsAll)
    if (typeof elements === 'string') return []
    return elements.map((element) => {
      for (const attribute of ['content', 'datetime', 'href', 'src'])
        if (element.hasAttribute(attribute)) return attributeOf(element, attribute, this.#base)
      return visibleText(element)
    })
  }
}

function at(document: unknown, text: string): Found[] {
  const path = parseJsonPath(text)
  return typeof path === 'string' ? [] : valuesAt(document, path).map((value) => ({ value }))
}
