/** The synonyms of a data directory: `a, b, c` stand for each other, `a => b, c` is one way. Read again when the file changes. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { foldText } from '../text/normalize.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { IndexReader } from './index.ts'
import type { Condition, ParsedQuery } from './query.ts'
import { autoWordsMax } from './ranking.ts'
import { holdsPhrase, phraseOf } from '../text/phrase.ts'

export const synonymsFileName = 'synonyms.txt'
export const synonymsBytesMax = 1_024 * 1_024
export const synonymRulesMax = 10_000
const wordsOfRuleMax = 32
const wordCharsMax = 64
const lookAgainMs = 1_000

/** Folded word or phrase -> what may stand for it, as written. */
export type Synonyms = ReadonlyMap<string, readonly string[]>

export type SynonymReading = { synonyms: Synonyms; problems: string[] }

/** Lines that are no rule are told with their numbers and left out. */
export function parseSynonyms(text: string): SynonymReading {
  const synonyms = new Map<string, Set<string>>()
  const problems: string[] = []
  let rules = 0
  for (const [i, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const rule = line.replace(/(?:^|\s)#.*$/, '').trim()
    if (rule === '') continue
    const complain = (why: string): void => void problems.push(`line ${i + 1}: ${why}`)
    const sides = rule.split(/=>|＝＞|→/).map(wordsOf)
    const [from = [], to = from] = sides
    if (sides.length > 2) complain('more than one =>')
    else if (from.length === 0 || to.length === 0 || (sides.length === 1 && from.length < 2))
      complain('needs two words or more (a, b, c or a => b, c)')
    else if (from.length + to.length > 2 * wordsOfRuleMax)
      complain(`more than ${wordsOfRuleMax} words`)
    else if ([...from, ...to].some((word) => word.length > wordCharsMax))
      complain(`a word of more than ${wordCharsMax} characters`)
    else if (++rules > synonymRulesMax) {
      complain(`more than ${synonymRulesMax} rules; this and later ones are left out`)
      break
    } else
      for (const word of from) {
        const known = synonyms.get(foldText(word)) ?? new Set()
        synonyms.set(foldText(word), known)
        for (const other of to) if (foldText(other) !== foldText(word)) known.add(other)
      }
  }
  return {
    synonyms: new Map([...synonyms].map(([word, others]) => [word, [...others]])),
    problems,
  }
}

const wordsOf = (side: string): string[] =>
  side
    .split(/[,，、]/)
    .map((word) => word.trim())
    .filter((word) => word !== '')

const none: SynonymReading = { synonyms: new Map(), problems: [] }

/** The file of a data directory; no file, no synonyms. */
export function readSynonyms(directory: string): SynonymReading {
  const file = join(directory, synonymsFileName)
  const status = statSync(file, { throwIfNoEntry: false })
  if (status === undefined) return none
  if (status.size > synonymsBytesMax)
    return { ...none, problems: [`larger than ${synonymsBytesMax} bytes: left out`] }
  return parseSynonyms(readFileSync(file, 'utf8'))
}

/** Looks at the file at most once a second. */
export function createSynonyms(directory: string, nowMs = Date.now): () => SynonymReading {
  const file = join(directory, synonymsFileName)
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let mark = ''
  let reading = none
  return () => {
    if (nowMs() - lookedAtMs < lookAgainMs) return reading
    lookedAtMs = nowMs()
    const status = statSync(file, { throwIfNoEntry: false })
    const now = status === undefined ? '' : `${status.mtimeMs} ${status.size} ${status.ino}`
    if (now !== mark) {
      mark = now
      reading = readSynonyms(directory)
    }
    return reading
  }
}

/** What a synonym weighs beside the word that was typed. */
const synonymWeight = 0.6
/** Words that a long query ranks by beside its own. */
const alternativesMax = 16

/**
 * The query with its synonyms. In a short query, where every word counts, a word becomes "it or one of them"; in a longer one they
 * only rank. Those that no page holds are left out.
 */
export function withSynonyms(
  parsed: ParsedQuery,
  synonyms: Synonyms,
  analyzer: Pick<Analyzer, 'query'>,
  index: Pick<IndexReader, 'frequency'>,
): ParsedQuery {
  if (synonyms.size === 0 || parsed.pieces.length === 0) return parsed
  let rest = foldText(parsed.pieces.map(({ text }) => text).join(' '))
  const cut = analyzer.query(rest).words.filter(({ isPart }) => !isPart)
  const whole = new Set(cut.map(({ term }) => term))
  const isShort = cut.length <= autoWordsMax
  const conditions: Condition[] = []
  const isKnown = (text: string): boolean =>
    analyzer.query(text).words.every(({ term }) => index.frequency(term) > 0)
  for (const [word, others] of synonyms) {
    const phrase = phraseOf(word)
    const isThere =
      phrase !== null &&
      holdsPhrase(rest, phrase) &&
      (!/\p{Script=Han}/u.test(word) || whole.has(word) || rest.trim() === word)
    const known = isThere ? others.filter(isKnown) : []
    if (known.length === 0) continue
    const alternatives = known.map((text): Condition => ({
      kind: 'phrase',
      text,
      weight: synonymWeight,
    }))
    if (isShort) rest = rest.replace(word, ' ')
    conditions.push({
      kind: 'any',
      of: isShort ? [{ kind: 'words', text: word }, ...alternatives] : alternatives,
    })
  }
  if (conditions.length === 0) return parsed
  if (!isShort)
    return { ...parsed, ranking: [...parsed.ranking, ...conditions.slice(0, alternativesMax)] }
  const pieces = rest.trim() === '' ? [] : [{ text: rest.trim() }]
  return { ...parsed, pieces, conditions: [...parsed.conditions, ...conditions] }
}
