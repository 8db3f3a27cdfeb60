/** A part of a page as HTML that may be shown: a few harmless elements, their text, links to http and https. Nothing else of it survives. */
import { normalizeUrl } from '../lib/url.ts'

const keptTags: ReadonlySet<string> = new Set(
  'p br ul ol li dl dt dd pre code kbd samp blockquote h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr th td b strong i em u s sub sup small mark hr a'.split(
    ' ',
  ),
)
const silentTags: ReadonlySet<string> = new Set(
  'script style noscript template svg math iframe object embed canvas form select textarea button'.split(
    ' ',
  ),
)
const voidTags: ReadonlySet<string> = new Set(['br', 'hr'])
const depthMax = 100

const escaped = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? '&#39;',
  )

/** Elements that are not kept give what is in them; scripts and the like give nothing. At most `charsMax`, cut between nodes. */
export function cleanHtml(element: Element, base: string, charsMax: number): string {
  const parts: string[] = []
  let chars = 0
  const put = (text: string): void => {
    parts.push(text)
    chars += text.length
  }
  const walk = (node: ChildNode, depth: number): void => {
    if (chars >= charsMax || depth > depthMax) return
    if (node.nodeType === 3)
      return put(escaped((node.textContent ?? '').slice(0, charsMax - chars)))
    if (node.nodeType !== 1) return
    const child = node as Element
    const tag = child.localName.toLowerCase()
    if (silentTags.has(tag)) return
    const isKept = keptTags.has(tag)
    if (isKept) put(`<${tag}${tag === 'a' ? linkOf(child, base) : ''}>`)
    for (let kid = child.firstChild; kid !== null; kid = kid.nextSibling) walk(kid, depth + 1)
    if (isKept && !voidTags.has(tag)) parts.push(`</${tag}>`)
  }
  for (let kid = element.firstChild; kid !== null; kid = kid.nextSibling) walk(kid, 0)
  return parts.join('').trim()
}

function linkOf(element: Element, base: string): string {
  const url = normalizeUrl((element.getAttribute('href') ?? '').trim(), base)
  return url === null ? '' : ` href="${escaped(url)}" rel="nofollow noopener noreferrer"`
}
