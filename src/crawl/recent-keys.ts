/** The keys seen last, exactly, in two generations, with how often: most links of a page end here. Forgets, never errs. */

export type RecentKeys = {
  /** A key of the older generation that is asked for stays another one. */
  has(key: string): boolean
  /** One more use of a key that is known: how many there were since it came, this one included; 0 for one that is not known. */
  again(key: string): number
  /** Its first use. */
  add(key: string): void
  clear(): void
}

/** @param keysMax a generation's size: between this and twice as many keys are known */
export function createRecentKeys(keysMax: number): RecentKeys {
  let young = new Map<string, number>()
  let old = new Map<string, number>()
  const put = (key: string, uses: number): void => {
    if (young.size >= keysMax && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, uses)
  }
  return {
    has(key) {
      if (young.has(key)) return true
      const uses = old.get(key)
      if (uses !== undefined) put(key, uses)
      return uses !== undefined
    },
    again(key) {
      const uses = young.get(key) ?? old.get(key)
      if (uses === undefined) return 0
      put(key, uses + 1)
      return uses + 1
    },
    add(key) {
      if (!young.has(key)) put(key, 1)
    },
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}
