/** A server from its start to its end: crawling while it answers, whom it answers, and what it does when too much is asked. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { startSite } from '../site/site.ts'
import type { Site } from '../site/site.ts'
import { eventually, localServe, makeDirectory, run, serve } from './program.ts'
import type { Json, Server } from './program.ts'

describe('serve --crawl URL', () => {
  const directory = makeDirectory()
  let site: Site
  before(async () => {
    site = await startSite({ seed: 31, pages: 90, faults: ['redirects', 'robots'], delayMs: 30 })
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('crawls and answers at once, ends in order, and is complete after another start', async (t) => {
    const args = ['--data', directory.path, ...localServe, '--crawl', site.url]
    const server = await serve(args)
    t.after(() => server.stop())
    const hits = async (): Promise<number> =>
      (await server.api('/api/v1/search?q=harbour')).body.hits.length
    await eventually(hits, (found) => found > 0)
    const { body } = await server.api('/api/v1/stats')
    assert.ok(
      body.documents < site.expected().stored.length,
      'a stored page is found while the crawl runs',
    )
    const stopped = await server.stop()
    assert.deepEqual([stopped.code, stopped.signal], [0, null], stopped.stderr)
    const again = await serve(args)
    t.after(() => again.stop())
    const { stored } = site.expected()
    const documents = async (): Promise<number> => (await again.api('/api/v1/stats')).body.documents
    await eventually(documents, (value) => value === stored.length)
    assert.equal(again.key, server.key, 'the key stays the same')
    assert.equal((await again.stop()).code, 0)
    assert.equal((await run(['check', '--data', directory.path])).code, 0)
  })
})

describe('a server under attack and load', () => {
  const directory = makeDirectory()
  const small = ['--search-queue', '4']
  let server: Server
  before(async () => {
    // Long documents of few words: each query has much to read, so the queue fills.
    const words = ['river', 'stone', 'cloud', 'paper', 'winter', 'garden', 'market', 'copper']
    const lines = Array.from({ length: 4000 }, (_, at) => {
      const text = Array.from({ length: 60 }, (_each, i) => words[(at * 7 + i * i * 3) % 8]).join(
        ' ',
      )
      return JSON.stringify({ url: `https://load.example/${at}`, title: `Page ${at}`, text })
    })
    const imported = await run(['import', '-', '--no-dedupe', '--data', directory.path], {
      stdin: lines.join('\n'),
    })
    assert.equal(imported.code, 0, imported.stderr)
    server = await serve(['--data', directory.path, ...small])
  })
  after(async () => {
    await server.stop()
    directory.remove()
  })

  /** fetch sets the Host header itself, so this goes one floor deeper. */
  const statusUnderHost = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const call = request(`${server.url}/api/v1/stats`, { headers: { host } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      call.on('error', reject)
      call.end()
    })

  it('answers under addresses and localhost, and 421 under any other name', async () => {
    assert.equal(await statusUnderHost('127.0.0.1'), 200)
    assert.equal(await statusUnderHost('localhost:8080'), 200)
    assert.equal(await statusUnderHost('rebound.example'), 421)
    assert.equal(await statusUnderHost('localhost.rebound.example'), 421)
  })

  it('tells a command what is wrong and what to do about it once', async () => {
    const { code, stderr } = await run(['crawl', 'htp:/x', '--data', directory.path])
    assert.equal(code, 64)
    assert.equal(
      stderr,
      'findling: seeds/0 is no http or https address: htp:/x. Correct the parameter.\n',
    )
  })

  it('answers some searches and refuses the rest with Retry-After, while /livez stays quick', async () => {
    const queries = Array.from({ length: 300 }, (_, at) =>
      server.api(`/api/v1/search?q=river+stone+cloud+paper+winter+${at}&match=any`),
    )
    const slowest = measureLiveness(server, queries)
    const answers = await Promise.all(queries)
    const count = (status: number): number =>
      answers.filter((each) => each.status === status).length
    assert.equal(count(200) + count(503), answers.length)
    assert.ok(count(200) > 0, 'some are answered')
    assert.ok(count(503) > 0, 'some are refused')
    for (const refused of answers.filter(({ status }) => status === 503)) {
      assert.ok(Number(refused.headers.get('retry-after')) >= 1)
      assert.equal(refused.body.code, 'overloaded')
    }
    // Generous for a noisy machine: without admission control this takes many seconds.
    assert.ok((await slowest) < 2_000, `${await slowest} ms`)
    const calm = await server.api('/api/v1/search?q=river')
    assert.equal(calm.status, 200, 'and all is well afterwards')
  })

  it('survives what is no HTTP, and queries of every kind', async () => {
    const odd = [`"`, `-`, `site:`, `((((`, `"a -b .`, `\u0000`, `%ff`, '🏮', 'OR OR OR', `don't "`]
    for (const q of odd) {
      const { status } = await server.api(`/api/v1/search?q=${encodeURIComponent(q)}`)
      assert.ok(status === 200 || status === 400, `${q}: ${status}`)
    }
  })
})

/** The longest that /livez took while the others were under way, in ms. */
async function measureLiveness(server: Server, others: readonly Promise<Json>[]): Promise<number> {
  const load = { isOver: false }
  void Promise.allSettled(others).then(() => (load.isOver = true))
  let slowestMs = 0
  do {
    const beganMs = performance.now()
    assert.equal((await server.api('/livez')).status, 200)
    slowestMs = Math.max(slowestMs, performance.now() - beganMs)
  } while (!load.isOver)
  return slowestMs
}
