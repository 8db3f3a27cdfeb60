/** Keeps the index in step with the store: takes each batch, hands it to the search thread, flushes and merges in slices, replays at start. */
import { statSync } from 'node:fs'
import type { MessagePort } from 'node:worker_threads'
import type { Committed } from './crawl/commit.ts'
import type { Log } from './lib/log.ts'
import { sendEvent } from './lib/rpc.ts'
import { isDiskFull, truncateWal } from './lib/sqlite.ts'
import type { Profile } from './memory.ts'
import { createIndexWriter } from './search/flex.ts'
import type { IndexedDocument, IndexWriter, PackedSegment } from './search/index.ts'
import type { Store } from './store/store.ts'
import type { StoredText } from './store/read-documents.ts'
import type { Analyzer } from './text/tokenize.ts'

const sliceMs = 25
const replayDocuments = 200
/** How often pending postings are looked at when nothing else happens. */
const restMs = 5_000
/** After a full disk. */
const retryMs = 5_000
const logBytesMax = 16 * 1024 * 1024
const guardRestMs = 2_000

export class IndexKeeper {
  readonly #store: Store
  readonly #analyzer: Analyzer
  readonly #log: Log
  readonly #writer: IndexWriter
  readonly #pendingBytesMax: number
  #search: MessagePort | null = null
  #isScheduled = false
  #isForced = false
  #timer: NodeJS.Timeout | null = null
  #isClosed = false
  #guardAtMs = 0
  #spentMs = 0

  /** Catches up with what was committed after the last stored segment. */
  constructor(store: Store, analyzer: Analyzer, log: Log, pending: Profile['pending']) {
    this.#store = store
    this.#analyzer = analyzer
    this.#log = log
    this.#pendingBytesMax = pending.bytesMax
    this.#writer = createIndexWriter(store.db, {
      pendingBytesMax: pending.bytesMax,
      pendingAgeMsMax: pending.ageMsMax,
    })
    const version = String(analyzer.version)
    const stored = store.meta.get('analyzer')
    if (stored !== version) {
      if (stored !== null)
        log('info', 'the analyzer is new: the index is made again', { was: stored, is: version })
      this.#writer.clear()
      store.transaction(() => store.meta.set('analyzer', version))
    }
    const replayed = this.#replay(this.#writer.watermark())
    if (replayed > 0)
      log('info', 'documents indexed again after the last stop', { documents: replayed })
  }

  /** The search thread is there: it gets what is pending, and every later batch. */
  link(search: MessagePort): void {
    this.#search = search
    search.unref()
    for (const segment of this.#writer.pending()) this.#hand(segment)
  }

  /** After a commit. */
  take({ documents, promoted }: Committed): void {
    const risen = promoted
      .map((docno) => this.#store.textByDocno(docno))
      .filter((text) => text !== null)
    const all = [...documents, ...risen.map((text) => this.#analyse(text))]
    this.#apply(all.toSorted((a, b) => a.docno - b.docno))
    this.#guardLog()
    this.#schedule()
  }

  /**
   * SQLite's own checkpoint is passive: with readers that overlap it never empties the log. So a guard by size, which waits a
   * moment for a gap between them.
   */
  #guardLog(): void {
    const log = statSync(`${this.#store.db.file}-wal`, { throwIfNoEntry: false })
    if (log === undefined || log.size < logBytesMax || Date.now() < this.#guardAtMs) return
    if (!truncateWal(this.#store.db)) this.#guardAtMs = Date.now() + guardRestMs
  }

  keepWorking(): void {
    this.#schedule()
  }

  /** The crawl is idle: what is pending becomes a segment, and the log is emptied. */
  settle(): void {
    this.#isForced = true
    this.#schedule()
  }

  /** Everything pending is in stored segments, every merge is done. */
  async finish(): Promise<void> {
    while (this.#work(true)) await nextTurn()
  }

  /** Clears the index and makes it again from the stored documents. @returns how many it holds */
  async rebuild(): Promise<number> {
    this.#writer.clear()
    let last = 0
    let count = 0
    for (;;) {
      const texts = this.#store.documentsAfter(last, replayDocuments)
      if (texts.length === 0) break
      last = texts.at(-1)?.docno ?? last
      count += texts.length
      this.#apply(texts.map((text) => this.#analyse(text)))
      while (this.#work(false)) await nextTurn()
    }
    await this.finish()
    return count
  }

  /** Time spent on inverting, flushing and merging since the start. */
  spentMs(): number {
    return this.#spentMs
  }

  close(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    try {
      while (this.#writer.work(1_000, true));
      truncateWal(this.#store.db)
    } catch (error) {
      // Postings are derived: what is not written now is replayed at the next start.
      if (!isDiskFull(error)) throw error
      this.#log('warn', 'no room to write the index; it is completed at the next start')
    }
  }

  #replay(watermark: number): number {
    let last = watermark
    let count = 0
    for (;;) {
      const texts = this.#store.documentsAfter(last, replayDocuments)
      if (texts.length === 0) return count
      last = texts.at(-1)?.docno ?? last
      count += texts.length
      this.#apply(texts.map((text) => this.#analyse(text)))
      while (
        this.#writer.pendingBytes() > this.#pendingBytesMax &&
        this.#writer.work(1_000, false)
      );
    }
  }

  #analyse(text: StoredText): IndexedDocument {
    return { docno: text.docno, ...this.#analyzer.document(text) }
  }

  #apply(documents: readonly IndexedDocument[]): void {
    const startMs = performance.now()
    const segment = this.#writer.apply(documents)
    if (segment !== null) this.#hand(segment)
    this.#spentMs += performance.now() - startMs
  }

  #hand(segment: PackedSegment): void {
    if (this.#search === null) return
    sendEvent(this.#search, 'pending', segment, [
      segment.leaves,
      segment.lens.buffer,
      segment.ends.buffer,
    ])
  }

  #schedule(delayMs = 0): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const turn = (): void => {
      this.#isScheduled = false
      if (this.#isClosed) return
      if (this.#work(this.#isForced)) return this.#schedule()
      if (this.#isForced) {
        this.#isForced = false
        truncateWal(this.#store.db)
      }
      // Pending postings are written after half a minute at the latest, also when no further batch comes.
      if (this.#writer.pendingBytes() > 0) this.#timer = setTimeout(() => this.#schedule(), restMs)
    }
    if (delayMs === 0) setImmediate(turn)
    else this.#timer = setTimeout(turn, delayMs)
  }

  /** One slice; true while more is to be done. */
  #work(isForced: boolean): boolean {
    const startMs = performance.now()
    try {
      return this.#writer.work(sliceMs, isForced)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      this.#log('warn', 'no room to write the index; tried again later')
      this.#timer = setTimeout(() => this.#schedule(), retryMs)
      return false
    } finally {
      this.#spentMs += performance.now() - startMs
    }
  }
}

const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done))
