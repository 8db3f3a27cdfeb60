/** The one pass over the HTML (door to htmlparser2): light tree, links, and everything a page says about itself. Judges nothing. */
import { type Handler, Parser } from 'htmlparser2'
import { type Block, collapseBlanks, measureText, newBlock, newLine } from './blocks.ts'

/** An address found in the page, as written. */
export type FoundLink = { href: string; isNofollow: boolean }

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
/** A title element deeper than this is part of a picture. */
const titleDepthMax = 12

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))
const blockTags = words(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul',
)
const droppedTags = words(
  'noscript template svg iframe object embed canvas annotation annotation-xml button select textarea datalist audio video map',
)
const factTags = words('meta base link a area frame iframe time')
/** Book sections: their ids name topics ("menu", "comments"), not parts of the layout. */
const topicClass = /^(section|sect\d|chapter|refsect\d|level\d|appendix|part)(\s|$)/

/** How an open element counts. `inert` is skipped and its links are no links (template). */
type Role = 'plain' | 'link' | 'block' | 'skipped' | 'inert' | 'captured'

/** Reads a page. Total and, with the caps, linear: anything is HTML. */
export function parsePageTree(html: string, limits: TreeLimits = treeLimits): PageTree {
  return new TreeBuilder(limits).read(html)
}

class TreeBuilder implements Partial<Handler> {
  private readonly limits: TreeLimits
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

  /** Open elements by role; the parser clamps its own stack, this one stays exact. */
  private readonly roles: Role[] = []
  private stack: string[] = []
  private block = this.root
  private line = ''
  private linkedWidth = 0
  private openLinks = 0
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
  private attributes: Map<string, string> | null = null

  constructor(limits: TreeLimits) {
    this.limits = limits
  }

  read(html: string): PageTree {
    const parser = new Parser(this, { decodeEntities: true })
    // The stack of open elements is private, but searching it is what makes the parser quadratic: it is cut below.
    this.stack = (parser as unknown as { stack: string[] }).stack
    parser.write(html)
    parser.end()
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

  onopentagname(name: string): void {
    this.endTag()
    this.tag = name
    this.elements++
    if (this.stack.length > this.limits.depthMax) this.stack.length = this.limits.depthMax
    const role = this.openAs(name)
    if (role === 'skipped' || role === 'inert') this.openSkipped++
    if (role === 'inert') this.openInert++
    this.roles.push(role)
    if (this.roles.length > this.depth) this.depth = this.roles.length
    if (factTags.has(name)) this.attributes = new Map()
  }

  private openAs(name: string): Role {
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
    } else if (droppedTags.has(name)) {
      this.endLine()
      return 'skipped'
    } else if (blockTags.has(name)) return this.openBlock(name)
    return 'plain'
  }

  private isPageTitle(name: string): boolean {
    return name === 'title' && this.roles.length < titleDepthMax
  }

  private openBlock(name: string): Role {
    this.endLine()
    if (this.block.depth >= this.limits.depthMax || this.isFull()) return 'plain'
    const child = newBlock(name, this.block)
    this.block.kids.push(child)
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

  onattribute(name: string, value: string): void {
    if (name === 'rel' || name === 'itemprop' || name === 'class') this.noteMarks(name, value)
    if (this.attributes !== null) this.attributes.set(name, value)
    if (this.capture !== null && name === 'type') this.capture.type = value
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

  ontext(text: string): void {
    this.endTag()
    if (this.openSkipped > 0) return
    if (this.capture !== null) {
      const { tag, type } = this.capture
      const isWanted = tag === 'title' || type.includes('ld+json')
      if (isWanted && this.capture.text.length < jsonLdCharsMax) this.capture.text += text
      return
    }
    this.line += text
    if (this.openLinks > 0) this.linkedWidth += measureText(text).width
    if (this.author !== null && this.author.text.length < factCharsMax) this.author.text += text
  }

  onclosetag(): void {
    this.endTag()
    const role = this.roles.pop()
    if (this.author !== null && this.roles.length < this.author.depth) this.endAuthor()
    if (role === 'skipped' || role === 'inert') this.openSkipped--
    if (role === 'inert') this.openInert--
    else if (role === 'link') this.openLinks--
    else if (role === 'captured') this.endCapture()
    else if (role === 'block') {
      this.endLine()
      if (this.block.tag === 'pre') this.openPres--
      this.block = this.block.parent ?? this.root
    }
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
    if (this.line === '') return
    if (this.isFull()) this.line += ' '
    else this.keepLine()
  }

  private keepLine(): void {
    const text =
      this.openPres > 0 ? this.line.trimEnd().replace(/^\s*\n/, '') : collapseBlanks(this.line)
    if (text !== '') {
      this.block.kids.push(newLine(text, this.linkedWidth, this.block))
      this.nodes++
      this.noteHeading(text)
    }
    this.line = ''
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
      if (!isTopic) target.names = `${this.className} ${this.id}`.trim()
      this.target = null
    }
    if (attributes === null) return
    this.attributes = null
    const get = (name: string): string => attributes.get(name) ?? ''
    if (tag === 'a' || tag === 'area') this.noteLink(get('href'), get('rel'))
    else if (tag === 'frame' || tag === 'iframe') this.noteLink(get('src'), '')
    else if (this.openSkipped > 0) return
    else if (tag === 'time') this.keep(this.facts.times, get('datetime'))
    else if (tag === 'base') this.base ??= attributes.get('href') ?? null
    else if (tag === 'link') this.noteRelation(get('href'), get('rel'), get('type'))
    else if (tag === 'meta') this.noteMeta(get)
  }

  private noteLink(href: string, rel: string): void {
    if (this.openInert > 0 || this.links.size >= this.limits.linksMax) return
    const fragment = href.indexOf('#')
    const address = fragment < 0 ? href : href.slice(0, fragment)
    if (address.length > factCharsMax || address === '') return
    const isNofollow = /(^|\s)nofollow(\s|$)/i.test(rel)
    const known = this.links.get(address)
    if (known === undefined) this.links.set(address, { href: address, isNofollow })
    else known.isNofollow &&= isNofollow // one link that may be followed is enough
  }

  private noteRelation(href: string, rel: string, type: string): void {
    const relations = rel.toLowerCase().split(/\s+/)
    const isPage = (type === '' || type === 'text/html') && !relations.includes('stylesheet')
    if (relations.includes('canonical')) {
      if (!this.isInBody) this.keep(this.facts.canonicals, href)
    } else if (relations.includes('alternate') && feedType.test(type)) {
      this.keep(this.facts.feeds, href)
    } else if (isPage && relations.some((relation) => /^(next|prev|alternate)$/.test(relation)))
      this.noteLink(href, rel)
  }

  private noteMeta(get: (name: string) => string): void {
    const content = collapseBlanks(get('content').slice(0, factCharsMax))
    const key = (get('property') || get('name') || get('itemprop')).toLowerCase()
    if (get('http-equiv').toLowerCase() === 'refresh') this.refresh ??= content
    if (key === 'robots') this.keep(this.facts.robots, content)
    if (key === '' || this.metas.has(key) || this.metas.size >= factsMax * 5) return
    this.metas.set(key.slice(0, namesCharsMax), content)
  }
}

const feedType = /^\s*application\/(?:rss|atom|rdf)\+xml/i

const hides = (name: string, value: string): boolean =>
  name === 'hidden' ||
  (name === 'aria-hidden' && value === 'true') ||
  (name === 'style' && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(value))

/** What is heard of an XML file; `isImplied`: the end tag is missing. */
export type XmlHandler = Required<Pick<Handler, 'onopentag' | 'ontext' | 'onclosetag'>>

/** XML in chunks, for lists of URLs: entities of the DTD stay as they are, nothing is fetched. The handler keeps the limits. */
export function readXml(handler: XmlHandler): { write(text: string): void; end(): void } {
  const parser = new Parser(handler, { xmlMode: true, decodeEntities: true })
  return { write: (text) => parser.write(text), end: () => parser.end() }
}
