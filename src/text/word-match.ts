/** Finds words of lists in a text, in whatever spelling they hide: between fillers, spaced out, full-width, traditional. Changes nothing. */
import {
  firstSymbol,
  gapMax,
  nextState,
  type PackedWords,
  spacedFlag,
  symbolMask,
  unpackWords,
  type WordPolicy,
  wordUnitsMax,
} from './word-list.ts'
import { ignorable, isOfSpacedWord, isPictographHigh, separator } from './word-symbols.ts'

export type WordMatch = {
  list: { name: string; policy: WordPolicy }
  /** As it stands in the list. */
  word: string
  /** In the text: from the first character of the word to behind the last, fillers included. */
  start: number
  end: number
}

export type WordMatcher = {
  readonly lists: readonly { name: string; policy: WordPolicy }[]
  /** Each word at each place, in order of their ends; what an allow-list takes away is left out. Linear. */
  find(text: string, visit: (match: WordMatch) => void): void
}

/** Ends of hits lie at most so many symbols behind their beginnings. */
const ringSize = wordUnitsMax * 2
/** Zero-width characters looked over for the border of a word. */
const unseenMax = 32
/** Signs that no text puts inside a word, so that one alone is a disguise already. */
const disguise = /[*_~|+#·•]/

const surrogateFirst = 0xd800

type Visit = (pattern: number, start: number, end: number) => void

/** @param buffer made by packWords */
export function openWords(buffer: SharedArrayBuffer): WordMatcher {
  const packed = unpackWords(buffer)
  const patterns = packed.list.length
  const textOf = (i: number): string =>
    Buffer.from(packed.text.slice(packed.textStart[i], packed.textStart[i + 1])).toString()
  const lists = JSON.parse(textOf(patterns)) as WordMatcher['lists']
  const hasAllowed = packed.isAllowed.includes(1)
  const words = new Map<number, { word: string; blanks: Uint8Array }>()
  const wordOf = (pattern: number) => {
    let known = words.get(pattern)
    if (known === undefined) {
      const word = textOf(pattern)
      known = { word, blanks: blanksOf(word, packed.symbolOf) }
      words.set(pattern, known)
    }
    return known
  }
  const scanSound = (text: string, visit: Visit): void =>
    scan(packed, text, (pattern, start, end) => {
      if (isSound(text, start, end, wordOf(pattern).blanks, packed.symbolOf))
        visit(pattern, start, end)
    })

  return {
    lists,
    find(text, visit) {
      let allowed: Allowed | null = null
      scanSound(text, (pattern, start, end) => {
        if (packed.isAllowed[pattern] === 1) return
        const of = packed.list[pattern] as number
        const list = lists[of]
        if (list === undefined) return
        if (hasAllowed) {
          allowed ??= allowedIn(packed, lists, (each) => scanSound(text, each))
          if (allowed.covers(of, start, end)) return
        }
        visit({ list, word: wordOf(pattern).word, start, end })
      })
    },
  }
}

function scan(packed: PackedWords, text: string, visit: Visit): void {
  const { symbolOf, begin, out, link, next, length } = packed
  const places = new Int32Array(ringSize)
  let read = 0
  let state = 0
  let gap = 0
  // Where blanks part words, none begins inside another: what was read of this one, its border included, is the least to go on with.
  let isInside = 0
  let run = 0
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    const cell = symbolOf[unit] as number
    const symbol = cell & symbolMask
    if (symbol < firstSymbol) {
      if (symbol === ignorable) continue
      isInside = cell & spacedFlag
      if (symbol === 0) state = 0
      else {
        if (state !== 0 && ++gap > gapMax) state = 0
        if (unit >= surrogateFirst && isPictographHigh(unit)) i += 1
      }
      continue
    }
    run = (cell & isInside) === 0 ? 1 : run + 1
    isInside = cell & spacedFlag
    if (state === 0) {
      if (run > 1) continue
      state = begin[symbol] as number
    } else state = nextState(packed, state, symbol, run)
    gap = 0
    if (state === 0) continue
    places[read % ringSize] = i
    read += 1
    let at = out[state] === 0 ? (link[state] as number) : state
    for (; at !== 0; at = link[at] as number)
      for (let k = out[at] as number; k !== 0; k = next[k - 1] as number)
        visit(k - 1, places[(read - (length[k - 1] as number)) % ringSize] as number, i + 1)
  }
}

/** For each character of a word whether its writer set it apart from the one before. */
function blanksOf(word: string, symbolOf: Uint16Array): Uint8Array {
  const blanks: number[] = []
  let isApart = 0
  for (let i = 0; i < word.length; i += 1) {
    const unit = word.charCodeAt(i)
    const symbol = (symbolOf[unit] as number) & symbolMask
    if (symbol >= firstSymbol) {
      blanks.push(isApart)
      isApart = 0
    } else if (symbol === separator) {
      isApart = 1
      if (isPictographHigh(unit)) i += 1
    }
  }
  return Uint8Array.from(blanks)
}

/**
 * Of scripts with blanks a hit has to be a whole word, and not joined from several: either all its letters are set apart, or none is.
 */
function isSound(
  text: string,
  start: number,
  end: number,
  blanks: Uint8Array,
  symbolOf: Uint16Array,
): boolean {
  if (isOfSpacedWord(text.charCodeAt(start)) && hasNeighbour(text, start - 1, -1, symbolOf))
    return false
  if (isOfSpacedWord(text.charCodeAt(end - 1)) && hasNeighbour(text, end, 1, symbolOf)) return false
  let index = 0
  let apart = 0
  let joined = 0
  let isApart = false
  let isBefore = false
  for (let i = start; i < end; i += 1) {
    const unit = text.charCodeAt(i)
    const symbol = (symbolOf[unit] as number) & symbolMask
    if (symbol === ignorable) continue
    if (symbol === separator) {
      if (isPictographHigh(unit)) i += 1
      else if (!disguise.test(text.charAt(i))) isApart = true
      continue
    }
    const isLetter = isOfSpacedWord(unit)
    if (isBefore && isLetter && blanks[index] === 0) {
      if (isApart) apart += 1
      else joined += 1
    }
    index += 1
    isBefore = isLetter
    isApart = false
  }
  return apart === 0 || joined === 0
}

function hasNeighbour(text: string, from: number, step: 1 | -1, symbolOf: Uint16Array): boolean {
  for (let k = 0, i = from; k < unseenMax && i >= 0 && i < text.length; k += 1, i += step)
    if (((symbolOf[text.charCodeAt(i)] as number) & symbolMask) !== ignorable)
      return isOfSpacedWord(text.charCodeAt(i))
  return false
}

type Allowed = { covers(list: number, start: number, end: number): boolean }

/** Stretches that allowed words cover, merged where they overlap, by list; those of policy allow hold for every list. */
function allowedIn(
  packed: PackedWords,
  lists: WordMatcher['lists'],
  scanAll: (visit: Visit) => void,
): Allowed {
  const stretches = new Map<number, { starts: number[]; ends: number[] }>()
  const everywhere = -1
  scanAll((pattern, start, end) => {
    if (packed.isAllowed[pattern] !== 1) return
    const own = packed.list[pattern] as number
    const list = lists[own]?.policy === 'allow' ? everywhere : own
    let of = stretches.get(list)
    if (of === undefined) stretches.set(list, (of = { starts: [], ends: [] }))
    let from = start
    while ((of.ends.at(-1) ?? 0) > from) {
      from = Math.min(from, of.starts.pop() as number)
      of.ends.pop()
    }
    of.starts.push(from)
    of.ends.push(end)
  })
  const isIn = (list: number, start: number, end: number): boolean => {
    const of = stretches.get(list)
    if (of === undefined) return false
    let [low, high] = [0, of.ends.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((of.ends[middle] as number) < end) low = middle + 1
      else high = middle
    }
    return (of.starts[low] ?? Number.POSITIVE_INFINITY) <= start
  }
  return { covers: (list, start, end) => isIn(everywhere, start, end) || isIn(list, start, end) }
}
