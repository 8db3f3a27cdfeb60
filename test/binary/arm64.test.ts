/** The arm64 executable, under qemu's user mode on any other machine. Proves code and constants, not kernels with larger pages. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import { binaryOf } from './binary.ts'
import { crawlsAndSearches } from './crawl.suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'findling-arm64-'))
const executable = binaryOf('arm64')
const wrapper = join(folder, 'findling')

/** Why it cannot run here, or false. */
function prepare(): string | false {
  if (!existsSync(executable)) {
    if (process.env['CI'] !== 'true') return `${executable} is not built: npm run build`
    throw new Error(`${executable} is missing`)
  }
  if (process.arch === 'arm64') {
    writeFileSync(wrapper, `#!/bin/sh\nexec "${executable}" "$@"\n`)
  } else {
    if (spawnSync('qemu-aarch64-static', ['--version']).status !== 0)
      return 'qemu-user-static is not installed'
    const made = spawnSync(join(import.meta.dirname, 'arm64-root.sh'), [folder])
    if (made.status !== 0) return `no arm64 libraries: ${made.stderr.toString().slice(-300)}`
    const libraries = join(folder, 'root')
    writeFileSync(
      wrapper,
      `#!/bin/sh\nexec qemu-aarch64-static -L "${libraries}" "${executable}" "$@"\n`,
    )
  }
  chmodSync(wrapper, 0o755)
  return false
}

describe('the arm64 executable', () => {
  after(() => rmSync(folder, { recursive: true, force: true }))
  crawlsAndSearches(wrapper, prepare())
})
