/** Puts a backup into a data directory: all of it, proven, or nothing. Deletes nothing that was there. */
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import {
  archiveFolder,
  keyName,
  manifestBytesMax,
  manifestName,
  parseManifest,
  stampOf,
  storeName,
  unpackingOf,
  type Manifest,
} from './backup-format.ts'
import { AppError } from './lib/errors.ts'
import { lockDirectory } from './lib/lock.ts'
import { isCorrupt, migrate, openDatabase } from './lib/sqlite.ts'
import { readTar, type TarFile } from './lib/tar.ts'
import { checkStore } from './store/check.ts'
import { syncPath } from './store/copy.ts'
import { migrations } from './store/schema.ts'

export type RestoreOptions = {
  file: string
  directory: string
  /** Moves aside what is in the directory; otherwise it must be empty. */
  force: boolean
  now: Date
}

export type RestoreReport = Pick<Manifest, 'created' | 'program' | 'schema' | 'files'> & {
  directory: string
  /** Folder of what was there before; null where there was nothing. */
  movedTo: string | null
}

const lockPattern = /^lock\.(?:json|sqlite)/
/** Unpacked here first. Inside the directory, because that may be a volume of its own, which cannot be renamed or written beside. */
const workFolder = '.restoring'
const asidePrefix = 'before-restore-'
/** Room that must be left when everything is unpacked. */
const spareBytes = 16 * 1024 * 1024

/** @throws AppError input_missing | locked | cannot_create (not empty) | bad_input (damaged) | schema_too_new | storage_full | io */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  try {
    return await restoreWhole(options)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad_input') throw error
    const remedy = 'Nothing was changed: restore another backup.'
    throw new AppError('bad_input', `${options.file}: ${error.message}`, { remedy, cause: error })
  }
}

async function restoreWhole(options: RestoreOptions): Promise<RestoreReport> {
  const { file, directory, force, now } = options
  refuseNoFile(file)
  // Whatever can be refused by its head is refused before anything is made.
  await readManifest(file)
  const wasThere = existsSync(directory)
  if (wasThere && !statSync(directory).isDirectory())
    throw new AppError('cannot_create', `${directory} is a file, no directory.`)
  refuseOccupied(directory, force)
  const lock = lockDirectory(directory)
  const work = join(directory, workFolder)
  let isDone = false
  try {
    // Asked again under the lock; a restore that was killed leaves its folder, which holds nothing that the archive does not.
    refuseOccupied(directory, force)
    rmSync(work, { recursive: true, force: true })
    mkdirSync(work, { mode: 0o700 })
    const manifest = await unpack(file, work)
    proveStore(join(work, storeName), manifest)
    const movedTo = putInPlace(directory, manifest, stampOf(now))
    isDone = true
    const { created, program, schema, files } = manifest
    return { created, program, schema, files, directory, movedTo }
  } finally {
    rmSync(work, { recursive: true, force: true })
    lock.release()
    if (!isDone && !wasThere) removeTrace(directory)
  }
}

function refuseNoFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new AppError('input_missing', `There is no file ${file}.`)
  if (found.isDirectory())
    throw new AppError('input_missing', `${file} is a folder.`, {
      remedy: 'Name one of the backups in it.',
    })
  if (!found.isFile()) throw new AppError('input_missing', `${file} is no plain file.`)
}

/** What counts as there: everything but the lock and the leavings of a restore. */
const occupants = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory).filter((name) => !lockPattern.test(name) && name !== workFolder)
    : []

function refuseOccupied(directory: string, force: boolean): void {
  const found = occupants(directory)
  const held = found.filter((name) => !name.startsWith(asidePrefix))
  if (held.length > 0 && !force)
    throw new AppError(
      'cannot_create',
      `${directory} is not empty (${held.slice(0, 3).join(', ')}).`,
      { remedy: 'Give another --data directory, or --force, which moves aside what is there.' },
    )
}

/** Two restores within a second must not share a folder. */
function freeName(directory: string, name: string): string {
  let path = join(directory, name)
  for (let n = 2; existsSync(path); n += 1) path = join(directory, `${name}-${n}`)
  return path
}

function removeTrace(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (lockPattern.test(name)) rmSync(join(directory, name), { force: true })
  }
  if (readdirSync(directory).length === 0) rmdirSync(directory)
}

async function readManifest(file: string): Promise<Manifest> {
  for await (const member of readArchive(file)) return await takeManifest(member)
  throw new AppError('bad_input', 'The archive is empty.')
}

async function takeManifest(member: TarFile): Promise<Manifest> {
  if (member.name !== `${archiveFolder}${manifestName}` || member.bytes > manifestBytesMax)
    throw new AppError(
      'bad_input',
      'This is no backup of Findling: it does not begin with its manifest.',
    )
  const manifest = parseManifest(await textOf(member.content))
  if (manifest.schema > migrations.length)
    throw new AppError(
      'schema_too_new',
      `The backup has schema ${manifest.schema}, this program knows ${migrations.length}.`,
    )
  if (manifest.problems > 0)
    throw new AppError(
      'bad_input',
      `The data was damaged already when this backup was made (${manifest.problems} problems).`,
    )
  return manifest
}

async function textOf(content: TarFile['content']): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk.slice())
  return Buffer.concat(chunks).toString('utf8')
}

const readArchive = (file: string): AsyncGenerator<TarFile> => readTar(readPacked(file))

/** Damage is the archive's fault; trouble in reading it is the disk's and keeps its own error. */
async function* readPacked(file: string): AsyncGenerator<Uint8Array> {
  const unpacking = unpackingOf(headOf(file))
  const source = createReadStream(file)
  // An error of the source reaches whoever reads the end of the pipeline.
  const chunks = unpacking === null ? source : pipeline(source, unpacking(), () => {})
  try {
    for await (const chunk of chunks) yield chunk as Uint8Array
  } catch (error) {
    if (!isPackingError(error)) throw error
    const { message } = error as Error
    throw new AppError('bad_input', `The archive is damaged (${message}).`, { cause: error })
  } finally {
    source.destroy()
  }
}

const isPackingError = (error: unknown): boolean =>
  /^(?:Z_|ZSTD_|ERR_ZSTD|ERR_BUFFER)/.test((error as NodeJS.ErrnoException).code ?? '')

function headOf(file: string): Uint8Array {
  const fd = openSync(file, 'r')
  try {
    const head = new Uint8Array(4)
    return head.subarray(0, readSync(fd, head))
  } finally {
    closeSync(fd)
  }
}

/** Writes the listed files to the folder, each compared with its size and checksum, all of them and no other. */
async function unpack(file: string, folder: string): Promise<Manifest> {
  let manifest: Manifest | null = null
  let count = 0
  for await (const member of readArchive(file)) {
    if (manifest === null) {
      manifest = await takeManifest(member)
      refuseTooLarge(manifest, folder)
      continue
    }
    const wanted = manifest.files[count++]
    if (wanted === undefined || member.name !== `${archiveFolder}${wanted.name}`)
      throw new AppError('bad_input', `The backup holds "${member.name}", which it does not list.`)
    await unpackFile(member, wanted, join(folder, wanted.name))
  }
  if (manifest === null || count < manifest.files.length)
    throw new AppError('bad_input', 'The backup does not hold all that it lists.')
  syncPath(folder)
  return manifest
}

async function unpackFile(
  member: TarFile,
  wanted: Manifest['files'][number],
  path: string,
): Promise<void> {
  const hash = createHash('sha256')
  const hashed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of member.content) {
      hash.update(chunk)
      yield chunk
    }
  }
  if (member.bytes === wanted.bytes)
    await writeFile(path, hashed(), { mode: 0o600, flush: true, flag: 'wx' })
  if (member.bytes !== wanted.bytes || hash.digest('hex') !== wanted.sha256)
    throw new AppError('bad_input', `The backup is damaged: ${wanted.name} is not what was saved.`)
}

/** A manifest can promise anything: what would fill the disk is not begun. */
function refuseTooLarge({ files }: Manifest, folder: string): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const { bavail, bsize } = statfsSync(folder)
  if (bytes + spareBytes > bavail * bsize)
    throw new AppError(
      'storage_full',
      `The backup needs ${Math.ceil(bytes / 1e6)} MB, ${Math.floor((bavail * bsize) / 1e6)} MB are free.`,
    )
}

/** The unpacked store is brought up to date (the archive is its copy) and must hold every invariant. */
function proveStore(store: string, { schema }: Manifest): void {
  let problems: string[]
  try {
    const db = openDatabase(store)
    try {
      if (Number(db.pragma('user_version')) !== schema)
        throw new AppError('bad_input', 'The backup is damaged: its store has another schema.')
      migrate(db, migrations)
      problems = checkStore(db)
    } finally {
      db.close()
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error
    throw new AppError('bad_input', 'The store in the backup is damaged.', { cause: error })
  }
  if (problems.length > 0)
    throw new AppError('bad_input', `The store in the backup is damaged: ${problems.join('; ')}`)
}

/**
 * First what was there goes aside, then what was unpacked comes, the store last: a directory without it is no data directory, so
 * a kill in between leaves everything in sight and nothing half. @returns the folder of what was there
 */
function putInPlace(directory: string, { files }: Manifest, stamp: string): string | null {
  const work = join(directory, workFolder)
  emptyLog(join(directory, storeName))
  const before = occupants(directory).filter((name) => !name.startsWith(asidePrefix))
  const aside = freeName(directory, `${asidePrefix}${stamp}`)
  const hasKey = files.some(({ name }) => name === keyName)
  // Without a key in the backup the present one stays, so that programs which use it go on working.
  const moved = before.filter((name) => hasKey || name !== keyName)
  const undo: (() => void)[] = []
  const move = (from: string, to: string): void => {
    renameSync(from, to)
    undo.unshift(() => renameSync(to, from))
  }
  if (moved.length > 0) mkdirSync(aside, { mode: 0o700 })
  try {
    for (const name of moved.toSorted(storeLast)) move(join(directory, name), join(aside, name))
    for (const name of files.map((each) => each.name).toSorted(storeLast))
      move(join(work, name), join(directory, name))
  } catch (error) {
    for (const step of undo) step()
    if (moved.length > 0) rmdirSync(aside)
    throw error
  }
  syncPath(directory)
  return moved.length > 0 ? aside : null
}

/** A store and its log belong together; after this there is only the store to move. */
function emptyLog(store: string): void {
  if (!existsSync(store)) return
  try {
    openDatabase(store).close()
  } catch {
    // Damaged, perhaps why there is a restore: then both are moved as they are.
  }
}

const storeLast = (a: string, b: string): number =>
  Number(a.startsWith(storeName)) - Number(b.startsWith(storeName))
