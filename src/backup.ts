/** Makes a backup of a data directory in one archive file; beside a running server or crawl too. Changes nothing in the directory. */
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  archiveFolder,
  isArchiveName,
  isKeptFile,
  keyName,
  manifestFormat,
  manifestName,
  nightlyName,
  outdatedNames,
  packingOf,
  storeName,
  type Manifest,
} from './backup-format.ts'
import { isSettingName, settings } from './config.ts'
import { cookieFileName } from './crawl/cookie-file.ts'
import { AppError } from './lib/errors.ts'
import { openDatabase } from './lib/sqlite.ts'
import { writeTar, type TarFile } from './lib/tar.ts'
import { checkStore } from './store/check.ts'
import { copyDatabase, syncPath } from './store/copy.ts'
import { migrations } from './store/schema.ts'

export type BackupOptions = {
  directory: string
  /** A file ending in .tar.zst, .tar.gz or .tar; or a folder, for a copy named by its time. */
  target: string
  /** Of the copies named by their time in the folder only the newest so many stay; null = all. */
  keep: number | null
  /** Also the administration key, and the secrets in the settings. */
  withKey: boolean
  program: string
  now: Date
}

export type BackupReport = Manifest & {
  file: string
  /** Of the archive. */
  bytes: number
  secretsLeftOut: string[]
  removed: string[]
  /** What `check` finds in the copy: such a backup cannot be restored. */
  faults: string[]
}

/** Settings and word lists are held in memory. */
const keptFileBytesMax = 64 * 1024 * 1024
/** With what SQLite keeps beside a copy that was cut off. */
const temporaryPattern = /^\.findling-backup-(\d+)\.(?:db(?:-journal|-wal|-shm)?|part)$/

/** @throws AppError usage | cannot_create | input_missing | schema_too_new | corrupt | storage_full | io */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const { directory, keep, now } = options
  const file = archiveFile(options)
  const folder = dirname(file)
  if (keep !== null && file === options.target)
    throw new AppError('usage', '--keep needs a folder as the target.')
  removeLeftovers(folder)
  const copy = join(folder, `.findling-backup-${process.pid}.db`)
  const part = join(folder, `.findling-backup-${process.pid}.part`)
  try {
    const { schema, faults } = copyStore(join(directory, storeName), copy)
    const { files, secretsLeftOut } = gather(options, copy)
    const manifest: Manifest = {
      format: manifestFormat,
      program: options.program,
      schema,
      created: now.toISOString(),
      problems: faults.length,
      files: await Promise.all(files.map(listed)),
    }
    await writeArchive(file, part, [manifestMember(manifest), ...files])
    const removed = keep === null ? [] : removeOutdated(folder, basename(file), keep)
    return { ...manifest, file, bytes: statSync(file).size, secretsLeftOut, removed, faults }
  } finally {
    rmSync(copy, { force: true })
    rmSync(part, { force: true })
  }
}

function archiveFile({ target, now }: BackupOptions): string {
  const found = statSync(target, { throwIfNoEntry: false })
  const file = found?.isDirectory() ? join(target, nightlyName(now)) : target
  if (!isArchiveName(file))
    throw new AppError(
      'usage',
      `${target}: a folder, or a name that ends in .tar.zst, .tar.gz or .tar is wanted.`,
    )
  if (found !== undefined && !found.isDirectory() && !found.isFile())
    throw new AppError('cannot_create', `${file} is no plain file.`)
  if (!existsSync(dirname(file)))
    throw new AppError('cannot_create', `There is no folder ${dirname(file)}.`)
  try {
    accessSync(dirname(file), constants.W_OK)
  } catch (error) {
    throw new AppError('cannot_create', `${dirname(file)} cannot be written.`, { cause: error })
  }
  return file
}

/** Of backups that were killed: each as large as the store. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = temporaryPattern.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process may not be asked, so it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function copyStore(store: string, copy: string): { schema: number; faults: string[] } {
  const live = openDatabase(store, { readonly: true })
  try {
    const schema = Number(live.pragma('user_version'))
    if (schema > migrations.length)
      throw new AppError(
        'schema_too_new',
        `The data has schema ${schema}, this program knows ${migrations.length}.`,
      )
    copyDatabase(live, copy)
    return { schema, faults: schema === migrations.length ? faultsOf(copy) : [] }
  } finally {
    live.close()
  }
}

/** Of the copy, which nobody writes: the original is not held longer than needed. */
function faultsOf(copy: string): string[] {
  const db = openDatabase(copy, { readonly: true })
  try {
    return checkStore(db)
  } finally {
    db.close()
  }
}

type Member = { name: string; modifiedAtMs: number; bytes: number; open: () => TarFile['content'] }

/** The store first; then the settings and word lists in the order of their names. */
function gather(
  { directory, withKey, now }: BackupOptions,
  copy: string,
): { files: Member[]; secretsLeftOut: string[] } {
  const secretsLeftOut: string[] = []
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted()
  // Whoever has them is logged in: a backup never holds them.
  if (names.includes(cookieFileName)) secretsLeftOut.push(cookieFileName)
  if (names.includes(keyName) && !withKey) secretsLeftOut.push(keyName)
  const kept = names.filter((name) => isKeptFile(name) || (withKey && name === keyName))
  const files = kept.map((name): Member => {
    const path = join(directory, name)
    const { size, mtimeMs } = statSync(path)
    if (size > keptFileBytesMax)
      throw new AppError('payload_too_large', `${path} has ${size} bytes, which no settings have.`)
    let bytes: Uint8Array = readFileSync(path)
    if (name === 'config.json' && !withKey) {
      const open = withoutSecrets(bytes)
      secretsLeftOut.push(...open.secrets.map((secret) => `${name}: ${secret}`))
      bytes = open.bytes
    }
    return { name, modifiedAtMs: mtimeMs, bytes: bytes.byteLength, open: () => [bytes] }
  })
  const store: Member = {
    name: storeName,
    modifiedAtMs: now.getTime(),
    bytes: statSync(copy).size,
    open: () => createReadStream(copy),
  }
  return { files: [store, ...files], secretsLeftOut }
}

/** The settings without what is secret. Kept byte by byte where there is nothing secret, or no JSON. */
function withoutSecrets(bytes: Uint8Array): { bytes: Uint8Array; secrets: string[] } {
  let value: unknown
  try {
    value = JSON.parse(
      Buffer.from(bytes)
        .toString('utf8')
        .replace(/^\uFEFF/, ''),
    )
  } catch {
    // The program refuses such a file too: it can say nothing that would be in force.
    return { bytes, secrets: [] }
  }
  if (typeof value !== 'object' || value === null) return { bytes, secrets: [] }
  const isSecret = (name: string): boolean => {
    const setting = isSettingName(name) ? settings[name] : undefined
    return setting !== undefined && 'secret' in setting
  }
  const secrets = Object.keys(value).filter(isSecret)
  if (secrets.length === 0) return { bytes, secrets }
  const open = Object.fromEntries(Object.entries(value).filter(([name]) => !isSecret(name)))
  return { bytes: Buffer.from(`${JSON.stringify(open, null, 2)}\n`), secrets }
}

async function listed({ name, bytes, open }: Member): Promise<Manifest['files'][number]> {
  const hash = createHash('sha256')
  for await (const chunk of open()) hash.update(chunk)
  return { name, bytes, sha256: hash.digest('hex') }
}

function manifestMember(manifest: Manifest): Member {
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  return {
    name: manifestName,
    modifiedAtMs: Date.parse(manifest.created),
    bytes: bytes.byteLength,
    open: () => [bytes],
  }
}

/** Beside, synced, renamed: under its own name the archive is whole or not there. */
async function writeArchive(file: string, part: string, members: readonly Member[]): Promise<void> {
  const tar = writeTar(
    (function* () {
      for (const { name, modifiedAtMs, bytes, open } of members)
        yield { name: `${archiveFolder}${name}`, modifiedAtMs, bytes, content: open() }
    })(),
  )
  const packing = packingOf(file)
  const source = Readable.from(tar, { objectMode: false })
  const sink = createWriteStream(part, { mode: 0o600, flush: true })
  if (packing === null) await pipeline(source, sink)
  else await pipeline(source, packing(), sink)
  renameSync(part, file)
  syncPath(dirname(file))
}

/** The copy made just now stays whatever its name: the clock may have been put back. */
function removeOutdated(folder: string, made: string, keep: number): string[] {
  const others = readdirSync(folder).filter((name) => name !== made)
  const removed = outdatedNames(others, keep - 1)
  for (const name of removed) rmSync(join(folder, name))
  return removed
}
