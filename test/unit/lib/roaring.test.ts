/** Exact sets against a plain Set, for numbers that lie scattered, dense and in runs, and at the borders between the kinds. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RoaringSet } from '../../../src/lib/roaring.ts'

const valuesOf = (set: RoaringSet): number[] => {
  const values: number[] = []
  set.each((value) => values.push(value) > 0)
  return values
}
const assertHolds = (set: RoaringSet, values: Iterable<number>): void => {
  const [found, wanted] = [Float64Array.from(valuesOf(set)), Float64Array.from(values).toSorted()]
  assert.equal(found.length, wanted.length)
  const at = found.findIndex((value, i) => value !== wanted[i])
  assert.equal(at, -1, `${found[at]} in place of ${wanted[at]}`)
}

/** Some scattered, a run, and every second or third of a stretch: all three kinds of container, and borders of 65,536. */
const parts = fc.record({
  scattered: fc.array(fc.integer({ min: 0, max: 300_000 }), { maxLength: 50 }),
  far: fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { maxLength: 5 }),
  run: fc.record({ from: fc.integer({ min: 0, max: 140_000 }), length: fc.nat({ max: 70_000 }) }),
  dense: fc.record({
    from: fc.integer({ min: 0, max: 70_000 }),
    step: fc.integer({ min: 2, max: 20 }),
    count: fc.nat({ max: 9_000 }),
  }),
  isPacked: fc.boolean(),
})
type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never

function build({ scattered, far, run, dense, isPacked }: Parts): [RoaringSet, Set<number>] {
  const plain = new Set([...scattered, ...far])
  for (let i = 0; i < dense.count; i += 1) plain.add(dense.from + i * dense.step)
  let set = RoaringSet.of(plain)
  set = set.or(RoaringSet.range(run.from, run.from + run.length))
  for (let i = 0; i < run.length; i += 1) plain.add(run.from + i)
  if (isPacked) set.pack()
  return [set, plain]
}

describe('an exact set', () => {
  it('has what was added, in ascending order, and nothing else', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const [set, plain] = build(given)
        assert.equal(set.size, plain.size)
        assertHolds(set, plain)
        const bits = new Uint32Array(2_500)
        set.spreadInto(bits)
        assertHolds(
          set.and(RoaringSet.range(0, bits.length * 32)),
          Array.from({ length: bits.length * 32 }, (_, i) => i).filter(
            (i) => (((bits[i >>> 5] as number) >>> (i & 31)) & 1) === 1,
          ),
        )
        for (const value of [...plain].slice(0, 50)) {
          assert.ok(set.has(value))
          assert.equal(set.has(value + 1), plain.has(value + 1))
        }
      }),
      { numRuns: 40 },
    )
  })
  it('is met, joined and lessened as a plain one is, and stays as it was', () => {
    fc.assert(
      fc.property(parts, parts, (one, two) => {
        const [a, x] = build(one)
        const [b, y] = build(two)
        const [sizeA, sizeB] = [a.size, b.size]
        assertHolds(
          a.and(b),
          [...x].filter((value) => y.has(value)),
        )
        assertHolds(a.or(b), new Set([...x, ...y]))
        assertHolds(
          a.andNot(b),
          [...x].filter((value) => !y.has(value)),
        )
        for (const made of [a.and(b), a.or(b), a.andNot(b), a.clone()]) {
          assert.equal(made.size, valuesOf(made).length)
          for (const value of valuesOf(made).slice(0, 200)) made.remove(value)
          for (let i = 0; i < 6_000; i += 1) made.add(i * 11)
        }
        assert.deepEqual([a.size, b.size], [sizeA, sizeB])
        assertHolds(a, x)
      }),
      { numRuns: 20 },
    )
  })
  it('changes as a plain one does, whichever kind its containers are of', () => {
    const step = fc.record({
      isAdded: fc.boolean(),
      from: fc.nat({ max: 66_000 }),
      count: fc.nat({ max: 5_000 }),
    })
    fc.assert(
      fc.property(parts, fc.array(step, { maxLength: 8 }), (given, steps) => {
        const [set, plain] = build(given)
        for (const { isAdded, from, count } of steps) {
          for (let value = from; value < from + count; value += 1)
            if (isAdded) {
              set.add(value)
              plain.add(value)
            } else {
              set.remove(value)
              plain.delete(value)
            }
          if (count % 2 === 0) set.pack()
          assert.equal(set.size, plain.size)
        }
        assertHolds(set, plain)
      }),
      { numRuns: 40 },
    )
  })
  it('takes each container as the kind that is smallest: two bytes a number, a bit, or four bytes a run', () => {
    const overhead = RoaringSet.of([1]).bytes
    const bytesOf = (set: RoaringSet): number => {
      set.pack()
      return set.bytes
    }
    const every = (step: number): RoaringSet =>
      RoaringSet.of(Array.from({ length: Math.floor(65_536 / step) }, (_, i) => i * step))
    assert.ok(bytesOf(every(100)) < overhead + 655 * 2 + 10)
    assert.ok(bytesOf(every(2)) < overhead + 8_192 + 10)
    const whole = RoaringSet.of(Array.from({ length: 65_536 }, (_, i) => i))
    assert.ok(bytesOf(whole) < overhead + 10)
    assert.equal(whole.size, 65_536)
  })
  it('stops where its user says so, and is empty at first', () => {
    assert.deepEqual([new RoaringSet().size, valuesOf(new RoaringSet())], [0, []])
    assert.deepEqual(valuesOf(RoaringSet.range(5, 5)), [])
    for (const set of [RoaringSet.of([1, 70_000]), RoaringSet.range(1, 99_999), evens()]) {
      let seen = 0
      set.each(() => (seen += 1) < 1)
      assert.equal(seen, 1)
    }
    function evens(): RoaringSet {
      return RoaringSet.of(Array.from({ length: 9_000 }, (_, i) => i * 2))
    }
  })
})
