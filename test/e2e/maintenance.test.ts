/** The life of a data directory: old ones are opened, newer ones refused, all are saved beside a running server and brought back. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { openDatabase } from '../../src/lib/sqlite.ts'
import { migrations } from '../../src/store/schema.ts'
import { jsonLines, makeDirectory, run, serve } from './program.ts'
import type { Json } from './program.ts'

const samples = resolve(import.meta.dirname, '../data/upgrade')
const expected: Json = JSON.parse(readFileSync(join(samples, 'expected.json'), 'utf8'))
const corpus: Json[] = jsonLines(readFileSync(join(samples, 'corpus.jsonl'), 'utf8'))
const schemas = readdirSync(samples).filter((name) => name.startsWith('schema-'))

/** A sample is opened in a copy of its own: opening changes it. */
function copyOf(schema: string): { path: string; remove(): void } {
  const directory = makeDirectory()
  mkdirSync(directory.path)
  copyFileSync(join(samples, schema, 'findling.db'), join(directory.path, 'findling.db'))
  return directory
}
const latest = schemas.toSorted().at(-1) ?? ''

describe('a data directory of an earlier version', () => {
  it('is there to be opened', () => assert.ok(schemas.length > 0))

  for (const schema of schemas) {
    it(`of ${schema} is checked, searched and exported as ever`, async (t) => {
      const directory = copyOf(schema)
      t.after(() => directory.remove())
      const server = await serve(['--data', directory.path])
      try {
        for (const [q, urls] of Object.entries(expected.searches)) {
          const { body } = await server.api(`/api/v1/search?q=${encodeURIComponent(q)}`)
          const found: string[] = body.hits.map(({ url }: Json) => url)
          assert.deepEqual(found.toSorted(), urls, q)
        }
        const exported = jsonLines((await run(['export', '--data', directory.path])).stdout)
        assertExported(exported)
      } finally {
        await server.stop()
      }
      const checked = await run(['check', '--data', directory.path, '-f', 'json'])
      assert.equal(checked.code, 0, checked.stdout)
      assert.equal(JSON.parse(checked.stdout).documents, expected.documents)
      if (schema === `schema-${migrations.length}`)
        assert.ok(!readdirSync(directory.path).some((name) => name.startsWith('before')))
      else assert.ok(existsSync(join(directory.path, `before-${schema}.db`)))
    })
  }
})

function assertExported(records: readonly Json[]): void {
  assert.equal(records.length, expected.documents)
  const byUrl = new Map(records.map((record) => [record.url, record]))
  for (const { url, title, text, lang, fields = {} } of corpus) {
    const record = byUrl.get(new URL(url).href)
    assert.deepEqual(
      [record?.title, record?.text, record?.lang.slice(0, 2), record?.fields],
      [title, text, lang, fields],
    )
  }
  for (const [copy, original] of Object.entries(expected.copies))
    assert.equal(byUrl.get(copy)?.duplicate_of, byUrl.get(String(original))?.id)
}

describe('a data directory of a later version', () => {
  it('is refused with 78 by every command that would open it', async (t) => {
    const directory = copyOf(latest)
    t.after(() => directory.remove())
    const db = openDatabase(join(directory.path, 'findling.db'))
    db.exec('PRAGMA user_version=9999')
    db.close()
    const saved = join(directory.path, '..', 'x.tar')
    for (const args of [
      ['serve', '--listen', '127.0.0.1:0'],
      ['search', 'fog'],
      ['check'],
      ['backup', saved],
    ]) {
      const { code, stderr } = await run([...args, '--data', directory.path])
      assert.equal(code, 78, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, /schema 9999/)
    }
  })
})

describe('a backup', () => {
  const directory = copyOf(latest)
  const folder = join(directory.path, '..')
  after(() => directory.remove())

  it('is taken beside a running server and answers the same when it is restored', async () => {
    const nightly = join(folder, 'nightly')
    mkdirSync(nightly)
    const server = await serve(['--data', directory.path])
    let saved: Json
    try {
      const result = await run([
        'backup',
        nightly,
        '--keep',
        '1',
        '--data',
        directory.path,
        '-f',
        'json',
      ])
      assert.equal(result.code, 0, result.stderr)
      saved = JSON.parse(result.stdout)
      const occupied = await run(['restore', saved.file, '--force', '--data', directory.path])
      assert.equal(occupied.code, 75, 'a directory in use is not replaced')
    } finally {
      await server.stop()
    }
    assert.deepEqual(saved.secretsLeftOut, ['admin.key'])
    assert.deepEqual(
      readdirSync(nightly).map((name) => join(nightly, name)),
      [saved.file],
    )
    const back = join(folder, 'back')
    const restored = await run(['restore', saved.file, '--data', back])
    assert.equal(restored.code, 0, restored.stderr)
    assert.match(restored.stdout, /^restored {3}.*back, as it was at 20\d\d-/)
    const found = await run(['search', '灯塔', '--data', back, '-f', 'jsonl'])
    assert.deepEqual(
      jsonLines(found.stdout).map(({ url }) => url),
      expected.searches['灯塔'],
    )
    const again = await run(['restore', saved.file, '--data', back])
    assert.equal(again.code, 73)
  })

  it('is not taken of nothing', async () => {
    const { code, stderr } = await run(['backup', 'x.tar.gz', '--data', join(folder, 'nothing')])
    assert.equal(code, 66, stderr)
  })
})

describe('commands about the machine', () => {
  it('say what they give up where memory is scarce, and spare a card', async (t) => {
    const directory = makeDirectory()
    t.after(() => directory.remove())
    const args = ['import', join(samples, 'corpus.jsonl'), '--data', directory.path]
    const refused = await run([...args, '--memory', '223'])
    assert.equal(refused.code, 64)
    assert.match(refused.stderr, /--memory 223 cannot be kept.* Give --memory 224 or more/)
    assert.ok(!existsSync(directory.path), 'nothing was begun')
    const { code, stderr } = await run([...args, '--memory', '224', '--flash', 'on'])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /to stay small: requests at a time: 5 instead of 8\n/)
    assert.match(stderr, /spares the flash card/)
    assert.ok(!existsSync(join(directory.path, 'seen.bloom')), 'so few URLs are read again instead')
  })

  it('print a unit and a completion script', async () => {
    const unit = await run(['service', 'install', '--print', '--memory', '512'])
    assert.equal(unit.code, 0, unit.stderr)
    assert.match(unit.stdout, /^ExecStart=\/\S+ serve --data \/var\/lib\/findling$/m)
    assert.match(unit.stdout, /^Environment=FINDLING_MEMORY=512$/m)
    const script = await run(['completion', 'bash'])
    assert.match(script.stdout, /complete .* findling\n$/)
    assert.equal((await run(['completion', 'tcsh'])).code, 64)
  })
})
