/**
 * A page as a document for the user's selectors (door to linkedom). A DOM is built here and nowhere else, since it costs ten
 * times what reading the page does. Runs in the parser thread only: its time limit is the last defence.
 */
import { DOMParser } from 'linkedom'
import { normalizeUrl } from '../lib/url.ts'
import { type PageTree, parsePageTree, treeLimits } from './page-tree.ts'

/** linkedom takes seconds for more, and its memory is ten times the page's. */
const elementsMax = 50_000
/** Pairs of siblings, and of elements with their descendants, that one selector may make linkedom compare: a quarter of a second. */
const pairsMax = 4_000_000

/** Selectors that look at all siblings of each element: for each sibling linkedom lists them anew. */
const siblingSelector = /[+~]|:(first|last|only|nth)-/i
/** Selectors that look at all that is below each element. */
const descendantSelector = /:(has|contains|icontains|empty)\b/i
const addressAttribute = /^(href|src|action|cite|poster|data-src|data-href)$/i
const otherAddress = /^(mailto|tel):/i
const silentTags: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template'])
const breakingTags =
  /^(address|article|aside|blockquote|br|dd|div|dl|dt|figcaption|footer|form|h\d|header|hr|li|main|nav|ol|p|pre|section|table|td|th|tr|ul)$/

/** A page as a document. `base`: what relative addresses resolve against. */
export type RulePage = {
  document: Document
  base: string
  siblingPairs: number
  descendantPairs: number
}

/**
 * The page as a document, or why it is none: deeper than 512 levels, more than 50,000 elements, or beyond what linkedom can build.
 * @param url base of relative addresses, unless the page names another.
 * @param shape of the page, where it is known already.
 */
export function openRulePage(
  html: string,
  url: string,
  shape: PageTree['shape'] = parsePageTree(html).shape,
): RulePage | string {
  if (shape.depth > treeLimits.depthMax) return 'the page is nested too deeply for rules'
  if (shape.elements > elementsMax) return 'the page has too many elements for rules'
  return openPage(html, url) ?? 'the page cannot be built as a document'
}

/**
 * The elements of a selector, in document order; the first alone unless `many`. Refused are selectors whose work would grow with
 * the square of the page past a bound; anything else slow is ended by the thread's limit.
 * @throws what linkedom does with a selector that it does not understand
 */
export function elementsOf(
  page: RulePage,
  root: Document | Element,
  css: string,
  many: boolean,
): Element[] | string {
  if (siblingSelector.test(css) && page.siblingPairs > pairsMax)
    return 'too many siblings on the page for this selector'
  if (descendantSelector.test(css) && page.descendantPairs > pairsMax)
    return 'too many elements on the page for this selector'
  return select(root, css, many)
}

function select(document: Document | Element, css: string, many: boolean): Element[] {
  if (many) return [...document.querySelectorAll(css)]
  const first = document.querySelector(css)
  return first === null ? [] : [first]
}

/** Its value without blanks around; an address is made whole, and is empty where it leads to no page. */
export function attributeOf(element: Element, name: string, base: string): string {
  const value = (element.getAttribute(name) ?? '').trim()
  if (!addressAttribute.test(name) || otherAddress.test(value)) return value
  return value === '' ? '' : (normalizeUrl(value, base) ?? '')
}

/** What a reader sees of a node: no scripts, blanks collapsed, a blank at each border of blocks. linkedom's textContent does neither. */
export function visibleText(element: Node): string {
  const parts: string[] = []
  const walk = (node: Node): void => {
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
 * a canvas recurses without end, and a doctype has no next sibling (so XPath would see nothing behind it).
 */
function openPage(html: string, url: string): RulePage | null {
  try {
    const source = html
      .replace(/^[^<]{0,100}<!doctype[^>]{0,500}>/i, '')
      .replace(/<(\/?)canvas(?=[\s/>])/gi, '<$1x-canvas')
    let document = parseDocument(source)
    if (document.documentElement?.localName !== 'html')
      document = parseDocument(`<html><head></head><body>${source}</body></html>`)
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
