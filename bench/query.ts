/**
 * How fast words are found: our index beside FTS5 and MiniSearch, over the same documents, in one run. `npm run bench -- query [N]`: N made-up
 * documents; `query zh [N]`: documents made of the sentences of the Chinese relevance sets. CPU time, because machines are shared.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom, type Random } from '../test/site/words.ts'
import { testAnalyzer } from '../test/unit/search/collection.ts'
import { migrate, openDatabase, type Db } from '../src/lib/sqlite.ts'
import { createIndexReader, createIndexWriter } from '../src/search/flex.ts'
import type { IndexQuery, IndexReader } from '../src/search/index.ts'
import { migrations } from '../src/store/schema.ts'
import { chinese, missingSentences, type Source } from './chinese.ts'
import {
  commonRanks,
  documentOf,
  makeRanks,
  middlingRank,
  rareRank,
  textOf,
  wordOfRank,
} from './made-up.ts'
import { createFts, createMini, type Rival } from './rivals.ts'

const documentsDefault = 20_000
const documentsAtOnce = 100
/** MiniSearch takes 30 KB of memory a document, and half an hour for more: its times are those of so many. */
const miniDocumentsMax = 20_000
/** Calls that are measured, after as many that warm the compiler up as in a server that runs. */
const repetitions = 40
/** Of a rival that takes a quarter of a second. */
const slowRepetitions = 5
const hitsWanted = 10
/** As the search of the API counts them. */
const matchesCounted = 10_000
const forever = Number.POSITIVE_INFINITY

function madeUp(random: Random): Source {
  const [first = 0, second = 0, third = 0] = commonRanks
  const words = (...ranks: number[]): string[] => ranks.map(wordOfRank)
  return {
    isChinese: false,
    make(docno) {
      const ranks = makeRanks(random)
      return { indexed: documentOf(docno, ranks), text: textOf(ranks) }
    },
    queries: () => [
      ['common word', words(first), 'any'],
      ['OR of three common', words(first, second, third), 'any'],
      ['OR of rare, middling, common', words(rareRank, middlingRank, first), 'any'],
      ['two common, both wanted', words(first, second), 'all'],
      ['rare and common, both wanted', words(rareRank, first), 'all'],
      ['rare word', words(rareRank), 'any'],
    ],
  }
}

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

function p50(work: () => void): number {
  const firstMs = cpuMs(work)
  const times = firstMs > 250 ? slowRepetitions : repetitions
  for (let i = 0; i < times; i += 1) work()
  const sorted = Array.from({ length: times }, () => cpuMs(work)).sort((a, b) => a - b)
  return Math.round((sorted[times >> 1] ?? 0) * 100) / 100
}

/** As plan.ts has them: Han words with their pairs. */
function queryOf(source: Source, words: readonly string[], match: IndexQuery['match']): IndexQuery {
  const weighted = (terms: readonly string[]) => terms.map((term) => ({ term, weight: 1 }))
  const analysed = testAnalyzer().query(words.join(' '))
  const plain = source.isChinese ? analysed.words.map(({ term }) => term) : words
  return {
    words: weighted([...new Set(plain)]),
    bigrams: source.isChinese ? weighted(analysed.bigrams) : [],
    boosts: [],
    required: [],
    without: [],
    match,
  }
}

type Cost = { ours: number; fts: number; mini: number }

function build(db: Db, source: Source, documents: number, fts: Rival, mini: Rival): Cost {
  const writer = createIndexWriter(db)
  const cost = { ours: 0, fts: 0, mini: 0 }
  for (let first = 1; first <= documents; first += documentsAtOnce) {
    const made = Array.from({ length: Math.min(documentsAtOnce, documents - first + 1) }, (_, i) =>
      source.make(first + i),
    )
    cost.ours += cpuMs(() => {
      writer.apply(made.map(({ indexed }) => indexed))
      while (writer.work(25, false));
    })
    cost.fts += cpuMs(() => made.forEach(({ text }, i) => fts.add(first + i, '', text)))
    if (first <= miniDocumentsMax)
      cost.mini += cpuMs(() => made.forEach(({ text }, i) => mini.add(first + i, '', text)))
  }
  cost.ours += cpuMs(() => {
    while (writer.work(25, true));
  })
  return cost
}

function measure(
  source: Source,
  reader: IndexReader,
  documents: number,
  [fts, mini]: readonly [Rival, Rival],
) {
  return source.queries().map(([name, words, match]) => {
    const query = queryOf(source, words, match)
    const ours = (countMin?: number) => (): void =>
      void reader.search(query, hitsWanted, forever, undefined, null, countMin)
    // The rivals know no other way to ask than for any of the words: where all are wanted they are not measured.
    const rival = (one: Rival): number | null =>
      match === 'all' ? null : p50(() => void one.search(words.join(' '), hitsWanted))
    const row = {
      name,
      shares: words.map((word) => Math.round((1_000 * reader.frequency(word)) / documents) / 10),
      all: p50(ours()),
      some: p50(ours(matchesCounted)),
      fts: rival(fts),
      mini: rival(mini),
    }
    console.log(JSON.stringify(row))
    return row
  })
}

export function run(parameters: readonly string[]): void {
  const isChinese = parameters[0] === 'zh'
  const documents = Number(parameters[isChinese ? 1 : 0] ?? documentsDefault)
  const why = isChinese ? missingSentences() : null
  if (why !== null) return console.error(why)
  const folder = mkdtempSync(join(tmpdir(), 'findling-bench-'))
  const rivals = [
    createFts(testAnalyzer(), isChinese),
    createMini(testAnalyzer(), isChinese),
  ] as const
  try {
    const random = createRandom(1)
    const source = isChinese ? chinese(random) : madeUp(random)
    const db = openDatabase(join(folder, 'index.db'))
    migrate(db, migrations)
    const cost = build(db, source, documents, ...rivals)
    const reader = createIndexReader(openDatabase(join(folder, 'index.db'), { readonly: true }))
    reader.begin()
    const queries = measure(source, reader, documents, rivals)
    reader.end()
    const bytes = Number(
      db.prepare("SELECT sum(pgsize) FROM dbstat WHERE name IN ('seg', 'leaf')").value(),
    )
    db.close()
    const perSecond = (n: number, ms: number): number => Math.round((n / ms) * 1_000)
    const result = {
      documents,
      bytesADocument: Math.round(bytes / documents),
      documentsACpuSecond: {
        ours: perSecond(documents, cost.ours),
        fts: perSecond(documents, cost.fts),
        mini: perSecond(Math.min(documents, miniDocumentsMax), cost.mini),
      },
      miniDocuments: Math.min(documents, miniDocumentsMax),
      queries,
    }
    console.table(
      queries.map(({ shares, ...row }) => ({ ...row, inDocuments: `${shares.join(', ')} %` })),
    )
    console.log(`RESULT ${JSON.stringify(result)}`)
  } finally {
    for (const rival of rivals) rival.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) run(process.argv.slice(2))
