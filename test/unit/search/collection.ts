/** Documents through the real analyzer, store, index writer and searcher, in a temporary directory. Used by tests and benchmarks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textTables } from '../../../src/assets.ts'
import type { SearchRequest } from '../../../src/search/answer.ts'
import { packText } from '../../../src/lib/packed-text.ts'
import { createIndexWriter, type WriterOptions } from '../../../src/search/flex.ts'
import type { IndexedDocument, IndexWriter } from '../../../src/search/index.ts'
import { requestDefaults } from '../../../src/search/request.ts'
import { createSearcher, type Searcher } from '../../../src/search/search.ts'
import type { PackedKeywords } from '../../../src/store/keywords.ts'
import { openReader, type Reader } from '../../../src/store/reader.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { loadTextTables } from '../../../src/text/tables.ts'
import { createAnalyzer, keywordKey, type Analyzer } from '../../../src/text/tokenize.ts'

export type Page = {
  url: string
  title?: string
  text?: string
  rest?: string
  lang?: string
  type?: string
  publishedAt?: string
  fields?: Record<string, unknown>
  keywords?: PackedKeywords
  /** URL of the original where this is an exact copy. */
  copyOf?: string
  /** URL of the centre of its group of near copies. */
  groupOf?: string
}

export type CollectionOptions = WriterOptions & {
  /** The analyzer of queries, where it is not that of the documents. */
  searchBy?: (reader: Reader) => Analyzer
  /** Where it is made, and stays; else in a temporary directory. */
  folder?: string
}

export type Collection = {
  store: Store
  reader: Reader
  writer: IndexWriter
  analyzer: Analyzer
  searcher: Searcher
  /** One batch: committed, applied, handed to the searcher. */
  add(pages: readonly Page[]): void
  remove(url: string): void
  /** As after a crash, or after a switch of generations: then with the ids of the writer before. */
  reopenWriter(ids?: IndexWriter['ids']): void
  /** Writes everything that is pending, and merges. */
  settle(): void
  close(): void
}

let analyzer: Analyzer | undefined
export function testAnalyzer(): Analyzer {
  analyzer ??= createAnalyzer(loadTextTables(textTables()))
  return analyzer
}

/** Any time; tests that need dates give their own. */
const fetchedAtMs = Date.UTC(2026, 0, 15)

export function createCollection(wished: CollectionOptions = {}): Collection {
  const { searchBy, folder: kept, ...options } = wished
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'findling-search-'))
  const file = join(folder, 'findling.db')
  const store = openStore(file, { keywordKey })
  const reader = openReader(file)
  let writer = createIndexWriter(store.db, options)
  const words = testAnalyzer()
  const searcher = createSearcher(reader, searchBy?.(reader) ?? words)

  const put = (page: Page): IndexedDocument | null => {
    const { url, title = '', text = '', rest = '' } = page
    const { urlId } = store.importedUrl(url, 1, fetchedAtMs)
    const copyOf = page.copyOf ? (store.urlRow(page.copyOf)?.id ?? null) : null
    const { docno } = store.putDocument({
      urlId,
      hostId: store.hostId(new URL(url).origin),
      url,
      title,
      lang: page.lang ?? 'en',
      type: page.type ?? 'text/html',
      size: text.length,
      publishedAtMs: page.publishedAt ? Date.parse(page.publishedAt) : null,
      fetchedAtMs,
      copyOf,
      body: packText(text),
      rest: rest === '' ? null : packText(rest),
      extra: {
        description: '',
        author: '',
        headings: '',
        keywords: page.keywords ?? [],
        fields: page.fields ?? {},
      },
    })
    const centre = page.groupOf ?? page.copyOf
    putFingerprint(store, urlId, centre ? (store.urlRow(centre)?.id ?? urlId) : urlId)
    if (copyOf !== null) return null
    return { docno, ...words.document({ title, headings: '', text, rest, url }) }
  }

  return {
    store,
    reader,
    get writer() {
      return writer
    },
    analyzer: words,
    searcher,
    add(pages) {
      const documents = store.transaction(() => pages.map(put).filter((page) => page !== null))
      const segment = writer.apply(documents)
      if (segment) searcher.addPending(segment)
    },
    remove(url) {
      const row = store.urlRow(url)
      if (row) store.transaction(() => store.removeDocument(row.id))
    },
    reopenWriter(ids) {
      writer = createIndexWriter(store.db, ids ? { ...options, ids } : options)
      // As the engine does at its start: what is not in a segment is applied again.
      const documents = store
        .documentsAfter(writer.watermark(), 1_000)
        .map((text) => ({ docno: text.docno, ...words.document(text) }))
      const segment = writer.apply(documents)
      if (segment) searcher.addPending(segment)
    },
    settle() {
      while (writer.work(50, true));
    },
    close() {
      reader.close()
      store.close()
      if (kept === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

function putFingerprint(store: Store, urlId: number, group: number): void {
  store.db
    .prepare(
      `INSERT OR REPLACE INTO fingerprint(url_id, host, digest, sim, anchors, sketch, tokens, figures, numbers, grp)
       VALUES (?, 1, x'', x'', x'', x'', 0, 0, 0, ?)`,
    )
    .run(urlId, group)
}

export const searchRequest = (q: string, more: Partial<SearchRequest> = {}): SearchRequest => ({
  ...requestDefaults,
  q,
  ...more,
})
