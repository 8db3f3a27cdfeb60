/**
 * What whole answers take over HTTP while the same process crawls: `npm run bench -- serving [DOCUMENTS] [small|medium] [DATA]`. A directory of
 * made-up pages (100,000 unless told otherwise; DATA is one of them that is kept, and made where it is not there), five queries a second
 * with snippets and facets, each asked once, first at rest and then while real sites are crawled. Wall time, and CPU of the search thread.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, serve, type Json, type Server } from '../test/e2e/program.ts'
import { createRandom, pick, type Random } from '../test/site/words.ts'
import { fillDirectory } from './filled.ts'
import { middlingRank, wordOfRank } from './made-up.ts'
import { report, round } from './process-tree.ts'
import { missingKit, serveSites, type SiteSet } from './sites.ts'

const documents = Number(process.argv[2] ?? 100_000)
const set: SiteSet = process.argv[3] === 'small' ? 'small' : 'medium'
const kept = process.argv[4]
const everyMs = 200
const warmUpQueries = 30
const restQueries = 100
/** Some minutes at most. */
const crawlQueriesMax = 1_500
const facets = 'host,lang,type,date,field:colour'

type Kind = { name: string; of: (random: Random) => string }
const common = (random: Random): string => wordOfRank(20 + Math.floor(random() * 45))
const middling = (random: Random): string => wordOfRank(middlingRank + Math.floor(random() * 500))
const rare = (random: Random): string => wordOfRank(20_000 + Math.floor(random() * 200_000))
const kinds: readonly Kind[] = [
  { name: 'common word', of: common },
  { name: 'two common words', of: (random) => `${common(random)} ${common(random)}` },
  { name: 'OR of three common', of: (random) => [1, 2, 3].map(() => common(random)).join(' OR ') },
  { name: 'common and middling', of: (random) => `${common(random)} ${middling(random)}` },
  { name: 'rare word', of: rare },
  { name: 'phrase of two common words', of: (random) => `"${common(random)} ${common(random)}"` },
  {
    name: 'common word, filtered',
    of: (random) =>
      `${common(random)} lang:en field:colour=${pick(random, ['red', 'green', 'blue'])}`,
  },
  {
    name: 'a word of the sites',
    of: (random) => pick(random, ['table', 'install', 'system', '安装', '文件', '设置']),
  },
]

/** Nanoseconds that each thread of the process has run. */
function runTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [ns = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
      times.set(thread, Number(ns))
    } catch {
      // It has ended.
    }
  }
  return times
}

type Asked = { kind: string; wallMs: number; cpuMs: number; status: number }

/** @param thread whose time counts; null = that of all */
async function ask(
  server: Server,
  kind: Kind,
  random: Random,
  thread: string | null,
): Promise<Asked> {
  const pid = server.child.pid ?? 0
  const query = new URLSearchParams({ q: kind.of(random), facets })
  const before = runTimes(pid)
  const beganMs = performance.now()
  const { status } = await server.api(`/api/v1/search?${query}`)
  const wallMs = performance.now() - beganMs
  const ranMs = (id: string): number => ((runTimes(pid).get(id) ?? 0) - (before.get(id) ?? 0)) / 1e6
  return { kind: kind.name, wallMs, cpuMs: thread === null ? 0 : ranMs(thread), status }
}

/** The thread that works most while nothing but queries goes on. */
async function searchThread(server: Server, random: Random): Promise<string> {
  const pid = server.child.pid ?? 0
  const before = runTimes(pid)
  for (let i = 0; i < warmUpQueries; i += 1)
    await ask(server, kinds[i % kinds.length] as Kind, random, null)
  const busiest = [...runTimes(pid)]
    .map(([id, ns]): [string, number] => [id, ns - (before.get(id) ?? 0)])
    .toSorted(([, a], [, b]) => b - a)
  return busiest[0]?.[0] ?? ''
}

/** Five a second, until `isOver`; one that is late is not made up for. */
async function askOn(
  server: Server,
  random: Random,
  thread: string,
  most: number,
  isOver: () => Promise<boolean>,
): Promise<Asked[]> {
  const asked: Asked[] = []
  for (let i = 0; i < most; i += 1) {
    const nextMs = performance.now() + everyMs
    asked.push(await ask(server, kinds[i % kinds.length] as Kind, random, thread))
    if (i % 10 === 9 && (await isOver())) break
    await new Promise((done) => setTimeout(done, Math.max(0, nextMs - performance.now())))
  }
  return asked
}

function spread(values: readonly number[]): { p50: number; p95: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return { p50: at(0.5), p95: at(0.95), max: at(1) }
}

function rowsOf(when: string, asked: readonly Asked[]) {
  const row = (name: string, of: readonly Asked[]) => {
    const [wall, cpu] = [
      spread(of.map(({ wallMs }) => wallMs)),
      spread(of.map(({ cpuMs }) => cpuMs)),
    ]
    return {
      when,
      query: name,
      asked: of.length,
      refused: of.filter(({ status }) => status !== 200).length,
      wallP50: wall.p50,
      wallP95: wall.p95,
      cpuP50: cpu.p50,
      cpuP95: cpu.p95,
      cpuMax: cpu.max,
    }
  }
  return [
    ...kinds.map(({ name }) =>
      row(
        name,
        asked.filter(({ kind }) => kind === name),
      ),
    ),
    row('all', asked),
  ]
}

async function startCrawl(
  server: Server,
  origin: string,
  sites: Awaited<ReturnType<typeof serveSites>>['sites'],
) {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  const spec = {
    seeds: sites.map(({ seed }) => `${origin}${seed}`),
    include: sites.map(({ prefix }) => `${origin}${prefix}`),
    delayMs: 0,
  }
  const init = { method: 'POST', headers, body: JSON.stringify(spec) }
  const { body: job } = await server.api('/api/v1/admin/jobs', init)
  return async (): Promise<boolean> => {
    const now: Json = (await server.api(`/api/v1/admin/jobs/${job.id}`, { headers })).body
    return now.state !== 'running' && now.state !== 'waiting'
  }
}

async function measure(): Promise<void> {
  const why = missingKit()
  if (why !== null) return console.error(`No sites to crawl: ${why}`)
  const temporary = makeDirectory()
  const data = kept ?? temporary.path
  if (!existsSync(join(data, 'findling.db'))) {
    mkdirSync(data, { recursive: true })
    fillDirectory(data, documents)
  }
  const served = await serveSites(set)
  // Commits as a server makes them: every 100 pages or two seconds.
  const server = await serve(['--data', data, '--allow-private', '127.0.0.0/8'])
  const random = createRandom(7)
  const thread = await searchThread(server, random)
  const rest = await askOn(server, random, thread, restQueries, async () => false)
  const isOver = await startCrawl(server, served.origin, served.sites)
  const crawling = await askOn(server, random, thread, crawlQueriesMax, isOver)
  await server.stop()
  served.close()
  temporary.remove()
  const rows = [...rowsOf('at rest', rest), ...rowsOf(`crawling ${set}`, crawling)]
  report(rows, { documents, set, rows })
}

await measure()
