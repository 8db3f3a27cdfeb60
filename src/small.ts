/** Keeps the process small: looks at its size every few seconds and has given back what nothing needs. Knows no thread, only what resting is. */
import { collectGarbage } from './lib/garbage.ts'
import { createMemoryReleaser } from './lib/mmap.ts'

export type Rest = {
  /** Nothing was asked, fetched or imported of late. */
  isIdle: () => boolean
  /** Every thread gives back what it can make again: caches, tables, the slack of its heap. False where something goes on after all. */
  rest: () => Promise<boolean>
}

/** A start is over by then: modules loaded, the first answers given. */
const startMs = 2_000
const everyMs = 2_000
/** What is released costs 5-20 ms of CPU time, and as much again where it is needed after all: often only where the promise is in danger. */
const releaseEveryMs = 10_000
const dangerousShare = 7 / 8
const changeBytesMin = 4 * 1_024 * 1_024
/** A rest costs 100-200 ms, and the next query some more: not for what a few queries leave behind. */
const restBytesMin = 24 * 1_024 * 1_024

/**
 * @param promisedBytes what the process should take at most
 * @returns how to end it
 */
export function keepSmall({ isIdle, rest }: Rest, promisedBytes: number): () => void {
  let release: (() => void) | null = null
  let [leftBytes, restedBytes] = [0, 0]
  let releasedMs = Number.NEGATIVE_INFINITY
  let isUnderWay = false
  const turn = async (): Promise<void> => {
    const bytes = process.memoryUsage.rss()
    const isRested = bytes >= restedBytes + restBytesMin && isIdle() && (await rest())
    // Also where it has shrunk: a thread that ended leaves pieces behind.
    const isDue =
      (performance.now() - releasedMs >= releaseEveryMs ||
        bytes >= promisedBytes * dangerousShare) &&
      Math.abs(bytes - leftBytes) >= changeBytesMin
    if (!isRested && !isDue) return
    release?.()
    releasedMs = performance.now()
    leftBytes = process.memoryUsage.rss()
    restedBytes = isRested ? leftBytes : Math.min(restedBytes, leftBytes)
  }
  const turnAlone = async (): Promise<void> => {
    if (isUnderWay) return
    isUnderWay = true
    await turn()
    isUnderWay = false
  }
  const begin = async (): Promise<void> => {
    release = await createMemoryReleaser()
    // A start leaves behind more than it needs, and this thread has little to do afterwards: its own collector hardly ever runs.
    await collectGarbage()
    await turnAlone()
  }
  const first = setTimeout(() => void begin(), startMs).unref()
  const timer = setInterval(() => void turnAlone(), everyMs).unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}
