/**
 * How long a start takes, what an idle server holds, and what opening the index takes of that, with and without data:
 * `bench -- startup [DOCUMENTS]`. With BIN set the executable is measured as well, in turns with the sources. CPU time tells more than
 * time on a busy machine.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeDirectory, run } from '../test/e2e/program.ts'
import { createRandom, sentences, titleOf } from '../test/site/words.ts'
import { openDatabase } from '../src/lib/sqlite.ts'
import { createIndexReader, createIndexWriter } from '../src/search/flex.ts'
import { cpuMsOf, memoryOf, report, round, type Memory } from './process-tree.ts'

const documents = Number(process.argv[2] ?? 5_000)
const rounds = 5
/** Long enough for what a start leaves to do. Only the last round waits for it. */
const idleMs = 10_000
const root = resolve(import.meta.dirname, '..')

type Measure = {
  readyMs: number
  answerMs: number
  answerCpuMs: number
  memory: Memory | null
}
type Variant = { name: string; command: readonly string[] }
const sources = { name: 'sources', command: [process.execPath, join(root, 'src/main.ts')] }
const binary = process.env['BIN']
const variants: readonly Variant[] =
  binary === undefined
    ? [sources]
    : [{ name: 'executable', command: [resolve(root, binary)] }, sources]

async function measure({ command }: Variant, data: string, isLast: boolean): Promise<Measure> {
  const [file = '', ...before] = command
  const beganMs = performance.now()
  const child = spawn(file, [...before, 'serve', '--data', data, '--listen', '127.0.0.1:0'], {
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const pid = child.pid ?? 0
  const exited = once(child, 'exit')
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  const ended = exited.then(() => {
    throw new Error(`it ended before it was ready: ${log}`)
  })
  // Once it is ready an end is what we ask for.
  ended.catch(() => undefined)
  while (!/ ready\n/.test(log)) await Promise.race([once(child.stderr, 'data'), ended])
  const readyMs = performance.now() - beganMs
  const url = /answers on (http:\/\/[^\s"]+?)\/?\s/.exec(log)?.[1] ?? ''
  await firstAnswer(`${url}/api/v1/search?q=harbour`)
  const answerMs = performance.now() - beganMs
  const answerCpuMs = cpuMsOf(pid)
  if (isLast) await new Promise((done) => setTimeout(done, idleMs))
  const memory = isLast ? memoryOf(pid) : null
  child.kill('SIGTERM')
  await exited
  return {
    readyMs,
    answerMs,
    answerCpuMs,
    memory,
  }
}

/** One that comes too early for a busy machine is answered 503, and asked again. */
async function firstAnswer(url: string): Promise<void> {
  for (;;) {
    const { status, body } = await fetch(url)
    await body?.cancel()
    if (status === 200) return
    if (status !== 503) throw new Error(`the first answer is ${status}`)
  }
}

/** What the engine and the search thread do with the index when they start: its writer, its reader, the first look at its segments. */
function reopen(directory: string): { ms: number; cpuMs: number } {
  const [beganMs, cpu] = [performance.now(), process.cpuUsage()]
  const writing = openDatabase(join(directory, 'findling.db'))
  const reading = openDatabase(join(directory, 'findling.db'), { readonly: true })
  createIndexWriter(writing)
  const reader = createIndexReader(reading)
  reader.begin()
  reader.end()
  const { user, system } = process.cpuUsage(cpu)
  const ms = performance.now() - beganMs
  reading.close()
  writing.close()
  return { ms, cpuMs: (user + system) / 1000 }
}

async function fill(directory: string, count: number): Promise<void> {
  const random = createRandom(5)
  const lines = Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      url: `https://start.example/${at}`,
      title: titleOf(random, 'en'),
      text: sentences(random, 'en', 12).join(' '),
    }),
  )
  const args = ['import', '-', '--data', directory]
  const imported = await run(args, { stdin: lines.join('\n'), timeoutMs: 1_200_000 })
  if (imported.code !== 0) throw new Error(imported.stderr)
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

function rowOf(name: string, count: number, measured: readonly Measure[]) {
  type Figure = 'readyMs' | 'answerMs' | 'answerCpuMs'
  const middle = (key: Figure): number => median(measured.map((each) => each[key]))
  const memory = measured.at(-1)?.memory
  return {
    variant: name,
    documents: count,
    readyMs: round(middle('readyMs'), 0),
    answerMs: round(middle('answerMs'), 0),
    answerMsMin: round(Math.min(...measured.map((each) => each.answerMs)), 0),
    answerCpuMs: round(middle('answerCpuMs'), 0),
    idleRssMb: round(memory?.rssMb ?? 0),
    idleAnonymousMb: round(memory?.anonymousMb ?? 0),
  }
}

const rows: ReturnType<typeof rowOf>[] = []
const reopened: { documents: number; ms: number; cpuMs: number }[] = []
for (const count of [0, documents]) {
  const directory = makeDirectory()
  await fill(directory.path, count)
  const measured = variants.map(({ name }) => ({ name, all: [] as Measure[] }))
  for (let turn = 0; turn < rounds; turn++)
    for (const [i, variant] of variants.entries())
      measured[i]?.all.push(await measure(variant, directory.path, turn === rounds - 1))
  rows.push(...measured.map(({ name, all }) => rowOf(name, count, all)))
  const opened = Array.from({ length: rounds }, () => reopen(directory.path))
  reopened.push({
    documents: count,
    ms: round(median(opened.map(({ ms }) => ms))),
    cpuMs: round(median(opened.map(({ cpuMs }) => cpuMs))),
  })
  directory.remove()
}
const fileMb = binary === undefined ? null : round(statSync(resolve(root, binary)).size / 1e6)
console.log('Opening the index:')
console.table(reopened)
report(rows, { rows, reopened, fileMb })
