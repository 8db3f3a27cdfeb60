/** Makes the next generation of the index beside the one that answers: in slices, resumable, and one transaction takes it over. */
import assert from 'node:assert'
import { createIndexWriter, type WriterOptions } from './search/flex.ts'
import type { IndexedDocument, IndexWriter } from './search/index.ts'
import { type SegmentIds, switchGenerations } from './search/segments.ts'
import type { StoredText } from './store/read-documents.ts'
import type { Store } from './store/store.ts'
import type { Analyzer } from './text/tokenize.ts'

/** Documents that are inverted at once: each call makes one part for the flush to merge. */
const batchDocuments = 100
/** Read at once: the clock is looked at between them. */
const readDocuments = 4
/** So few are taken over together with the switch, in one go: a crawl that never rests cannot keep it from coming. */
const lastDocuments = 50

export type BuildOptions = Pick<WriterOptions, 'pendingBytesMax' | 'pendingDocumentsMax' | 'nowMs'>

/** What the generation is made with. */
export type Recipe = { key: string; words: readonly string[]; analyzer: Analyzer }

export type BuildProgress = { done: number; total: number }

/** Whether a build was cut off that made what this key makes. */
export const isUnfinished = (store: Store, key: string): boolean =>
  store.meta.get('next_analyzer') === key

export class IndexBuild {
  readonly recipe: Recipe
  readonly #store: Store
  readonly #writer: IndexWriter
  readonly #nowMs: () => number
  readonly #count
  #batch: IndexedDocument[] = []
  #last: number

  /**
   * Begins, or goes on where a build with the same key was cut off.
   * @param ids of the writer of the generation that answers, which must be told that there are two now
   */
  constructor(store: Store, recipe: Recipe, ids: SegmentIds, options: BuildOptions = {}) {
    this.recipe = recipe
    this.#store = store
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#writer = createIndexWriter(store.db, {
      ...options,
      table: 'seg_next',
      ids,
      isPair: () => true,
    })
    this.#count = store.db.prepare<{ n: number }>(
      'SELECT count(*) AS n FROM doc WHERE copy_of IS NULL AND docno <= ?',
    )
    if (!isUnfinished(store, recipe.key)) {
      this.#writer.clear()
      store.transaction(() => {
        store.meta.set('next_analyzer', recipe.key)
        store.meta.set('next_words', recipe.words.join('\n'))
      })
    }
    this.#last = this.#writer.watermark()
  }

  /** One slice, about `sliceMs`; true when the new generation answers. */
  step(sliceMs: number): boolean {
    const endMs = this.#nowMs() + sliceMs
    if (this.#writer.work(sliceMs, false)) return false
    if (this.#read(endMs)) return false
    // All is read; what is not stored yet goes the same way.
    this.#apply()
    if (this.#writer.pendingBytes() > 0) {
      this.#writer.work(sliceMs, true)
      return false
    }
    const more = this.#store.documentsAfter(this.#last, lastDocuments + 1)
    if (more.length > lastDocuments) return false
    this.#take(more)
    this.#apply()
    while (this.#writer.pendingBytes() > 0) this.#writer.work(1_000, true)
    this.#switch()
    return true
  }

  progress(): BuildProgress {
    const total = this.#count.value(Number.MAX_SAFE_INTEGER) ?? 0
    return { done: this.#count.value(this.#last) ?? 0, total }
  }

  /** Nothing is left of it but leaves, which `ids` does not give out again; the next start clears them away. */
  abandon(): void {
    this.#writer.clear()
    this.#store.transaction(() => this.#forget())
  }

  /** @returns whether there is more to read */
  #read(endMs: number): boolean {
    for (;;) {
      const texts = this.#store.documentsAfter(this.#last, readDocuments)
      if (texts.length === 0) return false
      this.#take(texts)
      if (this.#batch.length >= batchDocuments) {
        this.#apply()
        return true
      }
      if (this.#nowMs() >= endMs) return true
    }
  }

  #take(texts: readonly StoredText[]): void {
    for (const text of texts)
      this.#batch.push({ docno: text.docno, ...this.recipe.analyzer.document(text) })
    this.#last = texts.at(-1)?.docno ?? this.#last
  }

  #apply(): void {
    if (this.#batch.length > 0) this.#writer.apply(this.#batch)
    this.#batch = []
  }

  #switch(): void {
    const { store, key, words } = { store: this.#store, ...this.recipe }
    store.transaction(() => {
      assert(store.documentsAfter(this.#last, 1).length === 0, 'the new generation has everything')
      switchGenerations(store.db)
      store.meta.set('analyzer', key)
      store.meta.set('words', words.join('\n'))
      store.meta.set('index_generation', Number(store.meta.get('index_generation') ?? 0) + 1)
      this.#forget()
    })
  }

  #forget(): void {
    this.#store.meta.set('next_analyzer', '')
    this.#store.meta.set('next_words', '')
  }
}
