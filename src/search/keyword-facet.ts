/** The keywords that tell most about what was found: those of many hits that are not those of every page. Pure but for the words, which are asked for. */
import type { FacetValue } from './answer.ts'
import type { KeywordLists } from './keyword-lists.ts'
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
  const counts = matches.count(
    lists.idsEnd(),
    (docno, see) => lists.eachId(docno, see),
    (docno, all) => lists.countIds(docno, all),
  )
  const documents = lists.documents()
  const top = createTopList(limit * spareFactor + spareMin)
  for (let id = 1; id < counts.length; id += 1) {
    const count = counts[id] as number
    if (count > 0) top.offer(count * inverseFrequency(documents, lists.holders(id)) ** 2, id)
  }
  const values: FacetValue[] = []
  for (const { docno: id } of top.take()) {
    if (values.length === limit) break
    const value = lists.word(id)
    if (value !== '' && !hides(value))
      values.push({ value, count: counts[id] as number, has_children: false })
  }
  return values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
}
