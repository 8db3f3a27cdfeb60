/** How many people search, by day, without a list of them: a count that cannot be asked who was in it. Keeps nothing on disk. */
import { createHash, randomBytes } from 'node:crypto'
import { createHyperLogLog, type HyperLogLog } from '../lib/hyperloglog.ts'

export type Visitors = {
  /** Somebody at this address searches. */
  note(address: string): void
  /** About how many different ones, of this day (UTC) and the one before, since the start of the process. */
  counts(): { today: number; yesterday: number }
}

const dayMs = 86_400_000

/**
 * Addresses are hashed with a salt that is forgotten at the end of the day and leaves this function never: not even the days can be compared.
 * @param now ms of the wall clock
 */
export function createVisitors(now: () => number, saltBytes = randomBytes): Visitors {
  let day = Math.floor(now() / dayMs)
  let salt = saltBytes(16)
  let today: HyperLogLog = createHyperLogLog()
  let yesterday = 0
  const turn = (): void => {
    const current = Math.floor(now() / dayMs)
    if (current === day) return
    yesterday = current === day + 1 ? today.count() : 0
    today = createHyperLogLog()
    salt = saltBytes(16)
    day = current
  }
  return {
    note(address) {
      turn()
      const digest = createHash('sha256').update(salt).update(address).digest()
      today.add(digest.readUInt32LE(0), digest.readUInt32LE(4))
    },
    counts() {
      turn()
      return { today: today.count(), yesterday }
    },
  }
}
