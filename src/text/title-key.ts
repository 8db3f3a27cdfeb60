/** The whole title as one term: who types a title means that page. Pure. */
import { foldText } from './normalize.ts'

/** First character of a title term: a term space of its own, which no word can enter. */
export const TITLE_PREFIX = '\u0001'

const KEY_UNITS_MAX = 60
/** "9.2.1.", "Chapter 3.", "Appendix B.", "第 3 章": where a title stands in its book is rarely typed. */
const NUMBERING =
  /^(?:(?:chapter|appendix|part|section) (?:[0-9]+|[a-z]|[ivxl]+)(?: [0-9]+)*|[0-9]+(?: [0-9]+)*|[a-z](?: [0-9]+)+|第 ?[0-9一二三四五六七八九十百]+ ?[章节部篇]|附录 ?[a-z])(?: |(?=\p{Script=Han}))/u

/** Letters and digits only, folded, one blank between words. */
const wordsOf = (text: string): string =>
  foldText(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The keys of a title: as it is, and without its numbering; none for a title without letters. */
export function titleKeys(title: string): string[] {
  const whole = wordsOf(title)
  const bare = whole.replace(NUMBERING, '').trim()
  return [...new Set([whole, bare])].filter((key) => key !== '').map(keyOf)
}

/** The key that a query asks for; null where it has no letters. */
export function titleKeyOf(query: string): string | null {
  const whole = wordsOf(query)
  return whole === '' ? null : keyOf(whole)
}

/** Longer titles are cut: what is equal so far is meant to be equal. */
const keyOf = (words: string): string => TITLE_PREFIX + words.slice(0, KEY_UNITS_MAX).trim()
