/** What the frontier in the store is told by those who open it. */
import type { SeenFilter } from './seen.ts'

export type FrontierOptions = {
  /** Does the first source admit everything that the second one admits? */
  covers(wideSourceId: number, narrowSourceId: number): boolean
  now(): number
  /** Left out: every URL may have been seen. */
  seen?: SeenFilter
  /** Requests to one host at a time. */
  hostConnections?: number
  /** Hosts held in memory; the queues of others wait. */
  hostsMax?: number
  /** Is what was queued still wanted? Left out: always. */
  judge?: (url: string, isOfOwnShape: boolean) => QueueVerdict
  /** How many new URLs of other shapes the links of a settled page gave; in the transaction of `settle`. */
  onLinksAdded?: (urlId: number, elsewhere: number) => void
  /** Shortest time between two visits that a list may cause. */
  relistMs?: number
}

/** aside: not asked for, kept with the reason. renamed: known under another name, which is queued instead. */
export type QueueVerdict =
  | { kind: 'wanted' }
  | { kind: 'aside'; reason: string }
  | { kind: 'renamed'; to: string }
