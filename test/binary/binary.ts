/** The built executable, and how it is started: plainly, or in a mount namespace of its own where only certain places may be written. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
export const binaryOf = (arch: 'x64' | 'arm64'): string =>
  arch === process.arch && process.env['BIN'] !== undefined
    ? resolve(root, process.env['BIN'])
    : join(root, 'dist', `findling-linux-${arch}`)
export const binary = binaryOf(process.arch === 'arm64' ? 'arm64' : 'x64')

/** Why these tests cannot run, or false. In CI the file must be there. */
export const notBuilt: string | false =
  existsSync(binary) || process.env['CI'] === 'true'
    ? false
    : `${binary} is not built: npm run build`

/** Why there can be no namespace of our own, or false. */
export const noSandbox: string | false = (() => {
  if (notBuilt !== false) return notBuilt
  const tried = spawnSync('unshare', ['--mount', '--propagation', 'private', 'true'])
  return tried.status === 0 ? false : 'mounts of our own need root and util-linux'
})()

export type Ran = { code: number | null; stdout: string; stderr: string }
const timeoutMs = 60_000

/** Runs the executable with this environment and no other. */
export function run(
  args: readonly string[],
  { cwd, env = {}, stdin = '' }: { cwd: string; env?: Record<string, string>; stdin?: string },
): Ran {
  const { status, stdout, stderr } = spawnSync(binary, args, {
    cwd,
    env,
    input: stdin,
    encoding: 'utf8',
    timeout: timeoutMs,
  })
  return { code: status, stdout, stderr }
}

/**
 * Runs it as nobody, with an empty environment, after `mounts` (a shell script) has changed what the file system looks like to it.
 * Whatever is mounted goes away with the process. The executable is reached below /mnt, so that its own folder may be covered.
 */
export function runInSandbox(mounts: string, args: readonly string[], stdin = ''): Ran {
  const script = [
    'mount --bind "$1" /mnt; shift',
    mounts,
    'exec setpriv --reuid 65534 --regid 65534 --clear-groups env -i "$@"',
  ].join('\n')
  const command = ['sh', '-ec', script, 'sh', dirname(binary), join('/mnt', basename(binary))]
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--propagation', 'private', ...command, ...args],
    { cwd: '/', input: stdin, encoding: 'utf8', timeout: timeoutMs },
  )
  return { code: status, stdout, stderr }
}
