/** Keywords of a document as they are kept in its JSON: words with small numbers, or words alone as directories of before have them. Pure. */

/** `weight` 1..100: the share of what the page's first keyword weighs. */
export type StoredKeyword = { word: string; weight: number }

/** A number after a word is its weight. Best first. */
export type PackedKeywords = readonly (string | number)[]

const weightMax = 100
/** Where only the order is known each weighs so much of the one before. */
const unweighedStep = 0.85

/** @param keywords with weights of any scale, best first */
export function packKeywords(keywords: readonly StoredKeyword[]): PackedKeywords {
  const most = Math.max(Number.MIN_VALUE, ...keywords.map(({ weight }) => weight))
  return keywords.flatMap(({ word, weight }) => [
    word,
    Math.max(1, Math.round((weight / most) * weightMax)),
  ])
}

export function keywordsOf(packed: PackedKeywords): StoredKeyword[] {
  const keywords: StoredKeyword[] = []
  for (const [i, word] of packed.entries()) {
    if (typeof word === 'number') continue
    const next = packed[i + 1]
    const weight =
      typeof next === 'number' ? next : Math.round(weightMax * unweighedStep ** keywords.length)
    keywords.push({ word, weight: Math.max(1, weight) })
  }
  return keywords
}

/** Those whose word passes, in the form in which they are kept: nothing is rewritten where all do. */
export const keywordsWhere = (
  packed: PackedKeywords,
  passes: (word: string) => boolean,
): PackedKeywords => {
  let isKept = true
  return packed.filter((item) => {
    if (typeof item === 'string') isKept = passes(item)
    return isKept
  })
}
