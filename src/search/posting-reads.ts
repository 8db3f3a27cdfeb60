/** The postings of a term in one snapshot, of the pages and of the links to them, and how many documents hold it. Scores nothing. */
import { AppError } from '../lib/errors.ts'
import { eachLinked } from './link-score.ts'
import type { LinkSnapshot } from './link-snapshot.ts'
import { createPostingList, type PostingList } from './posting-list.ts'
import { appendPairHolders, appendPostings } from './postings.ts'
import type { Snapshot } from './snapshot.ts'

/** What is read is overwritten by the next call, but for links, which have a list of their own. */
export type PostingReads = {
  /** The dead included. */
  read: (term: string, deadlineMs: number) => PostingList
  readLinks: (term: string, deadlineMs: number) => PostingList
  readPair: (pair: number, deadlineMs: number) => PostingList
  /** Those of the living. */
  frequencyOf: (postings: PostingList) => number
  /** Those that are called so only in links hold it too. */
  holdersOf: (postings: PostingList, links: PostingList) => number
}

export const noPostings = createPostingList()

export function createPostingReads(snapshot: Snapshot, linked: LinkSnapshot): PostingReads {
  const list = createPostingList()
  const links = createPostingList()
  const frequencyOf = (postings: PostingList): number =>
    snapshot.hasDead() ? countLiving(postings, snapshot.codes()) : postings.count
  return {
    read(term, deadlineMs) {
      const watch = (): void => refuseLate(deadlineMs)
      list.count = 0
      for (const view of snapshot.views()) appendPostings(list, view, term, watch)
      return list
    },
    readLinks(term, deadlineMs) {
      const watch = (): void => refuseLate(deadlineMs)
      links.count = 0
      for (const view of linked.views()) appendPostings(links, view, term, watch)
      return links
    },
    readPair(pair, deadlineMs) {
      const watch = (): void => refuseLate(deadlineMs)
      list.count = 0
      for (const view of snapshot.views()) appendPairHolders(list, view, pair, watch)
      return list
    },
    frequencyOf,
    holdersOf(postings, named) {
      let holders = frequencyOf(postings)
      if (named.count > 0)
        eachLinked(named, postings, snapshot.codes(), (_docno, _quant, at) => {
          if (at < 0) holders += 1
        })
      return holders
    },
  }
}

function countLiving({ docnos, count }: PostingList, codes: Uint8Array): number {
  let living = 0
  for (let i = 0; i < count; i += 1) if ((codes[docnos[i] as number] as number) > 0) living += 1
  return living
}

export function refuseLate(deadlineMs: number): void {
  if (performance.now() > deadlineMs)
    throw new AppError('overloaded', 'the query took longer than its time', { retryAfterS: 1 })
}
