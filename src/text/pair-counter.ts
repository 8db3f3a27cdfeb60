/** Counts pairs of Han characters in typed arrays: a Map of a thousand pairs a page was a fifth of the analysis of Chinese. */

/** Slots of the hash table: 1.6 times what may be counted. */
const SLOTS = 32_768
const FREE = -1

export type PairCounter = {
  size(): number
  /** `key` >= 0. Counts nothing new when `isFull`. */
  add(key: number, weight: number, isFull: boolean): void
  /** In order of first sight. */
  each(use: (key: number, count: number) => void): void
  clear(): void
}

/** At most `pairsMax` (20,000 or fewer) different keys. */
export function createPairCounter(pairsMax: number): PairCounter {
  const keys = new Int32Array(SLOTS).fill(FREE)
  const counts = new Int32Array(SLOTS)
  const order = new Uint16Array(pairsMax)
  let size = 0
  return {
    size: () => size,
    add(key, weight, isFull) {
      const hash = Math.imul(key, 0x9e37_79b1)
      let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
      while (keys[slot] !== key) {
        if (keys[slot] === FREE) {
          if (isFull || size === pairsMax) return
          keys[slot] = key
          counts[slot] = 0
          order[size++] = slot
          break
        }
        slot = (slot + 1) & (SLOTS - 1)
      }
      counts[slot] = (counts[slot] as number) + weight
    },
    each(use) {
      for (let i = 0; i < size; i += 1) {
        const slot = order[i] as number
        use(keys[slot] as number, counts[slot] as number)
      }
    },
    clear() {
      for (let i = 0; i < size; i += 1) keys[order[i] as number] = FREE
      size = 0
    },
  }
}
