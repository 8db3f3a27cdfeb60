/** Reads a page or a JSON document by the ways that a rule knows: what selectors and paths lead to, as texts, values and addresses. */
import { normalizeUrl } from '../lib/url.ts'
import { cleanHtml } from './clean-html.ts'
import { fieldOf, transformed, valueCharsMax, valuesMax } from './field-values.ts'
import { asText, jsonMatchesMax, parseJsonPath, textsOf, valuesAt } from './json-list.ts'
import { copyOf } from './kept-text.ts'
import { linksMaxDefault, nextMaxDefault } from './rule-file.ts'
import type { Extractor, FieldResult, FieldSpec, Rule, TemplateSpec } from './rule-types.ts'
import { attributeOf, elementsOf, type RulePage, visibleText } from './rules.ts'
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

const textCharsMax = 1_000_000
/** Of an item without a title of its own. */
const titleCharsMax = 120

/** An element, a JSON value, or a text. */
export type Found = Node | { value: unknown } | string

export class Reader {
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

  /** @param root where it is looked for; left out: on the whole page */
  field(name: string, spec: FieldSpec, root: Found | null = this.#root()): FieldResult | null {
    const wantsAll =
      spec.many === true ||
      spec.type === 'category' ||
      JSON.stringify(spec.transform ?? '').includes('"join"')
    const texts = this.#texts(name, spec, wantsAll, root, spec.type === 'html')
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
    if (each !== undefined)
      return this.filled('details', template, values, this.holders('details', each, max))
    const [name, extractor] = Object.entries(values)[0] ?? ['', {}]
    return this.#texts('details', extractor, true, this.#root(), false, max).map((text) =>
      fill(template, { [name]: text }),
    )
  }

  /** What holds one item each, at most `max`. */
  holders(what: string, each: Extractor, max: number): Found[] {
    try {
      return this.#find(what, each, true, this.#root()).slice(0, max)
    } catch (error) {
      this.#report(what, error instanceof Error ? error.message : 'it failed')
      return []
    }
  }

  /** The template with the values of each holder; without those that lack one: a URL with a hole in it would be another page. */
  filled(
    what: string,
    template: string,
    values: TemplateSpec['values'],
    holders: readonly Found[],
  ): string[] {
    const urls: string[] = []
    for (const holder of holders) {
      const texts: Record<string, string> = {}
      for (const [name, extractor] of Object.entries(values)) {
        const [text] = this.#texts(what, extractor, false, holder, false)
        if (text !== undefined) texts[name] = text
      }
      if (Object.keys(values).every((name) => texts[name] !== undefined))
        urls.push(fill(template, texts))
    }
    return urls
  }

  /** All that can be read of a part of the page, and what stands above it: its first heading, else its first line. */
  whole(part: Found): { title: string; text: string } {
    if (typeof part === 'string') return { title: part.slice(0, titleCharsMax), text: part }
    if (!('nodeType' in part)) {
      const text = textsOf(part.value, textCharsMax)
      const [named] = ['$.title', '$.name'].flatMap((path) => at(part.value, path)).map(jsonText)
      const [line = ''] = text.split('\n', 1)
      return { title: (named || line).slice(0, titleCharsMax), text }
    }
    const text = visibleText(part).slice(0, textCharsMax)
    const heading =
      part.nodeType === 1 ? (part as Element).querySelector('h1,h2,h3,h4,h5,h6') : null
    const title = heading === null ? text : visibleText(heading)
    return { title: (title || text).slice(0, titleCharsMax), text }
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
    if (spec.itemprop !== undefined) return this.#marked(spec.itemprop, wantsAll, root)
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
  #marked(name: string, wantsAll: boolean, root: Found | null): Found[] {
    if (this.#page === null || root === null || typeof root === 'string' || !('nodeType' in root))
      return []
    const css = `[itemprop~="${name.replace(/["\\]/g, '')}"]`
    const elements = elementsOf(this.#page, root as Element, css, wantsAll)
    if (typeof elements === 'string') return []
    return elements.map((element) => {
      for (const attribute of ['content', 'datetime', 'href', 'src'])
        if (element.hasAttribute(attribute)) return attributeOf(element, attribute, this.#base)
      return visibleText(element)
    })
  }
}

const jsonText = (found: Found): string =>
  typeof found === 'object' && 'value' in found && !('nodeType' in found) ? asText(found.value) : ''

const fill = (template: string, texts: Readonly<Record<string, string>>): string =>
  template.replace(/\{([^{}]+)\}/g, (_, name: string) => encodeURIComponent(texts[name] ?? ''))

function at(document: unknown, text: string): Found[] {
  const path = parseJsonPath(text)
  return typeof path === 'string' ? [] : valuesAt(document, path).map((value) => ({ value }))
}
