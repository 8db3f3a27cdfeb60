/**
 * Scores the documents of one segment window by window, and keeps the best: exact, and it leaves blocks unread that no hit can come from.
 * A window is so narrow that most terms have one block in it. Where not every match is to be counted, a window is passed over when the
 * best of its blocks together are worth no more than the worst hit so far (block-max pruning: Ding and Suel, Faster top-k document
 * retrieval using block-max indexes, SIGIR 2011; by ranges of documents as in Lucene's MaxScoreBulkScorer).
 */
import type { TermBlock } from './blocks.ts'
import { type Cursor, cursorOf, hasLinks, type Part, readTo, seek, seekAny } from './cursors.ts'
import { linkGain, withStanding } from './link-score.ts'
import type { PostingList } from './posting-list.ts'
import { ranking as rankingConstants } from './ranking.ts'
import type { TopList } from './top.ts'

/** Documents of a window, at most. */
const windowMax = 2_048
/** Where windows end with blocks, so many at least: narrower ones cost more than they spare. */
const windowMin = 64
/** Where few documents have a term: more places would be looked at in vain. */
const sparseWindow = 128
/** Windows between two looks at the clock, and at what narrow ones spare. */
const windowsUnwatched = 64
/** Narrow windows are worth their costs where so many of them are passed over. */
const sparedShareMin = 1 / 8

/** When a document is a hit: it holds every word; one of the words; or anything at all. */
export type Demand = {
  kind: 'all' | 'some' | 'any'
  /** Bits of all words that must be there. */
  latin: number
  /** The same, or else all pairs. */
  han: number
  pairs: number
  required: number
  hasWithout: boolean
}

export type Window = {
  accept: ((docno: number) => boolean) | undefined
  /** Codes of link-terms.ts by docno; it may end early. */
  standings: Uint8Array
  /** The share of its score that a document gets for being new. */
  fresh: ((docno: number) => number) | null
  demand: Demand
  top: TopList
  /** So many matches are counted, before documents that cannot be hits are passed over. */
  countMin: number
  /** Called now and then: throws where it is too late. */
  watch: () => void
}

export type Tally = {
  total: number
  /** Whether all that match were counted. */
  isCounted: boolean
  /** Masks of documents that were among the best for a while. */
  masks: Map<number, number>
}
export const createTally = (): Tally => ({ total: 0, isCounted: true, masks: new Map() })

/** By place in the window; all zero between windows. */
const scores = new Float64Array(windowMax)
const masks = new Uint32Array(windowMax)
const pairs = new Uint8Array(windowMax)
const required = new Uint8Array(windowMax)

/**
 * @param parts those that rank in the order in which their scores are added up
 * @param codes length codes by docno, 0 where nobody lives
 */
export function scoreSegment(
  parts: readonly Part[],
  codes: Uint8Array,
  range: { firstDocno: number; lastDocno: number },
  window: Window,
  tally: Tally,
): void {
  const cursors = parts.map(cursorOf)
  const ranking = cursors.filter(({ role }) => role !== 'required' && role !== 'without')
  const judging = cursors.filter(({ role }) => role === 'required' || role === 'without')
  const { demand, top, countMin, watch } = window
  const widest = widestOf(ranking, range)
  const mayPass = countMin < Number.POSITIVE_INFINITY
  const most = 1 + mostShare(window)
  let isNarrow = demand.kind === 'all' || mayPass
  let windows = 0
  let spared = 0
  for (let from = range.firstDocno; from <= range.lastDocno;) {
    if (++windows % windowsUnwatched === 0) {
      watch()
      isNarrow &&= spared >= windowsUnwatched * sparedShareMin
      spared = 0
    }
    const start = nextStart(ranking, judging, from, demand)
    if (start > range.lastDocno) return
    if (start - from >= windowMin) spared += 1
    for (const cursor of ranking) cursor.next = seekAny(cursor, start)
    const end = Math.min(
      range.lastDocno,
      start + widest - 1,
      isNarrow ? narrowEnd(ranking, start) : Infinity,
    )
    from = end + 1
    if (mayPass && tally.total >= countMin && worthOf(ranking, end) * most <= top.worst()) {
      tally.isCounted = false
      spared += 1
      continue
    }
    for (const cursor of ranking) if (cursor.next <= end) addScores(cursor, codes, start, end)
    for (const cursor of judging) judge(cursor, start, end)
    collect(window, tally, start, end)
  }
}

function widestOf(
  ranking: readonly Cursor[],
  range: { firstDocno: number; lastDocno: number },
): number {
  const postings = ranking.reduce(
    (sum, { blocks }) => sum + blocks.reduce((own, { count }) => own + count, 0),
    0,
  )
  return postings * 32 < range.lastDocno - range.firstDocno ? sparseWindow : windowMax
}

/** Where the first document from `from` on can be that holds what it must; Infinity for none. */
function nextStart(
  ranking: readonly Cursor[],
  judging: readonly Cursor[],
  from: number,
  demand: Demand,
): number {
  let start = Number.POSITIVE_INFINITY
  for (const cursor of ranking) {
    cursor.next = seekAny(cursor, from)
    if (cursor.next < start) start = cursor.next
  }
  for (const cursor of judging) {
    if (cursor.role !== 'required') continue
    const next = seek(cursor, from)
    if (next > start) start = next
  }
  if (demand.kind !== 'all') return start
  const latin = lastOfFirst(ranking, demand.latin)
  const han = lastOfFirst(ranking, demand.han)
  const wanted =
    demand.pairs === 0 ? han : Math.min(demand.han === 0 ? Infinity : han, lastOfPairs(ranking))
  return Math.max(start, latin, wanted)
}

/** For each bit the first document of the words that have it; of these the last. 0 without bits. */
function lastOfFirst(ranking: readonly Cursor[], bits: number): number {
  let last = 0
  for (let rest = bits; rest !== 0;) {
    const bit = (rest & -rest) >>> 0
    rest = (rest & ~bit) >>> 0
    let first = Number.POSITIVE_INFINITY
    for (const cursor of ranking) if (cursor.bit === bit && cursor.next < first) first = cursor.next
    if (first > last) last = first
  }
  return last
}

function lastOfPairs(ranking: readonly Cursor[]): number {
  let last = 0
  for (const { role, next } of ranking) if (role === 'pair' && next > last) last = next
  return last
}

/** With the first block that ends, unless that is too near. */
function narrowEnd(ranking: readonly Cursor[], start: number): number {
  let end = start + windowMax - 1
  for (const { blocks, n, next } of ranking) {
    const block = blocks[n]
    if (block !== undefined && next <= end && block.last < end) end = block.last
  }
  return Math.max(end, start + windowMin - 1)
}

/** No document of the window is worth more. Added up as scores are, so that rounding cannot make it less than one of them. */
function worthOf(ranking: readonly Cursor[], end: number): number {
  let worth = 0
  for (const cursor of ranking) {
    const { blocks, n, next, weight } = cursor
    if (next > end) continue
    if (hasLinks(cursor, end)) {
      worth += weight * (1 + k1Of(cursor))
      continue
    }
    let best = 0
    for (let i = n; i < blocks.length; i += 1) {
      const block = blocks[i] as TermBlock
      if (block.first > end) break
      if (block.worth > best) best = block.worth
    }
    worth += weight * best
  }
  return worth
}

/** No term is worth more, however often it stands there. */
const k1Of = ({ how }: Cursor): number =>
  how.isHan ? rankingConstants.k1Han : rankingConstants.k1Latin

/** Of its score, what a document can get for its standing and for being new. A little more than that, for the rounding. */
const mostShare = ({ standings, fresh }: Window): number =>
  standings.length === 0 && fresh === null
    ? 0
    : 1e-9 +
      rankingConstants.linksShare +
      rankingConstants.depthShare +
      (fresh === null ? 0 : rankingConstants.freshShare)

function addScores(cursor: Cursor, codes: Uint8Array, start: number, end: number): void {
  const isLinked = hasLinks(cursor, end)
  addBlocks(cursor, codes, start, end, isLinked)
  if (isLinked) addLinks(cursor, codes, start, end)
}

function addBlocks(
  cursor: Cursor,
  codes: Uint8Array,
  start: number,
  end: number,
  isLinked: boolean,
): void {
  const add = cursor.role === 'pair' ? addPairs : isLinked ? addNotedWords : addWords
  for (let block = readTo(cursor, end); block !== null; block = readTo(cursor, end)) {
    const { docnos } = cursor.list
    const { count } = block
    let { at } = cursor
    while (at < count && (docnos[at] as number) < start) at += 1
    at = add(cursor, at, count, codes, start, end)
    cursor.at = at
    if (at < count) return
    cursor.n += 1
    cursor.isRead = false
  }
}

/* The hot loops: from posting `at` on, to the end of the block or of the window. Both return where they stopped. */

function addWords(
  { list, table, weight, bit }: Cursor,
  from: number,
  count: number,
  codes: Uint8Array,
  start: number,
  end: number,
): number {
  const { docnos, quants } = list
  let at = from
  for (; at < count; at += 1) {
    const docno = docnos[at] as number
    if (docno > end) return at
    const code = codes[docno] as number
    // Dead.
    if (!(code > 0)) continue
    const place = docno - start
    const worth = weight * (table[((quants[at] as number) << 8) | code] as number)
    scores[place] = (scores[place] as number) + worth
    masks[place] = (masks[place] as number) | bit
  }
  return at
}

/** The quant of the term at hand, and one, by place in the window; 0 = it is not there. All zero between terms. */
const noted = new Uint8Array(windowMax)

/** Likewise, where links may call some of the documents so. */
function addNotedWords(
  cursor: Cursor,
  from: number,
  count: number,
  codes: Uint8Array,
  start: number,
  end: number,
): number {
  const { docnos, quants } = cursor.list
  for (let at = from; at < count && (docnos[at] as number) <= end; at += 1)
    noted[(docnos[at] as number) - start] = (quants[at] as number) + 1
  return addWords(cursor, from, count, codes, start, end)
}

/** What links add to the term: their occurrences come on top of those of the page. */
function addLinks(cursor: Cursor, codes: Uint8Array, start: number, end: number): void {
  const { how, weight, bit } = cursor
  const { docnos, quants, count } = cursor.links as PostingList
  let { linkAt } = cursor
  for (; linkAt < count; linkAt += 1) {
    const docno = docnos[linkAt] as number
    if (docno > end) break
    const code = codes[docno] as number
    if (!(code > 0)) continue
    const place = docno - start
    const quant = (noted[place] as number) - 1
    const gain = linkGain(quant, code, quants[linkAt] as number, how)
    scores[place] = (scores[place] as number) + weight * gain
    masks[place] = (masks[place] as number) | bit
  }
  cursor.linkAt = linkAt
  noted.fill(0, 0, end - start + 1)
}

function addPairs(
  { list, table, weight }: Cursor,
  from: number,
  count: number,
  codes: Uint8Array,
  start: number,
  end: number,
): number {
  const { docnos, quants } = list
  let at = from
  for (; at < count; at += 1) {
    const docno = docnos[at] as number
    if (docno > end) return at
    const code = codes[docno] as number
    if (!(code > 0)) continue
    const place = docno - start
    const worth = weight * (table[((quants[at] as number) << 8) | code] as number)
    scores[place] = (scores[place] as number) + worth
    pairs[place] = (pairs[place] as number) + 1
  }
  return at
}

const excluded = -1

function judge(cursor: Cursor, start: number, end: number): void {
  const isExcluding = cursor.role === 'without'
  if (seek(cursor, start) > end) return
  for (let block = readTo(cursor, end); block !== null; block = readTo(cursor, end)) {
    const { docnos } = cursor.list
    const { count } = block
    let { at } = cursor
    while (at < count && (docnos[at] as number) < start) at += 1
    for (; at < count && (docnos[at] as number) <= end; at += 1) {
      const place = (docnos[at] as number) - start
      if (isExcluding) scores[place] = excluded
      else required[place] = (required[place] as number) + 1
    }
    cursor.at = at
    if (at < count) return
    cursor.n += 1
    cursor.isRead = false
  }
}

/** Places of the window that are matches. */
const matches = new Uint16Array(windowMax + 1)

/** Counts the matches of the window, keeps the best, and clears it. */
function collect(window: Window, tally: Tally, start: number, end: number): void {
  const { accept, demand, top, standings, fresh } = window
  const size = end - start + 1
  const count = isPlain(demand) ? gatherPlain(demand, size) : gather(demand, size)
  const most = 1 + mostShare(window)
  let accepted = count
  let worst = top.worst()
  for (let i = 0; i < count; i += 1) {
    const place = matches[i] as number
    const score = scores[place] as number
    if (accept !== undefined && !accept(start + place)) {
      accepted -= 1
      continue
    }
    if (score * most <= worst) continue
    const standing = standings[start + place] ?? 0
    const isPlain = standing === 0 && fresh === null
    const whole = isPlain ? score : withStanding(score, standing, fresh?.(start + place) ?? 0)
    if (whole <= worst) continue
    top.offer(whole, start + place)
    const mask = masks[place] as number
    tally.masks.set(start + place, holdsPairs(demand, place) ? (mask | demand.han) >>> 0 : mask)
    worst = top.worst()
  }
  tally.total += accepted
  scores.fill(0, 0, size)
  masks.fill(0, 0, size)
  if (demand.pairs > 0) pairs.fill(0, 0, size)
  if (demand.required > 0) required.fill(0, 0, size)
}

/** Whether the mask of a document alone tells that it is a match. Parts of words have no bit: where there are no others, it does not. */
const isPlain = ({
  kind,
  latin,
  han,
  pairs: wanted,
  required: most,
  hasWithout,
}: Demand): boolean =>
  (kind === 'some' || (kind === 'all' && (latin | han) !== 0)) &&
  wanted === 0 &&
  most === 0 &&
  !hasWithout

/** Without a branch on what is there: half of the documents have a common word, and no processor foresees which. */
function gatherPlain({ kind, latin, han }: Demand, size: number): number {
  const wanted = kind === 'all' ? latin | han : 0
  let count = 0
  for (let place = 0; place < size; place += 1) {
    const mask = masks[place] as number
    matches[count] = place
    if (kind === 'all') {
      const missing = (mask & wanted) ^ wanted
      count += 1 - ((missing | -missing) >>> 31)
    } else count += (mask | -mask) >>> 31
  }
  return count
}

function gather(demand: Demand, size: number): number {
  let count = 0
  for (let place = 0; place < size; place += 1) {
    if (!((scores[place] as number) > 0) || required[place] !== demand.required) continue
    if (fits(demand, masks[place] as number, holdsPairs(demand, place))) matches[count++] = place
  }
  return count
}

const holdsPairs = (demand: Demand, place: number): boolean =>
  demand.pairs > 0 && pairs[place] === demand.pairs

/** Every word; Han words also by all their pairs, because a page may be cut otherwise than the query. */
function fits(
  { kind, latin, han, pairs: wanted }: Demand,
  mask: number,
  hasPairs: boolean,
): boolean {
  if (kind === 'any') return true
  if (kind === 'some') return mask !== 0 || hasPairs
  if ((mask & latin) >>> 0 !== latin) return false
  if (han === 0) return wanted === 0 || hasPairs
  return (mask & han) >>> 0 === han || hasPairs
}
