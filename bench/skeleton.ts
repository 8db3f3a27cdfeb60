/**
 * The bare pipeline that the design was tried with (../shared/prototypes/pipeline): the same threads, fetching, HTML, words, postings and
 * rows, without extraction, dictionary, copies, robots and guard. What it costs tells how quick the machine is in these minutes.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { round } from './process-tree.ts'
import type { RealSite } from './sites.ts'

const kit = resolve(import.meta.dirname, '../../shared/prototypes/pipeline')
/** Beside our packages, which it asks for by name. */
const copy = join(import.meta.dirname, '../node_modules/.cache/findling/skeleton')
const timeoutMs = 120_000

type Stats = { processCpuMs: number; engine: { stored: number } }

/** CPU ms a page of a crawl with one parser; null where the prototype is not at hand. */
export async function measureSkeleton(
  origin: string,
  sites: readonly RealSite[],
): Promise<number | null> {
  if (!existsSync(join(kit, 'main.mjs'))) return null
  rmSync(copy, { recursive: true, force: true })
  cpSync(kit, copy, { recursive: true, filter: (path) => !path.includes('node_modules') })
  const folder = mkdtempSync(join(tmpdir(), 'findling-skeleton-'))
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const seeds = sites.flatMap(({ seed, prefix }) => [`${origin}${seed}`, prefix])
  const args = ['main.mjs', join(folder, 'data'), String(port), '{"parsers":1}', ...seeds]
  const child = spawn(process.execPath, args, { cwd: copy, stdio: ['ignore', 'ignore', 'pipe'] })
  try {
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const untilMs = performance.now() + timeoutMs
    while (!said.includes('"idle"')) {
      if (child.exitCode !== null || performance.now() > untilMs)
        throw new Error(`the skeleton did not come to its end: ${said.slice(-500)}`)
      await sleep(100)
    }
    const answer = await fetch(`http://127.0.0.1:${port}/stats`)
    const { processCpuMs, engine } = (await answer.json()) as Stats
    return round(processCpuMs / engine.stored, 2)
  } finally {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
