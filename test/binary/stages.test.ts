/**
 * The first two stages of the Dockerfile, command by command as it has them. This machine, seen through an overlay that is thrown away, takes
 * the place of their base images, which need a registry of images; image.test.ts makes the third stage.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { noSandbox, run } from './binary.ts'
import { libraries, loader, notices, systemLacks } from './image-files.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'findling-stages-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const timeoutMs = 600_000

/** The commands of a stage, as one shell script each. */
function commandsOf(stage: string): string[] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const begin = text.search(new RegExp(`^FROM .* AS ${stage}$`, 'm'))
  assert(begin >= 0, `there is a stage ${stage}`)
  const [own = ''] = text.slice(begin + 1).split(/^FROM /m)
  return [...own.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, command = '']) => command)
}

/** What .dockerignore lets through to the builder. */
const context = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1))

/**
 * Runs a script as root of this machine's system, of which nothing is changed but `folder`.
 * @param places folders that exist already and are seen as they are
 */
function inOverlay(script: string, places: readonly string[]): { code: number; text: string } {
  const mounts = `
    mount -t tmpfs none /mnt
    mkdir /mnt/upper /mnt/work /mnt/system
    mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work none /mnt/system
    for place in /proc /dev /etc/resolv.conf /etc/hosts "$@"; do
      if [ -d "$place" ]; then mkdir -p "/mnt/system$place"; else touch "/mnt/system$place"; fi
      mount --rbind "$place" "/mnt/system$place"
    done
    mkdir -p /mnt/system/findling && mount --bind ${folder} /mnt/system/findling
    exec chroot /mnt/system sh -ec "$SCRIPT"`
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-ec', mounts, 'sh', ...places],
    {
      cwd: '/',
      encoding: 'utf8',
      timeout: timeoutMs,
      env: {
        ...process.env,
        // As the base image has it: the first node is the right one.
        PATH: `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
        NODE_OPTIONS: '',
        FINDLING_COMMIT: 'of-the-image',
        TARGETARCH: process.arch === 'arm64' ? 'arm64' : 'amd64',
        SCRIPT: script,
      },
    },
  )
  return { code: status ?? -1, text: `${stdout}${stderr}` }
}

/** Why it cannot run here, or false. */
function prepare(): string | false {
  if (noSandbox !== false) return noSandbox
  const lacking = systemLacks()
  if (lacking !== false) return lacking
  if (spawnSync('npm', ['--version']).status !== 0) return 'there is no npm'
  const { code, text } = inOverlay('true', [])
  return code === 0 ? false : `no overlay can be mounted here: ${text.trim()}`
}

describe('the stages of the Dockerfile', { skip: prepare() }, () => {
  it('make the executable of nothing but what .dockerignore lets through', () => {
    for (const name of context)
      cpSync(join(root, name), join(folder, name), {
        recursive: true,
        filter: (path) => basename(path) !== 'node_modules',
      })
    const npmCache = join(homedir(), '.npm')
    mkdirSync(npmCache, { recursive: true })
    const script = ['cd /findling', ...commandsOf('build')].join('\n')
    const { code, text } = inOverlay(script, [dirname(process.execPath), npmCache])
    assert.equal(code, 0, text)
    const made = spawnSync(join(folder, 'executable'), ['version', '--json'], { encoding: 'utf8' })
    assert.equal(JSON.parse(made.stdout).commit, 'of-the-image', made.stderr)
    const { stdout } = run(['version', '--json'], { cwd: folder })
    assert.equal(JSON.parse(made.stdout).version, JSON.parse(stdout).version)
  })

  it('gather the libraries, their licences, and an empty folder for the data', () => {
    const find = 'find /rootfs /empty -type f; find /rootfs /empty -type l; ls -A /empty'
    const { code, text } = inOverlay([...commandsOf('libraries'), find].join('\n'), [])
    assert.equal(code, 0, text)
    const names = [basename(loader), ...libraries, ...Object.values(notices)]
    const found = text
      .trim()
      .split('\n')
      .map((path) => basename(path))
    assert.deepEqual(found.toSorted(), names.toSorted())
  })
})
