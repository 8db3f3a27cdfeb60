/** What a reader knows of the index between two commits: segments, pending postings, length codes of the living. Never writes. */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'
import { currentLeaf } from './first-format.ts'
import type { PackedSegment } from './index.ts'
import { lengths as lengthOfCode } from './codes.ts'
import { directoryOf, packedLeaves, type SegmentView } from './segment-view.ts'
import { leavesPerSegmentMax } from './segments.ts'
import { filterColumn, openFilter } from './term-filter.ts'

type StoredView = SegmentView & { id: number }
type PendingView = SegmentView

export class Snapshot {
  readonly #db: Db
  readonly #statements: Statements
  readonly #ledger = createLedger()
  #stored: StoredView[] = []
  #pending: PendingView[] = []
  #arrived: PackedSegment[] = []
  #dataVersion: unknown
  #dead = 0
  #version = 0

  constructor(db: Db) {
    this.#db = db
    this.#statements = prepare(db)
  }

  /** Takes a pending segment over; it counts from the next `refresh` on. */
  addPending(segment: PackedSegment): void {
    this.#arrived.push(segment)
  }

  /** Within a read transaction: takes over what was committed since the last call. */
  refresh(): void {
    // A statement first: it fixes the state of the database that the version then belongs to.
    const dead = Number(this.#statements.countDead.value())
    const dataVersion = this.#db.pragma('data_version')
    if (dataVersion === this.#dataVersion && this.#arrived.length === 0) return
    const before = this.#stored
    if (dataVersion !== this.#dataVersion) this.#reloadSegments()
    this.#dataVersion = dataVersion
    const watermark = this.#stored.at(-1)?.lastDocno ?? 0
    this.#pending = this.#pending.flatMap((view) => outside(view, 0, watermark))
    this.#takeArrived(watermark)
    // Tombstones only vanish with the swap of a segment, so an equal count means the same ones.
    const isSwapped =
      before.length !== this.#stored.length || before.some((view, i) => view !== this.#stored[i])
    if (isSwapped || dead !== this.#dead) this.#buryWithin(0, Number.MAX_SAFE_INTEGER)
    this.#dead = dead
    this.#version += 1
  }

  /** Ascending, disjoint in what they show. */
  views(): readonly SegmentView[] {
    return [...this.#stored, ...this.#pending]
  }

  /** Length code by docno; 0 = no such document, or dead. Longer than needed. */
  codes(): Uint8Array {
    return this.#ledger.codes()
  }

  documents(): number {
    return this.#ledger.documents()
  }

  /** Mean weighted length of the living documents. */
  meanLength(): number {
    return this.#ledger.meanLength()
  }

  /** Whether some postings may belong to dead documents. */
  hasDead(): boolean {
    return this.#dead > 0
  }

  /** Changes with each change of the above. */
  version(): number {
    return this.#version
  }

  #buryWithin(first: number, last: number): void {
    for (const { docno } of this.#statements.deadWithin.all(first, last)) this.#ledger.set(docno, 0)
  }

  #reloadSegments(): void {
    const known = new Map(this.#stored.map((view) => [view.id, view]))
    const ids = this.#statements.segmentIds.all().map(({ id }) => id)
    const kept = new Set(ids)
    // Emptied first: a merged segment sets its whole range anew, a cleared index stays empty.
    for (const view of this.#stored)
      if (!kept.has(view.id)) this.#ledger.clearRange(view.firstDocno, view.lastDocno)
    this.#stored = ids.map((id) => known.get(id) ?? this.#load(id))
  }

  #load(id: number): StoredView {
    const row = this.#statements.segment.get(id)
    assert(row, `segment ${id} has no row`)
    this.#ledger.setRange(row.mindoc, row.lens, row.mindoc, row.maxdoc)
    this.#buryWithin(row.mindoc, row.maxdoc)
    const directory = directoryOf(Buffer.from(row.dir).toString('utf8'))
    return {
      id,
      firstDocno: row.mindoc,
      lastDocno: row.maxdoc,
      packed: { first: row.mindoc, last: row.maxdoc },
      directory,
      mayHold: row.terms === null ? null : openFilter(row.terms, directory.length),
      leaf: (n) => {
        const leaf = this.#statements.leaf.value(id * leavesPerSegmentMax + n)
        assert(leaf, `segment ${id} lacks leaf ${n}`)
        return currentLeaf(leaf, row.mindoc)
      },
    }
  }

  #takeArrived(watermark: number): void {
    for (const segment of this.#arrived) {
      const first = Math.max(segment.mindoc, watermark + 1)
      this.#pending = this.#pending.flatMap((view) => outside(view, first, segment.maxdoc))
      if (first > segment.maxdoc) continue
      this.#pending.push({
        firstDocno: first,
        lastDocno: segment.maxdoc,
        packed: { first: segment.mindoc, last: segment.maxdoc },
        directory: directoryOf(segment.dir),
        // Its leaves are at hand.
        mayHold: null,
        leaf: packedLeaves(segment),
      })
      this.#ledger.setRange(segment.mindoc, segment.lens, first, segment.maxdoc)
      this.#buryWithin(first, segment.maxdoc)
    }
    this.#arrived = []
    this.#pending.sort((a, b) => a.firstDocno - b.firstDocno)
  }
}

const prepare = (db: Db) => ({
  segmentIds: db.prepare<{ id: number }>('SELECT id FROM seg ORDER BY mindoc'),
  segment: db.prepare<{
    mindoc: number
    maxdoc: number
    dir: Uint8Array
    lens: Uint8Array
    terms: Uint8Array | null
  }>(`SELECT mindoc, maxdoc, dir, lens, ${filterColumn(db, 'seg')} FROM seg WHERE id=?`),
  leaf: db.prepare<{ b: Uint8Array }>('SELECT b FROM leaf WHERE k=?'),
  countDead: db.prepare<{ n: number }>('SELECT count(*) AS n FROM tombstone'),
  deadWithin: db.prepare<{ docno: number }>(
    'SELECT docno FROM tombstone WHERE docno BETWEEN ? AND ?',
  ),
})
type Statements = ReturnType<typeof prepare>

/** What is left of a view when others show first..last: nothing, one part or two, over the same bytes. */
function outside(view: PendingView, first: number, last: number): PendingView[] {
  if (first > view.lastDocno || last < view.firstDocno) return [view]
  const parts: PendingView[] = []
  if (view.firstDocno < first) parts.push({ ...view, lastDocno: first - 1 })
  if (view.lastDocno > last) parts.push({ ...view, firstDocno: last + 1 })
  return parts
}

/** Length codes by docno with their count and sum, so that a document counts once however often it is handed over. */
function createLedger() {
  let codes = new Uint8Array(1_024)
  /** Documents by length code: the mean stays exact however often documents come and go. */
  const histogram = new Float64Array(256)
  let documents = 0

  const set = (docno: number, code: number): void => {
    if (docno >= codes.length) {
      if (code === 0) return
      const wider = new Uint8Array(Math.max(docno + 1, codes.length * 2))
      wider.set(codes)
      codes = wider
    }
    const before = codes[docno] as number
    if (before === code) return
    documents += (code > 0 ? 1 : 0) - (before > 0 ? 1 : 0)
    if (before > 0) histogram[before] = (histogram[before] as number) - 1
    if (code > 0) histogram[code] = (histogram[code] as number) + 1
    codes[docno] = code
  }

  return {
    set,
    setRange(from: number, source: Uint8Array, first: number, last: number): void {
      for (let docno = last; docno >= first; docno -= 1) set(docno, source[docno - from] ?? 0)
    },
    clearRange(first: number, last: number): void {
      for (let docno = first; docno <= Math.min(last, codes.length - 1); docno += 1) set(docno, 0)
    },
    codes: () => codes,
    documents: () => documents,
    meanLength(): number {
      if (documents === 0) return 1
      let sum = 0
      for (let code = 1; code < 256; code += 1)
        sum += (histogram[code] as number) * (lengthOfCode[code] as number)
      return sum / documents
    },
  }
}
