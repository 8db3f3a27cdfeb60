/**
 * Run once after an installation: fills the compile cache with every module and makes the dictionary, so that the first start neither
 * strips types (11 MB in each thread) nor builds anything. Derived things only: leaving it out costs the first start a second.
 */
import { textTables } from './assets.ts'

textTables()
void Promise.all([
  import('./cli/run.ts'),
  import('./engine.ts'),
  import('./parser.ts'),
  import('./searcher.ts'),
])
