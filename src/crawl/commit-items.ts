/** Documents that stand on a visited page (rules: items), in the transaction of its visit: stored, confirmed, and taken out when they are gone from it. */
import type { Lease, Settlement } from './frontier.ts'
import type { ParsedItem, ParsedPage } from './page.ts'
import type { Visited } from './visit.ts'
import type { Store } from '../store/store.ts'

export type ItemTools = {
  store: Pick<
    Store,
    'putItem' | 'itemsOf' | 'markMissing' | 'dropItem' | 'putWordHits' | 'touchDocument'
  >
  /** Stores one as a page is stored. */
  put: (visited: Visited, page: ParsedPage) => Settlement
  /** Takes the document of a URL out. */
  remove: (urlId: number) => void
  now: () => number
}

/**
 * @param isOver the page itself is no longer to be shown
 * Where a page that had items shows none at all, its markup may have changed: they stay until its next visit shows none either.
 */
export function writeItems(visited: Visited, isOver: boolean, tools: ItemTools): void {
  const { store, now } = tools
  const { lease, items, settlement } = visited
  if (items === undefined) {
    if (isOver) for (const { urlId } of store.itemsOf(lease.urlId)) drop(urlId, tools)
    // Not modified: what stands on the page is as fresh as the page.
    else if (settlement.kind === 'unchanged')
      for (const { urlId } of store.itemsOf(lease.urlId)) store.touchDocument(urlId, now())
    return
  }
  const before = store.itemsOf(lease.urlId)
  const present = new Set<number>()
  for (const item of items ?? []) {
    const urlId = putOne(item, visited, tools)
    if (urlId !== null) present.add(urlId)
  }
  const isDoubtful = items?.length === 0 && before.some(({ isMissing }) => !isMissing)
  if (isDoubtful) return store.markMissing(lease.urlId)
  for (const { urlId } of before) if (!present.has(urlId)) drop(urlId, tools)
}

/** @returns null where it is not stored */
function putOne({ url, page }: ParsedItem, visited: Visited, tools: ItemTools): number | null {
  const { store, now } = tools
  const { lease, type } = visited
  const urlId = store.putItem(url, lease, now())
  if (urlId === null) return null
  store.putWordHits(urlId, page.words ?? [])
  if (page.isFiltered) {
    drop(urlId, tools)
    return null
  }
  const wordsVersion = visited.page?.wordsVersion ?? visited.wordsVersion
  const settlement = tools.put(
    {
      ...visited,
      lease: leaseOf(url, urlId, lease),
      settlement: { kind: 'stored', status: 0 },
      page,
      type,
      wireBytes: page.textChars,
      links: [],
      listed: [],
      feeds: [],
      mayFold: true,
    },
    wordsVersion === undefined ? page : { ...page, wordsVersion },
  )
  if (settlement.kind !== 'refused') return urlId
  drop(urlId, tools)
  return null
}

function drop(urlId: number, { store, remove }: ItemTools): void {
  remove(urlId)
  store.dropItem(urlId)
}

const leaseOf = (url: string, urlId: number, parent: Lease): Lease => ({
  ...parent,
  url,
  urlId,
  origin: new URL(url).origin,
  history: [],
  etag: null,
  modified: null,
})
