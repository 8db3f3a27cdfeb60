/** How many living documents hold a term, segment by segment: who only wants to know whether a word is rare need not look into all of them. */
import { LeafReader } from './leaf.ts'
import { createPostingList } from './posting-list.ts'
import { appendPostings } from './postings.ts'
import { firstLeafOf, type SegmentView } from './segment-view.ts'
import { hashOfTerm } from './term-filter.ts'
import type { Snapshot } from './snapshot.ts'

export type Counts = {
  /** Segments, of this moment. */
  parts(): number
  /** Living documents in one of them, the largest first: added up they are the frequency of the term. */
  frequencyIn(term: string, part: number): number
}

export function createCounts(snapshot: Snapshot): Counts {
  const list = createPostingList()
  let version = -1
  let views: readonly SegmentView[] = []
  const refreshed = (): readonly SegmentView[] => {
    if (version !== snapshot.version())
      views = snapshot.views().toSorted((a, b) => documentsOf(b) - documentsOf(a))
    version = snapshot.version()
    return views
  }
  return {
    parts: () => refreshed().length,
    frequencyIn(term, part) {
      const view = refreshed()[part] as SegmentView
      if (isWhole(view) && !snapshot.hasDead()) return postingsOf(view, term)
      list.count = 0
      appendPostings(list, view, term)
      const codes = snapshot.codes()
      let living = 0
      for (let i = 0; i < list.count; i += 1)
        if ((codes[list.docnos[i] as number] as number) > 0) living += 1
      return living
    },
  }
}

const documentsOf = ({ firstDocno, lastDocno }: SegmentView): number => lastDocno - firstDocno
const isWhole = ({ packed, firstDocno, lastDocno }: SegmentView): boolean =>
  packed.first === firstDocno && packed.last === lastDocno

const reader = new LeafReader()

/** By what the heads of the blocks say. */
function postingsOf(segment: SegmentView, term: string): number {
  const { directory, mayHold } = segment
  const bytes = Buffer.from(term, 'utf8')
  const hash = mayHold === null ? 0 : hashOfTerm(term)
  let count = 0
  for (let n = firstLeafOf(directory, term); n < directory.length; n += 1) {
    if ((directory[n] as string) > term) break
    let isHere = mayHold === null || mayHold(n, hash)
    if (isHere) {
      reader.load(segment.leaf(n))
      isHere = reader.seek(bytes)
    }
    if (!isHere && count > 0) break
    if (!isHere) continue
    count += reader.count
    while (reader.hasMore()) {
      reader.nextBlock()
      count += reader.count
    }
  }
  return count
}
