/**
 * What phrases of two words take that 20-60 % of the documents hold: pairs that are rare, and words that often follow each other. CPU ms of
 * finding the pages alone (the first time and later on) and of whole answers; and whether they are what a look at every text finds.
 * `npm run bench -- phrases [DOCUMENTS] [DATA]`: 20,000 made-up documents; DATA is a directory of them that is kept.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { searchRequest, testAnalyzer } from '../test/unit/search/collection.ts'
import { Attributes } from '../src/search/attributes.ts'
import { createConditions } from '../src/search/conditions.ts'
import { createIndexReader } from '../src/search/flex.ts'
import { createSearcher } from '../src/search/search.ts'
import { openReader, type Reader } from '../src/store/reader.ts'
import { foldText } from '../src/text/normalize.ts'
import { holdsPhrase, phraseOf } from '../src/text/phrase.ts'
import { fillDirectory } from './filled.ts'
import { followerOf, wordOfRank } from './made-up.ts'

const documentsDefault = 20_000
const repetitions = 15
const answerMs = 60_000
const textsAtOnce = 200
/** Of words that 23 to 52 % of the documents have. */
const ranks = [20, 25, 30, 35, 40, 45, 50, 55]

const phrases = [
  ...ranks.slice(0, 4).map((rank, i) => [rank, ranks[i + 4] as number] as const),
  ...ranks.map((rank) => [rank, followerOf(rank)] as const),
].map(([a, b]) => `${wordOfRank(a)} ${wordOfRank(b)}`)

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return Math.round((user + system) / 100) / 10
}
const p50 = (work: () => void): number =>
  Array.from({ length: repetitions }, () => cpuMs(work)).toSorted((a, b) => a - b)[
    repetitions >> 1
  ] ?? 0

/** Pages that hold each phrase, by their texts. */
function countNaively(reader: Reader): number[] {
  const wanted = phrases.map((text) => phraseOf(text))
  const counts = phrases.map(() => 0)
  for (let last = 0; ;) {
    const texts = reader.documentsAfter(last, textsAtOnce)
    if (texts.length === 0) return counts
    last = texts.at(-1)?.docno ?? last
    for (const { title, text } of texts) {
      const parts = [foldText(text), foldText(title)]
      for (const [i, phrase] of wanted.entries())
        if (phrase !== null && parts.some((part) => holdsPhrase(part, phrase)))
          counts[i] = (counts[i] as number) + 1
    }
  }
}

function measure(data: string) {
  const reader = openReader(join(data, 'findling.db'))
  const index = createIndexReader(reader.db)
  const attributes = new Attributes(reader.db)
  const conditions = createConditions(reader, testAnalyzer(), index, attributes)
  const searcher = createSearcher(reader, testAnalyzer())
  const naive = countNaively(reader)
  const within = (work: () => void) => (): void => {
    index.begin()
    attributes.refresh(index.documents())
    work()
    index.end()
  }
  const find = (text: string) =>
    within(() => void conditions.evaluate([{ kind: 'phrase', text }], performance.now() + answerMs))
  // Columns, and code that is cold.
  find('none at all')()
  const rows = phrases.map((text, i) => {
    const firstMs = cpuMs(find(text))
    const foundMs = p50(find(text))
    let total = ''
    const answerCpuMs = p50(() => {
      const answer = searcher.answer(searchRequest(`"${text}"`), performance.now() + answerMs)
      total = `${answer.total.relation} ${answer.total.value}`
    })
    const isExact = total === `eq ${naive[i]}`
    return { phrase: text, total, isExact, firstMs, foundMs, answerMs: answerCpuMs }
  })
  reader.close()
  return rows
}

function run([count, kept]: readonly string[]): void {
  const documents = Number(count ?? documentsDefault)
  const temporary = mkdtempSync(join(tmpdir(), 'findling-bench-'))
  const data = kept ?? temporary
  try {
    mkdirSync(data, { recursive: true })
    if (!existsSync(join(data, 'findling.db'))) fillDirectory(data, documents)
    const rows = measure(data)
    console.table(rows)
    console.log(`RESULT ${JSON.stringify({ documents, rows })}`)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

if (import.meta.main) run(process.argv.slice(2))
