/** A data directory of made-up pages, as a crawl leaves one behind: texts, index, hosts, dates, a field. No bench by itself. */
import { createCollection, type Page } from '../test/unit/search/collection.ts'
import { createRandom, type Random } from '../test/site/words.ts'
import { analyzerKey } from '../src/text/user-words.ts'
import { makeRanks, wordOfRank } from './made-up.ts'

const batchDocuments = 100
const sliceMs = 25
const titleWords = 5
const sentenceWords = 14
const hosts = 40
const langs = ['en', 'en', 'en', 'de', 'fr']
const colours = ['red', 'green', 'blue', 'white', 'black']
const firstDayMs = Date.UTC(2022, 0, 1)
const days = 1_500
const dayMs = 86_400_000

/** Words as they follow each other, with a capital and a stop for each sentence. */
function proseOf(ranks: readonly number[]): string {
  let text = ''
  for (const [i, rank] of ranks.entries()) {
    const word = wordOfRank(rank)
    if (i % sentenceWords !== 0) text += ` ${word}`
    else text += `${i > 0 ? '. ' : ''}${word.charAt(0).toUpperCase()}${word.slice(1)}`
  }
  return `${text}.`
}

function pageOf(i: number, random: Random): Page {
  const ranks = makeRanks(random)
  const at = (end: number): number => Math.floor(random() * end)
  return {
    url: `http://site${at(hosts)}.example/folder${at(50)}/page${i}.html`,
    title: proseOf(ranks.slice(0, titleWords)),
    text: proseOf(ranks),
    lang: langs[at(langs.length)] as string,
    publishedAt: new Date(firstDayMs + at(days) * dayMs).toISOString(),
    fields: { colour: colours[at(colours.length)], pages: at(1_000) },
  }
}

/** @param folder an empty one */
export function fillDirectory(folder: string, documents: number): void {
  const collection = createCollection({ folder })
  const random = createRandom(1)
  for (let first = 1; first <= documents; first += batchDocuments) {
    const many = Math.min(batchDocuments, documents - first + 1)
    collection.add(Array.from({ length: many }, (_, i) => pageOf(first + i, random)))
    while (collection.writer.work(sliceMs, false));
  }
  collection.settle()
  const { store } = collection
  store.transaction(() => {
    store.meta.set('analyzer', analyzerKey([]))
    store.meta.set('words', '')
  })
  collection.close()
}
