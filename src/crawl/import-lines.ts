/** Imported documents take the way of a page from the parser on: the same filters, duplicates and transaction, no network and no links. */
import { AppError } from '../lib/errors.ts'
import { splitUrl } from '../lib/url.ts'
import type { Store } from '../store/store.ts'
import { createCommitter, type Committed } from './commit.ts'
import type { Distinct } from './distinct.ts'
import type { Duplicates } from './duplicates.ts'
import type { Frontier, Lease } from './frontier.ts'
import { parseRecord, type ImportRecord } from './imported.ts'
import type { ParsedPage, ParseOutcome } from './page.ts'
import type { Visited } from './visit.ts'

export type ImportLine = { number: number; text: string }
export type Imported = {
  stored: number
  unchanged: number
  exactCopies: number
  nearCopies: number
  /** Not stored, for a word of a list. */
  filtered: number
  /** Not stored, because reading them failed twice: by reason, and the first of them. */
  failed: Record<string, number>
  failures: readonly ImportFailure[]
}
export type ImportFailure = { line: number; url: string; reason: string }

/** Of one call; the rest is counted. */
const failuresShown = 20

export type ImportTools = {
  store: Store
  frontier: Frontier
  duplicates: Duplicates
  distinct?: Distinct
  analyse: (record: ImportRecord) => Promise<ParseOutcome>
  onCommitted: (committed: Committed) => void
  now: () => number
}

/** The source of URLs that no crawl asked for: it admits nothing. */
export const importSourceKey = JSON.stringify({ scope: 'import', prefixes: [], depth: 0 })

/**
 * Stores the lines in one transaction.
 * @param mayFold false keeps copies as documents of their own
 * @throws AppError bad_input, naming the line; lines before it are stored, it and later ones are not
 */
export async function importLines(
  lines: readonly ImportLine[],
  mayFold: boolean,
  tools: ImportTools,
): Promise<Imported> {
  const records: NumberedRecord[] = []
  let failure: AppError | null = null
  for (const { number, text } of lines) {
    try {
      records.push({ line: number, record: parseRecord(text) })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      failure = new AppError(
        error.code,
        `line ${number}: ${error.message}; the lines before it are stored`,
      )
      break
    }
  }
  const imported = await storeRecords(records, mayFold, tools)
  if (failure !== null) throw failure
  return imported
}

type NumberedRecord = { line: number; record: ImportRecord }
type ReadRecord = NumberedRecord & { outcome: ParseOutcome }

async function storeRecords(
  records: readonly NumberedRecord[],
  mayFold: boolean,
  tools: ImportTools,
): Promise<Imported> {
  const { store } = tools
  const { pages, failed, failures } = await readAll(records, tools)
  const nowMs = tools.now()
  const committer = createCommitter({
    ...tools,
    jobs: noJobs,
    findUrls: () => [],
    revisits: noRevisits,
  })
  // A URL that is settled without its document would break an invariant: both come in one transaction.
  const committed = committer.commit(() => {
    const sourceId = store.sourceFor(importSourceKey)
    return pages.map(({ record, page }) => {
      const { urlId } = store.importedUrl(record.url, sourceId, nowMs)
      return visitOf(leaseFor(record.url, urlId, sourceId), record, page, mayFold)
    })
  })
  tools.onCommitted(committed)
  const imported = { stored: 0, unchanged: 0, exactCopies: 0, nearCopies: 0, filtered: 0 }
  for (const settlement of committed.settlements) {
    if (settlement.kind === 'unchanged') imported.unchanged++
    else if (settlement.kind === 'refused') imported.filtered++
    else imported.stored++
    if (settlement.kind !== 'duplicate') continue
    if (settlement.of === 'exact') imported.exactCopies++
    else imported.nearCopies++
  }
  return { ...imported, failed, failures }
}

/**
 * All at once; what failed there is read once more, by itself: on a starved machine a parser may run out of time by no fault of the
 * document. What fails again is told, and costs no other document its place.
 */
async function readAll(
  records: readonly NumberedRecord[],
  { analyse }: ImportTools,
): Promise<Pick<Imported, 'failed' | 'failures'> & { pages: ReadPage[] }> {
  const read = await Promise.all(
    records.map(async (each): Promise<ReadRecord> => ({
      ...each,
      outcome: await analyse(each.record),
    })),
  )
  const failed: Record<string, number> = {}
  const failures: ImportFailure[] = []
  const pages: ReadPage[] = []
  for (const { line, record, outcome: first } of read) {
    const outcome = first.kind === 'page' ? first : await analyse(record)
    if (outcome.kind === 'page') {
      pages.push({ record, page: outcome.page })
      continue
    }
    const { reason } = outcome
    failed[reason] = (failed[reason] ?? 0) + 1
    if (failures.length < failuresShown) failures.push({ line, url: record.url, reason })
  }
  return { pages, failed, failures }
}

type ReadPage = { record: ImportRecord; page: ParsedPage }

function visitOf(lease: Lease, record: ImportRecord, page: ParsedPage, mayFold: boolean): Visited {
  const { isFiltered = false, words = [] } = page
  return {
    lease,
    settlement: isFiltered
      ? { kind: 'refused', status: 0, reason: 'filtered' }
      : { kind: 'stored', status: 0 },
    page: isFiltered ? null : page,
    ...(isFiltered ? { words } : {}),
    type: 'text/plain',
    wireBytes: Buffer.byteLength(record.text),
    truncated: false,
    links: [],
    listed: [],
    feeds: [],
    mayFold,
    wasFetched: false,
  }
}

const leaseFor = (url: string, urlId: number, sourceId: number): Lease => ({
  urlId,
  url,
  origin: splitUrl(url).origin,
  sourceId,
  depth: 0,
  tries: 0,
  alone: false,
  kind: 'page',
  history: [],
  etag: null,
  modified: null,
})

/** What did not come from the network is not asked for. */
const never = { kind: 'fixed', intervalMs: 0, intervalMinMs: 0, intervalMaxMs: 0 } as const
const noRevisits = { page: never, list: never, confirmGoneMs: 0 }

/** An import counts for itself. */
const noJobs = { ofSource: () => null, count: () => {}, save: () => {}, reload: () => {} }
