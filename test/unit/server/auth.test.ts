/** Keys, sessions and the back-off, on a clock of the test. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '../../../src/lib/errors.ts'
import { clientOf, createGuard, sessionCookie } from '../../../src/server/auth.ts'
import type { Call } from '../../../src/server/call.ts'

const key = 'the-key'

function createWorld(withKey = key, clock = { now: 1_800_000_000_000 }) {
  const guard = createGuard({
    key: withKey,
    hostNames: new Set(['findling.example']),
    cookiePath: '/',
    log: () => undefined,
    now: () => clock.now,
  })
  return { guard, clock }
}

const call = (headers: Record<string, string> = {}, change: Partial<Call> = {}): Call => ({
  method: 'GET',
  path: '/api/v1/admin/jobs',
  query: new Map(),
  params: {},
  body: undefined,
  header: (name) => headers[name],
  cookie: (name) => (name === sessionCookie ? headers['cookie'] : undefined),
  address: '192.0.2.1',
  requestId: 'r',
  ...change,
})
const bearer = (value: string, address = '192.0.2.1') =>
  call({ authorization: `Bearer ${value}` }, { address })
const codeIs = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code

describe('The key', () => {
  it('admits as Bearer, and nothing else does', () => {
    const { guard } = createWorld()
    guard.admit(bearer(key))
    for (const wrong of ['', 'the-kez', 'the-ke', 'the-key2', 'THE-KEY']) {
      assert.throws(() => createWorld().guard.admit(bearer(wrong)), codeIs('auth_required'), wrong)
    }
    assert.throws(() => guard.admit(call()), codeIs('auth_required'))
    assert.throws(
      () => guard.admit(call({ authorization: `Basic ${key}` })),
      codeIs('auth_required'),
    )
  })
  it('has to wait after five wrong ones, twice as long each time, and not for ever', () => {
    const { guard, clock } = createWorld()
    for (let tries = 0; tries < 5; tries += 1) {
      assert.throws(() => guard.admit(bearer('x')), codeIs('auth_required'))
    }
    assert.throws(() => guard.admit(bearer(key)), codeIs('rate_limited'))
    clock.now += 1000
    assert.throws(() => guard.admit(bearer('x')), codeIs('auth_required'))
    clock.now += 1999
    assert.throws(() => guard.admit(bearer(key)), codeIs('rate_limited'))
    clock.now += 1
    guard.admit(bearer(key))
    guard.admit(bearer(key))
  })
  it('lets other addresses go on meanwhile, but not the neighbours in the same /64', () => {
    const { guard } = createWorld()
    for (let tries = 0; tries < 5; tries += 1) {
      assert.throws(() => guard.admit(bearer('x', '2001:db8::1')), codeIs('auth_required'))
    }
    assert.throws(() => guard.admit(bearer(key, '2001:db8::2')), codeIs('rate_limited'))
    guard.admit(bearer(key, '2001:db8:0:1::1'))
    guard.admit(bearer(key, '192.0.2.9'))
  })
  it('stops a flood from many addresses for the rest of the minute', () => {
    const { guard, clock } = createWorld()
    for (let at = 0; at < 1000; at += 1) {
      const address = `10.0.${at >> 8}.${at & 255}`
      assert.throws(() => guard.admit(bearer('x', address)), codeIs('auth_required'))
    }
    assert.throws(() => guard.admit(bearer(key, '192.0.2.77')), codeIs('rate_limited'))
    clock.now += 60_000
    guard.admit(bearer(key, '192.0.2.77'))
  })
})

describe('A session', () => {
  it('lasts twelve hours, over a restart, and not under another key', () => {
    const { guard, clock } = createWorld()
    const { id } = guard.login(call(), key)
    assert.ok(createWorld(key, clock).guard.session(call({ cookie: id })))
    assert.equal(createWorld('other', clock).guard.session(call({ cookie: id })), null)
    clock.now += 12 * 3_600_000
    assert.equal(guard.session(call({ cookie: id })), null)
  })
  it('cannot be prolonged or made up', () => {
    const { guard } = createWorld()
    const { id } = guard.login(call(), key)
    const [, random = '', signature = ''] = id.split('.')
    const later = `zzzzzzzz.${random}.${signature}`
    for (const forged of [later, `${id}x`, id.slice(0, -1), '..', '', `0.${random}.${signature}`]) {
      assert.equal(guard.session(call({ cookie: forged })), null, forged)
    }
  })
  it('reads with the cookie alone, but changes nothing without our origin and the token', () => {
    const { guard } = createWorld()
    const { id, csrf } = guard.login(call(), key)
    const post = (headers: Record<string, string>) =>
      call({ cookie: id, ...headers }, { method: 'POST' })
    guard.admit(call({ cookie: id }))
    guard.admit(post({ 'sec-fetch-site': 'same-origin', 'x-csrf-token': csrf }))
    const refused: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-origin', 'x-csrf-token': 'x' },
      { 'sec-fetch-site': 'cross-site', 'x-csrf-token': csrf },
      { 'sec-fetch-site': 'same-site', 'x-csrf-token': csrf },
      { origin: 'https://evil.example', host: '127.0.0.1:8080', 'x-csrf-token': csrf },
      { origin: 'null', host: '127.0.0.1:8080', 'x-csrf-token': csrf },
    ]
    for (const headers of refused) {
      assert.throws(() => guard.admit(post(headers)), codeIs('forbidden'), JSON.stringify(headers))
    }
  })
  it('has a token of its own', () => {
    const { guard } = createWorld()
    const mine = guard.login(call(), key)
    const yours = guard.login(call(), key)
    assert.notEqual(mine.csrf, yours.csrf)
    assert.throws(() => guard.checkForm(call(), mine, yours.csrf), codeIs('forbidden'))
    guard.checkForm(call(), mine, mine.csrf)
  })
  it('is a cookie that scripts and other sites do not get', () => {
    const { guard } = createWorld()
    const cookie = guard.cookie(guard.login(call(), key))
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/;', 'Max-Age=43200']) {
      assert.ok(cookie.includes(part), part)
    }
    assert.match(guard.cookie(null), /^findling_session=; .*Max-Age=0$/)
  })
})

describe('clientOf', () => {
  const cases: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
  ]
  for (const [address, client] of cases) {
    it(`takes ${address} for ${client}`, () => assert.equal(clientOf(address), client))
  }
})
