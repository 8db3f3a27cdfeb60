/** Proves the stored index: every document in exactly one segment, every posting of a document that is there. Mends nothing. */
import type { Db } from '../lib/sqlite.ts'
import { currentLeaf } from './first-format.ts'
import { docnoOfKey, isPairTerm } from './pairs.ts'
import { leavesPerSegmentMax, type SegmentTable } from './segments.ts'
import { TermCursor } from './postings.ts'
import { directoryOf } from './segment-view.ts'

type SegmentRow = {
  id: number
  mindoc: number
  maxdoc: number
  nleaf: number
  dir: Uint8Array
  lens: Uint8Array
}

const examplesMax = 3

/** @returns one sentence per fault, [] for a sound index. Reads every leaf. */
export function checkIndex(db: Db): string[] {
  return db.snapshot(() => [...checkGeneration(db, 'seg'), ...checkNext(db), ...checkLinks(db)])
}

/** Directories of earlier versions have no place for one. */
function checkNext(db: Db): string[] {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'seg_next'").get()
  if (isThere === undefined) return []
  return checkGeneration(db, 'seg_next').map((problem) => `the next generation: ${problem}`)
}

/** It is of the documents of some time before, so only its own form is proved. */
function checkLinks(db: Db): string[] {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'link_seg'").get()
  if (isThere === undefined) return []
  return db
    .prepare<SegmentRow>(
      'SELECT id, mindoc, maxdoc, nleaf, dir, lens FROM link_seg ORDER BY mindoc',
    )
    .all()
    .flatMap((segment) => checkSegment(db, segment))
    .map((problem) => `the index of link texts: ${problem}`)
}

function checkGeneration(db: Db, table: SegmentTable): string[] {
  const problems: string[] = []
  const say = (what: string, docnos: readonly number[]): void => {
    if (docnos.length > 0)
      problems.push(`${what} (${docnos.length}: ${docnos.slice(0, examplesMax).join(', ')})`)
  }
  const segments = db
    .prepare<SegmentRow>(
      `SELECT id, mindoc, maxdoc, nleaf, dir, lens FROM ${table} ORDER BY mindoc`,
    )
    .all()
  const indexed = new Set<number>()
  let watermark = 0
  for (const segment of segments) {
    if (segment.mindoc <= watermark)
      problems.push(`segment ${segment.id} overlaps the one before it`)
    watermark = segment.maxdoc
    problems.push(...checkSegment(db, segment))
    for (const [i, code] of segment.lens.entries()) if (code !== 0) indexed.add(segment.mindoc + i)
  }
  const dead = new Set(
    db
      .prepare<{ docno: number }>('SELECT docno FROM tombstone')
      .all()
      .map(({ docno }) => docno),
  )
  const living = db
    .prepare<{ docno: number }>('SELECT docno FROM doc WHERE copy_of IS NULL AND docno <= ?')
    .all(watermark)
  const missing: number[] = []
  for (const { docno } of living) if (!indexed.delete(docno)) missing.push(docno)
  say('documents below the watermark that no segment holds', missing)
  say(
    'documents in the index that are neither stored nor buried',
    [...indexed].filter((docno) => !dead.has(docno)),
  )
  return problems
}

function checkSegment(db: Db, { id, mindoc, maxdoc, nleaf, dir, lens }: SegmentRow): string[] {
  if (lens.length !== maxdoc - mindoc + 1)
    return [`segment ${id} has ${lens.length} lengths for documents ${mindoc} to ${maxdoc}`]
  const leaf = db.prepare<{ b: Uint8Array }>('SELECT b FROM leaf WHERE k=?')
  const directory = directoryOf(Buffer.from(dir).toString())
  if (directory.length !== nleaf)
    return [`segment ${id} has ${nleaf} leaves and ${directory.length} directory entries`]
  const cursor = new TermCursor({
    packed: { first: mindoc, last: maxdoc },
    directory,
    leaf: (n) => currentLeaf(leaf.get(id * leavesPerSegmentMax + n)?.b ?? new Uint8Array(), mindoc),
  })
  let last = ''
  for (; cursor.term !== null; cursor.advance()) {
    const { term, postings } = cursor
    if (last !== '' && term <= last) return [`segment ${id}: term "${term}" stands after "${last}"`]
    last = term
    const isPair = isPairTerm(term)
    let previous = -1
    for (let i = 0; i < postings.count; i++) {
      const value = postings.docnos[i] ?? -1
      const docno = isPair ? docnoOfKey(value, { first: mindoc, last: maxdoc }) : value
      const isKnown = docno >= mindoc && docno <= maxdoc && lens[docno - mindoc] !== 0
      if (value <= previous || !isKnown)
        return [
          `segment ${id}: term "${term}" has a posting of document ${docno}, which it does not hold`,
        ]
      previous = value
    }
  }
  return []
}
