/** What phrases of common words take, with pairs of neighbouring words and without, over made-up texts: CPU ms, hits, bytes. `npm run bench -- phrases [N]`. */
import { createCollection, searchRequest, testAnalyzer } from '../test/unit/search/collection.ts'
import { createRandom } from '../test/site/words.ts'

const wordsPerDocument = 380
const vocabularySize = 60_000
const batchDocuments = 200
const repetitions = 15
const answerMs = 60_000

const wordOfRank = (rank: number): string => `w${rank.toString(36)}`
/** In 20-60 % of the documents. */
const common = [45, 60, 75, 90, 105, 120].map(wordOfRank)

function textOf(random: () => number): string {
  const length = Math.round(wordsPerDocument * (0.4 + 1.2 * random()))
  const words = Array.from({ length }, () => wordOfRank(Math.floor(vocabularySize ** random())))
  return words.join(' ')
}

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

function run([count = '20000']: readonly string[]): void {
  const documents = Number(count)
  const isPaired = { value: true }
  const analyzer = testAnalyzer()
  const collection = createCollection({
    // The same index, asked as if it had no pairs.
    searchBy: () =>
      Object.defineProperty({ ...analyzer }, 'hasPairs', { get: () => isPaired.value }),
  })
  const random = createRandom(1)
  for (let first = 0; first < documents; first += batchDocuments) {
    collection.add(
      Array.from({ length: batchDocuments }, (_, i) => ({
        url: `http://a.example/${first + i}`,
        text: textOf(random),
      })),
    )
    while (collection.writer.work(25, false));
  }
  collection.settle()
  const { db } = collection.store
  const bytes = db.prepare<{ n: number }>('SELECT sum(length(b)) AS n FROM leaf').value() ?? 0
  const rows: Record<string, unknown>[] = []
  for (const [i, first] of common.entries()) {
    const q = `"${first} ${common[(i + 1) % common.length]}"`
    const row: Record<string, unknown> = { q }
    for (const isWith of [true, false]) {
      isPaired.value = isWith
      let total = ''
      const ask = (): void => {
        const answer = collection.searcher.answer(searchRequest(q), performance.now() + answerMs)
        total = `${answer.total.relation} ${answer.total.value}`
      }
      const times = Array.from({ length: isWith ? repetitions : 2 }, () => cpuMs(ask))
      const p50 = times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0
      row[isWith ? 'pairs' : 'texts'] = `${p50.toFixed(1)} ms, ${total}`
    }
    rows.push(row)
  }
  console.table(rows)
  console.log(
    `RESULT ${JSON.stringify({ documents, indexBytesADocument: Math.round(bytes / documents), rows })}`,
  )
  collection.close()
}

if (import.meta.main) run(process.argv.slice(2))
