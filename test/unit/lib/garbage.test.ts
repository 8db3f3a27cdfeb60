/** The collector called by hand: it gives back what a heap has grown to. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from '../../../src/lib/garbage.ts'

const megabytes = 1_024 * 1_024

describe('collectGarbage', () => {
  it('leaves a heap hardly larger than what is in use', async () => {
    let garbage: number[][] | null = Array.from({ length: 300 }, (_, i) =>
      Array.from({ length: 20_000 }, (_unused, j) => i + j + 0.5),
    )
    const grown = getHeapStatistics().total_heap_size
    assert.ok(garbage.length > 0)
    garbage = null
    await collectGarbage()
    const { total_heap_size: total, used_heap_size: used } = getHeapStatistics()
    assert.ok(total < grown - 30 * megabytes, `${grown} -> ${total}`)
    assert.ok(total - used < 8 * megabytes, `${total} for ${used}`)
  })
})
