/** The door to FlexSearch: it inverts documents and runs queries, through a storage adapter that packs postings and ranks by itself. */
import assert from 'node:assert'
import { Index } from 'flexsearch'
import type { Db } from '../lib/sqlite.ts'
import { completeTerms } from './complete.ts'
import {
  type IndexAnswer,
  type IndexedDocument,
  type IndexQuery,
  type IndexReader,
  type IndexWriter,
  type PackedSegment,
  termsOf,
} from './index.ts'
import { PostingMap } from './inverted.ts'
import { isPackable, lengths, quantMax } from './codes.ts'
import { lengthNorm } from './link-score.ts'
import { LinkSnapshot } from './link-snapshot.ts'
import { createScorer } from './score.ts'
import { type SegmentOptions, SegmentWriter } from './segments.ts'
import { Snapshot } from './snapshot.ts'

/** More terms of one document are cut off: FlexSearch must never see what could make it slow. */
export const documentTermsMax = 20_000
/** Pending documents become a stored segment at the first of these. */
const pendingDocumentsMax = 2_000
const pendingBytesMax = 4 * 1_024 * 1_024
const pendingAgeMsMax = 30_000

/**
 * FlexSearch 0.8.212 as far as we use it: its types know neither custom adapters nor content that is no string.
 * `map`: term -> slot -> docnos, slot = what the score hook returned, 0 the best. The writer puts a map of its own there.
 */
type FlexIndex = {
  map: Pick<PostingMap, 'get' | 'set' | 'clear'>
  ctx: Map<string, unknown>
  reg: Set<number>
  commit_task: unknown[]
  add(docno: number, content: IndexedDocument): void
  /** Hands over to the adapter, and returns what that returns. */
  mount(adapter: StorageAdapter): void
  commit(): PackedSegment
  search(question: Question, options: { limit: number; suggest: boolean }): IndexAnswer
}

/** What FlexSearch asks of a store. `mount` has to set `db` on the index. */
type StorageAdapter = {
  mount(index: FlexIndex & { db?: StorageAdapter }): void
  commit(index: FlexIndex): PackedSegment
  search(index: FlexIndex, terms: readonly string[], limit: number): IndexAnswer
}

type Question = {
  query: IndexQuery
  deadlineMs: number
  accept: ((docno: number) => boolean) | undefined
  fresh: ((docno: number) => number) | null
  countMin: number | undefined
}

type Flex = {
  encode: (content: IndexedDocument | Question) => readonly string[]
  score?: (content: readonly string[], term: string, i: number) => number
}

/** `strict`: a term is indexed as it is. The other tokenizers cut terms to pieces, and one of them can exhaust the heap. */
function createFlexIndex({ encode, score }: Flex, adapter: StorageAdapter): FlexIndex {
  const options = {
    tokenize: 'strict',
    resolution: quantMax + 1,
    commit: false,
    encoder: { encode },
    score,
  }
  // Justified: the published types do not cover the storage interface that the library has.
  const index = new Index(options as object) as unknown as FlexIndex
  index.mount(adapter)
  return index
}

export type WriterOptions = SegmentOptions & {
  pendingDocumentsMax?: number
  pendingBytesMax?: number
  pendingAgeMsMax?: number
}

/** @param db the engine's writable connection, with the schema in place */
export function createIndexWriter(db: Db, options: WriterOptions = {}): IndexWriter {
  const nowMs = options.nowMs ?? (() => performance.now())
  const segments = new SegmentWriter(db, options)
  const inverter = createInverter()
  let pending: PackedSegment[] = []
  let pendingSinceMs = 0
  let lastDocno = segments.watermark()

  const pendingBytes = (): number => pending.reduce((sum, part) => sum + bytesOf(part), 0)
  const isFlushDue = (): boolean =>
    pending.reduce((sum, part) => sum + part.lens.length, 0) >=
      (options.pendingDocumentsMax ?? pendingDocumentsMax) ||
    pendingBytes() >= (options.pendingBytesMax ?? pendingBytesMax) ||
    nowMs() - pendingSinceMs >= (options.pendingAgeMsMax ?? pendingAgeMsMax)

  return {
    apply(documents) {
      // After a crash the store hands documents over again that are in already.
      const fresh = documents.filter(({ docno }) => docno > lastDocno)
      if (fresh.length === 0) return null
      const segment = inverter.invert(fresh)
      if (pending.length === 0) pendingSinceMs = nowMs()
      pending.push(segment)
      lastDocno = segment.maxdoc
      return copyOf(segment)
    },
    watermark: () => segments.watermark(),
    ids: segments.ids,
    pendingBytes,
    pending: () => pending.map(copyOf),
    work(sliceMs, force) {
      if (pending.length > 0 && !segments.isFlushing() && (force || isFlushDue())) {
        const parts = [...pending]
        segments.flush(parts, () => {
          pending = pending.slice(parts.length)
          pendingSinceMs = nowMs()
        })
      }
      return segments.work(sliceMs)
    },
    clear() {
      segments.clear()
      pending = []
      lastDocno = 0
    },
  }
}

/** @param db a connection of the reader's own; it never writes */
export function createIndexReader(db: Db): IndexReader {
  const snapshot = new Snapshot(db)
  const links = new LinkSnapshot(db)
  const scorer = createScorer(snapshot, links)
  let question: Question | null = null
  const index = createFlexIndex(
    {
      // FlexSearch asks the adapter's `search` for everything but a single term: the blank one keeps it to one way.
      encode: (content) => {
        question = content as Question
        return [...question.query.words.map(({ term }) => term), '', '']
      },
    },
    {
      mount(mounted) {
        mounted.db = this
      },
      commit: () => assert.fail('a reader never writes'),
      search: (_index, _terms, limit) => {
        assert(question)
        const { query, deadlineMs, accept, fresh, countMin } = question
        question = null
        return scorer.search(query, limit, deadlineMs, accept, fresh, countMin)
      },
    },
  )

  return {
    addPending: (segment) => snapshot.addPending(segment),
    begin() {
      db.exec('BEGIN')
      try {
        snapshot.refresh()
        links.refresh(snapshot.version())
      } catch (error) {
        db.exec('ROLLBACK')
        throw error
      }
    },
    end: () => db.exec('COMMIT'),
    search: (query, limit, deadlineMs, accept, fresh = null, countMin) =>
      index.search({ query, deadlineMs, accept, fresh, countMin }, { limit, suggest: true }),
    standing: (docno) => links.standings()[docno] ?? 0,
    explain: (query, docnos) => scorer.explain(query, docnos),
    complete: (prefix, limit, length) => completeTerms(snapshot.views(), prefix, limit, length),
    documents: () => snapshot.documents(),
    living: () => snapshot.codes(),
    frequency: (term) => scorer.frequency(term),
    parts: () => scorer.counts.parts(),
    frequencyIn: (term, part) => scorer.counts.frequencyIn(term, part),
    postings: (term, deadlineMs) => scorer.postings(term, deadlineMs),
    pairHolders: (pair, deadlineMs) => scorer.pairHolders(pair, deadlineMs),
    docnoLimit: () => snapshot.codes().length,
    isLiving: (docno) => (snapshot.codes()[docno] ?? 0) > 0,
    lengthNorm: (docno) =>
      lengthNorm(lengths[snapshot.codes()[docno] ?? 0] ?? 0, snapshot.meanLength()),
  }
}

/** Turns documents into a packed segment: FlexSearch inverts into our map, `commit` packs that and empties it before it returns. */
function createInverter(): { invert(documents: readonly IndexedDocument[]): PackedSegment } {
  const postings = new PostingMap()
  let currentQuants: Uint8Array = new Uint8Array()
  let batch: readonly IndexedDocument[] = []
  const index = createFlexIndex(
    {
      encode: (content) => {
        const { terms, quants } = withinLimits(content as IndexedDocument)
        currentQuants = quants
        return postings.begin(terms)
      },
      score: (_content, _term, i) => {
        postings.see(i)
        return currentQuants[i] as number
      },
    },
    {
      mount(mounted) {
        mounted.db = this
        mounted.map = postings
      },
      commit(committed) {
        const segment = postings.pack(batch)
        postings.clear()
        committed.ctx.clear()
        committed.reg.clear()
        committed.commit_task.length = 0
        return segment
      },
      search: () => assert.fail('a writer never searches'),
    },
  )
  return {
    invert(documents) {
      batch = documents
      for (const document of documents) index.add(document.docno, document)
      return index.commit()
    },
  }
}

/** The terms that the index takes, with their quants. */
function withinLimits(document: IndexedDocument): { terms: readonly string[]; quants: Uint8Array } {
  const terms = termsOf(document)
  if (terms.length <= documentTermsMax && terms.every(isPackable))
    return { terms, quants: document.quants }
  const kept: string[] = []
  const quants: number[] = []
  for (let i = 0; i < terms.length && kept.length < documentTermsMax; i += 1) {
    const term = terms[i] as string
    if (!isPackable(term)) continue
    kept.push(term)
    quants.push(document.quants[i] as number)
  }
  return { terms: kept, quants: Uint8Array.from(quants) }
}

const bytesOf = ({ leaves, lens, ends, dir }: PackedSegment): number =>
  leaves.byteLength + lens.byteLength + ends.byteLength + dir.length

/** Buffers that are handed over are gone for the sender: the writer keeps its own. */
const copyOf = (segment: PackedSegment): PackedSegment => ({
  ...segment,
  lens: segment.lens.slice(),
  leaves: segment.leaves.slice(0),
  ends: segment.ends.slice(),
})
