/** Lets other threads of the process go first. */
import { getPriority, setPriority } from 'node:os'

const lowest = 19
/** A tenth of the weight of the others. */
const usualSteps = 10

/**
 * Makes the calling thread nicer by so many steps, from what it has: one that begins another one hands its own on. Linux alone gives each
 * thread a priority; elsewhere this would be the whole process, and nothing is done.
 */
export function beNicer(steps = usualSteps): void {
  if (process.platform !== 'linux') return
  setPriority(Math.min(lowest, getPriority() + steps))
}
