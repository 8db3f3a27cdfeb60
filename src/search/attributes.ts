/** What filters, folding and sorting need of every document, in typed arrays by docno: about 22 bytes each. Read-only, grows with the collection. */
import type { Db } from '../lib/sqlite.ts'
import type { FieldCondition } from './answer.ts'
import { createOriginals, type Originals } from '../store/originals.ts'
import { Fields } from './fields.ts'
import { KeywordLists } from './keyword-lists.ts'
import { refuseLate } from './posting-reads.ts'

type Row = {
  docno: number
  urlId: number
  host: number
  lang: string
  type: string
  dateMs: number
  copyOf: number | null
}

const attributeQuery = `
  SELECT docno, url_id AS urlId, host, lang, type, coalesce(published_at, changed_at) AS dateMs, copy_of AS copyOf FROM doc`
/** From so many documents on all groups are read at once: an index holds them, the rows of fingerprints are wide. */
const groupsAtOnceMin = 1_000

/** What a document must be. An empty list asks nothing. */
export type Filter = {
  site: readonly string[]
  notSite: readonly string[]
  lang: readonly string[]
  fileType: readonly string[]
  type: readonly string[]
  fields: readonly FieldCondition[]
  /** All of them. */
  keyword: readonly string[]
  /** Milliseconds, [sinceMs, untilMs). */
  sinceMs: number | null
  untilMs: number | null
}

/** Old revisions stay in the arrays until they outnumber this many and half of the living. */
const staleRowsMax = 10_000
/** Originals of groups that are remembered. */
const originalsMax = 10_000
/** Of 64 KB; a quarter of so many groups is told apart well enough. */
const copiedMask = 0xffff
/** More are looked up by passing over all documents. */
const resolvedSingly = 100

export class Attributes {
  readonly #db: Db
  readonly #after
  readonly #lastOf
  readonly #groupOf
  readonly #groupsOf
  readonly #copyMarks
  readonly #copies
  readonly #hostName
  readonly #docno
  readonly #fields: Fields
  readonly #keywords: KeywordLists
  readonly #originals: Originals
  /** By fold key, of those that were asked for since the last change; null = none of them is shown before the others. */
  readonly #originalOf = new Map<number, number | null>()
  #areFieldsFresh = false
  #deadlineMs = Number.POSITIVE_INFINITY
  #areKeywordsFresh = false
  #dataVersion: unknown
  #lastDocno = 0
  #rows = 0
  #columns = createColumns(1_024)
  readonly #langs = createInterner()
  readonly #types = createInterner()
  readonly #hostNames = new Map<number, string>()
  /** Sites = host names: http and https of one name are one. */
  readonly #siteNames: string[] = []
  readonly #sites = new Map<string, number>()
  /** By host, one more; 0 = not asked for yet. */
  #siteOfHost = new Uint32Array(64)
  /** Exact copies by the URL of their original. */
  #copiesOf = new Map<number, number[]>()
  /** Documents that have exact copies, by their URL. */
  readonly #docnoOfOriginal = new Map<number, number>()
  /** URLs of originals that are to get there. */
  #unresolved: number[] = []
  #epoch = 0
  /** Sums over the copies as they were loaded: equal sums, equal copies. */
  #copyMark = { count: 0, docnos: 0, originals: 0 }
  /** Groups of near and exact copies that have a second member. */
  #groups = new Set<number>()
  /** By the lower bits of groups and of URLs of originals: where it is 0 there are surely no copies. */
  readonly #copied = new Uint8Array(copiedMask + 1)

  constructor(db: Db) {
    this.#db = db
    this.#after = db.prepare<Row>(`${attributeQuery} WHERE docno > ? ORDER BY docno`)
    this.#lastOf = db.prepare<{ docno: number }>('SELECT coalesce(max(docno), 0) AS docno FROM doc')
    this.#groupOf = db.prepare<{ grp: number }>('SELECT grp FROM fingerprint WHERE url_id=?')
    this.#groupsOf = db.prepare<{ urlId: number; grp: number }>(
      'SELECT url_id AS urlId, grp FROM fingerprint INDEXED BY fingerprint_group WHERE grp <> url_id',
    )
    this.#copies = db.prepare<{ docno: number; copyOf: number }>(
      'SELECT docno, copy_of AS copyOf FROM doc WHERE copy_of IS NOT NULL',
    )
    this.#copyMarks = db.prepare<{ count: number; docnos: number; originals: number }>(
      `SELECT count(*) AS count, coalesce(sum(docno), 0) AS docnos, coalesce(sum(copy_of), 0) AS originals
       FROM doc WHERE copy_of IS NOT NULL`,
    )
    this.#hostName = db.prepare<{ origin: string }>('SELECT origin FROM host WHERE id=?')
    this.#docno = db.prepare<{ docno: number }>('SELECT docno FROM doc WHERE url_id=?')
    this.#fields = new Fields(db)
    this.#keywords = new KeywordLists(db)
    this.#originals = createOriginals(db)
  }

  /**
   * Within the reader's transaction: takes over documents that came since.
   * @param living documents of the index
   * @param deadlineMs by performance.now(): until then what is only needed at times is looked up
   */
  refresh(living: number, deadlineMs = Number.POSITIVE_INFINITY): void {
    this.#deadlineMs = deadlineMs
    const version = this.#db.pragma('data_version')
    if (version === this.#dataVersion) return
    this.#dataVersion = version
    this.#areFieldsFresh = false
    this.#areKeywordsFresh = false
    this.#originalOf.clear()
    const copies = this.#copyMark.count
    if (this.#rows > (living + copies) * 1.5 + staleRowsMax) this.#forget()
    this.#addNew()
    const mark = this.#copyMarks.get()
    if (mark && !isEqualMark(mark, this.#copyMark)) this.#reloadCopies()
  }

  /** Loaded at the first question that needs them, unless `readFieldsOn` was faster. @throws AppError overloaded: then the next question goes on */
  fields(): Fields {
    if (!this.#areFieldsFresh && !this.readFieldsOn(this.#deadlineMs)) this.refuseLate()
    return this.#fields
  }

  /** Within the reader's transaction. @returns whether all fields are there */
  readFieldsOn(untilMs: number): boolean {
    this.#areFieldsFresh = this.#fields.refresh(untilMs)
    return this.#areFieldsFresh
  }

  /** As `fields`. */
  keywords(): KeywordLists {
    if (!this.#areKeywordsFresh && !this.readKeywordsOn(this.#deadlineMs)) this.refuseLate()
    return this.#keywords
  }

  /** As `readFieldsOn`. */
  readKeywordsOn(untilMs: number): boolean {
    this.#areKeywordsFresh = this.#keywords.refresh(untilMs)
    return this.#areKeywordsFresh
  }

  /** @throws AppError overloaded where the question at hand has no time left */
  refuseLate(): void {
    refuseLate(this.#deadlineMs)
  }

  /** Changes when old revisions are let go of. */
  get epoch(): number {
    return this.#epoch
  }

  /** Calls `see` with each exact copy and its original. */
  eachCopy(see: (copy: number, original: number) => void): void {
    this.#resolveOriginals()
    for (const [urlId, copies] of this.#copiesOf) {
      const original = this.#docnoOfOriginal.get(urlId)
      if (original !== undefined) for (const copy of copies) see(copy, original)
    }
  }

  lastDocno(): number {
    return this.#lastDocno
  }

  urlId(docno: number): number {
    return this.#columns.urlIds[docno] ?? 0
  }

  /** The living document of a URL, an exact copy included. */
  docnoOf(urlId: number): number | null {
    return this.#docno.value(urlId) ?? null
  }

  /** A small number for each host name. */
  siteOf(docno: number): number {
    const host = this.#columns.hosts[docno] as number
    const known = this.#siteOfHost[host] ?? 0
    return known > 0 ? known - 1 : this.#siteOfNewHost(host)
  }

  #siteOfNewHost(host: number): number {
    const name = this.#nameOf(host)
    const site = this.#sites.get(name) ?? this.#siteNames.push(name) - 1
    this.#sites.set(name, site)
    if (host >= this.#siteOfHost.length) {
      const wider = new Uint32Array(2 * host)
      wider.set(this.#siteOfHost)
      this.#siteOfHost = wider
    }
    this.#siteOfHost[host] = site + 1
    return site
  }

  /** What a facet counts, by docno; and by host its site, one more. Of this moment: who counts by site numbers those of all documents before. */
  columns(): Readonly<Columns> & { siteOfHost: Uint32Array } {
    return { ...this.#columns, siteOfHost: this.#siteOfHost }
  }

  /** Sites that have a number. */
  sites(): number {
    return this.#siteNames.length
  }

  siteName(site: number): string {
    return this.#siteNames[site] ?? ''
  }

  langOf(docno: number): number {
    return this.#columns.langs[docno] as number
  }

  langName(lang: number): string {
    return this.#langs.name(lang)
  }

  typeOf(docno: number): number {
    return this.#columns.types[docno] as number
  }

  typeName(type: number): string {
    return this.#types.name(type)
  }

  dateMs(docno: number): number {
    return this.#columns.dates[docno] ?? 0
  }

  /** Documents of one group of copies have the same key; it tells nothing else. */
  foldKey(docno: number): number {
    return this.#columns.groups[docno] ?? 0
  }

  /** False where the document has no copy of any kind: quicker than what tells which ones it has. */
  mayHaveCopies(docno: number): boolean {
    const { groups, urlIds } = this.#columns
    return (
      this.#copied[(groups[docno] as number) & copiedMask] !== 0 ||
      this.#copied[(urlIds[docno] as number) & copiedMask] !== 0
    )
  }

  hasCopies(foldKey: number): boolean {
    return this.#groups.has(foldKey)
  }

  /** The page of a group of copies that is shown for all of them. */
  originalOf(foldKey: number): number | null {
    let docno = this.#originalOf.get(foldKey)
    if (docno === undefined) {
      const original = this.#originals.originalOf(foldKey)
      docno = original === null ? null : this.docnoOf(original.urlId)
      if (this.#originalOf.size >= originalsMax) this.#originalOf.clear()
      this.#originalOf.set(foldKey, docno)
    }
    return docno
  }

  /** Exact copies of a document: they have no postings of their own. */
  copiesOf(docno: number): readonly number[] {
    return this.#copiesOf.get(this.#columns.urlIds[docno] ?? -1) ?? []
  }

  /** Compiles a filter; null where every document passes. */
  accepts(filter: Filter): ((docno: number) => boolean) | null {
    const { lang, sinceMs, untilMs } = filter
    const tests: ((docno: number) => boolean)[] = []
    const { hosts, langs, types, dates } = this.#columns
    if (filter.site.length > 0 || filter.notSite.length > 0) {
      const verdicts = new Map<number, boolean>()
      tests.push((docno) => {
        const host = hosts[docno] as number
        let verdict = verdicts.get(host)
        if (verdict === undefined) {
          verdict = this.#isWanted(host, filter)
          verdicts.set(host, verdict)
        }
        return verdict
      })
    }
    if (lang.length > 0) {
      const wanted = this.#langs.matching((value) => lang.some((name) => isLang(value, name)))
      tests.push((docno) => wanted.has(langs[docno] as number))
    }
    for (const fileType of [filter.fileType, filter.type]) {
      if (fileType.length === 0) continue
      const wanted = this.#types.matching((value) => fileType.some((name) => isType(value, name)))
      tests.push((docno) => wanted.has(types[docno] as number))
    }
    if (filter.fields.length > 0) tests.push(...this.fields().accepts(filter.fields))
    for (const word of filter.keyword) {
      const lists = this.keywords()
      const id = lists.idOf(word)
      tests.push((docno) => id !== null && lists.has(docno, id))
    }
    if (sinceMs !== null) tests.push((docno) => (dates[docno] as number) >= sinceMs)
    if (untilMs !== null) tests.push((docno) => (dates[docno] as number) < untilMs)
    return tests.length === 0 ? null : (docno) => tests.every((test) => test(docno))
  }

  #isWanted(host: number, { site, notSite }: Filter): boolean {
    const name = this.#nameOf(host)
    return (
      (site.length === 0 || site.some((wanted) => isOnSite(name, wanted))) &&
      !notSite.some((unwanted) => isOnSite(name, unwanted))
    )
  }

  #nameOf(host: number): string {
    const known = this.#hostNames.get(host)
    if (known !== undefined) return known
    const name = (this.#hostName.get(host)?.origin ?? '').replace(/^.*\/\//, '')
    this.#hostNames.set(host, name)
    return name
  }

  /** Takes over the documents that came since. Without a fingerprint, or alone, one is its own group. */
  #addNew(): void {
    if ((this.#lastOf.value() ?? 0) - this.#lastDocno < groupsAtOnceMin) {
      for (const row of this.#after.all(this.#lastDocno))
        this.#add(row, this.#groupOf.value(row.urlId) ?? row.urlId)
      return
    }
    const groups = new Map(this.#groupsOf.all().map(({ urlId, grp }) => [urlId, grp]))
    for (const row of this.#after.iterate(this.#lastDocno))
      this.#add(row, groups.get(row.urlId) ?? row.urlId)
  }

  #add({ docno, urlId, host, lang, type, dateMs, copyOf }: Row, group: number): void {
    if (docno >= this.#columns.dates.length) this.#columns = widen(this.#columns, docno + 1)
    const columns = this.#columns
    columns.urlIds[docno] = urlId
    columns.hosts[docno] = host
    columns.langs[docno] = this.#langs.number(lang)
    columns.types[docno] = this.#types.number(type)
    columns.dates[docno] = dateMs
    columns.groups[docno] = group
    if (group !== urlId) {
      this.#groups.add(group)
      this.#copied[group & copiedMask] = 1
    }
    if (copyOf !== null) this.#addCopy(docno, copyOf)
    if (this.#docnoOfOriginal.has(urlId)) this.#docnoOfOriginal.set(urlId, docno)
    this.#lastDocno = docno
    this.#rows += 1
  }

  #addCopy(docno: number, original: number): void {
    this.#copied[original & copiedMask] = 1
    const copies = this.#copiesOf.get(original)
    if (copies) copies.push(docno)
    else {
      this.#copiesOf.set(original, [docno])
      if (!this.#docnoOfOriginal.has(original)) this.#unresolved.push(original)
    }
    const { count, docnos, originals } = this.#copyMark
    this.#copyMark = { count: count + 1, docnos: docnos + docno, originals: originals + original }
  }

  #resolveOriginals(): void {
    if (this.#unresolved.length > resolvedSingly) {
      const { urlIds } = this.#columns
      // Of two revisions the later one is the page.
      for (let docno = 1; docno <= this.#lastDocno; docno += 1) {
        const urlId = urlIds[docno] as number
        if (this.#copiesOf.has(urlId)) this.#docnoOfOriginal.set(urlId, docno)
      }
    } else
      for (const urlId of this.#unresolved) {
        const docno = this.docnoOf(urlId)
        if (docno !== null) this.#docnoOfOriginal.set(urlId, docno)
      }
    this.#unresolved = []
  }

  #reloadCopies(): void {
    this.#copiesOf = new Map()
    this.#copyMark = { count: 0, docnos: 0, originals: 0 }
    for (const { docno, copyOf } of this.#copies.iterate()) this.#addCopy(docno, copyOf)
  }

  #forget(): void {
    this.#columns = createColumns(1_024)
    this.#copiesOf = new Map()
    this.#docnoOfOriginal.clear()
    this.#unresolved = []
    this.#epoch += 1
    this.#copyMark = { count: 0, docnos: 0, originals: 0 }
    this.#groups = new Set()
    this.#copied.fill(0)
    this.#fields.forget()
    this.#areFieldsFresh = false
    this.#keywords.forget()
    this.#areKeywordsFresh = false
    this.#lastDocno = 0
    this.#rows = 0
  }
}

/** The host itself, its subdomains, a suffix by whole labels (com, co.uk); with a port only that port. */
export function isOnSite(hostAndPort: string, site: string): boolean {
  const wanted = site.replace(/^\*?\./, '')
  const host = wanted.includes(':') ? hostAndPort : hostAndPort.replace(/:\d+$/, '')
  return host === wanted || host.endsWith(`.${wanted}`)
}

/** zh finds zh-Hant; zh-Hant does not find zh. */
const isLang = (value: string, wanted: string): boolean =>
  value.toLowerCase() === wanted || value.toLowerCase().startsWith(`${wanted}-`)

/** By media type, or by the short name that people use for it. */
export function isType(value: string, wanted: string): boolean {
  const type = value.toLowerCase()
  const name = type.replace(/^.*\//, '').replace(/\+xml$/, '')
  const short: Record<string, string> = { xhtml: 'html', plain: 'txt', markdown: 'md' }
  const asked = wanted === 'htm' ? 'html' : wanted
  return asked === type || asked === name || asked === (short[name] ?? name)
}

const createColumns = (size: number) => ({
  urlIds: new Uint32Array(size),
  hosts: new Uint32Array(size),
  langs: new Uint8Array(size),
  types: new Uint8Array(size),
  dates: new Float64Array(size),
  groups: new Uint32Array(size),
})
type Columns = ReturnType<typeof createColumns>

function widen(columns: Columns, size: number): Columns {
  const wider = createColumns(Math.max(size, columns.dates.length * 2))
  wider.urlIds.set(columns.urlIds)
  wider.hosts.set(columns.hosts)
  wider.langs.set(columns.langs)
  wider.types.set(columns.types)
  wider.dates.set(columns.dates)
  wider.groups.set(columns.groups)
  return wider
}

const isEqualMark = (
  a: { count: number; docnos: number; originals: number },
  b: typeof a,
): boolean => a.count === b.count && a.docnos === b.docnos && a.originals === b.originals

/** Numbers for few distinct names. The 255 first are told apart, all later ones share the last number. */
function createInterner() {
  const numbers = new Map<string, number>()
  const names: string[] = []
  return {
    name: (number: number): string => names[number] ?? 'other',
    number(name: string): number {
      const known = numbers.get(name)
      if (known !== undefined) return known
      const number = Math.min(numbers.size, 255)
      if (number < 255) {
        numbers.set(name, number)
        names.push(name)
      }
      return number
    },
    matching(test: (name: string) => boolean): Set<number> {
      return new Set([...numbers].filter(([name]) => test(name)).map(([, number]) => number))
    },
  }
}
