/** A binary heap: the least element first. Knows nothing of what it holds. */

export type Heap<T> = {
  push(item: T): void
  pop(): T | undefined
  peek(): T | undefined
  clear(): void
  readonly size: number
}

/** @param isBefore a strict order; equal elements come out in any order */
export function createHeap<T>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = []
  const rise = (item: T, from: number): void => {
    let at = from
    while (at > 0) {
      const parentAt = (at - 1) >> 1
      const parent = items[parentAt]
      if (parent === undefined || !isBefore(item, parent)) break
      items[at] = parent
      at = parentAt
    }
    items[at] = item
  }
  const sink = (item: T): void => {
    let at = 0
    for (;;) {
      let childAt = 2 * at + 1
      let child = items[childAt]
      if (child === undefined) break
      const right = items[childAt + 1]
      if (right !== undefined && isBefore(right, child)) {
        child = right
        childAt++
      }
      if (!isBefore(child, item)) break
      items[at] = child
      at = childAt
    }
    items[at] = item
  }
  return {
    push: (item) => rise(item, items.length),
    pop() {
      const first = items[0]
      const last = items.pop()
      if (last !== undefined && items.length > 0) sink(last)
      return first
    },
    peek: () => items[0],
    clear: () => void (items.length = 0),
    get size() {
      return items.length
    },
  }
}
