/** The second half of a visit to a list of URLs: from the response to the URLs it names. Writes nothing. */
import type { Lease, Settlement, UrlKind } from './frontier.ts'
import type { FetchOutcome, ListJob, ListOutcome } from './page.ts'
import type { ListedUrl, UrlList } from './sitemap.ts'

/** A URL that a list names, or a list that a page or list names; not yet judged by any scope. */
export type Listed = Omit<ListedUrl, 'changes'> & { kind: UrlKind }

export type ListTools = {
  parseList: (job: ListJob) => Promise<ListOutcome>
  urlsMax: number
}

export type ListVisit = { settlement: Settlement; listed: readonly Listed[] }

/** Index files name files, which may name files. */
export const nestingMax = 3

type PageFetched = Extract<FetchOutcome, { kind: 'page' }>

/** Never throws: what a list does to the parser is a value. */
export async function readListVisit(
  lease: Lease,
  fetched: PageFetched,
  { parseList, urlsMax }: ListTools,
): Promise<ListVisit> {
  const { body, encoding, status, etag, modified, truncated } = fetched
  const parsed = await parseList({ url: fetched.finalUrl, body, encoding, urlsMax })
  if (parsed.kind === 'refused')
    return { settlement: { kind: 'refused', status, reason: parsed.reason }, listed: [] }
  if (parsed.kind === 'failed')
    return {
      settlement: { kind: 'failed', status, reason: parsed.reason, retryAtMs: null },
      listed: [],
    }
  const listed = listedBy(lease, parsed.list)
  return {
    settlement: {
      kind: 'listed',
      status,
      isChanged: false,
      // What broke off is asked for as a whole the next time.
      ...(etag === null || truncated ? {} : { etag }),
      ...(modified === null || truncated ? {} : { modified }),
    },
    listed,
  }
}

function listedBy(lease: Lease, list: UrlList): Listed[] {
  const isIndex = list.kind === 'index'
  // No nesting without end, and no list that names itself.
  if (isIndex && lease.depth >= nestingMax) return []
  return list.urls
    .filter(({ url }) => url !== lease.url)
    .map(({ url, lastmodMs, priority }) => ({
      url,
      lastmodMs,
      priority,
      kind: isIndex ? 'sitemap' : 'page',
    }))
}
