/**
 * The cookies of all sources over a restart: one file of the data directory that only its owner may read (0600). It is left out of exports and
 * backups: whoever has it is logged in. Losing it costs a login. What a cookie means is no matter of this file.
 */
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { Log } from '../lib/log.ts'

/** A cookie as JSON, in the form of the jar that made it. */
export type SavedCookie = Readonly<Record<string, unknown>>

/** What one session has of the file. */
export type CookieKeeper = {
  load: () => readonly SavedCookie[]
  /** It changed: written in a while, or `atOnce` where losing it would cost a login. */
  changed: (cookies: () => SavedCookie[], atOnce?: boolean) => void
}

export const cookieFileName = 'cookies.jar'
const version = 1
/** Sites that set a cookie with each answer must not wear out a card. */
const writeAfterMs = 30_000
const jarsMax = 200
const fileBytesMax = 16 * 1024 * 1024

export class CookieFile {
  readonly #path: string
  readonly #log: Log
  /** By session, the one changed last at the end. null = not read yet. */
  #jars: Map<string, readonly SavedCookie[]> | null = null
  readonly #dirty = new Map<string, () => SavedCookie[]>()
  #timer: NodeJS.Timeout | null = null
  #written = ''

  constructor(path: string, log: Log) {
    this.#path = path
    this.#log = log
  }

  keeperOf(key: string): CookieKeeper {
    return {
      load: () => this.#read().get(key) ?? [],
      changed: (cookies, atOnce = false) => {
        this.#dirty.set(key, cookies)
        if (atOnce) return this.flush()
        this.#timer ??= setTimeout(() => this.flush(), writeAfterMs).unref()
      },
    }
  }

  /** Nobody is to be logged in by these any more. */
  forget(key: string): void {
    this.#dirty.delete(key)
    if (this.#read().delete(key)) this.#write()
  }

  /** Writes what changed. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#dirty.size === 0) return
    const jars = this.#read()
    for (const [key, cookies] of this.#dirty) {
      jars.delete(key)
      const saved = cookies()
      if (saved.length > 0) jars.set(key, saved)
    }
    this.#dirty.clear()
    for (const key of jars.keys()) {
      if (jars.size <= jarsMax) break
      jars.delete(key)
    }
    this.#write()
  }

  #read(): Map<string, readonly SavedCookie[]> {
    this.#jars ??= new Map(Object.entries(this.#load()))
    return this.#jars
  }

  #load(): Record<string, readonly SavedCookie[]> {
    try {
      if ((statSync(this.#path, { throwIfNoEntry: false })?.size ?? Infinity) > fileBytesMax)
        return {}
      const content = readFileSync(this.#path, 'utf8')
      this.#written = content
      const read = JSON.parse(content) as { version?: unknown; jars?: unknown }
      if (read.version !== version || typeof read.jars !== 'object' || read.jars === null) return {}
      const entries = Object.entries(read.jars).filter((entry) => Array.isArray(entry[1]))
      return Object.fromEntries(entries) as Record<string, readonly SavedCookie[]>
    } catch (error) {
      // It begins anew: each source logs in again.
      this.#log('warn', 'saved cookies not read', { detail: (error as Error).message })
      return {}
    }
  }

  #write(): void {
    const jars = Object.fromEntries(this.#read())
    const content = JSON.stringify({ version, jars })
    if (content === this.#written) return
    try {
      writeFileSync(`${this.#path}.new`, content, { mode: 0o600 })
      // One left by a process that died may have had other rights.
      chmodSync(`${this.#path}.new`, 0o600)
      renameSync(`${this.#path}.new`, this.#path)
      this.#written = content
    } catch (error) {
      // A full disk: the next change writes all of it.
      this.#log('warn', 'cookies not saved', { detail: (error as Error).message })
    }
  }
}
