/**
 * What keywords cost a search: documents with twelve each, as words are in pages (rank r has a share of about 1 / r). CPU milliseconds of whole
 * answers by how many hits they have, with the usual facets and with keywords among them; loading them; memory. Argument: number of documents.
 */
import { createCollection, type Page, searchRequest } from '../test/unit/search/collection.ts'
import { createRandom } from '../test/site/words.ts'
import { KeywordLists } from '../src/search/keyword-lists.ts'
import { wordOfRank } from './made-up.ts'

const documents = Number(process.argv[2] ?? 100_000)
const batch = 2_000
const keywordsOfPage = 12
const vocabulary = 200_000
const rounds = 30
const usual = ['host', 'lang', 'type', 'date']
const random = createRandom(20_261_201)

const keyword = (): string => wordOfRank(Math.floor(vocabulary ** random()))
/** A word of every page, of one in two, in ten, in a hundred, in a thousand: a query for each. */
const shares = { everywhere: 1, halfway: 2, sometimes: 10, seldom: 100, rarely: 1_000 }

function pageOf(n: number): Page {
  const said = Object.entries(shares).filter(([, share]) => n % share === 0)
  const words = Array.from({ length: 4 }, keyword)
  return {
    url: `https://site${n % 40}.test/${n}`,
    title: `Page ${n}`,
    text: [...said.map(([word]) => word), ...words].join(' '),
    lang: n % 3 === 0 ? 'zh' : 'en',
    keywords: Array.from({ length: keywordsOfPage }, keyword),
  }
}

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}
const rounded = (ms: number): number => Math.round(ms * 100) / 100
/** The median of several, warm. */
function median(work: () => void): number {
  for (let i = 0; i < 5; i += 1) work()
  const times = Array.from({ length: rounds }, () => cpuMs(work)).sort((a, b) => a - b)
  return rounded(times[rounds >> 1] ?? 0)
}

const collection = createCollection()
for (let n = 1; n <= documents; n += batch)
  collection.add(
    Array.from({ length: Math.min(batch, documents - n + 1) }, (_, i) => pageOf(n + i)),
  )
collection.settle()

const answer = (q: string, facets: readonly string[], more = {}) =>
  collection.searcher.answer(searchRequest(q, { facets, ...more }), performance.now() + 60_000)
answer('rarely', usual)
const lists = new KeywordLists(collection.reader.db)
const loadMs = rounded(cpuMs(() => lists.refresh()))
const { bytes } = lists
const firstMs = rounded(cpuMs(() => void answer('rarely', [...usual, 'keyword'])))
const rows: Record<string, object> = {}
for (const word of Object.keys(shares)) {
  const { total, facets } = answer(word, ['keyword'])
  const value = facets['keyword']?.[0]?.value ?? ''
  rows[word] = {
    hits: total.value,
    usual: median(() => void answer(word, usual)),
    'and keywords': median(() => void answer(word, [...usual, 'keyword'])),
    'filtered by one': median(() => void answer(word, usual, { keyword: [value] })),
  }
}
console.table(rows)
console.log({ documents, loadMs, firstMs, bytes })
console.log(`RESULT ${JSON.stringify({ documents, loadMs, firstMs, bytes, rows })}`)
collection.close()
