/** Near-duplicate tables at 100,000, 1,000,000 and 10,000,000 fingerprints beside comparing all: lookups a CPU second, bytes, build time. Arguments: counts. */
import { mix32 } from '../src/lib/hash.ts'
import { hammingDistance, radius, SimHashTables } from '../src/lib/simhash.ts'

const given = process.argv.slice(2).map(Number)
const counts = given.length === 0 ? [100_000, 1_000_000, 10_000_000] : given
const lookups = 20_000
/** Comparing all is slow: so many lookups. */
const comparisonsMax = 100_000_000
const anchorsEach = 8
const hosts = 1_000

const hiOf = (i: number): number => mix32(Math.imul(i, 0x9e3779b1) ^ 0x1234) >>> 0
const loOf = (i: number): number => mix32(Math.imul(i, 0x85ebca6b) ^ 0x5678) >>> 0
const anchorsOf = (i: number): Uint32Array =>
  Uint32Array.from({ length: anchorsEach }, (_, k) => mix32(i * anchorsEach + k) >>> 0)
const entryOf = (i: number) => ({
  id: i + 1,
  host: 1 + (i % hosts),
  simHi: hiOf(i),
  simLo: loOf(i),
  anchors: anchorsOf(i),
})

function cpuMs(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

/** The k-th question: an entry with up to three bits turned. */
const bitsOf = (k: number): number[] =>
  Array.from({ length: k % (radius + 1) }, (_, i) => (k * 7 + i * 21) % 64)
function questionOf(k: number, count: number) {
  const i = Math.floor((k * 0.618_033_988 * count) % count)
  let [hi, lo] = [hiOf(i), loOf(i)]
  for (const bit of bitsOf(k))
    if (bit < 32) lo = (lo ^ (1 << bit)) >>> 0
    else hi = (hi ^ (1 << (bit - 32))) >>> 0
  return { id: i + 1, simHi: hi, simLo: lo }
}

function measure(count: number) {
  const tables = new SimHashTables(count)
  const buildMs = cpuMs(() => {
    for (let i = 0; i < count; i += 1) tables.add(entryOf(i))
  })
  const none = new Uint32Array()
  let missed = 0
  let found = 0
  const findMs = cpuMs(() => {
    for (let k = 0; k < lookups; k += 1) {
      const { id, simHi, simLo } = questionOf(k, count)
      const { near } = tables.find({ simHi, simLo, anchors: none })
      found += near.length
      if (!near.some((candidate) => candidate.id === id)) missed += 1
    }
  })
  const wholeMs = cpuMs(() => {
    for (let k = 0; k < lookups; k += 1) {
      const { id, simHi, simLo } = questionOf(k, count)
      tables.find({ simHi, simLo, anchors: anchorsOf(id - 1) })
    }
  })
  const { brute, wrong } = compareAll(count, tables)
  return {
    'lookups/s': Math.round((lookups / findMs) * 1_000),
    'with anchors/s': Math.round((lookups / wholeMs) * 1_000),
    'comparing all/s': Number(brute.toPrecision(3)),
    'bytes/entry': Number((tables.bytes / count).toFixed(1)),
    buildMs: Math.round(buildMs),
    missed,
    found,
    'unlike brute force': wrong,
    cutBuckets: tables.cutBuckets,
  }
}

/** Every entry against the question, from two plain arrays: the speed, and where the tables answered otherwise. */
function compareAll(count: number, tables: SimHashTables): { brute: number; wrong: number } {
  const hi = Uint32Array.from({ length: count }, (_, i) => hiOf(i))
  const lo = Uint32Array.from({ length: count }, (_, i) => loOf(i))
  const times = Math.max(3, Math.floor(comparisonsMax / count))
  const answers: Set<number>[] = []
  const ms = cpuMs(() => {
    for (let k = 0; k < times; k += 1) {
      const { simHi, simLo } = questionOf(k, count)
      const near = new Set<number>()
      for (let i = 0; i < count; i += 1)
        if (hammingDistance(hi[i] as number, lo[i] as number, simHi, simLo) <= radius)
          near.add(i + 1)
      answers.push(near)
    }
  })
  let wrong = 0
  for (const [k, expected] of answers.entries()) {
    const { simHi, simLo } = questionOf(k, count)
    const { near } = tables.find({ simHi, simLo, anchors: new Uint32Array() })
    if (near.length !== expected.size || near.some(({ id }) => !expected.has(id))) wrong += 1
  }
  return { brute: (times / ms) * 1_000, wrong }
}

const results = Object.fromEntries(counts.map((count) => [count, measure(count)]))
console.table(results)
console.log(`RESULT ${JSON.stringify(results)}`)
