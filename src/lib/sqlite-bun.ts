/** Bun's own SQLite in the shape of better-sqlite3, as far as lib/sqlite.ts uses it: the same source runs there without the addon. */
import type Sqlite from 'better-sqlite3'

type BunStatement = { finalize(): void }
type BunDatabase = { prepare(sql: string): BunStatement; close(): void }
type BunModule = {
  Database: new (
    file: string,
    options: { readonly: true } | { readwrite: true; create: true },
  ) => BunDatabase
}

/** So many statements may be forgotten by their owners before the list of them is swept. */
const sweepEvery = 1_000

/** better-sqlite3's constructor over `bun:sqlite`, or null where the program does not run under Bun. */
export function bunSqlite(): typeof Sqlite | null {
  if (process.versions['bun'] === undefined) return null
  const { Database } = process.getBuiltinModule('bun:sqlite') as unknown as BunModule
  const opened = class extends Database {
    #statements: WeakRef<BunStatement>[] = []
    #sweepAt = sweepEvery

    constructor(file: string, options: { readonly?: boolean } = {}) {
      super(
        file,
        options.readonly === true ? { readonly: true } : { readwrite: true, create: true },
      )
    }

    override prepare(sql: string): BunStatement {
      const statement = super.prepare(sql)
      this.#statements.push(new WeakRef(statement))
      if (this.#statements.length >= this.#sweepAt) {
        this.#statements = this.#statements.filter((each) => each.deref() !== undefined)
        this.#sweepAt = this.#statements.length + sweepEvery
      }
      return statement
    }

    /** With a statement left SQLite keeps the file open behind our back: its locks stay, its log is not written back. */
    override close(): void {
      for (const statement of this.#statements) statement.deref()?.finalize()
      this.#statements = []
      super.close()
    }
  }
  // Its statements and properties have the names of better-sqlite3 by Bun's own design; the suites prove the rest.
  return opened as unknown as typeof Sqlite
}
