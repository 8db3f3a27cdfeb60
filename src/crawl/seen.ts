/** The filter of seen URLs as the frontier asks it: opens the Bloom file, makes it anew from the URL table where it cannot be trusted. */
import { rmSync } from 'node:fs'
import { hashKey, openBloom, type Bloom, type BloomOptions, type BloomStats } from '../lib/bloom.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** A negative cache: "certainly new" spares the look-up, "maybe" is confirmed by the unique index. */
export type SeenFilter = {
  mayHave(key: string): boolean
  add(key: string): void
}

export type SeenFile = SeenFilter & {
  /** Drops the file and makes it again from the URL table. */
  rebuild(): Promise<void>
  stats(): BloomStats
  /** Notes in the database that the file is whole: only then is it trusted at the next start. */
  close(): void
}

const rebuildRows = 5_000
/** A flash card is spared the file where so few URLs, read again at the next start, take 50 ms. It has 1.4 MB from the first URL on. */
const unwrittenKeysMax = 30_000

/** @param mode where the bits live, see lib/bloom.ts */
export async function openSeenFilter(
  file: string,
  store: Store,
  log: Log,
  mode: BloomOptions['mode'],
): Promise<SeenFile> {
  const open = (): Promise<Bloom> =>
    openFilled({ file, generation: generationOf(store), mode }, store, log)
  let bloom = await open()
  return {
    mayHave(key) {
      const [h1, h2] = hashKey(key)
      return bloom.mayHave(h1, h2)
    },
    add(key) {
      const [h1, h2] = hashKey(key)
      bloom.add(h1, h2)
    },
    async rebuild() {
      bloom.close()
      rmSync(file, { force: true })
      bloom = await open()
    },
    stats: () => bloom.stats(),
    close() {
      const { mode: where, keys } = bloom.stats()
      if (where === 'memory' && keys <= unwrittenKeysMax) return bloom.close()
      const generation = generationOf(store) + 1
      bloom.close(generation)
      store.transaction(() => store.meta.set('bloom_generation', generation))
    },
  }
}

const generationOf = (store: Store): number => Number(store.meta.get('bloom_generation') ?? 0)

async function openFilled(options: BloomOptions, store: Store, log: Log): Promise<Bloom> {
  const bloom = await openBloom(options)
  if (!bloom.needsRebuild) return bloom
  const { reason } = bloom
  let last = 0
  let keys = 0
  for (;;) {
    const rows = store.urlsAfter(last, rebuildRows)
    if (rows.length === 0) break
    for (const { id, url } of rows) {
      const [h1, h2] = hashKey(url)
      bloom.add(h1, h2)
      last = id
    }
    keys += rows.length
  }
  bloom.rebuilt()
  const level = keys > unwrittenKeysMax ? 'info' : 'debug'
  if (keys > 0) log(level, 'filter of seen URLs made again', { reason, urls: keys })
  return bloom
}
