/** The door to SQLite: pragmas, transactions, migrations, the guard of the log, and how failures are told apart. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { AppError } from '../../../src/lib/errors.ts'
import {
  isBusy,
  isCorrupt,
  isDiskFull,
  migrate,
  openDatabase,
  truncateWal,
} from '../../../src/lib/sqlite.ts'
import { migrations } from '../../../src/store/schema.ts'

describe('SQLite', () => {
  let folder = ''
  let files = 0
  const fresh = (): string => join(folder, `${files++}.sqlite`)
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'findling-sqlite-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  it('opens in WAL mode with the settings asked for', () => {
    const db = openDatabase(fresh(), { synchronous: 'FULL', cacheKb: 512, busyTimeoutMs: 77 })
    const cases = [
      ['journal_mode', 'wal'],
      ['synchronous', 2],
      ['cache_size', -512],
      ['busy_timeout', 77],
      ['temp_store', 2],
      ['wal_autocheckpoint', 2000],
      ['journal_size_limit', 16_777_216],
    ] as const
    for (const [name, value] of cases) assert.equal(db.pragma(name), value, name)
    db.close()
    db.close()
  })

  it('compares a parameter as its column asks, and by its index', () => {
    const db = openDatabase(fresh())
    db.exec(
      'CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL) STRICT; CREATE INDEX t_b ON t(b)',
    )
    for (const a of [1, 2, 3, 4]) db.prepare('INSERT INTO t VALUES(?, ?, ?)').run(a, `${a}`, a / 2)
    const cases = [
      ['a = ?', [2], [2]],
      ['a=?', ['2'], [2]],
      ['b = ?', ['3'], [3]],
      ['c >= ?', [1], [2, 3, 4]],
      ['a<>? AND b < ?', [1, '3'], [2]],
      ['a BETWEEN ? AND ?', [2, 3], [2, 3]],
      ['b IS NULL OR a = ?', [null], []],
    ] as const
    for (const [condition, values, found] of cases) {
      const rows = db.prepare<{ a: number }>(`SELECT a FROM t WHERE ${condition} ORDER BY a`)
      assert.deepEqual(
        rows.all(...values).map(({ a }) => a),
        found,
        condition,
      )
    }
    assert.equal(db.prepare('UPDATE t SET c=? WHERE b=?').run(7, '1').changes, 1)
    assert.equal(db.prepare('SELECT c FROM t WHERE a=?').value(1), 7)
    const [plan] = db
      .prepare<{ detail: string }>('EXPLAIN QUERY PLAN SELECT a FROM t WHERE b = ?')
      .all('1')
    assert.match(plan?.detail ?? '', /USING (COVERING )?INDEX t_b/)
    db.close()
  })

  it('answers rows, values and changes by position', () => {
    const db = openDatabase(fresh())
    db.exec('CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c BLOB) STRICT')
    const put = db.prepare('INSERT INTO t VALUES(?, ?, ?)')
    assert.equal(put.run(7, 'x', new Uint8Array([1, 2])).changes, 1)
    assert.equal(Number(put.run(null, '中文', null).lastInsertRowid), 8)
    const all = db.prepare<{ a: number; b: string }>('SELECT a, b FROM t ORDER BY a')
    assert.deepEqual(
      all.all().map((row) => ({ ...row })),
      [
        { a: 7, b: 'x' },
        { a: 8, b: '中文' },
      ],
    )
    assert.deepEqual([...all.iterate()].length, 2)
    assert.equal(db.prepare('SELECT typeof(a) FROM t').value(), 'integer')
    // One statement may be asked either way, in turn.
    for (const _ of [1, 2]) {
      assert.equal(all.value(), 7)
      assert.equal(all.get()?.b, 'x')
      assert.equal(all.value(), 7)
      assert.deepEqual(
        [all.all(), [...all.iterate()]].map((rows) => rows.map(({ b }) => b)),
        [
          ['x', '中文'],
          ['x', '中文'],
        ],
      )
    }
    assert.equal(db.prepare('SELECT a FROM t WHERE b = ?').value('none'), undefined)
    assert.equal(db.prepare('SELECT a FROM t WHERE b = ?').get('none'), undefined)
    assert.equal(db.prepare('SELECT c FROM t WHERE a = 8').value(), null)
    assert.deepEqual(
      [...(db.prepare<{ c: Uint8Array }>('SELECT c FROM t WHERE a = ?').value(7) ?? [])],
      [1, 2],
    )
    assert.throws(() => put.run(9, 'x', 'text'), /BLOB/)
    db.close()
  })

  it('plans a statement once, whatever its parameters are', () => {
    const db = openDatabase(fresh())
    db.exec('CREATE TABLE t(a INTEGER, b INTEGER) STRICT; CREATE INDEX few ON t(b) WHERE a = 1')
    const plan = (condition: string): string =>
      String(
        db.prepare(`EXPLAIN QUERY PLAN SELECT b FROM t WHERE ${condition}`).all(1)[0]?.['detail'],
      )
    // For this value alone the index holds all that is wanted.
    assert.match(plan('a = 1 AND b > ?'), /few/)
    assert.doesNotMatch(plan('a = ? AND b > 0'), /few/)
    db.close()
  })

  it('commits what returns and rolls back what throws', () => {
    const db = openDatabase(fresh())
    db.exec('CREATE TABLE t(a INTEGER) STRICT')
    const put = db.prepare('INSERT INTO t VALUES(?)')
    const sum = db.prepare('SELECT sum(a) FROM t')
    assert.equal(
      db.transaction(() => {
        assert.ok(db.inTransaction)
        put.run(1)
        return 'done'
      }),
      'done',
    )
    assert.throws(
      () =>
        db.transaction(() => {
          put.run(2)
          throw new Error('broken')
        }),
      /broken/,
    )
    assert.throws(() => db.transaction(() => db.transaction(() => put.run(4))), /nest/)
    assert.throws(() => db.transaction(async () => put.run(8)), /promise/)
    assert.equal(db.inTransaction, false)
    assert.equal(sum.value(), 1)
    db.close()
  })

  it('takes the write lock at the start of a transaction, and says when it is busy', () => {
    const file = fresh()
    const one = openDatabase(file)
    const two = openDatabase(file, { busyTimeoutMs: 1 })
    one.transaction(() => {
      assert.throws(
        () => two.transaction(() => 0),
        (error) => isBusy(error),
      )
    })
    assert.equal(
      two.transaction(() => 1),
      1,
    )
    one.close()
    two.close()
  })

  it('shows one state during a snapshot, whatever is committed meanwhile', () => {
    const file = fresh()
    const writer = openDatabase(file)
    writer.exec('CREATE TABLE t(a INTEGER) STRICT')
    const reader = openDatabase(file, { readonly: true })
    const count = reader.prepare('SELECT count(*) FROM t')
    reader.snapshot(() => {
      assert.equal(count.value(), 0)
      writer.exec('INSERT INTO t VALUES(1)')
      assert.equal(count.value(), 0)
    })
    assert.equal(count.value(), 1)
    assert.throws(() => reader.exec('INSERT INTO t VALUES(2)'), /readonly/)
    writer.close()
    reader.close()
  })

  it('migrates step by step, keeps a finished schema and undoes a broken step as a whole', () => {
    const file = fresh()
    const db = openDatabase(file)
    const steps = ['CREATE TABLE a(x INTEGER) STRICT', 'CREATE TABLE b(x INTEGER) STRICT']
    migrate(db, steps.slice(0, 1))
    assert.throws(() =>
      migrate(db, [...steps.slice(0, 1), 'CREATE TABLE b(x INTEGER) STRICT; wrong']),
    )
    const tables = db.prepare('SELECT count(*) FROM sqlite_schema')
    assert.equal(tables.value(), 1)
    assert.equal(db.pragma('user_version'), 1)
    migrate(db, steps)
    migrate(db, steps)
    assert.equal(tables.value(), 2)
    assert.throws(
      () => migrate(db, steps.slice(0, 1)),
      (error) => error instanceof AppError && error.code === 'schema_too_new',
    )
    db.close()
  })

  it('runs the migrations of the store', () => {
    const db = openDatabase(fresh())
    migrate(db, migrations)
    assert.equal(db.pragma('user_version'), migrations.length)
    db.close()
  })

  it('empties the log, and gives up soon where a reader holds it', () => {
    const file = fresh()
    const writer = openDatabase(file)
    writer.exec('CREATE TABLE t(a INTEGER) STRICT')
    const reader = openDatabase(file, { readonly: true })
    reader.snapshot(() => {
      reader.prepare('SELECT count(*) FROM t').value()
      writer.exec('INSERT INTO t VALUES(1)')
      assert.equal(truncateWal(writer), false)
      assert.equal(writer.pragma('busy_timeout'), 5000)
    })
    assert.equal(truncateWal(writer), true)
    assert.equal(statSync(`${file}-wal`).size, 0)
    writer.close()
    reader.close()
  })

  it('says what is wrong with a file that cannot be opened', () => {
    const damaged = fresh()
    writeFileSync(
      damaged,
      'this is no database, but it is long enough to look like one. '.repeat(40),
    )
    const cases = [
      [join(folder, 'missing.sqlite'), true, 'input_missing'],
      [join(folder, 'no', 'folder.sqlite'), false, 'cannot_create'],
      [damaged, false, 'corrupt'],
      [damaged, true, 'corrupt'],
    ] as const
    for (const [file, readonly, code] of cases)
      assert.throws(
        () => openDatabase(file, { readonly }),
        (error) => error instanceof AppError && error.code === code,
        `${file} ${code}`,
      )
  })

  it('tells a full disk from a damaged file', () => {
    const file = fresh()
    const db = openDatabase(file)
    db.exec('CREATE TABLE t(a BLOB) STRICT; PRAGMA max_page_count=4')
    const put = db.prepare('INSERT INTO t VALUES(zeroblob(100000))')
    assert.throws(() => db.transaction(() => put.run()), isDiskFull)
    assert.equal(db.inTransaction, false)
    db.exec('PRAGMA max_page_count=1000000')
    db.transaction(() => put.run())
    db.close()
    truncateSync(file, 8192)
    assert.throws(
      () => openDatabase(file),
      (error) => isCorrupt(error) && !isDiskFull(error),
    )
    assert.ok(isDiskFull(Object.assign(new Error('x'), { code: 'ENOSPC' })))
    assert.ok(!isDiskFull(undefined) && !isCorrupt('SQLITE_CORRUPT') && !isBusy(null))
  })
})
