/** Distinct counts: within their error from none to many, whatever comes how often and in what order. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashKey } from '../../../src/lib/hash.ts'
import { createHyperLogLog } from '../../../src/lib/hyperloglog.ts'

const standardError = 1.04 / Math.sqrt(2 ** 14)
const fill = (from: number, to: number, salt = 0) => {
  const counter = createHyperLogLog()
  for (let i = from; i < to; i += 1) counter.add(...hashKey(`https://a.example/page/${i}`, salt))
  return counter
}

describe('a count of distinct values', () => {
  it('of few is exact or nearly so', () => {
    assert.equal(createHyperLogLog().count(), 0)
    assert.equal(fill(0, 1).count(), 1)
    assert.ok(Math.abs(fill(0, 100).count() - 100) <= 2)
  })
  for (const size of [1_000, 10_000, 40_000, 80_000, 300_000])
    it(`of ${size} is within four standard errors, with no bias over eight salts`, () => {
      const errors = Array.from(
        { length: size > 100_000 ? 2 : 8 },
        (_, salt) => fill(0, size, salt).count() / size - 1,
      )
      for (const error of errors)
        assert.ok(Math.abs(error) < 4 * standardError, `${size}: ${error}`)
      const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length
      assert.ok(Math.abs(mean) < (4 * standardError) / Math.sqrt(errors.length), `bias ${mean}`)
    })
  it('counts a value once, however often it comes', () => {
    const counter = fill(0, 5_000)
    const before = counter.count()
    for (let i = 0; i < 5_000; i += 1) counter.add(...hashKey(`https://a.example/page/${i}`))
    assert.equal(counter.count(), before)
  })
  it('merges to the count of both, in either order', () => {
    const [a, b] = [fill(0, 6_000), fill(4_000, 9_000)]
    const whole = fill(0, 9_000).count()
    a.merge(b)
    b.merge(fill(0, 6_000))
    assert.equal(a.count(), whole)
    assert.equal(b.count(), whole)
  })
  it('goes on from its bytes, and refuses others', () => {
    const counter = fill(0, 2_000)
    assert.equal(createHyperLogLog(counter.bytes).count(), counter.count())
    assert.throws(() => createHyperLogLog(new Uint8Array(10)), { code: 'corrupt' })
    assert.throws(() => createHyperLogLog(new Uint8Array(2 ** 14).fill(52)), { code: 'corrupt' })
  })
  it('takes the rarest hashes', () => {
    const counter = createHyperLogLog()
    counter.add(0, 0)
    counter.add(0xffff_ffff, 0xffff_ffff)
    assert.equal(Math.max(...counter.bytes), 51)
    assert.equal(counter.count(), 2)
  })
})
