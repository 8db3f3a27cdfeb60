/** The keywords that tell most about what was found: those of many hits that are not those of every page. Pure but for the words, which are asked for. */
import type { FacetValue } from './answer.ts'
import { type KeywordLists, ofDocumentMax } from './keyword-lists.ts'
import type { Matches } from './matches.ts'
import { inverseFrequency } from './score.ts'
import { createTopList } from './top.ts'

/** Looked at for each value that is wanted: some may not be shown. */
const spareFactor = 2
const spareMin = 20

/**
 * Chosen by count x the square of its rarity among all documents (rarity alone still leads with what every second page of a manual has),
 * shown by count, then by word. A value counts the hits that the search with it as a further
 * filter has.
 * @param hides a word that may not be shown
 */
export function countKeywords(
  limit: number,
  matches: Matches,
  lists: KeywordLists,
  hides: (word: string) => boolean,
): FacetValue[] {
  const { found, best } = bestKeywords(limit * spareFactor + spareMin, matches, lists)
  const values: FacetValue[] = []
  for (const id of best) {
    if (values.length === limit) break
    const value = lists.word(id)
    if (value !== '' && !hides(value))
      values.push({ value, count: found.get(id) ?? 0, has_children: false })
  }
  return values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
}

/** Their numbers, the most telling first; `found` says how many hits each has. */
function bestKeywords(
  limit: number,
  matches: Matches,
  lists: KeywordLists,
): { best: number[]; found: ReadonlyMap<number, number> } {
  const counts = lists.counts()
  const end = lists.idsEnd()
  const documents = lists.documents()
  const top = createTopList(limit)
  const found = new Map<number, number>()
  /** Leaves a zero behind, so that a number is judged once. */
  const judge = (id: number): void => {
    const count = counts[id] as number
    if (count === 0) return
    counts[id] = 0
    const score = count * inverseFrequency(documents, lists.holders(id)) ** 2
    if (score < top.worst()) return
    top.offer(score, id)
    found.set(id, count)
  }
  matches.count(
    end,
    (docno, see) => lists.eachId(docno, see),
    (docnos, all) => lists.countIds(docnos, all),
    counts,
  )
  // Of few hits their own lists are shorter than that of all keywords.
  if (matches.documents * ofDocumentMax < end)
    matches.eachMember((docno) => lists.eachId(docno, judge))
  else for (let id = 1; id < end; id += 1) judge(id)
  return { best: top.take().map(({ docno: id }) => id), found }
}
