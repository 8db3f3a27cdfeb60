/** When a process gives memory back: not before it answers, not while something goes on, and not for a little. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import {
  changeBytesMin,
  createThrift,
  dangerEveryMs,
  dangerousShare,
  everyMs,
  keepSmall,
  leapBytesMin,
  releaseEveryMs,
  restBytesMin,
  settleMs,
} from '../../src/small.ts'

const MiB = 1_024 * 1_024
const promisedBytes = 256 * MiB

describe('a rest', () => {
  it('is worth its price when so much has come since the last one', () => {
    const thrift = createThrift(promisedBytes)
    thrift.hasReleased(100 * MiB, 0, true)
    assert.equal(thrift.isWorthARest(100 * MiB + restBytesMin - 1), false)
    assert.equal(thrift.isWorthARest(100 * MiB + restBytesMin), true)
  })

  it('is measured against the smallest that the process has been since', () => {
    const thrift = createThrift(promisedBytes)
    thrift.hasReleased(150 * MiB, 0, true)
    thrift.hasReleased(100 * MiB, 1, false)
    assert.equal(thrift.isWorthARest(100 * MiB + restBytesMin), true)
    thrift.hasReleased(140 * MiB, 2, false)
    assert.equal(thrift.isWorthARest(100 * MiB + restBytesMin), true, 'a release is no rest')
  })
})

describe('a release', () => {
  const releasedMs = 1_000
  const cases: { name: string; bytes: number; afterMs: number; isWorthIt: boolean }[] = [
    { name: 'grown, long ago', bytes: changeBytesMin, afterMs: releaseEveryMs, isWorthIt: true },
    { name: 'shrunk, long ago', bytes: -changeBytesMin, afterMs: releaseEveryMs, isWorthIt: true },
    { name: 'a little', bytes: changeBytesMin - 1, afterMs: releaseEveryMs, isWorthIt: false },
    { name: 'of late', bytes: changeBytesMin, afterMs: releaseEveryMs - 1, isWorthIt: false },
  ]
  for (const { name, bytes, afterMs, isWorthIt } of cases)
    it(`${isWorthIt ? 'is' : 'is not'} worth its price: ${name}`, () => {
      const thrift = createThrift(promisedBytes)
      thrift.hasReleased(100 * MiB, releasedMs, false)
      assert.equal(thrift.isWorthARelease(100 * MiB + bytes, releasedMs + afterMs), isWorthIt)
    })

  it('is worth it sooner where the promise is in danger and something changed', () => {
    const thrift = createThrift(promisedBytes)
    const danger = promisedBytes * dangerousShare
    thrift.hasReleased(danger - changeBytesMin, releasedMs, false)
    assert.equal(thrift.isWorthARelease(danger, releasedMs + dangerEveryMs), true)
    assert.equal(thrift.isWorthARelease(danger, releasedMs + dangerEveryMs - 1), false)
    assert.equal(thrift.isWorthARelease(danger - 1, releasedMs + dangerEveryMs), false)
    thrift.hasReleased(danger, releasedMs, false)
    assert.equal(thrift.isWorthARelease(danger, releasedMs + dangerEveryMs), false)
  })

  it('is worth it at once where the process grew by a leap into danger', () => {
    const thrift = createThrift(promisedBytes)
    const danger = promisedBytes * dangerousShare
    thrift.hasReleased(danger - leapBytesMin, releasedMs, false)
    assert.equal(thrift.isWorthARelease(danger, releasedMs + 1), true)
    assert.equal(thrift.isWorthARelease(danger - 1, releasedMs + 1), false)
    thrift.hasReleased(danger - leapBytesMin + 1, releasedMs, false)
    assert.equal(thrift.isWorthARelease(danger, releasedMs + 1), false)
  })
})

/** Lets what has been promised happen. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve()
}

/** A process of a size that the test decides, and a book of what was done about it. */
function createWorld() {
  const world = { bytes: 200 * MiB, nowMs: 0, isIdle: true, done: [] as string[] }
  const ready = Promise.withResolvers<void>()
  const end = keepSmall(
    {
      ready: () => ready.promise,
      isIdle: () => world.isIdle,
      rest: () => {
        world.done.push('rest')
        world.bytes -= 50 * MiB
        return Promise.resolve(world.isIdle)
      },
    },
    promisedBytes,
    {
      bytes: () => world.bytes,
      nowMs: () => world.nowMs,
      collectGarbage: () => {
        world.done.push('collect')
        return Promise.resolve()
      },
      createReleaser: () => Promise.resolve(() => void world.done.push('release')),
    },
  )
  const pass = async (ms: number): Promise<string[]> => {
    world.done = []
    for (let left = ms; left > 0; left -= everyMs) {
      world.nowMs += Math.min(left, everyMs)
      mock.timers.tick(Math.min(left, everyMs))
      await settled()
    }
    return world.done
  }
  return { world, ready, pass, end }
}

describe('a process that keeps small', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }))
  afterEach(() => mock.timers.reset())

  it('does nothing before it answers, however long the start takes', async () => {
    const { ready, pass, end } = createWorld()
    assert.deepEqual(await pass(10 * settleMs), [])
    ready.resolve()
    await settled()
    assert.deepEqual(await pass(settleMs), ['collect', 'rest', 'release'])
    end()
  })

  it('rests when nothing goes on, once', async () => {
    const { world, ready, pass, end } = createWorld()
    world.isIdle = false
    ready.resolve()
    await settled()
    assert.deepEqual(await pass(settleMs), ['collect', 'release'])
    world.isIdle = true
    assert.deepEqual(await pass(everyMs), ['rest', 'release'])
    assert.deepEqual(await pass(10 * releaseEveryMs), [])
    world.bytes += restBytesMin
    assert.deepEqual(await pass(everyMs), ['rest', 'release'])
    end()
  })

  it('releases every two seconds while it is close to what it promised and changes, and at the next look after a leap', async () => {
    const { world, ready, pass, end } = createWorld()
    world.isIdle = false
    world.bytes = promisedBytes * dangerousShare
    ready.resolve()
    await settled()
    await pass(settleMs)
    for (let i = 0; i < 3; i += 1) {
      world.bytes += changeBytesMin
      assert.deepEqual(await pass(dangerEveryMs - everyMs), [])
      assert.deepEqual(await pass(everyMs), ['release'])
    }
    world.bytes += leapBytesMin
    assert.deepEqual(await pass(everyMs), ['release'])
    end()
  })

  it('stops when it is told to, also before it has begun', async () => {
    const early = createWorld()
    early.end()
    early.ready.resolve()
    await settled()
    assert.deepEqual(await early.pass(10 * everyMs), [])
    const late = createWorld()
    late.ready.resolve()
    await settled()
    await late.pass(settleMs)
    late.end()
    late.world.bytes += 2 * restBytesMin
    assert.deepEqual(await late.pass(10 * everyMs), [])
  })

  it('leaves it to others to tell why a start failed', async () => {
    const { ready, pass, end } = createWorld()
    ready.reject(new Error('refused'))
    await settled()
    assert.deepEqual(await pass(10 * settleMs), [])
    end()
  })
})
