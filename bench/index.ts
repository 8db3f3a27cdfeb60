/**
 * What the index costs. `npm run bench -- index [N ...]`: made-up documents, 10,000 and 100,000 of them unless told otherwise: bytes by part,
 * CPU of writing, opening and asking as they become more. `index DATA [N]`: documents of a data directory through the writer. `index zh [N]`:
 * documents of the sentences of the Chinese relevance sets.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../test/site/words.ts'
import { textTables } from '../src/assets.ts'
import { openDatabase } from '../src/lib/sqlite.ts'
import { createIndexReader, createIndexWriter } from '../src/search/flex.ts'
import type { IndexedDocument, IndexQuery, IndexReader, IndexWriter } from '../src/search/index.ts'
import { LeafReader } from '../src/search/leaf.ts'
import { PAIR_PREFIX } from '../src/search/pairs.ts'
import { openReader } from '../src/store/reader.ts'
import { openStore, type Store } from '../src/store/store.ts'
import { loadTextTables } from '../src/text/tables.ts'
import { BIGRAM_PREFIX, createAnalyzer } from '../src/text/tokenize.ts'
import { chinese, missingSentences } from './chinese.ts'
import {
  commonRanks,
  documentOf,
  makeRanks,
  middlingRank,
  pairOfRanks,
  rareRank,
  wordOfRank,
} from './made-up.ts'

const batchDocuments = 100
const sizesDefault = [10_000, 100_000]
const repetitions = 40
const hitsWanted = 10
/** As the search of the API counts them. */
const matchesCounted = 10_000
const forever = Number.POSITIVE_INFINITY

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}
const timed = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  return cpuMs(start)
}
const p50 = (work: () => void): number => {
  for (let i = 0; i < repetitions; i += 1) work()
  const times = Array.from({ length: repetitions }, () => timed(work)).sort((a, b) => a - b)
  return round(times[repetitions >> 1] ?? 0)
}
const round = (value: number): number => Math.round(value * 1_000) / 1_000
const peakMb = (): number => {
  const [, kb = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Math.round(Number(kb) / 1_024)
}

function analysed(data: string, most: number): IndexedDocument[] {
  const analyzer = createAnalyzer(loadTextTables(textTables()))
  const reader = openReader(join(data, 'findling.db'))
  const documents: IndexedDocument[] = []
  for (let last = 0; documents.length < most;) {
    const texts = reader.documentsAfter(last, 200)
    if (texts.length === 0) break
    last = texts.at(-1)?.docno ?? last
    documents.push(...texts.map((text) => ({ docno: text.docno, ...analyzer.document(text) })))
  }
  reader.close()
  return documents.slice(0, most)
}

type Cost = { applyMs: number; mergeMs: number }

function write(writer: IndexWriter, documents: readonly IndexedDocument[], cost: Cost): void {
  cost.applyMs += timed(() => void writer.apply(documents))
  cost.mergeMs += timed(() => {
    while (writer.work(25, false));
  })
}

/** Bytes of entries of words, of pairs of words, and of pairs of Han characters, which tell phrases likewise; a leaf that has several counts by its first. */
function bytesByPart(store: Store): { words: number; pairs: number; han: number; pages: number } {
  const reader = new LeafReader()
  const bytes = { words: 0, pairs: 0, han: 0, pages: 0 }
  for (const { b } of store.db.prepare<{ b: Uint8Array }>('SELECT b FROM leaf').iterate()) {
    reader.load(b)
    const term = reader.next() ? reader.term() : ''
    const part = term.startsWith(PAIR_PREFIX)
      ? 'pairs'
      : term.startsWith(BIGRAM_PREFIX)
        ? 'han'
        : 'words'
    bytes[part] += b.length
  }
  const sizes = store.db.prepare("SELECT sum(pgsize) FROM dbstat WHERE name IN ('seg', 'leaf')")
  bytes.pages = Number(sizes.value())
  return bytes
}

function inTemporary<T>(work: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'findling-bench-'))
  try {
    return work(join(folder, 'findling.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function ofData(data: string, most: number): void {
  const documents = analysed(data, most)
  ofDocuments(documents.length, (i) => documents[i] as IndexedDocument)
}

/** UTF-8 bytes of the texts are told beside those of the index. */
function ofChinese(count: number): void {
  const why = missingSentences()
  if (why !== null) return console.error(why)
  const source = chinese(createRandom(1))
  let textBytes = 0
  ofDocuments(count, (i) => {
    const { indexed, text } = source.make(i + 1)
    textBytes += Buffer.byteLength(text)
    return indexed
  })
  console.log(`Bytes of text a document: ${Math.round(textBytes / count)}`)
}

/** @param take by its place; asked for each once, in order */
function ofDocuments(n: number, take: (i: number) => IndexedDocument): void {
  const cost = { applyMs: 0, mergeMs: 0 }
  let [terms, pairs, openMs] = [0, 0, 0]
  const bytes = inTemporary((file) => {
    const store = openStore(file)
    const writer = createIndexWriter(store.db)
    for (let i = 0; i < n; i += batchDocuments) {
      const batch = Array.from({ length: Math.min(batchDocuments, n - i) }, (_, k) => take(i + k))
      for (const document of batch) {
        terms += document.quants.length
        pairs += document.pairs?.length ?? 0
      }
      write(writer, batch, cost)
    }
    cost.mergeMs += timed(() => {
      while (writer.work(25, true));
    })
    const found = bytesByPart(store)
    const db = openDatabase(file, { readonly: true })
    const reader = createIndexReader(db)
    openMs = timed(() => reader.begin())
    reader.end()
    db.close()
    store.close()
    return found
  })
  const result = {
    documents: n,
    terms: Math.round(terms / n),
    pairs: Math.round(pairs / n),
    cpuMsADocument: round((cost.applyMs + cost.mergeMs) / n),
    applyMs: round(cost.applyMs / n),
    mergeMs: round(cost.mergeMs / n),
    wordBytes: Math.round(bytes.words / n),
    pairBytes: Math.round(bytes.pairs / n),
    hanPairBytes: Math.round(bytes.han / n),
    bytesInFile: Math.round(bytes.pages / n),
    openMs: Math.round(openMs),
  }
  console.table(result)
  console.log(`RESULT ${JSON.stringify(result)}`)
}

const queryOf = (ranks: readonly number[], match: IndexQuery['match']): IndexQuery => ({
  words: ranks.map((rank) => ({ term: wordOfRank(rank), weight: 1 })),
  bigrams: [],
  boosts: [],
  required: [],
  without: [],
  match,
})

function ask(reader: IndexReader): Record<string, number> {
  const [first = 0, second = 0, third = 0] = commonRanks
  const search = (ranks: readonly number[], match: IndexQuery['match'], countMin?: number) => () =>
    void reader.search(queryOf(ranks, match), hitsWanted, forever, undefined, null, countMin)
  return {
    word: p50(search([first], 'any')),
    wordSome: p50(search([first], 'any', matchesCounted)),
    or: p50(search([first, second, third], 'any')),
    orSome: p50(search([first, second, third], 'any', matchesCounted)),
    orMixedSome: p50(search([rareRank, middlingRank, first], 'any', matchesCounted)),
    and: p50(search([first, second], 'all')),
    rare: p50(search([rareRank], 'any')),
    pair: p50(() => void reader.pairHolders(pairOfRanks(first, second), forever)),
  }
}

/** One index that grows, and what it is like at each size. */
function growth(sizes: readonly number[]): void {
  const rows = inTemporary((file) => {
    const store = openStore(file)
    const writer = createIndexWriter(store.db)
    const random = createRandom(1)
    const cost = { applyMs: 0, mergeMs: 0 }
    let documents = 0
    const found = sizes.map((size) => {
      while (documents < size) {
        const many = Math.min(batchDocuments, size - documents)
        const batch = Array.from({ length: many }, (_, i) =>
          documentOf(documents + i + 1, makeRanks(random)),
        )
        documents += many
        write(writer, batch, cost)
      }
      cost.mergeMs += timed(() => {
        while (writer.work(25, true));
      })
      const bytes = bytesByPart(store)
      const db = openDatabase(file, { readonly: true })
      const reader = createIndexReader(db)
      const openMs = timed(() => reader.begin())
      const row = {
        documents,
        applyMs: round(cost.applyMs / documents),
        mergeMs: round(cost.mergeMs / documents),
        wordBytes: Math.round(bytes.words / documents),
        pairBytes: Math.round(bytes.pairs / documents),
        bytesInFile: Math.round(bytes.pages / documents),
        openMs: Math.round(openMs),
        ...ask(reader),
        peakMb: peakMb(),
      }
      reader.end()
      db.close()
      console.log(JSON.stringify(row))
      return row
    })
    store.close()
    return found
  })
  console.table(rows)
  console.log(`RESULT ${JSON.stringify({ rows })}`)
}

/** A heap as small as that of the thread that writes an index: else the peak is that of a lazy collector. */
const heapFlag = '--max-semi-space-size=2'

function main(parameters: readonly string[]): void {
  const [first, most = '5000'] = parameters
  if (first === 'zh') return ofChinese(Number(most))
  if (first !== undefined && !/^\d+$/.test(first)) return ofData(first, Number(most))
  if (process.execArgv.includes(heapFlag))
    return growth(first === undefined ? sizesDefault : parameters.map(Number))
  const child = spawn(process.execPath, [heapFlag, import.meta.filename, ...parameters], {
    stdio: 'inherit',
  })
  child.on('close', (code) => {
    process.exitCode = code ?? 1
  })
}

main(process.argv.slice(2))
