/** Where a term is: its blocks in every segment, the links that call pages by it, and how many living documents that makes. */
import { blocksOf, type ScoreTable, type TermBlock } from './blocks.ts'
import type { PostingList } from './posting-list.ts'
import { type PostingReads, refuseLate } from './posting-reads.ts'
import type { Snapshot } from './snapshot.ts'

/** Terms whose living documents are remembered where they cannot be told from the blocks. */
const countsKept = 4_096

export type Holders = {
  /** By segment. */
  blocks: readonly (readonly TermBlock[])[]
  /** Null for none. */
  links: PostingList | null
  living: number
}

/**
 * The returned function: `withLinks` = those that are called so in links only hold it too; `table` as in blocks.ts.
 * What it returns is of the moment.
 */
export function createHolders(
  snapshot: Snapshot,
  { read, readLinks, frequencyOf, holdersOf }: PostingReads,
) {
  let version = -1
  const counts = new Map<string, number>()
  return (
    term: string,
    withLinks: boolean,
    table: ScoreTable | null,
    deadlineMs: number,
  ): Holders => {
    const views = snapshot.views()
    const watch = (): void => refuseLate(deadlineMs)
    const blocks = views.map((view) => blocksOf(view, term, table, watch))
    const links = withLinks ? copyOf(readLinks(term, deadlineMs)) : null
    const isWhole = views.every(
      ({ packed, firstDocno, lastDocno }) =>
        packed.first === firstDocno && packed.last === lastDocno,
    )
    if (links === null && isWhole && !snapshot.hasDead())
      return { blocks, links, living: sum(blocks) }
    if (version !== snapshot.version() || counts.size >= countsKept) counts.clear()
    version = snapshot.version()
    const key = withLinks ? `${term}\n` : term
    let living = counts.get(key)
    if (living === undefined) {
      const postings = read(term, deadlineMs)
      living = links === null ? frequencyOf(postings) : holdersOf(postings, links)
      counts.set(key, living)
    }
    return { blocks, links, living }
  }
}

const sum = (blocks: Holders['blocks']): number =>
  blocks.reduce((all, own) => own.reduce((more, { count }) => more + count, all), 0)

/** The reader's own is overwritten by the next term. */
const copyOf = ({ docnos, quants, count }: PostingList): PostingList | null =>
  count === 0 ? null : { docnos: docnos.slice(0, count), quants: quants.slice(0, count), count }
