/** `words.txt` of a data directory: the user's own words for the cut of Chinese text. Read again when the file changes. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { noUserWords, parseUserWords, type UserWords } from './text/user-words.ts'

export const wordsFileName = 'words.txt'
export const wordsBytesMax = 2 * 1_024 * 1_024

/** No file, no words. Needs the text tables of the thread. */
export function readWordsFile(directory: string): UserWords {
  const file = join(directory, wordsFileName)
  const status = statSync(file, { throwIfNoEntry: false })
  if (status === undefined) return noUserWords
  if (status.size > wordsBytesMax)
    return { words: [], problems: [`larger than ${wordsBytesMax} bytes: left out`] }
  return parseUserWords(readFileSync(file, 'utf8'))
}

/** Each call looks at the file; null where it is as it was at the call before. */
export function createWordsFile(directory: string): () => UserWords | null {
  const file = join(directory, wordsFileName)
  let mark: string | null = null
  return () => {
    const status = statSync(file, { throwIfNoEntry: false })
    const now = status === undefined ? '' : `${status.mtimeMs} ${status.size} ${status.ino}`
    if (now === mark) return null
    mark = now
    return readWordsFile(directory)
  }
}
