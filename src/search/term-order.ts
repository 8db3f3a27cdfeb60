/** Thousands of terms into code unit order, several times faster than by comparing texts. Pure. */

/** Units that a key has, of seven bits each. */
const keyUnits = 5
const largestUnit = 127
/** A key and the place of its term are one whole number below 2^53. */
const placesMax = 2 ** (53 - 7 * keyUnits)

/** @returns a copy in the order of `toSorted()` */
export function sortedTerms(terms: readonly string[]): string[] {
  if (terms.length > placesMax) return terms.toSorted()
  const keys = new Float64Array(terms.length)
  for (let i = 0; i < terms.length; i += 1) keys[i] = keyOf(terms[i] as string) * placesMax + i
  keys.sort()
  const sorted: string[] = []
  for (const key of keys) sorted.push(terms[key % placesMax] as string)
  // Terms with equal keys are few and stand together.
  for (let from = 0; from < sorted.length;) {
    const key = Math.floor((keys[from] as number) / placesMax)
    let to = from + 1
    while (to < sorted.length && Math.floor((keys[to] as number) / placesMax) === key) to += 1
    if (to - from > 1) sortRange(sorted, from, to)
    from = to
  }
  return sorted
}

/** Never greater for the lesser of two terms. A unit that does not fit counts as the largest, and nothing behind it counts. */
function keyOf(term: string): number {
  let key = 0
  let isWhole = true
  for (let i = 0; i < keyUnits; i += 1) {
    let unit = isWhole && i < term.length ? term.charCodeAt(i) : 0
    if (unit >= largestUnit) {
      unit = largestUnit
      isWhole = false
    }
    key = key * 128 + unit
  }
  return key
}

function sortRange(terms: string[], from: number, to: number): void {
  if (to - from > insertionMax) {
    const own = terms.slice(from, to).sort()
    for (let i = 0; i < own.length; i += 1) terms[from + i] = own[i] as string
    return
  }
  for (let i = from + 1; i < to; i += 1) {
    const term = terms[i] as string
    let at = i
    for (; at > from && (terms[at - 1] as string) > term; at -= 1)
      terms[at] = terms[at - 1] as string
    terms[at] = term
  }
}
const insertionMax = 24
