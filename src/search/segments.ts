/** The segments in SQLite: flushes pending ones, merges stored ones in tiers, clears up, all in slices. Only the engine writes; readers use snapshot.ts. */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'
import { currentLeaf } from './first-format.ts'
import type { PackedSegment } from './index.ts'
import { createMerge, type Merge, type MergePart } from './merge.ts'
import { directoryOf, packedLeaves } from './segment-view.ts'

/** Segments of one level that become one of the next. */
const fanInDefault = 8
/** A segment is rewritten alone when a third of it is dead, but not for a handful. */
const deadShareMax = 1 / 3
const deadCountMinDefault = 64
/** Leaves removed in one slice: about 2 MB. */
const garbageLeavesMax = 500
/** Key of a leaf = segment * this + number of the leaf. */
export const leavesPerSegmentMax = 1 << 20

type StoredSegment = {
  id: number
  level: number
  mindoc: number
  maxdoc: number
  nleaf: number
  /** Documents in it, the dead ones included. */
  documents: number
}

type Job = {
  id: number
  level: number
  replaced: readonly StoredSegment[]
  dead: readonly number[]
  merge: Merge
  onDone: () => void
}

/**
 * Where a generation of segments is listed: `seg` answers, `seg_next` is being made beside it; `link_seg` and `link_seg_next` are the same
 * for link texts. Their leaves share one table, their ids one source.
 */
export type SegmentTable = 'seg' | 'seg_next' | 'link_seg' | 'link_seg_next'

const everyId = (['seg', 'seg_next', 'link_seg', 'link_seg_next'] satisfies SegmentTable[])
  .map((table) => `SELECT id FROM ${table}`)
  .join(' UNION ALL ')

/** Ids that no segment and no leaf has had since this was opened. */
export type SegmentIds = { next(): number; end(): number }

export type SegmentOptions = {
  nowMs?: () => number
  fanIn?: number
  deadCountMin?: number
  table?: SegmentTable
  /** Of the other generation's writer, where there is one. */
  ids?: SegmentIds
  /** While two generations live the dead stay noted, as either may still hold them, and only the next one merges. */
  isPair?: () => boolean
}

/** Leaf keys from..to-1. */
type KeyRange = { from: number; to: number }

/**
 * A log-structured merge tree over the tables seg and leaf. What is not in `seg` does not exist: leaves of an unfinished job are
 * invisible, and removed by the next start. Levels fall with growing docnos, so the segments of one level are neighbours.
 */
export class SegmentWriter {
  readonly #db: Db
  readonly #statements: Statements
  readonly #nowMs: () => number
  readonly #fanIn: number
  readonly #deadCountMin: number
  readonly #table: SegmentTable
  readonly #isPair: () => boolean
  readonly ids: SegmentIds
  #segments: StoredSegment[]
  /** Ranges of leaf keys that no segment owns. */
  #garbage: KeyRange[]
  #flushing: Job | null = null
  #merging: Job | null = null
  /** Tombstones when the dead were last counted by segment. */
  #deadJudged = -1

  constructor(db: Db, options: SegmentOptions = {}) {
    this.#db = db
    this.#table = options.table ?? 'seg'
    this.#isPair = options.isPair ?? (() => false)
    this.ids = options.ids ?? openSegmentIds(db)
    this.#statements = prepare(db, this.#table)
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#fanIn = options.fanIn ?? fanInDefault
    this.#deadCountMin = options.deadCountMin ?? deadCountMinDefault
    this.#segments = loadSegments(this.#statements)
    // One of the two looks for what a crash left: the next generation knows its own leavings only.
    this.#garbage = this.#table === 'seg' ? this.#leavings() : []
  }

  /** The last docno in stored segments, 0 for none. */
  watermark(): number {
    return this.#segments.at(-1)?.maxdoc ?? 0
  }

  isFlushing(): boolean {
    return this.#flushing !== null
  }

  /** Begins to write pending segments as one of the first level; `onDone` after its commit. A failed flush is forgotten: begin again. */
  flush(parts: readonly PackedSegment[], onDone: () => void): void {
    assert(this.#flushing === null && parts.length > 0)
    this.#flushing = this.#begin(0, [], parts.map(packedPart), onDone)
  }

  /** One slice, in its own transaction; false = nothing to do. A flush goes before a merge, so that little stays pending. */
  work(sliceMs: number): boolean {
    let job = this.#flushing ?? this.#merging
    if (job === null) {
      if (this.#collectGarbage()) return true
      job = this.#merging = this.#table === 'seg' && this.#isPair() ? null : this.#beginMerge()
      if (job === null) return false
    }
    this.#slice(job, sliceMs)
    return true
  }

  /** Leaves go later, in slices. */
  clear(): void {
    const watermark = this.watermark()
    this.#db.transaction(() => {
      // Tombstones above the watermark belong to postings that a reader may still hold.
      if (!this.#isPair()) this.#statements.dropTombstonesTo.run(watermark)
      this.#db.exec(`DELETE FROM ${this.#table}`)
    })
    for (const { id } of this.#segments) this.#discard(id)
    for (const job of [this.#flushing, this.#merging]) if (job !== null) this.#discard(job.id)
    this.#segments = []
    this.#flushing = null
    this.#merging = null
  }

  #leavings(): KeyRange[] {
    const owned = this.#statements.allIds.all().map(({ id }) => id)
    return gaps(owned, this.ids.end()).filter(
      ({ from, to }) => this.#statements.anyLeaf.get(from, to) !== undefined,
    )
  }

  #begin(
    level: number,
    replaced: readonly StoredSegment[],
    parts: readonly MergePart[],
    onDone: () => void,
  ): Job {
    const id = this.ids.next()
    const dead = this.#statements.deadWithin
      .all(parts[0]?.packed.first ?? 0, parts.at(-1)?.packed.last ?? 0)
      .map(({ docno }) => docno)
    const merge = createMerge(parts, dead, (bytes, n) => {
      assert(n < leavesPerSegmentMax)
      this.#statements.addLeaf.run(id * leavesPerSegmentMax + n, bytes)
    })
    return { id, level, replaced, dead, merge, onDone }
  }

  #beginMerge(): Job | null {
    const group = dueGroup(this.#segments, this.#fanIn) ?? this.#mostlyDead()
    if (group === null) return null
    const level = (group[0] as StoredSegment).level + (group.length > 1 ? 1 : 0)
    const parts = group.map((stored) => storedPart(this.#statements, stored))
    return this.#begin(level, group, parts, () => {})
  }

  #mostlyDead(): StoredSegment[] | null {
    // Noted for both generations they would stay, and call for the same merge again.
    if (this.#isPair()) return null
    const total = Number(this.#statements.countDead.value())
    if (total < this.#deadCountMin || total === this.#deadJudged) return null
    const worst = this.#segments.find(({ mindoc, maxdoc, documents }) => {
      const dead = Number(this.#statements.countDeadWithin.value(mindoc, maxdoc))
      return dead >= this.#deadCountMin && dead >= documents * deadShareMax
    })
    if (worst === undefined) this.#deadJudged = total
    return worst ? [worst] : null
  }

  #slice(job: Job, sliceMs: number): void {
    let stored: StoredSegment | null = null
    try {
      this.#db.transaction(() => {
        if (job.merge.run(this.#nowMs() + sliceMs, this.#nowMs)) stored = this.#swap(job)
      })
    } catch (error) {
      this.#end(job)
      this.#discard(job.id)
      throw error
    }
    if (stored === null) return
    this.#end(job)
    const replaced = new Set(job.replaced)
    this.#segments = [...this.#segments.filter((segment) => !replaced.has(segment)), stored]
    this.#segments.sort((a, b) => a.mindoc - b.mindoc)
    for (const { id } of replaced) this.#discard(id)
    this.#deadJudged = -1
    job.onDone()
  }

  /** New row, old rows and the tombstones that the merge obeyed, in the transaction of the last slice. */
  #swap(job: Job): StoredSegment {
    const { directory, lengths, terms } = job.merge.finish()
    for (const { id } of job.replaced) this.#statements.dropSegment.run(id)
    if (!this.#isPair()) for (const docno of job.dead) this.#statements.dropTombstone.run(docno)
    const stored: StoredSegment = {
      id: job.id,
      level: job.level,
      mindoc: job.merge.packed.first,
      maxdoc: job.merge.packed.last,
      nleaf: directory.length,
      documents: countDocuments(lengths),
    }
    const { id, level, mindoc, maxdoc, nleaf } = stored
    const names = Buffer.from(directory.join('\n'))
    this.#statements.addSegment.run(id, level, mindoc, maxdoc, nleaf, names, lengths, terms)
    return stored
  }

  #end(job: Job): void {
    if (this.#flushing === job) this.#flushing = null
    if (this.#merging === job) this.#merging = null
  }

  #discard(id: number): void {
    this.#garbage.push({ from: id * leavesPerSegmentMax, to: (id + 1) * leavesPerSegmentMax })
  }

  #collectGarbage(): boolean {
    const range = this.#garbage[0]
    if (range === undefined) return false
    const { changes } = this.#db.transaction(() =>
      this.#statements.dropLeaves.run(range.from, range.to, garbageLeavesMax),
    )
    if (changes < garbageLeavesMax) this.#garbage.shift()
    return true
  }
}

const prepare = (db: Db, table: SegmentTable) => ({
  segments: db.prepare<{
    id: number
    level: number
    mindoc: number
    maxdoc: number
    nleaf: number
    lens: Uint8Array
  }>(`SELECT id, level, mindoc, maxdoc, nleaf, lens FROM ${table} ORDER BY mindoc`),
  allIds: db.prepare<{ id: number }>(everyId),
  parts: db.prepare<{ dir: Uint8Array; lens: Uint8Array }>(
    `SELECT dir, lens FROM ${table} WHERE id=?`,
  ),
  anyLeaf: db.prepare<{ k: number }>('SELECT k FROM leaf WHERE k >= ? AND k < ? LIMIT 1'),
  leaf: db.prepare<{ b: Uint8Array }>('SELECT b FROM leaf WHERE k=?'),
  addLeaf: db.prepare('INSERT INTO leaf(k, b) VALUES (?, ?)'),
  dropLeaves: db.prepare(
    'DELETE FROM leaf WHERE k IN (SELECT k FROM leaf WHERE k >= ? AND k < ? LIMIT ?)',
  ),
  addSegment: db.prepare(
    `INSERT INTO ${table}(id, level, mindoc, maxdoc, nleaf, dir, lens, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  dropSegment: db.prepare(`DELETE FROM ${table} WHERE id=?`),
  countDead: db.prepare<{ n: number }>('SELECT count(*) AS n FROM tombstone'),
  countDeadWithin: db.prepare<{ n: number }>(
    'SELECT count(*) AS n FROM tombstone WHERE docno BETWEEN ? AND ?',
  ),
  deadWithin: db.prepare<{ docno: number }>(
    'SELECT docno FROM tombstone WHERE docno BETWEEN ? AND ?',
  ),
  dropTombstone: db.prepare('DELETE FROM tombstone WHERE docno=?'),
  dropTombstonesTo: db.prepare('DELETE FROM tombstone WHERE docno <= ?'),
})
type Statements = ReturnType<typeof prepare>

const loadSegments = (statements: Statements): StoredSegment[] =>
  statements.segments.all().map(({ lens, ...row }) => ({ ...row, documents: countDocuments(lens) }))

/** Above every segment and every leaf that a crash left: ids are never used twice while their leaves exist. */
export function openSegmentIds(db: Db): SegmentIds {
  const lastLeaf =
    db.prepare<{ k: number }>('SELECT coalesce(max(k), 0) AS k FROM leaf').value() ?? 0
  const lastId = db
    .prepare<{ id: number }>(`SELECT coalesce(max(id), 0) AS id FROM (${everyId})`)
    .value()
  let end = 1 + Math.max(Math.floor(lastLeaf / leavesPerSegmentMax), lastId ?? 0)
  return { next: () => end++, end: () => end }
}

/**
 * Within a transaction: the next generation takes the place of the one that answers, whose leaves belong to nobody from then on.
 * The dead that it does not hold are forgotten. Writers of either are to be opened anew.
 */
export function switchGenerations(db: Db): void {
  db.exec('DELETE FROM seg; INSERT INTO seg SELECT * FROM seg_next; DELETE FROM seg_next')
  const lensOf = db.prepare<{ mindoc: number; lens: Uint8Array }>(
    'SELECT mindoc, lens FROM seg WHERE mindoc <= ? AND maxdoc >= ?',
  )
  const drop = db.prepare('DELETE FROM tombstone WHERE docno=?')
  const dead = db.prepare<{ docno: number }>('SELECT docno FROM tombstone ORDER BY docno').all()
  let segment: { mindoc: number; lens: Uint8Array } | undefined
  for (const { docno } of dead) {
    const isWithin =
      segment && docno >= segment.mindoc && docno < segment.mindoc + segment.lens.length
    if (!isWithin) segment = lensOf.get(docno, docno)
    if (segment === undefined || segment.lens[docno - segment.mindoc] === 0) drop.run(docno)
  }
}

/**
 * Within a transaction: the index of link texts that was made takes the place of the one before.
 * @returns ids of segments whose leaves belong to nobody from then on
 */
export function switchLinks(db: Db): number[] {
  const before = db.prepare<{ id: number }>('SELECT id FROM link_seg').all()
  db.exec(
    'DELETE FROM link_seg; INSERT INTO link_seg SELECT * FROM link_seg_next; DELETE FROM link_seg_next',
  )
  return before.map(({ id }) => id)
}

/** A job cut off leaves leaves without a row in `seg`, also below the newest id where a flush overtook a merge. */
function gaps(ids: readonly number[], end: number): KeyRange[] {
  const found: KeyRange[] = []
  let from = 0
  for (const id of [...ids.toSorted((a, b) => a - b), end]) {
    if (from < id) found.push({ from: from * leavesPerSegmentMax, to: id * leavesPerSegmentMax })
    from = id + 1
  }
  return found
}

/** The oldest segments of the lowest level that is full. */
function dueGroup(segments: readonly StoredSegment[], fanIn: number): StoredSegment[] | null {
  const byLevel = Map.groupBy(segments, ({ level }) => level)
  for (const level of [...byLevel.keys()].toSorted((a, b) => a - b)) {
    const group = byLevel.get(level) ?? []
    if (group.length >= fanIn) return group.slice(0, fanIn)
  }
  return null
}

function storedPart(statements: Statements, stored: StoredSegment): MergePart {
  const row = statements.parts.get(stored.id)
  assert(row, `segment ${stored.id} has no row`)
  return {
    packed: { first: stored.mindoc, last: stored.maxdoc },
    directory: directoryOf(Buffer.from(row.dir).toString('utf8')),
    lengths: row.lens,
    leaf: (n) => {
      const leaf = statements.leaf.value(stored.id * leavesPerSegmentMax + n)
      assert(leaf, `segment ${stored.id} lacks leaf ${n}`)
      return currentLeaf(leaf, stored.mindoc)
    },
  }
}

const packedPart = (segment: PackedSegment): MergePart => ({
  packed: { first: segment.mindoc, last: segment.maxdoc },
  directory: directoryOf(segment.dir),
  lengths: segment.lens,
  leaf: packedLeaves(segment),
})

function countDocuments(lengths: Uint8Array): number {
  let count = 0
  for (const code of lengths) if (code > 0) count += 1
  return count
}
