/** The executable where little is to be had: no environment, no rights, nothing to write on. And what it leaves behind: nothing. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { memoryOf } from '../../bench/process-tree.ts'
import { eventually } from '../e2e/program.ts'
import { binary, noSandbox, notBuilt, run, runInSandbox } from './binary.ts'

const folder = mkdtempSync(join(tmpdir(), 'findling-binary-'))
// Nobody must be able to reach the data below it.
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true }))
const makeFolder = (name: string, mode = 0o755): string => {
  const path = join(folder, name)
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}
const document = JSON.stringify({ url: 'https://a.example/1', title: 'One', text: '搜索 harbour' })
const nativeIn = (stdout: string): { directory: string; method: string; refused: string[] } =>
  JSON.parse(stdout).native

describe('a start', { skip: notBuilt }, () => {
  it('needs no environment and no file but itself', () => {
    const cwd = makeFolder('empty')
    const version = run(['version', '--json'], { cwd })
    assert.equal(version.code, 0, version.stderr)
    assert.deepEqual(readdirSync(cwd), [], 'a question leaves nothing behind')
    const imported = run(['import', '-'], { cwd, stdin: document })
    assert.equal(imported.code, 0, imported.stderr)
    for (const word of ['搜索', 'harbour']) {
      const found = run(['search', word, '-f', 'json'], { cwd })
      assert.equal(JSON.parse(found.stdout).hits[0]?.url, 'https://a.example/1', found.stderr)
    }
    assert.deepEqual(readdirSync(cwd), ['findling-data'])
    const inside = readdirSync(join(cwd, 'findling-data'))
    assert.deepEqual(
      inside.filter((name) => name.startsWith('.')),
      [],
    )
  })

  it('loads its native code from the data directory, when there is one', () => {
    const cwd = makeFolder('with-data')
    const data = makeFolder('given')
    const places: [string, string[], Record<string, string>][] = [
      [data, ['--data', data], {}],
      [data, [`--data=${data}`], {}],
      [data, [], { FINDLING_DATA: data }],
      [cwd, ['--data', join(cwd, 'missing')], { TMPDIR: cwd }],
    ]
    for (const [place, args, env] of places) {
      const { stdout, stderr } = run(['version', '--json', ...args], { cwd, env })
      const native = nativeIn(stdout)
      assert.equal(native.directory, place, stderr)
      assert.match(native.method, /^(unnamed|unlinked)$/)
    }
    assert.deepEqual([...readdirSync(cwd), ...readdirSync(data)], [])
  })

  it("takes no orders for Node, neither from the environment nor from flags of Node's", () => {
    const cwd = makeFolder('node-flags')
    const env = { NODE_OPTIONS: '--require /nowhere.js --no-such-flag' }
    assert.equal(run(['version'], { cwd, env }).code, 0)
    for (const flag of ['--inspect', '--eval=1', '-e', '--expose-gc', '--require=/nowhere.js']) {
      const { code, stderr } = run([flag], { cwd })
      assert.equal(code, 64, `${flag}: ${stderr}`)
    }
    assert.deepEqual(readdirSync(cwd), [])
  })
})

describe('a start with few rights', { skip: noSandbox }, () => {
  const readOnlyRoot = 'mount -o remount,bind,ro /'
  const noexec = (place: string): string => `mount -t tmpfs -o noexec,mode=1777 none ${place}`

  it('is content with one directory that it may write, as nobody, on a read-only system', () => {
    const data = makeFolder('writable', 0o777)
    const mounts = [`mount --bind ${data} ${data}`, noexec('/dev/shm'), readOnlyRoot].join('\n')
    const imported = runInSandbox(mounts, ['import', '-', '--data', data], document)
    assert.equal(imported.code, 0, imported.stderr)
    const found = runInSandbox(mounts, ['search', '搜索', '-f', 'json', '--data', data])
    assert.equal(JSON.parse(found.stdout).hits[0]?.url, 'https://a.example/1', found.stderr)
    const { stdout } = runInSandbox(mounts, ['version', '--json', '--data', data])
    assert.equal(nativeIn(stdout).directory, data)
  })

  it('passes over places that are mounted noexec, and says which', () => {
    const mounts = [noexec('/tmp'), 'mkdir -m 777 /tmp/data', 'mount -t tmpfs none /dev/shm']
    const args = ['version', '--json', '--data', '/tmp/data']
    const { stdout, stderr } = runInSandbox(mounts.join('\n'), args)
    const { directory, refused } = nativeIn(stdout || stderr)
    assert.equal(directory, '/dev/shm')
    assert.deepEqual(
      refused.map((each) => each.split(':')[0]),
      ['/tmp/data', '/tmp'],
    )
  })

  it('says what is missing when native code can be loaded from nowhere', () => {
    const data = makeFolder('nowhere', 0o777)
    const mounts = [noexec(data), noexec('/dev/shm'), readOnlyRoot].join('\n')
    const { code, stderr } = runInSandbox(mounts, ['import', '-', '--data', data], document)
    assert.equal(code, 73, stderr)
    assert.match(stderr, /noexec/)
    assert.ok(stderr.includes(data), stderr)
    assert.equal(stderr.trim().split('\n').length, 1, 'in one line')
  })
})

async function startServer(
  data: string,
  temporary: string,
): Promise<{ child: ChildProcess; exited: Promise<unknown>; log: string }> {
  const child = spawn(binary, ['serve', '--data', data, '--listen', '127.0.0.1:0'], {
    cwd: temporary,
    env: { TMPDIR: temporary },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  await eventually(
    async () => log,
    () => / ready\n/.test(log) || child.exitCode !== null,
    60_000,
  )
  assert.match(log, / ready\n/)
  return { child, exited, log }
}

describe('a running server', { skip: notBuilt }, () => {
  it('has each addon in memory once, and leaves no file when it is killed', async () => {
    const temporary = makeFolder('temporary')
    const data = makeFolder('served')
    const shared = readdirSync('/dev/shm')
    const { child, exited } = await startServer(data, temporary)
    // Executable parts of files that no name leads to, by inode: SQLite and koffi, however many threads there are.
    const inodes = readFileSync(`/proc/${child.pid}/maps`, 'utf8')
      .split('\n')
      .filter((line) => / r-xp .*\(deleted\)$/.test(line))
      .map((line) => line.split(/\s+/)[4])
    assert.equal(new Set(inodes).size, 2, inodes.join())
    child.kill('SIGKILL')
    await exited
    assert.deepEqual(readdirSync(temporary), [])
    assert.deepEqual(readdirSync('/dev/shm'), shared)
    assert.deepEqual(
      readdirSync(data).filter((name) => name.startsWith('.')),
      [],
    )
  })

  const anonymousMbMax = 90
  it(`keeps less than ${anonymousMbMax} MB besides the executable when nothing goes on, and answers as before`, async () => {
    const folders = [makeFolder('rested'), makeFolder('beside')] as const
    const { child, exited, log } = await startServer(...folders)
    try {
      const url = `${/answers on (\S+)/.exec(log)?.[1]}api/v1/search?q=harbour`
      assert.equal((await fetch(url)).status, 200)
      // It looks at its size every few seconds.
      const anonymousMb = async (): Promise<number> => memoryOf(child.pid ?? 0)?.anonymousMb ?? 0
      const isRested = (now: number): boolean => now > 20 && now < anonymousMbMax - 10
      await eventually(anonymousMb, isRested, 40_000)
      assert.equal((await fetch(url)).status, 200)
    } finally {
      child.kill('SIGTERM')
    }
    assert.deepEqual(await exited, [0, null])
  })
})
