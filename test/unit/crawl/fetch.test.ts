/** One visit: what each status, header and body comes to. And robots.txt: open, closed or rules. */
import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener } from 'node:http'
import { after, afterEach, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fetchPage, fetchRobots, retryAfter, type FetchLimits } from '../../../src/crawl/fetch.ts'
import type { FetchOutcome } from '../../../src/crawl/page.ts'
import { decodeBody } from '../../../src/lib/decode.ts'
import { createEgress, type Egress } from '../../../src/lib/egress.ts'
import { isAllowed, parseRobots, robotsBytesMax } from '../../../src/lib/robots.ts'
import { conformance } from '../../conformance.ts'
import { serve, serveRaw, type Web } from '../../web.ts'

const limits: FetchLimits = {
  totalTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  wireBytesMax: 100_000,
}
const html = '<!doctype html><title>t</title><p>text'

/** Each test says how the one server answers. */
let listener: RequestListener
let web: Web
let egress: Egress
const webs: Web[] = []
before(async () => {
  web = await serve((request, response) => listener(request, response))
  egress = createEgress({ userAgent: 'Test/1', allowPrivate: ['127.0.0.1'] })
  egress.allowPort('127.0.0.1', web.port)
})
afterEach(() => Promise.all(webs.splice(0).map((one) => one.close())))
after(async () => {
  await egress.close()
  await web.close()
})

type Told = { status?: number; headers?: Record<string, string | string[]>; body?: string | Buffer }
const says =
  ({
    status = 200,
    headers = { 'content-type': 'text/html' },
    body = html,
  }: Told): RequestListener =>
  (_, response) => {
    response.writeHead(status, headers).end(body)
  }
const visit = (
  path = '/',
  validators: { etag?: string; modified?: string } = {},
): Promise<FetchOutcome> =>
  fetchPage(egress, { url: web.origin + path, etag: null, modified: null, ...validators }, limits)
/** Without the time, which no test can know. */
const ending = (outcome: FetchOutcome): object => {
  const { elapsedMs, ...rest } = outcome
  assert.ok(elapsedMs >= 0)
  return rest
}

describe('fetchPage', () => {
  it('gives a page with what a later visit and the parser need', async () => {
    const body = gzipSync(html)
    let asked: IncomingMessage['headers'] = {}
    listener = (request, response) => {
      asked = request.headers
      const headers = {
        'content-type': 'text/html; charset=gbk',
        'content-encoding': 'gzip',
        etag: '"1"',
        'last-modified': 'Tue, 01 Dec 2026 00:00:00 GMT',
        'x-robots-tag': 'noarchive',
      }
      response.writeHead(200, headers).end(body)
    }
    const page = await visit('/a?b')
    assert.ok(page.kind === 'page')
    assert.deepEqual(ending({ ...page, body: new ArrayBuffer(0) }), {
      kind: 'page',
      status: 200,
      finalUrl: `${web.origin}/a?b`,
      body: new ArrayBuffer(0),
      encoding: 'gzip',
      contentType: 'text/html; charset=gbk',
      etag: '"1"',
      modified: 'Tue, 01 Dec 2026 00:00:00 GMT',
      refresh: null,
      robotsTag: 'noarchive',
      truncated: false,
      wireBytes: body.length,
    })
    const decoded = decodeBody(page.body, page.encoding, 10_000)
    assert.ok(decoded.kind === 'decoded' && Buffer.from(decoded.bytes).toString() === html)
    assert.deepEqual(
      [asked['accept-encoding'], asked['user-agent'], asked['cookie'], asked['if-none-match']],
      ['gzip, deflate', 'Test/1', undefined, undefined],
    )
  })

  it('asks with the validators of the last answer', async () => {
    let asked: IncomingMessage['headers'] = {}
    listener = (request, response) => {
      asked = request.headers
      response.writeHead(304).end()
    }
    assert.deepEqual(ending(await visit('/', { etag: '"1"', modified: 'then' })), {
      kind: 'notModified',
      status: 304,
    })
    assert.deepEqual([asked['if-none-match'], asked['if-modified-since']], ['"1"', 'then'])
    assert.deepEqual(ending(await visit()), { kind: 'failed', status: 304, reason: 'unasked-304' })
  })

  const refreshes: readonly (readonly [header: string, to: string | null])[] = [
    ['0; url=/x', '/x'],
    ['5;URL="y"', '/a/y'],
    ['0;/r\u00e9', '/r%C3%A9'],
    ['61; url=/x', null],
    ['30', null],
    ['0; url=/a/b', null],
    ['0; url=javascript:x', null],
  ]
  for (const [refresh, to] of refreshes) {
    it(`goes ${to === null ? 'nowhere' : 'on'} with Refresh: ${refresh}`, async () => {
      const headers = { refresh, 'content-type': 'text/html' }
      listener = says({ status: 200, headers, body: html })
      const page = await visit('/a/b')
      assert.ok(page.kind === 'page')
      assert.equal(page.refresh, to === null ? null : web.origin + to)
      // Without a body it is a redirect.
      listener = says({ status: 200, headers, body: '' })
      const empty = await visit('/a/b')
      assert.equal(empty.kind === 'redirect' ? empty.to : null, page.refresh)
    })
  }

  const statuses: readonly (readonly [status: number, outcome: object])[] = [
    [204, { kind: 'refused', reason: 'empty' }],
    [301, { kind: 'failed', reason: 'bad-redirect' }],
    [401, { kind: 'refused', reason: 'forbidden' }],
    [403, { kind: 'refused', reason: 'forbidden' }],
    [404, { kind: 'gone' }],
    [410, { kind: 'gone' }],
    [418, { kind: 'refused', reason: 'status' }],
    [408, { kind: 'failed', reason: 'timeout' }],
    [429, { kind: 'failed', reason: 'rate-limited', pausesHost: true }],
    [500, { kind: 'failed', reason: 'server-error' }],
    [503, { kind: 'failed', reason: 'unavailable', pausesHost: true }],
  ]
  for (const [status, outcome] of statuses) {
    it(`takes ${status} for ${JSON.stringify(outcome)}`, async () => {
      listener = says({ status })
      assert.deepEqual(ending(await visit()), { ...outcome, status })
    })
  }

  it('hands on what Retry-After asks for', async () => {
    listener = says({ status: 429, headers: { 'retry-after': '2' } })
    assert.deepEqual(ending(await visit()), {
      kind: 'failed',
      status: 429,
      reason: 'rate-limited',
      retryAfterMs: 2_000,
      pausesHost: true,
    })
  })

  const locations: readonly (readonly [location: string, to: string | null])[] = [
    ['/x', '/x'],
    ['y#z', '/a/y'],
    ['https://other.example', 'https://other.example/'],
    ['//other.example/', 'http://other.example/'],
    ['/r\u00c3\u00a9duire', '/r%C3%A9duire'],
    ['/r\u00e9duire', '/r%C3%A9duire'],
    ['//super:invalid:url%/', null],
    ['https://h:robots.txt', null],
    ['https://user.example@path/', null],
    ['file:///etc/passwd', null],
    ['javascript:alert(1)', null],
    [`/${'x'.repeat(2_100)}`, null],
  ]
  for (const [location, to] of locations) {
    it(`follows the standard with Location: ${JSON.stringify(location.slice(0, 40))}`, async () => {
      listener = says({ status: 302, headers: { location } })
      const target = to?.startsWith('/') === true ? web.origin + to : to
      assert.deepEqual(
        ending(await visit('/a/b')),
        target === null
          ? { kind: 'failed', status: 302, reason: 'bad-redirect' }
          : { kind: 'redirect', status: 302, to: target },
      )
    })
  }

  it('follows a redirect to itself once more, with the cookie it set, and forgets the cookie', async () => {
    const cookies: (string | undefined)[] = []
    listener = ({ headers, url = '' }, response) => {
      cookies.push(headers.cookie)
      if (headers.cookie === undefined)
        response
          .writeHead(302, { location: url, 'set-cookie': ['id=1; Path=/; HttpOnly', 'b=2'] })
          .end()
      else response.setHeader('content-type', 'text/html').end(html)
    }
    assert.equal((await visit()).kind, 'page')
    assert.equal((await visit()).kind, 'page')
    assert.deepEqual(cookies, [undefined, 'id=1; b=2', undefined, 'id=1; b=2'])
  })

  it('gives up on a redirect to itself that never ends', async () => {
    let asked = 0
    listener = ({ url = '' }, response) => {
      asked += 1
      response.writeHead(302, { location: url, 'set-cookie': 'a=1' }).end()
    }
    assert.deepEqual(ending(await visit()), {
      kind: 'failed',
      status: 302,
      reason: 'redirect-loop',
    })
    assert.equal(asked, 2)
    listener = ({ url = '' }, response) => response.writeHead(302, { location: url }).end()
    assert.deepEqual(ending(await visit()), {
      kind: 'failed',
      status: 302,
      reason: 'redirect-loop',
    })
  })

  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500, 7)])
  const types: readonly (readonly [
    name: string,
    type: string | null,
    body: string | Buffer,
    mayBePage: boolean,
  ])[] = [
    ['HTML', 'text/html', html, true],
    ['XHTML', 'Application/XHTML+XML;charset=utf-8', html, true],
    ['plain text', 'text/plain', 'text', true],
    ['an empty page', 'text/html', '', true],
    ['HTML without a label', null, html, true],
    ['HTML under a label that is none', 'html', html, true],
    ['HTML as octet-stream', 'application/octet-stream', html, true],
    ['XHTML as XML', 'text/xml', '<?xml version="1.0"?>\n<html>', true],
    ['PDF without a label', null, '%PDF-1.7', true],
    ['a picture as HTML, which the parser sees', 'text/html', png, true],
    ['a picture', 'image/png', png, false],
    ['JSON', 'application/json', '{}', false],
  ]
  for (const [name, type, body, mayBePage] of types) {
    it(`${mayBePage ? 'takes' : 'refuses'} ${name}`, async () => {
      listener = says({ headers: type === null ? {} : { 'content-type': type }, body })
      const outcome = await visit()
      assert.equal(
        outcome.kind === 'refused' ? outcome.reason : outcome.kind,
        mayBePage ? 'page' : 'type',
      )
    })
  }

  it('takes any type where lists are wanted', async () => {
    listener = says({
      headers: { 'content-type': 'application/x-gzip' },
      body: gzipSync('<urlset>'),
    })
    const url = `${web.origin}/sitemap.xml.gz`
    const outcome = await fetchPage(
      egress,
      { url, etag: null, modified: null },
      { ...limits, takes: 'lists' },
    )
    assert.equal(outcome.kind, 'page')
  })

  for (const encoding of ['br', 'zstd', 'gzip, gzip, gzip', 'compress']) {
    it(`refuses Content-Encoding: ${encoding}`, async () => {
      listener = says({ headers: { 'content-type': 'text/html', 'content-encoding': encoding } })
      assert.deepEqual(ending(await visit()), { kind: 'refused', status: 200, reason: 'encoding' })
    })
  }

  it('takes a body of exactly the limit and refuses one byte more', async () => {
    listener = says({ body: 'x'.repeat(limits.wireBytesMax) })
    assert.equal((await visit()).kind, 'page')
    listener = says({ body: 'x'.repeat(limits.wireBytesMax + 1) })
    assert.deepEqual(ending(await visit()), { kind: 'refused', status: 200, reason: 'size' })
  })

  it('keeps what came of a page that broke off, and says so', async () => {
    const { origin, port } = await rawWeb(
      `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 999\r\n\r\n${html}`,
    )
    egress.allowPort('127.0.0.1', port)
    const page = await fetchPage(egress, { url: `${origin}/`, etag: null, modified: null }, limits)
    assert.ok(page.kind === 'page' && page.truncated && page.wireBytes === html.length)
  })

  it('records what the guard refuses and what the network does', async () => {
    const refused = await fetchPage(
      egress,
      { url: 'http://10.0.0.1/', etag: null, modified: null },
      limits,
    )
    assert.deepEqual(ending(refused), { kind: 'refused', status: 0, reason: 'guard-address' })
    listener = () => undefined
    const slow = await fetchPage(
      egress,
      { url: `${web.origin}/`, etag: null, modified: null },
      { ...limits, totalTimeoutMs: 50 },
    )
    assert.deepEqual(ending(slow), { kind: 'failed', status: 0, reason: 'timeout' })
  })
})

async function rawWeb(answer: string): Promise<Web> {
  const raw = await serveRaw((socket) => socket.end(answer, 'latin1'))
  webs.push(raw)
  return raw
}

describe('retryAfter', () => {
  const nowMs = Date.UTC(2026, 10, 30, 12, 0, 0)
  const day = 24 * 3_600_000
  const headers: readonly (readonly [header: string, waitMs: number | null])[] = [
    ['2', 2_000],
    [' 120 ', 120_000],
    ['0', 1_000],
    ['-5', 1_000],
    ['1000000000000', day],
    ['Mon, 30 Nov 2026 12:00:30 GMT', 30_000],
    ['Mon, 30 Nov 2026 11:00:00 GMT', 1_000],
    ['Fri, 01 Jan 2100 00:00:00 GMT', day],
    ['', null],
    ['soon', null],
    ['12 parsecs', null],
  ]
  for (const [header, waitMs] of headers) {
    it(`"${header}" is ${waitMs ?? 'no time'}`, () =>
      assert.equal(retryAfter(header, nowMs), waitMs))
  }
})

describe('fetchRobots', () => {
  const robots = (): ReturnType<typeof fetchRobots> => fetchRobots(egress, web.origin)

  it('gives the rules, decoded, for a day or as long as the server says', async () => {
    const text = 'user-agent: *\ndisallow: /x'
    listener = says({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(text) })
    const answer = await robots()
    assert.deepEqual(
      { ...answer, text: Buffer.from(answer.text ?? []).toString() },
      { status: 200, text, verdict: 'rules', cacheMs: 24 * 3_600_000 },
    )
    for (const [control, seconds] of [
      ['public, max-age=3600', 3_600],
      ['max-age=1', 300],
      ['max-age=99999999', 86_400],
      ['no-store', 86_400],
    ] as const) {
      listener = says({ headers: { 'cache-control': control }, body: text })
      assert.equal((await robots()).cacheMs, seconds * 1_000, control)
    }
  })

  it('reads 500 KiB of a longer file', async () => {
    const text = `user-agent: *\ndisallow: /x\n${'#'.repeat(robotsBytesMax)}\n`
    for (const told of [
      { body: text },
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(text) },
    ]) {
      listener = says(told)
      const answer = await robots()
      assert.ok(answer.text !== null && answer.text.length <= robotsBytesMax + 1)
      assert.equal(isAllowed(parseRobots(answer.text), 'Findling', '/x').allowed, false)
    }
  })

  it('follows RFC 9309 in every status', async (t) => {
    const suite = conformance('robots-http-status.json', t)
    if (suite === null) return
    for (const { status, allowAll } of suite.cases as { status: number; allowAll: boolean }[]) {
      listener = says({ status, body: 'User-agent: *\nDisallow: ' })
      assert.equal((await robots()).verdict !== 'closed', allowAll, `${status}`)
    }
  })

  it('is closed for as long as a busy server asks', async () => {
    listener = says({ status: 429, headers: { 'retry-after': '7200' } })
    assert.deepEqual(await robots(), {
      status: 429,
      text: null,
      verdict: 'closed',
      cacheMs: 7_200_000,
    })
  })

  for (const hops of [5, 6]) {
    it(`${hops === 5 ? 'follows' : 'does not follow'} ${hops} redirects`, async () => {
      listener = ({ url = '' }, response) => {
        const hop = Number(/\d+/.exec(url)?.[0] ?? 0)
        if (hop === hops) response.end('user-agent: *\ndisallow: /')
        else response.writeHead(301, { location: `/hop${hop + 1}` }).end()
      }
      assert.equal((await robots()).verdict, hops === 5 ? 'rules' : 'open')
    })
  }

  const shut: readonly (readonly [name: string, location: string])[] = [
    ['is refused by the guard', 'http://169.254.169.254/robots.txt'],
    ['is no URL', 'https://h:robots.txt'],
    ['is missing', ''],
  ]
  for (const [name, location] of shut) {
    it(`is closed where the redirect ${name}`, async () => {
      listener = says({ status: 302, headers: { location } })
      assert.equal((await robots()).verdict, 'closed')
    })
  }

  it('is open, for this once, where the guard refuses the origin: the guard tells why with the page', async () => {
    const answer = await fetchRobots(egress, 'http://10.0.0.1')
    assert.deepEqual([answer.verdict, answer.text, answer.cacheMs], ['open', null, 0])
  })

  it('is closed where nobody answers in time', async () => {
    listener = () => undefined
    const answer = await fetchRobots(egress, web.origin, { totalTimeoutMs: 50 })
    assert.deepEqual([answer.status, answer.verdict], [0, 'closed'])
  })

  it('has no rules where the file is a page', async () => {
    listener = says({ body: '<html><body>Not found</body></html>' })
    const { text } = await robots()
    assert.ok(text !== null && isAllowed(parseRobots(text), 'Findling', '/').allowed)
  })
})
