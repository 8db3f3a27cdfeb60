/** Where threads and files come from in the packaged program: everything lies in the executable. Takes the place of assets.ts there. */
import { getAsset, getAssetKeys, getRawAsset } from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { zstdDecompressSync } from 'node:zlib'
import { addonOrigin, publishAddons, type NativeOrigin } from './native.ts'

/** Put in by build.ts. */
declare const FINDLING_BUILD: { version: string; commit: string; undici: string }

const publicPrefix = 'public/'

export const isPackaged = true

/** The bundle is compiled already. */
export function keepCompiledCode(): void {}

/** Starts a thread of this program. `role` picks its part in main.ts. */
export function spawnThread(
  role: string,
  data: Record<string, unknown>,
  options: WorkerOptions,
): Worker {
  publishAddons()
  // It is no file, so it is handed over as text: a few lines that take the bundle of the role out of the executable.
  const start = getAsset('thread.cjs', 'utf8')
  return new Worker(start, { ...options, eval: true, workerData: { ...data, role } })
}

/** The packed dictionary and folding tables: one copy, in memory that all threads share. */
export function textTables(): SharedArrayBuffer {
  const { shared, fill } = prepareTextTables()
  fill()
  return shared
}

/** Their memory alone; `fill` puts them there while threads that are to read them load their code. */
export function prepareTextTables(): { shared: SharedArrayBuffer; fill: () => void } {
  // Their size in four bytes, then zstd. Inflated in one piece it takes half the time.
  const asset = Buffer.from(getRawAsset('dictionary.zst'))
  const size = asset.readUInt32LE()
  const shared = new SharedArrayBuffer(size)
  const fill = (): void =>
    new Uint8Array(shared).set(zstdDecompressSync(asset.subarray(4), { chunkSize: size + 1 }))
  return { shared, fill }
}

/** Name -> bytes of everything in public/. */
export function publicFiles(): Map<string, Uint8Array> {
  const keys = getAssetKeys().filter((key) => key.startsWith(publicPrefix))
  return new Map(
    keys.map((key) => [key.slice(publicPrefix.length), new Uint8Array(getRawAsset(key))]),
  )
}

/** The licences of everything of others in this program. */
export const licenses = (): string =>
  zstdDecompressSync(new Uint8Array(getRawAsset('licenses.zst'))).toString('utf8')

/** Version and commit of this program, and the version of undici inside. */
export const programVersion = (): { version: string; commit: string; undici: string } =>
  FINDLING_BUILD

/** Where the native addons were loaded from. */
export const nativeOrigin = (): NativeOrigin => addonOrigin()
