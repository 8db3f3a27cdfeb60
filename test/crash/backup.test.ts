/** Backups taken while a crawl runs and is killed: each restores to sound data, from which the crawl goes on to the same end. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { jsonLines, localCrawl, makeDirectory, run, start } from '../e2e/program.ts'
import { startSite } from '../site/site.ts'
import type { Site } from '../site/site.ts'
import { createRandom } from '../site/words.ts'

const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['CRASH_BACKUPS'] ?? 3)
/** Long enough that a crawl outlives the start of a backup, in small batches so that there is something to tear apart. */
const pageDelayMs = 20
const crawlArgs = (site: Site, data: string): string[] => [
  'crawl',
  site.url,
  '--data',
  data,
  ...localCrawl,
  '--batch-pages',
  '10',
  '-f',
  'json',
]

describe(`a backup during a crawl that is killed (CRASH_SEED=${seed} CRASH_BACKUPS=${rounds})`, () => {
  const random = createRandom(seed)
  const directory = makeDirectory()
  const folder = join(directory.path, '..')
  const backups = join(folder, 'backups')
  let site: Site
  before(async () => {
    mkdirSync(backups)
    site = await startSite({ seed: 43, pages: 200, faults: ['redirects'], delayMs: pageDelayMs })
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('restores to data that check accepts', { timeout: 240_000 }, async (t) => {
    const stored: number[] = []
    for (let round = 1; round <= rounds; round++) {
      const crawl = start(crawlArgs(site, directory.path))
      await untilRequests(site, site.requests.length + 20)
      const file = join(backups, `round-${round}.tar.zst`)
      const backup = start(['backup', file, '--data', directory.path])
      await new Promise((resolve) => setTimeout(resolve, random() * 900))
      crawl.child.kill('SIGKILL')
      const [killed, saved] = await Promise.all([crawl.ended, backup.ended])
      assert.equal(killed.signal, 'SIGKILL', 'the crawl was over too early')
      assert.equal(saved.code, 0, saved.stderr)
      const restored = join(folder, `restored-${round}`)
      const back = await run(['restore', file, '--data', restored])
      assert.equal(back.code, 0, back.stderr)
      const checked = await run(['check', '--data', restored, '-f', 'json'])
      assert.equal(checked.code, 0, checked.stdout)
      stored.push(JSON.parse(checked.stdout).documents)
    }
    t.diagnostic(`documents in the restored copies: ${stored.join(', ')}`)
    assert.ok(Math.max(...stored) > 0, 'a copy of nothing proves nothing')
  })

  it(
    'goes on from a restored copy to the end of an undisturbed crawl',
    { timeout: 120_000 },
    async () => {
      const restored = join(folder, `restored-${rounds}`)
      const last = await run(crawlArgs(site, restored))
      assert.equal(JSON.parse(last.stdout).state, 'done', last.stderr)
      const { stdout } = await run(['export', '--data', restored])
      const urls = jsonLines(stdout).map(({ url }) => String(url))
      assert.deepEqual(urls.toSorted(), site.expected().stored)
      assert.equal((await run(['check', '--data', restored])).code, 0)
    },
  )

  it(
    'leaves nothing but whole archives where backups are killed too',
    { timeout: 120_000 },
    async () => {
      for (const delayMs of [250, 400, 550]) {
        const backup = start(['backup', backups, '--data', directory.path])
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        backup.child.kill('SIGKILL')
        await backup.ended
      }
      const file = join(backups, 'last.tar.gz')
      assert.equal((await run(['backup', file, '--data', directory.path])).code, 0)
      const names = readdirSync(backups)
      assert.deepEqual(
        names.filter((name) => !/^[\w-]+\.tar\.(?:zst|gz)$/.test(name)),
        [],
      )
      for (const [i, name] of names.filter((each) => !each.startsWith('round-')).entries()) {
        const back = await run([
          'restore',
          join(backups, name),
          '--data',
          join(folder, `whole-${i}`),
        ])
        assert.equal(back.code, 0, `${name}: ${back.stderr}`)
      }
    },
  )

  it(
    'is brought back in the end where restores are killed, and nothing is lost',
    { timeout: 120_000 },
    async () => {
      const target = join(folder, `restored-${rounds}`)
      const args = ['restore', join(backups, 'last.tar.gz'), '--force', '--data', target]
      for (let round = 0; round < 4; round++) {
        const restore = start(args)
        await new Promise((resolve) => setTimeout(resolve, 200 + random() * 500))
        restore.child.kill('SIGKILL')
        await restore.ended
        const stores = readdirSync(target, { recursive: true, encoding: 'utf8' }).filter(
          (name) => name.endsWith('findling.db') && !name.startsWith('.restoring'),
        )
        assert.ok(stores.length > 0, 'what was there before is there still')
      }
      const last = await run(args)
      assert.equal(last.code, 0, last.stderr)
      assert.ok(!readdirSync(target).includes('.restoring'))
      assert.equal((await run(['check', '--data', target])).code, 0)
    },
  )
})

async function untilRequests(site: Site, count: number): Promise<void> {
  const endMs = performance.now() + 60_000
  while (site.requests.length < count) {
    if (performance.now() > endMs) throw new Error(`only ${site.requests.length} requests`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
