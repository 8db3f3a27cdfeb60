/** Where a term of a query is in one segment: goes on from document to document, and reads a block only when something in it is asked for. Scores nothing. */
import type { ScoreTable, TermBlock } from './blocks.ts'
import { readBlock } from './leaf.ts'
import { firstFrom, type LinkNorm } from './link-score.ts'
import { createPostingList, type PostingList } from './posting-list.ts'

/** What a term is for: words and pairs are counted, boosts only rank, the others only judge. */
export type Role = 'word' | 'pair' | 'boost' | 'required' | 'without'
/** A term of the query in one segment. */
export type Part = {
  role: Role
  blocks: readonly TermBlock[]
  /** Of the term, its inverse frequency included; 0 where it does not rank. */
  weight: number
  /** In the mask of a document that holds it. */
  bit: number
  table: ScoreTable
  /** Of a word: what links call so, in any segment. */
  links: PostingList | null
  how: LinkNorm
}

/** Where a term is in its blocks. */
export type Cursor = Part & {
  /** The block at hand, and whether it was read. */
  n: number
  isRead: boolean
  list: PostingList
  at: number
  /** The place in `links`. */
  linkAt: number
  /** Its first document in the window, or behind it. */
  next: number
}

/** Of the cursors at hand: each holds one block. */
const lists: PostingList[] = []

export function cursorOf(part: Part, i: number): Cursor {
  const list = (lists[i] ??= createPostingList())
  return { ...part, n: 0, isRead: false, list, at: 0, linkAt: 0, next: 0 }
}

/** Whether a link calls a document so, from the place at hand to the end. */
export const hasLinks = ({ links, linkAt }: Cursor, end: number): boolean =>
  links !== null && linkAt < links.count && (links.docnos[linkAt] as number) <= end

/** As `seek`, for what holds the term itself or in links. */
export function seekAny(cursor: Cursor, from: number): number {
  const next = seek(cursor, from)
  const { links } = cursor
  if (links === null) return next
  cursor.linkAt = firstFrom(links, cursor.linkAt, from)
  return cursor.linkAt < links.count ? Math.min(next, links.docnos[cursor.linkAt] as number) : next
}

/** Goes to the block that the first document from `from` on is in, unread. Returns that document, or one before it where the block is unread. */
export function seek(cursor: Cursor, from: number): number {
  const { blocks } = cursor
  for (;;) {
    const block = blocks[cursor.n]
    if (block === undefined) return Number.POSITIVE_INFINITY
    if (block.last >= from) {
      if (!cursor.isRead) return Math.max(block.first, from)
      const { docnos } = cursor.list
      let { at } = cursor
      while ((docnos[at] as number) < from) at += 1
      cursor.at = at
      return docnos[at] as number
    }
    cursor.n += 1
    cursor.isRead = false
  }
}

/** Reads the block at hand if it begins before `end`. */
export function readTo(cursor: Cursor, end: number): TermBlock | null {
  const block = cursor.blocks[cursor.n]
  if (block === undefined || block.first > end) return null
  if (!cursor.isRead) {
    readBlock(block, cursor.list, 0)
    cursor.isRead = true
    cursor.at = 0
  }
  return block
}
