/** The Bloom filter, mapped and on the heap: keys a second, false positives, clean close and open. Argument: keys, by default a million. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey, openBloom } from '../src/lib/bloom.ts'

const keys = Number(process.argv[2] ?? 1_000_000)
const folder = mkdtempSync(join(tmpdir(), 'findling-bloom-'))
const keyOf = (i: number): [number, number] =>
  hashKey(`/path/${(Math.imul(i, 0x9e3779b1) >>> 0).toString(36)}/item?id=${i}`, i % 97)

/** CPU seconds, of all threads of the process. */
function cpuSeconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

/** Keys are hashed beforehand in slices, so that only the filter is measured. */
function measure(from: number, act: (h1: number, h2: number) => void): number {
  const sliceKeys = 50_000
  let seconds = 0
  for (let at = from; at < from + keys; at += sliceKeys) {
    const slice = Array.from({ length: sliceKeys }, (_, i) => keyOf(at + i))
    seconds += cpuSeconds(() => {
      for (const [h1, h2] of slice) act(h1, h2)
    })
  }
  return Number((keys / 1e6 / seconds).toFixed(1))
}

const results: Record<string, object> = {}
try {
  for (const mode of ['mapped', 'memory'] as const) {
    const file = join(folder, mode)
    const bloom = await openBloom({ file, generation: 1, mode, keysExpected: keys })
    bloom.rebuilt()
    let forgotten = 0
    let maybe = 0
    const addsM = measure(0, (h1, h2) => void bloom.add(h1, h2))
    const seenM = measure(0, (h1, h2) => {
      if (!bloom.mayHave(h1, h2)) forgotten += 1
    })
    const newM = measure(keys, (h1, h2) => {
      if (bloom.mayHave(h1, h2)) maybe += 1
    })
    const { bytes, falsePositives } = bloom.stats()
    const closeMs = Math.round(cpuSeconds(() => bloom.close(2)) * 1_000)
    const start = process.cpuUsage()
    const again = await openBloom({ file, generation: 2, mode })
    const { user, system } = process.cpuUsage(start)
    results[mode] = {
      addsM,
      seenM,
      newM,
      forgotten,
      maybe,
      expectedMaybe: Number((falsePositives * keys).toFixed(2)),
      bytesAKey: Number((bytes / keys).toFixed(2)),
      closeMs,
      openMs: Math.round((user + system) / 1_000),
      needsRebuild: again.needsRebuild,
    }
    again.close()
  }
} finally {
  rmSync(folder, { recursive: true })
}
console.log(`${keys} keys; millions a second of CPU for adding, asking for seen and for new ones`)
console.table(results)
console.log(`RESULT ${JSON.stringify({ keys, ...results })}`)
