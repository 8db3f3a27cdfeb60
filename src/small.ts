/** Keeps the process small: looks at its size all the time and has given back what nothing needs. Knows no thread, only what resting is. */
import { collectGarbage } from './lib/garbage.ts'
import { createMemoryReleaser } from './lib/mmap.ts'

export type Rest = {
  /** Resolves when the program answers: until then a start has the processor for itself. */
  ready: () => Promise<void>
  /** Nothing was asked, fetched or imported of late. */
  isIdle: () => boolean
  /** Every thread gives back what it can make again: caches, tables, the slack of its heap. False where something goes on after all. */
  rest: () => Promise<boolean>
}

/** What a process can tell of itself and do about it. */
export type Process = {
  bytes: () => number
  nowMs: () => number
  collectGarbage: () => Promise<void>
  createReleaser: () => Promise<(() => void) | null>
}
const thisProcess: Process = {
  bytes: () => process.memoryUsage.rss(),
  nowMs: () => performance.now(),
  collectGarbage,
  createReleaser: createMemoryReleaser,
}

/** After it answers: the first ones who ask are served before the house is cleaned. */
export const settleMs = 500
export const everyMs = 500
/** What is released costs 5-20 ms of CPU time, and as much again where it is needed after all: often only where the promise is in danger. */
export const releaseEveryMs = 10_000
export const dangerousShare = 7 / 8
export const changeBytesMin = 4 * 1_024 * 1_024
/** Where it is in danger; at the next look where it grew by a leap, as at the beginning of a crawl. */
export const dangerEveryMs = 2_000
export const leapBytesMin = 12 * 1_024 * 1_024
/** A rest costs 100-200 ms, and the next query some more: not for what a few queries leave behind. */
export const restBytesMin = 24 * 1_024 * 1_024

/** Remembers what was left the last time, and judges by that what is worth doing now. Pure. */
export function createThrift(promisedBytes: number) {
  let [leftBytes, restedBytes] = [0, 0]
  let releasedMs = Number.NEGATIVE_INFINITY
  return {
    isWorthARest: (bytes: number): boolean => bytes >= restedBytes + restBytesMin,
    /** Also where it has shrunk: a thread that ended leaves pieces behind. */
    isWorthARelease(bytes: number, nowMs: number): boolean {
      const agoMs = nowMs - releasedMs
      const isInDanger = bytes >= promisedBytes * dangerousShare
      if (isInDanger && bytes - leftBytes >= leapBytesMin) return true
      return (
        agoMs >= (isInDanger ? dangerEveryMs : releaseEveryMs) &&
        Math.abs(bytes - leftBytes) >= changeBytesMin
      )
    },
    hasReleased(bytes: number, nowMs: number, isRested: boolean): void {
      releasedMs = nowMs
      leftBytes = bytes
      restedBytes = isRested ? bytes : Math.min(restedBytes, bytes)
    },
  }
}

/**
 * @param promisedBytes what the process should take at most
 * @returns how to end it
 */
export function keepSmall(
  { ready, isIdle, rest }: Rest,
  promisedBytes: number,
  own: Process = thisProcess,
): () => void {
  const thrift = createThrift(promisedBytes)
  let release: (() => void) | null = null
  let isUnderWay = false
  let isEnded = false
  let timer: NodeJS.Timeout | undefined
  const turn = async (): Promise<void> => {
    const bytes = own.bytes()
    const isRested = thrift.isWorthARest(bytes) && isIdle() && (await rest())
    if (!isRested && !thrift.isWorthARelease(bytes, own.nowMs())) return
    release?.()
    thrift.hasReleased(own.bytes(), own.nowMs(), isRested)
  }
  const turnAlone = async (): Promise<void> => {
    if (isUnderWay) return
    isUnderWay = true
    await turn()
    isUnderWay = false
  }
  const begin = async (): Promise<void> => {
    timer = setInterval(() => void turnAlone(), everyMs).unref()
    release = await own.createReleaser()
    // A start leaves behind more than it needs, and this thread has little to do afterwards: its own collector hardly ever runs.
    await own.collectGarbage()
    await turnAlone()
  }
  const settle = async (): Promise<void> => {
    await ready()
    if (!isEnded) timer = setTimeout(() => void begin(), settleMs).unref()
  }
  settle().catch(() => {
    // What never answers says why to whoever waits for it.
  })
  return () => {
    isEnded = true
    // A timer of either kind.
    clearTimeout(timer)
  }
}
