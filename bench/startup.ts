/** How long a start takes, with and without data: to the first /livez, to /readyz, to the first answer. `bench -- startup [DOCUMENTS]`. */
import { makeDirectory, run, serve } from '../test/e2e/program.ts'
import { createRandom, sentences, titleOf } from '../test/site/words.ts'
import { report, round } from './process-tree.ts'

const documents = Number(process.argv[2] ?? 5_000)
const rounds = 3

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

async function measure(data: string): Promise<{ readyMs: number; answerMs: number }> {
  const beganMs = performance.now()
  const server = await serve(['--data', data])
  const readyMs = performance.now() - beganMs
  await server.api('/api/v1/search?q=harbour')
  const answerMs = performance.now() - beganMs
  await server.stop()
  return { readyMs, answerMs }
}

const rows: Record<string, unknown>[] = []
for (const count of [0, documents]) {
  const directory = makeDirectory()
  if (count > 0) {
    const random = createRandom(5)
    const lines = Array.from({ length: count }, (_, at) =>
      JSON.stringify({
        url: `https://start.example/${at}`,
        title: titleOf(random, 'en'),
        text: sentences(random, 'en', 12).join(' '),
      }),
    )
    const args = ['import', '-', '--no-dedupe', '--data', directory.path]
    const imported = await run(args, { stdin: lines.join('\n'), timeoutMs: 600_000 })
    if (imported.code !== 0) throw new Error(imported.stderr)
  }
  const measured = []
  for (let turn = 0; turn < rounds; turn++) measured.push(await measure(directory.path))
  rows.push({
    documents: count,
    readyMs: round(median(measured.map(({ readyMs }) => readyMs)), 0),
    answerMs: round(median(measured.map(({ answerMs }) => answerMs)), 0),
  })
  directory.remove()
}
report(rows, { rows })
