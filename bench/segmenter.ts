/** Which cutter for Chinese: relevance with a small BM25, speed and memory of our dictionary, jieba's addon and ICU. Decides docs/adr/0001; not part of the product. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { textTables } from '../src/assets.ts'
import type { Dictionary } from '../src/text/dictionary.ts'
import { loadTextTables } from '../src/text/tables.ts'
import { BIGRAM_PREFIX, createAnalyzer, termList, type Analyzer } from '../src/text/tokenize.ts'

const SETS = ['rgb-zh', 'drcd-hant', 'dureader-demo', 'cmrc2018']
/** What counts of a query: weight of its words, weight of its pairs. */
const MODES = [
  ['words', 1, 0],
  ['both', 1, 0.5],
  ['pairs', 0, 1],
] as const
const K1 = 0.7
const B = 0.7

type Score = {
  readQrels(file: string): unknown
  means(scores: unknown): { ndcg10: number }
  scoreRun(run: unknown, qrels: unknown): unknown
}
type Doc = { id: string; title?: string; text?: string }
type Postings = { documents: number[]; frequencies: number[] }

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
const rssMb = (): number => process.memoryUsage().rss / 1e6

/** The same dictionary object with another cut: folding, stop words and bigrams stay. */
const cutters: Record<string, () => (dictionary: Dictionary) => Dictionary['cut']> = {
  'own dictionary': () => (dictionary) => (run, use) => dictionary.cut(run, use),
  '@node-rs/jieba': () => {
    const require = createRequire(import.meta.url)
    const { Jieba } = require('@node-rs/jieba') as typeof import('@node-rs/jieba')
    const { dict } = require('@node-rs/jieba/dict') as { dict: Uint8Array }
    const jieba = Jieba.withDict(dict)
    return () => (run, use) => {
      for (const word of jieba.cutForSearch(run, true)) {
        const start = run.indexOf(word) // its place is of no use here
        use(start, start + word.length, -1, false)
      }
    }
  },
  'Intl.Segmenter': () => {
    const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
    return () => (run, use) => {
      for (const { segment, index } of segmenter.segment(run)) {
        use(index, index + segment.length, -1, false)
      }
    }
  },
}

function buildIndex(analyzer: Analyzer, docs: readonly Doc[]) {
  const postings = new Map<string, Postings>()
  const lengths = docs.map(({ title = '', text = '' }, d) => {
    const analysed = analyzer.document({ title, headings: '', text, rest: '', url: '' })
    for (const [i, term] of termList(analysed.terms).entries()) {
      let list = postings.get(term)
      if (!list) postings.set(term, (list = { documents: [], frequencies: [] }))
      list.documents.push(d)
      list.frequencies.push(2 ** ((analysed.quants[i] as number) / 8) - 1)
    }
    return analysed.length
  })
  const mean = lengths.reduce((sum, length) => sum + length, 0) / docs.length
  return { postings, norms: lengths.map((length) => 1 - B + (B * length) / mean) }
}

function search(
  { postings, norms }: ReturnType<typeof buildIndex>,
  terms: readonly (readonly [string, number])[],
): [number, number][] {
  const scores = new Map<number, number>()
  for (const [term, weight] of terms) {
    const list = postings.get(term)
    if (!list || weight === 0) continue
    const df = list.documents.length
    const idf = weight * Math.log(1 + (norms.length - df + 0.5) / (df + 0.5))
    const k1 = /^[a-z0-9]/.test(term) ? 1.2 : K1
    for (const [i, d] of list.documents.entries()) {
      const f = list.frequencies[i] as number
      const score = (idf * f * (k1 + 1)) / (f + k1 * (norms[d] as number))
      scores.set(d, (scores.get(d) ?? 0) + score)
    }
  }
  return [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 100)
}

const readLines = <T>(bytes: Uint8Array): T[] =>
  Buffer.from(bytes)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T)

async function main(folder: string, only: string | undefined): Promise<void> {
  const score = (await import(pathToFileURL(join(folder, 'score.mjs')).href)) as Score
  const dictionary = loadTextTables(textTables())
  const result: Record<string, unknown> = {}
  for (const [name, load] of Object.entries(cutters)) {
    if (only !== undefined && only !== name) continue
    const [startMs, startMb] = [cpuMs(), rssMb()]
    const cut = load()(dictionary)
    cut('启动', () => {})
    const row: Record<string, number> = { loadMs: cpuMs() - startMs, loadMb: rssMb() - startMb }
    const analyzer = createAnalyzer({ ...dictionary, cut })
    let text = ''
    for (const set of SETS) {
      const docs = readLines<Doc>(gunzipSync(readFileSync(join(folder, set, 'docs.jsonl.gz'))))
      text += docs
        .slice(0, 600)
        .map((doc) => doc.text)
        .join('\n')
      const index = buildIndex(analyzer, docs)
      const queries = readLines<{ id: string; text: string }>(
        readFileSync(join(folder, set, 'queries.dev.jsonl')),
      )
      const qrels = score.readQrels(join(folder, set, 'qrels.dev.tsv'))
      for (const [mode, wordWeight, pairWeight] of MODES) {
        const run = new Map<string, string[]>()
        for (const query of queries) {
          const { words, bigrams } = analyzer.query(query.text)
          const telling = words.filter((word) => !word.isStop)
          const hits = search(index, [
            ...telling.map(({ term }) => [term, wordWeight] as const),
            ...bigrams.map((term) => [term, pairWeight] as const),
          ])
          run.set(
            query.id,
            hits.map(([d]) => (docs[d] as Doc).id),
          )
        }
        row[`${set} ${mode}`] = score.means(score.scoreRun(run, qrels)).ndcg10
      }
      row[`${set} postings`] = [...index.postings].reduce(
        (sum, [term, { documents }]) =>
          sum + (term.startsWith(BIGRAM_PREFIX) ? 0 : documents.length),
        0,
      )
    }
    const runs = text.match(/\p{Script=Han}+/gu) ?? []
    const before = cpuMs()
    for (const run of runs) cut(run, () => {})
    row.mbPerS = Buffer.byteLength(runs.join('')) / 1000 / (cpuMs() - before)
    console.log(
      name.padEnd(16),
      Object.entries(row)
        .map(([key, value]) => `${key} ${value.toFixed(value < 2 ? 4 : 1)}`)
        .join('  '),
    )
    result[name] = row
  }
  console.log(`RESULT ${JSON.stringify(result)}`)
}

/* node bench/segmenter.ts [folder of the relevance sets] [one cutter] */
await main(process.argv[2] ?? join(import.meta.dirname, '../../shared/eval'), process.argv[3])
