/** Server-side request forgery: no attack reaches a forbidden address, be it a page, robots.txt or a redirect (a network of its own, canaries on it). */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { attacks, type Report } from './ssrf-attacks.ts'

const world = resolve(import.meta.dirname, 'ssrf-world.ts')
/** As root a namespace is ours to make; otherwise together with a user namespace, where the kernel allows it. */
const namespaces = process.getuid?.() === 0 ? ['-n', '-m'] : ['-r', '-n', '-m']

const canIsolate = (): boolean =>
  spawnSync('unshare', [...namespaces, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' })
    .status === 0

const skip = canIsolate()
  ? false
  : 'no private network here: unshare or ip is missing or not allowed'

describe('server-side request forgery', { skip }, () => {
  let report: Report
  before(() => {
    // The environment of a proxy must not matter either.
    const env = { ...process.env, HTTP_PROXY: 'http://127.0.0.1:80', NODE_USE_ENV_PROXY: '0' }
    const child = spawnSync('unshare', [...namespaces, process.execPath, world], {
      env,
      encoding: 'utf8',
      timeout: 120_000,
    })
    assert.equal(child.status, 0, child.stderr)
    report = JSON.parse(child.stdout) as Report
  })

  it('gets through to the canaries from a client without a guard', () => {
    assert.equal(report.attacks, attacks.length)
    assert.ok(report.plain.leaks >= 20 && report.plain.hits >= 20, JSON.stringify(report.plain))
  })

  it('gets no page, no redirect and no robots.txt through the guard', () => {
    const { leaks, robotsLeaks, hits } = report.guarded
    assert.deepEqual(
      { leaks, robotsLeaks, hits },
      { leaks: 0, robotsLeaks: 0, hits: 0 },
      report.guarded.kinds.join('\n'),
    )
  })

  it('leaves the public network open', () => assert.ok(report.guarded.pages > 0))

  it('is recorded, attack by attack, with its reason', () => {
    assert.equal(report.guarded.kinds.length, attacks.length)
    for (const kind of report.guarded.kinds)
      assert.match(kind, / (refused guard-\w+|failed bad-redirect|page )/)
  })
})
