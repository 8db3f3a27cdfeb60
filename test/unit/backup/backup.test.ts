/** Backup and restore: what goes in comes out, secrets stay home, and nothing damaged, newer or half is ever put in place. */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { backUp, type BackupOptions } from '../../../src/backup.ts'
import { isKeptFile, outdatedNames } from '../../../src/backup-format.ts'
import { restore, type RestoreOptions } from '../../../src/restore.ts'
import { lockDirectory } from '../../../src/lib/lock.ts'
import { openDatabase } from '../../../src/lib/sqlite.ts'
import { writeTar } from '../../../src/lib/tar.ts'
import { openStore, type Store } from '../../../src/store/store.ts'

const now = new Date('2026-03-04T05:06:07Z')
let root = ''
const path = (...names: string[]): string => join(root, ...names)

/** A small store, still open as the engine would have it: its log is not yet written back. */
function makeData(directory: string): Store {
  mkdirSync(directory, { recursive: true })
  const store = openStore(join(directory, 'findling.db'))
  store.transaction(() => store.hostId('https://a.test'))
  return store
}
const origins = (directory: string): unknown[] => {
  const db = openDatabase(join(directory, 'findling.db'), { readonly: true })
  try {
    return db
      .prepare('SELECT origin FROM host')
      .all()
      .map((row) => row['origin'])
  } finally {
    db.close()
  }
}
const save = (options: Partial<BackupOptions> = {}) =>
  backUp({
    directory: path('data'),
    target: path('saved.tar.zst'),
    keep: null,
    withKey: false,
    program: '0.0.1',
    now,
    ...options,
  })
const bringBack = (options: Partial<RestoreOptions> = {}) =>
  restore({
    file: path('saved.tar.zst'),
    directory: path('back'),
    force: false,
    now,
    ...options,
  })
/** What of a directory is not the lock's. */
const content = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => !name.startsWith('lock.'))
    .toSorted()

/** An archive as somebody else could make it. */
async function forge(manifest: object, files: Readonly<Record<string, Uint8Array>>): Promise<void> {
  const members = { 'manifest.json': Buffer.from(JSON.stringify(manifest)), ...files }
  const chunks: Uint8Array[] = []
  const tar = writeTar(
    Object.entries(members).map(([name, bytes]) => ({
      name: `findling-backup/${name}`,
      modifiedAtMs: 0,
      bytes: bytes.byteLength,
      content: [bytes],
    })),
  )
  for await (const chunk of tar) chunks.push(chunk)
  writeFileSync(path('saved.tar.zst'), gzipSync(Buffer.concat(chunks)))
}

let store: Store
before(() => {
  root = mkdtempSync(join(tmpdir(), 'findling-backup-'))
})
after(() => rmSync(root, { recursive: true, force: true }))
beforeEach(() => {
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root)
  store = makeData(path('data'))
})
afterEach(() => store.close())

describe('a backup', () => {
  for (const target of ['saved.tar.zst', 'saved.tar.gz', 'saved.tar']) {
    it(`comes back whole from ${target}, taken while the store is written`, async () => {
      const db = store.db
      db.exec('BEGIN IMMEDIATE')
      db.exec(`INSERT INTO host(origin) VALUES('https://not-yet.test')`)
      writeFileSync(path('data', 'synonyms.txt'), 'car, auto\n')
      await save({ target: path(target) })
      db.exec('COMMIT')
      await bringBack({ file: path(target) })
      assert.deepEqual(content(path('back')), ['findling.db', 'synonyms.txt'])
      assert.deepEqual(origins(path('back')), ['https://a.test'])
      assert.equal(readFileSync(path('back', 'synonyms.txt'), 'utf8'), 'car, auto\n')
    })
  }

  it('leaves nothing but the archive in its folder', async () => {
    await save()
    assert.deepEqual(readdirSync(root).toSorted(), ['data', 'saved.tar.zst'])
  })

  it('leaves secrets out unless they are asked for', async () => {
    writeFileSync(path('data', 'admin.key'), 'secret-1\n')
    writeFileSync(path('data', 'config.json'), '\uFEFF{"key": "secret-2", "log": "json"}')
    writeFileSync(path('data', 'cookies.jar'), '{"jars": "secret-3"}')
    const open = await save({ target: path('open.tar') })
    assert.deepEqual(open.secretsLeftOut, ['cookies.jar', 'admin.key', 'config.json: key'])
    const text = readFileSync(path('open.tar'), 'latin1')
    assert.ok(
      !text.includes('secret-1') &&
        !text.includes('secret-3') &&
        !text.includes('secret-2') &&
        text.includes('"log"'),
    )
    await save({ target: path('closed.tar'), withKey: true })
    const closed = readFileSync(path('closed.tar'), 'latin1')
    assert.ok(closed.includes('secret-1') && closed.includes('secret-2'))
    // A session is no part of what was collected: it is left out always.
    assert.ok(!closed.includes('secret-3'))
  })

  it('keeps the newest copies of a folder, and what is none of them', async () => {
    const old = ['20260101-000000.tar.zst', '20260102-000000.tar.gz', '20260103-000000.tar.zst']
    mkdirSync(path('nightly'))
    const names = [...old.map((name) => `findling-${name}`), 'findling-mine.tar.zst', 'a.txt']
    for (const name of names) writeFileSync(path('nightly', name), '')
    const { removed } = await save({ target: path('nightly'), keep: 2 })
    assert.deepEqual(removed, [
      'findling-20260101-000000.tar.zst',
      'findling-20260102-000000.tar.gz',
    ])
    assert.deepEqual(readdirSync(path('nightly')).toSorted(), [
      'a.txt',
      'findling-20260103-000000.tar.zst',
      'findling-20260304-050607.tar.zst',
      'findling-mine.tar.zst',
    ])
  })

  it('does not remove itself where the clock was put back', async () => {
    mkdirSync(path('nightly'))
    writeFileSync(path('nightly', 'findling-20990101-000000.tar.zst'), '')
    await save({ target: path('nightly'), keep: 1 })
    assert.deepEqual(readdirSync(path('nightly')), ['findling-20260304-050607.tar.zst'])
    assert.deepEqual(outdatedNames([], 3), [])
  })

  it('clears away what a killed backup left, not what a running one has', async () => {
    const names = [
      `.findling-backup-${2 ** 22 + 1}.db`,
      `.findling-backup-${2 ** 22 + 1}.db-journal`,
      `.findling-backup-${process.ppid}.part`,
    ]
    for (const name of names) writeFileSync(path(name), 'x')
    await save()
    assert.deepEqual(readdirSync(root).toSorted(), [names[2], 'data', 'saved.tar.zst'])
  })

  const refused: [string, Partial<BackupOptions>, string][] = [
    ['a name that says no form', { target: 'x.zip' }, 'usage'],
    ['a folder that is not there', { target: 'none/x.tar' }, 'cannot_create'],
    ['--keep without a folder', { target: 'x.tar', keep: 3 }, 'usage'],
    ['a directory without data', { directory: 'empty' }, 'input_missing'],
  ]
  for (const [what, options, code] of refused) {
    it(`refuses ${what}`, async () => {
      mkdirSync(path('empty'))
      const placed = Object.fromEntries(
        Object.entries(options).map(([name, value]) => [
          name,
          typeof value === 'string' ? path(value) : value,
        ]),
      )
      await assert.rejects(save(placed), { code })
      assert.deepEqual(readdirSync(root).toSorted(), ['data', 'empty'])
    })
  }

  it('refuses data of a newer program', async () => {
    store.db.exec('PRAGMA user_version=99')
    await assert.rejects(save(), { code: 'schema_too_new' })
  })

  it('tells when it holds damage, and is not restored then', async () => {
    store.db.exec(`INSERT INTO tombstone VALUES(1); DELETE FROM meta WHERE k='seed'`)
    const { faults } = await save()
    assert.match(faults.join(), /seed/)
    await assert.rejects(bringBack(), { code: 'bad_input' })
  })

  it('knows what a person put into the directory', () => {
    const kept = ['config.json', 'words.txt', 'synonyms.txt', 'rules.json']
    const left = [
      'lock.json',
      'lock.sqlite',
      'seen.bloom',
      'before-schema-1.db',
      'admin.key',
      '../a.txt',
    ]
    assert.deepEqual([...kept, ...left].filter(isKeptFile), kept)
  })
})

describe('a restore', () => {
  it('refuses a directory that holds something, and changes nothing there', async () => {
    await save()
    mkdirSync(path('back'))
    writeFileSync(path('back', 'mine'), '1')
    await assert.rejects(bringBack(), { code: 'cannot_create', remedy: /--force/ })
    assert.deepEqual(content(path('back')), ['mine'])
  })

  it('refuses a file in place of the directory, and a folder in place of the backup', async () => {
    await save()
    writeFileSync(path('back'), 'mine')
    await assert.rejects(bringBack(), { code: 'cannot_create', message: /is a file/ })
    assert.equal(readFileSync(path('back'), 'utf8'), 'mine')
    rmSync(path('back'))
    rmSync(path('saved.tar.zst'))
    mkdirSync(path('saved.tar.zst'))
    await assert.rejects(bringBack(), { code: 'input_missing', message: /is a folder/ })
  })

  it('moves aside what was there when it is forced, and leaves the key in place', async () => {
    await save()
    const old = makeData(path('back'))
    old.transaction(() => old.hostId('https://old.test'))
    old.close()
    writeFileSync(path('back', 'admin.key'), 'k')
    const { movedTo } = await bringBack({ force: true })
    assert.equal(movedTo, path('back', 'before-restore-20260304-050607'))
    assert.deepEqual(origins(path('back')), ['https://a.test'])
    assert.deepEqual(origins(movedTo), ['https://a.test', 'https://old.test'])
    assert.equal(readFileSync(path('back', 'admin.key'), 'utf8'), 'k')
  })

  it('refuses a directory that a process holds', async () => {
    await save()
    const lock = lockDirectory(path('back'))
    await assert.rejects(bringBack(), { code: 'locked' })
    lock.release()
  })

  it('clears away what a killed restore left', async () => {
    await save()
    mkdirSync(path('back', '.restoring'), { recursive: true })
    writeFileSync(path('back', '.restoring', 'findling.db'), 'half')
    await bringBack()
    assert.deepEqual(content(path('back')), ['findling.db'])
  })

  for (const target of ['saved.tar.zst', 'saved.tar.gz', 'saved.tar']) {
    it(`refuses ${target} with any byte changed or missing, and leaves no trace`, async () => {
      await save({ target: path(target) })
      const whole = readFileSync(path(target))
      const step = Math.ceil(whole.byteLength / 8)
      let harmless = 0
      for (let at = 7; at < whole.byteLength; at += step) {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] ?? 0) ^ 0x55
        writeFileSync(path(target), damaged)
        try {
          await bringBack({ file: path(target) })
          // A byte that means nothing, such as padding: then what came back is what was saved.
          assert.deepEqual(origins(path('back')), ['https://a.test'])
          harmless++
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'bad_input', String(error))
          assert.ok(!readdirSync(root).includes('back'))
        }
        rmSync(path('back'), { recursive: true, force: true })
        writeFileSync(path(target), whole)
        truncateSync(path(target), at)
        await assert.rejects(bringBack({ file: path(target) }), { code: 'bad_input' })
        assert.ok(!readdirSync(root).includes('back'))
      }
      assert.ok(harmless <= 1, `${harmless} of 8 changes went unseen`)
    })
  }

  const hash = 'a'.repeat(64)
  const manifest = {
    format: 1,
    program: '1',
    schema: 1,
    created: '2026',
    problems: 0,
    files: [{ name: 'findling.db', bytes: 1, sha256: hash }],
  }
  const badManifest = /manifest of the backup is damaged/
  const forged: [string, object, string, RegExp?][] = [
    ['of a later format', { ...manifest, format: 2 }, 'schema_too_new'],
    ['of a later schema', { ...manifest, schema: 99 }, 'schema_too_new'],
    ['without a store', { ...manifest, files: [] }, 'bad_input', badManifest],
    [
      'that lists the store twice',
      { ...manifest, files: [...manifest.files, ...manifest.files] },
      'bad_input',
      badManifest,
    ],
    [
      'that leads out of the directory',
      {
        ...manifest,
        files: [...manifest.files, { name: '../outside.txt', bytes: 1, sha256: hash }],
      },
      'bad_input',
      badManifest,
    ],
    [
      'that would replace the lock',
      {
        ...manifest,
        files: [...manifest.files, { name: 'lock.sqlite', bytes: 1, sha256: hash }],
      },
      'bad_input',
      badManifest,
    ],
    [
      'larger than the disk',
      { ...manifest, files: [{ name: 'findling.db', bytes: 2 ** 52, sha256: hash }] },
      'storage_full',
    ],
    ['whose store is another', manifest, 'bad_input'],
  ]
  for (const [what, head, code, message = /./] of forged) {
    it(`refuses an archive ${what}`, async () => {
      await forge(head, { 'findling.db': Buffer.from('x') })
      await assert.rejects(bringBack(), { code, message })
      assert.ok(!readdirSync(root).includes('back'))
    })
  }

  it('refuses a whole archive of a store that breaks an invariant', async () => {
    store.db.exec(`DELETE FROM meta WHERE k='seed'`)
    const saved = await save({ target: path('saved.tar') })
    const tar = readFileSync(path('saved.tar'))
    // The store begins behind the manifest's header and content and its own header.
    const at =
      512 + Math.ceil(Number.parseInt(tar.toString('latin1', 124, 135), 8) / 512) * 512 + 512
    const bytes = tar.subarray(at, at + (saved.files[0]?.bytes ?? 0))
    await forge({ ...saved, problems: 0 }, { 'findling.db': bytes })
    await assert.rejects(bringBack(), { code: 'bad_input', message: /seed of the fingerprints/ })
  })

  it('refuses an archive that holds more than it lists', async () => {
    await save({ target: path('saved.tar') })
    const bytes = readFileSync(path('saved.tar'))
    // One more file before the end mark: the first one again.
    const first = bytes.subarray(0, 512)
    const size = Number.parseInt(first.toString('latin1', 124, 135), 8)
    const again = bytes.subarray(0, 512 + Math.ceil(size / 512) * 512)
    writeFileSync(
      path('saved.tar'),
      Buffer.concat([bytes.subarray(0, -1024), again, bytes.subarray(-1024)]),
    )
    await assert.rejects(bringBack({ file: path('saved.tar') }), /does not list/)
  })

  it('needs a file', async () => {
    await assert.rejects(bringBack(), { code: 'input_missing' })
  })
})
