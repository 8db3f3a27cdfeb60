/** The three kinds of container of a Roaring set, each of 16-bit numbers, and what is done with them. Results share no memory with what they are of. */
import { bitCount32 } from './hash.ts'

/** Ascending, distinct; `values` may have room for more. */
type ArrayContainer = { kind: 'array'; size: number; values: Uint16Array }
/** A bit for each of 65,536. */
type BitContainer = { kind: 'bits'; size: number; words: Uint32Array }
/** Pairs of the first and last number of each run, ascending, none touching the next. */
type RunContainer = { kind: 'runs'; size: number; bounds: Uint16Array }
export type Container = ArrayContainer | BitContainer | RunContainer

/** More take less room as bits. */
const arrayMax = 4_096
const words = 2_048
const all = 65_536
/** Of a container and its array, as objects of the heap. */
const overheadBytes = 150

export const emptyContainer = (): Container => ({
  kind: 'array',
  size: 0,
  values: new Uint16Array(4),
})

export const rangeContainer = (first: number, last: number): Container => ({
  kind: 'runs',
  size: last - first + 1,
  bounds: Uint16Array.of(first, last),
})

export const bytesOf = (container: Container): number =>
  overheadBytes + storeOf(container).byteLength

const storeOf = (container: Container): Uint16Array | Uint32Array =>
  container.kind === 'array'
    ? container.values
    : container.kind === 'bits'
      ? container.words
      : container.bounds

export function cloneOf(container: Container): Container {
  const { size } = container
  if (container.kind === 'array')
    return { kind: 'array', size, values: container.values.slice(0, size) }
  if (container.kind === 'bits') return { kind: 'bits', size, words: container.words.slice() }
  return { kind: 'runs', size, bounds: container.bounds.slice() }
}

export function holds(container: Container, value: number): boolean {
  if (container.kind === 'bits')
    return (((container.words[value >>> 5] as number) >>> (value & 31)) & 1) === 1
  if (container.kind === 'array') {
    const at = lowerBound(container.values, container.size, value)
    return at < container.size && container.values[at] === value
  }
  const { bounds } = container
  let low = 0
  let high = bounds.length >>> 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((bounds[middle * 2 + 1] as number) < value) low = middle + 1
    else high = middle
  }
  return low * 2 < bounds.length && (bounds[low * 2] as number) <= value
}

/** First place whose value is not below. */
function lowerBound(values: Uint16Array, size: number, value: number): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** The container itself, changed, or the one that takes its place. */
export function withValue(container: Container, value: number): Container {
  if (container.kind === 'bits') {
    const at = value >>> 5
    const before = container.words[at] as number
    const after = (before | (1 << (value & 31))) >>> 0
    container.words[at] = after
    if (after !== before) container.size += 1
    return container
  }
  if (container.kind === 'runs') {
    const { bounds } = container
    const last = bounds.length - 1
    if ((bounds[last] as number) + 1 !== value)
      return holds(container, value) ? container : withValue(plainOf(container), value)
    bounds[last] = value
    container.size += 1
    return container
  }
  const { values, size } = container
  const isLast = size === 0 || (values[size - 1] as number) < value
  const at = isLast ? size : lowerBound(values, size, value)
  if (!isLast && values[at] === value) return container
  if (size === arrayMax) return withValue(bitsOf(container), value)
  if (size === values.length) {
    container.values = new Uint16Array(Math.min(arrayMax, size * 2 + 4))
    container.values.set(values)
  }
  if (!isLast) container.values.copyWithin(at + 1, at, size)
  container.values[at] = value
  container.size += 1
  return container
}

/** The container itself, changed, or the one that takes its place; it may be empty. */
export function withoutValue(container: Container, value: number): Container {
  if (!holds(container, value)) return container
  if (container.kind === 'runs') return withoutValue(plainOf(container), value)
  container.size -= 1
  if (container.kind === 'array') {
    const at = lowerBound(container.values, container.size + 1, value)
    container.values.copyWithin(at, at + 1, container.size + 1)
    return container
  }
  const at = value >>> 5
  container.words[at] = ((container.words[at] as number) & ~(1 << (value & 31))) >>> 0
  return container.size > arrayMax ? container : arrayOf(container)
}

/** Ascending. @returns false where `use` said so */
export function eachIn(container: Container, use: (value: number) => boolean): boolean {
  if (container.kind === 'array') {
    for (let i = 0; i < container.size; i += 1)
      if (!use(container.values[i] as number)) return false
    return true
  }
  if (container.kind === 'runs') {
    const { bounds } = container
    for (let i = 0; i < bounds.length; i += 2)
      for (let value = bounds[i] as number; value <= (bounds[i + 1] as number); value += 1)
        if (!use(value)) return false
    return true
  }
  for (let i = 0; i < words; i += 1)
    for (let bits = container.words[i] as number; bits !== 0; bits &= bits - 1)
      if (!use(i * 32 + 31 - Math.clz32(bits & -bits))) return false
  return true
}

export function andContainers(a: Container, b: Container): Container {
  if (isAll(a)) return cloneOf(b)
  if (isAll(b)) return cloneOf(a)
  if (a.kind === 'array') return b.kind === 'array' ? commonOf(a, b) : kept(a, b, true)
  if (b.kind === 'array') return kept(b, a, true)
  const [x, y] = [wordsOf(a, 0), wordsOf(b, 1)]
  const result = new Uint32Array(words)
  let size = 0
  for (let i = 0; i < words; i += 1) {
    const word = ((x[i] as number) & (y[i] as number)) >>> 0
    result[i] = word
    if (word !== 0) size += bitCount32(word)
  }
  return fitting(result, size)
}

export function orContainers(a: Container, b: Container): Container {
  if (isAll(a)) return cloneOf(a)
  if (isAll(b)) return cloneOf(b)
  if (a.kind === 'array' && b.kind === 'array' && a.size + b.size <= arrayMax) return unionOf(a, b)
  if (a.kind === 'array' && b.kind !== 'array') return orContainers(b, a)
  const result = wordsOf(a, 0).slice()
  if (b.kind === 'array') {
    let { size } = a
    for (let i = 0; i < b.size; i += 1) {
      const value = b.values[i] as number
      const before = result[value >>> 5] as number
      const after = (before | (1 << (value & 31))) >>> 0
      if (after !== before) size += 1
      result[value >>> 5] = after
    }
    return fitting(result, size)
  }
  const y = wordsOf(b, 1)
  let size = 0
  for (let i = 0; i < words; i += 1) {
    const word = ((result[i] as number) | (y[i] as number)) >>> 0
    result[i] = word
    if (word !== 0) size += bitCount32(word)
  }
  return fitting(result, size)
}

export function andNotContainers(a: Container, b: Container): Container {
  if (isAll(b)) return emptyContainer()
  if (a.kind === 'array') return kept(a, b, false)
  const result = wordsOf(a, 0).slice()
  if (b.kind === 'array') {
    let { size } = a
    for (let i = 0; i < b.size; i += 1) {
      const value = b.values[i] as number
      const before = result[value >>> 5] as number
      const after = (before & ~(1 << (value & 31))) >>> 0
      if (after !== before) size -= 1
      result[value >>> 5] = after
    }
    return fitting(result, size)
  }
  const y = wordsOf(b, 1)
  let size = 0
  for (let i = 0; i < words; i += 1) {
    const word = ((result[i] as number) & ~(y[i] as number)) >>> 0
    result[i] = word
    if (word !== 0) size += bitCount32(word)
  }
  return fitting(result, size)
}

/** In the kind that takes the fewest bytes. */
export function packed(container: Container): Container {
  const runs = countRuns(container)
  const plainBytes = container.size <= arrayMax ? container.size * 2 : words * 4
  if (runs * 4 < plainBytes) return runsOf(container, runs)
  if (container.kind === 'runs') return plainOf(container)
  return container.kind === 'array' ? cloneOf(container) : container
}

const isAll = ({ size }: Container): boolean => size === all

const fitting = (result: Uint32Array, size: number): Container => {
  const bits: BitContainer = { kind: 'bits', size, words: result }
  if (size === all) return rangeContainer(0, all - 1)
  return size > arrayMax ? bits : arrayOf(bits)
}

function commonOf(a: ArrayContainer, b: ArrayContainer): Container {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a]
  // Of very different sizes each of the few is looked for among the many.
  if (few.size * 32 < many.size) return kept(few, many, true)
  const values = new Uint16Array(few.size)
  let size = 0
  for (let i = 0, j = 0; i < few.size && j < many.size;) {
    const [x, y] = [few.values[i] as number, many.values[j] as number]
    if (x === y) values[size++] = x
    if (x <= y) i += 1
    if (y <= x) j += 1
  }
  return { kind: 'array', size, values }
}

function unionOf(a: ArrayContainer, b: ArrayContainer): Container {
  const values = new Uint16Array(a.size + b.size)
  let size = 0
  let i = 0
  let j = 0
  while (i < a.size && j < b.size) {
    const [x, y] = [a.values[i] as number, b.values[j] as number]
    values[size++] = Math.min(x, y)
    if (x <= y) i += 1
    if (y <= x) j += 1
  }
  while (i < a.size) values[size++] = a.values[i++] as number
  while (j < b.size) values[size++] = b.values[j++] as number
  return { kind: 'array', size, values }
}

/** Those of the array that the other holds, or does not hold. */
function kept({ values, size }: ArrayContainer, other: Container, isHeld: boolean): Container {
  const result = new Uint16Array(size)
  let count = 0
  for (let i = 0; i < size; i += 1) {
    const value = values[i] as number
    if (holds(other, value) === isHeld) result[count++] = value
  }
  return { kind: 'array', size: count, values: result }
}

/** What runs are spread out in: a result never keeps it. */
const scratch = [new Uint32Array(words), new Uint32Array(words)] as const

/** Its bits, to be read at once. */
function wordsOf(container: Container, place: 0 | 1): Uint32Array {
  if (container.kind === 'bits') return container.words
  const target = scratch[place]
  target.fill(0)
  spread(container, target)
  return target
}

/** Sets the bits of its numbers from the word `at` on, as far as there are words. */
export function spread(container: Container, target: Uint32Array, at = 0): void {
  if (container.kind === 'array') {
    for (let i = 0; i < container.size; i += 1) {
      const value = container.values[i] as number
      setBits(target, at + (value >>> 5), 1 << (value & 31))
    }
    return
  }
  if (container.kind === 'bits') {
    for (let i = 0; i < words; i += 1) setBits(target, at + i, container.words[i] as number)
    return
  }
  const { bounds } = container
  for (let i = 0; i < bounds.length; i += 2) {
    const [first, last] = [bounds[i] as number, bounds[i + 1] as number]
    const [from, to] = [at + (first >>> 5), at + (last >>> 5)]
    const head = -1 << (first & 31)
    const tail = -1 >>> (31 - (last & 31))
    if (from === to) setBits(target, from, head & tail)
    else {
      setBits(target, from, head)
      target.fill(0xffff_ffff, from + 1, to)
      setBits(target, to, tail)
    }
  }
}

function setBits(target: Uint32Array, at: number, bits: number): void {
  if (at < target.length) target[at] = ((target[at] as number) | bits) >>> 0
}

/** An array or bits, by its size. */
const plainOf = (container: Container): Container =>
  container.size > arrayMax ? bitsOf(container) : arrayOf(container)

function bitsOf(container: Container): BitContainer {
  return { kind: 'bits', size: container.size, words: wordsOf(container, 0).slice() }
}

function arrayOf(container: Container): ArrayContainer {
  const values = new Uint16Array(container.size)
  let size = 0
  eachIn(container, (value) => {
    values[size++] = value
    return true
  })
  return { kind: 'array', size, values }
}

function countRuns(container: Container): number {
  if (container.kind === 'runs') return container.bounds.length >>> 1
  if (container.kind === 'bits') {
    let runs = 0
    let before = 0
    for (const word of container.words) {
      // Bits that are set where the one below is not.
      runs += bitCount32(word & ~((word << 1) | before))
      before = word >>> 31
    }
    return runs
  }
  let runs = 0
  for (let i = 0; i < container.size; i += 1)
    if (i === 0 || container.values[i] !== (container.values[i - 1] as number) + 1) runs += 1
  return runs
}

function runsOf(container: Container, runs: number): RunContainer {
  const bounds = new Uint16Array(runs * 2)
  let at = -2
  let last = -2
  eachIn(container, (value) => {
    if (value !== last + 1) bounds[(at += 2)] = value
    bounds[at + 1] = value
    last = value
    return true
  })
  return { kind: 'runs', size: container.size, bounds }
}
