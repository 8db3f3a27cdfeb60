/** What a hostile client or page may try over the wire: host names, headers, rights, forms, spellings, slow sockets. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { contentSecurityPolicy } from '../../../src/server/gate.ts'
import { documentOf, key, signIn, startServer } from './ports.ts'
import type { Started } from './ports.ts'

let server: Started
before(async () => {
  server = await startServer([documentOf({ id: 'a' })])
})
after(() => server.close())

/** Bytes as they are: fetch would mend them first. Resolves with all that came back. */
function raw(text: string, url = server.url): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => socket.write(text))
    let answer = ''
    socket.on('data', (bytes) => (answer += String(bytes)))
    socket.on('error', () => resolve(answer))
    socket.on('close', () => resolve(answer))
  })
}
const rawGet = (path: string, host = '127.0.0.1') =>
  raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
const statusOf = (answer: string): number => Number(answer.slice(9, 12))

describe('The host name', () => {
  const ours = [
    '127.0.0.1',
    '192.168.1.7:8080',
    '[::1]:8080',
    'localhost',
    'LOCALHOST:80',
    'a.localhost',
    'findling.example',
    'Findling.Example.:443',
  ]
  const foreign = [
    'evil.example',
    'findling.example.evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '',
    'a b',
    '127.0.0.1:x',
    'user@127.0.0.1',
  ]
  for (const host of ours) {
    it(`${host} is ours`, async () => assert.equal(statusOf(await rawGet('/livez', host)), 200))
  }
  for (const host of foreign) {
    it(`${JSON.stringify(host)} is refused before anything is told`, async () => {
      const answer = await rawGet('/api/v1/stats', host)
      assert.ok([400, 421].includes(statusOf(answer)), answer.slice(0, 60))
      assert.doesNotMatch(answer, /documents/)
    })
  }
})

describe('Safety headers', () => {
  const paths = [
    '/',
    '/search?q=text',
    '/search?q=',
    '/cache/a',
    '/cache/none',
    '/admin',
    '/robots.txt',
    '/nothing',
    '/%',
    '/api/v1/search?q=text',
    '/api/v1/none',
    '/api/v1/documents/a?format=text',
    '/suggest?q=t',
    '/livez',
    '/openapi.json',
    '/opensearch.xml',
    '/admin/jobs/1',
  ]
  for (const path of paths) {
    it(`are on ${path}`, async () => {
      const { headers } = await fetch(server.url + path)
      assert.equal(headers.get('content-security-policy'), contentSecurityPolicy)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('referrer-policy'), 'same-origin')
      assert.equal(headers.get('access-control-allow-origin'), null)
      assert.match(headers.get('content-type') ?? '', /charset=utf-8/)
    })
  }
  it('allow no inline code, nothing from elsewhere, no frame', () => {
    assert.match(contentSecurityPolicy, /default-src 'none'/)
    assert.match(contentSecurityPolicy, /frame-ancestors 'none'/)
    assert.doesNotMatch(contentSecurityPolicy, /unsafe|\*|https?:|data:/)
  })
})

describe('Addresses that cannot be read', () => {
  const cases: [string, number[]][] = [
    ['/%', [400]],
    ['/cache/%ff', [400]],
    ['/%00', [404]],
    ['/../../etc/passwd', [404]],
    ['/%2e%2e/%2e%2e/etc/passwd', [404]],
    ['/assets/..%5c..%5cpackage.json', [404]],
    ['/assets/..%2fserver.ts', [404]],
    ['//evil.example/..', [404]],
    ['/cache//evil.example', [404]],
    [`/cache/${'a'.repeat(3000)}`, [400]],
    [`/search?q=${'a'.repeat(9000)}`, [431]],
  ]
  for (const [path, statuses] of cases) {
    it(`${path.slice(0, 40)} is ${statuses.join(' or ')}, without a word about the inside`, async () => {
      const answer = await rawGet(path)
      assert.ok(statuses.includes(statusOf(answer)), answer.slice(0, 200))
      assert.doesNotMatch(answer, /FST_|HPE_|node_modules|\.ts\b|root:/)
      assert.match(answer, /content-security-policy: default-src 'none'/i)
      assert.doesNotMatch(answer, /^location:/im)
    })
  }
  it('two lengths, or a length and chunks, are refused', async () => {
    const head = 'POST /api/v1/search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
    const twice = await raw(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`)
    const both = await raw(
      `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    )
    assert.deepEqual([statusOf(twice), statusOf(both)], [400, 400])
  })
})

describe('The administration', () => {
  const guarded: [string, string][] = [
    ['GET', '/api/v1/admin/jobs'],
    ['POST', '/api/v1/admin/jobs'],
    ['GET', '/api/v1/admin/jobs/1'],
    ['POST', '/api/v1/admin/jobs/1/pause'],
    ['POST', '/api/v1/admin/jobs/1/resume'],
    ['POST', '/api/v1/admin/jobs/1/stop'],
    ['GET', '/api/v1/admin/explain?url=x'],
    ['GET', '/api/v1/admin/filters'],
    ['GET', '/api/v1/admin/duplicates'],
    ['GET', '/api/v1/admin/events'],
    ['HEAD', '/api/v1/admin/events'],
    ['GET', '/admin'],
    ['GET', '/admin/jobs/1'],
    ['GET', '/admin/explain?url=x'],
    ['GET', '/admin/filters'],
    ['POST', '/admin/crawl'],
    ['POST', '/admin/jobs/1/stop'],
  ]
  for (const [method, path] of guarded) {
    it(`${method} ${path} is closed without the key`, async () => {
      const response = await fetch(server.url + path, { method, redirect: 'manual' })
      assert.equal(response.status, 401)
      assert.equal(response.headers.get('www-authenticate'), 'Bearer realm="findling"')
      assert.doesNotMatch(await response.text(), /data-job|"jobs"/)
    })
  }
  const spellings = [
    '/api/v1/admin%2fjobs',
    '/API/v1/ADMIN/jobs',
    '//api/v1/admin/jobs',
    '/api/v1/x/../admin/jobs',
    '/api/v1/admin/..;/admin/jobs',
    '/api/v1/%61dmin/jobs',
    '/api/v1/admin/jobs/',
    '/api/v1/admin\\jobs',
  ]
  for (const path of spellings) {
    it(`no spelling gets around the guard: ${path}`, async () => {
      const answer = await rawGet(path)
      assert.ok([400, 401, 404].includes(statusOf(answer)), answer.slice(0, 80))
    })
  }
  it('says 429 and when to come back after many wrong keys', async () => {
    const own = await startServer()
    const wrong = () =>
      fetch(`${own.url}/api/v1/admin/jobs`, { headers: { authorization: 'Bearer x' } })
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await wrong()).status, 401)
    const response = await wrong()
    assert.equal(response.status, 429)
    assert.ok(Number(response.headers.get('retry-after')) >= 1)
    const form = await fetch(`${own.url}/admin/login`, {
      method: 'POST',
      body: new URLSearchParams({ key }),
    })
    assert.equal(form.status, 429)
    await own.close()
  })
  it('keeps the key out of the log', async () => {
    await fetch(`${server.url}/api/v1/admin/jobs`, {
      headers: { authorization: 'Bearer wrong-canary-77' },
    })
    await signIn(server.url)
    assert.doesNotMatch(server.logged.join('\n'), new RegExp(`wrong-canary-77|${key}`))
  })
})

describe('Forms', () => {
  const form = async (
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string>,
  ) =>
    (
      await fetch(server.url + path, {
        method: 'POST',
        redirect: 'manual',
        headers,
        body: new URLSearchParams(fields),
      })
    ).status
  it('of other sites are refused, also with the right cookie', async () => {
    const { cookie, csrf } = await signIn(server.url)
    const fields = { csrf, url: 'https://a.example/' }
    const started = server.crawl.specs.length
    for (const headers of [
      { cookie, 'sec-fetch-site': 'cross-site' },
      { cookie, 'sec-fetch-site': 'same-site' },
      { cookie, 'sec-fetch-site': 'none' },
      { cookie, origin: 'https://evil.example' },
      { cookie, origin: 'null' },
    ]) {
      assert.equal(await form('/admin/crawl', fields, headers), 403, JSON.stringify(headers))
      assert.equal(await form('/admin/logout', fields, headers), 403)
      assert.equal(await form('/admin/login', { key }, headers), 403)
    }
    assert.equal(server.crawl.specs.length, started)
  })
  it('need the token of the session', async () => {
    const { cookie, csrf } = await signIn(server.url)
    const own = { cookie, 'sec-fetch-site': 'same-origin' }
    assert.equal(await form('/admin/crawl', { url: 'a.example' }, own), 403)
    assert.equal(await form('/admin/crawl', { url: 'a.example', csrf: 'x' }, own), 403)
    assert.equal(await form('/admin/crawl', { url: 'a.example', csrf }, own), 303)
  })
  it('lead to no other place than our own after signing in', async () => {
    for (const next of [
      'https://evil.example/',
      '//evil.example',
      '../../x',
      'jobs/1/../../..',
      'javascript:1',
    ]) {
      const response = await fetch(`${server.url}/admin/login`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ key, next }),
      })
      assert.equal(response.headers.get('location'), '../admin', next)
    }
  })
  it('are not taken where JSON is asked for, nor JSON where forms are', async () => {
    const { cookie } = await signIn(server.url)
    assert.equal(
      await form(
        '/api/v1/admin/jobs',
        { seeds: 'https://a.example/' },
        { authorization: `Bearer ${key}` },
      ),
      415,
    )
    const response = await fetch(`${server.url}/admin/crawl`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: '{}',
    })
    assert.equal(response.status, 415)
  })
})

describe('Behind a prefix', () => {
  it('all answers are the same whether the proxy strips it or not, and the cookie stays below it', async () => {
    const own = await startServer([], { basePath: '/finder' })
    for (const path of ['/finder/livez', '/livez', '/finder', '/finder?ui=en', '/finder/']) {
      assert.equal((await fetch(own.url + path)).status, 200, path)
    }
    assert.equal((await fetch(`${own.url}/finders/livez`)).status, 404)
    const response = await fetch(`${own.url}/finder/admin/login`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ key }),
    })
    assert.match(response.headers.get('set-cookie') ?? '', /Path=\/finder\/;/)
    await own.close()
  })
})

describe('Slow clients', () => {
  // In each case one limit is short and all others are far: that one has to work alone.
  const far = {
    headersMs: 60_000,
    requestMs: 60_000,
    checkingMs: 50,
    keepAliveMs: 60_000,
    idleMs: 60_000,
  }
  const cases: [string, Partial<typeof far>, string][] = [
    ['half a header', { headersMs: 150 }, 'GET /livez HTTP/1.1\r\nHost: a\r\nX-A'],
    [
      'half a body',
      { headersMs: 100, requestMs: 200 },
      'POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
    [
      'nothing after an answer',
      { keepAliveMs: 100 },
      'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    ],
    ['nothing at all', { idleMs: 200 }, ''],
  ]
  for (const [name, limits, text] of cases) {
    it(`that send ${name} are closed in time`, { timeout: 10_000 }, async () => {
      const own = await startServer([], { timeouts: { ...far, ...limits } })
      const answer = await raw(text, own.url)
      await own.close()
      assert.doesNotMatch(answer, /HTTP\/1\.1 5/)
    })
  }
})

describe('Events', () => {
  it('reach a listener with the key, and end when the server closes', async () => {
    const own = await startServer()
    await own.crawl.start({
      seeds: ['https://a.example/'],
      scope: 'path',
      include: [],
      maxPages: null,
      depth: 1,
      delayMs: null,
    })
    const response = await fetch(`${own.url}/api/v1/admin/events`, {
      headers: { authorization: `Bearer ${key}` },
    })
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(response.headers.get('content-security-policy'), contentSecurityPolicy)
    const reading = response.text()
    while (own.crawl.listeners.size === 0) await new Promise(setImmediate)
    await own.close()
    assert.match(await reading, /event: jobs\ndata: \{"jobs":\[\{"id":1/)
    assert.equal(own.crawl.listeners.size, 0)
  })
  it('are forgotten when the listener goes', async () => {
    const headers = { authorization: `Bearer ${key}` }
    const others = server.crawl.listeners.size
    await new Promise<void>((resolve) => {
      const asked = request(`${server.url}/api/v1/admin/events`, { headers }, (response) => {
        response.once('data', () => {
          assert.equal(server.crawl.listeners.size, others + 1)
          asked.destroy()
          resolve()
        })
        response.on('error', () => undefined)
      })
      asked.on('error', () => undefined)
      asked.end()
    })
    while (server.crawl.listeners.size > others) await new Promise(setImmediate)
  })
})
