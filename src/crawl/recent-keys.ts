/** The keys seen last, exactly, in two generations: most links of a page end here. Forgets, never errs. */

export type RecentKeys = {
  /** A key of the older generation that is asked for stays another one. */
  has(key: string): boolean
  add(key: string): void
  clear(): void
}

/** @param keysMax a generation's size: between this and twice as many keys are known */
export function createRecentKeys(keysMax: number): RecentKeys {
  let young = new Set<string>()
  let old = new Set<string>()
  const add = (key: string): void => {
    if (young.size >= keysMax) {
      old = young
      young = new Set()
    }
    young.add(key)
  }
  return {
    has(key) {
      if (young.has(key)) return true
      if (!old.has(key)) return false
      add(key)
      return true
    },
    add,
    clear() {
      young = new Set()
      old = new Set()
    },
  }
}
