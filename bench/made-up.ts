/** Documents as natural text makes them, by the million: words by rank, words that come again, words that follow each other. No bench by itself. */
import { mix32 } from '../src/lib/hash.ts'
import type { IndexedDocument } from '../src/search/index.ts'
import type { Random } from '../test/site/words.ts'

/**
 * About 340 words, as pages of documentation of 2.5 KB have: rank r has a share of about 1 / r. Two words of five have been in the document
 * before, one of four is the usual follower of the word before: so 160 are different, and 250 pairs, as counted in such pages.
 */
const wordsMean = 340
const vocabularySize = 400_000
const againShare = 0.42
const followShare = 0.25

const syllables = Array.from('bdfgklmnprstvz', (first) =>
  Array.from('aeiou', (second) => first + second),
).flat()

/** Short for frequent words, with many beginnings in common. */
export function wordOfRank(rank: number): string {
  let word = ''
  for (let rest = rank + 70; rest > 0; rest = Math.floor(rest / syllables.length))
    word = (syllables[rest % syllables.length] as string) + word
  return word
}

const words = new Map<number, string>()
const knownWordsMax = 50_000
/** Frequent ones are made once. */
function termOf(rank: number): string {
  let word = words.get(rank)
  if (word === undefined) {
    word = wordOfRank(rank)
    if (words.size < knownWordsMax) words.set(rank, word)
  }
  return word
}

/** Ranks of words that 25 to 51 % of the documents have, and of one that a few in ten thousand have. */
export const commonRanks = [20, 40, 30, 60, 50]
export const middlingRank = 900
export const rareRank = 100_000

const rankOf = (share: number): number => Math.floor(vocabularySize ** share)
/** The word that usually follows. */
export const followerOf = (rank: number): number => rankOf(mix32(rank + 1) / 2 ** 32)

/** Ranks of the words of one document, in order. */
export function makeRanks(random: Random): number[] {
  const length = Math.round(wordsMean * (0.4 + 1.2 * random()))
  const ranks: number[] = []
  for (let i = 0; i < length; i += 1) {
    const before = ranks[i - 1]
    if (before !== undefined && random() < followShare) ranks.push(followerOf(before))
    else if (i > 0 && random() < againShare) ranks.push(ranks[Math.floor(random() * i)] as number)
    else ranks.push(rankOf(random()))
  }
  return ranks
}

export const textOf = (ranks: readonly number[]): string => ranks.map(termOf).join(' ')

export const pairOfRanks = (first: number, second: number): number =>
  mix32(Math.imul(first, 0x85eb_ca6b) + second)

/** As the analyzer makes them, without a text in between. */
export function documentOf(docno: number, ranks: readonly number[]): IndexedDocument {
  const counts = new Map<number, number>()
  const pairs = new Set<number>()
  for (const [i, rank] of ranks.entries()) {
    counts.set(rank, (counts.get(rank) ?? 0) + 1)
    if (i > 0) pairs.add(pairOfRanks(ranks[i - 1] as number, rank))
  }
  return {
    docno,
    terms: Array.from(counts.keys(), termOf),
    quants: Uint8Array.from(counts.values(), (n) => Math.min(63, Math.round(8 * Math.log2(1 + n)))),
    length: ranks.length,
    pairs: Uint32Array.from(pairs).sort(),
  }
}
