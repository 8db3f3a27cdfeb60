/** Exact sets of whole numbers below 2^32 that take as few bytes as their kind allows: scattered, dense or in runs. Knows no document. */
import assert from 'node:assert'
import {
  andContainers,
  andNotContainers,
  bytesOf,
  cloneOf,
  type Container,
  eachIn,
  emptyContainer,
  holds,
  orContainers,
  packed,
  rangeContainer,
  spread,
  withoutValue,
  withValue,
} from './roaring-containers.ts'

const limit = 2 ** 32
const containerValues = 65_536

/**
 * Lemire, Kai, Kaser, "Consistently faster and smaller compressed bitmaps with Roaring" (Software: Practice and Experience 2016): numbers with
 * the same upper 16 bits share a container, which is a sorted array, a bitmap or a list of runs. Sets share no containers.
 */
export class RoaringSet {
  /** Upper 16 bits, ascending, and their containers, none of them empty. */
  #keys: number[] = []
  #containers: Container[] = []

  /** All of [from, to). */
  static range(from: number, to: number): RoaringSet {
    assert(from >= 0 && to <= limit)
    const set = new RoaringSet()
    for (let at = from; at < to;) {
      const key = Math.floor(at / containerValues)
      const end = Math.min(to, (key + 1) * containerValues)
      set.#push(key, rangeContainer(at % containerValues, (end - 1) % containerValues))
      at = end
    }
    return set
  }

  static of(values: Iterable<number>): RoaringSet {
    const set = new RoaringSet()
    for (const value of values) set.add(value)
    return set
  }

  get size(): number {
    return this.#containers.reduce((sum, { size }) => sum + size, 0)
  }

  /** Bytes of all containers, and about what keeps them together. */
  get bytes(): number {
    return this.#containers.reduce((sum, container) => sum + bytesOf(container), 0)
  }

  has(value: number): boolean {
    const at = this.#find(value >>> 16)
    return at >= 0 && holds(this.#containers[at] as Container, value & 0xffff)
  }

  /** Quickest in ascending order. */
  add(value: number): void {
    const key = value >>> 16
    let at = this.#find(key)
    if (at < 0) {
      at = ~at
      this.#keys.splice(at, 0, key)
      this.#containers.splice(at, 0, emptyContainer())
    }
    const container = this.#containers[at] as Container
    const next = withValue(container, value & 0xffff)
    if (next !== container) this.#containers[at] = next
  }

  remove(value: number): void {
    const at = this.#find(value >>> 16)
    if (at < 0) return
    const next = withoutValue(this.#containers[at] as Container, value & 0xffff)
    if (next.size > 0) this.#containers[at] = next
    else {
      this.#keys.splice(at, 1)
      this.#containers.splice(at, 1)
    }
  }

  /** Ascending. `use` says whether to go on. */
  each(use: (value: number) => boolean): void {
    for (let i = 0; i < this.#keys.length; i += 1) {
      const base = (this.#keys[i] as number) * containerValues
      if (!eachIn(this.#containers[i] as Container, (low) => use(base + low))) return
    }
  }

  /** Sets the bit of each number below 32 times the words, and leaves the others as they are. */
  spreadInto(bits: Uint32Array): void {
    for (const [i, key] of this.#keys.entries())
      spread(this.#containers[i] as Container, bits, key * (containerValues / 32))
  }

  clone(): RoaringSet {
    const set = new RoaringSet()
    set.#keys = [...this.#keys]
    set.#containers = this.#containers.map(cloneOf)
    return set
  }

  and(other: RoaringSet): RoaringSet {
    const set = new RoaringSet()
    this.#meet(other, (key, one, two) => {
      if (one !== null && two !== null) set.#push(key, andContainers(one, two))
    })
    return set
  }

  or(other: RoaringSet): RoaringSet {
    const set = new RoaringSet()
    this.#meet(other, (key, one, two) => {
      if (one === null || two === null) set.#push(key, cloneOf((one ?? two) as Container))
      else set.#push(key, orContainers(one, two))
    })
    return set
  }

  /** What is in this one and not in the other. */
  andNot(other: RoaringSet): RoaringSet {
    const set = new RoaringSet()
    this.#meet(other, (key, one, two) => {
      if (one !== null) set.#push(key, two === null ? cloneOf(one) : andNotContainers(one, two))
    })
    return set
  }

  /** For a set that is kept: each container takes the kind that is smallest. */
  pack(): void {
    this.#containers = this.#containers.map(packed)
  }

  #push(key: number, container: Container): void {
    if (container.size === 0) return
    this.#keys.push(key)
    this.#containers.push(container)
  }

  /** The place of a key; ~ of where it would be. Most are asked for in ascending order. */
  #find(key: number): number {
    const keys = this.#keys
    const last = keys.length - 1
    if (last < 0 || key > (keys[last] as number)) return ~(last + 1)
    if (key === keys[last]) return last
    let low = 0
    let high = last
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((keys[middle] as number) < key) low = middle + 1
      else high = middle
    }
    return keys[low] === key ? low : ~low
  }

  #meet(
    other: RoaringSet,
    see: (key: number, one: Container | null, two: Container | null) => void,
  ): void {
    let i = 0
    let j = 0
    while (i < this.#keys.length || j < other.#keys.length) {
      const one = this.#keys[i] ?? limit
      const two = other.#keys[j] ?? limit
      const key = Math.min(one, two)
      const first = one === key ? (this.#containers[i++] as Container) : null
      const second = two === key ? (other.#containers[j++] as Container) : null
      see(key, first, second)
    }
  }
}
