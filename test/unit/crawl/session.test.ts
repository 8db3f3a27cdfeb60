/** How a source is asked: cookies of one jar for all workers, cookies.txt, logins by form, User-Agents and proxies in turn. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Cookies } from '../../../src/crawl/cookies.ts'
import { findLoginForm } from '../../../src/crawl/login-form.ts'
import { createProxyRing } from '../../../src/crawl/proxies.ts'
import { Session } from '../../../src/crawl/session.ts'
import { parseSourceHttp } from '../../../src/crawl/source-http.ts'
import { createEgress, type Egress, type EgressAnswer } from '../../../src/lib/egress.ts'
import { serve, type Web } from '../../web.ts'

describe('a jar of cookies', () => {
  it('sends back what the host set, to it alone', async () => {
    const jar = new Cookies()
    assert.equal(jar.headerFor('http://a.example/'), '')
    assert.equal(await jar.take('http://a.example/', ['s=1; Path=/', 'p=2; Path=/x']), true)
    assert.equal(jar.headerFor('http://a.example/y'), 's=1')
    assert.equal(jar.headerFor('http://a.example/x/y'), 'p=2; s=1')
    assert.equal(jar.headerFor('http://b.example/'), '')
    assert.equal(await jar.take('http://a.example/', ['s=1; Path=/']), false)
  })
  it('refuses cookies of public suffixes and of strangers', async () => {
    const jar = new Cookies()
    await jar.take('http://a.co.uk/', [
      'x=1; Domain=co.uk',
      'y=1; Domain=b.co.uk',
      'z=1; Domain=a.co.uk',
    ])
    assert.equal(jar.headerFor('http://www.a.co.uk/'), 'z=1')
    assert.equal(jar.headerFor('http://b.co.uk/'), '')
  })
  it('stays bounded', async () => {
    const jar = new Cookies()
    for (let i = 0; i < 10; i++)
      await jar.take(
        'http://a.example/',
        Array.from({ length: 50 }, (_, j) => `c${i}_${j}=1`),
      )
    assert.ok(jar.headerFor('http://a.example/').split('; ').length <= 64)
    assert.equal(await jar.take('http://b.example/', [`big=${'x'.repeat(5_000)}`]), false)
    for (let i = 0; i <= 500; i++) await jar.take(`http://h${i}.example/`, ['a=1'])
    assert.equal(jar.headerFor('http://h0.example/'), '')
    assert.equal(jar.headerFor('http://h500.example/'), 'a=1')
  })
  it("reads Netscape's file and names its first bad line", async () => {
    const jar = new Cookies()
    const text = [
      '# Netscape HTTP Cookie File',
      '.a.example\tTRUE\t/\tFALSE\t0\tsid\tabc',
      '#HttpOnly_a.example\tFALSE\t/\tTRUE\t4102444800\tsecret\tdef',
      'nonsense',
      '.a.example\tTRUE\t/\tFALSE\t1000\told\tgone',
    ].join('\r\n')
    const { badLine } = await jar.importText(text)
    assert.equal(badLine, 4)
    assert.equal(jar.headerFor('http://www.a.example/'), 'sid=abc')
    assert.equal(jar.headerFor('https://a.example/'), 'sid=abc; secret=def')
  })
})

describe('a login form', () => {
  const html = `<!-- <form><input type=password name=no></form> --><form id=search action=/s><input name=q></form>
    <form id="in" method=POST action="../go?x=1"><input type=hidden name=csrf value="a&amp;b"><input name=user>
    <input type=password name=pw><input type=checkbox name=keep value=yes checked><input type=checkbox name=off>
    <select name=lang><option value=en>E<option value=zh selected>Z</select><textarea name=note>n</textarea>
    <input type=submit name=ok value=OK></form>`
  it('is the one with a password, with everything a browser would send', () => {
    assert.deepEqual(findLoginForm(html, 'http://h.example/a/b/', null, ['user']), {
      action: 'http://h.example/a/go?x=1',
      method: 'post',
      values: [
        ['csrf', 'a&b'],
        ['user', ''],
        ['pw', ''],
        ['keep', 'yes'],
        ['lang', 'zh'],
        ['note', 'n'],
      ],
      hasPassword: true,
    })
  })
  it('is the one that is named', () => {
    assert.equal(
      findLoginForm(html, 'http://h.example/', '#search', [])?.action,
      'http://h.example/s',
    )
    assert.equal(findLoginForm(html, 'http://h.example/', '#none', []), null)
  })
  it('is found in a megabyte of anything in linear time', () => {
    const start = process.cpuUsage()
    for (const piece of [
      '<form ',
      '<input ',
      '<form a="',
      '<select name=a>',
      '<!--',
      '<script>',
      '&#',
    ])
      findLoginForm(piece.repeat(3e5 / piece.length), 'http://h.example/', null, [])
    const { user, system } = process.cpuUsage(start)
    assert.ok((user + system) / 1_000 < 3_000, `${(user + system) / 1_000} ms`)
  })
})

describe('the proxies of a source', () => {
  it('take turns, rest after a failure, and come back', () => {
    let nowMs = 0
    const ring = createProxyRing(['a', 'b', 'c'], () => nowMs)
    assert.deepEqual([ring.next(), ring.next(), ring.next(), ring.next()], ['a', 'b', 'c', 'a'])
    ring.report('b', false)
    assert.deepEqual([ring.next(), ring.next(), ring.next()], ['c', 'a', 'c'])
    nowMs = 30_000
    assert.ok([ring.next(), ring.next(), ring.next()].includes('b'))
    for (const proxy of ['a', 'b', 'c']) ring.report(proxy, false)
    ring.report('a', false)
    assert.notEqual(ring.next(), 'a')
    assert.equal(createProxyRing([], () => 0).next(), null)
  })
})

describe('a session', () => {
  let listener: RequestListener
  let web: Web
  let egress: Egress
  const folder = mkdtempSync(join(tmpdir(), 'findling-session-'))
  before(async () => {
    web = await serve((request, response) => listener(request, response))
    egress = createEgress({ userAgent: 'Test/1', allowPrivate: ['127.0.0.1'] })
    egress.allowPort('127.0.0.1', web.port)
  })
  after(async () => {
    await egress.close()
    await web.close()
    rmSync(folder, { recursive: true })
  })
  const logged: string[] = []
  const sessionOf = (http: object): Session =>
    new Session(
      egress,
      parseSourceHttp(http, 'http'),
      (level, event, fields) => logged.push(`${level} ${event} ${JSON.stringify(fields)}`),
      () => 1_000_000,
    )
  const ask = (session: Session, path: string): Promise<EgressAnswer> =>
    session.request(web.origin + path, {
      headers: {},
      totalTimeoutMs: 5_000,
      headersTimeoutMs: 5_000,
      wireBytesMax: 10_000,
    })
  const bodyOf = (answer: EgressAnswer): string =>
    answer.kind === 'answer' ? Buffer.from(answer.body).toString() : JSON.stringify(answer)
  const readBody = async (request: IncomingMessage): Promise<string> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  }

  it('sends headers, and User-Agents in turn', async () => {
    const seen: unknown[] = []
    listener = ({ headers }, response) => {
      seen.push([headers['user-agent'], headers['x-a']])
      response.end('x')
    }
    const session = sessionOf({ userAgents: ['A', 'B'], headers: { 'X-A': 'y' } })
    for (let i = 0; i < 3; i++) await ask(session, '/')
    assert.deepEqual(seen, [
      ['A', 'y'],
      ['B', 'y'],
      ['A', 'y'],
    ])
    await ask(sessionOf({}), '/')
    assert.deepEqual(seen.at(-1), ['Test/1', undefined])
  })

  /** A site behind a form: a token that is new each time, a cookie that says who is in. */
  const site =
    (state: { token: number; valid: string; logins: number }): RequestListener =>
    async (request, response) => {
      const isIn = (request.headers.cookie ?? '').includes(`sid=${state.valid}`)
      if (request.url === '/login' && request.method === 'GET') {
        state.token += 1
        response.setHeader('set-cookie', `t=${state.token}`)
        response.end(`<form method=post action=/in><input type=hidden name=csrf value=${state.token}>
          <input name=user><input type=password name=pw></form>`)
      } else if (request.url === '/in') {
        state.logins += 1
        const sent = new URLSearchParams(await readBody(request))
        const isRight =
          sent.get('csrf') === String(state.token) &&
          (request.headers.cookie ?? '').includes(`t=${state.token}`) &&
          sent.get('pw') === 'secret'
        if (isRight) response.setHeader('set-cookie', `sid=${state.valid}; HttpOnly`)
        response.writeHead(302, { location: isRight ? '/home' : '/login' }).end()
      } else if (isIn) response.end(`page ${request.url}`)
      else response.writeHead(302, { location: '/login' }).end()
    }
  const login = (password: string, more: object = {}): object => ({
    login: { url: `${web.origin}/login`, fields: { user: 'me', pw: password }, ...more },
  })

  it('logs in once for all workers, with the token of the page', async () => {
    const state = { token: 0, valid: 'v1', logins: 0 }
    listener = site(state)
    const session = sessionOf(login('secret', { check: { text: 'page /home' } }))
    const answers = await Promise.all(['/1', '/2', '/3', '/4'].map((path) => ask(session, path)))
    assert.deepEqual(answers.map(bodyOf), ['page /1', 'page /2', 'page /3', 'page /4'])
    assert.equal(state.logins, 1)
  })

  it('logs in again when the login is lost, but not for ever', async () => {
    const state = { token: 0, valid: 'v1', logins: 0 }
    listener = site(state)
    const session = sessionOf(login('secret'))
    assert.equal(bodyOf(await ask(session, '/1')), 'page /1')
    state.valid = 'v2'
    assert.equal(bodyOf(await ask(session, '/2')), 'page /2')
    assert.equal(state.logins, 2)
    for (const valid of ['v3', 'v4', 'v5']) {
      state.valid = valid
      await ask(session, '/3')
    }
    assert.equal(state.logins, 3)
    // What a stranger is shown is no page.
    const refusal = { kind: 'failed', reason: 'login', detail: 'the login was lost' }
    assert.deepEqual(await ask(session, '/3'), refusal)
  })

  it('says that a login failed, without the password', async () => {
    const state = { token: 0, valid: 'v1', logins: 0 }
    listener = site(state)
    logged.length = 0
    await ask(sessionOf(login('wrong-password')), '/1')
    assert.match(logged.join('\n'), /warn not logged in .*asks for a password again/)
    assert.doesNotMatch(logged.join('\n'), /wrong-password/)
  })

  it('begins with cookies.txt', async () => {
    const path = join(folder, 'cookies.txt')
    writeFileSync(path, `127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tv1\n`)
    listener = site({ token: 0, valid: 'v1', logins: 0 })
    assert.equal(bodyOf(await ask(sessionOf({ cookiesFile: path }), '/1')), 'page /1')
    logged.length = 0
    await ask(sessionOf({ cookiesFile: join(folder, 'none') }), '/1')
    assert.match(logged.join('\n'), /warn cookies not read/)
  })

  it('asks at once through another proxy where one fails, and says so without its user', async () => {
    const asked: (string | undefined)[] = []
    logged.length = 0
    const session = new Session(
      {
        request: (_, { proxy }) => {
          asked.push(proxy)
          const answer = { kind: 'failed', reason: 'proxy', detail: '' } as const
          return Promise.resolve(proxy?.includes('dead') ? answer : { ...answer, reason: 'dns' })
        },
      },
      parseSourceHttp({ proxies: ['http://u:hush@dead.test:1', 'http://well.test:1'] }, 'http'),
      (level, event, fields) => logged.push(`${level} ${event} ${JSON.stringify(fields)}`),
      () => 0,
    )
    for (let i = 0; i < 2; i++) await ask(session, '/')
    const [dead, well] = ['http://u:hush@dead.test:1/', 'http://well.test:1/']
    assert.deepEqual(asked, [dead, well, well])
    assert.deepEqual(logged, ['warn a proxy rests {"proxy":"http://dead.test:1"}'])
  })

  it('gives its headers to no stranger, and none of them to a plain connection', async () => {
    const sent: [string, unknown][] = []
    const session = new Session(
      {
        request: (url, { headers }) => {
          sent.push([url, headers['x-key']])
          return Promise.resolve({ kind: 'failed', reason: 'connect', detail: '' })
        },
      },
      parseSourceHttp({ headers: { 'X-Key': 'k' } }, 'http'),
      () => {},
      () => 0,
      ['https://h.example/a', 'http://plain.test/'],
    )
    const urls = [
      'https://h.example/b',
      'https://www.h.example/',
      'http://h.example/',
      'http://plain.test/',
      'https://other.example/',
    ]
    for (const url of urls)
      await session.request(url, {
        headers: {},
        totalTimeoutMs: 1,
        headersTimeoutMs: 1,
        wireBytesMax: 1,
      })
    assert.deepEqual(
      sent,
      urls.map((url, i) => [url, [0, 1, 3].includes(i) ? 'k' : undefined]),
    )
  })

  it('ignores cookies where it is told so', async () => {
    const seen: unknown[] = []
    listener = ({ headers }, response) => {
      seen.push(headers.cookie)
      response.setHeader('set-cookie', 'a=1').end('x')
    }
    for (const cookies of ['keep', 'none']) {
      const session = sessionOf({ cookies })
      await ask(session, '/')
      await ask(session, '/')
    }
    assert.deepEqual(seen, [undefined, 'a=1', undefined, undefined])
  })
})
