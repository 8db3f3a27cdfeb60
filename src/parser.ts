/** The parser thread: one page or imported record at a time, from bytes to an analysed page. Pure: reads and writes nothing. */
import { parentPort, threadId } from 'node:worker_threads'
import type { Transferable } from 'node:worker_threads'
import type { Config } from './config.ts'
import { readRecord, type ImportRecord } from './crawl/imported.ts'
import type {
  ListJob,
  ListOutcome,
  ParsedItem,
  ParsedPage,
  ParseJob,
  ParseOutcome,
} from './crawl/page.ts'
import { createParser } from './crawl/parse.ts'
import { parseListJob } from './crawl/sitemap.ts'
import { plainError } from './lib/errors.ts'
import { type JobMessage, type JobReply, threadIsReady } from './lib/pool.ts'
import { createKeywords } from './text/keywords.ts'
import { loadTextTables } from './text/tables.ts'
import { createAnalyzer } from './text/tokenize.ts'
import { openWords, type WordMatcher } from './text/word-match.ts'

export type ParserData = { config: Config; usesKeywordModel: boolean; tables: SharedArrayBuffer }
/** With what its thread has cost so far, for the books of the engine. */
export type ParserAnswer = {
  outcome: ParseOutcome | ListOutcome
  threadId: number
  cpuMs: number
}
/** The word lists in force, packed; `version` counts their changes. */
export type WordsInForce = { version: number; packed: SharedArrayBuffer | null }
export type ParserJob = { words?: WordsInForce } & (
  | { kind: 'page'; job: ParseJob }
  | { kind: 'list'; job: ListJob }
  | { kind: 'record'; record: ImportRecord; seed: number }
)

export function run({ config, usesKeywordModel, tables }: ParserData): void {
  const dictionary = loadTextTables(tables)
  const analyzer = createAnalyzer(dictionary)
  const keywords = createKeywords(dictionary, analyzer, usesKeywordModel)
  let words: WordMatcher | null = null
  let version = 0
  const parser = createParser({
    words: () => words,
    analyzer,
    keywords,
    decodedBytesMax: config['body-bytes-max'],
    linksMax: config['links-max'],
  })
  const work = async (job: ParserJob): Promise<ParseOutcome | ListOutcome> => {
    if (job.words !== undefined && job.words.version !== version) {
      version = job.words.version
      words = job.words.packed === null ? null : openWords(job.words.packed)
    }
    if (job.kind === 'page') return parser.parse(job.job)
    if (job.kind === 'list') return parseListJob(job.job)
    return readRecord(job.record, job.seed, analyzer, keywords, words)
  }

  const cpuMs = createCpuClock()
  const answer = async ({ id, job }: JobMessage<ParserJob>): Promise<void> => {
    let reply: JobReply<ParserAnswer>
    let transfer: Transferable[] = []
    try {
      const outcome = await work(job)
      if (outcome.kind === 'page') transfer = buffersOf(outcome.page)
      reply = { id, result: { outcome, threadId, cpuMs: cpuMs() } }
    } catch (error) {
      reply = { id, error: plainError(error) }
    }
    parentPort?.postMessage(reply, transfer)
  }
  parentPort?.on('message', (message: JobMessage<ParserJob>) => void answer(message))
  parentPort?.postMessage(threadIsReady)
}

/** CPU time of this thread, ms, as of the last tenth of a second: to ask the kernel takes 20 us, a hundredth of a page. */
function createCpuClock(): () => number {
  let askedMs = Number.NEGATIVE_INFINITY
  let cpuMs = 0
  return () => {
    const nowMs = performance.now()
    if (nowMs - askedMs < 100) return cpuMs
    askedMs = nowMs
    const { user, system } = process.threadCpuUsage()
    cpuMs = (user + system) / 1000
    return cpuMs
  }
}

const buffersOf = (page: ParsedPage): ArrayBuffer[] => [
  ...ownBuffersOf(page),
  ...(Array.isArray(page.items) ? (page.items as ParsedItem[]) : []).flatMap((item) =>
    ownBuffersOf(item.page),
  ),
]

const ownBuffersOf = ({
  text,
  rest,
  quants,
  pairs,
  fingerprint,
  lineHashes,
}: ParsedPage): ArrayBuffer[] => [
  ...new Set([
    text.buffer,
    rest.buffer,
    quants.buffer,
    ...(pairs === null ? [] : [pairs.buffer]),
    lineHashes.buffer,
    fingerprint.digest.buffer,
    fingerprint.anchors.buffer,
    fingerprint.sketch.buffer,
  ]),
]
