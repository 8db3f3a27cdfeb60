/** Judges by the stored text what postings cannot tell: phrases, excluded phrases, words in the title. */
import { foldText } from '../text/normalize.ts'
import type { Plan } from './plan.ts'

/** A document as it is stored, title and all text. */
export type VerifiedText = { title: string; text: string; rest: string }

export const needsText = ({ phrases, withoutPhrases, inTitle }: Plan): boolean =>
  phrases.length + withoutPhrases.length + inTitle.length > 0

export function holdsPhrases(
  { phrases, withoutPhrases, inTitle }: Plan,
  text: VerifiedText,
): boolean {
  const title = squeeze(foldText(text.title))
  if (!inTitle.every((phrase) => hasPhrase(title, phrase))) return false
  if (phrases.length + withoutPhrases.length === 0) return true
  // A line feed parts them: no phrase spans title and text.
  const all = `${title}\n${squeeze(foldText(text.text))}\n${squeeze(foldText(text.rest))}`
  return (
    phrases.every((phrase) => hasPhrase(all, phrase)) &&
    !withoutPhrases.some((phrase) => hasPhrase(all, phrase))
  )
}

/** Blanks are alike, and punctuation between words is one. */
const squeeze = (folded: string): string => folded.replace(/[^\p{L}\p{N}\p{M}+#]+/gu, ' ')

/** Letters with blanks between words: there a phrase begins and ends at a border. */
const alphabetic = /[\p{L}\p{N}]/u
const blankless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** @param text squeezed; @param phrase folded */
export function hasPhrase(text: string, phrase: string): boolean {
  const wanted = squeeze(phrase).trim()
  if (wanted === '') return true
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const end = at + wanted.length
    if (isBorder(text[at - 1], wanted[0]) && isBorder(text[end], wanted.at(-1))) return true
  }
  return false
}

const isBorder = (outside: string | undefined, inside: string | undefined): boolean =>
  outside === undefined ||
  !alphabetic.test(outside) ||
  blankless.test(outside) ||
  blankless.test(inside ?? '')
