/** Brings the tables of a data file up to date, after a copy of the file as it was. */
import { readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Log } from '../lib/log.ts'
import { migrate, type Db } from '../lib/sqlite.ts'
import { copyDatabase, syncPath } from './copy.ts'

const copyPattern = /^before-schema-\d+\.db(?:\.new)?$/
const copyName = (schema: number): string => `before-schema-${schema}.db`
/** Left free beside the copy, for what the upgrade itself writes. */
const spareShare = 1
const spareBytesMin = 16 * 1024 * 1024

/**
 * An empty file gets its tables, an older one the missing steps: then `before-schema-N.db` beside it holds the data of schema N until
 * the next upgrade. Without room for it the upgrade goes on and says so; each step is a transaction of its own.
 * @param steps index = schema before the step
 * @throws AppError schema_too_new | corrupt | storage_full | io
 */
export function upgrade(db: Db, steps: readonly string[], log: Log): void {
  const before = Number(db.pragma('user_version'))
  const isOlder = before > 0 && before < steps.length
  const copy = isOlder ? copyBefore(db, before, log) : null
  migrate(db, steps)
  if (!isOlder) return
  log('info', 'the data was upgraded', { from: before, to: steps.length, copy: copy ?? 'none' })
  if (copy !== null) removeOlderCopies(dirname(db.file), copyName(before))
}

/** @returns the file of the copy; null where there was no room */
function copyBefore(db: Db, schema: number, log: Log): string | null {
  const folder = dirname(db.file)
  const bytes = Number(db.pragma('page_count')) * Number(db.pragma('page_size'))
  const { bavail, bsize } = statfsSync(folder)
  const freeBytes = bavail * bsize
  if (freeBytes < bytes * (1 + spareShare) + spareBytesMin) {
    const sizes = { neededMb: Math.ceil(bytes / 1e6), freeMb: Math.floor(freeBytes / 1e6) }
    log('warn', 'no room for a copy of the data before the upgrade', sizes)
    return null
  }
  const file = join(folder, copyName(schema))
  // Beside, then renamed: a copy under its own name is whole.
  rmSync(`${file}.new`, { force: true })
  copyDatabase(db, `${file}.new`)
  renameSync(`${file}.new`, file)
  syncPath(folder)
  return file
}

function removeOlderCopies(folder: string, kept: string): void {
  for (const name of readdirSync(folder)) {
    if (copyPattern.test(name) && name !== kept) rmSync(join(folder, name), { force: true })
  }
}
