/**
 * How good the ranking is: every set of the relevance data through analyzer, writer and searcher, with the settings of the API, beside
 * the best Lucene of the recorded runs, and beside FTS5 and MiniSearch over the same documents in the same process.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createCollection, searchRequest, type Collection } from '../test/unit/search/collection.ts'
import { createFts, createMini, type Rival } from './rivals.ts'

type Line = { id: string; title?: string; text: string }
type Baselines = {
  sets: Record<string, { docs: number }>
  results: { set: string; engine: string; dev: { ndcg10: number } }[]
}

const folder = join(import.meta.dirname, '..', '..', 'shared', 'eval')
const documentsAtOnce = 500
/** Time of a query, as the server gives it. */
const timeMs = 1_000

const lines = (text: string): Line[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

/** Query -> document -> grade, for queries with something relevant. */
function readGrades(file: string): Map<string, Map<string, number>> {
  const grades = new Map<string, Map<string, number>>()
  for (const line of readFileSync(file, 'utf8').trim().split('\n').slice(1)) {
    const [query = '', document = '', grade = ''] = line.split('\t')
    grades.set(query, (grades.get(query) ?? new Map()).set(document, Number(grade)))
  }
  for (const [query, graded] of grades)
    if (![...graded.values()].some((grade) => grade > 0)) grades.delete(query)
  return grades
}

/** Linear gain, discount log2(rank + 1), ten ranks. */
function ndcg10(found: readonly string[], grades: ReadonlyMap<string, number>): number {
  const gain = (all: readonly number[]): number =>
    all.slice(0, 10).reduce((sum, grade, i) => sum + Math.max(grade, 0) / Math.log2(i + 2), 0)
  const ideal = gain([...grades.values()].sort((a, b) => b - a))
  return gain(found.slice(0, 10).map((id) => grades.get(id) ?? 0)) / ideal
}

/** A system under test: ids of the best ten, best first. */
type System = { name: string; search(text: string): readonly string[] }

function load(documents: readonly Line[]): Collection {
  const collection = createCollection()
  for (let i = 0; i < documents.length; i += documentsAtOnce) {
    collection.add(
      documents.slice(i, i + documentsAtOnce).map(({ id, title = '', text }) => ({
        url: `https://eval.example/${encodeURIComponent(id)}`,
        title,
        text,
      })),
    )
    while (collection.writer.work(50, false));
  }
  collection.settle()
  return collection
}

/** As the API answers: ten hits, every setting at its default. */
const ours = ({ searcher }: Collection): System => ({
  name: 'ours',
  search: (text) =>
    searcher
      .answer(searchRequest(text), performance.now() + timeMs)
      .hits.map(({ url }) => decodeURIComponent(url.slice(url.lastIndexOf('/') + 1))),
})

const rivalOf = (rival: Rival, documents: readonly Line[]): System => {
  documents.forEach(({ title = '', text }, number) => rival.add(number, title, text))
  return {
    name: rival.name,
    search: (text) => rival.search(text, 10).map((number) => documents[number]?.id ?? ''),
  }
}

function judge(
  system: System,
  queries: readonly Line[],
  grades: ReadonlyMap<string, Map<string, number>>,
) {
  const times: number[] = []
  let sum = 0
  for (const { id, text } of queries) {
    const start = process.cpuUsage()
    const found = system.search(text)
    const { user, system: kernel } = process.cpuUsage(start)
    times.push((user + kernel) / 1_000)
    sum += ndcg10(found, grades.get(id) ?? new Map())
  }
  times.sort((a, b) => a - b)
  return { ndcg10: sum / queries.length, p50Ms: times[times.length >> 1] ?? 0 }
}

function measure(set: string, queriesMax: number) {
  const documents = lines(gunzipSync(readFileSync(join(folder, set, 'docs.jsonl.gz'))).toString())
  const grades = readGrades(join(folder, set, 'qrels.dev.tsv'))
  const queries = lines(readFileSync(join(folder, set, 'queries.dev.jsonl'), 'utf8'))
    .filter(({ id }) => grades.has(id))
    .slice(0, queriesMax)
  const collection = load(documents)
  const result = judge(ours(collection), queries, grades)
  const { analyzer } = collection
  collection.close()
  const isChinese = /\p{Script=Han}/u.test(queries[0]?.text ?? '')
  const [fts, mini] = [createFts, createMini].map((create) => {
    const rival = create(analyzer, isChinese)
    const judged = judge(rivalOf(rival, documents), queries, grades)
    rival.close()
    return judged
  })
  return { queries: queries.length, ours: result, fts, mini }
}

/** @param parameters names of sets, all of them where there is none; a number limits the queries of each set */
export function run(parameters: readonly string[]): void {
  if (!existsSync(folder)) {
    console.log(`RESULT ${JSON.stringify({ skipped: 'the relevance data is not here' })}`)
    return
  }
  const { sets, results } = JSON.parse(
    readFileSync(join(folder, 'baselines.json'), 'utf8'),
  ) as Baselines
  const limit = parameters.find((name) => /^\d+$/.test(name))
  const queriesMax = limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
  const names = parameters.filter((name) => name in sets)
  const ratios: Record<string, number> = {}
  console.log(
    'set            queries    ours  Lucene   ratio    FTS5  MiniSearch   CPU ms p50: ours   FTS5  MiniSearch',
  )
  const figure = (value: number, digits: number, width: number): string =>
    value.toFixed(digits).padStart(width)
  for (const set of names.length > 0 ? names : Object.keys(sets)) {
    const lucene = Math.max(
      ...results
        .filter((result) => result.set === set && result.engine.startsWith('lucene'))
        .map(({ dev }) => dev.ndcg10),
    )
    const { queries, ours: own, fts, mini } = measure(set, queriesMax)
    const ratio = own.ndcg10 / lucene
    ratios[set] = ratio
    console.log(
      `${set.padEnd(14)} ${String(queries).padStart(7)}  ${figure(own.ndcg10, 4, 6)}  ${figure(lucene, 4, 6)}  ${figure(ratio, 4, 6)}  ${figure(fts?.ndcg10 ?? 0, 4, 6)}  ${figure(mini?.ndcg10 ?? 0, 4, 10)}  ${figure(own.p50Ms, 2, 17)}  ${figure(fts?.p50Ms ?? 0, 2, 5)}  ${figure(mini?.p50Ms ?? 0, 2, 10)}`,
    )
  }
  const all = Object.values(ratios)
  const meanRatio = all.reduce((sum, ratio) => sum + ratio, 0) / all.length
  const queriesAtMost = Number.isFinite(queriesMax) ? queriesMax : null
  console.log(
    `RESULT ${JSON.stringify({ meanRatio, worstRatio: Math.min(...all), queriesAtMost, ratios })}`,
  )
}

if (import.meta.main) run(process.argv.slice(2))
