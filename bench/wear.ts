/**
 * Bytes that a crawl has a disk write, for each byte of text that it keeps: `bench -- wear [small|medium] [DELAY_MS]`, with the profile
 * for flash cards and without. As root the data lies on an ext4 file system of its own in a loop device, whose sectors written are
 * counted: the file system's journal and maps included. Elsewhere it is what the kernel accounts to the process, which leaves those out.
 * Where strace is to be had, each write is put down to a file and a table.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { unpackText } from '../src/lib/packed-text.ts'
import { openDatabase } from '../src/lib/sqlite.ts'
import { run } from '../test/e2e/program.ts'
import type { Json } from '../test/e2e/program.ts'
import { report, round } from './process-tree.ts'
import { crawlArguments, serveSites } from './sites.ts'
import type { ServedSites, SiteSet } from './sites.ts'
import { tablesOf, tracedWrites, type Writes } from './written.ts'

const set: SiteSet = process.argv[2] === 'medium' ? 'medium' : 'small'
const delayMs = Number(process.argv[3] ?? 0)
const diskBytes = 4 * 1_024 ** 3
const sectorBytes = 512
const timeoutMs = 3_600_000
/** The aim of the profile for flash cards. */
const perTextMax = 3.5

type Disk = {
  path: string
  /** Bytes written to the device so far; null where it cannot be told. */
  writtenBytes(): number | null
  remove(): void
}

const has = (program: string): boolean => spawnSync(program, ['-V']).error === undefined

/** A file system of its own where we may mount one, else a folder. */
function openDisk(): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'findling-wear-'))
  const [image, path] = [join(folder, 'image'), join(folder, 'disk')]
  mkdirSync(path)
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const quietly = (program: string, ...args: string[]): boolean =>
    spawnSync(program, args, { stdio: 'ignore' }).status === 0
  const isMounted =
    quietly('truncate', '-s', String(diskBytes), image) &&
    // Without the lazy start the kernel would go on writing its tables during the crawl.
    quietly('mkfs.ext4', '-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image) &&
    quietly('mount', '-o', 'loop,noatime', image, path)
  if (!isMounted) return { path, writtenBytes: () => null, remove }
  const device = execFileSync('findmnt', ['-n', '-o', 'SOURCE', path], { encoding: 'utf8' }).trim()
  return {
    path,
    writtenBytes() {
      execFileSync('sync', ['-f', path])
      const stat = readFileSync(`/sys/block/${basename(device)}/stat`, 'utf8')
      return Number(stat.trim().split(/\s+/)[6]) * sectorBytes
    },
    remove() {
      execFileSync('umount', [path])
      remove()
    },
  }
}

/** What the documents say, as UTF-8: titles, main text, and the rest of the page. */
function textBytesOf(file: string): number {
  const db = openDatabase(file, { readonly: true })
  try {
    let bytes = 0
    const rows = db
      .prepare<{ title: string; body: Uint8Array; rest: Uint8Array | null }>(
        'SELECT d.title, t.body, t.rest FROM doc d JOIN doc_text t ON t.docno = d.docno',
      )
      .iterate()
    for (const { title, body, rest } of rows) {
      bytes += Buffer.byteLength(title) + Buffer.byteLength(unpackText(body))
      if (rest !== null) bytes += Buffer.byteLength(unpackText(rest))
    }
    return bytes
  } finally {
    db.close()
  }
}

type Measure = {
  profile: string
  pages: number
  textBytes: number
  deviceBytes: number | null
  processBytes: number
  dataBytes: number
  writes: Writes | null
}

/** A shell that has waited for the program has its counts of written bytes added to its own. */
const counted = '"$@"; status=$?; grep ^write_bytes /proc/$$/io > "$0"; exit $status'

async function measure(flash: 'on' | 'off', served: ServedSites): Promise<Measure> {
  const disk = openDisk()
  const folder = mkdtempSync(join(tmpdir(), 'findling-wear-log-'))
  try {
    const data = join(disk.path, 'data')
    const [counts, trace] = [join(folder, 'counts'), join(folder, 'trace')]
    const sites = crawlArguments(served.origin, served.sites)
    const pace = ['--allow-private', '127.0.0.0/8', '--delay', String(delayMs), '--flash', flash]
    const isTraced = has('strace')
    // The tracer stands outside: what it writes is not counted.
    const around = [...(isTraced ? tracedWrites(trace) : []), 'sh', '-c', counted, counts]
    const before = disk.writtenBytes()
    const args = ['crawl', ...sites, '--data', data, ...pace, '-f', 'json']
    const { code, stdout, stderr } = await run(args, { around, timeoutMs })
    if (code !== 0) throw new Error(stderr)
    const after = disk.writtenBytes()
    const summary: Json = JSON.parse(stdout)
    const file = join(data, 'findling.db')
    return {
      profile: flash === 'on' ? 'flash' : 'usual',
      pages: Number(summary.stored),
      textBytes: textBytesOf(file),
      deviceBytes: before === null || after === null ? null : after - before,
      processBytes: Number(/\d+/.exec(readFileSync(counts, 'utf8'))?.[0]),
      dataBytes: Number(execFileSync('du', ['-sb', data], { encoding: 'utf8' }).split('\t')[0]),
      writes: isTraced ? tablesOf(trace, data) : null,
    }
  } finally {
    disk.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

const served = await serveSites(set)
const all: Measure[] = []
try {
  for (const flash of ['on', 'off'] as const) all.push(await measure(flash, served))
} finally {
  served.close()
}
const perText = (bytes: number | null, { textBytes }: Measure): number | null =>
  bytes === null ? null : round(bytes / textBytes, 2)
const rows = all.map((each) => ({
  profile: each.profile,
  pages: each.pages,
  'text, MB': round(each.textBytes / 1e6),
  'kept, per byte of text': perText(each.dataBytes, each),
  'device, per byte of text': perText(each.deviceBytes, each),
  'process, per byte of text': perText(each.processBytes, each),
}))
for (const each of all) {
  if (each.writes === null) continue
  console.log(`\n${each.profile}: bytes for each byte of text, by what wrote them`)
  console.table(
    each.writes.map(({ what, ...bytes }) => ({
      what,
      ...Object.fromEntries(Object.entries(bytes).map(([name, n]) => [name, perText(n, each)])),
    })),
  )
}
const flash = all[0]
report(rows, {
  set,
  delayMs,
  counted: flash?.deviceBytes === null ? 'process' : 'device',
  perTextMax,
  rows,
})
