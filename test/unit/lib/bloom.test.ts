/** The filter of what was seen: never a false "new", whatever happens to its file; "maybe" as rarely as promised. */
import assert from 'node:assert/strict'
import {
  copyFileSync,
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
import * as fc from 'fast-check'
import { type Bloom, type BloomOptions, hashKey, openBloom } from '../../../src/lib/bloom.ts'
import { AppError } from '../../../src/lib/errors.ts'

const modes = ['mapped', 'memory'] as const
/** Keys of the smallest chunk: 64 KiB at 40 bits. */
const keysOfChunk = 13_107
const keyOf = (i: number, salt = 0): [number, number] => hashKey(`/page/${i}`, salt)
const addAll = (bloom: Bloom, to: number, from = 0): void => {
  for (let i = from; i < to; i++) bloom.add(...keyOf(i))
}
const missing = (bloom: Bloom, to: number): number => {
  let count = 0
  for (let i = 0; i < to; i++) if (!bloom.mayHave(...keyOf(i))) count += 1
  return count
}

describe('the hash of a key', () => {
  it('is two unsigned halves, another for another salt, without a collision among 200,000', () => {
    const seen = [new Set<number>(), new Set<number>(), new Set<string>()] as const
    for (let i = 0; i < 100_000; i++)
      for (const salt of [1, 2]) {
        const [h1, h2] = keyOf(i, salt)
        assert.ok(h1 === h1 >>> 0 && h2 === h2 >>> 0)
        seen[0].add(h1)
        seen[1].add(h2)
        seen[2].add(`${h1} ${h2}`)
      }
    assert.equal(seen[2].size, 200_000)
    // Of 200,000 random halves about five collide.
    assert.ok(seen[0].size > 199_970 && seen[1].size > 199_970)
  })
})

describe('the Bloom filter', () => {
  let folder = ''
  let files = 0
  const fresh = (): string => join(folder, `${files++}.bloom`)
  const open = (options: Partial<BloomOptions> & { file: string }): Promise<Bloom> =>
    openBloom({ generation: 1, mode: 'memory', keysExpected: 1, ...options })
  /** A file that was closed clean with generation 7, and its number of keys. */
  const closed = async (mode: BloomOptions['mode'], keys: number): Promise<string> => {
    const file = fresh()
    const bloom = await open({ file, mode })
    bloom.rebuilt()
    addAll(bloom, keys)
    bloom.close(7)
    return file
  }
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'findling-bloom-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const mode of modes) {
    it(`(${mode}) never forgets a key, growing, and open again`, async () => {
      const keys = 4 * keysOfChunk
      const file = await closed(mode, keys)
      const bloom = await open({ file, mode, generation: 7 })
      assert.equal(bloom.stats().mode, mode)
      assert.equal(bloom.needsRebuild, false)
      assert.equal(bloom.reason, '')
      assert.equal(bloom.stats().chunks, 3)
      assert.equal(missing(bloom, keys), 0)
      assert.ok(Math.abs(bloom.stats().keys - keys) <= 2)
      addAll(bloom, keys + 500, keys)
      bloom.close(8)
      const again = await open({ file, mode, generation: 8 })
      assert.equal(again.needsRebuild, false)
      assert.equal(missing(again, keys + 500), 0)
      again.close()
    })

    it(`(${mode}) holds every pair of halves that was added`, async () => {
      const half = fc.oneof(
        fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff),
        fc.integer({ min: 0, max: 0xffff_ffff }),
      )
      const bloom = await open({ file: fresh(), mode })
      bloom.rebuilt()
      fc.assert(
        fc.property(half, half, (h1, h2) => {
          const wasSeen = bloom.mayHave(h1, h2)
          assert.equal(bloom.add(h1, h2), !wasSeen)
          assert.ok(bloom.mayHave(h1, h2))
          assert.equal(bloom.add(h1, h2), false)
        }),
        { numRuns: 2_000 },
      )
      bloom.close()
    })

    it(`(${mode}) is not trusted after an end without a clean close`, async () => {
      const file = await closed(mode, 100)
      const crashed = await open({ file, mode, generation: 7 })
      crashed.add(...keyOf(100))
      crashed.flush()
      const bloom = await open({ file, mode, generation: 7 })
      assert.equal(bloom.needsRebuild, true)
      assert.match(bloom.reason, mode === 'mapped' ? /not closed/ : /no file/)
      assert.equal(bloom.stats().keys, 0)
    })

    for (const [what, generation] of [
      ['older', 6],
      ['newer', 8],
    ] as const)
      it(`(${mode}) is not trusted with a generation that is ${what}`, async () => {
        const bloom = await open({ file: await closed(mode, 100), mode, generation })
        assert.match(bloom.reason, /generation/)
      })

    it(`(${mode}) is not trusted when it is cut off anywhere`, async () => {
      const whole = await closed(mode, 100)
      const { size } = statSync(whole)
      for (const length of [0, 1, 511, 512, 4_096, 4_607, 4_608, 65_536, size - 65_536, size - 1]) {
        const file = fresh()
        copyFileSync(whole, file)
        truncateSync(file, length)
        const bloom = await open({ file, mode, generation: 7 })
        assert.ok(bloom.needsRebuild, `${length} of ${size}`)
        bloom.close()
      }
    })

    it(`(${mode}) is not trusted when a bit of a key was lost`, async () => {
      const file = await closed(mode, 100)
      const bytes = readFileSync(file)
      const at = bytes.findIndex((byte, i) => i >= 65_536 && byte !== 0)
      bytes[at] = 0
      writeFileSync(file, bytes)
      const bloom = await open({ file, mode, generation: 7 })
      assert.match(bloom.reason, /bits/)
      bloom.close()
    })

    it(`(${mode}) answers "maybe" to all until it is rebuilt, and is whole after that`, async () => {
      const file = fresh()
      const bloom = await open({ file, mode })
      assert.equal(bloom.needsRebuild, true)
      assert.ok(bloom.mayHave(1, 2))
      addAll(bloom, 100)
      assert.ok(bloom.mayHave(1, 2))
      bloom.close(7)
      const unfinished = await open({ file, mode, generation: 7 })
      assert.equal(unfinished.needsRebuild, true)
      addAll(unfinished, 100)
      unfinished.rebuilt()
      assert.equal(unfinished.mayHave(1, 2), false)
      unfinished.close(7)
      unfinished.close(9)
      assert.throws(() => unfinished.add(1, 2), /closed/)
      assert.throws(() => unfinished.mayHave(1, 2), /closed/)
      const bloomAgain = await open({ file, mode, generation: 7 })
      assert.equal(missing(bloomAgain, 100), 0)
      assert.equal(bloomAgain.needsRebuild, false)
      bloomAgain.close()
    })
  }

  it('never answers a false "new" when any byte of its header is damaged', async () => {
    for (const [made, stride] of [
      ['mapped', 1],
      ['memory', 16],
    ] as const) {
      const whole = readFileSync(await closed(made, 50))
      let trusted = 0
      for (let i = 0; i < 1_024; i += stride) {
        const at = i < 512 ? i : 4_096 + i - 512
        const file = fresh()
        const bytes = Buffer.from(whole)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (i % 8))
        writeFileSync(file, bytes)
        // Mapping costs two syncs a file, so it takes its turn only.
        const mode = i % 64 === 0 ? 'mapped' : 'memory'
        const bloom = await open({ file, mode, generation: 7 })
        if (!bloom.needsRebuild) trusted += 1
        assert.equal(missing(bloom, 50), 0, `byte ${at}`)
        bloom.close()
        rmSync(file, { force: true })
      }
      // Of two slots the other one still counts where it says the same.
      assert.equal(trusted, made === 'memory' ? 1_024 / stride : 512)
    }
  })

  it('does not fall back to an older clean header when the newest is damaged', async () => {
    const file = await closed('mapped', 100)
    // The bits are those of the clean close: the power may fail before the disk has the first new one.
    const crashed = await open({ file, mode: 'mapped', generation: 7 })
    for (const offset of [0, 4_096]) {
      const copy = fresh()
      copyFileSync(file, copy)
      const bytes = readFileSync(copy)
      bytes.fill(0xaa, offset, offset + 512)
      writeFileSync(copy, bytes)
      const bloom = await open({ file: copy, generation: 7 })
      assert.equal(bloom.needsRebuild, true)
      bloom.close()
    }
    crashed.close()
  })

  it('moves between mapped and memory', async () => {
    const file = await closed('mapped', 200)
    const memory = await open({ file, mode: 'memory', generation: 7 })
    assert.equal(missing(memory, 200), 0)
    assert.equal(existsSync(file), false)
    memory.close(8)
    const mapped = await open({ file, mode: 'mapped', generation: 8 })
    assert.equal(mapped.needsRebuild, false)
    assert.equal(missing(mapped, 200), 0)
    mapped.close()
  })

  it('works from the heap where nothing can be mapped', async () => {
    const noRoom = (): never => {
      throw new AppError('storage_full', 'no room')
    }
    const doors = [
      () => Promise.reject(new AppError('io', 'no koffi')),
      async () => ({ map: noRoom }),
    ]
    for (const door of doors) {
      const file = fresh()
      const bloom = await openBloom({ file, generation: 1, mode: 'mapped', keysExpected: 1 }, door)
      assert.equal(bloom.stats().mode, 'memory')
      bloom.rebuilt()
      addAll(bloom, 10)
      bloom.close(2)
      assert.ok(existsSync(file))
    }
  })

  it('stays within its limit of bytes, and then says "maybe" more often, never a false "new"', async () => {
    const bytesMax = 3 * 65_536
    const bloom = await open({ file: fresh(), bytesMax, keysExpected: 1e9 })
    assert.equal(bloom.stats().bytes, bytesMax)
    bloom.rebuilt()
    addAll(bloom, 6 * keysOfChunk)
    assert.equal(bloom.stats().bytes, bytesMax)
    assert.equal(missing(bloom, 6 * keysOfChunk), 0)
    assert.ok(bloom.stats().falsePositives > 1e-4)
    bloom.close()
  })

  const families: Record<string, (i: number) => string> = {
    'numbered pages': (i) => `https://docs.example/page/${i}`,
    'dates of a calendar': (i) =>
      `https://shop.example/calendar?year=${1_000 + (i % 5_000)}&month=${1 + (Math.floor(i / 5_000) % 12)}&day=${Math.floor(i / 60_000)}`,
    'many hosts': (i) => `https://h${i % 977}.example/path/${i.toString(36)}/item?id=${i}`,
    'names in Chinese': (i) =>
      `https://zh.example/%E6%96%87%E7%AB%A0/${i % 100}/${Math.floor(i / 100)}`,
  }
  for (const [name, urlOf] of Object.entries(families))
    it(`says "maybe" to new ones of similar keys as rarely as it states: ${name}`, async () => {
      const bytesMax = 524_288
      const bloom = await open({ file: fresh(), keysExpected: 100_000, bytesMax, mode: 'memory' })
      bloom.rebuilt()
      // So many that false positives can be counted.
      for (let i = 0; i < 300_000; i++) bloom.add(...hashKey(urlOf(i)))
      const stated = bloom.stats().falsePositives
      const others = 200_000
      let maybe = 0
      for (let i = 0; i < others; i++) if (bloom.mayHave(...hashKey(urlOf(300_000 + i)))) maybe += 1
      assert.ok(stated > 1e-3 && stated < 1e-1, String(stated))
      const ratio = maybe / others / stated
      assert.ok(ratio > 0.85 && ratio < 1.15, `${maybe} of ${others}, stated ${stated}`)
      bloom.close()
    })

  it('states what the mean fill of its blocks alone does not tell', async () => {
    const bloom = await open({ file: fresh(), keysExpected: keysOfChunk, mode: 'memory' })
    bloom.rebuilt()
    for (let i = 0; bloom.stats().keys < keysOfChunk; i++) bloom.add(...keyOf(i))
    // 8.0e-7 were counted over blocks that were filled at random, where the power of the mean is 7.4e-7.
    const { falsePositives } = bloom.stats()
    assert.ok(falsePositives > 7.8e-7 && falsePositives < 8.2e-7, String(falsePositives))
    bloom.close()
  })

  it('says "maybe" to new keys as rarely as it states', async () => {
    const bloom = await open({ file: fresh(), keysExpected: keysOfChunk })
    bloom.rebuilt()
    addAll(bloom, keysOfChunk)
    assert.ok(bloom.stats().falsePositives < 1e-6)
    const probes = 400_000
    let maybe = 0
    for (let i = 0; i < probes; i++) if (bloom.mayHave(...keyOf(i, 9))) maybe += 1
    // 0.3 are expected: five or more would come once in ten thousand runs of another hash.
    assert.ok(maybe < 5, `${maybe} of ${probes}`)
    bloom.close()
  })
})
