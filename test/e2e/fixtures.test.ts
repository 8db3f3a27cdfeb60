/** The failure fixtures that lie beside the checkout, crawled by the real program and judged by their own score from access log and export. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { localServe, makeDirectory, run } from './program.ts'

const folder = resolve(import.meta.dirname, '../../../shared/fixtures')
const isMissing = !existsSync(folder) && process.env['CI'] !== 'true'

type Case = { id: string; port: number }

describe(
  'the failure fixtures',
  { skip: isMissing ? 'they do not lie beside here' : false },
  () => {
    it('are all met', async () => {
      // score.mjs knows itself by its real path.
      const real = realpathSync(folder)
      const directory = makeDirectory()
      const place = dirname(directory.path)
      const log = join(place, 'access.jsonl')
      const kept = join(place, 'kept.jsonl')
      const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as Case[]
      const only = ['--only', cases.map(({ id }) => id).join(',')]
      const server = spawn(process.execPath, [join(real, 'server.mjs'), ...only, '--log', log])
      try {
        let said = ''
        server.stdout.on('data', (text: Buffer) => (said += text.toString()))
        while (!said.includes('ready')) await once(server.stdout, 'data')
        const seeds = cases.map(({ port }) => `http://127.0.0.1:${port}/`)
        const args = ['--data', directory.path, ...localServe, '--delay', '1', '--scope', 'host']
        const crawled = await run(['crawl', ...seeds, ...args], { timeoutMs: 120_000 })
        assert.equal(crawled.code, 0, crawled.stderr)
        const exported = await run(['export', '--data', directory.path])
        writeFileSync(kept, exported.stdout)
        const score = spawnSync(process.execPath, [join(real, 'score.mjs'), log, kept, ...only])
        assert.equal(score.stdout.toString().trim(), `passed ${cases.length} of ${cases.length}`)
      } finally {
        server.kill()
        directory.remove()
      }
    })
  },
)
