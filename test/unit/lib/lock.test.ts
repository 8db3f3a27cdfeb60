/** One process per data directory: who holds it, who is refused, and that a kill leaves nothing behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { AppError } from '../../../src/lib/errors.ts'
import { lockDirectory, readLockHolder } from '../../../src/lib/lock.ts'

const lockUrl = new URL('../../../src/lib/lock.ts', import.meta.url).href
const refusedNaming =
  (text: string) =>
  (error: unknown): boolean =>
    error instanceof AppError && error.code === 'locked' && error.message.includes(text)

describe('the lock of a data directory', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'findling-lock-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  it('makes the directory for its owner alone', () => {
    const directory = join(folder, 'deep', 'data')
    const lock = lockDirectory(directory)
    assert.equal(statSync(directory).mode & 0o777, 0o700)
    for (const name of readdirSync(directory))
      assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name)
    lock.release()
  })

  it('refuses what can never be a directory, and says why', () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const cases: [string, RegExp][] = [
      [file, /a file stands in its place/],
      [join(file, 'below'), /a file stands in its place/],
      // mkdir's own `recursive` would try for ever.
      ['/proc/findling/data', /cannot be made/],
    ]
    for (const [directory, message] of cases)
      assert.throws(() => lockDirectory(directory), { code: 'cannot_create', message })
  })

  it('is held once, and can be taken again after the release', () => {
    const directory = join(folder, 'once')
    const lock = lockDirectory(directory)
    lock.announce('127.0.0.1:8080')
    assert.deepEqual(readLockHolder(directory), { pid: process.pid, address: '127.0.0.1:8080' })
    assert.throws(() => lockDirectory(directory), refusedNaming(`process ${process.pid}`))
    assert.throws(() => lockDirectory(directory), refusedNaming('127.0.0.1:8080'))
    lock.release()
    lock.release()
    assert.equal(readLockHolder(directory), null)
    lockDirectory(directory).release()
  })

  it('ends with the process that held it, whatever text is left', async () => {
    const directory = join(folder, 'killed')
    const program = `import { lockDirectory } from ${JSON.stringify(lockUrl)}
      lockDirectory(${JSON.stringify(directory)})
      console.log('held')
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program])
    const ended = once(child, 'exit')
    try {
      await once(child.stdout, 'data')
      assert.throws(() => lockDirectory(directory), refusedNaming(`process ${child.pid}`))
    } finally {
      child.kill('SIGKILL')
    }
    await ended
    assert.equal(readLockHolder(directory)?.pid, child.pid)
    const lock = lockDirectory(directory)
    assert.equal(readLockHolder(directory)?.pid, process.pid)
    lock.release()
  })

  it('names nobody where the text is missing or foreign', () => {
    for (const text of ['', '{', '[]', 'null', '{"pid":"1"}']) {
      writeFileSync(join(folder, 'lock.json'), text)
      assert.equal(readLockHolder(folder), null, text)
    }
    writeFileSync(join(folder, 'lock.json'), '{"pid":7,"address":5}')
    assert.deepEqual(readLockHolder(folder), { pid: 7, address: null })
  })

  it('says when the directory cannot be made', () => {
    writeFileSync(join(folder, 'file'), '')
    assert.throws(
      () => lockDirectory(join(folder, 'file', 'data')),
      (error) => error instanceof AppError && error.code === 'cannot_create',
    )
  })
})
