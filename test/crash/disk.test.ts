/** A full disk: the crawl pauses and says so, search goes on, and the crawl goes on by itself when there is room. Needs root for a small tmpfs. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { eventually, localServe, run, serve } from '../e2e/program.ts'
import type { Json, Server } from '../e2e/program.ts'
import { startSite } from '../site/site.ts'
import type { Site } from '../site/site.ts'

const folder = mkdtempSync(join(tmpdir(), 'findling-disk-'))
const diskMb = 40
const lowWaterMb = 12

/** Why it cannot run here, or false. A mount in this namespace is the only way that both sides see the same small disk. */
function mountSmallDisk(): string | false {
  if (process.getuid?.() !== 0) return 'only root may mount a small disk'
  const mounted = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${diskMb}m`,
    'findling-test',
    folder,
  ])
  return mounted.status === 0 ? false : `mount: ${mounted.stderr.toString().trim()}`
}

const skip = mountSmallDisk()

describe('a full disk', { skip }, () => {
  const data = join(folder, 'data')
  const ballast = join(folder, 'ballast')
  let site: Site
  let server: Server
  before(async () => {
    site = await startSite({ seed: 51, pages: 200, faults: [], delayMs: 20 })
    mkdirSync(data)
    server = await serve(['--data', data, ...localServe, '--disk-free-mb', String(lowWaterMb)])
  })
  after(async () => {
    await server?.stop()
    await site?.close()
  })

  const job = async (): Promise<Json> =>
    (
      await server.api('/api/v1/admin/jobs', {
        headers: { authorization: `Bearer ${server.key}` },
      })
    ).body.jobs[0]

  it('pauses the crawl with a clear state, answers searches, and goes on when there is room', async () => {
    const started = await server.api('/api/v1/admin/jobs', {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ seeds: [site.url], delayMs: 0 }),
    })
    assert.equal(started.status, 201, JSON.stringify(started.body))
    await eventually(job, ({ counts }) => counts.stored > 20)
    fill(ballast)
    const paused = await eventually(job, ({ note, state }) => state !== 'running' && note !== '')
    assert.match(paused.note, /disk|room|full|free/i)
    const asked = site.requests.length
    const found = await server.api('/api/v1/search?q=harbour')
    assert.equal(found.status, 200)
    assert.ok(found.body.hits.length > 0, 'search goes on')
    assert.equal((await server.api('/livez')).status, 200)
    assert.ok(site.requests.length - asked < 20, 'nothing more is fetched than was under way')
    rmSync(ballast)
    const done = await eventually(job, ({ state }) => state === 'done', 60_000)
    assert.equal(done.queued, 0)
    const { body } = await server.api('/api/v1/stats')
    assert.equal(body.documents, site.expected().stored.length)
    assert.equal((await server.stop()).code, 0)
    assert.equal((await run(['check', '--data', data])).code, 0)
  })
})

/** Writes until nothing more fits. */
function fill(file: string): void {
  const piece = Buffer.alloc(64 * 1024, 'x')
  for (let pieces = 0; pieces < diskMb * 32; pieces++) {
    try {
      writeFileSync(file, piece, { flag: 'a' })
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
      return
    }
  }
  throw new Error('the disk is larger than it should be')
}

after(() => {
  if (skip === false) execFileSync('umount', ['-l', folder])
  rmSync(folder, { recursive: true, force: true })
})
