/** A whole and compact copy of a data file, made by SQLite itself: right also while another connection writes. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../lib/errors.ts'
import { isCorrupt, isDiskFull, type Db } from '../lib/sqlite.ts'

/**
 * Copies what is committed now into `file`, which must not exist, and waits until the disk has it. Holds a read transaction
 * meanwhile, so the log of the original grows by what is written in that time.
 * @throws AppError corrupt (the original) | storage_full | io
 */
export function copyDatabase(db: Db, file: string): void {
  try {
    db.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`)
  } catch (error) {
    const code = isCorrupt(error) ? 'corrupt' : isDiskFull(error) ? 'storage_full' : 'io'
    const reason = (error as Error).message
    throw new AppError(code, `${db.file} cannot be copied to ${dirname(file)}: ${reason}`, {
      cause: error,
    })
  }
  // The copy is closed by now: opening it drops no lock of SQLite's.
  syncPath(file)
  syncPath(dirname(file))
}

/** Of a file its bytes, of a directory its names. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
