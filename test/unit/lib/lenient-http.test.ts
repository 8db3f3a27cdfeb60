/** Replies that break the grammar of HTTP: what the strict reader refuses is read once more, as browsers read it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEgress, type Egress, type EgressAnswer } from '../../../src/lib/egress.ts'
import { readReply } from '../../../src/lib/lenient-http.ts'
import { serveRaw, type Web } from '../../web.ts'

const text = 'All of the page.'
const length = `content-length: ${text.length}`
const chunked = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`

/** Each says `text` in its own broken way. */
const broken: Readonly<Record<string, string>> = {
  'line feeds alone': `HTTP/1.1 200 OK\ncontent-type: text/html\n\n${text}`,
  'no blank after the version': `HTTP/1.1200 OK\r\n\r\n${text}`,
  'an interim reply before': `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n${length}\r\n\r\n${text}`,
  'one length twice': `HTTP/1.1 200 OK\r\n${length}\r\n${length}\r\n\r\n${text}`,
  'two lengths, the first right': `HTTP/1.1 200 OK\r\n${length}\r\ncontent-length: 3\r\n\r\n${text}`,
  'a list of lengths': `HTTP/1.1 200 OK\r\n${length}, ${text.length}\r\n\r\n${text}`,
  'a length that is no number': `HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n${text}`,
  'a length and chunks': `HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n${chunked}`,
  'chunks that are none': `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${text}`,
  'a blank before a colon': `HTTP/1.1 200 OK\r\nx-a : b\r\n\r\n${text}`,
  'a header without a colon': `HTTP/1.1 200 OK\r\nnonsense\r\n\r\n${text}`,
  'controls in a header': `HTTP/1.1 200 OK\r\nx-a: b\0\x01c\r\n\r\n${text}`,
  'a folded header': `HTTP/1.1 200 OK\r\nx-a: b\r\n  c\r\n\r\n${text}`,
  'a header name beyond ASCII': `HTTP/1.1 200 OK\r\nx-\xe4: b\r\n\r\n${text}`,
  'a header of 100 kB': `HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(100_000)}\r\n\r\n${text}`,
  'another protocol by name': `ICY 200 OK\r\n\r\n${text}`,
  'HTTP/2 in words': `HTTP/2 200 \r\n\r\n${text}`,
}

describe('an egress request to a server that breaks HTTP', () => {
  let reply = ''
  let web: Web
  let egress: Egress
  before(async () => {
    web = await serveRaw((socket) => socket.end(reply, 'latin1'))
    egress = createEgress({ userAgent: 'Test/1', allowPrivate: ['127.0.0.1'] })
    egress.allowPort('127.0.0.1', web.port)
  })
  after(async () => {
    await egress.close()
    await web.close()
  })
  const ask = (more: { wireBytesMax?: number; post?: boolean } = {}): Promise<EgressAnswer> =>
    egress.request(`${web.origin}/`, {
      headers: {},
      totalTimeoutMs: 5_000,
      headersTimeoutMs: 5_000,
      wireBytesMax: more.wireBytesMax ?? 1_000,
      ...(more.post === true ? { post: { type: 'text/plain', body: 'x' } } : {}),
    })

  for (const [name, raw] of Object.entries(broken)) {
    it(`reads through ${name}`, async () => {
      reply = raw
      const answer = await ask()
      assert.ok(answer.kind === 'answer', JSON.stringify(answer))
      assert.equal(Buffer.from(answer.body).toString(), text)
      assert.deepEqual([answer.status, answer.truncated, answer.capped], [200, false, false])
    })
  }

  for (const raw of ['', 'hello', '<p>text</p>', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(300_000)}`]) {
    it(`fails for ${JSON.stringify(raw.slice(0, 20))}`, async () => {
      reply = raw
      assert.equal((await ask()).kind, 'failed')
    })
  }

  it('keeps the cap on the body', async () => {
    reply = broken['line feeds alone'] ?? ''
    const answer = await ask({ wireBytesMax: 5 })
    assert.ok(answer.kind === 'answer' && answer.capped && answer.body.byteLength === 0)
  })

  it('repeats no POST', async () => {
    reply = broken['line feeds alone'] ?? ''
    const connections = web.connections()
    assert.equal((await ask({ post: true })).kind, 'failed')
    assert.equal(web.connections(), connections + 1)
  })
})

describe('readReply', () => {
  const read = (raw: string): ReturnType<typeof readReply> => readReply(Buffer.from(raw, 'latin1'))
  it('marks what ends early', () => {
    assert.equal(read('HTTP/1.1 200 OK\n\nx')?.truncated, false)
    assert.equal(read('HTTP/1.1 200 OK\ncontent-length: 2\n\nx')?.truncated, true)
    assert.equal(read('HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n2\nx')?.truncated, true)
    assert.equal(read('HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n1\nx\n')?.truncated, true)
  })
  it('keeps headers that stand several times', () => {
    const headers = read('HTTP/1.1 200 OK\nset-cookie: a=1\nset-cookie: b=2\n\n')?.headers
    assert.deepEqual({ ...headers }, { 'set-cookie': ['a=1', 'b=2'] })
  })
  it('reads a megabyte of anything in linear time', () => {
    const start = process.cpuUsage()
    for (const piece of ['\n', 'a: b\n', 'HTTP/1.1 100 x\n\n', ' \n', '1\n'])
      read(`HTTP/1.1 200 OK\ntransfer-encoding: chunked\n${piece.repeat(1e6 / piece.length)}`)
    const { user, system } = process.cpuUsage(start)
    assert.ok((user + system) / 1_000 < 1_000, `${(user + system) / 1_000} ms`)
  })
})
