/** Imported documents take the way of a page from the parser on: the same filters, duplicates and transaction, no network and no links. */
import { AppError } from '../lib/errors.ts'
import { splitUrl } from '../lib/url.ts'
import type { Store } from '../store/store.ts'
import { createCommitter, type Committed } from './commit.ts'
import type { Duplicates } from './duplicates.ts'
import type { Frontier, Lease } from './frontier.ts'
import { parseRecord, type ImportRecord } from './imported.ts'
import type { ParseOutcome } from './page.ts'
import type { Visited } from './visit.ts'

export type ImportLine = { number: number; text: string }
export type Imported = {
  stored: number
  unchanged: number
  exactCopies: number
  nearCopies: number
  /** Not stored, for a word of a list. */
  filtered: number
}

export type ImportTools = {
  store: Store
  frontier: Frontier
  duplicates: Duplicates
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
  const records: ImportRecord[] = []
  let failure: AppError | null = null
  for (const { number, text } of lines) {
    try {
      records.push(parseRecord(text))
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

async function storeRecords(
  records: readonly ImportRecord[],
  mayFold: boolean,
  tools: ImportTools,
): Promise<Imported> {
  const { store } = tools
  const outcomes = await Promise.all(records.map((record) => tools.analyse(record)))
  const nowMs = tools.now()
  const leases = store.transaction(() => {
    const sourceId = store.sourceFor(importSourceKey)
    return records.map(({ url }) =>
      leaseFor(url, store.importedUrl(url, sourceId, nowMs).urlId, sourceId),
    )
  })
  const visits = outcomes.flatMap((outcome, i): Visited[] => {
    const [lease, record] = [leases[i], records[i]]
    if (lease === undefined || record === undefined) return []
    if (outcome.kind !== 'page') throw new AppError('bad_input', `${record.url}: ${outcome.reason}`)
    const { page } = outcome
    const { isFiltered = false, words = [] } = page
    return [
      {
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
      },
    ]
  })
  const committer = createCommitter({
    ...tools,
    jobs: noJobs,
    findUrls: () => [],
    revisits: noRevisits,
  })
  const committed = committer.commit(visits)
  tools.onCommitted(committed)
  const imported: Imported = { stored: 0, unchanged: 0, exactCopies: 0, nearCopies: 0, filtered: 0 }
  for (const settlement of committed.settlements) {
    if (settlement.kind === 'unchanged') imported.unchanged++
    else if (settlement.kind === 'refused') imported.filtered++
    else imported.stored++
    if (settlement.kind !== 'duplicate') continue
    if (settlement.of === 'exact') imported.exactCopies++
    else imported.nearCopies++
  }
  return imported
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
