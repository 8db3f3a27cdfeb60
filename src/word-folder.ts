/** The folder of word lists: finds its files, reads them all, tells what is wrong with them. Watches nothing. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { listBytesMax, listsMax, readWordFile, wordsMax } from './text/word-file.ts'
import type { WordList } from './text/word-list.ts'
import { normalUnits } from './text/word-symbols.ts'

export type WordFolder = {
  lists: WordList[]
  /** "gambling.txt, line 3: ..." */
  problems: string[]
  /** Equal for equal lists; '' for none. */
  digest: string
}

export const wordFolderOf = (config: Config, directory: string): string =>
  config.filters === '' ? join(directory, 'filters') : config.filters

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^[^.].*\.txt$/i.test(name))
      .sort()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Changes when a file comes, goes or is written. A folder that cannot be read has its error for a state. */
export function stateOfWordFolder(folder: string): string {
  try {
    return filesOf(folder)
      .map((name) => {
        const stat = statSync(join(folder, name), { throwIfNoEntry: false })
        return `${name}/${stat?.size}/${stat?.mtimeMs}/${stat?.ino}`
      })
      .join('\n')
  } catch (error) {
    return `cannot be read: ${codeOf(error)}`
  }
}

/** A file or line that cannot be used is left out and told; the others hold. @param units as normalUnits makes them */
export function readWordFolder(folder: string, units: () => Uint16Array = normalUnits): WordFolder {
  const lists: WordList[] = []
  const problems: string[] = []
  let files: string[]
  try {
    files = filesOf(folder)
  } catch (error) {
    return { lists, problems: [`${folder} cannot be read: ${codeOf(error)}`], digest: '' }
  }
  if (files.length > listsMax) problems.push(`more than ${listsMax} lists: the first ones hold`)
  let room = wordsMax
  const table = files.length === 0 ? new Uint16Array() : units()
  for (const file of files.slice(0, listsMax)) {
    const { list, problems: wrong } = readFile(folder, file, table)
    problems.push(...wrong.map((problem) => `${file}, ${problem}`))
    if (list === null) continue
    const cut = { ...list, words: list.words.slice(0, room) }
    room -= cut.words.length
    cut.allowed = list.allowed.slice(0, room)
    room -= cut.allowed.length
    if (cut.words.length + cut.allowed.length < list.words.length + list.allowed.length)
      problems.push(`${file}, more than ${wordsMax} words in all lists: the first ones hold`)
    if (lists.some(({ name }) => name === list.name))
      problems.push(`${file}, there is a list "${list.name}" already: hits of both count as one`)
    lists.push(cut)
  }
  const digest =
    lists.length === 0
      ? ''
      : createHash('sha256').update(JSON.stringify(lists)).digest('base64url').slice(0, 22)
  return { lists, problems, digest }
}

function readFile(folder: string, file: string, units: Uint16Array) {
  try {
    const path = join(folder, file)
    if (statSync(path).size > listBytesMax)
      return { list: null, problems: [`larger than ${listBytesMax / 1_048_576} MB`] }
    return readWordFile(readFileSync(path), file, units)
  } catch (error) {
    return { list: null, problems: [`cannot be read: ${codeOf(error)}`] }
  }
}
