/** Since when a page has its text: through edits, not through another text. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openDuplicates } from '../../../src/crawl/duplicates.ts'
import { migrate, openDatabase } from '../../../src/lib/sqlite.ts'
import { migrations } from '../../../src/store/schema.ts'
import { fingerprint } from '../../../src/text/fingerprint.ts'
import { loadTestTables } from '../../text-tables.ts'

loadTestTables()

/** 200 words of a topic, every 20th of them another where it is edited. */
const textOf = (topic: number, isEdited = false): string =>
  Array.from(
    { length: 200 },
    (_, i) =>
      `w${'abcdefghij'[topic % 10]}${(isEdited && i % 20 === 0 ? i + 1_000 : i).toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')}`,
  ).join(' ')

describe('the age of a text', () => {
  const db = openDatabase(':memory:')
  migrate(db, migrations)
  const duplicates = openDuplicates(db)
  const placeAt = (urlId: number, text: string, atMs?: number): number => {
    const print = fingerprint(text, 4_711)
    db.transaction(() =>
      duplicates.place({ urlId, hostId: urlId, fingerprint: print, ...(atMs && { atMs }) }),
    )
    return (
      db.prepare<{ since: number }>('SELECT since FROM fingerprint WHERE url_id=?').value(urlId) ??
      0
    )
  }
  it('is kept through edits, and not through another text', () => {
    assert.equal(placeAt(1, textOf(0), 1_000), 1_000)
    assert.equal(placeAt(1, textOf(0, true), 2_000), 1_000)
    assert.equal(placeAt(1, textOf(1), 3_000), 3_000)
  })
  it('is its own for a page that takes the text of another', () => {
    assert.equal(placeAt(2, textOf(2), 1_000), 1_000)
    assert.equal(placeAt(2, textOf(1), 4_000), 4_000)
    assert.equal(placeAt(2, textOf(1), 5_000), 4_000)
  })
  it('stays where nobody says when it was read', () => {
    assert.equal(placeAt(2, textOf(3)), 4_000)
  })
})
