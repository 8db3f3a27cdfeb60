/** Memory of the one process: peak while it crawls and answers, and what it holds when it only serves. `bench -- memory [small|medium] [IDLE_SECONDS] [MB]`. */
import { localServe, makeDirectory, serve } from '../test/e2e/program.ts'
import type { Json, Server } from '../test/e2e/program.ts'
import { memoryOf, report, round, watch } from './process-tree.ts'
import { serveSites } from './sites.ts'
import type { RealSite, SiteSet } from './sites.ts'

const set: SiteSet = process.argv[2] === 'small' ? 'small' : 'medium'
/** Parser threads end after 30 s without work. */
const idleSeconds = Number(process.argv[3] ?? 40)
/** What --memory says. */
const memory = process.argv[4] ?? '256'
const queries = [
  'table',
  'install',
  'file system',
  '安装',
  '文件',
  '資料',
  'select index',
  '设置 网络',
]

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const admin = (server: Server): Record<string, string> => ({
  authorization: `Bearer ${server.key}`,
  'content-type': 'application/json',
})

async function crawlAndAsk(server: Server, origin: string, sites: readonly RealSite[]) {
  const spec = {
    seeds: sites.map(({ seed }) => `${origin}${seed}`),
    include: sites.map(({ prefix }) => `${origin}${prefix}`),
    delayMs: 0,
  }
  const init = { method: 'POST', headers: admin(server), body: JSON.stringify(spec) }
  const { body: job } = await server.api('/api/v1/admin/jobs', init)
  const latencies: number[] = []
  for (let turn = 0; ; turn++) {
    const q = encodeURIComponent(queries[turn % queries.length] ?? '')
    const beganMs = performance.now()
    await server.api(`/api/v1/search?q=${q}`)
    latencies.push(performance.now() - beganMs)
    await sleep(100)
    if (turn % 10 !== 0) continue
    const now: Json = (await server.api(`/api/v1/admin/jobs/${job.id}`, { headers: admin(server) }))
      .body
    if (now.state !== 'running' && now.state !== 'waiting') break
  }
  return latencies.toSorted((a, b) => a - b)
}

const served = await serveSites(set)
const directory = makeDirectory()
const args = ['--data', directory.path, ...localServe, '--batch-ms', '2000', '--memory', memory]
const busy = await serve(args)
const watched = watch(busy.child.pid ?? 0)
const latencies = await crawlAndAsk(busy, served.origin, served.sites)
const { body: stats } = await busy.api('/api/v1/stats')
await sleep(idleSeconds * 1000)
const settled = memoryOf(busy.child.pid ?? 0)
const { peakRssMb } = watched.stop()
await busy.stop()
served.close()
const idle = await serve(['--data', directory.path])
for (const q of queries) await idle.api(`/api/v1/search?q=${encodeURIComponent(q)}`)
await sleep(Math.min(5, idleSeconds) * 1000)
const serving = memoryOf(idle.child.pid ?? 0)
await idle.stop()
directory.remove()
const result = {
  set,
  memory: Number(memory),
  documents: stats.documents,
  peakRssMb: round(peakRssMb),
  afterCrawlRssMb: round(settled?.rssMb ?? 0),
  afterCrawlAnonymousMb: round(settled?.anonymousMb ?? 0),
  idleRssMb: round(serving?.rssMb ?? 0),
  idleAnonymousMb: round(serving?.anonymousMb ?? 0),
  searchP95Ms: round(latencies[Math.floor(latencies.length * 0.95)] ?? 0),
}
report([result], result)
