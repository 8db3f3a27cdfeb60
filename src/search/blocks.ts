/** The blocks of one term in one segment, most of them unread: how many postings they have, how far they reach, what they are worth at best. Knows no query. */
import type { Block } from './leaf.ts'
import { createPostingList } from './posting-list.ts'
import { eachBlock, type SegmentView } from './segment-view.ts'

/** What BM25F makes of a quant and a length code, at quant << 8 | code: grows with the quant, falls with the code. */
export type ScoreTable = Float64Array

export type TermBlock = Block & {
  /** No posting of the block is worth more. */
  worth: number
}

/** Large enough for any block. */
const scratch = createPostingList()

/**
 * @param table null where nobody asks what blocks are worth
 * @param onLeaf called before each leaf: the place to look at a deadline
 */
export function blocksOf(
  segment: SegmentView,
  term: string,
  table: ScoreTable | null,
  onLeaf: () => void,
): TermBlock[] {
  const blocks: TermBlock[] = []
  eachBlock(segment, term, onLeaf, (reader) => {
    const block = reader.block(segment.packed.first)
    if (reader.isLong()) {
      reader.pass()
    } else {
      scratch.count = 0
      reader.copyTo(scratch, segment.packed.first)
      block.last = scratch.docnos[scratch.count - 1] as number
    }
    if (block.last < segment.firstDocno || block.first > segment.lastDocno) return
    blocks.push({ ...block, worth: table === null ? 0 : worthOf(block, table) })
  })
  return blocks
}

function worthOf({ view, best, bestEnd }: Block, table: ScoreTable): number {
  if (best === bestEnd) return table[largestWorth] as number
  let worth = 0
  for (let at = best; at < bestEnd; at += 2) {
    const own = table[(view.getUint8(at) << 8) | view.getUint8(at + 1)] as number
    if (own > worth) worth = own
  }
  return worth
}
/** Of the largest quant on the shortest page. */
const largestWorth = (63 << 8) | 1
