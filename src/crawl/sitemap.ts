/** Reads lists of URLs: sitemaps and their indexes, RSS, Atom, RDF and plain text. Pure, streaming, under limits; judges no scope. */
import { decodeBody } from '../lib/decode.ts'
import { normalizeUrl, splitUrl } from '../lib/url.ts'
import { listDate } from './list-dates.ts'
import type { ListJob, ListOutcome } from './page.ts'
import { readXml, type XmlHandler } from './html-events.ts'

export type ListKind = 'urlset' | 'index' | 'rss' | 'atom' | 'text'

/** `priority` 0..1 as the site has it, 0.5 where it says nothing; `changes`: always, hourly ... never. */
export type ListedUrl = {
  url: string
  lastmodMs: number | null
  priority: number
  changes: string | null
}

export type UrlList = {
  kind: ListKind
  /** Canonical, distinct, in order. Of an index: the sitemaps it names. */
  urls: ListedUrl[]
  /** The file broke off, is no well-formed XML, or went over a limit: `urls` is what came before. */
  damaged: boolean
}

export type ListLimits = {
  urlsMax: number
  /** sitemaps.org: a sitemap speaks only for its own folder and below. */
  ownFolderOnly?: boolean
}

/** What sitemaps.org allows to one file. */
export const listLimits: ListLimits = { urlsMax: 50_000 }
export const listBytesMax = 50 * 1024 * 1024

const chunkBytes = 64 * 1024
const depthMax = 64
const textCharsMax = 8_192
const tailChars = 64
const linesCharsMax = 4_096

/**
 * @param bytes decoded of any content coding
 * @param url canonical address of the list: what relative entries of a feed are resolved against
 * @returns null where it is none of these lists, or a damaged one of which nothing is left
 */
export function readList(
  bytes: Uint8Array,
  url: string,
  limits: ListLimits = listLimits,
): UrlList | null {
  const charset = charsetOf(bytes)
  const list = looksLikeXml(bytes, charset)
    ? readMarkup(bytes, charset, url, limits.urlsMax)
    : readLines(bytes, charset, url, limits.urlsMax)
  if (list === null) return null
  if (limits.ownFolderOnly === true && list.kind !== 'index') {
    const folder = url.replace(/\?.*$/s, '').replace(/[^/]*$/, '')
    list.urls = list.urls.filter((entry) => entry.url.startsWith(folder))
  }
  return list.damaged && list.urls.length === 0 ? null : list
}

/** A list as it came over the wire, in the parser thread. */
export function parseListJob({ url, body, encoding, urlsMax }: ListJob): ListOutcome {
  const decoded = decodeBody(body, encoding, listBytesMax)
  if (decoded.kind === 'refused') return decoded
  const list = readList(decoded.bytes, url, { urlsMax })
  if (list === null) return { kind: 'refused', reason: 'no-list' }
  return { kind: 'list', list: { ...list, damaged: list.damaged || decoded.damaged } }
}

/** Byte order mark, else the XML declaration, else UTF-8. */
function charsetOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xef && bytes[1] === 0xbb) return 'utf-8'
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1')
  const label = /<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(head)?.[1]
  if (label === undefined || /^utf-?16/i.test(label)) return 'utf-8'
  try {
    return new TextDecoder(label).encoding
  } catch {
    // A label that nobody knows says nothing.
    return 'utf-8'
  }
}

const looksLikeXml = (bytes: Uint8Array, charset: string): boolean =>
  /^[\s\uFEFF]*</.test(new TextDecoder(charset).decode(bytes.subarray(0, 1_024)))

function* textOf(bytes: Uint8Array, charset: string): Generator<string> {
  const decoder = new TextDecoder(charset)
  for (let at = 0; at < bytes.length; at += chunkBytes)
    yield decoder.decode(bytes.subarray(at, at + chunkBytes), { stream: true })
  yield decoder.decode()
}

/** One absolute URL a line; other lines say nothing. */
function readLines(
  bytes: Uint8Array,
  charset: string,
  url: string,
  urlsMax: number,
): UrlList | null {
  const found = new Found(urlsMax)
  let rest = ''
  for (const chunk of textOf(bytes, charset)) {
    const lines = (rest + chunk).split(/[\r\n]+/)
    rest = (lines.pop() ?? '').slice(0, linesCharsMax)
    for (const line of lines) found.add({ ...nothingSaid, url: absolute(line, url) })
    if (found.isFull) break
  }
  found.add({ ...nothingSaid, url: absolute(rest, url) })
  return found.urls.length === 0 ? null : { kind: 'text', urls: found.urls, damaged: found.isFull }
}

const nothingSaid = { lastmodMs: null, priority: 0.5, changes: null }

/** The URL of a line; where the scheme was forgotten and the host is that of the list, it is the list's. Copied, so that it pins no chunk. */
function absolute(text: string, list: string): string | null {
  const trimmed = text.trim()
  if (/^https?:\/\//i.test(trimmed)) return kept(normalizeUrl(trimmed))
  const { origin } = splitUrl(list)
  const host = origin.slice(origin.indexOf('//') + 2)
  return trimmed.startsWith(`${host}/`)
    ? kept(normalizeUrl(`${origin}${trimmed.slice(host.length)}`))
    : null
}
const kept = (url: string | null): string | null =>
  url === null ? null : Buffer.from(url).toString()

class Found {
  readonly urls: ListedUrl[] = []
  readonly #seen = new Set<string>()
  readonly #urlsMax: number
  isFull = false

  constructor(urlsMax: number) {
    this.#urlsMax = urlsMax
  }

  add({ url, ...rest }: Omit<ListedUrl, 'url'> & { url: string | null }): void {
    if (url === null || this.#seen.has(url)) return
    if (this.urls.length >= this.#urlsMax) {
      this.isFull = true
      return
    }
    this.#seen.add(url)
    this.urls.push({ url, ...rest })
  }
}

const rootKinds: Readonly<Record<string, ListKind>> = {
  urlset: 'urlset',
  sitemapindex: 'index',
  rss: 'rss',
  RDF: 'rss',
  feed: 'atom',
}
/** What one entry of each kind is called. */
const entryNames: Readonly<Record<Exclude<ListKind, 'text'>, string>> = {
  urlset: 'url',
  index: 'sitemap',
  rss: 'item',
  atom: 'entry',
}
const entryEnds = /<\/(?:[\w.-]+:)?(?:url|sitemap|item|entry)\s*>/g
/** Children of an entry whose text counts. */
const factNames: ReadonlySet<string> = new Set([
  'loc',
  'lastmod',
  'changefreq',
  'priority',
  'link',
  'guid',
  'pubDate',
  'date',
  'updated',
  'published',
])

function readMarkup(
  bytes: Uint8Array,
  charset: string,
  url: string,
  urlsMax: number,
): UrlList | null {
  const reader = new ListReader(url, urlsMax)
  for (const chunk of textOf(bytes, charset)) {
    reader.write(chunk)
    if (reader.isDone) break
  }
  return reader.end()
}

/** Depth 1 is the root. `entryDepth` is 0 outside of an entry, `factDepth` outside of one of its facts. */
class ListReader implements XmlHandler {
  readonly #base: string
  readonly #found: Found
  readonly #xml = readXml(this)
  #kind: Exclude<ListKind, 'text'> | null = null
  /** "sm:" where the root is sm:urlset: other prefixes speak of images, news, videos. */
  #prefix = ''
  #depth = 0
  #entryDepth = 0
  #factDepth = 0
  #fact = ''
  #text = ''
  #ownText = ''
  #entry = new Map<string, string>()
  #location: string | null = null
  #damaged = false
  #entries = 0
  #ends = 0
  #isJustOpened = false
  #tail = ''
  isDone = false

  constructor(base: string, urlsMax: number) {
    this.#base = base
    this.#found = new Found(urlsMax)
  }

  write(chunk: string): void {
    // The parser passes over end tags without a beginning; a file with more of them than entries is broken.
    this.#ends += chunk.match(entryEnds)?.length ?? 0
    this.#tail = (this.#tail + chunk).slice(-tailChars)
    this.#xml.write(chunk)
  }

  end(): UrlList | null {
    const isCutOff = this.#depth > 0 && !this.isDone
    // An address that broke off in its middle is another address; one whose end tag has begun is whole.
    if (this.#factDepth > 0 && /<\/[^>]*$/.test(this.#tail)) this.#endFact()
    if (this.#entryDepth > 0 && this.#location !== null) this.#endEntry()
    this.isDone = true
    this.#xml.end()
    if (this.#kind === null) return null
    const damaged = this.#damaged || isCutOff || this.#found.isFull || this.#ends > this.#entries
    return { kind: this.#kind, urls: this.#found.urls, damaged }
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    if (this.isDone) return
    this.#depth++
    this.#isJustOpened = true
    if (this.#depth > depthMax) return this.#stop()
    if (this.#kind === null) return this.#openRoot(name)
    const own = this.#localName(name)
    if (this.#factDepth > 0) return
    if (this.#entryDepth === 0) {
      if (own === entryNames[this.#kind]) this.#openEntry()
      return
    }
    if (this.#depth !== this.#entryDepth + 1) return
    const fact = own ?? (name === 'dc:date' ? 'date' : '')
    if (this.#kind === 'atom' && fact === 'link') this.#noteAtomLink(attributes)
    else if (factNames.has(fact)) {
      this.#factDepth = this.#depth
      this.#fact = fact
      this.#text = ''
    }
  }

  ontext(text: string): void {
    this.#isJustOpened = false
    if (this.#factDepth > 0) {
      if (this.#text.length < textCharsMax) this.#text += text
    } else if (this.#entryDepth > 0 && this.#depth === this.#entryDepth) {
      if (this.#ownText.length < textCharsMax) this.#ownText += text
    }
  }

  onclosetag(_name: string, isImplied: boolean): void {
    if (this.isDone) return
    // <a/> ends itself.
    if (isImplied && !this.#isJustOpened) this.#damaged = true
    this.#isJustOpened = false
    if (this.#depth === this.#factDepth) this.#endFact()
    if (this.#depth === this.#entryDepth) this.#endEntry()
    this.#depth--
  }

  #stop(): void {
    this.#damaged = true
    this.isDone = true
  }

  #openRoot(name: string): void {
    const colon = name.indexOf(':')
    const kind = rootKinds[name.slice(colon + 1)]
    if (kind === undefined) return this.#stop()
    this.#kind = kind as Exclude<ListKind, 'text'>
    // An RDF feed is rdf:RDF around items of another, unprefixed vocabulary.
    this.#prefix = name.endsWith('RDF') ? '' : name.slice(0, colon + 1)
  }

  /** The name without the prefix of the root; null for elements of other vocabularies. */
  #localName(name: string): string | null {
    if (!name.startsWith(this.#prefix)) return null
    const own = name.slice(this.#prefix.length)
    return own.includes(':') ? null : own
  }

  #openEntry(): void {
    this.#entryDepth = this.#depth
    this.#entries++
    this.#entry = new Map()
    this.#location = null
    this.#ownText = ''
  }

  #noteAtomLink({ rel = 'alternate', href = '' }: Record<string, string>): void {
    if (rel === 'alternate' && !this.#entry.has('link')) this.#entry.set('link', href)
  }

  #endFact(): void {
    this.#factDepth = 0
    const text = this.#text.trim()
    if (this.#fact === 'loc') this.#noteLocation(text)
    else if (text !== '' && !this.#entry.has(this.#fact)) this.#entry.set(this.#fact, text)
  }

  /** A second address where the end tag of the entry was forgotten: what stands before it, is of the first. */
  #noteLocation(text: string): void {
    if (this.#location !== null) {
      this.#addEntry()
      this.#entry.clear()
    }
    this.#location = text
  }

  #endEntry(): void {
    this.#entryDepth = this.#factDepth = 0
    this.#addEntry()
    if (this.#found.isFull) this.#stop()
  }

  #addEntry(): void {
    this.#found.add({ url: this.#address(), ...this.#said() })
  }

  #said(): Omit<ListedUrl, 'url'> {
    const entry = this.#entry
    const date = ['lastmod', 'updated', 'published', 'pubDate', 'date']
      .map((name) => entry.get(name))
      .find((text) => text !== undefined)
    const priority = Number.parseFloat(entry.get('priority') ?? '')
    const changes = (entry.get('changefreq') ?? '').toLowerCase()
    return {
      lastmodMs: listDate(date ?? ''),
      priority: priority >= 0 && priority <= 1 ? priority : 0.5,
      changes: frequencies.has(changes) ? changes : null,
    }
  }

  /** Entries of feeds may be relative; those of sitemaps are absolute, or they are none. */
  #address(): string | null {
    if (this.#kind === 'urlset' || this.#kind === 'index')
      return absolute(this.#location ?? this.#ownText, this.#base)
    const link = this.#entry.get('link')
    if (link !== undefined) return kept(normalizeUrl(link, this.#base))
    return absolute(this.#entry.get('guid') ?? '', this.#base)
  }
}

const frequencies = new Set(['always', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'never'])

/** Where sitemaps lie that nobody names. */
export const usualSitemap = (url: string): string => `${splitUrl(url).origin}/sitemap.xml`
