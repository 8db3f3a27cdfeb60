/**
 * Near-duplicate tables at 100,000, 1,000,000 and 10,000,000 fingerprints beside comparing all, by radius: lookups a CPU second, steps of one,
 * bytes, build time. Buckets are as uneven as those of real pages. Arguments: counts.
 */
import { mix32 } from '../src/lib/hash.ts'
import { hammingDistance, radiusMax, SimHashTables } from '../src/lib/simhash.ts'

const given = process.argv.slice(2).map(Number)
const counts = given.length === 0 ? [100_000, 1_000_000, 10_000_000] : given
/** Building the tables of ten million takes a minute. */
const radiiOf = (count: number): number[] =>
  count > 5_000_000 ? [3, radiusMax] : [1, 3, 4, 5, radiusMax]
const lookupsMax = 20_000
/** Wide lookups among many entries are slow. */
const stepsMax = 20_000_000
/** Comparing all is slow: so many lookups. */
const comparisonsMax = 100_000_000
const anchorsEach = 8
const hosts = 1_000

/** Bits are set in three of eight cases: buckets are 2.6 times as full as even ones (English pages 2.0, Chinese 5). */
const halfOf = (i: number, salt: number): number => {
  const first = mix32(i ^ salt)
  const second = mix32(first + 0x9e3779b9)
  return (first & (second | mix32(second + 0x85ebca6b))) >>> 0
}
const hiOf = (i: number): number => halfOf(i, 0x1234_0000)
const loOf = (i: number): number => halfOf(i, 0x5678_0000)
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

/** The k-th question: an entry with up to so many bits turned as the radius has. */
const bitsOf = (k: number, radius: number): number[] =>
  Array.from({ length: k % (radius + 1) }, (_, i) => (k * 7 + i * 21) % 64)
function questionOf(k: number, count: number, radius: number) {
  const i = Math.floor((k * 0.618_033_988 * count) % count)
  let [hi, lo] = [hiOf(i), loOf(i)]
  for (const bit of bitsOf(k, radius))
    if (bit < 32) lo = (lo ^ (1 << bit)) >>> 0
    else hi = (hi ^ (1 << (bit - 32))) >>> 0
  return { id: i + 1, simHi: hi, simLo: lo }
}

const none = new Uint32Array()

function measure(count: number) {
  const rows: Record<string, object> = {}
  for (const radius of radiiOf(count)) {
    const tables = new SimHashTables(count, radius)
    const buildMs = cpuMs(() => {
      for (let i = 0; i < count; i += 1) tables.add(entryOf(i))
    })
    // Walking cold code and tables once says how long a lookup is.
    for (let k = 0; k < 200; k += 1) tables.find({ ...questionOf(k, count, radius), anchors: none })
    const steps = tables.steps / 200
    const lookups = Math.max(500, Math.min(lookupsMax, Math.round(stepsMax / (steps + 1))))
    rows[`${count} within ${radius}`] = {
      ...speeds(count, radius, tables, lookups),
      ...compareAll(count, radius, tables),
      steps: Math.round(steps),
      'bytes/entry': Number((tables.bytes / count).toFixed(1)),
      buildMs: Math.round(buildMs),
      cutBuckets: tables.cutBuckets,
    }
  }
  return rows
}

function speeds(count: number, radius: number, tables: SimHashTables, lookups: number) {
  let missed = 0
  const findMs = cpuMs(() => {
    for (let k = 0; k < lookups; k += 1) {
      const { id, simHi, simLo } = questionOf(k, count, radius)
      const { near } = tables.find({ simHi, simLo, anchors: none })
      if (!near.some((candidate) => candidate.id === id)) missed += 1
    }
  })
  const wholeMs = cpuMs(() => {
    for (let k = 0; k < lookups; k += 1) {
      const { id, simHi, simLo } = questionOf(k, count, radius)
      tables.find({ simHi, simLo, anchors: anchorsOf(id - 1) })
    }
  })
  return {
    'lookups/s': Math.round((lookups / findMs) * 1_000),
    'with anchors/s': Math.round((lookups / wholeMs) * 1_000),
    missed,
  }
}

/** Every entry against the question, from two plain arrays: the speed, and where the tables answered otherwise. */
function compareAll(count: number, radius: number, tables: SimHashTables) {
  const hi = Uint32Array.from({ length: count }, (_, i) => hiOf(i))
  const lo = Uint32Array.from({ length: count }, (_, i) => loOf(i))
  const times = Math.max(3, Math.floor(comparisonsMax / count))
  const answers: Set<number>[] = []
  const ms = cpuMs(() => {
    for (let k = 0; k < times; k += 1) {
      const { simHi, simLo } = questionOf(k, count, radius)
      const near = new Set<number>()
      for (let i = 0; i < count; i += 1)
        if (hammingDistance(hi[i] as number, lo[i] as number, simHi, simLo) <= radius)
          near.add(i + 1)
      answers.push(near)
    }
  })
  let wrong = 0
  for (const [k, expected] of answers.entries()) {
    const { simHi, simLo } = questionOf(k, count, radius)
    const { near } = tables.find({ simHi, simLo, anchors: none })
    if (near.length !== expected.size || near.some(({ id }) => !expected.has(id))) wrong += 1
  }
  return {
    'comparing all/s': Number(((times / ms) * 1_000).toPrecision(3)),
    'unlike comparing all': wrong,
  }
}

const results: Record<string, object> = {}
for (const count of counts) {
  const rows = measure(count)
  console.table(rows)
  Object.assign(results, rows)
}
console.log(`RESULT ${JSON.stringify(results)}`)
