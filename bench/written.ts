/** Which file and which table the writes of a process belong to, from a trace of its system calls. Knows SQLite's two file formats as far as that. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openDatabase } from '../src/lib/sqlite.ts'

/** Log: frames of the log. Database: pages that a checkpoint moved into the file. Other: files that SQLite does not write. */
export type Writes = { what: string; log: number; database: number; other: number }[]

const pageBytes = 4_096
const frameHeaderBytes = 24
const logHeaderBytes = 32

/** What to put before a command so that its writes are noted in `file`. */
export const tracedWrites = (file: string): string[] => {
  const calls = 'trace=write,pwrite64,writev,pwritev,pwritev2'
  return ['strace', '-f', '--seccomp-bpf', '-qq', '-yy', '-xx', '-s', '4', '-e', calls, '-o', file]
}

/** Name of a table, or of the table that an index belongs to -> what it is for. */
const purposes: Readonly<Record<string, string>> = {
  doc_text: 'text',
  doc: 'documents',
  doc_field: 'documents',
  url: 'URLs and queue',
  fingerprint: 'fingerprints of copies',
  leaf: 'postings',
  seg: 'postings',
}

/**
 * Pages are put down to the table that has them at the end; those that are free by then were postings of merged segments, but for a few.
 * @param trace as `tracedWrites` made it
 */
export function tablesOf(trace: string, data: string): Writes {
  const owners = ownersOf(join(data, 'findling.db'))
  const sums = new Map<string, { log: number; database: number; other: number }>()
  const add = (what: string, where: 'log' | 'database' | 'other', bytes: number): void => {
    const sum = sums.get(what) ?? { log: 0, database: 0, other: 0 }
    sum[where] += bytes
    sums.set(what, sum)
  }
  // Of the log's frames: descriptor -> page of the header that came before.
  for (const { file, bytes, offset, head } of writesOf(trace)) {
    if (!file.startsWith(data)) continue
    const name = basename(file)
    if (name === 'findling.db')
      add(owners.get(offset / pageBytes + 1) ?? 'free since', 'database', bytes)
    else if (name !== 'findling.db-wal') add(name, 'other', bytes)
    else if (bytes === frameHeaderBytes)
      add(owners.get(head) ?? 'free since', 'log', pageBytes + bytes)
    else if (bytes === logHeaderBytes) add('rest', 'log', bytes)
  }
  return [...sums]
    .map(([what, bytes]) => ({ what, ...bytes }))
    .toSorted((a, b) => b.log + b.database + b.other - (a.log + a.database + a.other))
}

type Write = { file: string; bytes: number; offset: number; head: number }

const call =
  /^\d+ +(write|pwrite64)\(\d+<((?:\\x[0-9a-f]{2})+|[^>]*)>[^,]*, "((?:\\x[0-9a-f]{2})*)"(?:\.\.\.)?, (\d+)(?:, (\d+))?\) += (\d+)/

function* writesOf(trace: string): Generator<Write> {
  for (const line of readFileSync(trace, 'latin1').split('\n')) {
    const [, , file = '', head = '', , offset = '0', bytes = '0'] = call.exec(line) ?? []
    if (file === '') continue
    yield {
      file: unescape(file),
      bytes: Number(bytes),
      offset: Number(offset),
      head: Number.parseInt(head.replaceAll('\\x', ''), 16),
    }
  }
}

const unescape = (text: string): string =>
  text.replace(/\\x([0-9a-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )

/** Page number -> what it is for. */
function ownersOf(file: string): Map<number, string> {
  const db = openDatabase(file, { readonly: true })
  try {
    const tables = new Map(
      db
        .prepare<{ name: string; table: string }>(
          'SELECT name, tbl_name AS "table" FROM sqlite_schema',
        )
        .all()
        .map(({ name, table }) => [name, table]),
    )
    const pages = db
      .prepare<{ page: number; name: string }>('SELECT pageno AS page, name FROM dbstat')
      .all()
    return new Map(
      pages.map(({ page, name }) => [page, purposes[tables.get(name) ?? ''] ?? 'rest']),
    )
  } finally {
    db.close()
  }
}
