/** How one source is asked: its headers, User-Agents in turn, cookies, proxies, and its login. Wraps the egress; follows nothing but the login. */
import { readFile } from 'node:fs/promises'
import { decodeBody, contentCodings } from '../lib/decode.ts'
import type { Egress, EgressAnswer, EgressRequest } from '../lib/egress.ts'
import type { Log } from '../lib/log.ts'
import { normalizeUrl, registrableDomain } from '../lib/url.ts'
import { decodeText } from './charset.ts'
import type { CookieKeeper } from './cookie-file.ts'
import { Cookies } from './cookies.ts'
import { asksPassword, findLoginForm, type LoginForm } from './login-form.ts'
import { createProxyRing, type ProxyRing } from './proxies.ts'
import { proxyName, type SourceHttp, type SourceLogin } from './source-http.ts'

export type Requester = Pick<Egress, 'request'>

/** A login that fails, or is lost again at once, is not tried for ever: it could lock the account. */
const loginsMax = 3
const loginsWithinMs = 3_600_000
const loginHopsMax = 5
const loginTimeoutMs = 30_000
const loginBytesMax = 2 * 1024 * 1024

export class Session implements Requester {
  readonly #egress: Requester
  readonly #http: SourceHttp
  readonly #log: Log
  readonly #now: () => number
  readonly #cookies = new Cookies()
  readonly #proxies: ProxyRing
  #turn = 0
  #begun: Promise<void> | null = null
  #login: Promise<boolean> | null = null
  /** That worked. */
  #logins = 0
  readonly #loginsAtMs: number[] = []
  readonly #isHome: (url: string) => boolean
  readonly #keeper: CookieKeeper | null
  /** For what is asked before any page: no login, no cookies, but the same way out. */
  readonly bare: Requester = { request: (url, request) => this.#send(url, request, '') }

  /**
   * @param homes URLs of the hosts that get the source's own headers; null = every host does
   * @param keeper of its cookies over a restart; null = nobody keeps them
   */
  constructor(
    egress: Requester,
    http: SourceHttp,
    log: Log,
    now: () => number,
    homes: readonly string[] | null = null,
    keeper: CookieKeeper | null = null,
  ) {
    this.#egress = egress
    this.#http = http
    this.#isHome = homes === null ? () => true : homeTest(homes)
    this.#log = log
    this.#now = now
    this.#proxies = createProxyRing(http.proxies, now)
    this.#keeper = http.cookies === 'keep' ? keeper : null
  }

  /**
   * One request as this source makes it. The first one waits for cookies.txt and the login; a page that shows that the login was lost is
   * asked once more after another login. What shows it still is a failure, so that no login page is taken for the page.
   */
  async request(url: string, request: EgressRequest): Promise<EgressAnswer> {
    this.#begun ??= this.#begin()
    await this.#begun
    const loginsBefore = this.#logins
    const answer = await this.#ask(url, request)
    const { login } = this.#http
    if (login === null || !this.#isLost(answer, url, login)) return answer
    // Another worker may have logged in while this answer was on its way.
    const isIn = this.#logins > loginsBefore || (await this.#logIn(login))
    const again = isIn ? await this.#ask(url, request) : answer
    // What a stranger is shown must not take the place of the page.
    return this.#isLost(again, url, login) ? lost : again
  }

  async #begin(): Promise<void> {
    const { cookiesFile, login } = this.#http
    const restored = await this.#cookies.restore(this.#keeper?.load() ?? [], this.#now())
    if (cookiesFile !== null) await this.#importFile(cookiesFile)
    if (login === null || (restored > 0 && (await this.#isStillIn(login)))) return
    await this.#logIn(login)
  }

  /** With the cookies of the process before: a login page that wants no password says so. Where it wants one, it is filled in. */
  async #isStillIn(login: SourceLogin): Promise<boolean> {
    if (!this.hasCookieFor(login.url)) return false
    const page = await this.#follow(login.url, null)
    if (typeof page === 'string') return false
    const form = findLoginForm(page.html, page.url, login.form, Object.keys(login.fields))
    const isIn = form === null && !asksPassword(page.html, page.url)
    if (isIn) this.#log('info', 'still logged in', { at: login.url })
    return isIn
  }

  #keepCookies(atOnce = false): void {
    this.#keeper?.changed(() => this.#cookies.saved(this.#now()), atOnce)
  }

  async #importFile(path: string): Promise<void> {
    try {
      const { taken, badLine } = await this.#cookies.importText(await readFile(path, 'utf8'))
      this.#log(badLine === null ? 'info' : 'warn', 'cookies read', { path, taken, badLine })
    } catch (error) {
      // The crawl goes on without: what then is refused is told page by page.
      this.#log('warn', 'cookies not read', { path, detail: (error as Error).message })
    }
  }

  /** Does a request to this URL carry a cookie by now? */
  hasCookieFor(url: string): boolean {
    return this.#http.cookies === 'keep' && this.#cookies.headerFor(url) !== ''
  }

  async #ask(url: string, request: EgressRequest): Promise<EgressAnswer> {
    const keeps = this.#http.cookies === 'keep'
    const answer = await this.#send(url, request, keeps ? this.#cookies.headerFor(url) : '')
    if (answer.kind === 'answer' && keeps) {
      const set = (answer.headers['set-cookie'] ?? '').split('\n').filter((line) => line !== '')
      if (await this.#cookies.take(url, set)) this.#keepCookies()
    }
    return answer
  }

  async #send(url: string, request: EgressRequest, cookie: string): Promise<EgressAnswer> {
    const { headers, userAgents } = this.#http
    const agent = userAgents[this.#turn++ % Math.max(1, userAgents.length)]
    const headersSent = {
      ...request.headers,
      ...(this.#isHome(url) ? headers : {}),
      ...(agent === undefined ? {} : { 'user-agent': agent }),
      ...(cookie === '' ? {} : { cookie }),
    }
    const proxy = this.#proxies.next()
    if (proxy === null) return this.#egress.request(url, { ...request, headers: headersSent })
    const answer = await this.#through(proxy, url, { ...request, headers: headersSent })
    if (!isFaultOfProxy(answer)) return answer
    // The site was not reached: another proxy may ask at once.
    const other = this.#proxies.next()
    return other === null || other === proxy
      ? answer
      : this.#through(other, url, { ...request, headers: headersSent })
  }

  async #through(proxy: string, url: string, request: EgressRequest): Promise<EgressAnswer> {
    const answer = await this.#egress.request(url, { ...request, proxy })
    const isWell = !isFaultOfProxy(answer)
    this.#proxies.report(proxy, isWell)
    if (!isWell) this.#log('warn', 'a proxy rests', { proxy: proxyName(proxy) })
    return answer
  }

  #isLost(answer: EgressAnswer, url: string, login: SourceLogin): boolean {
    if (answer.kind !== 'answer' || url === login.url) return false
    if (answer.status === 401) return true
    if (answer.status >= 300 && answer.status < 400) {
      const to = normalizeUrl(answer.headers['location'] ?? '', url)
      if (to === null) return false
      return to === login.url || login.lost.some((mark) => isUrlOrPath(mark) && isAt(to, url, mark))
    }
    const marks = login.lost.filter((mark) => !isUrlOrPath(mark))
    if (marks.length === 0 || answer.body.byteLength === 0) return false
    const html = textOf(answer)
    return marks.some((mark) => html.includes(mark))
  }

  /** Calls at the same time share one login. @returns did it work? */
  #logIn(login: SourceLogin): Promise<boolean> {
    this.#login ??= this.#tryLogin(login).finally(() => (this.#login = null))
    return this.#login
  }

  async #tryLogin(login: SourceLogin): Promise<boolean> {
    const nowMs = this.#now()
    while ((this.#loginsAtMs[0] ?? nowMs) < nowMs - loginsWithinMs) this.#loginsAtMs.shift()
    if (this.#loginsAtMs.length >= loginsMax) return false
    this.#loginsAtMs.push(nowMs)
    const problem = await this.#sendForm(login)
    if (problem === null) this.#logins++
    if (problem === null) this.#keepCookies(true)
    if (problem === null) this.#log('info', 'logged in', { at: login.url })
    else this.#log('warn', 'not logged in', { at: login.url, problem })
    return problem === null
  }

  /** null = logged in; else what went wrong, without any value of a field. */
  async #sendForm(login: SourceLogin): Promise<string | null> {
    const page = await this.#follow(login.url, null)
    if (typeof page === 'string') return `the login page: ${page}`
    const form = findLoginForm(page.html, page.url, login.form, Object.keys(login.fields))
    if (form === null) return 'the login page has no such form'
    if (page.url.startsWith('https:') && !form.action.startsWith('https:'))
      return 'its form would send the fields unencrypted'
    const after = await this.#follow(form.action, { form, fields: login.fields })
    if (typeof after === 'string') return `the answer to the form: ${after}`
    const { text, urlPrefix } = login.check
    if (text !== null && !after.html.includes(text)) return 'the page after it lacks the text'
    if (urlPrefix !== null && !isAt(after.url, login.url, urlPrefix))
      return `it led to ${withoutQuery(after.url)}`
    const isUnchecked = text === null && urlPrefix === null
    return isUnchecked && asksPassword(after.html, after.url)
      ? 'it asks for a password again'
      : null
  }

  /** To the page at the end of redirects; or why there is none. */
  async #follow(
    from: string,
    filled: { form: LoginForm; fields: Readonly<Record<string, string>> } | null,
  ): Promise<{ url: string; html: string } | string> {
    let url = from
    let post: EgressRequest['post'] | null = null
    if (filled !== null) {
      const sent = fillIn(filled.form, filled.fields)
      if (filled.form.method === 'post')
        post = { type: 'application/x-www-form-urlencoded', body: sent }
      else url = `${withoutQuery(from)}?${sent}`
    }
    for (let hops = 0; hops <= loginHopsMax; hops++) {
      const answer = await this.#ask(url, {
        headers: { accept: 'text/html,*/*;q=0.5', 'accept-encoding': 'gzip, deflate' },
        totalTimeoutMs: loginTimeoutMs,
        headersTimeoutMs: loginTimeoutMs,
        wireBytesMax: loginBytesMax,
        ...(post === null ? {} : { post }),
      })
      if (answer.kind !== 'answer') return answer.reason
      const to = normalizeUrl(answer.headers['location'] ?? '', url)
      if (answer.status < 300 || answer.status >= 400 || to === null)
        return answer.status >= 400 ? `status ${answer.status}` : { url, html: textOf(answer) }
      // 307 and 308 repeat the form; it goes to its own origin only.
      const repeats = answer.status === 307 || answer.status === 308
      if (!repeats || new URL(to).origin !== new URL(url).origin) post = null
      url = to
    }
    return 'too many redirects'
  }
}

/** The form as it came, with our values in the place of its own. */
function fillIn(form: LoginForm, fields: Readonly<Record<string, string>>): string {
  const values = form.values.filter(([name]) => fields[name] === undefined)
  return new URLSearchParams([...values, ...Object.entries(fields)]).toString()
}

const isFaultOfProxy = (answer: EgressAnswer): boolean =>
  answer.kind === 'failed' && answer.reason === 'proxy'

const lost: EgressAnswer = { kind: 'failed', reason: 'login', detail: 'the login was lost' }

/** A query may hold what was sent, or a ticket. */
const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '')

/** Of the same registered domain as one of the URLs, and encrypted where those are. */
function homeTest(homes: readonly string[]): (url: string) => boolean {
  const isPlainAllowed = new Map<string, boolean>()
  for (const home of homes) {
    const domain = registrableDomain(home)
    const isPlain = home.startsWith('http:')
    isPlainAllowed.set(domain, isPlain || (isPlainAllowed.get(domain) ?? false))
  }
  return (url) => {
    const mayBePlain = isPlainAllowed.get(registrableDomain(url))
    return mayBePlain !== undefined && (mayBePlain || url.startsWith('https:'))
  }
}

const isUrlOrPath = (mark: string): boolean => /^(https?:\/\/|\/)/i.test(mark)
const isAt = (url: string, base: string, prefix: string): boolean => {
  const start = URL.parse(prefix, base)?.href
  return start !== undefined && url.startsWith(start)
}

function textOf(answer: Extract<EgressAnswer, { kind: 'answer' }>): string {
  const codings = contentCodings(answer.headers['content-encoding'] ?? '') ?? ''
  const decoded = decodeBody(answer.body, codings, 4 * loginBytesMax)
  if (decoded.kind !== 'decoded') return ''
  return decodeText(decoded.bytes, answer.headers['content-type'] ?? '').text
}
