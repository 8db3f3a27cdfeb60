/** Makes the index of link texts from what is stored of them: as a whole, in slices, when it is worth it. It is derived: what it says follows from the store alone. */
import { hashKey } from './lib/hash.ts'
import { siteOwner } from './lib/url.ts'
import { createIndexWriter } from './search/flex.ts'
import type { IndexedDocument, IndexWriter } from './search/index.ts'
import { linkedTerms, pagesOfTextMax, type LinkTools } from './search/link-terms.ts'
import { leavesPerSegmentMax, type SegmentIds, switchLinks } from './search/segments.ts'
import type { Store } from './store/store.ts'
import type { Analyzer } from './text/tokenize.ts'

/** Rows read between two looks at the clock, and documents inverted at once. */
const rowsAtOnce = 50
const batchDocuments = 200
/** Leaves of the index before, removed in one slice. */
const garbageLeavesMax = 500
/** While pages come in: made again when so many URLs and pages are new to it, and as many as it holds. */
const changesMin = 5_000
/** At rest: it may take this part of the time. */
const timeShare = 1 / 50
const textsPerRecord = 3
const slotsPerText = 8
const slotsMax = 2 ** 24

/** `key` of the analyzer: terms of different ones do not meet. */
export type LinkRecipe = { key: string; analyzer: Analyzer }

type Stage =
  | { kind: 'counting'; lastUrlId: number; uses: Uint8Array }
  | { kind: 'reading'; lastDocno: number; writer: IndexWriter; tools: LinkTools }
  | { kind: 'writing'; writer: IndexWriter }

/** What an index was made of: the analyzer, the number of changes to links, the highest docno. */
type Made = { key: string; changes: number; docno: number }
type LinkKey = 'links_changed' | 'links_indexed' | 'docno'
type ReadMeta = (key: LinkKey) => string | null

/** Asked for to be made again. */
const forgotten = ''

function madeOf(read: ReadMeta): Made {
  const [changes = '0', docno = '0', key = ''] = (read('links_indexed') ?? '').split(' ')
  return { changes: Number(changes), docno: Number(docno), key }
}

const nowOf = (read: ReadMeta): Omit<Made, 'key'> => ({
  changes: Number(read('links_changed') ?? 0),
  docno: Number(read('docno') ?? 0),
})

/** Without any link there is nothing to be made. */
const hasLinks = (read: ReadMeta): boolean => nowOf(read).changes > 0

/** Whether the index of link texts lacks something that is stored. @param key of the analyzer; left out: whichever it is */
export function isLinkIndexStale(read: ReadMeta, key?: string): boolean {
  const [made, now] = [madeOf(read), nowOf(read)]
  if (!hasLinks(read)) return false
  return (
    (key !== undefined && made.key !== key) ||
    made.changes !== now.changes ||
    made.docno !== now.docno
  )
}

export class LinkIndex {
  readonly #store: Store
  readonly #nowMs: () => number
  readonly #dropLeaves
  readonly #records
  #stage: Stage | null = null
  #making: Made | null = null
  #batch: IndexedDocument[] = []
  #garbage: number[] = []
  #spentMs = 0
  /** It takes its time off until then. */
  #restsUntilMs = 0

  constructor(store: Store, nowMs: () => number = () => performance.now()) {
    this.#store = store
    this.#nowMs = nowMs
    this.#dropLeaves = store.db.prepare(
      'DELETE FROM leaf WHERE k IN (SELECT k FROM leaf WHERE k >= ? AND k < ? LIMIT ?)',
    )
    this.#records = store.db.prepare<{ n: number }>('SELECT count(*) AS n FROM inbound')
  }

  /**
   * One slice, about `sliceMs`; true while more is to be done.
   * @param ids of the writer of the pages, which shares the table of leaves
   * @param when idle: nothing else is going on; now: it is waited for
   */
  step(
    sliceMs: number,
    recipe: LinkRecipe,
    ids: SegmentIds,
    when: 'crawling' | 'idle' | 'now',
  ): boolean {
    if (this.#collectGarbage()) return true
    const startMs = this.#nowMs()
    if (this.#stage === null && !this.#begin(recipe, when)) return false
    if (this.#making?.key !== recipe.key) this.abandon()
    else this.#work(startMs + sliceMs, recipe, ids)
    this.#spentMs += this.#nowMs() - startMs
    if (this.#stage === null) {
      this.#restsUntilMs = this.#nowMs() + this.#spentMs / timeShare
      this.#spentMs = 0
    }
    return true
  }

  /** When a change will be taken over that has to wait now; null where there is none. */
  waitsMs(key: string): number | null {
    return this.#stage === null && isLinkIndexStale(this.#read, key)
      ? Math.max(0, this.#restsUntilMs - this.#nowMs())
      : null
  }

  /** Its segments are cleared when the next one begins. */
  abandon(): void {
    this.#stage = null
    this.#batch = []
  }

  /** The next step makes it again, whatever it was made of. */
  forget(): void {
    this.abandon()
    this.#restsUntilMs = 0
    this.#store.transaction(() => this.#store.meta.set('links_indexed', forgotten))
  }

  /** It was forgotten, and is not there again yet. */
  isForgotten(): boolean {
    return this.#store.meta.get('links_indexed') === forgotten && hasLinks(this.#read)
  }

  readonly #read = (key: LinkKey): string | null => this.#store.meta.get(key)

  #begin({ key }: LinkRecipe, when: 'crawling' | 'idle' | 'now'): boolean {
    if (!isLinkIndexStale(this.#read, key)) return false
    const now = { ...nowOf(this.#read), key }
    const made = madeOf(this.#read)
    const isWaitedFor = when === 'now' || this.isForgotten()
    if (when === 'idle' && !isWaitedFor && this.#nowMs() < this.#restsUntilMs) return false
    if (when === 'crawling' && !isWaitedFor) {
      const news = now.changes - made.changes + now.docno - made.docno
      if (news < changesMin + made.docno) return false
    }
    const texts = textsPerRecord * (this.#records.value() ?? 0)
    const slots = 2 ** Math.ceil(Math.log2(Math.min(slotsMax, slotsPerText * (texts + 1))))
    this.#making = now
    this.#stage = { kind: 'counting', lastUrlId: 0, uses: new Uint8Array(slots) }
    return true
  }

  #work(endMs: number, recipe: LinkRecipe, ids: SegmentIds): void {
    while (this.#stage !== null && this.#nowMs() < endMs) {
      if (this.#stage.kind === 'counting') this.#count(this.#stage, recipe, ids)
      else if (this.#stage.kind === 'reading') this.#readOn(this.#stage, endMs)
      else if (this.#write(this.#stage.writer, endMs)) this.#switch()
    }
  }

  /** How many pages each site calls by each text. */
  #count(stage: Stage & { kind: 'counting' }, recipe: LinkRecipe, ids: SegmentIds): void {
    const { uses } = stage
    const ownerOf = createOwners(this.#store)
    const records = this.#store.linkRecordsAfter(stage.lastUrlId, rowsAtOnce)
    for (const { links } of records)
      for (const { host, text } of links) {
        if (text === '') continue
        const at = slotOf(uses, ownerOf(host), text)
        if ((uses[at] as number) < 255) uses[at] = (uses[at] as number) + 1
      }
    stage.lastUrlId = records.at(-1)?.urlId ?? stage.lastUrlId
    if (records.length === rowsAtOnce) return
    const writer = createIndexWriter(this.#store.db, {
      table: 'link_seg_next',
      ids,
      // The dead are noted for the pages.
      isPair: () => true,
      nowMs: this.#nowMs,
    })
    writer.clear()
    const tools: LinkTools = {
      analyzer: recipe.analyzer,
      ownerOf,
      isOverused: (owner, text) => (uses[slotOf(uses, owner, text)] as number) > pagesOfTextMax,
    }
    this.#stage = { kind: 'reading', lastDocno: 0, writer, tools }
  }

  #readOn(stage: Stage & { kind: 'reading' }, endMs: number): void {
    const { writer, tools } = stage
    if (writer.work(Math.max(1, endMs - this.#nowMs()), false)) return
    const documents = this.#store.linkedDocumentsAfter(stage.lastDocno, rowsAtOnce)
    for (const document of documents) this.#batch.push(linkedTerms(document, tools))
    stage.lastDocno = documents.at(-1)?.docno ?? stage.lastDocno
    const isOver = documents.length < rowsAtOnce
    if (this.#batch.length >= batchDocuments || isOver) {
      if (this.#batch.length > 0) writer.apply(this.#batch)
      this.#batch = []
    }
    if (isOver) this.#stage = { kind: 'writing', writer }
  }

  /** True when all is written. */
  #write(writer: IndexWriter, endMs: number): boolean {
    return !writer.work(Math.max(1, endMs - this.#nowMs()), true) && writer.pendingBytes() === 0
  }

  #switch(): void {
    const { db, meta } = this.#store
    this.#store.transaction(() => {
      this.#garbage.push(...switchLinks(db))
      const { changes, docno, key } = this.#making as Made
      meta.set('links_indexed', `${changes} ${docno} ${key}`)
    })
    this.#stage = null
  }

  #collectGarbage(): boolean {
    const id = this.#garbage[0]
    if (id === undefined) return false
    const { changes } = this.#store.transaction(() =>
      this.#dropLeaves.run(
        id * leavesPerSegmentMax,
        (id + 1) * leavesPerSegmentMax,
        garbageLeavesMax,
      ),
    )
    if (changes < garbageLeavesMax) this.#garbage.shift()
    return true
  }
}

const slotOf = (uses: Uint8Array, owner: string, text: string): number =>
  hashKey(text, hashKey(owner)[0])[0] & (uses.length - 1)

/** Few hosts link to the pages of a directory; each is looked up once. */
function createOwners(store: Store): (host: number) => string {
  const owners = new Map<number, string>()
  return (host) => {
    let owner = owners.get(host)
    if (owner === undefined) {
      owner = siteOwner(`${store.originOfHost(host) ?? ''}/`)
      owners.set(host, owner)
    }
    return owner
  }
}
