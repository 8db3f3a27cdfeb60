/** One process per data directory. The kernel holds the lock, so it dies with the process; the text beside it only tells people who has it. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { AppError } from './errors.ts'
import { type Db, isBusy, openDatabase } from './sqlite.ts'

export type DirectoryLock = {
  /** Says in the message beside the lock where this process can be reached, once it listens. */
  announce(address: string): void
  /** Frees the directory; the second call does nothing. */
  release(): void
}

/** Who says to hold the directory. Only the lock itself decides whether that is still true. */
export type LockHolder = { pid: number; address: string | null }

const lockName = 'lock.sqlite'
const holderName = 'lock.json'
const busyTimeoutMs = 100

/**
 * Makes the directory where it is missing (0700) and takes it for this process. Files made later by this process get 0600.
 * @throws AppError locked (names the holder) | cannot_create | storage_full
 */
export function lockDirectory(directory: string): DirectoryLock {
  // Threads cannot change the umask; the main thread takes the lock before it starts any.
  if (isMainThread) process.umask(0o077)
  makeDirectory(directory)
  const db = openLocked(directory)
  const holderFile = join(directory, holderName)
  let isHeld = true
  const announce = (address: string | null): void =>
    writeHolder(holderFile, { pid: process.pid, address })
  announce(null)
  return {
    announce,
    release() {
      if (!isHeld) return
      isHeld = false
      // First the text: once the lock is free the file may be another's.
      rmSync(holderFile, { force: true })
      db.close()
    },
  }
}

/** With its parents. Not mkdir's own `recursive`, which tries for ever where a parent is there and takes nothing (/proc). */
function makeDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return
  try {
    const parent = dirname(directory)
    if (parent !== directory && !existsSync(parent)) makeDirectory(parent)
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (error instanceof AppError) throw error
    // Another process may have been faster.
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file stands in its place' : message
    throw new AppError('cannot_create', `${directory} cannot be made: ${reason}`, { cause: error })
  }
}

/** What stands beside the lock, or null. Stale after a kill: ask `address`, or try to lock. */
export function readLockHolder(directory: string): LockHolder | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, holderName), 'utf8'))
    if (typeof value !== 'object' || value === null || !('pid' in value)) return null
    if (typeof value.pid !== 'number') return null
    const address = 'address' in value && typeof value.address === 'string' ? value.address : null
    return { pid: value.pid, address }
  } catch {
    // Missing, cut off or foreign text: nobody to name.
    return null
  }
}

/** An exclusive transaction that is never ended. Its file is never opened with `fs`: closing that would drop the lock. */
function openLocked(directory: string): Db {
  let db: Db | undefined
  try {
    db = openDatabase(join(directory, lockName), { busyTimeoutMs, cacheKb: 64 })
    db.exec('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db?.close()
    if (!isBusy(error) && !(error instanceof AppError && error.code === 'locked')) throw error
    const holder = readLockHolder(directory)
    const who = holder === null ? 'another process' : `process ${holder.pid}`
    const where = holder?.address ? ` (${holder.address})` : ''
    throw new AppError('locked', `${directory} is in use by ${who}${where}`, { cause: error })
  }
}

function writeHolder(file: string, holder: LockHolder): void {
  const beside = `${file}.new`
  writeFileSync(beside, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  renameSync(beside, file)
}
