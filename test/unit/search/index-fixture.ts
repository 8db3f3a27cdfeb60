/** An index in a temporary directory and its naive twin: maps of maps, the same formula written down again. No product code is used by the twin but its codes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, migrate, openDatabase } from '../../../src/lib/sqlite.ts'
import type { IndexedDocument, IndexQuery } from '../../../src/search/index.ts'
import { migrations } from '../../../src/store/schema.ts'

export type Place = { file: string; open(readonly?: boolean): Db; remove(): void }

export function createPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'findling-index-'))
  const file = join(folder, 'index.db')
  const opened: Db[] = []
  const open = (readonly = false): Db => {
    const db = openDatabase(file, { readonly })
    opened.push(db)
    return db
  }
  migrate(open(), migrations)
  return {
    file,
    open,
    remove() {
      for (const db of opened) db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `frequencies`: term -> weighted frequency. */
export function indexedDocument(
  docno: number,
  frequencies: Record<string, number>,
): IndexedDocument {
  const terms = Object.keys(frequencies)
  return {
    docno,
    terms,
    quants: Uint8Array.from(terms, (term) =>
      Math.min(63, Math.round(8 * Math.log2(1 + (frequencies[term] ?? 0)))),
    ),
    length: terms.reduce((sum, term) => sum + (frequencies[term] ?? 0), 0),
  }
}

export const bury = (db: Db, docno: number): void =>
  void db.prepare('INSERT OR IGNORE INTO tombstone(docno) VALUES (?)').run(docno)

export const indexQuery = (
  words: readonly string[],
  more: Partial<Omit<IndexQuery, 'words'>> = {},
): IndexQuery => ({
  words: words.map((term) => ({ term, weight: 1 })),
  bigrams: [],
  boosts: [],
  required: [],
  without: [],
  match: 'any',
  ...more,
})

/** Scores by docno, from nothing but the living documents. */
export function naiveScores(
  living: ReadonlyMap<number, IndexedDocument>,
  query: IndexQuery,
): Map<number, number> {
  const length = ({ length: words }: IndexedDocument): number =>
    2 ** (Math.max(1, Math.min(255, Math.round(16 * Math.log2(1 + words)))) / 16) - 1
  const documents = [...living.values()]
  const mean = documents.reduce((sum, document) => sum + length(document), 0) / documents.length
  const scores = new Map<number, number>()
  const weighted = [
    ...query.words,
    ...query.bigrams.map(({ term, weight }) => ({ term, weight: weight / 2 })),
  ]
  for (const { term, weight } of weighted) {
    const holders = documents.filter(({ terms }) => terms.includes(term))
    const idf = Math.log(1 + (documents.length - holders.length + 0.5) / (holders.length + 0.5))
    const k1 = /^ |^\p{Script=Han}/u.test(term) ? 0.7 : 1.2
    for (const document of holders) {
      const tf = 2 ** ((document.quants[document.terms.indexOf(term)] ?? 0) / 8) - 1
      const norm = 0.3 + (0.7 * length(document)) / mean
      const part = (weight * idf * tf * (k1 + 1)) / (tf + k1 * norm)
      scores.set(document.docno, (scores.get(document.docno) ?? 0) + part)
    }
  }
  return scores
}
