/** Bun's own SQLite in the shape of better-sqlite3, as far as lib/sqlite.ts uses it: the same source runs there without the addon. */
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

/** The constructor of `bun:sqlite` in the shape of better-sqlite3's, or null where the program does not run under Bun. */
export function bunSqlite():
  | (new (file: string, options?: { readonly?: boolean }) => unknown)
  | null {
  if (process.versions['bun'] === undefined) return null
  const { Database } = process.getBuiltinModule('bun:sqlite') as unknown as BunModule
  return class extends Database {
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
}
