/** Mapped files: what is written is in the file, what cannot be allocated is refused before it can do harm. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { AppError } from '../../../src/lib/errors.ts'
import { loadMapper, mapGranuleBytes, type Mapper, unwrittenRanges } from '../../../src/lib/mmap.ts'

const mmapUrl = new URL('../../../src/lib/mmap.ts', import.meta.url).href
const failsAs =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof AppError && error.code === code

describe('a mapped file', () => {
  let folder = ''
  let mapper: Mapper
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'findling-mmap-'))
    mapper = await loadMapper()
  })
  after(() => rmSync(folder, { recursive: true }))

  it('is allocated in full, and holds what is written to its memory', () => {
    const file = join(folder, 'written')
    writeFileSync(file, '')
    const region = mapper.map(file, mapGranuleBytes, 2 * mapGranuleBytes)
    const { size, blocks } = statSync(file)
    assert.equal(size, 3 * mapGranuleBytes)
    assert.ok(blocks * 512 >= size)
    assert.equal(region.words.length, (2 * mapGranuleBytes) / 4)
    region.words[0] = 0xfeedf00d
    region.words[region.words.length - 1] = 7
    region.sync()
    const bytes = readFileSync(file)
    assert.equal(bytes.readUInt32LE(mapGranuleBytes), 0xfeedf00d)
    assert.equal(bytes.readUInt32LE(size - 4), 7)
    assert.equal(bytes.readUInt32LE(0), 0)
  })

  it('keeps what was in the file, and is the same memory for two mappings', () => {
    const file = join(folder, 'kept')
    writeFileSync(file, new Uint8Array(mapGranuleBytes).fill(1))
    const one = mapper.map(file, 0, mapGranuleBytes)
    const two = mapper.map(file, 0, mapGranuleBytes)
    assert.equal(one.words[9], 0x01010101)
    one.words[9] = 5
    assert.equal(two.words[9], 5)
  })

  it('is refused when other parts of the file have no blocks', () => {
    const file = join(folder, 'sparse')
    writeFileSync(file, '')
    truncateSync(file, 100 * mapGranuleBytes)
    assert.throws(() => mapper.map(file, 0, mapGranuleBytes), failsAs('io'))
  })

  it('is refused beside the granule, and where there is no file', () => {
    const file = join(folder, 'edges')
    writeFileSync(file, '')
    assert.throws(() => mapper.map(file, 0, mapGranuleBytes + 1), RangeError)
    assert.throws(() => mapper.map(file, 4096, mapGranuleBytes), RangeError)
    assert.throws(() => mapper.map(join(folder, 'none'), 0, mapGranuleBytes), { code: 'ENOENT' })
  })

  const memoryDisk = '/dev/shm'
  const noMemoryDisk = !existsSync(memoryDisk) && `there is no ${memoryDisk}`
  it('answers "storage full" where the room does not suffice', { skip: noMemoryDisk }, () => {
    // On tmpfs the size is compared with the limit before a byte is taken.
    const file = join(memoryDisk, `findling-mmap-${process.pid}`)
    writeFileSync(file, '')
    try {
      assert.throws(() => mapper.map(file, 0, 2 ** 46), failsAs('storage_full'))
    } finally {
      rmSync(file)
    }
  })

  it('answers an error where the file may not grow, and the process lives on', () => {
    const program = `import { loadMapper } from ${JSON.stringify(mmapUrl)}
      import { writeFileSync } from 'node:fs'
      const file = ${JSON.stringify(join(folder, 'limited'))}
      writeFileSync(file, '')
      const mapper = await loadMapper()
      process.on('SIGXFSZ', () => {})
      try { mapper.map(file, 0, ${64 * mapGranuleBytes}) } catch (error) { console.log(error.code) }`
    const shell = 'ulimit -f 1024; exec "$0" --input-type=module -e "$1"'
    const run = spawnSync('sh', ['-c', shell, process.execPath, program], { encoding: 'utf8' })
    assert.equal(run.status, 0)
    assert.equal(run.stdout.trim(), 'io')
  })
})

const smaps = `00400000-0074d000 r--p 00000000 fe:00 1234                       /opt/find ling
Size:               3380 kB
Rss:                1280 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
VmFlags: rd mr mw me sd
0074d000-03081000 r-xp 0034d000 fe:00 1234                       /opt/find ling
Rss:               32000 kB
Anonymous:             0 kB
06b83000-06b87000 r--p 06782000 fe:00 1234                       /opt/find ling
Rss:                  16 kB
Anonymous:            16 kB
06b87000-06bad000 rw-p 06786000 fe:00 1234                       /opt/find ling
Rss:                 152 kB
Anonymous:             0 kB
7f0000000000-7f0000200000 r-xp 00000000 fe:00 99                         /lib/libc.so.6
Rss:                 800 kB
Anonymous:             0 kB
7f0000200000-7f0000300000 r--p 00000000 00:00 0 
Rss:                   0 kB
Anonymous:             0 kB
`

describe('pages of the executable', () => {
  it('are given back where they can be read again: not what may be written, was written, or is another file', () => {
    assert.deepEqual(unwrittenRanges(smaps, '/opt/find ling'), [
      { from: 0x400000, to: 0x74d000 },
      { from: 0x74d000, to: 0x3081000 },
    ])
    assert.deepEqual(unwrittenRanges(smaps, '/opt/other'), [])
  })

  it('come back when they are needed: the program goes on, with less that is resident', () => {
    const script = `
      import { readFileSync } from 'node:fs'
      import { createMemoryReleaser } from ${JSON.stringify(mmapUrl)}
      const fileKb = () => Number(/^RssFile:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1])
      const release = await createMemoryReleaser()
      const before = fileKb()
      release()
      console.log(JSON.stringify([before, fileKb(), 'größer'.localeCompare('grosser', 'de'), new Intl.DateTimeFormat('zh').format(0)]))`
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    assert.equal(ended.status, 0, ended.stderr)
    const [earlier, now, order] = JSON.parse(ended.stdout) as [number, number, number]
    assert.ok(now < earlier * 0.7, `${earlier} KB were resident, ${now} are`)
    assert.equal(order, 1)
  })
})
