/** Commands that work on the directory itself: import, reindex, check. */
import { createReadStream, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { openApp } from '../app.ts'
import { checkDirectory, checkWordLists } from '../check.ts'
import { AppError } from '../lib/errors.ts'
import { wordFolderOf } from '../word-folder.ts'
import type { ReindexStatus } from '../server/control.ts'
import { type Client, findServer } from './client.ts'
import { formatOf, requireData, write, type Call } from './command.ts'

type ImportCounts = {
  stored: number
  unchanged: number
  exactCopies: number
  nearCopies: number
  filtered: number
}
type ImportAnswer = ImportCounts & {
  failed: Record<string, number>
  failures: readonly { line: number; url: string; reason: string }[]
}
const importBatch = 200
const reindexPath = '/api/v1/admin/reindex'
const watchMs = 250
const turnsPerReport = 20

export async function importCommand(call: Call): Promise<number> {
  const form = formatOf(call, 'text')
  const file = call.operands[0] ?? '-'
  if (file !== '-' && statSync(file, { throwIfNoEntry: false }) === undefined)
    throw new AppError('input_missing', `${file} does not exist.`)
  const app = await openApp({
    config: call.config,
    directory: call.directory,
    engine: true,
    resumeJobs: false,
    search: false,
    log: call.log,
  })
  const failed: Record<string, number> = {}
  const total: ImportCounts = {
    stored: 0,
    unchanged: 0,
    exactCopies: 0,
    nearCopies: 0,
    filtered: 0,
  }
  try {
    await app.ready()
    const dedupe = call.options['no-dedupe'] !== true
    let lines: { number: number; text: string }[] = []
    const send = async (): Promise<void> => {
      const answer = await app.engine<ImportAnswer>('import', { lines, dedupe })
      for (const name of Object.keys(total) as (keyof ImportCounts)[]) total[name] += answer[name]
      for (const [reason, n] of Object.entries(answer.failed))
        failed[reason] = (failed[reason] ?? 0) + n
      for (const failure of answer.failures) call.log('warn', 'line not stored', failure)
      lines = []
    }
    let number = 0
    const input = file === '-' ? process.stdin : createReadStream(file)
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      number++
      if (text.trim() === '') continue
      lines.push({ number, text })
      if (lines.length === importBatch) await send()
    }
    if (lines.length > 0) await send()
    await app.engine('finish')
  } finally {
    await app.close()
  }
  const summary = {
    stored: total.stored,
    unchanged: total.unchanged,
    exact_copies: total.exactCopies,
    near_copies: total.nearCopies,
    filtered: total.filtered,
    failed,
  }
  if (form === 'text') await write(`${importText(total, failed)}\n`)
  else await write(`${JSON.stringify(summary)}\n`)
  return Object.keys(failed).length === 0 ? 0 : 1
}

function importText(total: ImportCounts, failed: Readonly<Record<string, number>>): string {
  const reasons = Object.entries(failed).map(([reason, n]) => `${reason} ${n}`)
  return [
    `stored ${total.stored}`,
    `unchanged ${total.unchanged}`,
    `exact copies ${total.exactCopies}`,
    `near copies ${total.nearCopies}`,
    ...(total.filtered === 0 ? [] : [`filtered ${total.filtered}`]),
    ...(reasons.length === 0 ? [] : [`failed ${reasons.join(', ')}`]),
  ].join(', ')
}

export async function reindexCommand(call: Call): Promise<number> {
  const client = await findServer(call.directory, call.config.key)
  if (client !== null) return reindexThrough(client, call)
  requireData(call.directory)
  const app = await openApp({
    config: call.config,
    directory: call.directory,
    engine: true,
    resumeJobs: false,
    search: false,
    log: call.log,
  })
  try {
    await app.ready()
    const { documents } = await app.engine<{ documents: number }>('rebuild')
    await write(`indexed ${documents} documents\n`)
  } finally {
    await app.close()
  }
  return 0
}

/** The server goes on answering from the old index; interrupted, this only ceases to watch. */
async function reindexThrough(client: Client, { log }: Call): Promise<number> {
  let status = await client.post<ReindexStatus>(reindexPath, {})
  for (let turns = 1; status.running; turns += 1) {
    if (turns % turnsPerReport === 0)
      log('info', 'indexing', { done: status.done, total: status.total })
    await sleep(watchMs)
    status = await client.get<ReindexStatus>(reindexPath)
  }
  await write(`indexed ${status.total} documents\n`)
  return 0
}

export async function checkCommand(call: Call): Promise<number> {
  requireData(call.directory)
  const { problems, facts } = checkDirectory(call.directory)
  problems.push(...checkWordLists(wordFolderOf(call.config, call.directory)))
  if (formatOf(call, 'text') === 'text') {
    for (const problem of problems) await write(`wrong: ${problem}\n`)
    await write(
      `${problems.length === 0 ? 'ok' : `${problems.length} problems`}: ${Object.entries(facts)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')}\n`,
    )
  } else await write(`${JSON.stringify({ ok: problems.length === 0, problems, ...facts })}\n`)
  return problems.length === 0 ? 0 : 1
}
