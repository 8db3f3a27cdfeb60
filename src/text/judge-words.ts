/** What the lists make of one document: its parts masked, and what was found where. One judge a document; decides nothing about storing. */
import type { WordPolicy } from './word-list.ts'
import type { WordMatcher } from './word-match.ts'

/** A word of a list that a document has: how often, and where first ("title", "text 120"). */
export type FoundWord = {
  list: string
  policy: WordPolicy
  word: string
  hits: number
  place: string
}

export type WordJudge = {
  /** The text as it may be stored: of the same length, hits of mask-lists replaced. */
  read(place: string, text: string): string
  /** The same for text that is part of another: its hits do not count again. */
  mask(text: string): string
  /** Different words, at most `foundMax`: those that drop first. */
  found(): FoundWord[]
  isDropped(): boolean
}

/** Kept of one document. */
export const foundMax = 20
/** Counted of one document; later different words are not. */
const countedMax = 1_000
/** As wide as an ideograph, and never part of a word. */
export const maskUnit = '＊'

const weights: Record<WordPolicy, number> = { drop: 0, mask: 1, flag: 2, unsuggested: 3, allow: 4 }

export function judgeWords(matcher: WordMatcher): WordJudge {
  const counted = new Map<string, FoundWord>()
  let isDropped = false

  const pass = (text: string, place: string | null): string => {
    // Disjoint stretches, ascending.
    const starts: number[] = []
    const ends: number[] = []
    matcher.find(text, ({ list, word, start, end }) => {
      if (place !== null) count(list, word, place, start)
      if (list.policy !== 'mask') return
      let from = start
      while ((ends.at(-1) ?? 0) > from) {
        from = Math.min(from, starts.pop() as number)
        ends.pop()
      }
      starts.push(from)
      ends.push(end)
    })
    return masked(text, starts, ends)
  }

  const count = (
    { name, policy }: { name: string; policy: WordPolicy },
    word: string,
    place: string,
    start: number,
  ): void => {
    isDropped ||= policy === 'drop'
    const key = `${name}\n${word}`
    const known = counted.get(key)
    if (known !== undefined) known.hits += 1
    else if (counted.size < countedMax || policy === 'drop') {
      const where = place === 'text' ? `text ${start}` : place
      counted.set(key, { list: name, policy, word, hits: 1, place: where })
    }
  }

  return {
    read: (place, text) => pass(text, place),
    mask: (text) => pass(text, null),
    found: () =>
      [...counted.values()]
        .toSorted((a, b) => weights[a.policy] - weights[b.policy] || b.hits - a.hits)
        .slice(0, foundMax),
    isDropped: () => isDropped,
  }
}

function masked(text: string, starts: readonly number[], ends: readonly number[]): string {
  if (starts.length === 0) return text
  let result = ''
  let at = 0
  for (const [i, start] of starts.entries()) {
    const end = ends[i] as number
    // Line breaks stay where they are, so that lines keep their numbers.
    result += text.slice(at, start) + text.slice(start, end).replace(/[^\n]/g, maskUnit)
    at = end
  }
  return result + text.slice(at)
}
