/** Keeps the index in step with the store: takes each batch, hands it to the search thread, flushes and merges in slices, replays at start, makes it anew beside the old one. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import type { Committed } from './crawl/commit.ts'
import { type BuildProgress, IndexBuild, isUnfinished, type Recipe } from './index-build.ts'
import { LinkIndex } from './link-index.ts'
import { AppError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { sendEvent } from './lib/rpc.ts'
import { isDiskFull, truncateWal } from './lib/sqlite.ts'
import type { Profile } from './memory.ts'
import { createIndexWriter } from './search/flex.ts'
import {
  type IndexedDocument,
  type IndexWriter,
  type PackedSegment,
  termsOf,
} from './search/index.ts'
import type { Store } from './store/store.ts'
import type { StoredText } from './store/read-documents.ts'
import type { Dictionary } from './text/dictionary.ts'
import { DOCUMENT_TERMS_MAX } from './text/document-terms.ts'
import { BIGRAM_PREFIX, createAnalyzer } from './text/tokenize.ts'
import { analyzerKey, beginningsOf, withUserWords } from './text/user-words.ts'
import { createWordsFile, wordsFileName } from './words-file.ts'

const sliceMs = 25
const replayDocuments = 200
/** How often pending postings are looked at when nothing else happens. */
const restMs = 5_000
/** After a full disk. */
const retryMs = 5_000
const logBytesMax = 16 * 1024 * 1024
const guardRestMs = 2_000
/** So long after the last batch nobody is busy. */
const quietMs = 10_000
/** How often `words.txt` is looked at. */
const wordsMs = 1_000
/** So few are indexed anew before the start is over: a second, or less. */
const documentsAtOnceMax = 500

export type ReindexProgress = { running: boolean } & BuildProgress

export class IndexKeeper {
  readonly #store: Store
  readonly #dictionary: Dictionary
  readonly #log: Log
  readonly #pending: Profile['pending']
  readonly #wordsFile: ReturnType<typeof createWordsFile>
  readonly #wordsTimer: NodeJS.Timeout
  #wished: readonly string[] = []
  /** What the index that answers is made with, and terms of pages that its words may be on. */
  #recipe: Recipe
  #beginnings: ReadonlySet<string>
  #writer: IndexWriter
  #build: IndexBuild | null = null
  /** Whatever the words are: a change of them that is taken back ends no wish. */
  #isReindexWished = false
  readonly #links: LinkIndex
  /** No page came since a while: time for what can wait. */
  #quietAtMs = 0
  #search: MessagePort | null = null
  #isScheduled = false
  #isForced = false
  #timer: NodeJS.Timeout | null = null
  #isClosed = false
  #guardAtMs = 0
  #spentMs = 0

  /** Catches up with what was committed after the last stored segment. */
  constructor(store: Store, dictionary: Dictionary, log: Log, pending: Profile['pending']) {
    this.#store = store
    this.#links = new LinkIndex(store)
    this.#dictionary = dictionary
    this.#log = log
    this.#pending = pending
    this.#wordsFile = createWordsFile(dirname(store.db.file))
    this.#readWords()
    const stored = store.meta.get('analyzer')
    if (stored === null)
      store.transaction(() => {
        store.meta.set('analyzer', analyzerKey(this.#wished))
        store.meta.set('words', this.#wished.join('\n'))
      })
    this.#recipe = this.#recipeOf(linesOf(store.meta.get('words')))
    this.#beginnings = beginningsOf(this.#recipe.words)
    this.#writer = this.#openWriter()
    const replayed = this.#replay(this.#writer.watermark())
    if (replayed > 0)
      log('info', 'documents indexed again after the last stop', { documents: replayed })
    this.#buildWhereDue()
    this.#wordsTimer = setInterval(() => this.#lookAtWords(), wordsMs).unref()
  }

  #recipeOf(words: readonly string[]): Recipe {
    const analyzer = createAnalyzer(withUserWords(this.#dictionary, words))
    return { key: analyzerKey(words), words, analyzer }
  }

  #openWriter(ids?: IndexWriter['ids']): IndexWriter {
    const { bytesMax, ageMsMax } = this.#pending
    return createIndexWriter(this.#store.db, {
      pendingBytesMax: bytesMax,
      pendingAgeMsMax: ageMsMax,
      isPair: () => this.#build !== null,
      ...(ids ? { ids } : {}),
    })
  }

  /** At start: the index was made otherwise than it would be now, or its remaking was cut off. */
  #buildWhereDue(): void {
    const { meta, db } = this.#store
    const key = analyzerKey(this.#wished)
    const [stored, isCutOff] = [meta.get('analyzer'), isUnfinished(this.#store, key)]
    if (stored === key && !isCutOff) {
      // One with words that are no longer wished.
      if ((meta.get('next_analyzer') ?? '') !== '') this.#beginBuild().abandon()
      this.#build = null
      return
    }
    this.#log('info', 'the index is made again', { was: stored, is: key, goesOn: isCutOff })
    const build = this.#beginBuild()
    const documents = db.prepare<{ n: number }>('SELECT count(*) AS n FROM doc').value() ?? 0
    if (documents > documentsAtOnceMax) return
    while (!build.step(1_000));
    this.#takeOver(build)
  }

  #beginBuild(): IndexBuild {
    const recipe = this.#recipeOf(this.#wished)
    this.#build = new IndexBuild(this.#store, recipe, this.#writer.ids, {
      pendingBytesMax: this.#pending.bytesMax,
    })
    return this.#build
  }

  /** The new generation answers: the search thread sees it with the next transaction that it reads in. */
  #takeOver({ recipe }: IndexBuild): void {
    const { ids } = this.#writer
    this.#build = null
    this.#isReindexWished = false
    this.#recipe = recipe
    this.#beginnings = beginningsOf(recipe.words)
    this.#writer = this.#openWriter(ids)
    this.#log('info', 'the new index answers', { analyzer: recipe.key })
  }

  #readWords(): boolean {
    const reading = this.#wordsFile()
    if (reading === null) return false
    for (const problem of reading.problems) this.#log('warn', `${wordsFileName}, ${problem}`)
    this.#wished = reading.words
    return true
  }

  #lookAtWords(): void {
    if (this.#isClosed || !this.#readWords()) return
    const key = analyzerKey(this.#wished)
    if (key === this.#build?.recipe.key) return
    // By what the index was made with: an older analyzer may have made it, with the very words that are wished again.
    const isRight = key === this.#store.meta.get('analyzer') && !this.#isReindexWished
    if (this.#build === null && isRight) return
    this.#build?.abandon()
    this.#build = null
    if (isRight) return
    this.#log('info', `${wordsFileName} has changed: the index is made again`, {
      words: this.#wished.length,
    })
    this.#beginBuild()
    this.#schedule()
  }

  /** Begins to make the index again, in the background; one that is under way goes on. */
  reindex(): ReindexProgress {
    this.#isReindexWished = true
    if (this.#build === null) {
      this.#beginBuild()
      this.#links.forget()
      this.#schedule()
    }
    return this.reindexProgress()
  }

  reindexProgress(): ReindexProgress {
    if (this.#build !== null) return { running: true, ...this.#build.progress() }
    const living = this.#store.db
      .prepare<{ n: number }>('SELECT count(*) AS n FROM doc WHERE copy_of IS NULL')
      .value()
    return { running: this.#links.isForgotten(), done: living ?? 0, total: living ?? 0 }
  }

  /** The search thread is there: it gets what is pending, and every later batch. */
  link(search: MessagePort): void {
    this.#search = search
    search.unref()
    for (const segment of this.#writer.pending()) this.#hand(segment)
  }

  /** After a commit. */
  take({ documents, promoted }: Committed): void {
    this.#quietAtMs = performance.now() + quietMs
    const risen = promoted
      .map((docno) => this.#store.textByDocno(docno))
      .filter((text) => text !== null)
    const all = [
      ...documents.map((document) => this.#cutByWords(document)),
      ...risen.map((text) => this.#analyse(text)),
    ]
    this.#apply(all.toSorted((a, b) => a.docno - b.docno))
    this.#guardLog()
    this.#schedule()
  }

  /** Parsers know no user words: a page on which one may stand is analysed again. */
  #cutByWords(document: IndexedDocument): IndexedDocument {
    const beginnings = this.#beginnings
    if (beginnings.size === 0) return document
    const { docno } = document
    const terms = termsOf(document)
    const isTouched =
      terms.length >= DOCUMENT_TERMS_MAX ||
      terms.some((term) => term.startsWith(BIGRAM_PREFIX) && beginnings.has(term.slice(1)))
    const text = isTouched ? this.#store.textByDocno(docno) : null
    return text === null ? document : this.#analyse(text)
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
    this.#quietAtMs = 0
    this.#schedule()
  }

  /** Everything pending is in stored segments: what is stored can be found. An index that is being made is not waited for. */
  async catchUp(): Promise<void> {
    while (this.#work(true, 'now', false)) await nextTurn()
  }

  /** Everything pending is in stored segments, every merge is done, and the index that was being made answers. */
  async finish(): Promise<void> {
    while (this.#work(true, 'now')) await nextTurn()
  }

  /** Makes the index again, to the end. @returns how many documents it holds */
  async rebuild(): Promise<number> {
    this.reindex()
    await this.finish()
    if (this.#build !== null)
      throw new AppError('io', 'No room for the new index; the old one answers as before.')
    return this.reindexProgress().total
  }

  /** Time spent on inverting, flushing and merging since the start. */
  spentMs(): number {
    return this.#spentMs
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#wordsTimer)
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
        this.#writer.pendingBytes() > this.#pending.bytesMax &&
        this.#writer.work(1_000, false)
      );
    }
  }

  #analyse(text: StoredText): IndexedDocument {
    return { docno: text.docno, ...this.#recipe.analyzer.document(text) }
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
      const isQuiet = performance.now() >= this.#quietAtMs
      if (this.#work(this.#isForced, isQuiet ? 'idle' : 'crawling')) return this.#schedule()
      if (this.#isForced) {
        this.#isForced = false
        truncateWal(this.#store.db)
      }
      // Pending postings are written after half a minute at the latest, also when no further batch comes.
      const waitMs = this.#writer.pendingBytes() > 0 ? 0 : this.#links.waitsMs(this.#recipe.key)
      if (waitMs !== null)
        this.#timer = setTimeout(() => this.#schedule(), Math.max(restMs, waitMs))
    }
    if (delayMs === 0) setImmediate(turn)
    else this.#timer = setTimeout(turn, delayMs)
  }

  /** One slice; true while more is to be done. */
  #work(isForced: boolean, when: 'crawling' | 'idle' | 'now', alsoBuilds = true): boolean {
    const startMs = performance.now()
    try {
      if (this.#writer.work(sliceMs, isForced)) return true
      if (this.#build !== null && alsoBuilds) {
        if (this.#build.step(sliceMs)) this.#takeOver(this.#build)
        return true
      }
      return this.#links.step(sliceMs, this.#recipe, this.#writer.ids, when)
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

const linesOf = (text: string | null): string[] => (text ? text.split('\n') : [])
const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done))
