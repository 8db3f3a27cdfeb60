/**
 * CPU per page of a whole crawl (fetch to index) of real sites, beside the floor of fetching the same pages only, and beside the skeleton just
 * before and after it: the same machine takes up to half as long again an hour later. `bench -- crawl [small|medium]`.
 */
import { request, Agent } from 'undici'
import { jsonLines, localCrawl, makeDirectory, run, start } from '../test/e2e/program.ts'
import type { Json } from '../test/e2e/program.ts'
import { report, round, watch } from './process-tree.ts'
import { measureSkeleton } from './skeleton.ts'
import { crawlArguments, serveSites } from './sites.ts'
import type { SiteSet } from './sites.ts'

const connections = 8
const usageExit = 64

const set: SiteSet = process.argv[2] === 'small' ? 'small' : 'medium'
const served = await serveSites(set)
const directory = makeDirectory()
try {
  const args = ['crawl', ...crawlArguments(served.origin, served.sites), '--data', directory.path]
  const flags = [...localCrawl, '--batch-ms', '2000', '-f', 'json']
  const before = await measureSkeleton(served.origin, served.sites)
  const { ended, cpuMs, peakRssMb, seconds } = await measuredCrawl([...args, ...flags])
  const after = await measureSkeleton(served.origin, served.sites)
  if (ended.code !== 0) throw new Error(ended.stderr)
  const summary: Json = JSON.parse(ended.stdout)
  const pages = summary.stored
  const exported = await run(['export', '--data', directory.path], { timeoutMs: 300_000 })
  const urls = jsonLines(exported.stdout).map(({ url }) => String(url))
  const floor = await fetchOnly(urls)
  const stages = /^stats (\{.*\})$/m.exec(ended.stderr)?.[1]
  const skeleton = before === null || after === null ? null : (before + after) / 2
  const result = {
    set,
    pages: urls.length,
    expected: served.sites.reduce((sum, site) => sum + site.pages, 0),
    cpuMsPerPage: round(cpuMs / urls.length, 2),
    floorCpuMsPerPage: round(floor.cpuMs / urls.length, 2),
    ratio: round(cpuMs / floor.cpuMs),
    skeleton:
      skeleton === null
        ? null
        : { cpuMsPerPage: [before, after], ratio: round(cpuMs / urls.length / skeleton, 2) },
    pagesPerSecond: round(urls.length / seconds),
    peakRssMb: round(peakRssMb),
    stored: pages,
    duplicates: summary.duplicates,
    failed: summary.failed,
    stages: stages === undefined ? null : JSON.parse(stages),
  }
  report(
    [
      {
        what: 'crawl',
        'CPU ms/page': result.cpuMsPerPage,
        'pages/s': result.pagesPerSecond,
        'peak MB': result.peakRssMb,
      },
      {
        what: 'fetch only',
        'CPU ms/page': result.floorCpuMsPerPage,
        'pages/s': round(urls.length / floor.seconds),
      },
      ...(skeleton === null ? [] : [{ what: 'bare skeleton', 'CPU ms/page': round(skeleton, 2) }]),
    ],
    result,
  )
} finally {
  served.close()
  directory.remove()
}

/** With the share of its stages where the program can tell it (--stats), without where it cannot. */
async function measuredCrawl(args: readonly string[]) {
  for (const more of [['--stats'], []]) {
    const beganMs = performance.now()
    const crawl = start([...args, ...more])
    const watched = watch(crawl.child.pid ?? 0)
    const ended = await crawl.ended
    const seconds = (performance.now() - beganMs) / 1000
    const cost = watched.stop()
    if (ended.code !== usageExit) return { ended, seconds, ...cost }
  }
  throw new Error('the program does not take these arguments')
}

/** The floor: the same pages, bodies read and dropped, in this process. */
async function fetchOnly(urls: readonly string[]): Promise<{ cpuMs: number; seconds: number }> {
  const agent = new Agent({ connections })
  const cpu = process.cpuUsage()
  const beganMs = performance.now()
  const queue = [...urls]
  const worker = async (): Promise<void> => {
    for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
      const { body } = await request(url, { dispatcher: agent })
      await body.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const { user, system } = process.cpuUsage(cpu)
  await agent.close()
  return { cpuMs: (user + system) / 1000, seconds: (performance.now() - beganMs) / 1000 }
}
