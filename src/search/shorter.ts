/** What to offer when nothing was found: the query without its rarest word. */
import type { SearchAnswer } from './answer.ts'
import type { IndexReader } from './index.ts'
import type { Plan } from './plan.ts'

const offeredMax = 3

/** Words that no page holds go first; each offer is a query that finds something. */
export function shorterQueries(plan: Plan, index: IndexReader): SearchAnswer['suggestions'] {
  const words = [...new Map(plan.sequence.map((word) => [word.term, word])).values()]
  if (words.length < 2) return []
  const judged = words
    .map((word) => ({ ...word, documents: index.frequency(word.term) }))
    .sort((a, b) => a.documents - b.documents)
  const offers = new Set<string>()
  for (const [i, { documents }] of judged.entries()) {
    if (offers.size >= offeredMax) break
    const dropped = new Set(judged.slice(0, i + 1).map(({ term }) => term))
    const rest = words.filter(({ term }) => !dropped.has(term))
    const isHopeless = (judged[i + 1]?.documents ?? 0) === 0
    if (rest.length > 0 && !isHopeless) offers.add(rest.map(({ form }) => form).join(' '))
    if (documents > 0 && offers.size > 0) break
  }
  return [...offers].map((text) => ({ text, type: 'shorter' as const }))
}
