/** From words, phrases and prefixes of a query to terms of the index. */
import { foldText } from '../text/normalize.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { IndexReader } from './index.ts'
import { isHanTerm } from './score.ts'

/** Terms that a prefix stands for: the most frequent ones. */
const expansionsMax = 64
/** Each is a list of postings to read. */
const phraseTermsMax = 64

/** Terms that begin with the prefix, most frequent first, and those of the prefix as a word. */
export function expandPrefix(
  prefix: string,
  analyzer: Analyzer,
  index: Pick<IndexReader, 'complete'>,
): string[] {
  const folded = foldText(prefix)
  const whole = analyzer.query(prefix).words.map(({ term }) => term)
  const longer = index.complete(folded, expansionsMax).map(({ term }) => term)
  return [...new Set([...whole, ...longer])]
}

/**
 * Terms that a page with this phrase certainly has: for Han pairs instead of words, because a page may be cut otherwise.
 * `isSure`: a page that has them has the phrase.
 */
export function termsOfPhrase(
  analyzer: Analyzer,
  text: string,
): { terms: string[]; isSure: boolean } {
  const { words, bigrams } = analyzer.query(text)
  const certain = words
    .filter(({ term, isPart }) => !isPart && !isHanTerm(term))
    // node.js stands on a page with "node js" too: only its parts are certain.
    .flatMap(({ term, form, parts }) =>
      plainWord.test(form) ? [term] : parts.filter((part) => plainPart.test(part)),
    )
  const terms = [...new Set([...certain, ...bigrams])]
  const isPair = /^\p{Script=Han}{1,2}$/u.test(foldText(text.trim()))
  return { terms: terms.slice(0, phraseTermsMax), isSure: isPair && terms.length === 1 }
}

const plainWord = /^[\p{L}\p{N}\p{M}+#]+$/u
const plainPart = /^\p{L}{2,}$/u
