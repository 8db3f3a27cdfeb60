/** The door out over TLS: certificates are always verified, and a server of HTTP/2 alone is understood at the second try. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createEgress, type EgressAnswer } from '../../../src/lib/egress.ts'

const hasOpenssl = spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0
const skip =
  hasOpenssl || process.env['CI'] === 'true'
    ? false
    : 'openssl makes the certificates and is missing'

describe('the door out over TLS', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'findling-tls-'))
  let cert: string
  let closeServers: () => void
  /** Ports of a server that speaks both versions of HTTP and of one that speaks HTTP/2 alone. */
  let both = 0
  let http2Only = 0

  before(async () => {
    const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'cert')]
    const names = ['-subj', '/CN=h.test', '-addext', 'subjectAltName=DNS:h.test', '-days', '2']
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...names], { stdio: 'ignore' })
    cert = readFileSync(join(folder, 'cert'), 'utf8')
    const key = readFileSync(join(folder, 'key'), 'utf8')
    const servers = [true, false].map((allowHTTP1) =>
      createSecureServer({ key, cert, allowHTTP1 }, (request, response) => {
        response.end(`version ${request.httpVersion}`)
      }),
    )
    closeServers = () => servers.forEach((server) => server.close())
    const ports = servers.map(
      (server) =>
        new Promise<number>((done) =>
          server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)),
        ),
    )
    both = (await ports[0]) ?? 0
    http2Only = (await ports[1]) ?? 0
  })
  after(() => {
    closeServers()
    rmSync(folder, { recursive: true })
  })

  async function ask(host: string, port: number, ca?: string): Promise<EgressAnswer> {
    const egress = createEgress({
      userAgent: 'Test/1',
      allowPrivate: ['127.0.0.1'],
      extraPorts: [`${host}:${port}`],
      dnsLookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      ...(ca === undefined ? {} : { ca }),
    })
    const times = { totalTimeoutMs: 5_000, headersTimeoutMs: 5_000 }
    const answer = await egress.request(`https://${host}:${port}/`, {
      headers: {},
      wireBytesMax: 999,
      ...times,
    })
    await egress.close()
    return answer
  }
  const told = (answer: EgressAnswer): string =>
    answer.kind === 'answer' ? Buffer.from(answer.body).toString() : answer.reason

  it('speaks HTTP/1.1 where the server can', async () => {
    assert.equal(told(await ask('h.test', both, cert)), 'version 1.1')
  })

  it('speaks HTTP/2 where the server speaks nothing else', async () => {
    assert.equal(told(await ask('h.test', http2Only, cert)), 'version 2.0')
  })

  it('trusts no unknown authority, whatever the environment says', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      assert.equal(told(await ask('h.test', both)), 'tls')
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    }
  })

  it('trusts no certificate of another name, and none for a bare address', async () => {
    assert.equal(told(await ask('other.test', both, cert)), 'tls')
    assert.equal(told(await ask('127.0.0.1', both, cert)), 'tls')
  })
})
