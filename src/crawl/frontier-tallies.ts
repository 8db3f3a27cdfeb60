/** How many URLs of each source are in which state, in memory: asked for every second, and far too many rows to count then. */
import assert from 'node:assert'
import type { TallyRow } from './frontier-rows.ts'
import { asideState, queuedState, settledState, waitingState } from './frontier-rows.ts'

export type Tally = {
  /** What is out included. */
  queued: number
  retries: number
  revisits: number
  settled: number
  aside: number
}
export type Kind = keyof Tally

export class Tallies {
  readonly #bySource = new Map<number, Tally>()
  readonly #countRows: () => Iterable<TallyRow>
  #isLoaded = false

  /** @param countRows asked when first needed: it walks through all URLs, and who only serves never needs it */
  constructor(countRows: () => Iterable<TallyRow>) {
    this.#countRows = countRows
  }

  /** To be called before any row changes that is told to `move` afterwards. */
  load(): void {
    if (this.#isLoaded) return
    this.#isLoaded = true
    for (const { sourceId, state, isRetry, n } of this.#countRows())
      this.of(sourceId)[kindOf(state, isRetry === 1)] += n
  }

  /** What was counted is no longer so. */
  forget(): void {
    this.#isLoaded = false
    this.#bySource.clear()
  }

  of(sourceId: number): Tally {
    assert(this.#isLoaded, 'rows are counted before they change')
    let tally = this.#bySource.get(sourceId)
    if (tally === undefined) {
      tally = { queued: 0, retries: 0, revisits: 0, settled: 0, aside: 0 }
      this.#bySource.set(sourceId, tally)
    }
    return tally
  }

  sum(sourceIds: Iterable<number>): Tally {
    const sum: Tally = { queued: 0, retries: 0, revisits: 0, settled: 0, aside: 0 }
    for (const id of new Set(sourceIds)) {
      const tally = this.#bySource.get(id)
      if (tally === undefined) continue
      for (const kind of kinds) sum[kind] += tally[kind]
    }
    return sum
  }

  move(fromSourceId: number, from: Kind, toSourceId: number, to: Kind): void {
    this.of(fromSourceId)[from]--
    this.of(toSourceId)[to]++
  }
}

const kinds: readonly Kind[] = ['queued', 'retries', 'revisits', 'settled', 'aside']

/** @param isRetry of a waiting row: its last visit failed */
export function kindOf(state: number, isRetry: boolean): Kind {
  switch (state) {
    case queuedState:
      return 'queued'
    case waitingState:
      return isRetry ? 'retries' : 'revisits'
    case asideState:
      return 'aside'
    case settledState:
    default:
      return 'settled'
  }
}
