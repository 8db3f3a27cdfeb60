/** The numbers of every document's keywords (store/keyword-table.ts), in typed arrays: 4 bytes a document and 4 a keyword. Loaded when first asked for. */
import type { Db } from '../lib/sqlite.ts'
import { keywordKey } from '../text/tokenize.ts'

/** Of all documents: 32 MB. Where there are more than half a million, each has fewer than its sixteen: the best of its page. */
const idsMax = 8 * 1_024 * 1_024
/** Rows read between two looks at the clock. */
const rowsUnwatched = 1_024
const ofDocumentMin = 4
export const ofDocumentMax = 16

export class KeywordLists {
  readonly #db: Db
  #statements: ReturnType<typeof prepareAll> | null = null
  #lastDocno = 0
  #lastId = 0
  #documents = 0
  /** Where the numbers of a document begin in #ids: the first says how many follow. 0 = it has none. */
  #starts = new Uint32Array(1_024)
  #ids = new Uint32Array(1_024)
  #used = 1
  /** By number: documents that came with it, also those that went since. */
  #holders = new Uint32Array(1_024)

  #counts = new Uint32Array(0)

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Takes over what came since, within the reader's transaction. A changed document has a new number; one that only
   * got other keywords keeps those that were loaded.
   * @returns whether all is there; where the time ran out before, the next call goes on
   */
  refresh(untilMs = Number.POSITIVE_INFINITY): boolean {
    const statements = this.#prepared()
    if (statements === null) return true
    const last = statements.lastDocno.value() ?? 0
    const most = Math.floor(idsMax / Math.max(1, last))
    const ofDocument = Math.min(ofDocumentMax, Math.max(ofDocumentMin, most))
    let rows = 0
    for (const { docno, ids } of statements.rowsAfter.iterate(this.#lastDocno)) {
      this.#add(docno, Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength), ofDocument)
      this.#lastDocno = docno
      if (++rows % rowsUnwatched === 0 && performance.now() > untilMs) return false
    }
    return true
  }

  /** Starts anew: the numbers of dead documents outnumber those of the living. */
  forget(): void {
    this.#lastDocno = 0
    this.#documents = 0
    this.#starts = new Uint32Array(1_024)
    this.#ids = new Uint32Array(1_024)
    this.#used = 1
    this.#holders = new Uint32Array(1_024)
  }

  /** Calls `see` with the number of each keyword of the document. */
  eachId(docno: number, see: (id: number) => void): void {
    const start = this.#starts[docno] ?? 0
    if (start === 0) return
    const end = start + 1 + (this.#ids[start] as number)
    for (let i = start + 1; i < end; i += 1) see(this.#ids[i] as number)
  }

  /** Adds one for each keyword of each document. */
  countIds(docnos: Uint32Array, counts: Uint32Array): void {
    const ids = this.#ids
    const starts = this.#starts
    for (let n = 0; n < docnos.length; n += 1) {
      const start = starts[docnos[n] as number] ?? 0
      if (start === 0) continue
      const end = start + 1 + (ids[start] as number)
      for (let i = start + 1; i < end; i += 1) {
        const id = ids[i] as number
        counts[id] = (counts[id] as number) + 1
      }
    }
  }

  has(docno: number, id: number): boolean {
    const start = this.#starts[docno] ?? 0
    if (start === 0) return false
    const end = start + 1 + (this.#ids[start] as number)
    for (let i = start + 1; i < end; i += 1) if (this.#ids[i] === id) return true
    return false
  }

  /** Numbers that a document has are below this. */
  idsEnd(): number {
    return this.#lastId + 1
  }

  /** Documents that were loaded, and those of them that have the keyword. */
  documents(): number {
    return this.#documents
  }

  /** Zeros by number, one array for all facets: who counts in it leaves zeros behind. */
  counts(): Uint32Array<ArrayBuffer> {
    if (this.#counts.length < this.idsEnd()) this.#counts = new Uint32Array(this.#holders.length)
    return this.#counts
  }

  /** For figures. */
  get bytes(): number {
    return this.#starts.byteLength + this.#ids.byteLength + this.#holders.byteLength
  }

  holders(id: number): number {
    return this.#holders[id] ?? 0
  }

  /** Number of a keyword in whatever spelling; null for one that no document has. */
  idOf(word: string): number | null {
    return this.#prepared()?.idOf.value(keywordKey(word)) ?? null
  }

  /** As it is shortest spelled; '' for one that may not be shown. */
  word(id: number): string {
    return this.#prepared()?.word.value(id) ?? ''
  }

  /** null: an older directory that is only read lacks the tables. */
  #prepared(): ReturnType<typeof prepareAll> | null {
    if (this.#statements === null && hasTables(this.#db)) this.#statements = prepareAll(this.#db)
    return this.#statements
  }

  #add(docno: number, packed: Buffer, most: number): void {
    const count = Math.min(most, packed.length / 4)
    if (docno >= this.#starts.length) this.#starts = widen(this.#starts, docno + 1)
    if (this.#used + count >= this.#ids.length) this.#ids = widen(this.#ids, this.#used + count + 1)
    this.#starts[docno] = this.#used
    this.#ids[this.#used++] = count
    for (let i = 0; i < count; i += 1) {
      const id = packed.readUInt32BE(i * 4)
      this.#ids[this.#used++] = id
      if (id > this.#lastId) this.#lastId = id
      if (id >= this.#holders.length) this.#holders = widen(this.#holders, id + 1)
      this.#holders[id] = (this.#holders[id] as number) + 1
    }
    this.#documents += 1
  }
}

const hasTables = (db: Db): boolean =>
  db.prepare("SELECT 1 FROM sqlite_master WHERE name='doc_keyword'").get() !== undefined

const prepareAll = (db: Db) => ({
  lastDocno: db.prepare<{ docno: number }>('SELECT max(docno) AS docno FROM doc_keyword'),
  rowsAfter: db.prepare<{ docno: number; ids: Uint8Array }>(
    'SELECT docno, ids FROM doc_keyword WHERE docno > ? ORDER BY docno',
  ),
  idOf: db.prepare<{ id: number }>('SELECT id FROM keyword WHERE key=?'),
  word: db.prepare<{ word: string }>('SELECT word FROM keyword WHERE id=?'),
})

/** By half: beside the old array, of a large collection, twice of it would be much. */
function widen(array: Uint32Array<ArrayBuffer>, size: number): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(Math.max(size, Math.ceil(array.length * 1.5)))
  wider.set(array)
  return wider
}
