/** Described sources with secrets in them: what is kept, what is shown, and what is used. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openCrawl } from './crawl-fixture.ts'

const secrets = ['hush-header', 'hush-password', 'hush-proxy']
const given = {
  name: 'club',
  seeds: ['https://club.test/'],
  http: {
    headers: { 'X-Key': 'hush-header' },
    login: { url: 'https://login.test/in', fields: { user: 'me', password: 'hush-password' } },
    proxies: ['http://user:hush-proxy@proxy.test:3128'],
  },
}
const secretsIn = (value: unknown): string[] => {
  const text = JSON.stringify(value)
  return secrets.filter((secret) => text.includes(secret))
}

describe('a described source with secrets', () => {
  const { described, crawl } = openCrawl({})

  it('is answered and listed without them', () => {
    assert.deepEqual(secretsIn(described.put(given)), [])
    assert.deepEqual(secretsIn(described.all()), [])
    assert.match(JSON.stringify(described.all()), /"X-Key":"\*\*\*"/)
  })

  it('keeps them when it comes back as it was shown', () => {
    const [shown] = described.all()
    assert.ok(shown !== undefined)
    described.put({ ...(shown.source as object), seeds: ['https://club.test/', 'https://b.test/'] })
    const { http, homes } = described.httpOf('club')
    assert.equal(http.headers['x-key'], 'hush-header')
    assert.equal(http.login?.fields['password'], 'hush-password')
    assert.deepEqual(http.proxies, ['http://user:hush-proxy@proxy.test:3128/'])
    assert.deepEqual(homes, ['https://club.test/', 'https://b.test/', 'https://login.test/in'])
  })

  it('tells none of them to its jobs', () => {
    const job = crawl.start(described.wishOf('club'))
    assert.deepEqual(secretsIn(job), [])
    assert.deepEqual(secretsIn(crawl.jobs()), [])
    crawl.setState(job.id, 'stopped')
  })

  it('is refused where it hides what was never said, and where the environment lacks a secret', () => {
    const hidden = { ...given, name: 'other' }
    const shown = { ...hidden, http: { headers: { 'X-Key': '***' } } }
    assert.throws(() => described.put(shown), {
      code: 'invalid_parameter',
      message: /http\.headers\.X-Key/,
    })
    const absent = { ...hidden, http: { headers: { 'X-Key': { env: 'FINDLING_TEST_ABSENT' } } } }
    assert.throws(() => described.put(absent), { message: /has no FINDLING_TEST_ABSENT/ })
    assert.equal(described.get('other'), null)
  })

  it('is asked for by nobody else', () =>
    assert.deepEqual(described.httpOf('unknown').http.headers, {}))
})
