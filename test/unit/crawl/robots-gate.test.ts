/** Who asks robots.txt, when, and what a site that is down gets. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRobotsGate, type RobotsFetch } from '../../../src/crawl/robots-gate.ts'
import type { StoredRobots } from '../../../src/store/hosts.ts'

const rules = (text: string): RobotsFetch => ({
  verdict: 'rules',
  status: 200,
  text: Buffer.from(text),
  cacheMs: 60_000,
})
const open: RobotsFetch = { verdict: 'open', status: 404, text: null, cacheMs: 60_000 }
const closed: RobotsFetch = { verdict: 'closed', status: 503, text: null, cacheMs: 600_000 }

/** A gate whose robots.txt answers `answers` in turn, the last one for ever. */
function gateWith(...answers: RobotsFetch[]) {
  const asked: string[] = []
  const kept = new Map<string, StoredRobots>()
  const openGate = () =>
    createRobotsGate(
      'Findling',
      (origin) => {
        asked.push(origin)
        const answer = answers[Math.min(asked.length, answers.length) - 1]
        assert.ok(answer)
        return Promise.resolve(answer)
      },
      (origin) => kept.get(origin) ?? null,
      (origin, robots) => void kept.set(origin, robots),
    )
  return { gate: openGate(), reopen: openGate, asked }
}

describe('the robots gate', () => {
  it('asks once for many pages of a host, also when they come at once', async () => {
    const { gate, asked } = gateWith(rules('User-agent: *\nDisallow: /private'))
    const judged = await Promise.all(
      ['/a', '/private/b', '/c'].map((path) => gate.judge(`http://a.test${path}`, 0)),
    )
    assert.deepEqual(
      judged.map(({ kind }) => kind),
      ['allowed', 'refused', 'allowed'],
    )
    assert.deepEqual(asked, ['http://a.test'])
    await gate.judge('http://a.test:81/', 0)
    assert.equal(asked.length, 2)
  })

  it('names the rule and its line', async () => {
    const { gate } = gateWith(rules('User-agent: *\nDisallow: /private'))
    const judged = await gate.judge('http://a.test/private', 0)
    assert.ok(judged.kind === 'refused')
    assert.equal(judged.line, 2)
    assert.match(judged.rule, /\/private/)
  })

  it('asks again when the answer has expired', async () => {
    const { gate, asked } = gateWith(open)
    await gate.judge('http://a.test/', 0)
    await gate.judge('http://a.test/', 59_999)
    assert.equal(asked.length, 1)
    await gate.judge('http://a.test/', 60_000)
    assert.equal(asked.length, 2)
  })

  it('obeys Crawl-delay up to a minute', async () => {
    for (const [given, wanted] of [
      ['2', 2_000],
      ['61', 60_000],
    ] as const) {
      const { gate } = gateWith(rules(`User-agent: *\nCrawl-delay: ${given}\nDisallow: /x`))
      assert.deepEqual(await gate.judge('http://a.test/', 0), { kind: 'allowed', delayMs: wanted })
    }
  })

  it('closes a host whose robots.txt fails, asks twice more with the retries, then leaves it alone', async () => {
    const { gate, asked } = gateWith(closed)
    for (const atMs of [0, 10, 999])
      assert.equal((await gate.judge('http://a.test/', atMs)).kind, 'closed')
    assert.equal(asked.length, 1)
    for (const atMs of [2_000, 10_000, 20_000, 300_000]) await gate.judge('http://a.test/', atMs)
    assert.equal(asked.length, 3)
    await gate.judge('http://a.test/', 610_001)
    assert.equal(asked.length, 4)
  })

  it('opens again as soon as robots.txt answers', async () => {
    const { gate } = gateWith(closed, open)
    assert.equal((await gate.judge('http://a.test/', 0)).kind, 'closed')
    assert.equal((await gate.judge('http://a.test/', 2_000)).kind, 'allowed')
  })

  it('remembers rules over a restart, and asks anew where the host was closed', async () => {
    const ruled = gateWith(rules('User-agent: *\nDisallow: /'))
    await ruled.gate.judge('http://a.test/', 0)
    assert.equal((await ruled.reopen().judge('http://a.test/', 1)).kind, 'refused')
    assert.equal(ruled.asked.length, 1)
    const down = gateWith(closed, open)
    await down.gate.judge('http://a.test/', 0)
    assert.equal((await down.reopen().judge('http://a.test/', 1)).kind, 'allowed')
  })

  it('recalls what it knows without asking', async () => {
    const { gate, asked } = gateWith(open)
    assert.equal(gate.recall('http://a.test/'), null)
    await gate.judge('http://a.test/', 0)
    assert.equal(gate.recall('http://a.test/x')?.kind, 'allowed')
    assert.equal(asked.length, 1)
  })
})
