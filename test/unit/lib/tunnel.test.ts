/** Requests through proxies: the whole address for http, CONNECT and SOCKS5 for the rest; the guard still judges the target. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, createServer as createRawServer, type AddressInfo, type Server } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createEgress, type Egress, type EgressAnswer } from '../../../src/lib/egress.ts'
import { serve, type Web } from '../../web.ts'

const listening = (server: Server): Promise<number> =>
  new Promise((done) =>
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)),
  )

describe('an egress request through a proxy', () => {
  let web: Web
  let egress: Egress
  const seen: string[] = []
  /** Tells what it was asked and answers itself. */
  const http = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers['proxy-authorization'] ?? '-'}`)
    response.setHeader('content-type', 'text/html')
    response.end('through http')
  })
  /** Speaks SOCKS5 with a password, then joins. */
  const socks = createRawServer((client) => {
    let step = 0
    client.on('error', () => undefined)
    client.on('data', (bytes: Buffer) => {
      step += 1
      if (step === 1) client.write(Buffer.of(5, 2))
      else if (step === 2) {
        seen.push(`socks ${bytes.subarray(2, 4).toString()}`)
        client.write(Buffer.of(1, bytes.toString('latin1').endsWith('secret') ? 0 : 1))
      } else if (step === 3) {
        client.removeAllListeners('data')
        const target = connect(bytes.readUInt16BE(bytes.length - 2), '127.0.0.1', () => {
          client.write(Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0))
          client.pipe(target).pipe(client)
        })
        target.on('error', () => client.destroy())
      }
    })
  })
  let httpPort = 0
  let socksPort = 0
  before(async () => {
    web = await serve((_, response) => response.end('direct'))
    httpPort = await listening(http)
    socksPort = await listening(socks)
    egress = createEgress({ userAgent: 'Test/1', allowPrivate: ['127.0.0.1'] })
    egress.allowPort('127.0.0.1', web.port)
  })
  after(async () => {
    await egress.close()
    await web.close()
    http.close()
    http.closeAllConnections()
    socks.close()
  })
  const ask = (url: string, proxy: string): Promise<EgressAnswer> =>
    egress.request(url, {
      headers: {},
      totalTimeoutMs: 5_000,
      headersTimeoutMs: 5_000,
      wireBytesMax: 1_000,
      proxy,
    })
  const bodyOf = (answer: EgressAnswer): string =>
    answer.kind === 'answer' ? Buffer.from(answer.body).toString() : JSON.stringify(answer)

  it('tells an http proxy the whole address and its password', async () => {
    const answer = await ask('http://site.example/a?b', `http://me:secret@127.0.0.1:${httpPort}`)
    assert.equal(bodyOf(answer), 'through http')
    assert.equal(seen.at(-1), `http://site.example/a?b Basic ${btoa('me:secret')}`)
  })

  it('goes through SOCKS5 with a password', async () => {
    const answer = await ask(`${web.origin}/`, `socks5://me:secret@127.0.0.1:${socksPort}`)
    assert.equal(bodyOf(answer), 'direct')
    assert.equal(seen.at(-1), 'socks me')
  })

  const faults: readonly (readonly [name: string, url: () => string, proxy: () => string])[] = [
    ['a wrong password', () => `${web.origin}/`, () => `socks5://me:no@127.0.0.1:${socksPort}`],
    ['a proxy that is not there', () => 'http://site.example/', () => 'http://127.0.0.1:9'],
    ['a CONNECT refused', () => 'https://site.example/', () => `http://127.0.0.1:${httpPort}`],
  ]
  for (const [name, url, proxy] of faults) {
    it(`blames the proxy for ${name}`, async () => {
      const answer = await ask(url(), proxy())
      assert.ok(answer.kind === 'failed' && answer.reason === 'proxy', JSON.stringify(answer))
      assert.doesNotMatch(JSON.stringify(answer), /secret/)
    })
  }

  it('refuses a private target all the same', async () => {
    const answer = await ask('http://10.0.0.1/', `http://127.0.0.1:${httpPort}`)
    assert.deepEqual([answer.kind, 'reason' in answer && answer.reason], ['refused', 'address'])
  })

  it('never takes this program for a proxy', async () => {
    egress.refuseOwn('127.0.0.1', httpPort)
    const answer = await ask('http://other.example/', `http://127.0.0.1:${httpPort}`)
    assert.deepEqual([answer.kind, 'reason' in answer && answer.reason], ['refused', 'own'])
  })
})
