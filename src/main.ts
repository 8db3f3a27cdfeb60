/** Where the program begins: the command line on the main thread, one role on every other. Does nothing itself. */
import { isMainThread, workerData } from 'node:worker_threads'
import { keepCompiledCode } from './assets.ts'
import { waitAt, type Gate } from './lib/gate.ts'

const roles: Record<string, () => Promise<{ run: (data: never) => unknown }>> = {
  engine: () => import('./engine.ts'),
  search: () => import('./searcher.ts'),
  parser: () => import('./parser.ts'),
}

async function start(): Promise<void> {
  if (isMainThread) {
    keepCompiledCode()
    const { runCommandLine } = await import('./cli/run.ts')
    await runCommandLine(process.argv.slice(2))
    return
  }
  const data = workerData as { role: string; gate?: Gate }
  const load = roles[data.role]
  if (load === undefined) throw new Error(`no role ${data.role}`)
  const { run } = await load()
  // Its code is there; what it works on may still be under way.
  if (data.gate !== undefined) waitAt(data.gate)
  await run(data as never)
}

void start()
