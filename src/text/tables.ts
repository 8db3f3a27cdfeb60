/** The one owner of the text tables of a thread: loaded once at its start, read by folding and analysis. Reads no file itself. */
import assert from 'node:assert/strict'
import { openDictionary, type Dictionary } from './dictionary.ts'

let loaded: Dictionary | null = null

/**
 * Opens the dictionary asset for this thread; `bytes` are shared, never copied. Call it once before any text is
 * folded; a second call with the same asset is harmless, with another one it is a bug (folded terms are remembered).
 */
export function loadTextTables(bytes: ArrayBufferLike): Dictionary {
  const dictionary = openDictionary(bytes)
  assert(
    loaded === null || loaded.checksum === dictionary.checksum,
    'a thread has one dictionary for life',
  )
  loaded ??= dictionary
  return loaded
}

/** The tables of this thread. */
export function textTables(): Dictionary {
  assert(loaded, 'loadTextTables comes before any text that is not ASCII')
  return loaded
}
