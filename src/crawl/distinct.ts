/**
 * About how many different URLs, hosts and main texts were met: all that pages lead to, in scope or not, and every version of a text. 48 KB of
 * memory, and nothing that says which they were. Written once a minute: a crash forgets what the last minute brought alone.
 */
import { AppError } from '../lib/errors.ts'
import { hashKey } from '../lib/hash.ts'
import { createHyperLogLog, type HyperLogLog } from '../lib/hyperloglog.ts'
import { hostOf } from '../lib/url.ts'
import { type DistinctName, distinctNames } from '../store/distinct.ts'
import type { Store } from '../store/store.ts'
import type { ParsedPage } from './page.ts'

export type Distinct = {
  /** A page was read, and leads to these URLs. */
  note(url: string, page: Pick<ParsedPage, 'links' | 'fingerprint'>): void
  /** Writes the counts if they were not written for a minute. Within the caller's transaction; may run twice. */
  save(): void
  /** Writes them now, in a transaction of its own. */
  close(): void
  /** Counts up to `rowsMax` stored URLs and texts where no counts were stored; true when there is nothing left. For a start in slices. */
  load(rowsMax: number): boolean
}

const saveMs = 60_000

/** @param nowMs a clock that only goes forward */
export function openDistinct(
  store: Store,
  nowMs: () => number = () => performance.now(),
): Distinct {
  const stored = storedCounters(store)
  const { urls, hosts, contents } = stored ?? noCounters()
  const salt = store.fingerprintSeed
  let isChanged = false
  let savedMs = nowMs()
  /** Where counting anew is. */
  let left = stored === null ? { urlId: 0, digestId: 0 } : null

  // Most links of a page lead to few hosts.
  let lastOrigin = ''
  const noteUrl = (url: string): void => {
    urls.add(...hashKey(url, salt))
    if (lastOrigin !== '' && url.startsWith(lastOrigin)) return
    const end = url.indexOf('/', url.indexOf('//') + 2)
    lastOrigin = end < 0 ? '' : url.slice(0, end + 1)
    hosts.add(...hashKey(hostOf(url), salt))
  }
  const noteDigest = (digest: Uint8Array): void => {
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength)
    // It is keyed already.
    contents.add(view.getUint32(0), view.getUint32(4))
  }
  const write = (): void => {
    store.putDistinctRegisters('urls', urls.bytes)
    store.putDistinctRegisters('hosts', hosts.bytes)
    store.putDistinctRegisters('contents', contents.bytes)
    isChanged = false
    savedMs = nowMs()
  }

  return {
    note(url, { links, fingerprint }) {
      isChanged = true
      noteUrl(url)
      for (const link of links) noteUrl(link)
      if (fingerprint.tokens > 0) noteDigest(fingerprint.digest)
    },
    save() {
      if (isChanged && left === null && nowMs() - savedMs >= saveMs) write()
    },
    close() {
      // Half counted, they would never be counted whole.
      if (isChanged && left === null) store.transaction(write)
    },
    load(rowsMax) {
      if (left === null) return true
      const found = store.urlsAfter(left.urlId, rowsMax)
      for (const { url } of found) noteUrl(url)
      const texts = store.digestsAfter(left.digestId, rowsMax)
      for (const { digest } of texts) noteDigest(digest)
      left.urlId = found.at(-1)?.id ?? left.urlId
      left.digestId = texts.at(-1)?.urlId ?? left.digestId
      if (found.length + texts.length > 0) return false
      left = null
      store.transaction(write)
      return true
    },
  }
}

type Counters = Record<DistinctName, HyperLogLog>

const noCounters = (): Counters => ({
  urls: createHyperLogLog(),
  hosts: createHyperLogLog(),
  contents: createHyperLogLog(),
})

/** Null where one is missing or damaged: then all are counted anew. */
function storedCounters(store: Store): Counters | null {
  const counters = noCounters()
  try {
    for (const name of distinctNames) {
      const registers = store.distinctRegisters(name)
      if (registers === null) return null
      counters[name].merge(createHyperLogLog(registers))
    }
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
  return counters
}
