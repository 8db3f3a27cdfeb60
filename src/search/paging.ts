/**
 * Lists that go on, page by page, while documents come, change and go: each hit once, none lost that was there when the list began.
 *
 * The first page is an answer like any other; its cursor names the pages it showed. With the second page the list begins: all that
 * matches then, without those, is noted as a bitmap of URLs, and its best thousand in order. When they are used up, the best thousand
 * of what remains follow, so that every page takes the same time. At the end come pages that changed since the list began so much that
 * no search finds them any more. A list that was dropped (few are kept) begins anew at the position of the cursor.
 */
import { createHash } from 'node:crypto'
import type { Facets, SearchAnswer, SearchRequest } from './answer.ts'
import type { Attributes } from './attributes.ts'
import { type Cursor, decodeCursor, encodeCursor, refusal } from './cursor.ts'
import type { Finder } from './finder.ts'
import type { IndexHit } from './index.ts'

const listsMax = 12
const hitsAtOnce = 1_000

type ListedHit = { urlId: number; hit: IndexHit }

type List = {
  /** Hits before the first of `hits`. */
  base: number
  hits: ListedHit[]
  /** URLs that are still to be shown, and what they must not belong to. */
  remaining: Uint8Array
  groups: Set<number>
  sites: Set<number>
  /** Documents above are newer than the list. */
  lastDocno: number
  /** The ranked hits end with `hits`. */
  isLast: boolean
  isDone: boolean
  total: number
  isExact: boolean
  matched: SearchAnswer['query']['matched']
  facets: Facets
  /** Hits by site, where one hit a site is shown. */
  siteCounts: Uint32Array | null
}

export type Page = Pick<List, 'total' | 'isExact' | 'matched' | 'facets' | 'siteCounts'> & {
  hits: IndexHit[]
  offset: number
  next: string | null
}

export type PagingTools = {
  attributes: Attributes
  key: Uint8Array
  /** Counts over what the finder found last. */
  facets: (request: SearchRequest, finder: Finder) => Facets
  siteCounts: (request: SearchRequest, finder: Finder) => Uint32Array | null
}

export class Pager {
  readonly #attributes: Attributes
  readonly #tools: PagingTools
  readonly #lists = new Map<number, List>()

  constructor(tools: PagingTools) {
    this.#tools = tools
    this.#attributes = tools.attributes
  }

  /** The cursor of a first page. */
  begin(request: SearchRequest, hits: readonly IndexHit[]): string {
    const shown = hits.map(({ docno }) => this.#attributes.urlId(docno))
    const position = request.offset + hits.length
    return encodeCursor({ mark: markOf(request), list: 0, position, shown }, this.#tools.key)
  }

  /** @throws AppError invalid_cursor */
  page(request: SearchRequest, finder: Finder): Page {
    const text = request.cursor ?? ''
    const { key } = this.#tools
    const cursor = decodeCursor(text, key)
    const mark = markOf(request)
    if (Buffer.compare(mark, cursor.mark) !== 0) throw refusal()
    const id = cursor.list === 0 ? listIdOf(text) : cursor.list
    const known = this.#lists.get(id)
    const fits = known !== undefined && known.base <= cursor.position
    const list = fits ? known : this.#open(request, finder, cursor)
    this.#keep(id, list)
    const { hits, end, hasMore } = this.#read(list, cursor.position, request, finder)
    const next = hasMore ? encodeCursor({ mark, list: id, position: end, shown: [] }, key) : null
    const { total, isExact, matched, facets, siteCounts } = list
    return { hits, offset: cursor.position, next, total, isExact, matched, facets, siteCounts }
  }

  /** The least recently used list goes first. */
  #keep(id: number, list: List): void {
    this.#lists.delete(id)
    this.#lists.set(id, list)
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= listsMax) break
      this.#lists.delete(oldest)
    }
  }

  #open(request: SearchRequest, finder: Finder, { shown, position }: Cursor): List {
    // Before the page that was shown there may be others; after it everything is new.
    const skipped = position - shown.length
    const found = finder.find(position + hitsAtOnce + 1)
    const list: List = {
      base: position,
      hits: [],
      remaining: new Uint8Array(1),
      groups: new Set(),
      sites: new Set(),
      lastDocno: this.#attributes.lastDocno(),
      isLast: false,
      isDone: false,
      total: finder.matches.total(),
      isExact: found.isExact,
      matched: found.matched,
      facets: this.#tools.facets(request, finder),
      siteCounts: this.#tools.siteCounts(request, finder),
    }
    finder.matches.eachUrl((urlId) => addBit(list, urlId))
    for (const urlId of shown) {
      const docno = this.#attributes.docnoOf(urlId)
      if (docno !== null) this.#use(list, request, docno)
    }
    const left = found.hits.filter(({ docno }) => this.#isLeft(list, request, docno))
    for (const { docno } of left.slice(0, skipped)) this.#use(list, request, docno)
    this.#take(list, request, left.slice(skipped))
    return list
  }

  /** Marks a document as shown, with all that its hit stands for. */
  #use(list: List, request: SearchRequest, docno: number): void {
    const attributes = this.#attributes
    clearBit(list, attributes.urlId(docno))
    const group = attributes.foldKey(docno)
    if (request.group === 'duplicate' && attributes.hasCopies(group)) list.groups.add(group)
    if (request.collapse === 'site') list.sites.add(attributes.siteOf(docno))
  }

  #isLeft(list: List, request: SearchRequest, docno: number): boolean {
    const attributes = this.#attributes
    return (
      hasBit(list, attributes.urlId(docno)) &&
      !(request.group === 'duplicate' && list.groups.has(attributes.foldKey(docno))) &&
      !(request.collapse === 'site' && list.sites.has(attributes.siteOf(docno)))
    )
  }

  #take(list: List, request: SearchRequest, left: readonly IndexHit[]): void {
    const hits = left.slice(0, hitsAtOnce)
    list.isLast = left.length <= hitsAtOnce
    list.hits = hits.map((hit) => ({ urlId: this.#attributes.urlId(hit.docno), hit }))
    for (const { docno } of hits) this.#use(list, request, docno)
  }

  /** The next thousand; after the last those that changed and are found no more. */
  #goOn(list: List, request: SearchRequest, finder: Finder): void {
    const attributes = this.#attributes
    list.base += list.hits.length
    const isLeft = (docno: number): boolean => this.#isLeft(list, request, docno)
    const only = (docno: number): boolean =>
      isLeft(docno) || attributes.copiesOf(docno).some(isLeft)
    const found = list.isLast ? [] : finder.find(hitsAtOnce + 1, only).hits
    this.#take(
      list,
      request,
      found.filter(({ docno }) => isLeft(docno)),
    )
    if (list.hits.length > 0) return
    list.isDone = true
    for (let docno = list.lastDocno + 1; docno <= attributes.lastDocno(); docno += 1) {
      const urlId = attributes.urlId(docno)
      if (!isLeft(docno) || attributes.docnoOf(urlId) !== docno) continue
      this.#use(list, request, docno)
      list.hits.push({ urlId, hit: { docno, score: 0, missing: [] } })
    }
  }

  /** From a position on as many as are wanted and still exist. */
  #read(
    list: List,
    position: number,
    request: SearchRequest,
    finder: Finder,
  ): { hits: IndexHit[]; end: number; hasMore: boolean } {
    const hits: IndexHit[] = []
    let at = position
    for (;;) {
      const entry = list.hits[at - list.base]
      if (entry === undefined) {
        // The list never goes back, so what is left of it is kept for whoever asks for this page again.
        if (list.isDone || hits.length >= request.limit) break
        this.#goOn(list, request, finder)
        continue
      }
      if (hits.length >= request.limit) return { hits, end: at, hasMore: true }
      at += 1
      const docno = this.#attributes.docnoOf(entry.urlId)
      if (docno !== null) hits.push({ ...entry.hit, docno })
    }
    const hasChanges = this.#attributes.lastDocno() > list.lastDocno
    return { hits, end: at, hasMore: !list.isDone && (!list.isLast || hasChanges) }
  }
}

const listIdOf = (cursor: string): number =>
  createHash('sha256').update(cursor).digest().readUInt32LE() || 1

/** What a cursor belongs to: all of a question but how much of it is shown. */
function markOf(request: SearchRequest): Buffer {
  const { q, sort, match, site, notSite, lang, type, fields, keyword } = request
  const { since, until, group, collapse } = request
  const question = [
    q,
    sort,
    match,
    site,
    notSite,
    lang,
    type,
    fields,
    ...(keyword.length > 0 ? [{ keyword }] : []),
    since,
    until,
    group,
    collapse,
  ]
  return createHash('sha256').update(JSON.stringify(question)).digest().subarray(0, 8)
}

function addBit(list: List, n: number): void {
  if (n >> 3 >= list.remaining.length) {
    const wider = new Uint8Array(Math.max((n >> 3) + 1, list.remaining.length * 2))
    wider.set(list.remaining)
    list.remaining = wider
  }
  list.remaining[n >> 3] = (list.remaining[n >> 3] as number) | (1 << (n & 7))
}

function clearBit({ remaining }: List, n: number): void {
  if (n >> 3 < remaining.length) remaining[n >> 3] = (remaining[n >> 3] as number) & ~(1 << (n & 7))
}

const hasBit = ({ remaining }: List, n: number): boolean =>
  ((remaining[n >> 3] ?? 0) & (1 << (n & 7))) !== 0
