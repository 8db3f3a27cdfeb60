/** BM25F over every posting of every query term: no candidates, no skipping, so the order is exact. Knows no text and no filter of its own. */
import assert from 'node:assert'
import { TITLE_PREFIX } from '../text/title-key.ts'
import { BIGRAM_PREFIX } from '../text/tokenize.ts'
import type { IndexAnswer, IndexHit, IndexQuery, TermScore } from './index.ts'
import { frequencies, lengths as lengthOfCode } from './codes.ts'
import type { PostingList } from './posting-list.ts'
import { createPostingReads, noPostings, refuseLate } from './posting-reads.ts'
import {
  eachLinked,
  lengthNorm,
  linkFrequency,
  linkGain,
  linkNorm,
  saturated,
  withStanding,
} from './link-score.ts'
import { linksOfQuant } from './link-terms.ts'
import type { LinkSnapshot } from './link-snapshot.ts'
import type { Snapshot } from './snapshot.ts'
import { autoWordsMax, ranking } from './ranking.ts'
import { createTopList } from './top.ts'

/** One bit a word in the mask of a document. */
export const queryWordsMax = 32
/** Documents looked at between two looks at the clock. */
const documentsUnwatched = 4_096

const hanTerm = new RegExp(`^(?:${BIGRAM_PREFIX}|\\p{Script=Han})`, 'u')
export const isHanTerm = (term: string): boolean => hanTerm.test(term)

/** ln(1 + (N - df + 0.5) / (df + 0.5)): positive for every df. */
export const inverseFrequency = (documents: number, frequency: number): number =>
  Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))

export type Scorer = {
  search(
    query: IndexQuery,
    limit: number,
    deadlineMs: number,
    accept?: (docno: number) => boolean,
    fresh?: ((docno: number) => number) | null,
  ): IndexAnswer
  /** As `IndexReader.explain`. */
  explain(query: IndexQuery, docnos: readonly number[]): Map<number, TermScore[]>
  /** Living documents that hold the term. */
  frequency(term: string): number
  /** All postings of a term, the dead included; overwritten by the next call of anything here. */
  postings(term: string, deadlineMs: number): Readonly<PostingList>
  /** Documents that have the pair, likewise. */
  pairHolders(pair: number, deadlineMs: number): Readonly<PostingList>
}

/** What a query collects for each document, by docno; all zero between queries. */
type Board = {
  scores: Float64Array
  /** One bit for each word, or group of alternatives, that the document holds. */
  masks: Uint32Array
  bigrams: Uint8Array
  required: Uint8Array
  touched: Uint32Array
  touchedCount: number
}

/** Which bits of the masks are taken by which words. */
type Plan = { bits: readonly number[]; all: number; latin: number; han: number; groups: number }

export function createScorer(snapshot: Snapshot, linked: LinkSnapshot): Scorer {
  let board = createBoard(1_024)
  const tables = createTables(snapshot)

  const { read, readLinks, readPair, frequencyOf, holdersOf } = createPostingReads(snapshot, linked)

  /** Adds one term to the board: `seen` marks that a document has it. */
  const accumulate = (
    term: string,
    weight: number,
    deadlineMs: number,
    bit: number,
    kind: 'word' | 'pair' | 'boost',
  ): void => {
    const postings = read(term, deadlineMs)
    const named = kind === 'word' ? readLinks(term, deadlineMs) : noPostings
    const idf = inverseFrequency(snapshot.documents(), holdersOf(postings, named))
    const codes = snapshot.codes()
    addPostings(board, postings, codes, tables.of(term), weight * idf, bit, kind === 'pair')
    if (named.count === 0) return
    const how = { meanLength: snapshot.meanLength(), isHan: isHanTerm(term) }
    eachLinked(named, postings, codes, (docno, linkQuant, at) => {
      const quant = at < 0 ? -1 : (postings.quants[at] as number)
      addOne(
        board,
        docno,
        weight * idf * linkGain(quant, codes[docno] as number, linkQuant, how),
        bit,
      )
    })
  }

  const prepareBoard = (): void => {
    const size = snapshot.codes().length
    if (board.scores.length < size) board = createBoard(size)
  }

  return {
    search(query, limit, deadlineMs, accept, fresh = null) {
      const plan = planWords(query)
      prepareBoard()
      try {
        const bigramsEnd = query.words.length + query.bigrams.length
        scoredTerms(query).forEach(({ term, weight }, i) => {
          const kind = i < query.words.length ? 'word' : i < bigramsEnd ? 'pair' : 'boost'
          accumulate(term, weight, deadlineMs, plan.bits[i] ?? 0, kind)
        })
        for (const term of query.without) exclude(board, read(term, deadlineMs))
        for (const term of query.required) markRequired(board, read(term, deadlineMs))
        const options = { limit, deadlineMs, standings: linked.standings(), fresh }
        return select(board, query, plan, options, accept)
      } finally {
        clearBoard(board)
      }
    },
    explain(query, docnos) {
      const explained = new Map(docnos.map((docno): [number, TermScore[]] => [docno, []]))
      for (const scored of scoredTerms(query)) {
        const postings = read(scored.term, Number.POSITIVE_INFINITY)
        const isWord = scored.kind === 'word'
        const named = isWord ? readLinks(scored.term, Number.POSITIVE_INFINITY) : noPostings
        const holders = holdersOf(postings, named)
        explainTerm(explained, scored, postings, holders, snapshot, tables.of(scored.term))
        explainLinks(explained, scored, { postings, named }, holders, snapshot)
      }
      return explained
    },
    frequency: (term) => frequencyOf(read(term, Number.POSITIVE_INFINITY)),
    postings: read,
    pairHolders: readPair,
  }
}

const kindOf = (term: string): TermScore['kind'] =>
  term.startsWith(TITLE_PREFIX) ? 'title' : term.startsWith(BIGRAM_PREFIX) ? 'pair' : 'word'

/** All that adds to scores, in order: words first, so that their places are those of `Plan.bits`. */
const scoredTerms = ({
  words,
  bigrams,
  boosts,
}: IndexQuery): readonly Pick<TermScore, 'term' | 'kind' | 'weight'>[] => [
  ...words.map(({ term, weight }) => ({ term, kind: 'word' as const, weight })),
  ...bigrams.map(({ term, weight }) => ({
    term,
    kind: 'pair' as const,
    weight: weight * ranking.bigramWeight,
  })),
  ...boosts.map(({ term, weight }) => ({ term, kind: kindOf(term), weight })),
]

/** What `addPostings` adds, for a few documents and in detail: it multiplies in the same order, so that not a bit differs. */
function explainTerm(
  explained: ReadonlyMap<number, TermScore[]>,
  scored: Pick<TermScore, 'term' | 'kind' | 'weight'>,
  { docnos, quants, count }: PostingList,
  holders: number,
  snapshot: Snapshot,
  table: Float64Array,
): void {
  const codes = snapshot.codes()
  const mean = snapshot.meanLength()
  const idf = inverseFrequency(snapshot.documents(), holders)
  const k1 = isHanTerm(scored.term) ? ranking.k1Han : ranking.k1Latin
  for (let i = 0; i < count; i += 1) {
    const parts = explained.get(docnos[i] as number)
    const code = codes[docnos[i] as number] ?? 0
    if (parts === undefined || code === 0) continue
    const quant = quants[i] as number
    parts.push({
      ...scored,
      documents: holders,
      idf,
      frequency: frequencies[quant] as number,
      norm: lengthNorm(lengthOfCode[code] as number, mean),
      k1,
      score: scored.weight * idf * (table[(quant << 8) | code] as number),
    })
  }
}

/** Likewise, what links add to a term. */
function explainLinks(
  explained: ReadonlyMap<number, TermScore[]>,
  scored: Pick<TermScore, 'term' | 'weight'>,
  { postings, named }: { postings: PostingList; named: PostingList },
  holders: number,
  snapshot: Snapshot,
): void {
  const codes = snapshot.codes()
  const how = { meanLength: snapshot.meanLength(), isHan: isHanTerm(scored.term) }
  const idf = inverseFrequency(snapshot.documents(), holders)
  eachLinked(named, postings, codes, (docno, linkQuant, at) => {
    const quant = at < 0 ? -1 : (postings.quants[at] as number)
    const code = codes[docno] as number
    explained.get(docno)?.push({
      term: scored.term,
      weight: scored.weight,
      kind: 'links',
      documents: holders,
      idf,
      frequency: linkFrequency(linkQuant),
      norm: linkNorm(quant, code, how.meanLength),
      k1: how.isHan ? ranking.k1Han : ranking.k1Latin,
      score: scored.weight * idf * linkGain(quant, code, linkQuant, how),
      linkedBy: linksOfQuant(linkQuant),
    })
  })
}

/** The quotient of BM25F for every pair of codes, made anew when the mean length changes. */
function createTables(snapshot: Snapshot) {
  const han = new Float64Array(64 * 256)
  const latin = new Float64Array(64 * 256)
  let version = -1
  const fill = (): void => {
    const mean = snapshot.meanLength()
    for (let code = 0; code < 256; code += 1) {
      const norm = lengthNorm(lengthOfCode[code] as number, mean)
      for (let quant = 0; quant < 64; quant += 1) {
        const frequency = frequencies[quant] as number
        han[(quant << 8) | code] = saturated(frequency, norm, true)
        latin[(quant << 8) | code] = saturated(frequency, norm, false)
      }
    }
  }
  return {
    of(term: string): Float64Array {
      if (version !== snapshot.version()) fill()
      version = snapshot.version()
      return isHanTerm(term) ? han : latin
    },
  }
}

function planWords({ words }: IndexQuery): Plan {
  const bitOfGroup = new Map<number | string, number>()
  const plan = { all: 0, latin: 0, han: 0 }
  const bits = words.map(({ term, group, isPart }) => {
    if (isPart) return 0
    const key = group ?? term
    const bit = bitOfGroup.get(key) ?? (1 << bitOfGroup.size) >>> 0
    bitOfGroup.set(key, bit)
    plan.all = (plan.all | bit) >>> 0
    if (isHanTerm(term)) plan.han = (plan.han | bit) >>> 0
    return bit
  })
  assert(bitOfGroup.size <= queryWordsMax, 'the parser keeps queries short')
  return { ...plan, latin: (plan.all & ~plan.han) >>> 0, bits, groups: bitOfGroup.size }
}

const createBoard = (size: number): Board => ({
  scores: new Float64Array(size),
  masks: new Uint32Array(size),
  bigrams: new Uint8Array(size),
  required: new Uint8Array(size),
  touched: new Uint32Array(size),
  touchedCount: 0,
})

function clearBoard(board: Board): void {
  const { scores, masks, bigrams, required, touched, touchedCount } = board
  board.touchedCount = 0
  // Filling is some tens of times faster a document than picking.
  if (touchedCount * 16 > scores.length) {
    scores.fill(0)
    masks.fill(0)
    bigrams.fill(0)
    required.fill(0)
    return
  }
  for (let i = 0; i < touchedCount; i += 1) {
    const docno = touched[i] as number
    scores[docno] = 0
    masks[docno] = 0
    bigrams[docno] = 0
    required[docno] = 0
  }
}

/** The hot loop: a plain function over typed arrays. */
function addPostings(
  board: Board,
  postings: PostingList,
  codes: Uint8Array,
  table: Float64Array,
  weight: number,
  bit: number,
  isBigram: boolean,
): void {
  const { scores, masks, bigrams, touched } = board
  const { docnos, quants, count } = postings
  let touchedCount = board.touchedCount
  for (let i = 0; i < count; i += 1) {
    const docno = docnos[i] as number
    const code = codes[docno] as number
    if (!(code > 0)) continue
    const score = scores[docno] as number
    if (score === 0) touched[touchedCount++] = docno
    scores[docno] = score + weight * (table[((quants[i] as number) << 8) | code] as number)
    if (isBigram) bigrams[docno] = (bigrams[docno] as number) + 1
    else masks[docno] = (masks[docno] as number) | bit
  }
  board.touchedCount = touchedCount
}

function addOne(board: Board, docno: number, score: number, bit: number): void {
  const { scores, masks, touched } = board
  const before = scores[docno] as number
  if (before === 0) touched[board.touchedCount++] = docno
  scores[docno] = before + score
  masks[docno] = (masks[docno] as number) | bit
}

const excluded = -1

function exclude({ scores }: Board, { docnos, count }: PostingList): void {
  for (let i = 0; i < count; i += 1) {
    const docno = docnos[i] as number
    if ((scores[docno] as number) > 0) scores[docno] = excluded
  }
}

function markRequired({ scores, required }: Board, { docnos, count }: PostingList): void {
  for (let i = 0; i < count; i += 1) {
    const docno = docnos[i] as number
    if ((scores[docno] as number) > 0) required[docno] = (required[docno] as number) + 1
  }
}

function select(
  board: Board,
  query: IndexQuery,
  plan: Plan,
  options: CollectOptions,
  accept: ((docno: number) => boolean) | undefined,
): IndexAnswer {
  const bigrams = query.bigrams.length
  const holdsBigrams = (docno: number): boolean => bigrams > 0 && board.bigrams[docno] === bigrams
  /** Every word; Han words also by all their bigrams, because a page may be cut otherwise than the query. */
  const holdsAll = (docno: number): boolean => {
    const mask = board.masks[docno] as number
    if ((mask & plan.latin) >>> 0 !== plan.latin) return false
    if (plan.han === 0) return bigrams === 0 || holdsBigrams(docno)
    return (mask & plan.han) >>> 0 === plan.han || holdsBigrams(docno)
  }
  const holdsSome = (docno: number): boolean =>
    (board.masks[docno] as number) !== 0 || holdsBigrams(docno)
  const wantsAll = query.match === 'all' || (query.match === 'auto' && plan.groups <= autoWordsMax)

  if (wantsAll) {
    const answer = collect(board, query, options, both(holdsAll, accept))
    if (answer.total > 0 || query.match === 'all')
      return finish(board, query, plan, answer, answer.total > 0 ? 'all' : 'none', holdsBigrams)
  }
  let answer = collect(board, query, options, both(holdsSome, accept))
  // The floor: no word of the query is anywhere, but pieces of it are.
  if (answer.total === 0 && bigrams > 0)
    answer = collect(board, query, options, accept ?? (() => true))
  return finish(board, query, plan, answer, answer.total > 0 ? 'any' : 'none', holdsBigrams)
}

const both = (
  first: (docno: number) => boolean,
  second: ((docno: number) => boolean) | undefined,
): ((docno: number) => boolean) =>
  second === undefined ? first : (docno) => first(docno) && second(docno)

type CollectOptions = {
  limit: number
  deadlineMs: number
  standings: Uint8Array
  fresh: ((docno: number) => number) | null
}
type Collected = { entries: { key: number; docno: number }[]; total: number }

function collect(
  board: Board,
  query: IndexQuery,
  { limit, deadlineMs, standings, fresh }: CollectOptions,
  accept: (docno: number) => boolean,
): Collected {
  const top = createTopList(limit)
  const required = query.required.length
  let total = 0
  for (let i = 0; i < board.touchedCount; i += 1) {
    if (i % documentsUnwatched === 0) refuseLate(deadlineMs)
    const docno = board.touched[i] as number
    const score = board.scores[docno] as number
    if (score === excluded || board.required[docno] !== required || !accept(docno)) continue
    total += 1
    const standing = standings[docno] ?? 0
    const isPlain = standing === 0 && fresh === null
    top.offer(isPlain ? score : withStanding(score, standing, fresh?.(docno) ?? 0), docno)
  }
  return { entries: top.take(), total }
}

function finish(
  board: Board,
  query: IndexQuery,
  plan: Plan,
  { entries, total }: Collected,
  matched: IndexAnswer['matched'],
  holdsBigrams: (docno: number) => boolean,
): IndexAnswer {
  const hits = entries.map(({ key, docno }): IndexHit => {
    const mask = board.masks[docno] as number
    const held = holdsBigrams(docno) ? (mask | plan.han) >>> 0 : mask
    const missing = query.words.filter((_, i) => {
      const bit = plan.bits[i] as number
      return bit !== 0 && (held & bit) === 0
    })
    return { docno, score: key, missing: missing.map(({ term }) => term) }
  })
  return { hits, total, matched }
}
