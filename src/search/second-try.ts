/** When a query finds nothing, or not what was meant: corrected words, then words that are read like its letters. Says so in a warning. */
import type { Reader } from '../store/reader.ts'
import { foldText } from '../text/normalize.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { SearchAnswer } from './answer.ts'
import { homophones } from './homophones.ts'
import type { IndexReader } from './index.ts'
import type { Plan } from './plan.ts'
import { correctionOf, editDistance, isCorrectable } from './typo.ts'

/** Words of one query that are looked up. */
const correctedMax = 3
const pagesReadMax = 5
const openingChars = 4_000
const fewFound = 2
const formEditsMax = 4
const pinyinLettersMax = 40

export type SecondTry = (
  q: string,
  plan: Plan,
  first: SearchAnswer,
  deadlineMs: number,
  ask: (q: string) => SearchAnswer,
) => SearchAnswer

export function createSecondTry(store: Reader, analyzer: Analyzer, index: IndexReader): SecondTry {
  return (q, plan, first, deadlineMs, ask) => {
    if (performance.now() > deadlineMs) return first
    const { text, isUnknown } = corrected(
      q,
      plan,
      (term, form) => formOf(term, form, store, analyzer, index, deadlineMs),
      index,
      first.total.value,
    )
    if (text !== null) {
      const suggestions = [{ text, type: 'correction' as const }, ...first.suggestions]
      const isPoor = first.total.value === 0 || (isUnknown && first.query.matched !== 'all')
      const second = isPoor ? ask(text) : null
      const isBetter =
        second !== null &&
        second.total.value > 0 &&
        (first.total.value === 0 || second.query.matched === 'all')
      if (!second || !isBetter) return { ...first, suggestions }
      return {
        ...second,
        suggestions,
        warnings: [
          ...second.warnings,
          `Nothing was found for "${q}"; this is what "${text}" finds.`,
        ],
      }
    }
    if (first.total.value > 0 || !/^[A-Za-zÜü' ]+$/.test(q.trim())) return first
    const words = homophones(foldLetters(q), index)
    if (words.length === 0) return first
    const asked = words.map((word) => `"${word}"`).join(' OR ')
    const second = ask(asked)
    if (second.total.value === 0) return first
    return {
      ...second,
      suggestions: words.map((word) => ({ text: word, type: 'correction' as const })),
      warnings: [
        ...second.warnings,
        `Nothing was found for "${q}"; these are pages with words that are read so: ${words.join(', ')}.`,
      ],
    }
  }
}

const foldLetters = (q: string): string => q.trim().slice(0, pinyinLettersMax)

/** The query with its unknown words corrected; null where there is nothing to correct. */
function corrected(
  q: string,
  plan: Plan,
  formOfTerm: (term: string, form: string) => string,
  index: IndexReader,
  found: number,
): { text: string | null; isUnknown: boolean } {
  let text = q
  let isUnknown = false
  let looked = 0
  for (const { term, form } of plan.sequence) {
    if (!isCorrectable(form) || looked >= correctedMax) continue
    const frequency = index.frequency(term)
    // Rare words are right as a rule: they are doubted only where little was found.
    if (frequency > 2 || (frequency > 0 && found > fewFound)) continue
    looked += 1
    const correction = correctionOf(term, frequency, index) ?? correctionOf(form, frequency, index)
    if (correction === null) continue
    isUnknown ||= frequency === 0
    const word = new RegExp(`(?<![\\p{L}\\p{N}:])${form}(?![\\p{L}\\p{N}:])`, 'iu')
    text = text.replace(word, () => formOfTerm(correction.term, form))
  }
  return { text: text === q ? null : text, isUnknown }
}

/** Terms are stems: the word as pages write it that is nearest to what was typed. */
function formOf(
  term: string,
  typed: string,
  store: Reader,
  analyzer: Analyzer,
  index: IndexReader,
  deadlineMs: number,
): string {
  const forms = new Map<string, number>()
  const { hits } = index.search(
    {
      words: [{ term, weight: 1 }],
      bigrams: [],
      boosts: [],
      required: [],
      without: [],
      match: 'any',
    },
    pagesReadMax,
    deadlineMs,
  )
  for (const { docno } of hits) {
    const opening = store.openingByDocno(docno, openingChars)
    if (opening === null) continue
    const text = `${opening.title}\n${opening.text}`
    for (const token of analyzer.places(text, new Set([term]))) {
      const form = foldText(text.slice(token.start, token.end))
      forms.set(form, (forms.get(form) ?? 0) + 1)
    }
  }
  const nearest = [...forms]
    .map(([form, count]) => ({ form, count, edits: editDistance(form, typed, formEditsMax) }))
    .sort((a, b) => a.edits - b.edits || b.count - a.count)[0]
  return nearest?.form ?? term
}
