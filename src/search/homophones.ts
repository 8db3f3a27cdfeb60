/** The last resort for Latin letters: words of the index that are read so in pinyin. */
import { charsReadAs, isReadAs, splitSyllables } from '../text/pinyin.ts'
import { BIGRAM_PREFIX } from '../text/tokenize.ts'
import type { IndexReader } from './index.ts'

/** One syllable stands for some fifty characters: too many to mean one. */
const syllablesMin = 2
const syllablesMax = 12
const waysMax = 4
const wordsMax = 3
/** Beginnings of words that are followed up. */
const beamMax = 24
const pairsMax = 400
const timeMs = 150

/** Up to three words, the most frequent first; [] where the letters are no pinyin or nothing is read so. */
export function homophones(letters: string, index: Pick<IndexReader, 'complete'>): string[] {
  // The first call takes its time, which is not the query's.
  charsReadAs('a')
  const untilMs = performance.now() + timeMs
  const found = new Map<string, number>()
  for (const syllables of splitSyllables(letters).slice(0, waysMax)) {
    if (syllables.length < syllablesMin || syllables.length > syllablesMax) continue
    for (const [word, documents] of wordsReadAs(syllables, index, untilMs))
      found.set(word, Math.max(found.get(word) ?? 0, documents))
  }
  return [...found]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, wordsMax)
    .map(([word]) => word)
}

/** Chains of neighbouring characters that the index knows as pairs, each with the documents of its rarest pair. */
function wordsReadAs(
  syllables: readonly string[],
  index: Pick<IndexReader, 'complete'>,
  untilMs: number,
): [string, number][] {
  let chains: [string, number][] = Array.from(charsReadAs(syllables[0] as string), (char) => [
    char,
    Number.POSITIVE_INFINITY,
  ])
  for (const syllable of syllables.slice(1)) {
    const longer: [string, number][] = []
    for (const [chain, documents] of chains) {
      if (performance.now() > untilMs) break
      const last = chain.slice(-1)
      for (const pair of index.complete(BIGRAM_PREFIX + last, pairsMax)) {
        const next = pair.term.slice(2)
        if (next !== '' && isReadAs(next, syllable))
          longer.push([chain + next, Math.min(documents, pair.documents)])
      }
    }
    chains = longer.sort((a, b) => b[1] - a[1]).slice(0, beamMax)
  }
  return chains
}
