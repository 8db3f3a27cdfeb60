/** Everything that `findling check` proves of a data directory, read-only: also while a server runs on it. */
import { join } from 'node:path'
import { textTables } from './assets.ts'
import { openDatabase } from './lib/sqlite.ts'
import { AppError } from './lib/errors.ts'
import { isLinkIndexStale } from './link-index.ts'
import { checkIndex } from './search/check.ts'
import { readSynonyms, synonymsFileName } from './search/synonyms.ts'
import { checkStore } from './store/check.ts'
import { migrations } from './store/schema.ts'
import { loadTextTables } from './text/tables.ts'
import { normalUnits } from './text/word-symbols.ts'
import { readWordFolder } from './word-folder.ts'
import { readWordsFile, wordsFileName } from './words-file.ts'

export type CheckResult = { problems: string[]; facts: Record<string, number> }

/** What is wrong with the word lists, by file and line. */
export function checkWordLists(folder: string): string[] {
  return readWordFolder(folder, () => {
    loadTextTables(textTables())
    return normalUnits()
  }).problems
}

/** @throws AppError schema_too_new | corrupt | io */
export function checkDirectory(directory: string): CheckResult {
  const db = openDatabase(join(directory, 'findling.db'), { readonly: true })
  try {
    const version = Number(db.pragma('user_version'))
    if (version > migrations.length)
      throw new AppError(
        'schema_too_new',
        `The data has schema ${version}, this program knows ${migrations.length}.`,
      )
    const problems = checkStore(db)
    if (problems.length === 0) problems.push(...checkIndex(db))
    for (const problem of readSynonyms(directory).problems)
      problems.push(`${synonymsFileName}, ${problem}`)
    loadTextTables(textTables())
    for (const problem of readWordsFile(directory).problems)
      problems.push(`${wordsFileName}, ${problem}`)
    const count = (sql: string): number => db.prepare<{ n: number }>(sql).value() ?? 0
    return {
      problems,
      facts: {
        documents: count('SELECT count(*) AS n FROM doc'),
        urls: count('SELECT count(*) AS n FROM url'),
        queued: count('SELECT count(*) AS n FROM url WHERE state = 0'),
        segments: count('SELECT count(*) AS n FROM seg'),
        pending: count(
          'SELECT count(*) AS n FROM doc WHERE copy_of IS NULL AND docno > coalesce((SELECT max(maxdoc) FROM seg), 0)',
        ),
      },
    }
  } finally {
    db.close()
  }
}

/** Whether the engine has work to do before everything stored can be found. */
export function hasToCatchUp(directory: string): boolean {
  const db = openDatabase(join(directory, 'findling.db'), { readonly: true })
  try {
    if (Number(db.pragma('user_version')) !== migrations.length) return true
    const meta = db.prepare<{ v: string }>('SELECT v FROM meta WHERE k=?')
    if (isLinkIndexStale((key) => meta.value(key) ?? null)) return true
    const missing = db.prepare<{ n: number }>(
      'SELECT EXISTS (SELECT 1 FROM doc WHERE copy_of IS NULL AND docno > coalesce((SELECT max(maxdoc) FROM seg), 0)) AS n',
    )
    return missing.value() !== 0
  } finally {
    db.close()
  }
}
