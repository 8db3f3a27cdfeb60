/** The lines of a main content as hashes with figures folded: what tells a page that brings something from one that only counts on. Pure. */
import { mix32 } from '../lib/hash.ts'

const linesMax = 128
/** A line with fewer letters says nothing. */
const lettersMin = 2
const figure = 48

/** Distinct, in order, at most 128. Letters by lower case, runs of figures as one, blanks and signs left out. */
export function lineHashesOf(text: string): Uint32Array<ArrayBuffer> {
  const found = new Set<number>()
  let from = 0
  while (from < text.length && found.size < linesMax) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    const hash = hashLine(text, from, to)
    if (hash !== null) found.add(hash)
    from = to + 1
  }
  return Uint32Array.from(found)
}

function hashLine(text: string, from: number, to: number): number | null {
  let hash = 0x811c9dc5
  let letters = 0
  let isFigure = false
  for (let i = from; i < to; i++) {
    let unit = text.charCodeAt(i)
    if (unit >= 48 && unit <= 57) {
      if (isFigure) continue
      isFigure = true
      unit = figure
    } else {
      if (unit >= 65 && unit <= 90) unit += 32
      const isLetter = unit > 127 || (unit >= 97 && unit <= 122)
      if (!isLetter) continue
      letters++
      isFigure = false
    }
    hash = Math.imul(hash ^ unit, 0x01000193)
  }
  return letters < lettersMin ? null : mix32(hash)
}
