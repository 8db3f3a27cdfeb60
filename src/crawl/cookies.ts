/** A bounded cookie jar for one source (door to tough-cookie): public suffixes refused, Netscape's cookies.txt read. Loaded when the first cookie comes. */
import type { CookieJar } from 'tough-cookie'
import type { SavedCookie } from './cookie-file.ts'

/** Of one host; a browser keeps 50 to 180. */
const cookiesOfHostMax = 64
const hostsMax = 500
const cookieCharsMax = 4_096
const setCookiesMax = 50
const fileLinesMax = 10_000
/** Of one jar, over a restart: those used last. */
const savedMax = 2_000
/** So long after it was last used a cookie without an expiry of its own is kept over a restart: a session ends with a browser, and here with a day's rest. */
const sessionKeptMs = 86_400_000

export class Cookies {
  #jar: CookieJar | null = null
  /** Hosts that set cookies, the one that did so last at the end. */
  readonly #hosts = new Set<string>()

  /** The Cookie header for a request, '' for none. Costs nothing before the first cookie came. */
  headerFor(url: string): string {
    return this.#jar === null ? '' : this.#jar.getCookieStringSync(url)
  }

  /**
   * Takes what an answer sets; what is malformed, foreign or too much is passed over.
   * @param setCookies the Set-Cookie headers of one answer. @returns was anything new or changed?
   */
  async take(url: string, setCookies: readonly string[]): Promise<boolean> {
    if (setCookies.length === 0) return false
    const jar = await this.#open()
    const before = jar.getCookieStringSync(url)
    let count = jar.getCookiesSync(url).length
    for (const line of setCookies.slice(0, setCookiesMax)) {
      if (line.length > cookieCharsMax || count >= cookiesOfHostMax) continue
      jar.setCookieSync(line, url, { ignoreError: true })
      count++
    }
    await this.#remember(url, jar)
    return jar.getCookieStringSync(url) !== before
  }

  /**
   * Reads cookies.txt: seven fields with tabs between (domain, subdomains too, path, secure, expiry, name, value); `#HttpOnly_` before
   * the domain, other lines with `#` are comments.
   * @returns how many cookies were taken and the first line that is none of both, counted from 1
   */
  async importText(text: string): Promise<{ taken: number; badLine: number | null }> {
    const { Cookie } = await import('tough-cookie')
    const jar = await this.#open()
    let taken = 0
    let badLine: number | null = null
    const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/, fileLinesMax)
    for (const [i, raw] of lines.entries()) {
      const line = raw.replace(/^#HttpOnly_/i, '')
      if (line.trim() === '' || line.startsWith('#')) continue
      const [domain = '', , path = '/', secure = '', expiry = '', name, ...value] = line.split('\t')
      const host = domain.replace(/^\./, '').toLowerCase()
      if (name === undefined || host === '' || !/^\d*(\.\d+)?$/.test(expiry)) {
        badLine ??= i + 1
        continue
      }
      const isSecure = /^true$/i.test(secure)
      const cookie = new Cookie({
        key: name,
        value: value.join('\t'),
        path,
        secure: isSecure,
        // Domain cookies begin with a dot; the others are for their host alone.
        ...(domain.startsWith('.') ? { domain: host } : {}),
        ...(Number(expiry) > 0 ? { expires: new Date(Number(expiry) * 1000) } : {}),
      })
      const url = `${isSecure ? 'https' : 'http'}://${host}${path}`
      if (URL.canParse(url) && jar.setCookieSync(cookie, url, { ignoreError: true })) taken++
    }
    return { taken, badLine }
  }

  /** What is to be kept over a restart. `[]` for a jar without cookies. */
  saved(nowMs: number): SavedCookie[] {
    const all = this.#jar?.serializeSync()?.cookies ?? []
    return all
      .filter((cookie) => isAlive(cookie, nowMs))
      .toSorted((a, b) => timeOf(b['lastAccessed']) - timeOf(a['lastAccessed']))
      .slice(0, savedMax)
  }

  /** Takes back what `saved` gave, but for what is over by now. @returns how many */
  async restore(saved: readonly SavedCookie[], nowMs: number): Promise<number> {
    const alive = saved.filter((cookie) => isAlive(cookie, nowMs)).slice(0, savedMax)
    if (alive.length === 0) return 0
    const { Cookie } = await import('tough-cookie')
    const jar = await this.#open()
    let taken = 0
    for (const each of alive) {
      const cookie = Cookie.fromJSON(each)
      if (cookie?.domain === null || cookie?.domain === undefined) continue
      await jar.store.putCookie(cookie)
      await this.#remember(`http://${cookie.domain}/`, jar)
      taken++
    }
    return taken
  }

  async #open(): Promise<CookieJar> {
    const { CookieJar: Jar } = await import('tough-cookie')
    this.#jar ??= new Jar(undefined, {
      rejectPublicSuffixes: true,
      looseMode: true,
      allowSpecialUseDomain: true,
      prefixSecurity: 'silent',
    })
    return this.#jar
  }

  /** Forgets the host that was silent longest. */
  async #remember(url: string, jar: CookieJar): Promise<void> {
    const { hostname } = new URL(url)
    this.#hosts.delete(hostname)
    this.#hosts.add(hostname)
    if (this.#hosts.size <= hostsMax) return
    const [oldest = ''] = this.#hosts
    this.#hosts.delete(oldest)
    await jar.store.removeCookies(oldest, null)
  }
}

const timeOf = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) : Number.NaN)

/** Its own expiry decides; without one, when it was used last. */
function isAlive(cookie: SavedCookie, nowMs: number): boolean {
  const { maxAge, expires } = cookie
  if (typeof maxAge === 'number') return timeOf(cookie['creation']) + maxAge * 1_000 > nowMs
  if (typeof expires === 'string' && expires !== 'Infinity') return timeOf(expires) > nowMs
  const usedAtMs = timeOf(cookie['lastAccessed'] ?? cookie['creation'])
  return usedAtMs + sessionKeptMs > nowMs
}
