/** Runs of sources and what was learned of hosts, over the API and on the administrator's pages. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { answers } from '../../../src/server/api-schemas.ts'
import { checkValue } from '../../../src/server/json-schema.ts'
import type { Schema } from '../../../src/server/json-schema.ts'
import type { HostStatus, RunStatus } from '../../../src/server/control.ts'
import { key, signIn, startServer, type Started } from './ports.ts'

const counts = {
  fetched: 7,
  stored: 5,
  unchanged: 1,
  copies: 0,
  redirects: 0,
  gone: 1,
  refused: 0,
  failed: 0,
  bytes: 900,
}
const run: RunStatus = {
  cause: 'schedule',
  state: 'done',
  started_at: '2026-11-29T03:00:00.000Z',
  ended_at: '2026-11-29T03:02:00.000Z',
  counts,
  note: '',
}
const skipped: RunStatus = { ...run, state: 'skipped', note: 'the run <before> was under way' }
const learned: HostStatus = {
  origin: 'http://shop.example',
  failures: 12,
  rests_until: '2026-11-29T04:00:00.000Z',
  shapes: [
    { shape: '/shop?*', state: 'closed', fetched: 90, fresh: 3, copies: 1, visits_left: 0 },
    { shape: '/item/#', state: 'open', fetched: 9, fresh: 9, copies: 0, visits_left: 44 },
  ],
  parameters: [{ name: 'sid', state: 'closed', same: 3, differing: 0 }],
}
const admin = { authorization: `Bearer ${key}` }
const json = { 'content-type': 'application/json' }

let server: Started
before(async () => {
  server = await startServer()
  const source = { name: '新闻 1', seeds: ['https://a.example/'], schedule: '0 3 * * *' }
  server.crawl.described.set('新闻 1', {
    name: '新闻 1',
    changed_at: run.started_at,
    next_run: '2026-11-30T03:00:00.000Z',
    source,
  })
  server.crawl.runsMade.set('新闻 1', [skipped, run])
})
after(() => server.close())

const sourcePath = `sources/${encodeURIComponent('新闻 1')}`
async function answerOf(path: string, schema: Schema, init: RequestInit = {}): Promise<unknown> {
  const answer = await fetch(server.url + path, { headers: { ...admin, ...json }, ...init })
  assert.equal(answer.status, 200)
  const value: unknown = await answer.json()
  assert.deepEqual(checkValue(schema, value), [])
  return value
}
const decide = (body: object, headers: Record<string, string> = admin): Promise<Response> =>
  fetch(`${server.url}/api/v1/admin/hosts/${encodeURIComponent(learned.origin)}/rules`, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  })

describe('The API', () => {
  it('shows the runs of a source, and when the next one is', async () => {
    const { runs } = (await answerOf(`/api/v1/admin/${sourcePath}/runs`, answers.Runs)) as {
      runs: RunStatus[]
    }
    assert.deepEqual(runs, [skipped, run])
    const source = (await answerOf(`/api/v1/admin/${sourcePath}`, answers.Source)) as {
      next_run: string
    }
    assert.equal(source.next_run, '2026-11-30T03:00:00.000Z')
  })

  it('shows what was learned of hosts, and lets it be undone', async () => {
    server.crawl.learned.set(learned.origin, learned)
    await answerOf('/api/v1/admin/hosts', answers.Hosts)
    const body = JSON.stringify({ kind: 'shape', name: '/shop?*', state: 'kept' })
    const path = `/api/v1/admin/hosts/${encodeURIComponent(learned.origin)}`
    const decided = (await answerOf(`${path}/rules`, answers.Host, {
      method: 'POST',
      headers: { ...admin, ...json },
      body,
    })) as HostStatus
    assert.equal(decided.shapes[0]?.state, 'kept')
    assert.deepEqual(await answerOf(path, answers.Host), decided)
  })

  it('refuses strangers, unknown hosts and decisions that mean nothing', async () => {
    const good = { kind: 'parameter', name: 'sid', state: 'open' }
    assert.equal((await decide(good, {})).status, 401)
    assert.equal((await decide({ ...good, state: 'gone' })).status, 400)
    assert.equal((await decide({ kind: 'shape', name: '/a' })).status, 400)
    const unknown = await fetch(`${server.url}/api/v1/admin/hosts/none.example`, { headers: admin })
    assert.equal(unknown.status, 404)
  })
})

describe("The administrator's pages", () => {
  const load = async (path: string, ui = 'en'): Promise<string> => {
    const { cookie } = await signIn(server.url)
    const answer = await fetch(`${server.url}${path}?ui=${ui}`, { headers: { cookie } })
    assert.equal(answer.status, 200, path)
    return answer.text()
  }

  it('list the sources with their next runs', async () => {
    const page = await load('/admin')
    assert.match(page, /href="\.\/admin\/sources\/%E6%96%B0%E9%97%BB%201"[^>]*>\s*新闻 1/)
    assert.match(page, /0 3 \* \* \*/)
    assert.match(page, /datetime="2026-11-30T03:00:00.000Z"/)
  })

  for (const [ui, word] of [
    ['en', 'Skipped'],
    ['zh-CN', '已跳过'],
    ['zh-TW', '已略過'],
  ] as const)
    it(`show the runs of a source in ${ui}`, async () => {
      const page = await load(`/admin/${sourcePath}`, ui)
      assert.ok(page.includes(word))
      assert.ok(page.includes('the run &lt;before&gt; was under way'))
    })

  it('show what was put aside, and allow it by a form of their own', async () => {
    server.crawl.learned.set(learned.origin, learned)
    const page = await load('/admin/hosts')
    assert.match(page, /<code>\/shop\?\*<\/code>/)
    assert.match(page, /<code>sid<\/code>/)
    assert.ok(!page.includes('/item/#'), 'what is only watched is no news')
    assert.match(page, /Rests until .* after 12 failures/)
    const { cookie, csrf } = await signIn(server.url)
    const send = (token: string): Promise<Response> =>
      fetch(`${server.url}/admin/hosts`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: server.url },
        body: new URLSearchParams({
          csrf: token,
          host: learned.origin,
          kind: 'parameter',
          name: 'sid',
          state: 'kept',
        }),
      })
    assert.equal((await send('forged')).status, 403)
    assert.equal(server.crawl.learned.get(learned.origin)?.parameters[0]?.state, 'closed')
    assert.equal((await send(csrf)).status, 303)
    assert.equal(server.crawl.learned.get(learned.origin)?.parameters[0]?.state, 'kept')
  })

  it('start a source at once', async () => {
    const { cookie, csrf } = await signIn(server.url)
    const answer = await fetch(`${server.url}/admin/${sourcePath}/crawl`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: server.url },
      body: new URLSearchParams({ csrf }),
    })
    assert.equal(answer.status, 303)
    const to = new URL(answer.headers.get('location') ?? '', `${server.url}/admin/${sourcePath}/`)
    assert.match(to.pathname, /jobs\/\d+$/)
    assert.equal(server.crawl.specs.at(-1)?.source, '新闻 1')
  })

  it('ask strangers for the key', async () => {
    for (const path of ['/admin/hosts', `/admin/${sourcePath}`])
      assert.equal((await fetch(server.url + path)).status, 401)
  })
})
