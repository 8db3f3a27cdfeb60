/** Tells words that surely have none of some terms by their first letters, so that they need not be stemmed. */
import { isSimple } from './words.ts'

/** Beginnings of stems that are compared before a word is stemmed. */
const agreeingUnitsMax = 3

/**
 * For each term how every word that has it begins, points left out, as units of small letters. A word and its stem agree in all but the
 * last letter: Porter2 changes no more, but for dying, lying and tying.
 */
export const beginningsOf = (terms: Iterable<string>): number[][] =>
  Array.from(terms, (term) => {
    const agreeing = unlikeStems.has(term) ? 1 : Math.min(agreeingUnitsMax, term.length - 1)
    const beginning = term.slice(0, Math.max(1, agreeing)).replaceAll(points, '')
    return Array.from(
      beginning || term.replaceAll(points, '').slice(0, 1),
      (char) => char.charCodeAt(0) | caseBit,
    )
  })

type Glance = (text: string, start: number, end: number) => boolean

/** Whether a word may hold one of the terms: false only for words of ASCII in which none of them begins. `plain` is for those that have no parts. */
export function createGlance(terms: ReadonlySet<string>): { word: Glance; plain: Glance } {
  const beginnings = beginningsOf(terms)
  const isFirst = new Uint8Array(128)
  for (const [first = 0] of beginnings) if (first < 128) isFirst[first] = 1
  const begins = (text: string, start: number, end: number): boolean => {
    for (const beginning of beginnings) if (isBeginning(beginning, text, start, end)) return true
    return false
  }
  const plain: Glance = (text, start, end) =>
    isFirst[text.charCodeAt(start) | caseBit] === 1 && begins(text, start, end)
  const word: Glance = (text, start, end) => {
    for (let at = start; at < end; at += 1) {
      const unit = text.charCodeAt(at)
      if (unit > 0x7e) return true
      if (isFirst[unit | caseBit] === 1 && begins(text, at, end)) return true
      if (at === start && isSimple(text, start, end)) return false
    }
    return false
  }
  return { word, plain }
}

function isBeginning(
  beginning: readonly number[],
  text: string,
  start: number,
  end: number,
): boolean {
  let at = start
  for (const unit of beginning) {
    // Passed over on both sides: some terms have lost them (U.S.A., 1,000, don't), others have not (node.js).
    while (at < end && isPoint(text.charCodeAt(at))) at += 1
    if (at === end || (text.charCodeAt(at) | caseBit) !== unit) return false
    at += 1
  }
  return true
}

const unlikeStems: ReadonlySet<string> = new Set(['die', 'lie', 'tie'])
const caseBit = 0x20
const points = /[',.]/g
const isPoint = (unit: number): boolean => unit === 0x27 || unit === 0x2c || unit === 0x2e
