/** What a backup archive looks like: its folder, its manifest, its names and ways of packing. Reads and writes no file. */
import type { Transform } from 'node:stream'
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { AppError } from './lib/errors.ts'

/**
 * The archive is a tar of plain files in one folder: first manifest.json, then what it lists, in its order.
 * `sha256`: hexadecimal. `problems`: broken invariants that were found when it was made.
 */
export type Manifest = {
  format: number
  program: string
  schema: number
  /** ISO 8601, UTC. */
  created: string
  problems: number
  files: { name: string; bytes: number; sha256: string }[]
}

export const manifestFormat = 1
export const manifestName = 'manifest.json'
export const manifestBytesMax = 1024 * 1024
export const storeName = 'findling.db'
export const keyName = 'admin.key'
/** Everything in an archive lies in this folder, so that unpacking it by hand litters nothing. */
export const archiveFolder = 'findling-backup/'

const filesMax = 1_000
const plainName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,80}$/
/** Of the data directory: made by the program while it runs, or made anew from the store. */
const ownNames =
  /^(?:lock\.(?:json|sqlite)|seen\.bloom|before-schema-|findling\.db-|manifest\.json)/

/** Settings and word lists: what a person put beside the store. */
export const isKeptFile = (name: string): boolean =>
  plainName.test(name) && /\.(?:json|txt)$/.test(name) && !ownNames.test(name)

/** @throws AppError bad_input | schema_too_new (a later format) */
export function parseManifest(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new AppError('bad_input', 'The manifest of the backup is damaged.', { cause: error })
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >
  const { format, program, schema, created, problems, files } = fields
  if (typeof format === 'number' && format > manifestFormat)
    throw new AppError(
      'schema_too_new',
      `The backup has format ${format}, this program knows ${manifestFormat}.`,
    )
  if (
    format !== manifestFormat ||
    typeof program !== 'string' ||
    typeof created !== 'string' ||
    !isCount(schema) ||
    !isCount(problems) ||
    !Array.isArray(files) ||
    files.length > filesMax ||
    !files.every(isListed) ||
    new Set(files.map(({ name }) => name)).size !== files.length ||
    !files.some(({ name }) => name === storeName)
  )
    throw new AppError('bad_input', 'The manifest of the backup is damaged.')
  return { format, program, schema, created, problems, files }
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** A name from outside becomes a path: so only names that a backup can hold. */
function isListed(value: unknown): value is Manifest['files'][number] {
  if (typeof value !== 'object' || value === null) return false
  const { name, bytes, sha256 } = value as Record<string, unknown>
  return (
    typeof name === 'string' &&
    (name === storeName || name === keyName || isKeptFile(name)) &&
    isCount(bytes) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  )
}

export const isArchiveName = (file: string): boolean =>
  /\.(?:tar|tar\.zst|tzst|tar\.gz|tgz)$/.test(file)

/** By the end of the file's name; null = a plain tar. */
export function packingOf(file: string): (() => Transform) | null {
  if (file.endsWith('zst')) return createZstdCompress
  return file.endsWith('gz') ? createGzip : null
}

/** By the first bytes of the file, because a name may have been changed; null = not packed. */
export function unpackingOf(head: Uint8Array): (() => Transform) | null {
  const starts = (...bytes: number[]): boolean => bytes.every((byte, i) => head[i] === byte)
  if (starts(0x28, 0xb5, 0x2f, 0xfd)) return createZstdDecompress
  return starts(0x1f, 0x8b) ? createGunzip : null
}

const two = (value: number): string => String(value).padStart(2, '0')

/** UTC, so that names sort by age also when clocks are put back: 20261130-145500. */
export const stampOf = (date: Date): string =>
  `${date.getUTCFullYear()}${two(date.getUTCMonth() + 1)}${two(date.getUTCDate())}-${two(date.getUTCHours())}${two(date.getUTCMinutes())}${two(date.getUTCSeconds())}`

export const nightlyName = (date: Date): string => `findling-${stampOf(date)}.tar.zst`
const nightlyPattern = /^findling-\d{8}-\d{6}\.tar\.(?:zst|gz)$/

/** Those of a folder's names that are nightly copies beyond the newest `keep`, oldest first. */
export function outdatedNames(names: readonly string[], keep: number): string[] {
  const copies = names.filter((name) => nightlyPattern.test(name)).toSorted()
  return copies.slice(0, Math.max(0, copies.length - keep))
}
