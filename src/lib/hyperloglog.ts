/** Counts distinct things in 16 KB without keeping them. Error 0.81 %: twice that in 95 of 100 cases. */
import { AppError } from './errors.ts'

const precision = 14
const registers = 2 ** precision
/** Bits of the hash behind the register's number: 18 of the first half and all of the second. */
const bitsOfFirst = 32 - precision

export type HyperLogLog = {
  /** @param h1 and h2 two independent halves of a hash, unsigned (see `hashKey`) */
  add(h1: number, h2: number): void
  /** Whatever the other has counted counts here too. */
  merge(other: HyperLogLog): void
  count(): number
  /** 16,384 bytes; live, not a copy. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog" (AofA 2007), p = 14 over 64-bit hashes, so that no correction for large counts is needed;
 * small ones by the estimator of Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017, algorithm 6), which has no
 * seam between linear counting and the rest.
 * @param bytes of an earlier one, copied @throws AppError corrupt where they cannot be
 */
export function createHyperLogLog(bytes?: Uint8Array): HyperLogLog {
  const counts = new Uint8Array(registers)
  if (bytes !== undefined) {
    if (bytes.byteLength !== registers || bytes.some((value) => value > 64 - precision + 1))
      throw new AppError('corrupt', 'A count of distinct values is damaged.')
    counts.set(bytes)
  }
  return {
    bytes: counts,
    add(h1, h2) {
      const register = h1 >>> bitsOfFirst
      const rank = rankOf(h1 & (2 ** bitsOfFirst - 1), h2)
      if (rank > (counts[register] as number)) counts[register] = rank
    },
    merge(other) {
      for (const [i, value] of other.bytes.entries())
        if (value > (counts[i] as number)) counts[i] = value
    },
    count: () => Math.round(estimate(counts)),
  }
}

/** Place of the first set bit among 50, from 1; 51 where none is. */
function rankOf(first: number, second: number): number {
  if (first !== 0) return Math.clz32(first) - precision + 1
  return bitsOfFirst + (second === 0 ? 33 : Math.clz32(second) + 1)
}

function estimate(counts: Uint8Array): number {
  const q = 64 - precision
  const histogram = new Float64Array(q + 2)
  for (const value of counts) histogram[value] = (histogram[value] as number) + 1
  let z = registers * tau(1 - (histogram[q + 1] as number) / registers)
  for (let k = q; k >= 1; k -= 1) z = 0.5 * (z + (histogram[k] as number))
  z += registers * sigma((histogram[0] as number) / registers)
  return registers ** 2 / (2 * Math.LN2 * z)
}

function sigma(empty: number): number {
  if (empty === 1) return Number.POSITIVE_INFINITY
  let x = empty
  let y = 1
  let z = x
  for (let before = -1; z !== before; y += y) {
    before = z
    x *= x
    z += x * y
  }
  return z
}

function tau(rest: number): number {
  if (rest === 0 || rest === 1) return 0
  let x = rest
  let y = 1
  let z = 1 - x
  for (let before = -1; z !== before;) {
    before = z
    x = Math.sqrt(x)
    y *= 0.5
    z -= (1 - x) ** 2 * y
  }
  return z / 3
}
