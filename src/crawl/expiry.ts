/** Takes documents out whose time is over, a slice at a time: the page said until when it is to be shown, or nobody confirmed it for longer than its source allows. */
import { setImmediate as setImmediateOf } from 'node:timers/promises'
import { isDiskFull } from '../lib/sqlite.ts'
import type { Store } from '../store/store.ts'
import { nothingCommitted, type Committed } from './commit.ts'
import type { Duplicates } from './duplicates.ts'

export type ExpiryTools = {
  store: Store
  duplicates: Pick<Duplicates, 'remove' | 'rolledBack'>
  /** By source id; none = its pages stay. */
  ttls: () => ReadonlyMap<number, number>
  onCommitted: (committed: Committed) => void
  now: () => number
}

/** Documents looked at in one slice: a few ms. */
const sliceRows = 1_000

/** `reason` of a URL whose document has left for its age. */
export const expiredReason = 'expired'

/** One slice. @param docno where the last one ended; 0 to begin @returns where the next one begins; null after the last */
export function expireSlice(docno: number, tools: ExpiryTools): number | null {
  const { store, now } = tools
  const nowMs = now()
  const said = store.expiredBy(nowMs, sliceRows)
  if (said.length > 0) {
    removeAll(said, tools)
    return docno
  }
  const ttls = tools.ttls()
  if (ttls.size === 0) return null
  const rows = store.confirmedAfter(docno, sliceRows)
  const isOver = (sourceId: number, fetchedAtMs: number): boolean => {
    const ttlMs = ttls.get(sourceId)
    return ttlMs !== undefined && nowMs - fetchedAtMs > ttlMs
  }
  const over = rows.filter(({ sourceId, fetchedAtMs }) => isOver(sourceId, fetchedAtMs))
  if (over.length > 0)
    removeAll(
      over.map(({ urlId }) => urlId),
      tools,
    )
  return rows.length < sliceRows ? null : (rows.at(-1)?.docno ?? null)
}

function removeAll(urlIds: readonly number[], tools: ExpiryTools): void {
  const { store, duplicates, onCommitted } = tools
  const promoted: number[] = []
  let isCommitted = false
  try {
    store.transaction(() => {
      for (const urlId of urlIds) {
        store.putWordHits(urlId, [])
        duplicates.remove(urlId)
        const removed = store.removeDocument(urlId)
        if (removed?.promoted) promoted.push(removed.promoted.docno)
        store.forgetAnswer(urlId, expiredReason)
      }
    })
    isCommitted = true
  } finally {
    if (!isCommitted) duplicates.rolledBack()
  }
  // One that was promoted and went in the same slice has no document any more.
  const documents = promoted.filter((docno) => store.textByDocno(docno) !== null)
  onCommitted({ ...nothingCommitted(), promoted: documents })
}

/** Looks once, to the end, with a turn for others after each slice. */
export async function expireAll(tools: ExpiryTools): Promise<void> {
  for (let docno: number | null = 0; docno !== null;) {
    docno = expireSlice(docno, tools)
    await setImmediateOf()
  }
}

/** Looks now and then every hour. @returns the way to end it */
export function keepExpiring(tools: ExpiryTools, everyMs: number): () => void {
  let next: NodeJS.Immediate | null = null
  const turn = (docno: number): void => {
    next = null
    try {
      const after = expireSlice(docno, tools)
      if (after !== null) next = setImmediate(() => turn(after))
    } catch (error) {
      // The next hour finds them again.
      if (!isDiskFull(error)) throw error
    }
  }
  next = setImmediate(() => turn(0))
  const timer = setInterval(() => {
    if (next === null) turn(0)
  }, everyMs)
  return () => {
    clearInterval(timer)
    if (next !== null) clearImmediate(next)
  }
}
