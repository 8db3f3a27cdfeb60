/**
 * Fields taken from a page by the user's CSS selectors (door to linkedom). A DOM is built here and nowhere else, since it
 * costs ten times what reading the page does. Runs in the parser thread only: its time limit is the last defence.
 */
import { DOMParser } from 'linkedom'
import { normalizeUrl } from '../lib/url.ts'
import { copyOf } from './kept-text.ts'
import type { FieldRule, FieldValue } from './page.ts'
import { type PageTree, parsePageTree, treeLimits } from './page-tree.ts'

export type RuleProblem = { name: string; problem: string }
export type Extracted = {
  /** A rule without a match gives no field. */
  fields: Record<string, FieldValue>
  problems: readonly RuleProblem[]
}

/** linkedom takes seconds for more, and its memory is ten times the page's. */
const elementsMax = 50_000
const rulesMax = 50
const selectorCharsMax = 500
const valuesMax = 200
const valueCharsMax = 10_000
/** Pairs of siblings, and of elements with their descendants, that one selector may make linkedom compare: a quarter of a second. */
const pairsMax = 4_000_000

const fieldName = /^[\p{L}_][\p{L}\p{N}_.-]{0,63}$/u
const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
/** Selectors that look at all siblings of each element: for each sibling linkedom lists them anew. */
const siblingSelector = /[+~]|:(first|last|only|nth)-/i
/** Selectors that look at all that is below each element. */
const descendantSelector = /:(has|contains|icontains|empty)\b/i
const addressAttribute = /^(href|src|action|cite|poster|data-src|data-href)$/i
const otherAddress = /^(mailto|tel):/i
const silentTags: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template'])
const breakingTags =
  /^(address|article|aside|blockquote|br|dd|div|dl|dt|figcaption|footer|form|h\d|header|hr|li|main|nav|ol|p|pre|section|table|td|th|tr|ul)$/

/**
 * Applies the rules to a page. Total: what cannot be done is a problem, named after its rule ('' = all rules).
 * Refused are pages deeper than 512 or of more than 50,000 elements, and selectors whose work would grow with the square
 * of the page past a bound; anything else slow is ended by the thread's limit.
 * @param url base of relative addresses, unless the page names another.
 * @param shape of the page, where it is known already.
 */
export function extractFields(
  html: string,
  url: string,
  rules: readonly FieldRule[],
  shape: PageTree['shape'] = parsePageTree(html).shape,
): Extracted {
  const fields = new Map<string, FieldValue>()
  const problems: RuleProblem[] = []
  const done = (): Extracted => ({ fields: Object.fromEntries(fields), problems })
  const refuse = (problem: string, name = ''): void => void problems.push({ name, problem })
  if (rules.length === 0) return done()
  if (rules.length > rulesMax) refuse(`only the first ${rulesMax} rules are used`)
  if (shape.depth > treeLimits.depthMax) refuse('the page is nested too deeply for rules')
  else if (shape.elements > elementsMax) refuse('the page has too many elements for rules')
  else {
    const page = openPage(html, url)
    if (page === null) refuse('the page cannot be built as a document')
    else
      for (const rule of rules.slice(0, rulesMax)) {
        const found = applyRule(page, rule)
        if (typeof found === 'string') refuse(found, rule.name)
        else if (found.length > 0) fields.set(rule.name, rule.many ? found : (found[0] ?? ''))
      }
  }
  return done()
}

type Page = { document: Document; base: string; siblingPairs: number; descendantPairs: number }

/** The values of a rule, or what is wrong with it. */
function applyRule(page: Page, rule: FieldRule): string[] | string {
  const { name, css, attribute } = rule
  if (!fieldName.test(name) || reservedNames.has(name)) return 'the name is not allowed'
  if (css.trim() === '' || css.length > selectorCharsMax)
    return `the selector is empty or longer than ${selectorCharsMax} characters`
  if (siblingSelector.test(css) && page.siblingPairs > pairsMax)
    return 'too many siblings on the page for this selector'
  if (descendantSelector.test(css) && page.descendantPairs > pairsMax)
    return 'too many elements on the page for this selector'
  try {
    const values: string[] = []
    for (const element of select(page.document, css, rule.many === true)) {
      const value =
        attribute === undefined ? visibleText(element) : attributeOf(element, attribute, page.base)
      if (value !== '') values.push(copyOf(value.slice(0, valueCharsMax)))
      if (values.length >= valuesMax) break
    }
    return values
  } catch (error) {
    return `the selector failed: ${error instanceof Error ? error.message.slice(0, 200) : 'unknown'}`
  }
}

function select(document: Document, css: string, many: boolean): Element[] {
  if (many) return [...document.querySelectorAll(css)]
  const first = document.querySelector(css)
  return first === null ? [] : [first]
}

function attributeOf(element: Element, name: string, base: string): string {
  const value = (element.getAttribute(name) ?? '').trim()
  if (!addressAttribute.test(name) || otherAddress.test(value)) return value
  return value === '' ? '' : (normalizeUrl(value, base) ?? '')
}

/** What a reader sees of an element: no scripts, blanks collapsed, a blank at each border of blocks. linkedom's textContent does neither. */
function visibleText(element: Element): string {
  const parts: string[] = []
  const walk = (node: ChildNode | Element): void => {
    if (node.nodeType === 3) parts.push(node.textContent ?? '')
    if (node.nodeType !== 1) return
    const tag = (node as Element).localName
    if (silentTags.has(tag)) return
    if (breakingTags.test(tag)) parts.push(' ')
    for (let kid = node.firstChild; kid !== null; kid = kid.nextSibling) walk(kid)
    if (breakingTags.test(tag)) parts.push(' ')
  }
  walk(element)
  return parts.join('').replace(/\s+/g, ' ').trim()
}

/**
 * A document as selectors written in a browser expect it; null where linkedom gives up. Its gaps that are closed here:
 * the first element becomes the root whatever it is, what follows body or html stays outside, tables have no tbody,
 * and a canvas recurses without end.
 */
function openPage(html: string, url: string): Page | null {
  try {
    const source = html.replace(/<(\/?)canvas(?=[\s/>])/gi, '<$1x-canvas')
    let document = parseDocument(source)
    if (document.documentElement?.localName !== 'html')
      document = parseDocument(`<!doctype html><html><head></head><body>${source}</body></html>`)
    gatherBody(document)
    addTableBodies(document)
    const href = document.querySelector('base[href]')?.getAttribute('href') ?? null
    const base = href === null ? url : (normalizeUrl(href.trim(), url) ?? url)
    return { document, base, ...countPairs(document.documentElement) }
  } catch {
    return null // linkedom throws on what it cannot build; the page itself is read all the same
  }
}

const parseDocument = (source: string): Document =>
  new DOMParser().parseFromString(source || '<html></html>', 'text/html') as unknown as Document

/** One body, last in html, that holds whatever the source put after it or beside it. */
function gatherBody(document: Document): void {
  const root = document.documentElement
  const isBody = (node: ChildNode): boolean =>
    node.nodeType === 1 && /^(body|frameset)$/.test((node as Element).localName)
  const kids = [...root.childNodes]
  const body = (kids.find(isBody) as Element | undefined) ?? document.createElement('body')
  const isHead = (node: ChildNode): boolean =>
    node.nodeType === 1 && (node as Element).localName === 'head'
  const strays = kids.filter((kid) => kid !== body && !isHead(kid))
  for (let kid = root.nextSibling; kid !== null; kid = kid.nextSibling) strays.push(kid)
  for (const stray of strays) body.append(stray)
  if (body.parentNode !== root) root.append(body)
}

/** Browsers put rows into a tbody, and selectors copied from them say so. */
function addTableBodies(document: Document): void {
  for (const table of document.querySelectorAll('table')) {
    const rows = [...table.children].filter((kid) => kid.localName === 'tr')
    if (rows[0] === undefined) continue
    const section = document.createElement('tbody')
    rows[0].before(section)
    for (const row of rows) section.append(row)
  }
}

/** How much there is to compare: the sum of squares of child counts, and the sum of depths. */
function countPairs(root: Element): { siblingPairs: number; descendantPairs: number } {
  let [siblingPairs, descendantPairs] = [0, 0]
  const walk = (element: Element, depth: number): void => {
    let kids = 0
    for (let kid = element.firstChild; kid !== null; kid = kid.nextSibling) {
      kids++
      if (kid.nodeType === 1) walk(kid as Element, depth + 1)
    }
    siblingPairs += kids * kids
    descendantPairs += depth * (kids + 1)
  }
  walk(root, 1)
  return { siblingPairs, descendantPairs }
}
