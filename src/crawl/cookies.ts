/** A bounded cookie jar for one source (door to tough-cookie): public suffixes refused, Netscape's cookies.txt read. Loaded when the first cookie comes. */
import type { CookieJar } from 'tough-cookie'

/** Of one host; a browser keeps 50 to 180. */
const cookiesOfHostMax = 64
const hostsMax = 500
const cookieCharsMax = 4_096
const setCookiesMax = 50
const fileLinesMax = 10_000

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
