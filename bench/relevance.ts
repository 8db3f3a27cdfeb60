/** How good the ranking is: every set of the relevance data through analyzer, writer and searcher, beside the best Lucene. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createCollection, searchRequest, type Collection } from '../test/unit/search/collection.ts'

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

function load(set: string): Collection {
  const collection = createCollection()
  const documents = lines(gunzipSync(readFileSync(join(folder, set, 'docs.jsonl.gz'))).toString())
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

function measure(set: string, queriesMax: number) {
  const collection = load(set)
  const grades = readGrades(join(folder, set, 'qrels.dev.tsv'))
  const times: number[] = []
  let sum = 0
  let count = 0
  for (const { id, text } of lines(readFileSync(join(folder, set, 'queries.dev.jsonl'), 'utf8'))) {
    const graded = grades.get(id)
    if (graded === undefined || count >= queriesMax) continue
    const start = process.cpuUsage()
    const { hits } = collection.searcher.answer(
      searchRequest(text, {
        group: 'none',
        snippet: 40,
        ...(process.env.M ? { match: process.env.M as 'any' } : {}),
      }),
      performance.now() + timeMs,
    )
    const used = process.cpuUsage(start)
    times.push((used.user + used.system) / 1_000)
    count += 1
    const found = hits.map(({ url }) => decodeURIComponent(url.slice(url.lastIndexOf('/') + 1)))
    sum += ndcg10(found, graded)
  }
  collection.close()
  times.sort((a, b) => a - b)
  return { ndcg10: sum / count, queries: count, p50Ms: times[times.length >> 1] ?? 0 }
}

/** @param names sets to measure, all of them when empty; a number limits the queries of each set */
export function run(parameters: readonly string[]): void {
  if (!existsSync(folder)) {
    console.log(`RESULT ${JSON.stringify({ skipped: 'the relevance data is not here' })}`)
    return
  }
  const { sets, results } = JSON.parse(
    readFileSync(join(folder, 'baselines.json'), 'utf8'),
  ) as Baselines
  const queriesMax = Number(parameters.find((name) => /^\d+$/.test(name)) ?? 500)
  const names = parameters.filter((name) => name in sets)
  const ratios: Record<string, number> = {}
  console.log('set            queries  nDCG@10  Lucene   ratio   CPU ms p50')
  for (const set of names.length > 0 ? names : Object.keys(sets)) {
    const lucene = Math.max(
      ...results
        .filter((result) => result.set === set && result.engine.startsWith('lucene'))
        .map(({ dev }) => dev.ndcg10),
    )
    const result = measure(set, queriesMax)
    ratios[set] = result.ndcg10 / lucene
    console.log(
      `${set.padEnd(14)} ${String(result.queries).padStart(7)}  ${result.ndcg10.toFixed(4)}   ${lucene.toFixed(4)}   ${(ratios[set] ?? 0).toFixed(4)}  ${result.p50Ms.toFixed(2)}`,
    )
  }
  const all = Object.values(ratios)
  const meanRatio = all.reduce((sum, ratio) => sum + ratio, 0) / all.length
  console.log(
    `RESULT ${JSON.stringify({ meanRatio, worstRatio: Math.min(...all), queriesMax, ratios })}`,
  )
}

if (import.meta.main) run(process.argv.slice(2))
