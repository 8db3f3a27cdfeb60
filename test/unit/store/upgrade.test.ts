/** Upgrades of a data file: a copy first, nothing half, a newer file untouched. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Log } from '../../../src/lib/log.ts'
import { openDatabase, type Db } from '../../../src/lib/sqlite.ts'
import { upgrade } from '../../../src/store/upgrade.ts'

const steps = [
  'CREATE TABLE word(text TEXT NOT NULL) STRICT',
  'ALTER TABLE word ADD COLUMN n INTEGER NOT NULL DEFAULT 1',
  'ALTER TABLE word ADD COLUMN m INTEGER NOT NULL DEFAULT 2',
]
let folder = ''
let db: Db
let lines: string[] = []
const log: Log = (level, event, fields = {}) =>
  lines.push(`${level} ${event} ${JSON.stringify(fields)}`)
const copies = (): string[] => readdirSync(folder).filter((name) => name.startsWith('before-'))
const wordsIn = (name: string): unknown[] => {
  const copy = openDatabase(join(folder, name), { readonly: true })
  try {
    assert.equal(copy.pragma('quick_check'), 'ok')
    return copy.prepare('SELECT * FROM word').all()
  } finally {
    copy.close()
  }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'findling-upgrade-'))
  lines = []
  db = openDatabase(join(folder, 'findling.db'))
  upgrade(db, steps.slice(0, 1), log)
  db.exec(`INSERT INTO word VALUES('sea')`)
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('an upgrade', () => {
  it('makes no copy of a new file, nor of one that is up to date', () => {
    upgrade(db, steps.slice(0, 1), log)
    assert.deepEqual([copies(), lines], [[], []])
  })

  it('keeps the data as it was beside the upgraded', () => {
    upgrade(db, steps, log)
    assert.deepEqual(db.prepare('SELECT * FROM word').all(), [{ text: 'sea', n: 1, m: 2 }])
    assert.deepEqual(copies(), ['before-schema-1.db'])
    assert.deepEqual(wordsIn('before-schema-1.db'), [{ text: 'sea' }])
    assert.equal(lines.length, 1)
    assert.match(
      lines[0] ?? '',
      /^info the data was upgraded .*"from":1,"to":3.*before-schema-1\.db/,
    )
  })

  it('keeps only the copy of the last one', () => {
    upgrade(db, steps.slice(0, 2), log)
    upgrade(db, steps, log)
    assert.deepEqual(copies(), ['before-schema-2.db'])
    assert.deepEqual(wordsIn('before-schema-2.db'), [{ text: 'sea', n: 1 }])
  })

  it('replaces what a killed one left', () => {
    writeFileSync(join(folder, 'before-schema-1.db.new'), 'half')
    writeFileSync(join(folder, 'before-schema-1.db'), 'of another day')
    upgrade(db, steps, log)
    assert.deepEqual(copies(), ['before-schema-1.db'])
    assert.deepEqual(wordsIn('before-schema-1.db'), [{ text: 'sea' }])
  })

  it('that fails leaves the old schema and its copy', () => {
    assert.throws(() => upgrade(db, [steps[0] ?? '', 'no SQL'], log))
    assert.equal(db.pragma('user_version'), 1)
    assert.deepEqual(wordsIn('before-schema-1.db'), [{ text: 'sea' }])
    assert.deepEqual(lines, [])
  })

  it('refuses the file of a newer program and changes nothing', () => {
    db.exec('PRAGMA user_version=4')
    const before = statSync(join(folder, 'findling.db-wal')).size
    assert.throws(() => upgrade(db, steps, log), { code: 'schema_too_new' })
    assert.equal(statSync(join(folder, 'findling.db-wal')).size, before)
    assert.ok(!existsSync(join(folder, 'before-schema-4.db')))
  })
})
