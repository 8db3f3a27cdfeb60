/** What a child process costs, read from /proc (Linux): CPU time, peak and present memory. Judges nothing. */
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

let ticks: number | undefined
/** Ticks of the kernel's CPU clock in a second. */
const ticksPerSecond = (): number =>
  (ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })))

/** CPU milliseconds of a process, all its threads, and its children that have ended. Includes what is now running below it. */
export function cpuMsOf(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + ownCpuMs(each), 0)
}

function ownCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name stands in brackets and may hold anything: count from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number)
    const sum = (user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0)
    return (sum * 1000) / ticksPerSecond()
  } catch {
    return 0
  }
}

function descendantsOf(pid: number): number[] {
  const children: number[] = []
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim()
      if (text !== '') children.push(...text.split(' ').map(Number))
    }
  } catch {
    return []
  }
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}

export type Memory = { rssMb: number; peakRssMb: number; anonymousMb: number }

/** Of one process; null when it has ended. */
export function memoryOf(pid: number): Memory | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const megabytes = (text: string, name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024
    return {
      rssMb: megabytes(rollup, 'Rss'),
      peakRssMb: megabytes(status, 'VmHWM'),
      anonymousMb: megabytes(rollup, 'Anonymous'),
    }
  } catch {
    return null
  }
}

/** Samples CPU and peak memory until `stop`; a process that has ended can no longer be asked. */
export function watch(
  pid: number,
  everyMs = 100,
): { stop(): { cpuMs: number; peakRssMb: number } } {
  let cpuMs = 0
  let peakRssMb = 0
  const sample = (): void => {
    cpuMs = Math.max(cpuMs, cpuMsOf(pid))
    peakRssMb = Math.max(peakRssMb, memoryOf(pid)?.peakRssMb ?? 0)
  }
  const timer = setInterval(sample, everyMs)
  return {
    stop() {
      clearInterval(timer)
      sample()
      return { cpuMs, peakRssMb }
    },
  }
}

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits))

/** The table of a bench, then its last line. */
export function report(rows: readonly Record<string, unknown>[], result: unknown): void {
  console.table(rows)
  console.log(`RESULT ${JSON.stringify(result)}`)
}
