/** The one pass over the HTML: light tree, links, and everything a page says about itself. Judges nothing. */
import { addKid, type Block, collapseBlanks, newBlock, newLine, widthBetween } from './blocks.ts'
import { type HtmlHandler, readHtml } from './html-events.ts'
import { LineText } from './line-text.ts'
import { tellingText } from './link-text.ts'
import { createNameTable } from './name-table.ts'
import { isBlockTag, isDroppedTag, isFactTag, tagKinds } from './tag-kinds.ts'

/** An address found in the page, as written. `text` is that of the first link there that tells something, raw; '' where it was put there by anybody. */
export type FoundLink = { href: string; isNofollow: boolean; text: string }

export type PageTree = {
  root: Block
  title: string
  /** First value of each meta name, property or itemprop, keys in lower case. */
  metas: ReadonlyMap<string, string>
  /** All contents of `meta name=robots`. */
  robots: readonly string[]
  /** Content of the first `meta http-equiv=refresh`. */
  refresh: string | null
  /** href of the first `base` that has one, wherever it stands. */
  base: string | null
  /** href of the link rel=canonical elements in the head: what stands in the body may be anybody's. */
  canonicals: readonly string[]
  /** a, area, frame, iframe and link rel=next|prev|alternate, without fragments, distinct as written, in order. */
  links: readonly FoundLink[]
  /** href of link rel=alternate of a feed type. */
  feeds: readonly string[]
  jsonLd: readonly string[]
  /** datetime of time elements. */
  times: readonly string[]
  /** Texts of elements marked as author. */
  authors: readonly string[]
  /** Texts of the first h1 and h2 elements. */
  headings: readonly string[]
  firstHeading: string
  hasArticleBody: boolean
  lang: string
  /** What it took, before any cap: for those who would build a real DOM. */
  shape: { depth: number; elements: number }
}

export type TreeLimits = {
  /** Open elements; deeper ones are flattened: the parser is quadratic in depth. */
  depthMax: number
  /** Blocks and lines; what follows joins one line. */
  nodesMax: number
  linksMax: number
}

export const treeLimits: TreeLimits = { depthMax: 512, nodesMax: 100_000, linksMax: 5_000 }

/** How many of each small fact are kept, and how long they may be. */
const factsMax = 40
const factCharsMax = 2_000
const jsonLdCharsMax = 262_144
const namesCharsMax = 200
/** Of a link, raw: more of it is a paragraph. */
const linkTextCharsMax = 200
/** A title element deeper than this is part of a picture. */
const titleDepthMax = 12

/** What is read of elements; of most of them only some. */
const attributeNames = createNameTable(
  'class id rel itemprop role hidden aria-hidden style lang type href src alt datetime content name property http-equiv'.split(
    ' ',
  ),
)

/** Attributes of an element of `factTags`, as written; null = absent. */
type FactAttributes = {
  href: string | null
  rel: string | null
  type: string | null
  src: string | null
  datetime: string | null
  content: string | null
  name: string | null
  property: string | null
  itemprop: string | null
  'http-equiv': string | null
}
/** Book sections: their ids name topics ("menu", "comments"), not parts of the layout. */
const topicClass = /^(section|sect\d|chapter|refsect\d|level\d|appendix|part)(\s|$)/

/** How an open element counts. `inert` is skipped and its links are no links (template). */
type Role = 'plain' | 'link' | 'block' | 'skipped' | 'inert' | 'captured'

/** Reads a page. Total and, with the caps, linear: anything is HTML. */
export function parsePageTree(html: string, limits: TreeLimits = treeLimits): PageTree {
  return new TreeBuilder(html, limits).read()
}

class TreeBuilder implements HtmlHandler {
  private readonly html: string
  private readonly limits: TreeLimits
  /** Whether the page names an author or the body of an article anywhere: else no class of an inline element matters. */
  private readonly mayMark: boolean
  private readonly root = newBlock('#root', null)
  private readonly metas = new Map<string, string>()
  private readonly links = new Map<string, FoundLink>()
  private readonly facts = {
    robots: [] as string[],
    canonicals: [] as string[],
    feeds: [] as string[],
    jsonLd: [] as string[],
    times: [] as string[],
    authors: [] as string[],
    headings: [] as string[],
  }
  private title = ''
  private refresh: string | null = null
  private base: string | null = null
  private firstHeading = ''
  private hasArticleBody = false
  private isInBody = false
  private lang = ''
  private nodes = 0
  private elements = 0
  private depth = 0

  /** Open elements by role; the pass clamps its own stack, this one stays exact. */
  private readonly roles: Role[] = []
  private block = this.root
  private readonly line: LineText
  private linkedWidth = 0
  private openLinks = 0
  /** The link whose text is being read. */
  private named: FoundLink | null = null
  private linkText = ''
  private openPres = 0
  private openSkipped = 0
  private openInert = 0
  private seenHeadings = 0
  private capture: { tag: string; type: string; text: string } | null = null
  private author: { depth: number; text: string } | null = null
  /** The element whose attributes are coming in. */
  private tag = ''
  private target: Block | null = null
  private className = ''
  private id = ''
  private isFact = false
  private readonly attributes: FactAttributes = {
    href: null,
    rel: null,
    type: null,
    src: null,
    datetime: null,
    content: null,
    name: null,
    property: null,
    itemprop: null,
    'http-equiv': null,
  }

  constructor(html: string, limits: TreeLimits) {
    this.html = html
    this.limits = limits
    this.line = new LineText(html)
    this.mayMark = html.includes('author') || html.includes('articleBody')
  }

  read(): PageTree {
    readHtml(this.html, this, attributeNames, this.limits.depthMax)
    this.endTag()
    this.keepLine()
    return {
      ...this.facts,
      root: this.root,
      title: this.title,
      metas: this.metas,
      refresh: this.refresh,
      base: this.base,
      links: [...this.links.values()],
      firstHeading: this.firstHeading,
      hasArticleBody: this.hasArticleBody,
      lang: this.lang,
      shape: { depth: this.depth, elements: this.elements },
    }
  }

  open(name: string, id: number): void {
    this.endTag()
    this.tag = name
    this.elements++
    const kind = tagKinds[id] ?? 0
    const role = this.openAs(name, kind)
    if (role === 'skipped' || role === 'inert') this.openSkipped++
    if (role === 'inert') this.openInert++
    this.roles.push(role)
    if (this.roles.length > this.depth) this.depth = this.roles.length
    this.isFact = (kind & isFactTag) !== 0
  }

  private openAs(name: string, kind: number): Role {
    if (name === 'template') return 'inert'
    if (this.openSkipped > 0) return 'skipped'
    if (name === 'script' || name === 'style' || this.isPageTitle(name)) {
      this.capture = { tag: name, type: '', text: '' }
      return 'captured'
    }
    if (name === 'br') this.endLine()
    else if (name === 'input') this.block.ownInputs++
    else if (name === 'a') {
      this.openLinks++
      return 'link'
    } else if ((kind & isDroppedTag) !== 0) {
      this.endLine()
      return 'skipped'
    } else if ((kind & isBlockTag) !== 0) return this.openBlock(name)
    return 'plain'
  }

  private isPageTitle(name: string): boolean {
    return name === 'title' && this.roles.length < titleDepthMax
  }

  private openBlock(name: string): Role {
    this.endLine()
    if (this.block.depth >= this.limits.depthMax || this.isFull()) return 'plain'
    const child = newBlock(name, this.block)
    addKid(this.block, child)
    this.block.childBlocks++
    this.block = this.target = child
    this.className = this.id = ''
    this.nodes++
    if (name === 'body') this.isInBody = true
    if (name === 'pre') this.openPres++
    if (name === 'h1' && ++this.seenHeadings === 1) child.isFirstHeading = true
    return 'block'
  }

  private isFull(): boolean {
    return this.nodes >= this.limits.nodesMax
  }

  wants(name: string): boolean {
    switch (name) {
      case 'class':
        return this.target !== null || this.mayMark
      case 'id':
      case 'role':
        return this.target !== null
      case 'rel':
      case 'itemprop':
        return this.isFact || this.target !== null || this.mayMark
      case 'type':
        return this.isFact || this.capture !== null
      case 'lang':
        return this.tag === 'html'
      case 'hidden':
      case 'aria-hidden':
      case 'style':
        return true
      case 'name':
        return this.tag === 'meta'
      case 'alt':
        return this.named !== null && this.tag === 'img'
      default:
        return this.isFact
    }
  }

  attribute(name: string, value: string): void {
    if (name === 'rel' || name === 'itemprop' || name === 'class') this.noteMarks(name, value)
    // Of two attributes of one name the first counts.
    if (this.isFact && name in this.attributes)
      this.attributes[name as keyof FactAttributes] ??= value
    if (this.capture !== null && name === 'type') this.capture.type = value
    if (name === 'alt') this.nameLink(value.slice(0, linkTextCharsMax))
    if (this.tag === 'html' && name === 'lang') this.lang ||= value.slice(0, 40)
    if (this.target === null) this.hideInline(name, value)
    else if (name === 'class') this.className = value.slice(0, namesCharsMax)
    else if (name === 'id') this.id = value.slice(0, namesCharsMax)
    else if (name === 'role') this.target.role = value
    else if (name === 'itemprop') this.target.itemprop = value
    else if (hides(name, value)) this.target.isHidden = true
  }

  private noteMarks(name: string, value: string): void {
    if (name === 'itemprop' && value === 'articleBody') this.hasArticleBody = true
    const isFree = this.author === null && this.openSkipped === 0 && this.tag !== 'meta'
    if (isFree && /(^|\s)author(\s|$)/.test(value))
      this.author = { depth: this.roles.length, text: '' }
  }

  /** An inline element that does not show takes its text along. */
  private hideInline(name: string, value: string): void {
    const role = this.roles.at(-1)
    if (this.openSkipped > 0 || (role !== 'plain' && role !== 'link')) return
    if (name === 'aria-hidden' || !hides(name, value)) return
    if (role === 'link') this.openLinks--
    this.roles[this.roles.length - 1] = 'skipped'
    this.openSkipped = 1
  }

  text(start: number, end: number): void {
    this.endTag()
    if (this.openSkipped > 0) return
    if (this.capture !== null) {
      if (this.capturesText()) this.capture.text += this.html.slice(start, end)
      return
    }
    this.line.add(start, end)
    if (this.openLinks > 0) {
      this.linkedWidth += widthBetween(this.html, start, end)
      if (this.named !== null)
        this.nameLink(this.html.slice(start, Math.min(end, start + linkTextCharsMax)))
    }
    if (this.author !== null) this.noteAuthor(this.html.slice(start, end))
  }

  character(codePoint: number): void {
    this.endTag()
    if (this.openSkipped > 0) return
    const text = String.fromCodePoint(codePoint)
    if (this.capture !== null) {
      if (this.capturesText()) this.capture.text += text
      return
    }
    this.line.addCharacter(codePoint)
    if (this.openLinks > 0) {
      this.linkedWidth += widthBetween(text, 0, text.length)
      this.nameLink(text)
    }
    if (this.author !== null) this.noteAuthor(text)
  }

  private nameLink(text: string): void {
    if (this.linkText.length < linkTextCharsMax) this.linkText += text
  }

  private capturesText(): boolean {
    const { tag, type, text } = this.capture ?? { tag: '', type: '', text: '' }
    return (tag === 'title' || type.includes('ld+json')) && text.length < jsonLdCharsMax
  }

  private noteAuthor(text: string): void {
    if (this.author !== null && this.author.text.length < factCharsMax) this.author.text += text
  }

  close(): void {
    this.endTag()
    const role = this.roles.pop()
    if (this.author !== null && this.roles.length < this.author.depth) this.endAuthor()
    if (role === 'skipped' || role === 'inert') this.openSkipped--
    if (role === 'inert') this.openInert--
    else if (role === 'link') this.closeLink()
    else if (role === 'captured') this.endCapture()
    else if (role === 'block') {
      this.endLine()
      if (this.block.tag === 'pre') this.openPres--
      this.block = this.block.parent ?? this.root
    }
  }

  private closeLink(): void {
    this.openLinks--
    if (this.named !== null) this.named.text = this.linkText
    this.named = null
    this.linkText = ''
  }

  private endAuthor(): void {
    this.keep(this.facts.authors, collapseBlanks(this.author?.text ?? ''))
    this.author = null
  }

  private endCapture(): void {
    const { tag, text } = this.capture ?? { tag: '', text: '' }
    if (tag === 'title') this.title ||= collapseBlanks(text.slice(0, factCharsMax))
    else if (text !== '' && this.facts.jsonLd.length < factsMax) this.facts.jsonLd.push(text)
    this.capture = null
  }

  /** A border between lines. A page over its cap of nodes goes on as one long line. */
  private endLine(): void {
    if (this.line.isEmpty()) return
    if (this.named !== null) this.nameLink(' ')
    if (this.isFull()) this.line.addCharacter(0x20)
    else this.keepLine()
  }

  private keepLine(): void {
    const text =
      this.openPres > 0
        ? this.line
            .raw()
            .trimEnd()
            .replace(/^\s*\n/, '')
        : this.line.collapsed()
    if (text !== '') {
      addKid(this.block, newLine(text, this.linkedWidth, this.block))
      this.nodes++
      this.noteHeading(text)
    }
    this.line.clear()
    this.linkedWidth = 0
  }

  private noteHeading(text: string): void {
    const { tag } = this.block
    if (tag === 'h1') this.firstHeading ||= text.slice(0, factCharsMax)
    if (tag === 'h1' || tag === 'h2') this.keep(this.facts.headings, text)
  }

  private keep(list: string[], text: string): void {
    if (text !== '' && list.length < factsMax) list.push(text.slice(0, factCharsMax))
  }

  /** All attributes of the last opened element are in. */
  private endTag(): void {
    const { tag, attributes, target } = this
    if (target !== null) {
      const isTopic = this.className === '' ? tag === 'section' : topicClass.test(this.className)
      target.isTopic = isTopic
      if (!isTopic) target.names = `${this.className} ${this.id}`.trim()
      this.target = null
    }
    if (!this.isFact) return
    this.isFact = false
    if (tag === 'a' && attributes.href === null) this.readAsText()
    if (tag === 'a' || tag === 'area') this.noteAnchor(attributes.href ?? '', attributes.rel ?? '')
    else if (tag === 'frame' || tag === 'iframe') this.noteLink(attributes.src ?? '', '')
    else if (this.openSkipped > 0) {
      // Nothing it says counts.
    } else if (tag === 'time') this.keep(this.facts.times, attributes.datetime ?? '')
    else if (tag === 'base') this.base ??= attributes.href
    else if (tag === 'link') this.noteRelation(attributes)
    else if (tag === 'meta') this.noteMeta(attributes)
    this.forgetAttributes()
  }

  /** An anchor that is a place and no link: `<a id="part">`, in XHTML also closed at once, which HTML reads as open to the next `</a>`. */
  private readAsText(): void {
    if (this.roles.at(-1) !== 'link') return
    this.roles[this.roles.length - 1] = 'plain'
    this.openLinks--
  }

  private forgetAttributes(): void {
    const { attributes } = this
    attributes.href = attributes.rel = attributes.type = attributes.src = attributes.datetime = null
    attributes.content = attributes.name = attributes.property = attributes.itemprop = null
    attributes['http-equiv'] = null
  }

  /** A link that stands in the text, and is called something there. */
  private noteAnchor(href: string, rel: string): void {
    const link = this.noteLink(href, rel)
    // Written by whoever may comment there, or paid for.
    if (link === null || (rel !== '' && unvouched.test(rel))) return
    if (this.openLinks === 0 || this.openSkipped > 0) return
    if (link.text === '' || tellingText(link.text) === '') this.named = link
  }

  private noteLink(href: string, rel: string): FoundLink | null {
    if (this.openInert > 0 || this.links.size >= this.limits.linksMax) return null
    const fragment = href.indexOf('#')
    const address = fragment < 0 ? href : href.slice(0, fragment)
    if (address.length > factCharsMax || address === '') return null
    const isNofollow = rel !== '' && /(^|\s)nofollow(\s|$)/i.test(rel)
    const known = this.links.get(address)
    const link = known ?? { href: address, isNofollow, text: '' }
    if (known === undefined) this.links.set(address, link)
    else known.isNofollow &&= isNofollow // one link that may be followed is enough
    return link
  }

  private noteRelation(attributes: FactAttributes): void {
    const [href, rel, type] = [attributes.href ?? '', attributes.rel ?? '', attributes.type ?? '']
    const relations = rel.toLowerCase().split(/\s+/)
    const isPage = (type === '' || type === 'text/html') && !relations.includes('stylesheet')
    if (relations.includes('canonical')) {
      if (!this.isInBody) this.keep(this.facts.canonicals, href)
    } else if (relations.includes('alternate') && feedType.test(type)) {
      this.keep(this.facts.feeds, href)
    } else if (isPage && relations.some((relation) => /^(next|prev|alternate)$/.test(relation)))
      this.noteLink(href, rel)
  }

  private noteMeta(attributes: FactAttributes): void {
    const content = collapseBlanks((attributes.content ?? '').slice(0, factCharsMax))
    const { property, name, itemprop } = attributes
    const key = (property || name || itemprop || '').trim().toLowerCase()
    if (attributes['http-equiv']?.toLowerCase() === 'refresh') this.refresh ??= content
    if (key === 'robots') this.keep(this.facts.robots, content)
    if (key === '' || this.metas.has(key) || this.metas.size >= factsMax * 5) return
    this.metas.set(key.slice(0, namesCharsMax), content)
  }
}

const unvouched = /(^|\s)(nofollow|ugc|sponsored)(\s|$)/i
const feedType = /^\s*application\/(?:rss|atom|rdf)\+xml/i

const hides = (name: string, value: string): boolean =>
  name === 'hidden' ||
  (name === 'aria-hidden' && value === 'true') ||
  (name === 'style' && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(value))
