/** How long whole answers take over a directory that was crawled: `npm run bench -- answers DATA QUERIES.tsv`, queries in the second column. CPU time, because machines are shared. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { searchRequest } from '../test/unit/search/collection.ts'
import { textTables } from '../src/assets.ts'
import { AppError } from '../src/lib/errors.ts'
import { createSearcher } from '../src/search/search.ts'
import { openReader } from '../src/store/reader.ts'
import { loadTextTables } from '../src/text/tables.ts'
import { createAnalyzer } from '../src/text/tokenize.ts'

const hitsWanted = 10
const answerMs = 10_000

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

type Spread = { p50: number; p95: number; max: number }
const spreadOf = (times: readonly number[]): Spread => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 100) / 100
  return { p50: at(0.5), p95: at(0.95), max: at(1) }
}

/** Every query once, after others have warmed the compiler up: popular pages recur as they do for users, no query does. */
function measureAnswers(folder: string, file: string): void {
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n')
  const queries = lines.map((line) => line.split('\t')[1] ?? '')
  const reader = openReader(join(folder, 'findling.db'))
  const searcher = createSearcher(reader, createAnalyzer(loadTextTables(textTables())))
  const answer = (q: string): void =>
    void searcher.answer(searchRequest(q), performance.now() + answerMs)
  const firstMs = cpuMs(() => answer(queries[0] ?? ''))
  // Interleaved, so that sites and languages take turns in both halves.
  const warming = queries.filter((_, i) => i % 3 === 0)
  const measured = queries.filter((_, i) => i % 3 !== 0)
  for (const q of warming) answer(q)
  const answers = spreadOf(measured.map((q) => cpuMs(() => answer(q))))
  const typed = measured.map((q) => q.slice(0, Math.max(2, q.length >> 1)))
  const suggest = (q: string): void => {
    try {
      searcher.suggest(q, hitsWanted)
    } catch (error) {
      // Its wall clock runs on while the machine works for others; its CPU time is counted all the same.
      if (!(error instanceof AppError)) throw error
    }
  }
  for (const q of typed) suggest(q)
  const suggestions = spreadOf(typed.map((q) => cpuMs(() => suggest(q))))
  reader.close()
  console.table({ answers, suggestions })
  console.log(
    `RESULT ${JSON.stringify({ queries: measured.length, firstMs: Math.round(firstMs), answers, suggestions })}`,
  )
}

const [folder, file] = process.argv.slice(2)
if (folder === undefined || file === undefined)
  throw new Error(
    'bench answers DATA QUERIES.tsv: a data directory and a file with queries are wanted',
  )
measureAnswers(folder, file)
