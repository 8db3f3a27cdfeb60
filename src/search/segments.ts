/** The segments in SQLite: flushes pending ones, merges stored ones in tiers, clears up, all in slices. Only the engine writes; readers use snapshot.ts. */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'
import type { PackedSegment } from './index.ts'
import { createMerge, type Merge, type MergePart } from './merge.ts'
import { directoryOf, packedLeaves } from './postings.ts'

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

export type SegmentOptions = { nowMs?: () => number; fanIn?: number; deadCountMin?: number }

export type SegmentWriter = {
  /** The last docno in stored segments, 0 for none. */
  watermark(): number
  isFlushing(): boolean
  /** Begins to write pending segments as one of the first level; `onDone` after its commit. A failed flush is forgotten: begin again. */
  flush(parts: readonly PackedSegment[], onDone: () => void): void
  /** One slice, in its own transaction; false = nothing to do. */
  work(sliceMs: number): boolean
  clear(): void
}

/**
 * A log-structured merge tree over the tables seg and leaf. What is not in `seg` does not exist: leaves of an unfinished job are
 * invisible, and removed by the next start. Levels fall with growing docnos, so the segments of one level are neighbours.
 */
export function createSegmentWriter(db: Db, options: SegmentOptions = {}): SegmentWriter {
  const nowMs = options.nowMs ?? (() => performance.now())
  const fanIn = options.fanIn ?? fanInDefault
  const deadCountMin = options.deadCountMin ?? deadCountMinDefault
  const statements = prepare(db)
  let segments = loadSegments(statements)
  let nextId = firstFreeId(statements, segments)
  /** Ranges of leaf keys that no segment owns. */
  const garbage = gaps(segments, nextId).filter(
    ({ from, to }) => statements.anyLeaf.get(from, to) !== undefined,
  )
  let flushing: Job | null = null
  let merging: Job | null = null
  /** Tombstones when the dead were last counted by segment. */
  let deadJudged = -1

  const begin = (
    level: number,
    replaced: readonly StoredSegment[],
    parts: readonly MergePart[],
    onDone: () => void,
  ): Job => {
    const id = nextId
    nextId += 1
    const dead = statements.deadWithin
      .all(parts[0]?.firstDocno ?? 0, parts.at(-1)?.lastDocno ?? 0)
      .map(({ docno }) => docno)
    const merge = createMerge(parts, dead, (bytes, n) => {
      assert(n < leavesPerSegmentMax)
      statements.addLeaf.run(id * leavesPerSegmentMax + n, bytes)
    })
    return { id, level, replaced, dead, merge, onDone }
  }

  const beginMerge = (): Job | null => {
    const group = dueGroup(segments, fanIn) ?? mostlyDead()
    if (group === null) return null
    const level = (group[0] as StoredSegment).level + (group.length > 1 ? 1 : 0)
    return begin(
      level,
      group,
      group.map((stored) => storedPart(statements, stored)),
      () => {},
    )
  }

  const mostlyDead = (): StoredSegment[] | null => {
    const total = Number(statements.countDead.value())
    if (total < deadCountMin || total === deadJudged) return null
    const worst = segments.find(({ mindoc, maxdoc, documents }) => {
      const dead = Number(statements.countDeadWithin.value(mindoc, maxdoc))
      return dead >= deadCountMin && dead >= documents * deadShareMax
    })
    if (worst === undefined) deadJudged = total
    return worst ? [worst] : null
  }

  /** The swap: new row, old rows and the tombstones that the merge obeyed, in the transaction of the last slice. */
  const finish = (job: Job): StoredSegment => {
    const { directory, lengths } = job.merge.finish()
    for (const { id } of job.replaced) statements.dropSegment.run(id)
    for (const docno of job.dead) statements.dropTombstone.run(docno)
    const stored: StoredSegment = {
      id: job.id,
      level: job.level,
      mindoc: job.merge.firstDocno,
      maxdoc: job.merge.lastDocno,
      nleaf: directory.length,
      documents: countDocuments(lengths),
    }
    statements.addSegment.run(
      stored.id,
      stored.level,
      stored.mindoc,
      stored.maxdoc,
      stored.nleaf,
      Buffer.from(directory.join('\n')),
      lengths,
    )
    return stored
  }

  const slice = (job: Job, sliceMs: number): void => {
    let stored: StoredSegment | null = null
    try {
      db.transaction(() => {
        if (job.merge.run(nowMs() + sliceMs, nowMs)) stored = finish(job)
      })
    } catch (error) {
      end(job)
      discard(job.id)
      throw error
    }
    if (stored === null) return
    end(job)
    const replaced = new Set(job.replaced)
    segments = [...segments.filter((segment) => !replaced.has(segment)), stored]
    segments.sort((a, b) => a.mindoc - b.mindoc)
    for (const { id } of replaced) discard(id)
    deadJudged = -1
    job.onDone()
  }

  const end = (job: Job): void => {
    if (flushing === job) flushing = null
    if (merging === job) merging = null
  }

  const discard = (id: number): void => {
    garbage.push({ from: id * leavesPerSegmentMax, to: (id + 1) * leavesPerSegmentMax })
  }

  const collectGarbage = (): boolean => {
    const range = garbage[0]
    if (range === undefined) return false
    const { changes } = db.transaction(() =>
      statements.dropLeaves.run(range.from, range.to, garbageLeavesMax),
    )
    if (changes < garbageLeavesMax) garbage.shift()
    return true
  }

  return {
    watermark: () => segments.at(-1)?.maxdoc ?? 0,
    isFlushing: () => flushing !== null,
    flush(parts, onDone) {
      assert(flushing === null && parts.length > 0)
      flushing = begin(0, [], parts.map(packedPart), onDone)
    },
    work(sliceMs) {
      const job = flushing ?? merging
      if (job === null) {
        if (collectGarbage()) return true
        merging = beginMerge()
        if (merging === null) return false
      }
      slice(job ?? (merging as Job), sliceMs)
      return true
    },
    clear() {
      const watermark = segments.at(-1)?.maxdoc ?? 0
      db.transaction(() => {
        // Tombstones above the watermark belong to postings that a reader may still hold.
        statements.dropTombstonesTo.run(watermark)
        db.exec('DELETE FROM seg; DELETE FROM leaf')
      })
      segments = []
      garbage.length = 0
      flushing = null
      merging = null
    },
  }
}

const prepare = (db: Db) => ({
  segments: db.prepare<{
    id: number
    level: number
    mindoc: number
    maxdoc: number
    nleaf: number
    lens: Uint8Array
  }>('SELECT id, level, mindoc, maxdoc, nleaf, lens FROM seg ORDER BY mindoc'),
  parts: db.prepare<{ dir: Uint8Array; lens: Uint8Array }>('SELECT dir, lens FROM seg WHERE id=?'),
  lastLeaf: db.prepare<{ k: number }>('SELECT coalesce(max(k), 0) AS k FROM leaf'),
  anyLeaf: db.prepare<{ k: number }>('SELECT k FROM leaf WHERE k >= ? AND k < ? LIMIT 1'),
  leaf: db.prepare<{ b: Uint8Array }>('SELECT b FROM leaf WHERE k=?'),
  addLeaf: db.prepare('INSERT INTO leaf(k, b) VALUES (?, ?)'),
  dropLeaves: db.prepare(
    'DELETE FROM leaf WHERE k IN (SELECT k FROM leaf WHERE k >= ? AND k < ? LIMIT ?)',
  ),
  addSegment: db.prepare(
    'INSERT INTO seg(id, level, mindoc, maxdoc, nleaf, dir, lens) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ),
  dropSegment: db.prepare('DELETE FROM seg WHERE id=?'),
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
const firstFreeId = (statements: Statements, segments: readonly StoredSegment[]): number =>
  1 +
  Math.max(
    Math.floor((statements.lastLeaf.get()?.k ?? 0) / leavesPerSegmentMax),
    ...segments.map(({ id }) => id),
  )

/** A job cut off leaves leaves without a row in `seg`, also below the newest id where a flush overtook a merge. */
function gaps(segments: readonly StoredSegment[], end: number): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  let from = 0
  for (const id of [...segments.map((segment) => segment.id).toSorted((a, b) => a - b), end]) {
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
    firstDocno: stored.mindoc,
    lastDocno: stored.maxdoc,
    directory: directoryOf(Buffer.from(row.dir).toString('utf8')),
    lengths: row.lens,
    leaf: (n) => {
      const leaf = statements.leaf.get(stored.id * leavesPerSegmentMax + n)
      assert(leaf, `segment ${stored.id} lacks leaf ${n}`)
      return leaf.b
    },
  }
}

const packedPart = (segment: PackedSegment): MergePart => ({
  firstDocno: segment.mindoc,
  lastDocno: segment.maxdoc,
  directory: directoryOf(segment.dir),
  lengths: segment.lens,
  leaf: packedLeaves(segment),
})

function countDocuments(lengths: Uint8Array): number {
  let count = 0
  for (const code of lengths) if (code > 0) count += 1
  return count
}
