/** The door out: which addresses it dials, and what it makes of servers that stall, lie, break off or never end. */
import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { afterEach, describe, it } from 'node:test'
import {
  createEgress,
  type DnsLookup,
  type Egress,
  type EgressOptions,
  type EgressRequest,
} from '../../../src/lib/egress.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { serve, serveRaw, type Web } from '../../web.ts'

const request: EgressRequest = {
  headers: {},
  totalTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  wireBytesMax: 1_000_000,
}
const open: { close(): Promise<void> }[] = []
const kept = <Thing extends { close(): Promise<void> }>(thing: Thing): Thing => {
  open.push(thing)
  return thing
}
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.close()
})

/** Names and their addresses; a list of lists answers differently each time. */
function fakeDns(zone: Record<string, readonly string[]>): DnsLookup {
  return (host, _options, done) => {
    const addresses = zone[host]
    if (addresses === undefined)
      return done(Object.assign(new Error(host), { code: 'ENOTFOUND' }), [])
    done(
      null,
      addresses.map((address): LookupAddress => ({
        address,
        family: address.includes(':') ? 6 : 4,
      })),
    )
  }
}

const egressTo = (web: Web, options: Partial<EgressOptions> = {}): Egress =>
  kept(
    createEgress({
      userAgent: 'Test/1',
      allowPrivate: ['127.0.0.0/8'],
      extraPorts: [`127.0.0.1:${web.port}`, `h.test:${web.port}`],
      dnsLookup: fakeDns({ 'h.test': ['127.0.0.1'] }),
      ...options,
    }),
  )

describe('the egress guard', () => {
  const forbidden = `
    127.0.0.1 10.0.0.1 100.64.0.1 169.254.169.254 172.31.255.255 192.0.0.192 192.168.1.1 198.18.0.1 224.0.0.1
    240.0.0.1 255.255.255.255 0.0.0.0 127.1 2130706433 0x7f.1 0177.0.0.1 ①②⑦.0.0.1 127。0。0。1 127.0.0.1.
    [::] [::1] [::ffff:127.0.0.1] [::ffff:a9fe:a9fe] [::7f00:1] [64:ff9b::7f00:1] [64:ff9b::a00:1]
    [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [fc00::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1]
    [2606:4700::5efe:7f00:1] [fe80::5efe:808:808] [2606:4700::200:5efe:a00:1]`
    .trim()
    .split(/\s+/)
  for (const host of forbidden) {
    it(`does not dial ${host}`, async () => {
      const egress = kept(createEgress({ userAgent: 'Test/1' }))
      const answer = await egress.request(`http://${host}/`, request)
      assert.deepEqual(
        [answer.kind, answer.kind === 'refused' && answer.reason],
        ['refused', 'address'],
      )
    })
  }

  // A name never dials here: it is refused before, or the connection is aborted at once.
  const names: readonly (readonly [addresses: string[], isRefused: boolean])[] = [
    [['127.0.0.1'], true],
    [['93.184.216.34', '10.9.9.1'], true],
    [['::ffff:127.0.0.1'], true],
    [['64:ff9b::7f00:1'], true],
    [['not an address'], true],
    [[], false],
  ]
  for (const [addresses, isRefused] of names) {
    it(`${isRefused ? 'refuses' : 'does not find'} a name at [${addresses.join(', ')}]`, async () => {
      const egress = kept(
        createEgress({ userAgent: 'Test/1', dnsLookup: fakeDns({ 'h.test': addresses }) }),
      )
      const answer = await egress.request('http://h.test/', request)
      assert.deepEqual(
        [answer.kind, answer.kind !== 'answer' && answer.reason],
        isRefused ? ['refused', 'address'] : ['failed', 'dns'],
      )
    })
  }

  it('lets public addresses through, wrapped by NAT64 too', async () => {
    for (const host of ['93.184.216.34', '[64:ff9b::808:808]', '[2606:4700::1111]']) {
      const aborted = AbortSignal.abort()
      const egress = kept(createEgress({ userAgent: 'Test/1' }))
      const answer = await egress.request(`http://${host}/`, { ...request, signal: aborted })
      assert.deepEqual(
        [answer.kind, answer.kind === 'failed' && answer.reason],
        ['failed', 'aborted'],
      )
    }
  })

  const urls: readonly (readonly [url: string, reason: string])[] = [
    ['ftp://93.184.216.34/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['not a url', 'scheme'],
    ['http://u:p@93.184.216.34/', 'userinfo'],
    ['http://93.184.216.34:22/', 'port'],
    ['http://93.184.216.34:6379/', 'port'],
    ['http://93.184.216.34:7999/', 'port'],
    ['http://93.184.216.34:9000/', 'port'],
  ]
  for (const [url, reason] of urls) {
    it(`refuses ${url} for its ${reason}`, async () => {
      const egress = kept(createEgress({ userAgent: 'Test/1' }))
      const answer = await egress.request(url, request)
      assert.equal(answer.kind === 'refused' && answer.reason, reason)
    })
  }

  it('dials a private range and an odd port only where they were named', async () => {
    const web = kept(await serve((_, response) => response.end('hello')))
    const shut = kept(createEgress({ userAgent: 'Test/1', allowPrivate: ['127.0.0.0/8'] }))
    const before = await shut.request(`${web.origin}/`, request)
    assert.equal(before.kind === 'refused' && before.reason, 'port')
    shut.allowPort('127.0.0.1', web.port)
    assert.equal((await shut.request(`${web.origin}/`, request)).kind, 'answer')
    assert.equal((await shut.request(`http://h.test:${web.port}/`, request)).kind, 'refused')
  })

  it('never dials where this program listens, allowed range or not', async () => {
    const web = kept(await serve((_, response) => response.end('admin')))
    for (const host of ['127.0.0.1', '0.0.0.0', '::', 'localhost']) {
      const egress = egressTo(web, { own: [{ host, port: web.port }] })
      const named = await egress.request(`http://h.test:${web.port}/`, request)
      assert.equal(named.kind === 'refused' && named.reason, 'own')
      const literal = await egress.request(`${web.origin}/`, request)
      assert.equal(literal.kind === 'refused' && literal.reason, 'own')
    }
    assert.equal(web.connections(), 4, 'a name is judged by its peer, before any byte is sent')
  })

  it('refuses ranges that are none', () => {
    for (const range of [
      '10.0.0.0/33',
      '::/129',
      'intranet',
      '10.0.0.0/',
      '10.0.0.0/x',
      '10.0.0/8',
    ]) {
      assert.throws(
        () => createEgress({ userAgent: 'T', allowPrivate: [range] }),
        (error) => error instanceof AppError && error.code === 'config_invalid',
      )
    }
  })

  it('knows which hosts are in an allowed private range', async () => {
    const web = kept(await serve((_, response) => response.end('hello')))
    const egress = egressTo(web)
    assert.equal(egress.isAllowedPrivate('http://127.0.0.9/'), true)
    assert.equal(egress.isAllowedPrivate('http://localhost:8080/'), true)
    assert.equal(egress.isAllowedPrivate('http://10.0.0.1/'), false)
    assert.equal(egress.isAllowedPrivate('http://93.184.216.34/'), false)
    assert.equal(egress.isAllowedPrivate(`http://h.test:${web.port}/`), false)
    await egress.request(`http://h.test:${web.port}/`, request)
    assert.equal(egress.isAllowedPrivate(`http://h.test:${web.port}/`), true)
    const everywhere = kept(createEgress({ userAgent: 'T', allowPrivate: ['0.0.0.0/0'] }))
    assert.equal(everywhere.isAllowedPrivate('http://93.184.216.34/'), false)
  })

  it('asks no proxy of the environment', async () => {
    const web = kept(await serve((_, response) => response.end('hello')))
    process.env['HTTP_PROXY'] = process.env['http_proxy'] = 'http://127.0.0.1:1'
    process.env['NODE_USE_ENV_PROXY'] = '1'
    try {
      assert.equal((await egressTo(web).request(`${web.origin}/`, request)).kind, 'answer')
    } finally {
      for (const name of ['HTTP_PROXY', 'http_proxy', 'NODE_USE_ENV_PROXY'])
        delete process.env[name]
    }
  })
})

describe('an egress request', () => {
  it('answers with status, headers, body and peer as plain data', async () => {
    const web = kept(
      await serve((incoming, response) => {
        response.setHeader('set-cookie', ['a=1', 'b=2'])
        response.setHeader('X-Robots-Tag', ['noindex', 'nofollow'])
        response.end(
          `${incoming.headers['user-agent']} ${incoming.headers['accept']} ${incoming.url}`,
        )
      }),
    )
    const answer = await egressTo(web).request(`${web.origin}/a%25?b=|`, {
      ...request,
      headers: { accept: 'text/html' },
    })
    assert.ok(answer.kind === 'answer')
    assert.equal(Buffer.from(answer.body).toString(), 'Test/1 text/html /a%25?b=|')
    assert.equal(answer.wireBytes, answer.body.byteLength)
    assert.equal(answer.headers['set-cookie'], 'a=1\nb=2')
    assert.equal(answer.headers['x-robots-tag'], 'noindex\nnofollow')
    assert.deepEqual(
      [answer.status, answer.remoteAddress, answer.truncated, answer.capped],
      [200, '127.0.0.1', false, false],
    )
    assert.deepEqual({ ...structuredClone(answer) }, { ...answer, headers: { ...answer.headers } })
  })

  it('follows no redirect', async () => {
    const web = kept(
      await serve((_, response) => response.writeHead(302, { location: '/x' }).end()),
    )
    const answer = await egressTo(web).request(`${web.origin}/`, request)
    assert.ok(
      answer.kind === 'answer' && answer.status === 302 && answer.headers['location'] === '/x',
    )
    assert.equal(web.connections(), 1)
  })

  it('takes a body of exactly the cap; one byte more is dropped or cut as asked', async () => {
    const bodies: Record<string, number> = { '/at': 100_000, '/over': 100_001 }
    const web = kept(
      await serve(({ url = '' }, response) => {
        const body = Buffer.alloc(bodies[url.replace('/chunked', '')] ?? 0, 'x')
        if (url.startsWith('/chunked')) response.write(body.subarray(0, 9))
        response.end(url.startsWith('/chunked') ? body.subarray(9) : body)
      }),
    )
    const egress = egressTo(web)
    for (const how of ['', '/chunked']) {
      const ask = (path: string, keepsCapped: boolean) =>
        egress.request(web.origin + how + path, { ...request, wireBytesMax: 100_000, keepsCapped })
      const at = await ask('/at', false)
      assert.ok(at.kind === 'answer' && !at.capped && at.body.byteLength === 100_000)
      const dropped = await ask('/over', false)
      assert.ok(dropped.kind === 'answer' && dropped.capped && dropped.body.byteLength === 0)
      const cut = await ask('/over', true)
      assert.ok(cut.kind === 'answer' && cut.capped && cut.body.byteLength === 100_000)
    }
  })

  it('reads no body that is not wanted, and uses the connection again', async () => {
    const web = kept(await serve((_, response) => response.end(Buffer.alloc(30_000))))
    const egress = egressTo(web)
    for (let i = 0; i < 3; i++) {
      const answer = await egress.request(`${web.origin}/`, {
        ...request,
        wantsBody: (status) => status !== 200,
      })
      assert.ok(answer.kind === 'answer' && answer.wireBytes === 0)
    }
    assert.ok(web.connections() <= 2)
  })

  const endless: readonly (readonly [name: string, head: string, reason: string])[] = [
    ['never answers', '', 'timeout'],
    ['trickles headers', 'HTTP/1.1 200 OK\r\nx-', 'timeout'],
    ['trickles a body', 'HTTP/1.1 200 OK\r\n\r\n', 'timeout'],
  ]
  for (const [name, head, reason] of endless) {
    it(`gives a server that ${name} its total time and no more`, async () => {
      const web = kept(
        await serveRaw((socket) => {
          socket.write(head)
          const drip = head === '' ? undefined : setInterval(() => socket.write('x'), 20)
          socket.on('close', () => clearInterval(drip))
        }),
      )
      const beganMs = performance.now()
      const answer = await egressTo(web).request(`${web.origin}/`, {
        ...request,
        totalTimeoutMs: 200,
      })
      assert.equal(answer.kind === 'failed' && answer.reason, reason)
      assert.ok(performance.now() - beganMs < 2_000)
    })
  }

  const broken: readonly (readonly [name: string, raw: string, expected: unknown])[] = [
    [
      'a body shorter than announced',
      'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\npart',
      { truncated: true, body: 'part' },
    ],
    [
      'a chunked body that is cut off',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n9\r\nxx',
      { truncated: true, body: 'partxx' },
    ],
    [
      'a bad chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n',
      { truncated: true, body: 'part' },
    ],
    [
      'a body until the end of the connection',
      'HTTP/1.1 200 OK\r\n\r\nall',
      { truncated: false, body: 'all' },
    ],
    ['no HTTP at all', 'SSH-2.0-OpenSSH\r\n\r\n', 'protocol'],
    [
      'headers of 110 kB, as browsers take them',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(110_000)}\r\n\r\nall`,
      { truncated: false, body: 'all' },
    ],
    ['headers of 300 kB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(300_000)}\r\n\r\n`, 'protocol'],
    [
      'lines without carriage returns',
      'HTTP/1.1 200 OK\nx: y\n\nall',
      { truncated: false, body: 'all' },
    ],
    ['an end before any answer', '', 'reset'],
  ]
  for (const [name, raw, expected] of broken) {
    it(`records ${name}`, async () => {
      const web = kept(await serveRaw((socket) => socket.end(raw, 'latin1')))
      const answer = await egressTo(web).request(`${web.origin}/`, request)
      const got =
        answer.kind === 'answer'
          ? { truncated: answer.truncated, body: Buffer.from(answer.body).toString() }
          : answer.reason
      assert.deepEqual(got, expected)
    })
  }

  it('asks once more, unseen, when a kept connection turns out to be dead', async () => {
    let asked = 0
    const web = kept(
      await serveRaw((socket) => {
        asked += 1
        // The second request finds its connection cut without an answer.
        if (asked === 2) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      }),
    )
    const egress = egressTo(web)
    for (let i = 0; i < 3; i++)
      assert.equal((await egress.request(`${web.origin}/`, request)).kind, 'answer')
    assert.equal(asked, 4)
  })

  it('tries a host that always cuts the connection twice, not for ever', async () => {
    const web = kept(await serveRaw((socket) => socket.destroy()))
    const answer = await egressTo(web).request(`${web.origin}/`, request)
    assert.equal(answer.kind === 'failed' && answer.reason, 'reset')
    assert.equal(web.connections(), 2)
  })

  it('says that nobody listens', async () => {
    const web = await serve((_, response) => response.end())
    await web.close()
    const answer = await egressTo(web).request(`${web.origin}/`, request)
    assert.equal(answer.kind === 'failed' && answer.reason, 'connect')
  })

  it('ends with the signal of the caller, and when it is closed', async () => {
    const web = kept(await serveRaw(() => undefined))
    const egress = egressTo(web)
    const controller = new AbortController()
    const first = egress.request(`${web.origin}/`, { ...request, signal: controller.signal })
    const second = egress.request(`${web.origin}/`, request)
    controller.abort()
    const answer = await first
    assert.equal(answer.kind === 'failed' && answer.reason, 'aborted')
    await egress.close()
    const late = await second
    assert.equal(late.kind === 'failed' && late.reason, 'aborted')
    assert.equal((await egress.request(`${web.origin}/`, request)).kind, 'failed')
  })
})
