/** How memory is shared out: the usual figures at 256 MB, never more with less, and what a flash card changes. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { loadConfig, type Config } from '../../src/config.ts'
import { isOnCard, machineOf, mountOf } from '../../src/machine.ts'
import { profileOf, type Profile, refuseTooLittle } from '../../src/memory.ts'

const MiB = 1_024 * 1_024
const configOf = (flags: Record<string, unknown> = {}): Config => loadConfig(flags, {}, null).config
const disk = { cores: 2, isFlash: false }
const card = { cores: 2, isFlash: true }

describe('the profile of 256 MB', () => {
  it('is what was measured as best', () => {
    assert.deepEqual(profileOf(configOf(), disk), {
      settings: {
        parsers: 1,
        connections: 8,
        'batch-pages': 100,
        'batch-bytes': 4 * MiB,
        'batch-ms': 2_000,
      },
      cacheKb: { engine: 8_192, search: 8_192 },
      heaps: {
        engine: { maxOldGenerationSizeMb: 72, maxYoungGenerationSizeMb: 8 },
        search: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 },
        parser: { maxOldGenerationSizeMb: 80, maxYoungGenerationSizeMb: 16 },
      },
      pending: { bytesMax: 4 * MiB, ageMsMax: 30_000 },
      bloom: 'mapped',
      usesKeywordModel: true,
      gaveUp: [],
    } satisfies Profile)
  })
})

/** Every figure that costs memory. */
const costs = ({ settings, cacheKb, heaps, pending, ...profile }: Profile): number[] => [
  profile.usesKeywordModel ? 2 : 1,
  settings.parsers,
  settings.connections,
  settings['batch-bytes'],
  cacheKb.engine,
  cacheKb.search,
  pending.bytesMax,
  ...[heaps.engine, heaps.search, heaps.parser].flatMap((heap) => [
    heap.maxOldGenerationSizeMb ?? 0,
    heap.maxYoungGenerationSizeMb ?? 0,
  ]),
]

describe('less memory', () => {
  it('never takes more of anything', () => {
    const memory = fc.integer({ min: 128, max: 65_536 })
    const machine = fc.record({ cores: fc.integer({ min: 1, max: 64 }), isFlash: fc.boolean() })
    fc.assert(
      fc.property(memory, memory, machine, (a, b, on) => {
        const [small, large] = [Math.min(a, b), Math.max(a, b)].map((mb) =>
          costs(profileOf(configOf({ memory: mb }), on)),
        )
        assert.ok(small?.every((cost, i) => cost > 0 && cost <= (large?.[i] ?? 0)))
      }),
    )
  })

  it('is told in sentences, and nothing is told when nothing is given up', () => {
    const told = (memory: number): string[] =>
      profileOf(configOf({ memory }), { cores: 4, isFlash: false }).gaveUp
    assert.deepEqual(told(255).length > 0, true)
    assert.deepEqual(told(256), [])
    assert.deepEqual(told(224), [
      'requests at a time: 5 instead of 8',
      'parser threads: 1 instead of 2',
      'bytes in a commit: 2 MB instead of 4 MB',
      'postings in memory: 2 MB instead of 4 MB',
      'page caches: 4 MB instead of 8 MB',
      'keywords of English pages: counted, without a model of the language',
    ])
  })

  it('is refused where it could not be kept while a crawl runs', () => {
    refuseTooLittle(configOf({ memory: 224 }))
    assert.throws(() => refuseTooLittle(configOf({ memory: 223 })), {
      code: 'usage',
      exitCode: 64,
      message: /^--memory 223 cannot be kept.*Give --memory 224 or more\.$/,
    })
  })

  it('overrules a number of requests that it does not allow', () => {
    assert.equal(
      profileOf(configOf({ memory: 128, connections: 64 }), disk).settings.connections,
      2,
    )
    assert.equal(
      profileOf(configOf({ memory: 256, connections: 64 }), disk).settings.connections,
      64,
    )
  })
})

describe('more memory', () => {
  it('gives parsers to cores, and pages to the caches', () => {
    const parsers = (memory: number, cores: number): number =>
      profileOf(configOf({ memory }), { cores, isFlash: false }).settings.parsers
    assert.deepEqual(
      [parsers(256, 2), parsers(256, 4), parsers(1_024, 2), parsers(1_024, 8)],
      [1, 2, 1, 7],
    )
    assert.equal(profileOf(configOf({ memory: 1_024 }), disk).cacheKb.search, 104 * 1_024)
    assert.equal(profileOf(configOf({ parsers: 5 }), disk).settings.parsers, 5)
  })
})

describe('a flash card', () => {
  it('gets few and large commits, and a filter that is written at the end', () => {
    const { settings, bloom, pending, gaveUp } = profileOf(configOf(), card)
    assert.deepEqual([settings['batch-pages'], settings['batch-ms']], [500, 30_000])
    assert.deepEqual([bloom, pending.ageMsMax, gaveUp], ['memory', 300_000, []])
  })

  it('leaves settings that the user chose', () => {
    const { settings } = profileOf(configOf({ 'batch-ms': 100, 'batch-pages': 50 }), card)
    assert.deepEqual([settings['batch-pages'], settings['batch-ms']], [50, 100])
  })
})

describe('a machine', () => {
  let root = ''
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'findling-machine-'))
    const block = join(root, 'sys/devices/block')
    for (const name of [
      'mmcblk0/mmcblk0p2',
      'sda/sda1',
      'dm-0/slaves/mmcblk0p3',
      'dm-1/slaves/sda2',
    ])
      mkdirSync(join(block, name), { recursive: true })
    mkdirSync(join(root, 'sys/dev/block'), { recursive: true })
    const devices = {
      '179:2': 'mmcblk0/mmcblk0p2',
      '8:1': 'sda/sda1',
      '254:0': 'dm-0',
      '254:1': 'dm-1',
    }
    for (const [number, path] of Object.entries(devices))
      symlinkSync(join(block, path), join(root, 'sys/dev/block', number))
    mkdirSync(join(root, 'proc/self'), { recursive: true })
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  const cases: [string, string, string, boolean][] = [
    ['a partition of a card', '179:2', '/dev/root', true],
    ['a disk', '8:1', '/dev/sda1', false],
    ['an encrypted card', '254:0', '/dev/mapper/a', true],
    ['an encrypted disk', '254:1', '/dev/mapper/b', false],
    ['a file system without a device of its own on a card', '0:40', '/dev/mmcblk1p1', true],
    ['memory', '0:41', 'tmpfs', false],
    ['a device that nobody knows', '7:9', '/dev/loop9', false],
  ]
  for (const [what, device, source, isCard] of cases) {
    it(`${isCard ? 'has' : 'has no'} card under ${what}`, () => {
      const line = `30 1 ${device} / / rw,noatime shared:1 master:2 - ext4 ${source} rw\n`
      writeFileSync(join(root, 'proc/self/mountinfo'), line)
      assert.equal(isOnCard(join(root, 'not', 'yet', 'there'), root), isCard)
    })
  }

  it('takes the innermost and last mount of a path', () => {
    const text = [
      '1 0 8:1 / / rw - ext4 /dev/a rw',
      '2 1 8:2 / /mnt/my\\040data rw - ext4 /dev/b rw',
      '3 1 8:3 / /mnt/my\\040data rw shared:7 - ext4 /dev/c rw',
      '4 1 8:4 / /mnt/my\\040data/x rw - ext4 /dev/d rw',
      'nonsense',
      '',
    ].join('\n')
    const sources = ['/', '/mnt/my data', '/mnt/my data/xy', '/mnt/my data/x/y', '/mnt/my'].map(
      (path) => mountOf(text, path)?.source,
    )
    assert.deepEqual(sources, ['/dev/a', '/dev/c', '/dev/c', '/dev/d', '/dev/a'])
  })

  it('can be told what it is', () => {
    assert.equal(machineOf(root, 'on').isFlash, true)
    assert.equal(machineOf(root, 'off').isFlash, false)
    assert.ok(machineOf(root, 'auto').cores >= 1)
    assert.equal(isOnCard(root, join(root, 'nowhere')), false)
  })
})
