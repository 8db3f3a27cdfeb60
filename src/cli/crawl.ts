/** `findling crawl`: runs a job here or through the running server, shows its progress, prints its summary. */
import { setTimeout as wait } from 'node:timers/promises'
import { openApp, type App } from '../app.ts'
import type { EngineCost } from '../engine.ts'
import { findServer, type Client } from './client.ts'
import { formatOf, integerOption, write, type Call, type CommandOption } from './command.ts'
import { AppError } from '../lib/errors.ts'
import { progressLine, summarise, summaryText } from './progress.ts'
import type { DescribedInFile } from '../crawl/source-file.ts'
import { putSources, readSourceFile } from './sources.ts'
import { registrableDomain } from '../lib/url.ts'
import type {
  CrawlSpec,
  HostStatus,
  JobCounts,
  JobStatus,
  Scope,
  SourceStatus,
} from '../store/records.ts'

export const crawlOptions: Readonly<Record<string, CommandOption>> = {
  scope: {
    type: 'string',
    value: 'page|path|host|domain|any',
    about: 'What belongs to the crawl (path: the folder of the URL and below).',
  },
  include: {
    type: 'string',
    many: true,
    value: 'PREFIX',
    about: 'Further URLs in scope: all that begin so. Repeatable.',
  },
  'max-pages': {
    type: 'string',
    value: 'N',
    about: 'Stops when so many pages are stored (no limit).',
  },
  'max-pages-per-host': {
    type: 'string',
    value: 'N',
    about: 'Stores at most so many pages of each host (no limit).',
  },
  depth: { type: 'string', value: 'N', about: 'Links followed from the start, at most (64).' },
  stats: { type: 'boolean', about: 'Tells on stderr what the crawl cost, by thread.' },
  delay: {
    type: 'string',
    value: 'MS',
    about:
      'Wait between two requests to a host (1000 for a public one; Crawl-delay is obeyed all the same).',
  },
}

const scopes: readonly Scope[] = ['page', 'path', 'host', 'domain', 'any']
const pollMs = 500
const interruptedExit = 130

/** @throws AppError usage */
export function crawlSpecOf(call: Call, seeds: readonly string[]): CrawlSpec {
  const scope = scopes.find((each) => each === (call.options['scope'] ?? 'path'))
  if (scope === undefined)
    throw new AppError(
      'usage',
      `--scope ${String(call.options['scope'])}: one of ${scopes.join(', ')} is wanted.`,
    )
  const include = call.options['include']
  return {
    seeds,
    scope,
    include: Array.isArray(include) ? include.map(String) : [],
    maxPages: pagesOption(call, 'max-pages'),
    maxPagesPerHost: pagesOption(call, 'max-pages-per-host'),
    depth: integerOption(call, 'depth', 64, 0, 10_000),
    delayMs:
      call.options['delay'] === undefined ? null : integerOption(call, 'delay', 0, 0, 3_600_000),
  }
}

const pagesOption = (call: Call, name: string): number | null =>
  call.options[name] === undefined ? null : integerOption(call, name, 0, 1, 1_000_000_000)

/** What the jobs are asked through: the running server, or the app opened here. */
type Crawling = {
  start: (spec: CrawlSpec) => Promise<JobStatus>
  putSource: (given: unknown, name: string) => Promise<SourceStatus>
  startSource: (name: string) => Promise<JobStatus>
  job: (id: number) => Promise<JobStatus | null>
  stop: (id: number) => Promise<unknown>
  hosts: () => Promise<HostStatus[]>
}

export async function crawlCommand(call: Call): Promise<number> {
  formatOf(call, 'text')
  const { config, directory, log } = call
  const described = config.sources === '' ? [] : readSourceFile(config.sources)
  if (call.operands.length === 0 && described.length === 0)
    throw new AppError('usage', 'crawl needs URLs, or --sources FILE.')
  const spec = call.operands.length === 0 ? null : crawlSpecOf(call, call.operands)
  const client = await findServer(directory, config.key)
  if (client !== null) return crawlAll(call, spec, described, throughServer(client))
  const app = await openApp({
    config,
    directory,
    engine: true,
    resumeJobs: false,
    search: false,
    log: quietUntilWarn(log),
  })
  try {
    await app.ready()
    const { crawl } = app
    const putSource = (given: unknown) => crawl.putSource(given, { mayReplace: true })
    const code = await crawlAll(call, spec, described, { ...crawl, putSource })
    // After it: what it has confirmed stays.
    if (code !== interruptedExit) await app.engine('expire')
    // What links call the pages is gathered while they come in, and put into the index at the end.
    await app.engine('catchUp')
    if (call.options['stats'] === true) await printStats(app)
    return code
  } finally {
    await app.close()
  }
}

function throughServer(client: Client): Crawling {
  const jobs = '/api/v1/admin/jobs'
  const sourceAt = (name: string): string => `/api/v1/admin/sources/${encodeURIComponent(name)}`
  return {
    start: (spec) => client.post(jobs, spec),
    putSource: (given, name) => client.put(sourceAt(name), given),
    startSource: (name) => client.post(`${sourceAt(name)}/crawl`, {}),
    job: (id) => client.get(`${jobs}/${id}`),
    stop: (id) => client.post(`${jobs}/${id}/stop`, {}),
    hosts: async () => (await client.get<{ hosts: HostStatus[] }>('/api/v1/admin/hosts')).hosts,
  }
}

/** URLs where there are some, else every described source. The jobs run side by side and are told of one after the other. */
async function crawlAll(
  call: Call,
  spec: CrawlSpec | null,
  described: readonly DescribedInFile[],
  crawling: Crawling,
): Promise<number> {
  const names = await putSources(described, crawling.putSource)
  const jobs: JobStatus[] = []
  if (spec !== null) jobs.push(await crawling.start(spec))
  else for (const name of names) jobs.push(await crawling.startSource(name))
  let code = 0
  for (const job of jobs) {
    if (code === interruptedExit) await crawling.stop(job.id)
    const ended = await follow(
      call,
      job,
      () => crawling.job(job.id),
      async () => void (await crawling.stop(job.id)),
      crawling.hosts,
    )
    code ||= ended
  }
  return code
}

/** A thread that died is started again and goes on with its jobs: no reason to give up. */
async function patiently<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof AppError && error.code === 'starting') return null
    throw error
  }
}

/** What a newcomer cannot guess from the counts. */
function hintsOf({ counts }: JobStatus): string[] {
  if (counts.stored + counts.unchanged > 0) return []
  if ((counts.refused['guard-address'] ?? 0) > 0)
    return [
      'nothing was stored: the site has a private address; --allow-private CIDR opens a range',
    ]
  if ((counts.refused['guard-port'] ?? 0) > 0)
    return ['nothing was stored: the port of the site is not allowed']
  if ((counts.refused['robots'] ?? 0) > 0)
    return ['nothing was stored: robots.txt of the site refuses it']
  return []
}

/** Those of the sites that were asked for; all where the scope has no border. */
function hostsOfJob({ scope, seeds }: JobStatus, hosts: readonly HostStatus[]): HostStatus[] {
  const domains = new Set(seeds.map((seed) => registrableDomain(seed)))
  return hosts.filter(({ origin }) => scope === 'any' || domains.has(registrableDomain(origin)))
}

/** CPU time by thread, in one line of JSON on stderr. `helpers`: the collector's and compiler's own threads. */
async function printStats(app: App): Promise<void> {
  const { engineMs, parsersMs, indexMs } = await app.engine<EngineCost>('cost')
  const inMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
  const [totalMs, mainMs] = [inMs(process.cpuUsage()), inMs(process.threadCpuUsage())]
  const helpersMs = totalMs - mainMs - engineMs - parsersMs
  const peakRssMb = process.resourceUsage().maxRSS / 1024
  const cost = { totalMs, mainMs, engineMs, indexMs, parsersMs, helpersMs, peakRssMb }
  process.stderr.write(
    `stats ${JSON.stringify(cost, (_name, value: unknown) => (typeof value === 'number' ? Math.round(value) : value))}\n`,
  )
}

/** The progress line tells what an info line would; warnings still show. */
const quietUntilWarn =
  (log: Call['log']): Call['log'] =>
  (level, event, fields) => {
    if (level === 'warn' || level === 'error' || !process.stderr.isTTY) log(level, event, fields)
  }

async function follow(
  call: Call,
  first: JobStatus,
  ask: () => Promise<JobStatus | null>,
  stop: () => Promise<void>,
  hosts: () => Promise<HostStatus[]>,
): Promise<number> {
  const before: JobCounts = structuredClone(first.counts)
  const interruption = { came: false }
  const interrupt = (): void => {
    // The second signal does not wait for anything.
    if (interruption.came) process.exit(interruptedExit)
    interruption.came = true
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  let job = first
  while ((job.state === 'running' || job.state === 'waiting') && !interruption.came) {
    if (process.stderr.isTTY)
      process.stderr.write(`\r\u001b[K${progressLine(job, process.stderr.columns)}`)
    await wait(pollMs)
    job = (await patiently(ask)) ?? job
  }
  if (interruption.came) {
    await stop()
    job = (await ask()) ?? job
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  process.off('SIGINT', interrupt)
  process.off('SIGTERM', interrupt)
  const summary = summarise(job, before, hostsOfJob(job, (await patiently(hosts)) ?? []))
  for (const hint of hintsOf(job)) call.log('warn', hint)
  await write(
    formatOf(call, 'text') === 'text' ? summaryText(summary) : `${JSON.stringify(summary)}\n`,
  )
  if (interruption.came) return interruptedExit
  return job.state === 'failed' ? 1 : 0
}
