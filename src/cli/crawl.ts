/** `findling crawl`: runs a job here or through the running server, shows its progress, prints its summary. */
import { setTimeout as wait } from 'node:timers/promises'
import { openApp, type App } from '../app.ts'
import type { EngineCost } from '../engine.ts'
import { findServer } from './client.ts'
import { formatOf, integerOption, write, type Call, type CommandOption } from './command.ts'
import { AppError } from '../lib/errors.ts'
import { progressLine, summarise, summaryText } from './progress.ts'
import type { CrawlSpec, JobCounts, JobStatus, Scope } from '../store/records.ts'

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
    maxPages:
      call.options['max-pages'] === undefined
        ? null
        : integerOption(call, 'max-pages', 0, 1, 1_000_000_000),
    depth: integerOption(call, 'depth', 64, 0, 10_000),
    delayMs:
      call.options['delay'] === undefined ? null : integerOption(call, 'delay', 0, 0, 3_600_000),
  }
}

export async function crawlCommand(call: Call): Promise<number> {
  formatOf(call, 'text')
  const spec = crawlSpecOf(call, call.operands)
  const client = await findServer(call.directory, call.config.key)
  if (client !== null) {
    const first = await client.post<JobStatus>('/api/v1/admin/jobs', spec)
    return follow(
      call,
      first,
      () => client.get(`/api/v1/admin/jobs/${first.id}`),
      async () => {
        await client.post(`/api/v1/admin/jobs/${first.id}/stop`, {})
      },
    )
  }
  const { config, directory, log } = call
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
    const first = await app.crawl.start(spec)
    const code = await follow(
      call,
      first,
      () => app.crawl.job(first.id),
      async () => {
        await app.crawl.stop(first.id)
      },
    )
    if (call.options['stats'] === true) await printStats(app)
    return code
  } finally {
    await app.close()
  }
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
  const summary = summarise(job, before)
  for (const hint of hintsOf(job)) call.log('warn', hint)
  await write(
    formatOf(call, 'text') === 'text' ? summaryText(summary) : `${JSON.stringify(summary)}\n`,
  )
  return interruption.came ? interruptedExit : 0
}
