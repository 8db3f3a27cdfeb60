/** Drives the program as a user does: by its command line, its output and its HTTP port. Looks at no module of src/. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const binary = process.env['BIN']
/** What stands before the arguments: the sources under this Node, or the built binary. */
const [file, before] =
  binary === undefined
    ? [process.execPath, [join(root, 'src/main.ts')]]
    : [resolve(root, binary), []]

/** The sources start in half the time when not even the first file must be stripped of its types. */
const compiled = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/findling/compiled') }
const runTimeoutMs = 60_000
const startTimeoutMs = 30_000

export type Result = {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}
export type RunOptions = {
  stdin?: string | Uint8Array
  env?: Record<string, string>
  cwd?: string
  timeoutMs?: number
  /** A command that is given the program and its arguments: a tracer, a shell that counts. */
  around?: readonly string[]
}

/** A fresh data directory path below the temporary folder; `remove` clears it away. */
export function makeDirectory(): { path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'findling-e2e-'))
  return {
    path: join(folder, 'data'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Settings of the user's own environment must not leak into a test. */
function environment(extra: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(FINDLING_|NODE_TEST_CONTEXT|NODE_OPTIONS)/.test(entry[0]),
  )
  return {
    ...Object.fromEntries(kept),
    ...(binary === undefined ? compiled : {}),
    NO_COLOR: '1',
    ...extra,
  }
}

export type Started = {
  child: ChildProcess
  /** Output so far. */
  stdout(): string
  stderr(): string
  /** Resolves when the program has ended. */
  ended: Promise<Result>
  /** Resolves with the match of the first output line on either stream that fits; rejects when the program ends before, or in time. */
  line(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>
}

export function start(args: readonly string[], options: RunOptions = {}): Started {
  const [first = file, ...rest] = [...(options.around ?? []), file, ...before, ...args]
  const child = spawn(first, rest, {
    cwd: options.cwd ?? tmpdir(),
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => {
      output[name] += text
      for (const listener of listeners) listener()
    })
  }
  // A program that ends without reading its input closes the pipe: its exit code tells, not the pipe.
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<Result>((resolveEnd, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolveEnd({ code, signal, ...output }))
  })
  const line: Started['line'] = (pattern, timeoutMs = startTimeoutMs) =>
    new Promise((found, reject) => {
      const fail = (why: string): void => {
        finish()
        reject(
          new Error(
            `${why} before ${String(pattern)}: ${args.join(' ')}\n${output.stderr.slice(-4000)}`,
          ),
        )
      }
      const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs)
      const look = (): void => {
        const match = pattern.exec(output.stderr) ?? pattern.exec(output.stdout)
        if (match === null) return
        finish()
        found(match)
      }
      const finish = (): void => {
        clearTimeout(timer)
        listeners.delete(look)
      }
      listeners.add(look)
      void ended.then(() => fail('it ended'))
      look()
    })
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, ended, line }
}

/** Runs to the end. A program that takes too long is killed and the promise rejects. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const started = start(args, options)
  const timeoutMs = options.timeoutMs ?? runTimeoutMs
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    started.child.kill('SIGKILL')
  }, timeoutMs)
  const result = await started.ended
  clearTimeout(timer)
  if (isLate)
    throw new Error(`${args.join(' ')} took over ${timeoutMs} ms\n${result.stderr.slice(-4000)}`)
  return result
}

export type Server = Started & {
  /** Without a slash at the end. */
  url: string
  key: string
  /** A GET (or any other request) of the API with JSON in the answer. */
  api(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; body: Json }>
  /** SIGTERM, then the end. */
  stop(): Promise<Result>
}
/** JSON as the tests look into it. */
// oxlint-disable-next-line typescript/no-explicit-any -- answers are judged by assertions, not by types
export type Json = any

/** `serve` on a free port; resolves when it says that it is ready. */
export async function serve(args: readonly string[], options: RunOptions = {}): Promise<Server> {
  const started = start(['serve', '--listen', '127.0.0.1:0', ...args], options)
  let url = ''
  let key = ''
  try {
    url = (await started.line(/answers on (http:\/\/[^\s"]+?)\/?["\s]/))[1] ?? ''
    key = (await started.line(/key: ([0-9a-f]+)/))[1] ?? ''
    await started.line(/ ready\n/)
  } catch (error) {
    // Left running it would keep the test file from ending.
    started.child.kill('SIGKILL')
    throw error
  }
  return {
    ...started,
    url,
    key,
    api: async (path, init) => {
      const response = await fetch(`${url}${path}`, init)
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    stop: () => {
      started.child.kill('SIGTERM')
      return started.ended
    },
  }
}

/** Each line of JSON lines. */
export const jsonLines = (text: string): Json[] =>
  text
    .split('\n')
    .filter((each) => each !== '')
    .map((each): Json => JSON.parse(each))

/** What crawls of the test web need: loopback is private, small batches and short retries make a small web quick. `serve` has no --delay of its own. */
// oxfmt-ignore
export const localServe = ['--allow-private', '127.0.0.0/8', '--batch-ms', '100', '--retry-ms', '50'] as const
export const localCrawl = [...localServe, '--delay', '0'] as const

/** Asks again until the answer satisfies, without more than `timeoutMs`; for what the program does in its own time. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isGood: (value: T) => boolean,
  timeoutMs = 20_000,
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const value = await ask()
    if (isGood(value)) return value
    if (performance.now() > endMs)
      throw new Error(
        `still not so after ${timeoutMs} ms: ${JSON.stringify(value)?.slice(0, 2000)}`,
      )
    await new Promise((resolveWait) => setTimeout(resolveWait, 50))
  }
}
