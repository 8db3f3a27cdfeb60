/** Every failure a person must hear about, in one table: code, HTTP status, exit code, remedy. Bugs are `assert`, the web is data. */

const table = {
  usage: [400, 64, 'See `findling --help`.'],
  invalid_parameter: [400, 64, 'Correct the parameter.'],
  invalid_cursor: [400, 64, 'Begin again without a cursor.'],
  query_too_long: [400, 64, 'Shorten the query.'],
  config_invalid: [400, 78, 'Correct the setting.'],
  bad_input: [400, 65, 'Correct the input.'],
  input_missing: [404, 66, 'Check the path.'],
  not_found: [404, 66, 'Check the address.'],
  auth_required: [401, 69, 'Give the key that the start printed (Authorization: Bearer KEY).'],
  forbidden: [403, 69, 'Use a key with this right.'],
  method_not_allowed: [405, 64, 'Use one of the allowed methods.'],
  conflict: [409, 75, 'Look at the current state and try again.'],
  payload_too_large: [413, 65, 'Send less at once.'],
  unsupported_media_type: [415, 65, 'Send application/json.'],
  misdirected: [421, 69, 'Open Findling under a host name that it was told (--host-names).'],
  rate_limited: [429, 75, 'Wait and try again.'],
  overloaded: [503, 75, 'Try again in a moment.'],
  starting: [503, 75, 'Try again in a moment.'],
  shutting_down: [503, 75, 'Try again when it runs.'],
  locked: [503, 75, 'Stop the other process, or give another --data directory.'],
  unreachable: [
    503,
    69,
    'Start the server, or leave it stopped so that the directory can be opened.',
  ],
  cannot_create: [500, 73, 'Check the path and its rights.'],
  io: [500, 74, 'Check the disk.'],
  storage_full: [507, 74, 'Free some room and try again; a crawl that runs goes on by itself.'],
  schema_too_new: [500, 78, 'This data was written by a newer version: upgrade the program.'],
  corrupt: [500, 74, 'Restore a backup, or run `findling check` for details.'],
  unsupported_system: [500, 1, 'Use a newer system, or the container image.'],
  internal: [500, 1, 'This is a fault of the program.'],
} as const satisfies Record<string, readonly [status: number, exit: number, remedy: string]>

export type ErrorCode = keyof typeof table
export const errorCodes = Object.keys(table) as readonly ErrorCode[]

export type AppErrorOptions = ErrorOptions & {
  /** Seconds until a retry makes sense. */
  retryAfterS?: number
  /** What to do about it, where the table does not fit the case. Stays in its thread. */
  remedy?: string
}

/** An expected failure: `detail` says what happened, the table says what to do about it. */
export class AppError extends Error {
  readonly code: ErrorCode
  /** Seconds until a retry makes sense, where that is known. */
  readonly retryAfterS: number | undefined
  readonly #remedy: string | undefined
  constructor(code: ErrorCode, detail: string, options?: AppErrorOptions) {
    super(detail, options)
    this.name = 'AppError'
    this.code = code
    this.retryAfterS = options?.retryAfterS
    this.#remedy = options?.remedy
  }
  get status(): number {
    return table[this.code][0]
  }
  get exitCode(): number {
    return table[this.code][1]
  }
  get remedy(): string {
    return this.#remedy ?? table[this.code][2]
  }
}

/** What the disk does, as the system and SQLite call it; null for any other error. */
export function diskFaultOf(error: unknown): 'storage_full' | 'corrupt' | 'io' | null {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^(?:SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT|storage_full)$/.test(code))
    return 'storage_full'
  if (/^(?:SQLITE_CORRUPT|SQLITE_NOTADB|corrupt$)/.test(code)) return 'corrupt'
  return /^(?:SQLITE_IOERR|EIO$|EROFS$|io$)/.test(code) ? 'io' : null
}

/** Errors cross threads as plain values: this brings one over, `reviveError` makes it whole again. */
export type PlainError = { code: ErrorCode; detail: string; retryAfterS?: number }

export function plainError(error: unknown): PlainError {
  if (error instanceof AppError) {
    const plain: PlainError = { code: error.code, detail: error.message }
    if (error.retryAfterS !== undefined) plain.retryAfterS = error.retryAfterS
    return plain
  }
  const detail = error instanceof Error ? error.message : String(error)
  return { code: diskFaultOf(error) ?? 'internal', detail }
}

export const reviveError = (plain: PlainError): AppError =>
  new AppError(
    plain.code,
    plain.detail,
    plain.retryAfterS === undefined ? {} : { retryAfterS: plain.retryAfterS },
  )
