/** What a function said lately, so that it need not say it again. Two generations: the older one is forgotten whole, which costs nothing. */

export type Memo<Key, Value> = {
  get(key: Key): Value
  clear(): void
}

/**
 * @param keysMax a generation's size: between this and twice as many keys are remembered
 * @param make pure for as long as nobody clears; never answers undefined
 */
export function createMemo<Key, Value extends {} | null>(
  keysMax: number,
  make: (key: Key) => Value,
): Memo<Key, Value> {
  let young = new Map<Key, Value>()
  let old = new Map<Key, Value>()
  return {
    get(key) {
      const known = young.get(key)
      if (known !== undefined) return known
      const value = old.get(key) ?? make(key)
      if (young.size >= keysMax) {
        old = young
        young = new Map()
      }
      young.set(key, value)
      return value
    },
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}
