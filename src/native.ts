/** Loads the native addons of the packaged program, each from a file without a name. The sources do without: there npm's files are loaded. */
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRawAsset } from 'node:sea'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { settings } from './config.ts'
import { AppError } from './lib/errors.ts'

/** Where the addons came from: `unnamed` (O_TMPFILE), `unlinked` (named for a moment), or `installed` by npm. */
export type NativeOrigin = {
  directory: string
  method: 'unnamed' | 'unlinked' | 'installed'
  /** Places that were tried before, each with the reason why it would not do. */
  refused: string[]
}

/** As they are called among the assets. */
export const addonNames = ['better_sqlite3.node', 'koffi.node'] as const
export type AddonName = (typeof addonNames)[number]

type Placed = { path: string; origin: NativeOrigin }

/** Node does not export O_TMPFILE. It holds O_DIRECTORY, which is another bit on arm64. */
const unnamedFlag = process.arch === 'arm64' ? 0o20_040_000 : 0o20_200_000
/** The oldest C library that better-sqlite3's build accepts; Node itself asks for 2.28. */
const glibcFloor = '2.34'
/** How a file system says that it does not know O_TMPFILE. */
const withoutUnnamed = new Set(['EOPNOTSUPP', 'EISDIR', 'EINVAL'])
const loaded = new Map<AddonName, unknown>()

/**
 * The exports of an addon. The first thread that asks writes it to a file; all others load that same file, because two copies of
 * SQLite in one process drop each other's locks. Start threads only after `publishAddons`.
 * @throws AppError unsupported_system | cannot_create
 */
export function loadAddon(name: AddonName): unknown {
  if (loaded.has(name)) return loaded.get(name)
  const placed = placedAddon(name)
  const addon = placed === undefined ? placeAddon(name) : openAddon(placed.path)
  loaded.set(name, addon)
  return addon
}

/** Loads every addon here, so that threads started from now on find it placed. The second call does nothing. */
export function publishAddons(): void {
  for (const name of addonNames) loadAddon(name)
}

/** Of SQLite's addon, which is loaded where it was not. */
export function addonOrigin(): NativeOrigin {
  loadAddon('better_sqlite3.node')
  const placed = placedAddon('better_sqlite3.node')
  if (placed === undefined) throw new Error('an addon that is loaded has a place')
  return placed.origin
}

const keyOf = (name: AddonName): string => `findling:${name}`

/** Threads inherit what was set when they were started. */
const placedAddon = (name: AddonName): Placed | undefined =>
  getEnvironmentData(keyOf(name)) as Placed | undefined

function openAddon(path: string): unknown {
  const module = { exports: {} }
  process.dlopen(module, path)
  return module.exports
}

/** The descriptor stays open for the life of the process: it is the only way to the file. */
function placeAddon(name: AddonName): unknown {
  const bytes = new Uint8Array(getRawAsset(name))
  const refused: string[] = []
  for (const directory of placesFor(process.argv.slice(2), process.env)) {
    let fd = -1
    try {
      const opened = openWithoutName(directory)
      fd = opened.fd
      writeAll(fd, bytes)
      const path = `/proc/self/fd/${fd}`
      const addon = openAddon(path)
      const origin = { directory, method: opened.method, refused }
      setEnvironmentData(keyOf(name), { path, origin } satisfies Placed)
      return addon
    } catch (error) {
      if (fd >= 0) closeSync(fd)
      const reason = error instanceof Error ? error.message : String(error)
      refuseOldSystem(reason)
      refused.push(`${directory}: ${reason}`)
    }
  }
  throw new AppError(
    'cannot_create',
    `Native code can be loaded from no directory (one that is writable and not mounted noexec, and /proc, are needed): ${refused.join('; ')}.`,
  )
}

/**
 * Directories to try, best first: the data directory, since a service often has no other that it may write; then the usual ones.
 * @param args the command line behind the program's name
 */
export function placesFor(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return [...new Set([dataDirectory(args, environment), tmpdir(), '/dev/shm', '.'])]
}

/** As the command line will read it later; a wrong guess costs nothing but the next place. */
function dataDirectory(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  const at = options.findLastIndex((arg) => arg === '--data' || arg.startsWith('--data='))
  const given = options[at]
  const value = given === '--data' ? options[at + 1] : given?.slice('--data='.length)
  return value || environment['FINDLING_DATA'] || settings.data.default
}

/** Nothing is left behind when the process is killed, and nobody can put another file in its place. */
function openWithoutName(directory: string): { fd: number; method: 'unnamed' | 'unlinked' } {
  try {
    return { fd: openSync(directory, unnamedFlag | constants.O_RDWR, 0o600), method: 'unnamed' }
  } catch (error) {
    if (!withoutUnnamed.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    // Not every file system has files without a name: here it has one for a moment, in a folder that only we may enter.
    const folder = mkdtempSync(join(directory, '.findling-'))
    const file = join(folder, 'addon')
    try {
      const fd = openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600)
      unlinkSync(file)
      return { fd, method: 'unlinked' }
    } finally {
      rmdirSync(folder)
    }
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
}

/** An old C library is the same in every directory, and its own message tells nobody what to do. */
function refuseOldSystem(reason: string): void {
  const missing = missingGlibc(reason)
  if (missing === null) return
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  throw new AppError(
    'unsupported_system',
    `Findling needs glibc ${glibcFloor} or newer; this system has ${header.glibcVersionRuntime ?? 'an older one'} (${missing} is missing).`,
  )
}

/** The version of the C library that the loader missed, by its message; null where it missed something else. */
export const missingGlibc = (reason: string): string | null =>
  /version `(GLIBC(?:XX)?_[\d.]+)' not found/.exec(reason)?.[1] ?? null
