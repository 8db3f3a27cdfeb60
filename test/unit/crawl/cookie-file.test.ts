/** Cookies over a restart: what is kept, for how long, by whom it may be read, and what becomes of a login. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { CookieFile, cookieFileName } from '../../../src/crawl/cookie-file.ts'
import { Cookies } from '../../../src/crawl/cookies.ts'
import { Sessions } from '../../../src/crawl/sessions.ts'
import { parseSourceHttp } from '../../../src/crawl/source-http.ts'
import { createEgress, type Egress } from '../../../src/lib/egress.ts'
import { serve, type Web } from '../../web.ts'

const hourMs = 3_600_000
const folder = mkdtempSync(join(tmpdir(), 'findling-cookies-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const freshFile = (): string => join(folder, `${files++}-${cookieFileName}`)
const quiet = (): void => {}

describe('the cookies of a jar over a restart', () => {
  const url = 'http://a.example/'
  const nowMs = Date.now()
  /** The header after a restart so much later. */
  async function later(setCookies: readonly string[], ms: number): Promise<string> {
    const jar = new Cookies()
    await jar.take(url, setCookies)
    const next = new Cookies()
    await next.restore(jar.saved(nowMs), nowMs + ms)
    return next.headerFor(url)
  }
  const cases: [what: string, setCookie: string, ms: number, header: string][] = [
    ['with a Max-Age are kept as long as it says', 'a=1; Max-Age=7200', hourMs, 'a=1'],
    ['with a Max-Age are dropped after it', 'a=1; Max-Age=7200', 3 * hourMs, ''],
    [
      'with an expiry are kept as long as it says',
      `a=1; Expires=${new Date(nowMs + 48 * hourMs).toUTCString()}`,
      40 * hourMs,
      'a=1',
    ],
    [
      'with an expiry are dropped after it',
      `a=1; Expires=${new Date(nowMs + 48 * hourMs).toUTCString()}`,
      49 * hourMs,
      '',
    ],
    ['of a session are kept for a day', 'a=1', 23 * hourMs, 'a=1'],
    ['of a session are dropped after a day', 'a=1', 25 * hourMs, ''],
  ]
  for (const [what, setCookie, ms, header] of cases)
    it(what, async () => assert.equal(await later([setCookie], ms), header))

  it('go to the hosts and paths that they are for, and to nobody else', async () => {
    const jar = new Cookies()
    await jar.take('https://a.example/x/', [
      'own=1; Path=/x; Secure',
      'all=2; Domain=a.example; Path=/',
    ])
    const next = new Cookies()
    assert.equal(await next.restore(jar.saved(nowMs), nowMs), 2)
    assert.equal(next.headerFor('https://a.example/x/y'), 'own=1; all=2')
    assert.equal(next.headerFor('http://www.a.example/'), 'all=2')
    assert.equal(next.headerFor('http://b.example/'), '')
  })

  it('are bounded: those used last', async () => {
    const jar = new Cookies()
    for (let host = 0; host < 60; host++)
      await jar.take(
        `http://h${host}.example/`,
        Array.from({ length: 50 }, (_, i) => `c${i}=1`),
      )
    assert.equal(jar.saved(nowMs).length, 2_000)
  })
})

describe('the file of cookies', () => {
  const one = [{ key: 'a', value: 'secret-1', domain: 'a.example', path: '/' }]

  it('may be read by its owner only, also where one lay there that others could read', () => {
    const path = freshFile()
    writeFileSync(`${path}.new`, '', { mode: 0o644 })
    chmodSync(`${path}.new`, 0o644)
    new CookieFile(path, quiet).keeperOf('s').changed(() => one, true)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(new CookieFile(path, quiet).keeperOf('s').load(), one)
    assert.deepEqual(new CookieFile(path, quiet).keeperOf('other').load(), [])
  })

  it('is written when it is closed, and only where something changed', () => {
    const path = freshFile()
    const file = new CookieFile(path, quiet)
    file.keeperOf('s').changed(() => one)
    assert.equal(statSync(path, { throwIfNoEntry: false }), undefined)
    file.flush()
    const { mtimeMs, ino } = statSync(path)
    file.keeperOf('s').changed(() => one)
    file.flush()
    assert.deepEqual([statSync(path).mtimeMs, statSync(path).ino], [mtimeMs, ino])
  })

  it('forgets a source for good', () => {
    const path = freshFile()
    const file = new CookieFile(path, quiet)
    file.keeperOf('s').changed(() => one, true)
    file.keeperOf('t').changed(() => [], true)
    file.forget('s')
    assert.ok(!readFileSync(path, 'utf8').includes('secret-1'))
  })

  for (const content of [
    '',
    '{',
    'null',
    '[]',
    '{"version":2,"jars":{}}',
    '{"version":1,"jars":{"s":7}}',
  ])
    it(`begins anew where ${JSON.stringify(content)} stands in it`, () => {
      const path = freshFile()
      writeFileSync(path, content)
      const file = new CookieFile(path, quiet)
      assert.deepEqual(file.keeperOf('s').load(), [])
      file.keeperOf('s').changed(() => one, true)
      assert.deepEqual(new CookieFile(path, quiet).keeperOf('s').load(), one)
    })

  it('holds the sources that changed last', () => {
    const path = freshFile()
    const file = new CookieFile(path, quiet)
    for (let i = 0; i < 250; i++) file.keeperOf(`s${i}`).changed(() => one)
    file.flush()
    const next = new CookieFile(path, quiet)
    assert.deepEqual(next.keeperOf('s49').load(), [])
    assert.deepEqual(next.keeperOf('s50').load(), one)
  })
})

describe('a login over a restart', () => {
  let web: Web
  let egress: Egress
  const state = { valid: 'v1', logins: 0, asksAlways: false }
  const listener: RequestListener = (request, response) => {
    const isIn = (request.headers.cookie ?? '').includes(`sid=${state.valid}`)
    if (request.url === '/login' && (!isIn || state.asksAlways))
      response.end(
        '<form method=post action=/in><input name=user><input type=password name=pw></form>',
      )
    else if (request.url === '/in') {
      state.logins += 1
      response.setHeader('set-cookie', `sid=${state.valid}; HttpOnly`)
      response.writeHead(302, { location: '/home' }).end()
    } else if (isIn) response.end(`page ${request.url}`)
    else response.writeHead(302, { location: '/login' }).end()
  }
  before(async () => {
    web = await serve((request, response) => listener(request, response))
    egress = createEgress({ userAgent: 'Test/1', allowPrivate: ['127.0.0.1'] })
    egress.allowPort('127.0.0.1', web.port)
  })
  after(async () => {
    await egress.close()
    await web.close()
  })

  /** A process with the data directory of the one before. */
  function open(path: string, more: object = {}) {
    const http = parseSourceHttp(
      { login: { url: `${web.origin}/login`, fields: { user: 'me', pw: 'x' } }, ...more },
      'http',
    )
    const settings = () => ({ key: 'club', http, homes: null })
    const file = new CookieFile(path, quiet)
    const sessions = new Sessions(egress, settings, quiet, Date.now, file)
    const ask = async (page: string): Promise<string> => {
      const limits = { totalTimeoutMs: 5_000, headersTimeoutMs: 5_000, wireBytesMax: 10_000 }
      const answer = await sessions.of(1).request(web.origin + page, { headers: {}, ...limits })
      return answer.kind === 'answer' ? Buffer.from(answer.body).toString() : answer.reason
    }
    return { sessions, ask }
  }

  it('is not done again while its cookies live, also after a kill', async () => {
    Object.assign(state, { logins: 0, asksAlways: false })
    const path = freshFile()
    // Nothing is closed here: the process was killed.
    assert.equal(await open(path).ask('/1'), 'page /1')
    assert.equal(await open(path).ask('/2'), 'page /2')
    assert.equal(state.logins, 1)
  })

  it('is done again where the site has forgotten it', async () => {
    Object.assign(state, { logins: 0, asksAlways: false })
    const path = freshFile()
    await open(path).ask('/1')
    state.valid = 'v2'
    assert.equal(await open(path).ask('/2'), 'page /2')
    assert.equal(state.logins, 2)
  })

  it('is done again where the login page asks all the same', async () => {
    Object.assign(state, { logins: 0, asksAlways: true })
    const path = freshFile()
    await open(path).ask('/1')
    assert.equal(await open(path).ask('/2'), 'page /2')
    assert.equal(state.logins, 2)
  })

  it('is done again where the description asks in another way, and not where it is put as it was', async () => {
    Object.assign(state, { logins: 0, asksAlways: false })
    const { sessions, ask } = open(freshFile())
    await ask('/1')
    sessions.changed('club', true)
    assert.equal(await ask('/2'), 'page /2')
    assert.equal(state.logins, 1)
    sessions.changed('club', false)
    assert.equal(await ask('/3'), 'page /3')
    assert.equal(state.logins, 2)
  })

  it('leaves nothing behind where the source keeps no cookies', async () => {
    const path = freshFile()
    const { sessions, ask } = open(path, { cookies: 'none' })
    await ask('/1')
    sessions.close()
    assert.equal(statSync(path, { throwIfNoEntry: false }), undefined)
  })
})
