/** The search thread: a read-only connection and the queries over it, one after the other. Writes nothing. */
import { MessagePort, parentPort } from 'node:worker_threads'
import { AppError } from './lib/errors.ts'
import { collectGarbage } from './lib/garbage.ts'
import { answerCalls, createCaller, sendEvent } from './lib/rpc.ts'
import { dropPages } from './lib/sqlite.ts'
import type { Profile } from './memory.ts'
import type { SearchRequest } from './search/answer.ts'
import { createCurrentAnalyzer } from './search/current-analyzer.ts'
import type { PackedSegment } from './search/index.ts'
import { createSearcher } from './search/search.ts'
import { openReader } from './store/reader.ts'
import { loadTextTables } from './text/tables.ts'
import { openWords } from './text/word-match.ts'

export type SearchData = { profile: Profile; file: string; tables: SharedArrayBuffer }
/** `untilMs`: wall clock, because each thread's monotonic clock has its own zero. */
export type SearchCall = { request: SearchRequest; untilMs: number }
export type SimilarCall = { id: string; limit: number; untilMs: number }
export type ExportCall = { after: number; limit: number }

export function run({ file, tables, profile }: SearchData): void {
  if (parentPort === null) return
  const reader = openReader(file, { cacheKb: profile.cacheKb.search })
  const analyzer = createCurrentAnalyzer(reader, loadTextTables(tables))
  const searcher = createSearcher(reader, analyzer)
  createCaller(parentPort).onEvent('link', (port: MessagePort) => {
    const engine = createCaller(port)
    engine.onEvent('pending', (segment: PackedSegment) => searcher.addPending(segment))
    engine.onEvent('words', (packed: SharedArrayBuffer | null) =>
      searcher.hide(packed === null ? null : openWords(packed)),
    )
  })
  let isClosing = false
  answerCalls(parentPort, {
    search: ({ request, untilMs }: SearchCall) => searcher.answer(request, deadlineOf(untilMs)),
    similar: ({ id, limit, untilMs }: SimilarCall) =>
      searcher.similar(id, limit, deadlineOf(untilMs)),
    suggest: ({ q, limit }: { q: string; limit: number }) => searcher.suggest(q, limit),
    document: (id: string) => searcher.document(id),
    stats: () => reader.stats(),
    export: ({ after, limit }: ExportCall) => reader.exportAfter(after, limit),
    rest() {
      dropPages(reader.db)
      return collectGarbage()
    },
    close() {
      isClosing = true
      reader.close()
      // The answer to this call is the last thing it says.
      setImmediate(() => process.exit(0))
    },
  })
  sendEvent(parentPort, 'ready', null)
  // One query between two turns of the loop: who asks meanwhile waits for one, not for all.
  const warmUp = (): void => {
    if (!isClosing && searcher.warmUp()) setImmediate(warmUp)
  }
  setImmediate(warmUp)
}

/** By this thread's clock. @throws AppError overloaded when it has passed already */
function deadlineOf(untilMs: number): number {
  const leftMs = untilMs - Date.now()
  if (leftMs <= 0)
    throw new AppError('overloaded', 'The query waited too long.', { retryAfterS: 1 })
  return performance.now() + leftMs
}
