/** Near-duplicates: the labelled pairs by type (SimHash alone against the whole rule), and CPU time a page. Argument: radius. No memory: see bench/simhash.ts. */
import { openDuplicates } from '../src/crawl/duplicates.ts'
import { hammingDistance, radiusDefault } from '../src/lib/simhash.ts'
import { migrate, openDatabase } from '../src/lib/sqlite.ts'
import { migrations } from '../src/store/schema.ts'
import { fingerprint } from '../src/text/fingerprint.ts'
import { readLabelledPairs } from '../test/near-duplicates.ts'
import { loadTestTables } from '../test/text-tables.ts'

const seed = 4_711
const radius = Number(process.argv[2] ?? radiusDefault)
type Tally = { found: number; missed: number; wrong: number }
type Cell = { pairs: number; bySimHash: number; byGroup: number }

loadTestTables()
const { texts, pairs } = readLabelledPairs()
const db = openDatabase(':memory:')
migrate(db, migrations)
const duplicates = openDuplicates(db, { radius })

/** CPU microseconds a page, garbage collection included. */
function cpuUs<T>(pages: number, work: () => T): { value: T; us: number } {
  const start = process.cpuUsage()
  const value = work()
  const { user, system } = process.cpuUsage(start)
  return { value, us: (user + system) / pages }
}

for (const { text } of texts.slice(0, 500)) fingerprint(text, seed)
const printed = cpuUs(texts.length, () => texts.map(({ text }) => fingerprint(text, seed)))
const placed = cpuUs(texts.length, () =>
  db.transaction(() =>
    printed.value.map((print, i) =>
      duplicates.place({ urlId: i + 1, hostId: 1 + (i % 7), fingerprint: print }),
    ),
  ),
)
duplicates.rolledBack()
const rebuilt = cpuUs(texts.length, () => {
  while (!duplicates.load(1_000));
})

const indexOf = new Map(texts.map(({ id }, i) => [id, i]))
const groupOf = db.prepare<{ grp: number }>('SELECT grp FROM fingerprint WHERE url_id = ?')
const cells = new Map<string, Cell>()
const bySimHash: Tally = { found: 0, missed: 0, wrong: 0 }
const byGroup: Tally = { found: 0, missed: 0, wrong: 0 }

function count(tally: Tally, label: string, isSame: boolean): void {
  if (label === '1') tally[isSame ? 'found' : 'missed'] += 1
  else if (label === '0' && isSame) tally.wrong += 1
}

for (const { a, b, label, type, lang } of pairs) {
  const [i, j] = [indexOf.get(a) ?? -1, indexOf.get(b) ?? -1]
  const [x, y] = [printed.value[i], printed.value[j]]
  if (x === undefined || y === undefined) throw new Error(`no text for the pair ${a} ${b}`)
  const isNear = hammingDistance(x.simHi, x.simLo, y.simHi, y.simLo) <= radius
  const isSame = groupOf.value(i + 1) === groupOf.value(j + 1)
  count(bySimHash, label, isNear)
  count(byGroup, label, isSame)
  const name = `${label.padStart(2)} ${type.padEnd(12)} ${lang}`
  const cell = cells.get(name) ?? { pairs: 0, bySimHash: 0, byGroup: 0 }
  cell.pairs += 1
  if (isNear) cell.bySimHash += 1
  if (isSame) cell.byGroup += 1
  cells.set(name, cell)
}

const f1 = ({ found, missed, wrong }: Tally): number =>
  Number(((2 * found) / (2 * found + missed + wrong)).toFixed(4))
console.log(`label, type, language    pairs  SimHash<=${radius}  group`)
for (const [name, cell] of [...cells].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(
    name.padEnd(24),
    String(cell.pairs).padStart(5),
    (cell.bySimHash / cell.pairs).toFixed(3).padStart(11),
    (cell.byGroup / cell.pairs).toFixed(3).padStart(6),
  )
const { entries, bytes, candidates, verifications } = duplicates.stats()
const result = {
  radius,
  f1: f1(byGroup),
  wrong: byGroup.wrong,
  missed: byGroup.missed,
  f1SimHash: f1(bySimHash),
  fingerprintUs: Math.round(printed.us),
  placeUs: Math.round(placed.us),
  rebuildUs: Number(rebuilt.us.toFixed(1)),
  candidatesAPage: Number((candidates / texts.length).toFixed(2)),
  verificationsAPage: Number((verifications / texts.length).toFixed(2)),
  entries,
  tableBytes: bytes,
}
console.log(`RESULT ${JSON.stringify(result)}`)
