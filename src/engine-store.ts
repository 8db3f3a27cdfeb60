/** The store as the engine opens it: the one that writes documents, and so says what spellings of a keyword have in common. */
import { join } from 'node:path'
import type { Log } from './lib/log.ts'
import type { Profile } from './memory.ts'
import { openStore, type Store } from './store/store.ts'
import { keywordKey } from './text/tokenize.ts'

/** @throws AppError as openStore */
export const openEngineStore = (directory: string, { cacheKb }: Profile, log: Log): Store =>
  openStore(join(directory, 'findling.db'), { cacheKb: cacheKb.engine, keywordKey, log })
