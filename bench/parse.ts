/** CPU time of a page in the parser thread, real pages: the thread as the engine runs it, then stage by stage in this one. `bench -- parse [FOLDER] [EVERY]`. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PerformanceObserver } from 'node:perf_hooks'
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  Worker,
  workerData,
} from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { textTables } from '../src/assets.ts'
import { loadConfig } from '../src/config.ts'
import { decodeText } from '../src/crawl/charset.ts'
import { extractContent } from '../src/crawl/extract.ts'
import type { ParsedPage, ParseJob, ParseOutcome } from '../src/crawl/page.ts'
import { linksOf } from '../src/crawl/page-links.ts'
import { parsePageTree } from '../src/crawl/page-tree.ts'
import { decodeBody } from '../src/lib/decode.ts'
import { packText } from '../src/lib/packed-text.ts'
import { type JobReply, threadIsReady } from '../src/lib/pool.ts'
import { type ParserData, run as runParser } from '../src/parser.ts'
import { fingerprint } from '../src/text/fingerprint.ts'
import { createKeywords } from '../src/text/keywords.ts'
import { detectLanguage } from '../src/text/language.ts'
import { loadTextTables } from '../src/text/tables.ts'
import { createAnalyzer } from '../src/text/tokenize.ts'
import { report, round } from './process-tree.ts'
import { listSites, sitesFolder } from './sites.ts'

/** One page of so many is read. */
const every = Number(process.argv[3] ?? 4)
/** As in src/engine.ts. */
const heapLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 }
/** Pages on their way to the thread at any time. */
const underWay = 8
const seed = 1
const bodyBytesMax = 5 * 2 ** 20

/** Pages of the medium sites, or of a whole folder where it holds none of them, packed as a server would. */
function readJobs(): ParseJob[] {
  const folder = process.argv[2] ?? sitesFolder('medium')
  const prefixes = listSites('medium').map(({ prefix }) => prefix)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.html?$/.test(path))
    .map((path) => `/${path}`)
  const known = paths.filter((path) => prefixes.some((prefix) => path.startsWith(prefix)))
  return (known.length > 0 ? known : paths)
    .toSorted()
    .filter((_, index) => index % every === 0)
    .map((path) => ({
      url: `http://127.0.0.1${path}`,
      body: new Uint8Array(gzipSync(readFileSync(join(folder, path)))).buffer,
      encoding: 'gzip',
      contentType: 'text/html',
      robotsTag: '',
      rule: null,
      depth: 0,
      seed,
    }))
}

type ThreadData = ParserData & { pauses: MessagePort }

/** The parser thread with an ear for the collector: each message on `pauses` is answered with the ms so far. */
function runThread({ pauses, ...data }: ThreadData): void {
  let pausesMs = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pausesMs += duration
  })
  observer.observe({ entryTypes: ['gc'] })
  pauses.on('message', () => setImmediate(() => pauses.postMessage(pausesMs)))
  pauses.unref()
  runParser(data)
}

/** CPU ms a page while `work` runs: of this thread, and of the whole process. */
async function measure(pages: number, work: () => Promise<void>) {
  const thread = process.threadCpuUsage()
  const whole = process.cpuUsage()
  await work()
  const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000 / pages
  return {
    threadMs: msOf(process.threadCpuUsage(thread)),
    processMs: msOf(process.cpuUsage(whole)),
  }
}

/** Two rounds: the first warms up, as does the begin of a long crawl. */
async function measureThread(jobs: readonly ParseJob[], tables: SharedArrayBuffer) {
  const { config } = loadConfig({}, {}, null)
  const { port1: pauses, port2 } = new MessageChannel()
  const data: ThreadData = { config, usesKeywordModel: true, tables, pauses: port2 }
  const worker = new Worker(new URL(import.meta.url), {
    workerData: data,
    transferList: [port2],
    resourceLimits: heapLimits,
  })
  const pausesMs = (): Promise<number> =>
    new Promise((found) => {
      pauses.once('message', found)
      pauses.postMessage(null)
    })
  const done = new Map<number, () => void>()
  worker.on('message', (reply: JobReply<ParseOutcome> | typeof threadIsReady) => {
    if (reply === threadIsReady) return
    assert('result' in reply && reply.result.kind !== 'failed')
    done.get(reply.id)?.()
    done.delete(reply.id)
  })
  let heapMb = 0
  const sendAll = async (): Promise<void> => {
    let next = 0
    const lane = async (): Promise<void> => {
      for (let id = next++; id < jobs.length; id = next++) {
        const body = (jobs[id] as ParseJob).body.slice(0)
        await new Promise<void>((finish) => {
          done.set(id, finish)
          worker.postMessage({ id, job: { kind: 'page', job: { ...jobs[id], body } } }, [body])
        })
        if (id % 100 === 0) {
          const { used_heap_size: used } = await worker.getHeapStatistics()
          heapMb = Math.max(heapMb, used / 2 ** 20)
        }
      }
    }
    await Promise.all(Array.from({ length: underWay }, lane))
  }
  const first = await measure(jobs.length, sendAll)
  const before = await worker.cpuUsage()
  const pausesBeforeMs = await pausesMs()
  const second = await measure(jobs.length, sendAll)
  const { user, system } = await worker.cpuUsage(before)
  const collectorMs = (await pausesMs()) - pausesBeforeMs
  const { total_heap_size: total } = await worker.getHeapStatistics()
  pauses.close()
  await worker.terminate()
  return {
    coldMs: round(first.processMs, 3),
    processMs: round(second.processMs, 3),
    parserMs: round((user + system) / 1_000 / jobs.length, 3),
    collectorShare: round(collectorMs / ((user + system) / 1_000), 3),
    receiverMs: round(second.threadMs, 3),
    heapUsedMb: round(heapMb),
    heapMb: round(total / 2 ** 20),
    peakRssMb: round(process.resourceUsage().maxRSS / 1_024),
  }
}

/** ms of CPU by the name of the stage. */
type Stages = Map<string, number>

/** What `parsePage` does with a page of HTML, each step under its name. */
function createStages(stages: Stages, tables: SharedArrayBuffer): (job: ParseJob) => Promise<void> {
  const dictionary = loadTextTables(tables)
  const analyzer = createAnalyzer(dictionary)
  const keywords = createKeywords(dictionary, analyzer)
  const charge = (name: string, since: NodeJS.CpuUsage): void => {
    const { user, system } = process.threadCpuUsage(since)
    stages.set(name, (stages.get(name) ?? 0) + (user + system) / 1_000)
  }
  const timed = <T>(name: string, step: () => T): T => {
    const since = process.threadCpuUsage()
    const result = step()
    charge(name, since)
    return result
  }
  return async ({ url, body, encoding, contentType }) => {
    const decoded = timed('inflate', () => decodeBody(body, encoding, bodyBytesMax))
    assert(decoded.kind === 'decoded')
    const { text: html } = timed('charset', () => decodeText(decoded.bytes, contentType))
    const tree = timed('tree', () => parsePageTree(html))
    const content = timed('extract', () => extractContent(tree, url))
    const links = timed('links', () => linksOf(tree, url, 5_000, false))
    const { title, headings, text, rest, doubtful } = content
    const lang = timed('language', () => detectLanguage(`${title}\n${text}`, tree.lang))
    const read = doubtful === '' ? text : `${text}\n${doubtful}`
    const terms = timed('terms', () =>
      analyzer.document({ title, headings, text: read, rest, url }),
    )
    const since = process.threadCpuUsage()
    await keywords.keywords(text, title, lang, 10)
    charge('keywords', since)
    timed('pack', () => [packText(text), packText(rest)])
    const print = timed('fingerprint', () => fingerprint(text, seed))
    const page: Partial<ParsedPage> = {
      ...terms,
      links: [...links.keys()],
      linkTexts: [...links.values()].join('\n'),
      fingerprint: print,
    }
    timed('message', () => structuredClone(page))
  }
}

async function measureStages(
  jobs: readonly ParseJob[],
  tables: SharedArrayBuffer,
): Promise<Record<string, number>> {
  const stages: Stages = new Map()
  const parse = createStages(stages, tables)
  for (const job of jobs) await parse(job)
  stages.clear()
  for (const job of jobs) await parse(job)
  return Object.fromEntries(
    [...stages].map(([name, ms]) => [name, round(ms / jobs.length, 3)] as const),
  )
}

async function main(): Promise<void> {
  const jobs = readJobs()
  const tables = textTables()
  const thread = await measureThread(jobs, tables)
  const stages = await measureStages(jobs, tables)
  report(
    Object.entries({ ...stages, 'whole thread': thread.parserMs }).map(([stage, ms]) => ({
      stage,
      'CPU ms/page': ms,
    })),
    { pages: jobs.length, ...thread, stages },
  )
}

if (isMainThread) await main()
else runThread(workerData as ThreadData)
