/** What a crawl shows on a terminal: one line that moves, and the summary at the end. Pure but for the writing. */
import type { HostStatus, JobCounts, JobStatus } from '../store/records.ts'

const sum = (record: Record<string, number>): number =>
  Object.values(record).reduce((total, n) => total + n, 0)

const duration = (seconds: number): string =>
  seconds < 60
    ? `${Math.round(seconds)}s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)}m${String(Math.round(seconds % 60)).padStart(2, '0')}s`
      : `${Math.floor(seconds / 3600)}h${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')}m`

/** Of a terminal that does not say how wide it is. */
const columnsDefault = 80

/** One line of at most `columns` characters; 0 = not known. */
export function progressLine(job: JobStatus, columns: number): string {
  const { counts, queued } = job
  const known = counts.fetched + queued
  const share = known === 0 ? 0 : counts.fetched / known
  const width = 16
  const filled = Math.round(share * width)
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`
  const parts = [
    `${bar} ${counts.stored} pages`,
    `${job.pagesPerSecond}/s`,
    `queue ${queued}`,
    `duplicates ${counts.exactCopies + counts.nearCopies}`,
    `errors ${sum(counts.failed)}`,
    job.state === 'waiting'
      ? job.note
      : `ETA ${job.etaSeconds === null ? '-' : duration(job.etaSeconds)}`,
  ]
  return parts.join('  ').slice(0, (columns === 0 ? columnsDefault : columns) - 1)
}

export type Summary = {
  source: string | null
  state: JobStatus['state']
  note: string
  fetched: number
  fetched_this_run: number
  stored: number
  unchanged: number
  duplicates: { exact: number; near: number }
  redirects: number
  gone: number
  refused: Record<string, number>
  failed: Record<string, number>
  javascript_only: number
  rules: JobCounts['rules']
  queued: number
  bytes: number
  seconds: number
  /** URL shapes that were taken for traps, by host. */
  put_aside: Record<string, string[]>
}

/** @param hosts those of the job, as far as something was learned of them */
export function summarise(
  job: JobStatus,
  before: JobCounts | null,
  hosts: readonly HostStatus[] = [],
): Summary {
  const { counts } = job
  return {
    source: job.source,
    state: job.state,
    note: job.note,
    fetched: counts.fetched,
    fetched_this_run: counts.fetched - (before?.fetched ?? 0),
    stored: counts.stored,
    unchanged: counts.unchanged,
    duplicates: { exact: counts.exactCopies, near: counts.nearCopies },
    redirects: counts.redirects,
    gone: counts.gone,
    refused: counts.refused,
    failed: counts.failed,
    javascript_only: counts.javascriptOnly,
    rules: counts.rules,
    queued: job.queued,
    bytes: counts.bytes,
    seconds: job.seconds,
    put_aside: Object.fromEntries(
      hosts
        .map(({ origin, shapes }) => [
          origin,
          shapes.filter(({ state }) => state === 'closed').map(({ shape }) => shape),
        ])
        .filter(([, shapes]) => (shapes?.length ?? 0) > 0),
    ) as Record<string, string[]>,
  }
}

const shapesShown = 3

/** "3 URL shapes put aside on shop.example: /list?page, ..." */
function asideLine(origin: string, shapes: readonly string[]): string {
  const shown = shapes.slice(0, shapesShown).join(', ')
  const count = `${shapes.length} URL ${shapes.length === 1 ? 'shape' : 'shapes'}`
  const host = origin.replace(/^https?:\/\//, '')
  return `${count} put aside on ${host}: ${shown}${shapes.length > shapesShown ? ', ...' : ''}`
}

const reasons = (record: Record<string, number>): string => {
  const parts = Object.entries(record).sort((a, b) => b[1] - a[1])
  return parts.length === 0 ? '' : ` (${parts.map(([reason, n]) => `${reason} ${n}`).join(', ')})`
}

/** "news/detail: 10 pages", and what went wrong on them. */
function ruleLines(name: string, counts: JobCounts['rules'][string]): string[] {
  const { pages, links, empty, unexpected, incomplete, troubled, problem, items } = counts
  const of = (n: number): string => `in ${n} of ${pages} pages`
  return [
    `${name}: ${pages} pages${links === 0 ? '' : `, ${links} links`}${items === undefined ? '' : `, ${items.found} items`}`,
    ...(items === undefined ? [] : itemLines(name, items, of)),
    ...(incomplete === 0 ? [] : [`${name}: a required field is missing ${of(incomplete)}`]),
    ...Object.entries(empty).map(([field, n]) => `${name}: field ${field} empty ${of(n)}`),
    ...Object.entries(unexpected).map(
      ([field, n]) => `${name}: field ${field} is not as the rule expects ${of(n)}`,
    ),
    ...(troubled === 0 ? [] : [`${name}: trouble ${of(troubled)}, for instance ${problem}`]),
  ]
}

function itemLines(
  name: string,
  { found, empty, incomplete, pagesWithout }: NonNullable<JobCounts['rules'][string]['items']>,
  ofPages: (n: number) => string,
): string[] {
  const of = (n: number): string => `in ${n} of ${found} items`
  return [
    ...(pagesWithout === 0 ? [] : [`${name}: no items ${ofPages(pagesWithout)}`]),
    ...(incomplete === 0 ? [] : [`${name}: a required field is missing ${of(incomplete)}`]),
    ...Object.entries(empty).map(([field, n]) => `${name}: field ${field} empty ${of(n)}`),
  ]
}

/** The summary for people. */
export function summaryText(summary: Summary): string {
  const { duplicates } = summary
  const lines = [
    [
      'fetched',
      `${summary.fetched}${summary.fetched_this_run === summary.fetched ? '' : `, ${summary.fetched_this_run} in this run`}`,
    ],
    ['stored', `${summary.stored}`],
    ['unchanged', `${summary.unchanged}`],
    [
      'duplicates',
      `${duplicates.exact + duplicates.near} (exact ${duplicates.exact}, near ${duplicates.near})`,
    ],
    ['redirects', `${summary.redirects}`],
    ['gone', `${summary.gone}`],
    ['refused', `${sum(summary.refused)}${reasons(summary.refused)}`],
    ['failed', `${sum(summary.failed)}${reasons(summary.failed)}`],
    ...(summary.javascript_only === 0
      ? []
      : [['scripts', `${summary.javascript_only} pages are empty before JavaScript runs`]]),
    ['queued', `${summary.queued}`],
    ['seconds', `${summary.seconds}`],
    ...Object.entries(summary.put_aside).map(([host, shapes]) => [
      'traps',
      asideLine(host, shapes),
    ]),
    ...Object.entries(summary.rules).flatMap(([name, counts]) =>
      ruleLines(name, counts).map((line) => ['rule', line]),
    ),
  ]
  const state = summary.note === '' ? summary.state : `${summary.state}: ${summary.note}`
  const head = summary.source === null ? state : `${summary.source}: ${state}`
  return `${head}\n${lines.map(([name = '', value = '']) => `  ${name.padEnd(11)} ${value}`).join('\n')}\n`
}
