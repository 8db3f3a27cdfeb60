/**
 * The container image: built from the Dockerfile and run by buildah, without a daemon. The executable and the libraries come from this
 * machine in place of the first two stages, which need a registry of images.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../e2e/program.ts'
import { binary, noSandbox } from './binary.ts'
import { libraries, loader, notices, systemLacks, triplet } from './image-files.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'findling-image-'))
const userId = 10_001
/** Not 8080: buildah's chroot shares the network of this machine. */
const port = 18_480 + (process.pid % 100)
const storage = [
  '--storage-driver',
  'vfs',
  '--root',
  join(folder, 'store'),
  '--runroot',
  join(folder, 'run'),
]
function buildah(...args: string[]): string {
  const [command = '', ...rest] = args
  const { status, stdout, stderr } = spawnSync('buildah', [...storage, command, ...rest], {
    cwd: root,
    encoding: 'utf8',
  })
  assert.equal(status, 0, `buildah ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** Why it cannot run here, or false. */
function prepare(): string | false {
  if (noSandbox !== false) return noSandbox
  if (spawnSync('buildah', ['--version']).status !== 0) return 'buildah is not installed'
  return systemLacks()
}
const skip = prepare()

describe('the image', { skip }, () => {
  let container = ''
  before(() => {
    const [built, system] = [join(folder, 'built'), join(folder, 'system')]
    mkdirSync(join(built, 'findling'), { recursive: true })
    copyFileSync(binary, join(built, 'findling', 'executable'))
    mkdirSync(join(system, 'empty'), { recursive: true })
    for (const file of [loader, ...libraries.map((name) => `/lib/${triplet}/${name}`)]) {
      const copy = join(system, 'rootfs', file)
      mkdirSync(join(copy, '..'), { recursive: true })
      copyFileSync(file, copy)
    }
    mkdirSync(join(system, 'rootfs', 'licenses'))
    for (const [file, name] of Object.entries(notices))
      copyFileSync(file, join(system, 'rootfs', 'licenses', name))
    const contexts = { build: built, libraries: system }
    const given = Object.entries(contexts).flatMap(([name, path]) => [
      '--build-context',
      `${name}=${path}`,
    ])
    const form = ['--isolation', 'chroot', '--format', 'docker', '--pull-never']
    buildah('build', ...form, ...given, '--tag', 'findling', '.')
    container = buildah('from', '--pull-never', 'localhost/findling')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('holds the executable, eight libraries with their licences, an empty /data, and nothing else', () => {
    const mounted = buildah('mount', container)
    const files = readdirSync(mounted, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
    const linked = [loader.slice(loader.lastIndexOf('/') + 1), ...libraries]
    const expected = ['findling', ...linked, ...Object.values(notices)]
    assert.deepEqual(files.toSorted(), expected.toSorted())
    buildah('umount', container)
  })

  it('says how it wants to be run', () => {
    const { Docker } = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/findling'))
    const { config } = Docker
    assert.equal(config.User, '10001:10001')
    assert.deepEqual(Object.keys(config.Volumes), ['/data'])
    assert.deepEqual(Object.keys(config.ExposedPorts), ['8080/tcp'])
    assert.deepEqual(config.Healthcheck.Test, ['CMD', '/findling', 'health'])
    assert.deepEqual(config.Entrypoint, ['/findling'])
  })

  it('serves as nobody in particular, tells its health, and stops on SIGTERM', async () => {
    const run = ['run', '--isolation', 'chroot', '--user', `${userId}:${userId}`]
    const inside = [...run, container, '--', '/findling']
    const listen = ['serve', '--listen', `127.0.0.1:${port}`]
    const child = spawn('buildah', [...storage, ...inside, ...listen], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const exited = once(child, 'exit')
    const health = async (): Promise<number> =>
      spawnSync('buildah', [...storage, ...inside, 'health'], { cwd: root }).status ?? 1
    try {
      await eventually(health, (code) => code === 0, 60_000)
      const version = JSON.parse(buildah(...inside, 'version', '--json'))
      assert.equal(version.native.directory, '/data')
    } finally {
      // buildah hands no signals on; whoever holds the volume says who it is.
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      const lock = names.find((name) => name.endsWith('/lock.json'))
      assert.ok(lock !== undefined, 'nobody holds the volume')
      process.kill(JSON.parse(readFileSync(join(folder, lock), 'utf8')).pid, 'SIGTERM')
    }
    assert.deepEqual(await exited, [0, null])
  })
})
