/** Progress of the jobs as server-sent events: one subscription to the crawl for all listeners, at most one message a second. */
import { AppError } from '../lib/errors.ts'
import type { EventStream } from './call.ts'
import type { CrawlControl, JobStatus } from './control.ts'

const listenersMax = 16
const intervalMs = 1000
/** Keeps proxies from closing a quiet line, and finds out that the listener has gone. */
const heartbeatMs = 15_000

export type ProgressEvents = {
  /** Throws rate_limited when there are too many listeners. */
  stream: () => EventStream
  listeners: () => number
  /** Ends every stream. */
  close: () => void
}

const message = (jobs: readonly JobStatus[]): string =>
  `event: jobs\ndata: ${JSON.stringify({ jobs })}\n\n`

/** @param setTimer for the tests: as setTimeout, returns the way to cancel */
export function createProgressEvents(
  crawl: Pick<CrawlControl, 'jobs' | 'onProgress'>,
  setTimer: (run: () => void, delayMs: number) => () => void = (run, delayMs) => {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
): ProgressEvents {
  const listeners = new Map<(event: string) => boolean, () => void>()
  let latest: JobStatus[] | null = null
  let stopListening: (() => void) | null = null
  let cancelSend: (() => void) | null = null
  let cancelHeartbeat: (() => void) | null = null

  const broadcast = (event: string): void => {
    for (const write of listeners.keys()) write(event)
  }
  // The first message of a burst waits out the interval; all that come meanwhile are one.
  const onProgress = (jobs: JobStatus[]): void => {
    latest = jobs
    cancelSend ??= setTimer(() => {
      cancelSend = null
      if (latest) broadcast(message(latest))
    }, intervalMs)
  }
  const beat = (): void => {
    broadcast(': still here\n\n')
    cancelHeartbeat = setTimer(beat, heartbeatMs)
  }
  const begin = (): void => {
    stopListening ??= crawl.onProgress(onProgress)
    cancelHeartbeat ??= setTimer(beat, heartbeatMs)
  }
  const endIfIdle = (): void => {
    if (listeners.size > 0) return
    stopListening?.()
    cancelSend?.()
    cancelHeartbeat?.()
    stopListening = cancelSend = cancelHeartbeat = null
  }
  return {
    stream() {
      if (listeners.size >= listenersMax) {
        throw new AppError('rate_limited', `${listenersMax} listeners are connected already.`, {
          retryAfterS: 10,
        })
      }
      return {
        open(write, end) {
          listeners.set(write, end)
          begin()
          write('retry: 3000\n\n')
          // A listener sees the state of now, not only the next change.
          crawl.jobs().then(
            (jobs) => listeners.has(write) && write(message(jobs)),
            () => end(),
          )
          return () => {
            listeners.delete(write)
            endIfIdle()
          }
        },
      }
    },
    listeners: () => listeners.size,
    close() {
      const ends = Array.from(listeners.values())
      listeners.clear()
      for (const end of ends) end()
      endIfIdle()
    },
  }
}
