/** Counts 32-bit hashes of one page in typed arrays: with Maps, counting was half the time of a fingerprint. Trusts its keys to be well mixed. */

export type HashCounter = {
  /** Forgets all; at most `keysMax` different hashes follow. */
  begin(keysMax: number): void
  /** Counts `hash` (unsigned) once more; answers how often it had come before. */
  add(hash: number): number
  /** Each hash with its count, in order of first sight. */
  each(use: (hash: number, count: number) => void): void
}

const slotsMin = 4_096

export function createHashCounter(): HashCounter {
  let keys = new Uint32Array(slotsMin)
  let counts = new Uint32Array(slotsMin) // 0 = free
  let order = new Uint32Array(slotsMin / 2)
  let mask = slotsMin - 1
  let size = 0
  return {
    begin(keysMax) {
      for (let i = 0; i < size; i++) counts[order[i] as number] = 0
      size = 0
      let slots = slotsMin
      while (slots < 2 * keysMax) slots *= 2
      mask = slots - 1
      if (slots <= keys.length) return
      keys = new Uint32Array(slots)
      counts = new Uint32Array(slots)
      order = new Uint32Array(slots / 2)
    },
    add(hash) {
      let slot = hash & mask
      while (counts[slot] !== 0 && keys[slot] !== hash) slot = (slot + 1) & mask
      const before = counts[slot] as number
      if (before === 0) {
        keys[slot] = hash
        order[size++] = slot
      }
      counts[slot] = before + 1
      return before
    },
    each(use) {
      for (let i = 0; i < size; i++) {
        const slot = order[i] as number
        use(keys[slot] as number, counts[slot] as number)
      }
    },
  }
}
