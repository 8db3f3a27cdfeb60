/**
 * How fast words are found: our index beside FTS5, over the same made-up documents, in one run. `answers DATA QUERIES.tsv`: how long whole
 * answers take over a directory that was crawled. CPU time, because machines are shared.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { searchRequest } from '../test/unit/search/collection.ts'
import { textTables } from '../src/assets.ts'
import { AppError } from '../src/lib/errors.ts'
import { migrate, openDatabase, type Db } from '../src/lib/sqlite.ts'
import { createIndexReader, createIndexWriter } from '../src/search/flex.ts'
import type { IndexedDocument, IndexQuery } from '../src/search/index.ts'
import { createSearcher } from '../src/search/search.ts'
import { openReader } from '../src/store/reader.ts'
import { migrations } from '../src/store/schema.ts'
import { loadTextTables } from '../src/text/tables.ts'
import { createAnalyzer } from '../src/text/tokenize.ts'

const documentsDefault = 20_000
const documentsAtOnce = 100
/** Words of a document, and how many different ones the collection can have. */
const wordsPerDocument = 380
const vocabularySize = 60_000
/** Calls that are measured, after as many that warm the compiler up as in a server that runs. */
const repetitions = 60
const hitsWanted = 10
const forever = Number.POSITIVE_INFINITY
const answerMs = 10_000

/** Words by rank: rank r has a share of about 1 / r, as in natural text. */
const wordOfRank = (rank: number): string => `w${rank.toString(36)}`
/** In 20-60 % of the documents, and in a handful. */
const common = [45, 75, 120].map(wordOfRank)
const rare = wordOfRank(40_000)

/** mulberry32 */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function makeText(random: () => number): string[] {
  const length = Math.round(wordsPerDocument * (0.4 + 1.2 * random()))
  return Array.from({ length }, () => wordOfRank(Math.floor(vocabularySize ** random())))
}

function toDocument(docno: number, words: readonly string[]): IndexedDocument {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const quants = Uint8Array.from(counts.values(), (n) => Math.round(8 * Math.log2(1 + n)))
  return { docno, terms: [...counts.keys()], quants, length: words.length }
}

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}
const p50 = (work: () => void): number => {
  for (let i = 0; i < repetitions; i += 1) work()
  const times = Array.from({ length: repetitions }, () => cpuMs(work)).sort((a, b) => a - b)
  return times[times.length >> 1] ?? 0
}
const queryOf = (words: readonly string[]): IndexQuery => ({
  words: words.map((term) => ({ term, weight: 1 })),
  bigrams: [],
  boosts: [],
  required: [],
  without: [],
  match: 'any',
})

function build(db: Db, documents: number): { oursMs: number; ftsMs: number } {
  db.exec(`CREATE VIRTUAL TABLE fts USING fts5(text, content='')`)
  const insert = db.prepare('INSERT INTO fts(rowid, text) VALUES (?, ?)')
  const writer = createIndexWriter(db)
  const random = createRandom(1)
  let oursMs = 0
  let ftsMs = 0
  for (let first = 1; first <= documents; first += documentsAtOnce) {
    const texts = Array.from({ length: documentsAtOnce }, () => makeText(random))
    const batch = texts.map((words, i) => toDocument(first + i, words))
    oursMs += cpuMs(() => {
      writer.apply(batch)
      while (writer.work(25, false));
    })
    ftsMs += cpuMs(() =>
      db.transaction(() => texts.forEach((words, i) => insert.run(first + i, words.join(' ')))),
    )
  }
  oursMs += cpuMs(() => {
    while (writer.work(25, true));
  })
  return { oursMs, ftsMs }
}

const bytesOf = (db: Db, tables: string): number =>
  Number(db.prepare(`SELECT sum(pgsize) FROM dbstat WHERE name IN (${tables})`).value())

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

/** @param parameters number of documents; or `answers`, a data directory, and queries in the second column of a file with a header */
export function run(parameters: readonly string[]): void {
  const [mode, folder, file] = parameters
  if (mode === 'answers' && folder !== undefined && file !== undefined)
    return measureAnswers(folder, file)
  makeAndAsk(Number(mode ?? documentsDefault))
}

function makeAndAsk(documents: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'findling-bench-'))
  try {
    const db = openDatabase(join(folder, 'index.db'))
    migrate(db, migrations)
    const { oursMs, ftsMs } = build(db, documents)
    const reader = createIndexReader(openDatabase(join(folder, 'index.db'), { readonly: true }))
    reader.begin()
    const ask = db.prepare('SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?')
    const rows = (
      [
        ['common word', common.slice(0, 1)],
        ['OR of three', common],
        ['rare word', [rare]],
      ] as const
    ).map(([name, words]) => ({
      name,
      share: Math.round((100 * reader.frequency(words[0])) / documents),
      oursMs: p50(() => void reader.search(queryOf(words), hitsWanted, forever)),
      ftsMs: p50(() => void ask.all(words.join(' OR '), hitsWanted)),
    }))
    reader.end()
    console.log('query        in docs  ours ms  FTS5 ms   ratio')
    for (const { name, share, oursMs: ours, ftsMs: fts } of rows)
      console.log(
        `${name.padEnd(12)} ${String(share).padStart(5)} %  ${ours.toFixed(2).padStart(7)}  ${fts.toFixed(2).padStart(7)}  ${(fts / ours).toFixed(1).padStart(6)}`,
      )
    const size = {
      bytesPerDocument: Math.round(bytesOf(db, `'seg','leaf'`) / documents),
      ftsBytesPerDocument: Math.round(
        bytesOf(db, `'fts_data','fts_idx','fts_docsize','fts_config'`) / documents,
      ),
    }
    const speed = {
      documentsPerCpuSecond: Math.round((documents / oursMs) * 1_000),
      ftsDocumentsPerCpuSecond: Math.round((documents / ftsMs) * 1_000),
    }
    console.log(size, speed)
    db.close()
    console.log(`RESULT ${JSON.stringify({ documents, ...size, ...speed, queries: rows })}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) run(process.argv.slice(2))
