/** Known-item search over real sites: MRR@10 and hit@1 of the queries beside the checkout, through the API. All crawled sites together. `bench -- nav [medium|small]`. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { localCrawl, makeDirectory, run, serve } from '../test/e2e/program.ts'
import type { Json } from '../test/e2e/program.ts'
import { report, round } from './process-tree.ts'
import { crawlArguments, serveSites } from './sites.ts'
import type { SiteSet } from './sites.ts'

const kit = resolve(process.env['EVAL_KIT'] ?? join(import.meta.dirname, '../../shared/eval'))
const set: SiteSet = process.argv[2] === 'small' ? 'small' : 'medium'
const depth = 10
const crawlTimeoutMs = 1_800_000
const triesMax = 20
const retryMs = 1_000

type Query = { site: string; query: string; path: string }

function readQueries(language: 'en' | 'zh'): Query[] {
  const file = join(kit, 'nav', `nav-${language}.dev.tsv`)
  if (!existsSync(file)) throw new Error(`there is no ${file}`)
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [site = '', query = '', path = ''] = line.split('\t')
    return { site, query, path }
  })
}

/** A machine that does too much else answers 503 now and then: that is no answer. */
async function ask(server: Awaited<ReturnType<typeof serve>>, query: string): Promise<Json> {
  const path = `/api/v1/search?limit=${depth}&q=${encodeURIComponent(query)}`
  for (let tries = 1; ; tries += 1) {
    const { status, body } = await server.api(path)
    if (status === 200) return body
    if (status !== 503 || tries === triesMax) throw new Error(`${query}: ${JSON.stringify(body)}`)
    await setTimeout(retryMs)
  }
}

const served = await serveSites(set)
const directory = makeDirectory()
try {
  const args = ['crawl', ...crawlArguments(served.origin, served.sites), '--data', directory.path]
  const crawled = await run([...args, ...localCrawl, '-f', 'json'], { timeoutMs: crawlTimeoutMs })
  if (crawled.code !== 0) throw new Error(crawled.stderr)
  const server = await serve(['--data', directory.path])
  const names = new Set(served.sites.map(({ name }) => name))
  const rows: Record<string, unknown>[] = []
  for (const language of ['en', 'zh'] as const) {
    const queries = readQueries(language).filter(({ site }) => names.has(site))
    const ranks: number[] = []
    const missed: string[] = []
    for (const { query, path } of queries) {
      const body = await ask(server, query)
      const rank = body.hits.findIndex(({ url }: Json) => new URL(url).pathname === path) + 1
      ranks.push(rank)
      if (rank === 0) missed.push(`${query} -> ${path}`)
    }
    if (process.env['VERBOSE'] !== undefined) console.log(missed.join('\n'))
    const mean = (value: (rank: number) => number): number =>
      round(ranks.reduce((sum, rank) => sum + value(rank), 0) / ranks.length, 4)
    rows.push({
      language,
      queries: queries.length,
      'MRR@10': mean((rank) => (rank === 0 ? 0 : 1 / rank)),
      'hit@1': mean((rank) => (rank === 1 ? 1 : 0)),
      'hit@10': mean((rank) => (rank === 0 ? 0 : 1)),
    })
  }
  await server.stop()
  report(rows, { set, rows })
} finally {
  served.close()
  directory.remove()
}
