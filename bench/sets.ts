/**
 * Exact sets of document numbers, as Roaring containers and as a bit a document: bytes kept, and CPU microseconds to build, meet, join, turn round
 * and walk. Arguments: numbers of documents.
 */
import { RoaringSet } from '../src/lib/roaring.ts'
import { mix32 } from '../src/lib/hash.ts'

const given = process.argv.slice(2).map(Number)
const counts = given.length === 0 ? [100_000, 1_000_000] : given
const rounds = 60

type Kind = 'rare' | 'common' | 'most' | 'runs'
/** A word of one page in ten thousand; of one in five; of three in five; the pages of a site, which come in runs. */
const kinds: Record<Kind, (docno: number) => boolean> = {
  rare: (docno) => mix32(docno) % 10_000 === 0,
  common: (docno) => mix32(docno + 1) % 5 === 0,
  most: (docno) => mix32(docno + 2) % 5 < 3,
  runs: (docno) => Math.floor(docno / 500) % 4 === 0,
}
const kindNames = Object.keys(kinds) as Kind[]

type Made<S> = {
  build(docnos: Uint32Array): S
  and(a: S, b: S): unknown
  or(a: S, b: S): unknown
  not(a: S, limit: number): unknown
  walk(a: S): number
  bytes(a: S): number
}

const roaring: Made<RoaringSet> = {
  build(docnos) {
    const set = new RoaringSet()
    for (let i = 0; i < docnos.length; i += 1) set.add(docnos[i] as number)
    set.pack()
    return set
  },
  and: (a, b) => a.and(b),
  or: (a, b) => a.or(b),
  not: (a, limit) => RoaringSet.range(0, limit).andNot(a),
  walk(a) {
    let sum = 0
    a.each((docno) => (sum += docno) >= 0)
    return sum
  },
  bytes: (a) => a.bytes,
}

/** As sets of documents were before. Meeting changes the first one, so that a copy is made of it. */
const bitsOf = (limit: number): Made<Uint32Array> => ({
  build(docnos) {
    const set = new Uint32Array((limit + 31) >>> 5)
    for (let i = 0; i < docnos.length; i += 1) {
      const docno = docnos[i] as number
      set[docno >>> 5] = ((set[docno >>> 5] as number) | (1 << (docno & 31))) >>> 0
    }
    return set
  },
  and(a, b) {
    const set = a.slice()
    for (let i = 0; i < set.length; i += 1) set[i] = ((set[i] as number) & (b[i] as number)) >>> 0
    return set
  },
  or(a, b) {
    const set = a.slice()
    for (let i = 0; i < set.length; i += 1) set[i] = ((set[i] as number) | (b[i] as number)) >>> 0
    return set
  },
  not(a) {
    const set = a.slice()
    for (let i = 0; i < set.length; i += 1) set[i] = ~(set[i] as number) >>> 0
    return set
  },
  walk(a) {
    let sum = 0
    for (let i = 0; i < a.length; i += 1)
      for (let bits = a[i] as number; bits !== 0; bits = (bits & (bits - 1)) >>> 0)
        sum += i * 32 + 31 - Math.clz32(bits & -bits)
    return sum
  },
  bytes: (a) => a.byteLength,
})

/** CPU microseconds of one call, warm. */
function cpuUs(work: () => unknown): number {
  for (let i = 0; i < 10; i += 1) work()
  const start = process.cpuUsage()
  for (let i = 0; i < rounds; i += 1) work()
  const { user, system } = process.cpuUsage(start)
  return Math.round(((user + system) / rounds) * 10) / 10
}

function measure<S>(limit: number, made: Made<S>): Record<string, object> {
  const lists = kindNames.map((kind) =>
    Uint32Array.from(
      Array.from({ length: limit }, (_, docno) => docno).filter((docno) => kinds[kind](docno)),
    ),
  )
  const sets = lists.map((list) => made.build(list))
  return Object.fromEntries(
    kindNames.map((kind, i) => {
      const [list, set] = [lists[i] as Uint32Array, sets[i] as S]
      const meets = Object.fromEntries(
        kindNames.map((other, j) => [`and ${other}`, cpuUs(() => made.and(set, sets[j] as S))]),
      )
      return [
        kind,
        {
          docnos: list.length,
          bytes: made.bytes(set),
          build: cpuUs(() => made.build(list)),
          ...meets,
          'or common': cpuUs(() => made.or(set, sets[1] as S)),
          not: cpuUs(() => made.not(set, limit)),
          walk: cpuUs(() => made.walk(set)),
        },
      ]
    }),
  )
}

const results: Record<string, unknown> = {}
for (const limit of counts) {
  const [ours, bits] = [measure(limit, roaring), measure(limit, bitsOf(limit))]
  console.log(`${limit} documents: Roaring containers, then a bit a document; CPU microseconds`)
  console.table(ours)
  console.table(bits)
  results[limit] = { roaring: ours, bits }
}
console.log(`RESULT ${JSON.stringify(results)}`)
