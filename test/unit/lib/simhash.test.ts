/** The SimHash tables against a plain scan, and what they do under floods. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { mix32 } from '../../../src/lib/hash.ts'
import { hammingDistance, radiusMax, simHashCaps, SimHashTables } from '../../../src/lib/simhash.ts'

const noAnchors = new Uint32Array(0)
const half = fc.integer({ min: 0, max: 0xffff_ffff })
const flip = (hash: [number, number], bits: readonly number[]): [number, number] => {
  let [hi, lo] = hash
  for (const bit of bits)
    if (bit < 32) lo = (lo ^ (1 << bit)) >>> 0
    else hi = (hi ^ (1 << (bit - 32))) >>> 0
  return [hi, lo]
}
const flips = (maxLength: number) => fc.uniqueArray(fc.integer({ min: 0, max: 63 }), { maxLength })
const anchorsOf = (...values: number[]): Uint32Array => Uint32Array.from(values)

/** Half-hashes whose bits are set in three of eight cases: buckets 2.6 times as full as even ones. And places of different bits. */
function drawer(seed: number) {
  let state = seed
  const next = (): number => mix32((state = (state + 0x9e3779b9) | 0))
  return {
    uneven: (): number => (next() & (next() | next())) >>> 0,
    bits(count: number): number[] {
      const chosen = new Set<number>()
      while (chosen.size < count) chosen.add(next() % 64)
      return [...chosen]
    },
  }
}

describe('the distance of two hashes', () => {
  const cases: [a: [number, number], b: [number, number], distance: number][] = [
    [[0, 0], [0, 0], 0],
    [[0, 0], [0, 1], 1],
    [[0x8000_0000, 0], [0, 0x8000_0000], 2],
    [[0xffff_ffff, 0xffff_ffff], [0, 0], 64],
    [[0xffff_ffff, 0], [0xffff_ffff, 0xffff_0000], 16],
  ]
  for (const [a, b, distance] of cases)
    it(`is ${distance} for ${a.join(':')} and ${b.join(':')}`, () =>
      assert.equal(hammingDistance(...a, ...b), distance))

  it('is the number of flipped bits', () => {
    fc.assert(
      fc.property(half, half, flips(64), (hi, lo, bits) => {
        assert.equal(hammingDistance(hi, lo, ...flip([hi, lo], bits)), bits.length)
      }),
    )
  })
})

describe('SimHash tables', () => {
  for (let radius = 0; radius <= radiusMax; radius += 1)
    it(`find exactly what a plain scan finds within ${radius} bits, after any additions and removals`, () =>
      findsAllWithin(radius))

  it('know no wider radius', () => {
    for (const wrong of [-1, radiusMax + 1, 2.5]) assert.throws(() => new SimHashTables(1, wrong))
  })

  for (let radius = 0; radius <= radiusMax; radius += 1)
    it(`find among uneven hashes every one ${radius} bits away, wherever they lie, and none a bit further`, () => {
      const seed = Math.floor(Math.random() * 2 ** 31)
      const draw = drawer(seed)
      const tables = new SimHashTables(5_000, radius)
      for (let id = 1; id <= 5_000; id += 1)
        tables.add({ id, host: 0, simHi: draw.uneven(), simLo: draw.uneven(), anchors: noAnchors })
      for (let id = 10_001; id <= 10_500; id += 1) {
        const [simHi, simLo] = [draw.uneven(), draw.uneven()]
        tables.add({ id, host: 0, simHi, simLo, anchors: noAnchors })
        const found = (bits: number): boolean => {
          const [hi, lo] = flip([simHi, simLo], draw.bits(bits))
          const { near } = tables.find({ simHi: hi, simLo: lo, anchors: noAnchors })
          return near.some((one) => one.id === id && one.distance === bits)
        }
        assert.ok(found(radius), `seed ${seed}`)
        assert.ok(!found(radius + 1), `seed ${seed}`)
      }
      assert.equal(tables.cutBuckets, 0)
    })

  function findsAllWithin(radius: number): void {
    const step = fc.record({
      remove: fc.boolean(),
      id: fc.integer({ min: 1, max: 60 }),
      base: fc.integer({ min: 0, max: 2 }),
      bits: flips(radiusMax + 2),
    })
    fc.assert(
      fc.property(
        fc.tuple(half, half, half, half, half, half),
        fc.array(step, { maxLength: 150 }),
        ([a, b, c, d, e, f], steps) => {
          const bases: [number, number][] = [
            [a, b],
            [c, d],
            [e, f],
          ]
          const tables = new SimHashTables(1, radius)
          const plain = new Map<number, [number, number]>()
          for (const { remove, id, base, bits } of steps) {
            if (remove) {
              assert.equal(tables.remove(id), plain.delete(id))
              continue
            }
            const hash = flip(bases[base] ?? [0, 0], bits)
            plain.set(id, hash)
            tables.add({ id, host: 0, simHi: hash[0], simLo: hash[1], anchors: noAnchors })
          }
          assert.equal(tables.size, plain.size)
          for (const [simHi, simLo] of bases) {
            const expected = [...plain]
              .map(([id, hash]) => ({ id, distance: hammingDistance(simHi, simLo, ...hash) }))
              .filter(({ distance }) => distance <= radius)
            const { near, anchored } = tables.find({ simHi, simLo, anchors: noAnchors })
            const byId = (x: { id: number }, y: { id: number }): number => x.id - y.id
            assert.deepEqual(near.toSorted(byId), expected.toSorted(byId))
            assert.deepEqual(anchored, [])
            assert.deepEqual(
              near.map(({ distance }) => distance),
              near.map(({ distance }) => distance).toSorted((x, y) => x - y),
            )
          }
          assert.equal(tables.cutBuckets, 0)
        },
      ),
      { numRuns: 100 },
    )
  }

  it('grow far beyond what was expected', () => {
    const tables = new SimHashTables(1)
    for (let id = 1; id <= 5_000; id++)
      tables.add({
        id,
        host: 0,
        simHi: Math.imul(id, 0x9e3779b1) >>> 0,
        simLo: Math.imul(id, 0x85ebca77) >>> 0,
        anchors: anchorsOf(id * 8, id * 8 + 1),
      })
    assert.ok(tables.shouldRebuild)
    assert.ok(tables.bytes / tables.size < 350)
    for (let id = 1; id <= 5_000; id += 499) {
      const simHi = Math.imul(id, 0x9e3779b1) >>> 0
      const simLo = Math.imul(id, 0x85ebca77) >>> 0
      const { near } = tables.find({ simHi, simLo: (simLo ^ 7) >>> 0, anchors: noAnchors })
      assert.deepEqual(near, [{ id, distance: 3 }])
    }
  })

  it('ask to be made anew once most entries were removed', () => {
    const tables = new SimHashTables(1_000)
    for (let id = 1; id <= 1_000; id++)
      tables.add({ id, host: 0, simHi: id, simLo: id, anchors: noAnchors })
    for (let id = 1; id <= 628; id++) tables.remove(id)
    assert.equal(tables.shouldRebuild, false)
    tables.remove(629)
    assert.equal(tables.shouldRebuild, true)
    assert.equal(tables.size, 371)
    assert.equal(tables.remove(629), false)
  })

  it('propose entries that share an anchor, up to 18 bits apart', () => {
    const tables = new SimHashTables(10)
    const low = (bits: number): number => 2 ** bits - 1
    tables.add({ id: 1, host: 0, simHi: 0, simLo: low(18), anchors: anchorsOf(5, 6) })
    tables.add({ id: 2, host: 0, simHi: 0, simLo: low(19), anchors: anchorsOf(5, 6) })
    tables.add({ id: 3, host: 0, simHi: 0, simLo: low(3), anchors: anchorsOf(5) })
    tables.add({ id: 4, host: 0, simHi: 0, simLo: low(4), anchors: anchorsOf(7) })
    const { near, anchored } = tables.find({ simHi: 0, simLo: 0, anchors: anchorsOf(4, 5, 6) })
    assert.deepEqual(near, [{ id: 3, distance: 3 }])
    assert.deepEqual(anchored, [{ id: 1, distance: 18 }])
  })

  it('let no host fill the chain of an anchor', () => {
    const tables = new SimHashTables(1_000)
    const put = (id: number, host: number): void =>
      tables.add({ id, host, simHi: 0, simLo: 0xff, anchors: anchorsOf(9) })
    put(1, 1)
    for (let id = 2; id <= 500; id++) put(id, 2)
    const { anchored } = tables.find({ simHi: 0, simLo: 0, anchors: anchorsOf(9) })
    assert.equal(anchored.length, simHashCaps.entriesPerHost + 1)
    assert.ok(anchored.some(({ id }) => id === 1))
  })

  it('stop at the caps, count it, and keep the two sources apart', () => {
    const tables = new SimHashTables(20_000)
    tables.add({ id: 1, host: 0, simHi: 0xffff, simLo: 0, anchors: anchorsOf(3) })
    const flood = simHashCaps.bucketSteps
    for (let id = 2; id < flood + 1; id++)
      tables.add({ id, host: 0, simHi: 0xffff_ff00, simLo: 0, anchors: anchorsOf(100 + id) })
    const sought = { simHi: 0x0100_ffff, simLo: 0, anchors: anchorsOf(3) }
    const at = tables.find(sought)
    assert.deepEqual(at.near, [{ id: 1, distance: 1 }])
    assert.equal(tables.cutBuckets, 0)
    tables.add({ id: 99_999, host: 0, simHi: 0xffff_ff00, simLo: 0, anchors: anchorsOf(1) })
    tables.find({ ...sought, simHi: 0xff00_ff00 })
    assert.ok(tables.cutBuckets > 0)
    for (let id = 100_000; id < 100_200; id++)
      tables.add({ id, host: 0, simHi: 0, simLo: 0xffff, anchors: anchorsOf(7) })
    const flooded = tables.find({ simHi: 0, simLo: 0xffff, anchors: anchorsOf(7, 8) })
    assert.equal(flooded.near.length, simHashCaps.candidates)
    assert.ok(flooded.anchored.length > 0)
  })

  it('look at a bounded number of entries, however many buckets they are asked for', () => {
    const tables = new SimHashTables(100_000, radiusMax)
    // All in the 48 buckets beside those of the sought, and too far away.
    for (let id = 1; id <= 100_000; id += 1) {
      const low = (1 << (id % 16)) | 0x7f00_0000
      tables.add({ id, host: 0, simHi: low ^ 0xffff, simLo: low, anchors: noAnchors })
    }
    tables.find({ simHi: 0, simLo: 0, anchors: noAnchors })
    const asked = tables.steps
    assert.ok(asked <= simHashCaps.lookupSteps, String(asked))
    assert.ok(tables.cutBuckets > 0)
  })

  it('replace an entry that comes again', () => {
    const tables = new SimHashTables(4)
    tables.add({ id: 7, host: 1, simHi: 0, simLo: 0, anchors: anchorsOf(1) })
    tables.add({ id: 7, host: 1, simHi: 0xffff_ffff, simLo: 0, anchors: anchorsOf(2) })
    assert.equal(tables.size, 1)
    const old = tables.find({ simHi: 0, simLo: 0, anchors: anchorsOf(1) })
    assert.deepEqual(old, { near: [], anchored: [] })
    const now = tables.find({ simHi: 0xffff_ffff, simLo: 1, anchors: noAnchors })
    assert.deepEqual(now.near, [{ id: 7, distance: 1 }])
  })
})
