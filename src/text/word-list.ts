/**
 * Lists of words packed for matching: one buffer that all threads share, made once. Aho and Corasick, "Efficient string matching" (CACM
 * 1975), as a trie in breadth-first order: the children of a state are neighbours, so 19 bytes a state are all it takes.
 * Matching is word-match.ts, reading list files is word-file.ts.
 */
import { ignorable, isOfSpacedWord, normalUnits, separator } from './word-symbols.ts'

/** What a hit does to a page. allow: nothing, and it takes hits of other lists away that lie within it. */
export const policies = ['drop', 'mask', 'flag', 'unsuggested', 'allow'] as const
export type WordPolicy = (typeof policies)[number]

export type WordList = {
  name: string
  policy: WordPolicy
  words: readonly string[]
  /** Hits of this list within one of these do not count. */
  allowed: readonly string[]
}

/** Longer words are refused where lists are read. */
export const wordUnitsMax = 64
/** Separators skipped between two characters of a word. */
export const gapMax = 4

/*
 * Layout, 32-bit words: header (magic, states, symbols, patterns, bytes of text), then the columns below in this order. A symbol is a unit
 * that some word has; 0 = a letter that none has, 1 and 2 as in word-symbols.ts. There are fewer than 32,768: more Han is not in one plane.
 */
const magic = 0x4c57_4446 // "FDWL"
const headerWords = 8
export const firstSymbol = 3
/** Beside the symbol: the unit is of a script that sets blanks between words. */
export const spacedFlag = 0x8000
export const symbolMask = 0x7fff
const unitsAll = 65_536

export type PackedWords = {
  /** By UTF-16 unit: its symbol, and `spacedFlag`. */
  symbolOf: Uint16Array
  /** State after the first character, by symbol. */
  begin: Uint32Array
  /** Children of state s: first[s] up to first[s + 1]. */
  first: Uint32Array
  /** Symbol that leads to a state; ascending among neighbours. */
  label: Uint16Array
  /** The longest proper suffix that is a state; and the longest where a pattern ends. */
  fail: Uint32Array
  link: Uint32Array
  /** Symbols that lead to a state. */
  depth: Uint8Array
  /** First pattern that ends in a state, plus 1; further ones by `next`. */
  out: Uint32Array
  next: Uint32Array
  list: Uint8Array
  length: Uint8Array
  isAllowed: Uint8Array
  /** Where the text of each pattern begins; after the last come the lists as JSON. */
  textStart: Uint32Array
  text: Uint8Array
}

type Sizes = { states: number; symbols: number; patterns: number; textBytes: number }

function columns(buffer: SharedArrayBuffer, { states, symbols, patterns, textBytes }: Sizes) {
  let at = headerWords * 4
  const take = (bytes: number): number => {
    const from = at
    at += Math.ceil(bytes / 4) * 4
    return from
  }
  const wide = (length: number) => new Uint32Array(buffer, take(length * 4), length)
  const half = (length: number) => new Uint16Array(buffer, take(length * 2), length)
  const narrow = (length: number) => new Uint8Array(buffer, take(length), length)
  return {
    symbolOf: half(unitsAll),
    begin: wide(symbols),
    first: wide(states + 1),
    label: half(states),
    fail: wide(states),
    link: wide(states),
    depth: narrow(states),
    out: wide(states),
    next: wide(patterns),
    list: narrow(patterns),
    length: narrow(patterns),
    isAllowed: narrow(patterns),
    textStart: wide(patterns + 2),
    text: narrow(textBytes),
  } satisfies PackedWords
}

const bytesOf = ({ states, symbols, patterns, textBytes }: Sizes): number =>
  headerWords * 4 +
  unitsAll * 2 +
  (symbols + 4 * states + 1 + 2 * patterns + 2) * 4 +
  Math.ceil((states * 2) / 4) * 4 +
  Math.ceil(states / 4) * 4 +
  3 * Math.ceil(patterns / 4) * 4 +
  Math.ceil(textBytes / 4) * 4

/** Views of a buffer that `packWords` made, in whichever thread. */
export function unpackWords(buffer: SharedArrayBuffer): PackedWords {
  const [found, states = 0, symbols = 0, patterns = 0, textBytes = 0] = new Uint32Array(
    buffer,
    0,
    5,
  )
  if (found !== magic) throw new TypeError('no packed word lists')
  return columns(buffer, { states, symbols, patterns, textBytes })
}

/** A word as it is compared; '' where nothing of it is a letter. */
export const normalWord = (word: string, units: Uint16Array): string => {
  let normal = ''
  for (let i = 0; i < word.length; i += 1) {
    const unit = units[word.charCodeAt(i)] as number
    if (unit === separator && word.charCodeAt(i) >= 0xd800) i += 1
    else if (unit !== separator && unit !== ignorable) normal += String.fromCharCode(unit)
  }
  return normal
}

type Pattern = { normal: string; word: string; list: number; isAllowed: boolean }

/**
 * 5,000 words take some 20 ms and 400 KB. Words without a letter and those longer than `wordUnitsMax` must not be in the lists.
 * @param units as normalUnits makes them
 */
export function packWords(lists: readonly WordList[], units = normalUnits()): SharedArrayBuffer {
  const patterns = lists
    .flatMap(({ words, allowed, policy }, list): Pattern[] => {
      const all = (some: readonly string[], isAllowed: boolean): Pattern[] =>
        some.map((word) => ({ normal: normalWord(word, units), word, list, isAllowed }))
      return [...all(words, policy === 'allow'), ...all(allowed, true)]
    })
    .toSorted((a, b) => (a.normal < b.normal ? -1 : a.normal > b.normal ? 1 : 0))
  const alphabet = [...new Set(patterns.flatMap(({ normal }) => [...unitsOf(normal)]))].sort(
    (a, b) => a - b,
  )
  const symbolOfUnit = new Map(alphabet.map((unit, i) => [unit, firstSymbol + i]))
  const nodes = trieOf(patterns)
  const texts = [...patterns.map(({ word }) => word), JSON.stringify(lists.map(nameAndPolicy))].map(
    (text) => Buffer.from(text),
  )
  const sizes: Sizes = {
    states: nodes.length,
    symbols: firstSymbol + alphabet.length,
    patterns: patterns.length,
    textBytes: texts.reduce((sum, { length }) => sum + length, 0),
  }
  const buffer = new SharedArrayBuffer(bytesOf(sizes))
  new Uint32Array(buffer, 0, 5).set([
    magic,
    sizes.states,
    sizes.symbols,
    sizes.patterns,
    sizes.textBytes,
  ])
  const packed = columns(buffer, sizes)
  for (let unit = 0; unit < unitsAll; unit += 1) {
    const normal = units[unit] as number
    const symbol =
      normal === separator || normal === ignorable ? normal : (symbolOfUnit.get(normal) ?? 0)
    packed.symbolOf[unit] = isOfSpacedWord(unit) ? symbol | spacedFlag : symbol
  }
  putPatterns(packed, patterns, texts)
  putStates(packed, nodes, patterns, symbolOfUnit)
  return buffer
}

const nameAndPolicy = ({ name, policy }: WordList): { name: string; policy: WordPolicy } => ({
  name,
  policy,
})

function* unitsOf(text: string): Iterable<number> {
  for (let i = 0; i < text.length; i += 1) yield text.charCodeAt(i)
}

/** The patterns [from, to) begin alike, for `depth` units; the first `ends` of them end here. */
type Node = { from: number; to: number; depth: number; ends: number; firstChild: number }

/** In breadth-first order, root first. */
function trieOf(patterns: readonly Pattern[]): Node[] {
  const nodes: Node[] = [{ from: 0, to: patterns.length, depth: 0, ends: 0, firstChild: 1 }]
  for (const node of nodes) {
    const { from, to, depth } = node
    let at = from
    while (at < to && patterns[at]?.normal.length === depth) at += 1
    node.ends = at - from
    node.firstChild = nodes.length
    while (at < to) {
      const start = at
      const unit = patterns[at]?.normal.charCodeAt(depth)
      while (at < to && patterns[at]?.normal.charCodeAt(depth) === unit) at += 1
      nodes.push({ from: start, to: at, depth: depth + 1, ends: 0, firstChild: 0 })
    }
  }
  return nodes
}

function putPatterns(
  packed: PackedWords,
  patterns: readonly Pattern[],
  texts: readonly Uint8Array[],
): void {
  for (const [i, { normal, list, isAllowed }] of patterns.entries()) {
    packed.list[i] = list
    packed.length[i] = normal.length
    packed.isAllowed[i] = isAllowed ? 1 : 0
  }
  let at = 0
  for (const [i, text] of texts.entries()) {
    packed.textStart[i] = at
    packed.text.set(text, at)
    at += text.length
  }
  packed.textStart[texts.length] = at
}

function putStates(
  packed: PackedWords,
  nodes: readonly Node[],
  patterns: readonly Pattern[],
  symbolOfUnit: ReadonlyMap<number, number>,
): void {
  const { first, label, fail, link, depth, out, next, begin } = packed
  for (const [state, node] of nodes.entries()) {
    first[state] = node.firstChild
    depth[state] = node.depth
    for (let k = node.ends - 1; k >= 0; k -= 1) {
      next[node.from + k] = out[state] as number
      out[state] = node.from + k + 1
    }
    if (state === 0) continue
    const unit = patterns[node.from]?.normal.charCodeAt(node.depth - 1) ?? 0
    label[state] = symbolOfUnit.get(unit) ?? 0
    if (node.depth === 1) begin[label[state]] = state
  }
  first[nodes.length] = nodes.length
  for (let state = 0; state < nodes.length; state += 1) {
    for (let child = first[state] as number; child < (first[state + 1] as number); child += 1) {
      const symbol = label[child] as number
      const suffix = state === 0 ? 0 : nextState(packed, fail[state] as number, symbol, 1)
      fail[child] = suffix
      link[child] = out[suffix] === 0 ? (link[suffix] as number) : suffix
    }
  }
}

/**
 * The state that a symbol leads to: the longest suffix of what was read that some word begins with, of at least `depthMin` symbols; else 0.
 */
export function nextState(
  { first, label, fail, depth, begin }: PackedWords,
  state: number,
  symbol: number,
  depthMin: number,
): number {
  for (let at = state; at !== 0; at = fail[at] as number) {
    if ((depth[at] as number) + 1 < depthMin) return 0
    let low = first[at] as number
    let high = first[at + 1] as number
    while (low < high) {
      const middle = (low + high) >>> 1
      const there = label[middle] as number
      if (there === symbol) return middle
      if (there < symbol) low = middle + 1
      else high = middle
    }
  }
  return depthMin <= 1 ? (begin[symbol] as number) : 0
}
