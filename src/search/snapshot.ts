/** What a reader knows of the index between two commits: segments, pending postings, length codes of the living. Never writes. */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'
import type { PackedSegment } from './index.ts'
import { lengths as lengthOfCode } from './packer.ts'
import { directoryOf, packedLeaves, type SegmentView } from './postings.ts'
import { leavesPerSegmentMax } from './segments.ts'

type StoredView = SegmentView & { id: number }
type PendingView = SegmentView & { codes: Uint8Array; codesFrom: number }

export type Snapshot = {
  /** Takes a pending segment over; it counts from the next `refresh` on. */
  addPending(segment: PackedSegment): void
  /** Within a read transaction: takes over what was committed since the last call. */
  refresh(): void
  /** Ascending, disjoint in what they show. */
  views(): readonly SegmentView[]
  /** Length code by docno; 0 = no such document, or dead. Longer than needed. */
  codes(): Uint8Array
  documents(): number
  /** Mean weighted length of the living documents. */
  meanLength(): number
  /** Whether some postings may belong to dead documents. */
  hasDead(): boolean
  /** Changes with each change of the above. */
  version(): number
}

export function createSnapshot(db: Db): Snapshot {
  const idsOfSegments = db.prepare<{ id: number }>('SELECT id FROM seg ORDER BY mindoc')
  const readSegment = db.prepare<{
    mindoc: number
    maxdoc: number
    dir: Uint8Array
    lens: Uint8Array
  }>('SELECT mindoc, maxdoc, dir, lens FROM seg WHERE id=?')
  const readLeaf = db.prepare<{ b: Uint8Array }>('SELECT b FROM leaf WHERE k=?')
  const countDead = db.prepare<{ n: number }>('SELECT count(*) AS n FROM tombstone')
  const deadWithin = db.prepare<{ docno: number }>(
    'SELECT docno FROM tombstone WHERE docno BETWEEN ? AND ?',
  )
  const ledger = createLedger()
  let stored: StoredView[] = []
  let pending: PendingView[] = []
  let arrived: PackedSegment[] = []
  let dataVersion: unknown
  let dead = 0
  let version = 0

  const buryWithin = (first: number, last: number): void => {
    for (const { docno } of deadWithin.all(first, last)) ledger.set(docno, 0)
  }

  const load = (id: number): StoredView => {
    const row = readSegment.get(id)
    assert(row, `segment ${id} has no row`)
    ledger.setRange(row.mindoc, row.lens, row.mindoc, row.maxdoc)
    buryWithin(row.mindoc, row.maxdoc)
    return {
      id,
      firstDocno: row.mindoc,
      lastDocno: row.maxdoc,
      directory: directoryOf(Buffer.from(row.dir).toString('utf8')),
      leaf: (n) => {
        const leaf = readLeaf.get(id * leavesPerSegmentMax + n)
        assert(leaf, `segment ${id} lacks leaf ${n}`)
        return leaf.b
      },
    }
  }

  const reloadSegments = (): void => {
    const known = new Map(stored.map((view) => [view.id, view]))
    const ids = idsOfSegments.all().map(({ id }) => id)
    const kept = new Set(ids)
    // Emptied first: a merged segment sets its whole range anew, a cleared index stays empty.
    for (const view of stored)
      if (!kept.has(view.id)) ledger.clearRange(view.firstDocno, view.lastDocno)
    stored = ids.map((id) => known.get(id) ?? load(id))
  }

  const takeArrived = (watermark: number): void => {
    for (const segment of arrived) {
      const first = Math.max(segment.mindoc, watermark + 1)
      pending = pending.flatMap((view) => outside(view, first, segment.maxdoc))
      if (first > segment.maxdoc) continue
      pending.push({
        firstDocno: first,
        lastDocno: segment.maxdoc,
        directory: directoryOf(segment.dir),
        leaf: packedLeaves(segment),
        codes: segment.lens,
        codesFrom: segment.mindoc,
      })
      ledger.setRange(segment.mindoc, segment.lens, first, segment.maxdoc)
      buryWithin(first, segment.maxdoc)
    }
    arrived = []
    pending.sort((a, b) => a.firstDocno - b.firstDocno)
  }

  return {
    addPending(segment) {
      arrived.push(segment)
    },
    refresh() {
      // A statement first: it fixes the state of the database that the version then belongs to.
      const deadNow = Number(countDead.value())
      const dataVersionNow = db.pragma('data_version')
      if (dataVersionNow === dataVersion && arrived.length === 0) return
      const before = stored
      if (dataVersionNow !== dataVersion) reloadSegments()
      dataVersion = dataVersionNow
      const watermark = stored.at(-1)?.lastDocno ?? 0
      pending = pending.flatMap((view) => outside(view, 0, watermark))
      takeArrived(watermark)
      // Tombstones only vanish with the swap of a segment, so an equal count means the same ones.
      const isSwapped =
        before.length !== stored.length || before.some((view, i) => view !== stored[i])
      if (isSwapped || deadNow !== dead) buryWithin(0, Number.MAX_SAFE_INTEGER)
      dead = deadNow
      version += 1
    },
    views: () => [...stored, ...pending],
    codes: () => ledger.codes(),
    documents: () => ledger.documents(),
    meanLength: () => ledger.meanLength(),
    hasDead: () => dead > 0,
    version: () => version,
  }
}

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
