/**
 * The same source under Bun: SQLite and the mapped file through Bun's own modules. Store, Bloom filter, index, frontier and text pass; what
 * does not (docs/adr/0007) is not asked here. Bun itself is a package of vendor/bun, installed when it is missing.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '../..')
const vendor = join(root, 'vendor/bun')
const packageName =
  process.arch === 'arm64' ? '@oven/bun-linux-aarch64' : '@oven/bun-linux-x64-baseline'
const bun = join(vendor, 'node_modules', packageName, 'bin/bun')
const timeoutMs = 240_000

const folders = ['test/unit/store', 'test/unit/search']
const files = [
  'test/unit/lib/bloom.test.ts',
  'test/unit/lib/mmap.test.ts',
  'test/unit/lib/simhash.test.ts',
  'test/unit/lib/sqlite.test.ts',
  'test/unit/lib/url.test.ts',
  'test/unit/crawl/duplicates.test.ts',
  'test/unit/crawl/frontier-model.test.ts',
  'test/unit/crawl/frontier-sqlite.test.ts',
  'test/unit/text/tokenize.test.ts',
]

/** Bun tells its verdict at the end of stderr. */
function run(args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(bun, args, {
    cwd: root,
    encoding: 'utf8',
    timeout: timeoutMs,
    maxBuffer: 64e6,
  })
  return { status, output: stdout + stderr }
}

describe('under Bun', () => {
  before(() => {
    if (existsSync(bun)) return
    const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', options, { cwd: vendor, stdio: ['ignore', 'ignore', 'inherit'] })
  })

  it('SQLite is that of Bun and no addon is loaded, whose age is checked as that of the addon', () => {
    const { status, output } = run([
      '--eval',
      `const { sqliteVersion } = await import('./src/lib/sqlite.ts')
       const { loadMapper } = await import('./src/lib/mmap.ts')
       await loadMapper()
       const addons = require('node:fs').readFileSync('/proc/self/maps', 'utf8').match(/[^ /]+\\.node\\b/g) ?? []
       console.log(JSON.stringify({ version: sqliteVersion(), addons }))`,
    ])
    assert.equal(status, 0, output)
    const { version, addons } = JSON.parse(output)
    assert.match(version, /^3\.\d+\.\d+$/)
    assert.deepEqual(addons, [])
  })

  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name)),
  )
  for (const file of [...inFolders, ...files]) {
    it(`${file} passes`, () => {
      const { status, output } = run(['test', '--timeout', String(timeoutMs), `./${file}`])
      const passed = Number(/^\s*(\d+) pass$/m.exec(output)?.[1] ?? 0)
      assert.ok(status === 0 && passed > 0, output.slice(-4_000))
      assert.match(output, /^\s*0 fail$/m)
    })
  }
})
