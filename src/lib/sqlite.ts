/** The one door to SQLite: open, pragmas, transactions, migrations. Uses only what better-sqlite3 and bun:sqlite share; knows no table. */
import assert from 'node:assert'
import BetterSqlite from 'better-sqlite3'
import type Sqlite from 'better-sqlite3'
import { AppError, diskFaultOf } from './errors.ts'
import { bunSqlite } from './sqlite-bun.ts'

// Bun's has the names of better-sqlite3 by its own design; the suites prove the rest.
const SqliteOfRuntime = (bunSqlite() as typeof BetterSqlite | null) ?? BetterSqlite

export type SqlValue = null | number | bigint | string | Uint8Array
export type RunResult = { changes: number; lastInsertRowid: number | bigint }

/** A prepared statement with positional parameters. T = the row, an object by column name. */
export type Statement<T extends object> = {
  /** The first row, or undefined. */
  get(...parameters: SqlValue[]): T | undefined
  all(...parameters: SqlValue[]): T[]
  /** For statements that answer no rows; one with RETURNING goes through `get` or `all`. */
  run(...parameters: SqlValue[]): RunResult
  /** Finish or leave the loop before anything else is asked of this connection: an open cursor holds the log. */
  iterate(...parameters: SqlValue[]): IterableIterator<T>
  /** First column of the first row, or undefined where there is no row: `prepare<{ n: number }>('SELECT count(*) AS n ...').value()`. */
  value(...parameters: SqlValue[]): T[keyof T] | undefined
}

/** One connection: one thread's, never shared. Numbers are bound as REAL, so columns are declared INTEGER in STRICT tables. */
export type Db = {
  readonly file: string
  prepare<T extends object = Record<string, SqlValue>>(sql: string): Statement<T>
  /** Runs any number of statements and drops their rows. */
  exec(sql: string): void
  /** `name` or `name(argument)`: first column of the first row. `name=value`: sets, answers undefined. */
  pragma(text: string): SqlValue | undefined
  /** BEGIN IMMEDIATE, `work`, COMMIT; rolls back when `work` or the commit throws, and throws that on. Nesting is a bug. */
  transaction<R>(work: () => R): R
  /** A read transaction: `work` sees one state of the database. Not within another transaction. */
  snapshot<R>(work: () => R): R
  readonly inTransaction: boolean
  /** May be called twice. */
  close(): void
}

export type OpenOptions = {
  /** The file must exist and is never written by this connection. */
  readonly?: boolean
  /** Page cache in KiB. */
  cacheKb?: number
  /** NORMAL may lose the last commits when the power fails; FULL never does. Neither breaks the file. */
  synchronous?: 'NORMAL' | 'FULL'
  /** How long a statement waits for another connection's lock. */
  busyTimeoutMs?: number
}

const cacheKbDefault = 8_192
const busyTimeoutMsDefault = 5_000
const checkpointBusyTimeoutMs = 250
/** Pages of 4 KiB in the log before SQLite checkpoints by itself: 8 MB, the knee between bytes written and longest stall. */
const autocheckpointPages = 2_000
const logBytesKept = 16 * 1_024 * 1_024
/** Older ones can lose commits when two connections reset the log at once. */
const oldestVersion = [3, 51, 3] as const

/**
 * Opens (and, unless readonly, creates) a database in WAL mode.
 * @throws AppError input_missing | cannot_create | corrupt | storage_full | locked | io
 */
export function openDatabase(file: string, options: OpenOptions = {}): Db {
  const readonly = options.readonly ?? false
  let native: Sqlite.Database | undefined
  try {
    native = new SqliteOfRuntime(file, { readonly })
    refuseOldVersion(native)
    native.exec(`PRAGMA busy_timeout=${options.busyTimeoutMs ?? busyTimeoutMsDefault}`)
    if (!readonly) native.exec('PRAGMA journal_mode=WAL')
    native.exec(
      `PRAGMA synchronous=${options.synchronous ?? 'NORMAL'};
       PRAGMA cache_size=-${options.cacheKb ?? cacheKbDefault};
       PRAGMA temp_store=MEMORY;
       PRAGMA wal_autocheckpoint=${autocheckpointPages};
       PRAGMA journal_size_limit=${logBytesKept};
       SELECT count(*) FROM sqlite_schema`,
    )
  } catch (error) {
    native?.close()
    throw openError(file, readonly, error)
  }
  return wrap(file, native)
}

/**
 * Brings the tables up to date. Each step and its `user_version` are one transaction, so a kill leaves the old or the new schema.
 * @param migrations index = version before the step; grown at the end only
 * @throws AppError schema_too_new
 */
export function migrate(db: Db, migrations: readonly string[]): void {
  const version = (): number => Number(db.pragma('user_version'))
  if (version() > migrations.length)
    throw new AppError(
      'schema_too_new',
      `${db.file} has schema ${version()}, this program knows ${migrations.length}`,
    )
  for (const [before, step] of migrations.entries()) {
    if (version() > before) continue
    db.transaction(() => {
      // Asked again under the write lock: another process may have been faster.
      if (version() > before) return
      db.exec(step)
      db.exec(`PRAGMA user_version=${before + 1}`)
    })
  }
}

/**
 * Writes the log back and empties it. Waits for readers for a quarter of a second only, because they block the writer meanwhile.
 * @returns false where a reader was in the way; try again later
 */
export function truncateWal(db: Db): boolean {
  const before = Number(db.pragma('busy_timeout'))
  db.exec(`PRAGMA busy_timeout=${checkpointBusyTimeoutMs}`)
  try {
    return db.pragma('wal_checkpoint(TRUNCATE)') === 0
  } finally {
    db.exec(`PRAGMA busy_timeout=${before}`)
  }
}

/** Empties the page cache of a connection at rest; the kernel may still have the pages. */
export const dropPages = (db: Db): void => db.exec('PRAGMA shrink_memory')

/** No room on the disk: what was rolled back may be tried again once there is. */
export const isDiskFull = (error: unknown): boolean => diskFaultOf(error) === 'storage_full'

/** The file is damaged or no database. */
export const isCorrupt = (error: unknown): boolean => diskFaultOf(error) === 'corrupt'

/** Another connection held its lock longer than the busy timeout. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error))

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : ''
}

/** Of the library inside, for instance 3.54.1. */
export function sqliteVersion(): string {
  const native = new SqliteOfRuntime(':memory:')
  try {
    return versionOf(native)
  } finally {
    native.close()
  }
}

const versionOf = (native: Sqlite.Database): string => {
  const row = native.prepare<[], { version: string }>('SELECT sqlite_version() AS version').get()
  assert(row !== undefined)
  return row.version
}

function refuseOldVersion(native: Sqlite.Database): void {
  const version = versionOf(native)
  const parts = version.split('.').map(Number)
  for (const [i, least] of oldestVersion.entries()) {
    const part = parts[i] ?? 0
    if (part > least) return
    assert(part === least, `SQLite ${version} is older than ${oldestVersion.join('.')}`)
  }
}

function openError(file: string, readonly: boolean, error: unknown): unknown {
  if (error instanceof assert.AssertionError || error instanceof AppError) return error
  const cause = { cause: error }
  const detail = `${file}: ${error instanceof Error ? error.message : String(error)}`
  if (isCorrupt(error)) return new AppError('corrupt', detail, cause)
  if (isDiskFull(error)) return new AppError('storage_full', detail, cause)
  if (isBusy(error)) return new AppError('locked', detail, cause)
  // better-sqlite3 answers a missing folder with a TypeError, SQLite a missing file with CANTOPEN.
  if (error instanceof TypeError || codeOf(error).startsWith('SQLITE_CANTOPEN'))
    return new AppError(readonly ? 'input_missing' : 'cannot_create', detail, cause)
  return new AppError('io', detail, cause)
}

function wrap(file: string, native: Sqlite.Database): Db {
  const within = <R>(begin: string, work: () => R): R => {
    assert(!native.inTransaction, 'transactions do not nest')
    native.exec(begin)
    try {
      const result = work()
      assert(!(result instanceof Promise), 'a transaction must not wait for a promise')
      native.exec('COMMIT')
      return result
    } finally {
      // After a full disk SQLite may have rolled back by itself.
      if (native.inTransaction) native.exec('ROLLBACK')
    }
  }
  return {
    file,
    prepare: <T extends object>(sql: string) =>
      wrapStatement<T>(native.prepare<SqlValue[], T>(withPlainPlan(sql))),
    exec: (sql) => void native.exec(sql),
    pragma: (text) => {
      if (!text.includes('='))
        return firstColumn(native.prepare<[], Record<string, SqlValue>>(`PRAGMA ${text}`).get())
      native.exec(`PRAGMA ${text}`)
      return undefined
    },
    transaction: (work) => within('BEGIN IMMEDIATE', work),
    snapshot: (work) => within('BEGIN', work),
    get inTransaction() {
      return native.inTransaction
    },
    close: () => void native.close(),
  }
}

/**
 * A statement over several tables whose plan might hang on a parameter is compiled anew each time that this has another value: 12 to 45
 * microseconds for what takes 2 to 12. No plan of ours hangs on one, and behind a plus, which does nothing, none can.
 */
const withPlainPlan = (sql: string): string => sql.replaceAll('?', '+?')

function wrapStatement<T extends object>(native: Sqlite.Statement<SqlValue[], T>): Statement<T> {
  // A value without its row takes two thirds of the time; Bun has rows alone.
  const canPluck = typeof native.pluck === 'function'
  let isPlucked = false
  const pluck = (wanted: boolean): void => {
    if (isPlucked !== wanted) native.pluck(wanted)
    isPlucked = wanted
  }
  return {
    get(...parameters) {
      pluck(false)
      // Bun answers null where there is no row.
      return native.get(...parameters) ?? undefined
    },
    all(...parameters) {
      pluck(false)
      return native.all(...parameters)
    },
    run: (...parameters) => native.run(...parameters),
    iterate(...parameters) {
      pluck(false)
      return native.iterate(...parameters)
    },
    value(...parameters) {
      if (!canPluck) return firstColumn(native.get(...parameters))
      pluck(true)
      // What a plucked statement gives is the value; its type does not say so.
      return native.get(...parameters) as T[keyof T] | undefined
    },
  }
}

/** Columns keep their order in a row object, as long as no name is a number. */
function firstColumn<T extends object>(row: T | undefined): T[keyof T] | undefined {
  for (const name in row) return row[name]
  return undefined
}
