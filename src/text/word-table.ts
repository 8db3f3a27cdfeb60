/** A map whose keys are looked up as units [start, end) of a text: no string is made for a word that is known. Copies no key. */

export type WordTable<V> = {
  readonly size: number
  get(text: string, start: number, end: number): V | undefined
  /** `key` must not be there yet. */
  set(key: string, value: V): void
  /** Forgets all; the room stays. */
  clear(): void
}

const slotsMin = 1_024

/** Open addressing, at most half full. The hash has no secret: a page made to collide runs into the time limit of its thread. */
export function createWordTable<V>(): WordTable<V> {
  let keys: string[] = []
  let values: V[] = []
  /** By slot: the hash of a key, and its place in `keys`, one more; 0 = free. */
  let hashes = new Int32Array(slotsMin)
  let places = new Int32Array(slotsMin)

  const place = (hash: number, at: number): void => {
    const mask = places.length - 1
    let slot = hash & mask
    while (places[slot] !== 0) slot = (slot + 1) & mask
    hashes[slot] = hash
    places[slot] = at
  }
  const grow = (): void => {
    const [oldHashes, oldPlaces] = [hashes, places]
    hashes = new Int32Array(oldHashes.length * 2)
    places = new Int32Array(oldPlaces.length * 2)
    for (const [slot, at] of oldPlaces.entries()) {
      if (at !== 0) place(oldHashes[slot] as number, at)
    }
  }
  return {
    get size() {
      return keys.length
    },
    get(text, start, end) {
      const hash = hashOf(text, start, end)
      const mask = places.length - 1
      for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
        const at = places[slot] as number
        if (at === 0) return undefined
        if (hashes[slot] === hash && isAt(keys[at - 1] as string, text, start, end)) {
          return values[at - 1]
        }
      }
    },
    set(key, value) {
      if (2 * keys.length >= places.length) grow()
      keys.push(key)
      values.push(value)
      place(hashOf(key, 0, key.length), keys.length)
    },
    clear() {
      keys = []
      values = []
      places.fill(0)
    },
  }
}

/** FNV-1a over units, its upper bits folded down for the mask. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}

function isAt(key: string, text: string, start: number, end: number): boolean {
  if (key.length !== end - start) return false
  for (let i = 0; i < key.length; i += 1) {
    if (key.charCodeAt(i) !== text.charCodeAt(start + i)) return false
  }
  return true
}
