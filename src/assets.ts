/**
 * Where threads and files come from in development: the only file that may use import.meta. build.ts puts assets-sea.ts in its place.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire, enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { NativeOrigin } from './native.ts'
import { componentsOf, licensesText } from './third-party.ts'
import { buildDictionary, dictionaryVersion } from './text/dictionary-source.ts'

const root = join(import.meta.dirname, '..')
const cacheFolder = join(root, 'node_modules', '.cache', 'findling')
const compiledFolder = join(cacheFolder, 'compiled')

export const isPackaged = false

/**
 * Keeps what Node made of the sources (types stripped, code compiled) beside the packages, for later starts and, through the
 * environment, for threads: they need no type stripper then. Derived, so it may be deleted at any time; where it cannot be written Node
 * does without. For the main thread, before it loads anything else.
 */
export function keepCompiledCode(): void {
  const { directory } = enableCompileCache(compiledFolder)
  if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= compiledFolder
}

/** Starts a thread of this program. `role` picks its part in main.ts. */
export function spawnThread(
  role: string,
  data: Record<string, unknown>,
  options: WorkerOptions,
): Worker {
  return new Worker(new URL('./main.ts', import.meta.url), {
    ...options,
    workerData: { ...data, role },
  })
}

/**
 * The packed dictionary and folding tables. Built from the npm packages on the first start (about a second) and kept beside them:
 * the file is derived, so it may be deleted at any time. One copy, in memory that all threads share.
 */
export function textTables(): SharedArrayBuffer {
  const { shared, fill } = prepareTextTables()
  fill()
  return shared
}

/** Their memory alone; `fill` puts them there while threads that are to read them load their code. */
export function prepareTextTables(): { shared: SharedArrayBuffer; fill: () => void } {
  const file = join(cacheFolder, `dictionary-${dictionaryVersion}.bin`)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(cacheFolder, { recursive: true })
    const temporary = `${file}.${process.pid}`
    writeFileSync(temporary, makeDictionary())
    renameSync(temporary, file)
  }
  const shared = new SharedArrayBuffer(statSync(file).size)
  return { shared, fill: () => readInto(shared, file) }
}

function readInto(shared: SharedArrayBuffer, file: string): void {
  const fd = openSync(file, 'r')
  try {
    readSync(fd, new Uint8Array(shared))
  } finally {
    closeSync(fd)
  }
}

/** Also what build.ts puts into the binary. */
export function makeDictionary(): Uint8Array {
  const require = createRequire(import.meta.url)
  const { Converter } = require('opencc-js') as typeof import('opencc-js')
  return buildDictionary(
    readFileSync(require.resolve('@node-rs/jieba/dict.txt'), 'utf8'),
    Converter({ from: 't', to: 'cn' }),
  )
}

/** Name -> bytes of everything in public/. */
export function publicFiles(): Map<string, Uint8Array> {
  const folder = join(root, 'public')
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
}

/** The licences of everything of others in this program. @param sqlite its version */
export const licenses = (sqlite: string): string => licensesText(componentsOf(root, sqlite))

/** Version and commit of this program, and the version of undici that it uses (Node has one of its own). */
export function programVersion(): { version: string; commit: string; undici: string } {
  const versionIn = (folder: string): string => {
    const text = readFileSync(join(root, folder, 'package.json'), 'utf8')
    return (JSON.parse(text) as { version: string }).version
  }
  return {
    version: versionIn('.'),
    commit: 'development',
    undici: versionIn('node_modules/undici'),
  }
}

/** Where the native addons were loaded from. */
export const nativeOrigin = (): NativeOrigin => ({
  directory: join(root, 'node_modules'),
  method: 'installed',
  refused: [],
})
