/** Lets other threads of the process go first. */
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const lowest = 19
/** A tenth of the weight of the others. */
const usualSteps = 10
/** A third: they come before those they mostly work for, whose heaps would grow while they wait. */
const helperSteps = 5
/** As V8's platform calls its threads. */
const helperName = 'V8Worker'

/**
 * Makes the calling thread nicer by so many steps, from what it has: one that begins another one hands its own on. Linux alone gives each
 * thread a priority; elsewhere this would be the whole process, and nothing is done.
 */
export function beNicer(steps = usualSteps): void {
  if (process.platform !== 'linux') return
  setPriority(Math.min(lowest, getPriority() + steps))
}

/**
 * Makes the threads of this process nicer by so many steps in which V8 compiles, marks and sweeps for all others: most of that is for
 * threads that are nice themselves, and four at once keep whoever answers from two cores.
 */
export function letHelpersBeNicer(steps = helperSteps): void {
  if (process.platform !== 'linux') return
  for (const thread of threadsNow()) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'latin1').trim()
      if (name === helperName) setPriority(thread, Math.min(lowest, getPriority(thread) + steps))
    } catch {
      // It has ended.
    }
  }
}

function threadsNow(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    // A system without /proc: all stay as they are.
    return []
  }
}
