/** What changed between two versions of a page: a few facts of the newest few changes of each. */
import type { Db } from '../lib/sqlite.ts'
import type { DocumentChange } from './records.ts'

export type ChangeTable = {
  /** In a transaction. */
  addChange(urlId: number, atMs: number, change: Omit<DocumentChange, 'at'>): void
  /** Newest first. */
  changesOf(urlId: number): DocumentChange[]
  dropChanges(urlId: number): void
}

export const changesKept = 8
/** Of a long text, its beginning is compared. */
const comparedCharsMax = 200_000
const titleCharsMax = 200

export function createChangeTable(db: Db): ChangeTable {
  const insert = db.prepare('INSERT OR REPLACE INTO doc_change(url_id, at, change) VALUES(?, ?, ?)')
  const forget = db.prepare(
    `DELETE FROM doc_change WHERE url_id=? AND at <=
       (SELECT at FROM doc_change WHERE url_id=? ORDER BY at DESC LIMIT 1 OFFSET ${changesKept})`,
  )
  const all = db.prepare<{ at: number; change: string }>(
    'SELECT at, change FROM doc_change WHERE url_id=? ORDER BY at DESC',
  )
  const drop = db.prepare('DELETE FROM doc_change WHERE url_id=?')
  return {
    addChange(urlId, atMs, change) {
      insert.run(urlId, Math.round(atMs), JSON.stringify(change))
      forget.run(urlId, urlId)
    },
    changesOf: (urlId) =>
      all.all(urlId).map(({ at, change }) => ({
        at: new Date(at).toISOString(),
        ...(JSON.parse(change) as Omit<DocumentChange, 'at'>),
      })),
    dropChanges(urlId) {
      drop.run(urlId)
    },
  }
}

type Version = { title: string; text: string }

/** `title_before` null where the title stayed. */
export function changeOf(before: Version, after: Version): Omit<DocumentChange, 'at'> {
  return {
    title_before: before.title === after.title ? null : before.title.slice(0, titleCharsMax),
    characters_before: before.text.length,
    characters: after.text.length,
    similarity: Math.round(100 * lineSimilarity(before.text, after.text)) / 100,
  }
}

/** The share of both texts, by characters, that stands in lines that both have (Dice). 1 = the same lines. */
export function lineSimilarity(a: string, b: string): number {
  if (a === b) return 1
  const [linesA, linesB] = [linesOf(a), linesOf(b)]
  let shared = 0
  for (const [line, count] of linesA) shared += line.length * Math.min(count, linesB.get(line) ?? 0)
  const all = charactersOf(linesA) + charactersOf(linesB)
  return all === 0 ? 1 : (2 * shared) / all
}

function linesOf(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of text.slice(0, comparedCharsMax).split('\n')) {
    const trimmed = line.trim()
    if (trimmed !== '') counts.set(trimmed, (counts.get(trimmed) ?? 0) + 1)
  }
  return counts
}

const charactersOf = (lines: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const [line, count] of lines) sum += line.length * count
  return sum
}
