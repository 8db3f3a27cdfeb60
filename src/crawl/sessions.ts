/** The sessions of all sources, made when first asked for and bounded. Decides nothing about a request: that is session.ts. */
import type { HttpOfSource } from './described.ts'
import type { CookieFile } from './cookie-file.ts'
import type { Log } from '../lib/log.ts'
import { Session, type Requester } from './session.ts'

/** All scopes of a described source share a `key`, so one session and one login. */
export type SessionSettings = HttpOfSource & { key: string }

const sessionsMax = 1_000

export class Sessions {
  readonly #egress: Requester
  readonly #settingsOf: (sourceId: number) => SessionSettings
  readonly #log: Log
  readonly #now: () => number
  readonly #file: CookieFile | null
  /** By key, the one used last at the end. */
  readonly #sessions = new Map<string, Session>()
  readonly #keys = new Map<number, string>()

  /**
   * @param settingsOf asked once for each source id that has no session
   * @param file keeps cookies over a restart
   */
  constructor(
    egress: Requester,
    settingsOf: (sourceId: number) => SessionSettings,
    log: Log,
    now: () => number,
    file: CookieFile | null = null,
  ) {
    this.#egress = egress
    this.#settingsOf = settingsOf
    this.#log = log
    this.#now = now
    this.#file = file
  }

  of(sourceId: number): Session {
    const key = this.#keys.get(sourceId)
    const known = key === undefined ? undefined : this.#sessions.get(key)
    if (key === undefined || known === undefined) return this.#make(sourceId)
    this.#sessions.delete(key)
    this.#sessions.set(key, known)
    return known
  }

  #make(sourceId: number): Session {
    const { key, http, homes } = this.#settingsOf(sourceId)
    const keeper = this.#file?.keeperOf(key) ?? null
    const session =
      this.#sessions.get(key) ??
      new Session(this.#egress, http, this.#log, this.#now, homes, keeper)
    this.#keys.set(sourceId, key)
    this.#sessions.set(key, session)
    if (this.#sessions.size > sessionsMax) {
      const [oldest = ''] = this.#sessions.keys()
      this.#sessions.delete(oldest)
      for (const [id, of] of this.#keys) if (of === oldest) this.#keys.delete(id)
    }
    return session
  }

  /**
   * A description was put: its session begins anew. Its cookies go along where it is asked in the way it was; else they might be those of
   * another user.
   */
  changed(key: string, isAskedAsBefore: boolean): void {
    if (!isAskedAsBefore) return this.forget(key)
    this.#file?.flush()
    this.#drop(key)
  }

  /** Its cookies too. */
  forget(key: string): void {
    this.#drop(key)
    this.#file?.forget(key)
  }

  #drop(key: string): void {
    this.#sessions.delete(key)
    for (const [id, of] of this.#keys) if (of === key) this.#keys.delete(id)
  }

  /** Cookies that changed are written. */
  close(): void {
    this.#file?.flush()
  }
}
