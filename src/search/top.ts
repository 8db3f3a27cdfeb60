/** The best k of many, in a heap of typed arrays. Equal keys go by docno, the lower first, so that pages of results never overlap. */

export type TopEntry = { key: number; docno: number }

export type TopList = {
  offer(key: number, docno: number): void
  /** What is not greater, and comes later by docno, is offered in vain. */
  worst(): number
  /** Best first; empties the list. */
  take(): TopEntry[]
}

export function createTopList(limit: number): TopList {
  // The worst entry is at the root. Grows on demand: most queries find less than they may.
  let keys = new Float64Array(Math.min(limit, 64))
  let docnos = new Float64Array(keys.length)
  let size = 0

  const isWorse = (a: number, b: number): boolean => {
    const keyA = keys[a] as number
    const keyB = keys[b] as number
    return keyA < keyB || (keyA === keyB && (docnos[a] as number) > (docnos[b] as number))
  }
  const swap = (a: number, b: number): void => {
    const key = keys[a] as number
    const docno = docnos[a] as number
    keys[a] = keys[b] as number
    docnos[a] = docnos[b] as number
    keys[b] = key
    docnos[b] = docno
  }
  const sink = (): void => {
    for (let at = 0; ;) {
      const left = 2 * at + 1
      if (left >= size) return
      const right = left + 1
      const worse = right < size && isWorse(right, left) ? right : left
      if (!isWorse(worse, at)) return
      swap(at, worse)
      at = worse
    }
  }
  const rise = (from: number): void => {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1
      if (!isWorse(at, parent)) return
      swap(at, parent)
      at = parent
    }
  }
  const widen = (): void => {
    const length = Math.min(limit, keys.length * 2)
    const widerKeys = new Float64Array(length)
    const widerDocnos = new Float64Array(length)
    widerKeys.set(keys)
    widerDocnos.set(docnos)
    keys = widerKeys
    docnos = widerDocnos
  }

  return {
    offer(key, docno) {
      if (size < limit) {
        if (size === keys.length) widen()
        ;[keys[size], docnos[size]] = [key, docno]
        size += 1
        return rise(size - 1)
      }
      if (limit === 0) return
      const worst = keys[0] as number
      if (key < worst || (key === worst && docno > (docnos[0] as number))) return
      ;[keys[0], docnos[0]] = [key, docno]
      sink()
    },
    worst: () =>
      limit === 0 ? Infinity : size < limit ? Number.NEGATIVE_INFINITY : (keys[0] as number),
    take() {
      const entries: TopEntry[] = []
      for (let i = 0; i < size; i += 1)
        entries.push({ key: keys[i] as number, docno: docnos[i] as number })
      size = 0
      return entries.sort((a, b) => b.key - a.key || a.docno - b.docno)
    },
  }
}
