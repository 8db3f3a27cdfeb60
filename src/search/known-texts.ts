/** What suggestions are looked up in without the index: frequent queries, and the newest titles with Chinese characters. Bounded, in memory. */
import type { Reader } from '../store/reader.ts'
import { type AskedQuery, frequentQueries } from '../store/asked-queries.ts'
import { foldText } from '../text/normalize.ts'
import { findReading, hasHan, type Readable, readableOf } from './readings.ts'

const queriesMax = 2_000
/** Asked less often, it may be one person's. */
const askedMin = 3
const queriesEveryMs = 10_000
const titlesMax = 5_000
/** Titles read in one call: some milliseconds. */
const titlesPerCall = 250
/** Rows looked at in one call, with Chinese characters or without. */
const rowsPerCall = 2_000
const foundMax = 40

type Title = { docno: number; text: string; folded: string; readable: Readable }
/** `range` = the units of the text that are read as was typed. */
export type ReadTitle = { text: string; range: [number, number] }

export class KnownTexts {
  readonly #store: Reader
  #statements: ReturnType<typeof prepareAll> | null = null
  #queries: { asked: AskedQuery; folded: string; readable: Readable | null }[] = []
  #queriesReadMs = Number.NEGATIVE_INFINITY
  /** Newest first; beyond what was read in the beginning, new ones are put before them. */
  #titles: Title[] = []
  #newest = 0
  /** Older ones down to this docno are read; 0 = all that are wanted. */
  #oldest: number | null = null

  constructor(store: Reader) {
    this.#store = store
  }

  /** Frequent queries that begin so, or that are read so. */
  queries(folded: string, letters: string | null, nowMs: number): AskedQuery[] {
    if (nowMs >= this.#queriesReadMs + queriesEveryMs) {
      this.#queriesReadMs = nowMs
      const before = new Map(this.#queries.map((one) => [one.asked.text, one.readable]))
      this.#queries = frequentQueries(this.#store.db, askedMin, queriesMax).map((asked) => ({
        asked,
        folded: foldText(asked.text),
        readable: before.get(asked.text) ?? (hasHan(asked.text) ? readableOf(asked.text) : null),
      }))
    }
    return this.#queries
      .filter(
        ({ folded: known, readable }) =>
          known.startsWith(folded) ||
          (letters !== null && readable !== null && findReading(readable, letters)?.[0] === 0),
      )
      .map(({ asked }) => asked)
  }

  /** Titles with characters that are read so. A title that is gone is none. */
  titles(letters: string): ReadTitle[] {
    this.readOn()
    const found: ReadTitle[] = []
    for (const title of this.#titles) {
      const range = findReading(title.readable, letters)
      if (range !== null && this.#titleOf(title.docno) === title.text)
        found.push({ text: title.text, range })
      if (found.length === foundMax) break
    }
    return found
  }

  /** Titles that hold these characters. */
  holding(folded: string): string[] {
    this.readOn()
    const found: string[] = []
    for (const { text, docno, folded: title } of this.#titles) {
      if (title.includes(folded) && this.#titleOf(docno) === text) found.push(text)
      if (found.length === foundMax) break
    }
    return found
  }

  /** Takes over some titles, new ones first; false when all are there. */
  readOn(): boolean {
    const { newest, newer: after, older } = this.#prepared()
    if (this.#oldest === null) {
      this.#newest = newest.value() ?? 0
      this.#oldest = this.#newest + 1
    }
    const newer = after.all(this.#newest)
    this.#newest = newer.at(-1)?.docno ?? this.#newest
    this.#titles.unshift(...newer.toReversed().flatMap(titleOf))
    if (this.#titles.length > titlesMax) this.#titles.length = titlesMax
    if (this.#oldest === 0 || newer.length === titlesPerCall) return newer.length > 0
    const room = Math.min(titlesPerCall, titlesMax - this.#titles.length)
    const read: Title[] = []
    let last = 0
    for (const row of older.iterate(this.#oldest)) {
      if (read.length >= room) break
      last = row.docno
      read.push(...titleOf(row))
    }
    this.#titles.push(...read)
    this.#oldest = last
    return last > 0
  }

  /** When first asked: an older directory that is only read may lack a table. */
  #prepared(): ReturnType<typeof prepareAll> {
    this.#statements ??= prepareAll(this.#store)
    return this.#statements
  }

  #titleOf(docno: number): string | undefined {
    return this.#prepared().titleOf.value(docno)
  }
}

type Row = { docno: number; title: string }
const prepareAll = ({ db }: Reader) => ({
  newest: db.prepare<{ n: number }>('SELECT max(docno) AS n FROM doc'),
  newer: db.prepare<Row>(
    `SELECT docno, title FROM doc WHERE docno > ? ORDER BY docno LIMIT ${titlesPerCall}`,
  ),
  older: db.prepare<Row>(
    `SELECT docno, title FROM doc WHERE docno < ? ORDER BY docno DESC LIMIT ${rowsPerCall}`,
  ),
  titleOf: db.prepare<{ title: string }>('SELECT title FROM doc WHERE docno=?'),
})

const titleOf = ({ docno, title }: Row): Title[] =>
  hasHan(title)
    ? [{ docno, text: title, folded: foldText(title), readable: readableOf(title) }]
    : []
