/** What a character counts as where words of a list are looked for: evasion by width, case, accents, traditional forms and fillers folds away. */
import { HAN_FIRST, HAN_LAST } from './dictionary.ts'
import { foldText } from './normalize.ts'
import { textTables } from './tables.ts'

/** Stands between characters and may be skipped, a few at a time: blanks, punctuation, signs, pictographs. */
export const separator = 1
/** Is not seen at all: zero-width characters, marks over letters. */
export const ignorable = 2

const unitsAll = 65_536
const pictographFirst = 0xd83c
const pictographLast = 0xd83e
/** Marks that any script may borrow; those of Indic scripts are letters here. */
const marks = /(?=\p{M})\p{Script=Inherited}/u
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u
const sign = /[^\p{L}\p{N}\p{M}]/u
/** Scripts that write words with blanks between them; of the others any character may begin a word. */
const spaced =
  /(?=[\p{L}\p{N}\p{M}])[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Whether a UTF-16 unit belongs to a word that blanks end. */
export const isOfSpacedWord = (unit: number): boolean =>
  unit < 0x80
    ? (unit >= 0x61 && unit <= 0x7a) ||
      (unit >= 0x41 && unit <= 0x5a) ||
      (unit >= 0x30 && unit <= 0x39)
    : (unit < 0xd800 || unit > 0xdfff) && spaced.test(String.fromCharCode(unit))

export const isPictographHigh = (unit: number): boolean =>
  unit >= pictographFirst && unit <= pictographLast

/** For each UTF-16 unit `separator`, `ignorable`, or the unit it counts as. About 60 ms: made once, where there are lists. */
export function normalUnits(): Uint16Array {
  const units = new Uint16Array(unitsAll)
  const { simplified } = textTables()
  for (let unit = 0; unit < unitsAll; unit += 1) units[unit] = normalUnit(unit, simplified)
  return units
}

function normalUnit(unit: number, simplified: Uint16Array): number {
  if (unit >= HAN_FIRST && unit <= HAN_LAST) return simplified[unit - HAN_FIRST] ?? unit
  if (unit >= 0xac00 && unit <= 0xd7a3) return unit
  if (unit >= 0xd800 && unit <= 0xdfff) return isPictographHigh(unit) ? separator : unit
  const char = String.fromCharCode(unit)
  if (unseen.test(char) || marks.test(char)) return ignorable
  const folded = foldText(char)
  if (unit < 0x20) return separator
  if (folded === '') return ignorable
  // What folds to several letters counts as its first one, in lists and in texts alike.
  return sign.test(folded.charAt(0)) ? separator : folded.charCodeAt(0)
}
