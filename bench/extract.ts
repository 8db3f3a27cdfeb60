/** Main content: F1 on the labelled pages by their own scorer, and CPU time a page with its parse. Readability is not run here: its figure stands in the facts. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { extractContent } from '../src/crawl/extract.ts'
import { parsePageTree } from '../src/crawl/page-tree.ts'

const data = process.argv[2] ?? '../shared/extraction'
const rounds = 3

type Page = { id: string; url: string; html: string }
type Score = { pages: number; f1: number; precision: number; recall: number }

const expected = JSON.parse(readFileSync(`${data}/expected.json`, 'utf8')) as Record<
  string,
  { url: string }
>
const pages: Page[] = Object.entries(expected).map(([id, { url }]) => ({
  id,
  url,
  html: gunzipSync(readFileSync(`${data}/html/${id}.html.gz`)).toString('utf8'),
}))

/** CPU ms, user and system, garbage collection included. */
function cpuMs<T>(work: () => T): { value: T; ms: number } {
  const start = process.cpuUsage()
  const value = work()
  const { user, system } = process.cpuUsage(start)
  return { value, ms: (user + system) / 1_000 }
}

/** One warm-up round, then each page's best of the rest: other work on the machine only adds. */
const parseMs = pages.map(() => Infinity)
const wholeMs = pages.map(() => Infinity)
const texts = new Map<string, string>()
for (let round = 0; round <= rounds; round++)
  for (const [index, { id, url, html }] of pages.entries()) {
    const parse = cpuMs(() => parsePageTree(html))
    const extract = cpuMs(() => extractContent(parse.value, url))
    texts.set(id, extract.value.text)
    if (round === 0) continue
    parseMs[index] = Math.min(parseMs[index] ?? Infinity, parse.ms)
    wholeMs[index] = Math.min(wholeMs[index] ?? Infinity, parse.ms + extract.ms)
  }

function scoreTexts(): Score {
  const folder = mkdtempSync(join(tmpdir(), 'findling-extract-'))
  try {
    const file = join(folder, 'extracted.jsonl')
    writeFileSync(file, [...texts].map(([id, text]) => JSON.stringify({ id, text })).join('\n'))
    const printed = execFileSync(process.execPath, [`${data}/score.mjs`, file], {
      encoding: 'utf8',
    })
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '{}') as Score
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0
const round3 = (value: number): number => Math.round(value * 1_000) / 1_000

const { f1, precision, recall } = scoreTexts()
const result = {
  pages: pages.length,
  f1,
  precision,
  recall,
  cpuMsMean: round3(mean(wholeMs)),
  cpuMsP50: round3(percentile(wholeMs, 0.5)),
  cpuMsP95: round3(percentile(wholeMs, 0.95)),
  parseMsMean: round3(mean(parseMs)),
  empty: [...texts.values()].filter((text) => text === '').length,
}
console.table(result)
console.log(`RESULT ${JSON.stringify(result)}`)
