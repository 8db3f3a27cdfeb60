/**
 * URLs seen: the filter, mapped and on the heap, with as many URLs as asked for and four times as many others, of four families; beside it
 * npm's bloom-filters, a Set and a unique index of SQLite with fewer. Operations a CPU second, false positives with their confidence, bytes a
 * key. Argument: URLs.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import rivals from 'bloom-filters'
import { hashKey, openBloom } from '../src/lib/bloom.ts'
import { openDatabase } from '../src/lib/sqlite.ts'

const urls = Number(process.argv[2] ?? 10_000_000)
/** What the slow ones get: their speed and bytes a key are those of so many. */
const urlsOfSet = Math.min(urls, 1_000_000)
const urlsOfSqlite = Math.min(urls, 500_000)
const urlsOfRival = Math.min(urls, 100_000)
const sliceUrls = 50_000

const folder = mkdtempSync(join(tmpdir(), 'findling-bloom-'))
/** What sites count up: the hash has to tell near neighbours apart. */
const families: Record<string, (i: number) => string> = {
  'many hosts': (i) =>
    `https://www.site${i % 977}.example/path/${(Math.imul(i, 0x9e3779b1) >>> 0).toString(36)}/item?id=${i}`,
  'numbered pages': (i) => `https://docs.example/page/${i}`,
  'dates of a calendar': (i) =>
    `https://shop.example/calendar?year=${1_000 + (i % 5_000)}&month=${1 + (Math.floor(i / 5_000) % 12)}&day=${Math.floor(i / 60_000)}`,
  'names in Chinese': (i) =>
    `https://zh.example/%E6%96%87%E7%AB%A0/${i % 1_000}/${Math.floor(i / 1_000)}/%E8%AF%84?page=${i % 97}`,
}
const familyNames = Object.keys(families)
const familyOf = (i: number): string => familyNames[i % familyNames.length] as string
const urlOf = (i: number): string =>
  families[familyOf(i)]?.(Math.floor(i / familyNames.length)) ?? ''
const timesOthers = 4

function cpuSeconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

/** URLs are made beforehand in slices; hashing them is part of what is measured. @returns operations a CPU second */
function speed(from: number, count: number, act: (url: string) => void): number {
  let seconds = 0
  for (let at = from; at < from + count; at += sliceUrls) {
    const slice = Array.from({ length: Math.min(sliceUrls, from + count - at) }, (_, i) =>
      urlOf(at + i),
    )
    seconds += cpuSeconds(() => slice.forEach(act))
  }
  return Math.round(count / seconds)
}

/**
 * Interval of a Poisson mean, 95 % (two-sided), after `events` (Wilson and Hilferty 1931): what lies outside would have given so many, or so
 * few, once in forty runs.
 */
function poissonInterval(events: number): [low: number, high: number] {
  const limit = (n: number, z: number): number =>
    n * (1 - 1 / (9 * n) + z / (3 * Math.sqrt(n))) ** 3
  return [events === 0 ? 0 : limit(events, -1.96), limit(events + 1, 1.96)]
}

const rateOf = (count: number, events: number): string =>
  `${(events / count).toExponential(2)} (95 %: ${poissonInterval(events)
    .map((mean) => (mean / count).toExponential(1))
    .join(' .. ')})`

type Tested = { add: (url: string) => void; has: (url: string) => boolean }

function measure(count: number, { add, has }: Tested) {
  let forgotten = 0
  const maybe = new Map(familyNames.map((name) => [name, 0]))
  const inserts = speed(0, count, add)
  const seen = speed(0, count, (url) => {
    if (!has(url)) forgotten += 1
  })
  let at = count
  const others = speed(count, count * timesOthers, (url) => {
    const family = familyOf(at++)
    if (has(url)) maybe.set(family, (maybe.get(family) ?? 0) + 1)
  })
  const all = [...maybe.values()].reduce((sum, n) => sum + n, 0)
  return {
    urls: count,
    'inserts/s': inserts,
    'seen/s': seen,
    'others/s': others,
    forgotten,
    'false positives': all,
    rate: rateOf(count * timesOthers, all),
    'by family': [...maybe.values()].join(' + '),
  }
}

async function ours(mode: 'mapped' | 'memory') {
  const file = join(folder, mode)
  const bloom = await openBloom({ file, generation: 1, mode, keysExpected: urls })
  bloom.rebuilt()
  const result = measure(urls, {
    add: (url) => void bloom.add(...hashKey(url)),
    has: (url) => bloom.mayHave(...hashKey(url)),
  })
  const { bytes, falsePositives } = bloom.stats()
  const expected = falsePositives * urls * timesOthers
  const [low, high] = poissonInterval(result['false positives'])
  const closeMs = Math.round(cpuSeconds(() => bloom.close(2)) * 1_000)
  const again = await openBloom({ file, generation: 2, mode })
  const isTrusted = !again.needsRebuild
  again.close()
  return {
    ...result,
    'bytes/key': bytes / urls,
    'by theory': falsePositives.toExponential(2),
    expected: Number(expected.toFixed(1)),
    isAsExpected: expected >= low && expected <= high,
    closeMs,
    isTrusted,
  }
}

function rival() {
  const rate = 7.4e-7
  const filter = rivals.BloomFilter.create(urlsOfRival, rate)
  const bytes = (-Math.log(rate) / Math.log(2) ** 2 / 8) * urlsOfRival
  const result = measure(urlsOfRival, {
    add: (url) => filter.add(url),
    has: (url) => filter.has(url),
  })
  return { ...result, 'bytes/key': bytes / urlsOfRival, 'by theory': rate.toExponential(1) }
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}

function set() {
  const before = heapBytes()
  const urlsSeen = new Set<string>()
  const result = measure(urlsOfSet, {
    add: (url) => void urlsSeen.add(url),
    has: (url) => urlsSeen.has(url),
  })
  const bytes = heapBytes() - before
  // Asked once more, so that the Set lives until its memory is measured.
  return { ...result, 'bytes/key': bytes / urlsSeen.size }
}

function sqlite() {
  const file = join(folder, 'urls.db')
  const db = openDatabase(file)
  db.exec('CREATE TABLE url(id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE) STRICT')
  const insert = db.prepare('INSERT OR IGNORE INTO url(url) VALUES(?)')
  const find = db.prepare<{ id: number }>('SELECT id FROM url WHERE url=?')
  // As a crawl does: many in one transaction.
  const result = db.transaction(() =>
    measure(urlsOfSqlite, {
      add: (url) => void insert.run(url),
      has: (url) => find.value(url) !== undefined,
    }),
  )
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return { ...result, 'bytes/key': statSync(file).size / urlsOfSqlite }
}

async function main(): Promise<void> {
  const results: Record<string, object> = {}
  try {
    results['Set'] = set()
    results['bloom-filters'] = rival()
    results['SQLite unique index'] = sqlite()
    results['mapped'] = await ours('mapped')
    results['memory'] = await ours('memory')
  } finally {
    rmSync(folder, { recursive: true })
  }
  console.log(
    'operations a CPU second, hashing included; others: four times as many URLs that were never added, as many of each family',
  )
  console.table(results)
  console.log(`RESULT ${JSON.stringify({ urls, ...results })}`)
}

await main()
