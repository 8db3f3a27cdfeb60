/** A SqliteFrontier on a store in a folder of its own, for tests: opens, crashes and opens again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { FrontierOptions } from '../../../src/crawl/frontier-options.ts'
import { openFrontier } from '../../../src/crawl/frontier-sqlite.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import type { FrontierBench } from '../../suites/frontier.suite.ts'

export type SqliteBench = Omit<FrontierBench, 'crash'> & { store: Store; crash(): SqliteBench }

const folder = mkdtempSync(join(tmpdir(), 'findling-frontier-'))
let files = 0
const open = new Set<Store>()
after(() => {
  for (const store of open) store.close()
  rmSync(folder, { recursive: true, force: true })
})

export function openSqliteBench(
  options: Partial<FrontierOptions> = {},
  file = join(folder, `${++files}.db`),
): SqliteBench {
  const store = openStore(file)
  open.add(store)
  const frontier = openFrontier(store, { covers: () => false, now: () => 0, ...options })
  return {
    store,
    frontier,
    within: (work) => store.transaction(work),
    // Nothing of the frontier is asked: whatever is in memory is lost.
    crash() {
      open.delete(store)
      store.close()
      return openSqliteBench(options, file)
    },
  }
}
