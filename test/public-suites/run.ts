/** `npm run conformance [-- FOLDER]`: one table of all public suites; exit 0 when only listed deviations remain. FINDLING_CONFORMANCE names the folder too. */
import { resolve } from 'node:path'
import { allQuestions, judgeResults } from './all.ts'
import { askSuite, defaultFolder, readIndex, type Result } from './suite.ts'

const pad = (text: string | number, width: number): string => String(text).padStart(width)

/** 1 3-5 8: numbers that follow each other as one. */
function inRuns(cases: readonly number[]): string {
  const runs: [from: number, to: number][] = []
  for (const at of cases) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === at - 1) last[1] = at
    else runs.push([at, at])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ')
}

function tableOf(results: readonly Result[]): string {
  const lines = results.flatMap(({ suite, passed, of, skipped, reasons }) => [
    `${suite.padEnd(38)}${pad(passed, 6)}${pad(of, 6)}${pad(skipped, 9)}`,
    ...reasons.map(
      ({ why, kind, cases }) => `    ${pad(cases.length, 4)} ${kind}: ${why}  (${inRuns(cases)})`,
    ),
  ])
  const head = `${'suite'.padEnd(38)}passed    of  skipped   (skipped: excluded by INDEX.json)`
  return [head, ...lines].join('\n')
}

async function main(): Promise<number> {
  const named = process.argv[2] ?? process.env['FINDLING_CONFORMANCE']
  const folder = named === undefined ? defaultFolder : resolve(named)
  const index = readIndex(folder)
  if (index === null) {
    console.error(
      `The suites are missing: ${folder} has no INDEX.json. Name their folder as argument.`,
    )
    console.log(`RESULT ${JSON.stringify({ missing: true })}`)
    return 66
  }
  const results: Result[] = []
  for (const entry of index)
    results.push(await askSuite(folder, entry, allQuestions[entry.file.replace(/\.json$/, '')]))
  console.log(tableOf(results))
  const { wrong, summary } = judgeResults(results)
  for (const line of wrong) console.error(`WRONG ${line}`)
  console.log(`RESULT ${JSON.stringify(summary)}`)
  return wrong.length === 0 ? 0 : 1
}

process.exitCode = await main()
