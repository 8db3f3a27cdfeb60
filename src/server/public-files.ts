/** Style, script and icon as a table in memory: no address ever becomes a path on the disk. Reading them is app.ts's part. */
import { createHash } from 'node:crypto'

export type PublicFile = {
  bytes: Uint8Array
  type: string
  etag: string
  /** Below the root: `assets/app.1a2b3c4d5e.css`. Holds the content's hash, so a browser may keep it for ever. */
  path: string
}
export type PublicFiles = ReadonlyMap<string, PublicFile>

/** The files the pages name. */
export const publicFileNames = ['app.css', 'app.js', 'admin.js', 'favicon.svg'] as const
export type PublicFileName = (typeof publicFileNames)[number]

const typeOfExtension: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** @param contents bytes by name, for instance `app.css` */
export function createPublicFiles(contents: Iterable<readonly [string, Uint8Array]>): PublicFiles {
  const files = new Map<string, PublicFile>()
  for (const [name, bytes] of contents) {
    const at = name.lastIndexOf('.')
    const extension = name.slice(at + 1)
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
    files.set(name, {
      bytes,
      type: typeOfExtension[extension] ?? 'application/octet-stream',
      etag: `"${hash}"`,
      path: `assets/${name.slice(0, at)}.${hash}.${extension}`,
    })
  }
  for (const name of publicFileNames) {
    if (!files.has(name)) throw new Error(`public/${name} is missing`)
  }
  return files
}
