/** The real text tables for tests: built at the first run, read from the cache after it. */
import { textTables } from '../src/assets.ts'
import type { Dictionary } from '../src/text/dictionary.ts'
import { loadTextTables } from '../src/text/tables.ts'

let dictionary: Dictionary | null = null

/** Loads the tables into this thread and returns the dictionary. */
export function loadTestTables(): Dictionary {
  dictionary ??= loadTextTables(textTables())
  return dictionary
}
