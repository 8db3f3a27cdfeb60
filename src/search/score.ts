/** BM25F: which terms of a query rank by how much, and the documents that are worth most. The order is exact. Knows no text and no filter of its own. */
import assert from 'node:assert'
import { TITLE_PREFIX } from '../text/title-key.ts'
import { BIGRAM_PREFIX } from '../text/tokenize.ts'
import type { ScoreTable } from './blocks.ts'
import { type Counts, createCounts } from './counts.ts'
import type { Part } from './cursors.ts'
import { frequencies, lengths as lengthOfCode } from './codes.ts'
import type { IndexAnswer, IndexHit, IndexQuery, TermScore } from './index.ts'
import {
  eachLinked,
  lengthNorm,
  linkFrequency,
  linkGain,
  linkNorm,
  saturated,
} from './link-score.ts'
import type { LinkSnapshot } from './link-snapshot.ts'
import { linksOfQuant } from './link-terms.ts'
import type { PostingList } from './posting-list.ts'
import { createPostingReads, noPostings, refuseLate } from './posting-reads.ts'
import { autoWordsMax, ranking } from './ranking.ts'
import type { Snapshot } from './snapshot.ts'
import { createHolders, type Holders } from './term-holders.ts'
import { createTopList } from './top.ts'
import { createTally, type Demand, scoreSegment, type Tally } from './windows.ts'

/** One bit a word in the mask of a document. */
export const queryWordsMax = 32
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
    countMin?: number,
  ): IndexAnswer
  /** As `IndexReader.explain`. */
  explain(query: IndexQuery, docnos: readonly number[]): Map<number, TermScore[]>
  /** Living documents that hold the term. */
  frequency(term: string): number
  readonly counts: Counts
  /** All postings of a term, the dead included; overwritten by the next call of anything here. */
  postings(term: string, deadlineMs: number): Readonly<PostingList>
  /** Documents that have the pair, likewise. */
  pairHolders(pair: number, deadlineMs: number): Readonly<PostingList>
}

/** Which bits of the masks are taken by which words. */
type Plan = { bits: readonly number[]; all: number; latin: number; han: number; groups: number }

export function createScorer(snapshot: Snapshot, linked: LinkSnapshot): Scorer {
  const tableOf = createTables(snapshot)
  const reads = createPostingReads(snapshot, linked)
  const { read, readLinks, readPair, holdersOf } = reads
  const holders = createHolders(snapshot, reads)
  const forever = Number.POSITIVE_INFINITY

  return {
    search(query, limit, deadlineMs, accept, fresh = null, countMin = forever) {
      const plan = planWords(query)
      const watch = (): void => refuseLate(deadlineMs)
      const holdersOfTerm = (term: string, isWord: boolean): Holders =>
        holders(term, isWord, tableOf(term), deadlineMs)
      const terms = termsOf(query, plan, holdersOfTerm, tableOf, snapshot)
      const standings = linked.standings()
      const run = (kind: Demand['kind']): Found => {
        const top = createTopList(limit)
        const tally = createTally()
        const demand = demandOf(kind, query, plan)
        const window = { accept, demand, top, standings, fresh, countMin, watch }
        snapshot.views().forEach((view, i) => {
          const parts = terms.map((term) => ({ ...term, blocks: term.blocks[i] ?? [] }))
          scoreSegment(parts, snapshot.codes(), view, window, tally)
        })
        return { entries: top.take(), tally }
      }
      return select(query, plan, run)
    },
    explain(query, docnos) {
      const explained = new Map(docnos.map((docno): [number, TermScore[]] => [docno, []]))
      for (const [i, scored] of scoredTerms(query).entries()) {
        const postings = read(scored.term, forever)
        const named = i < query.words.length ? readLinks(scored.term, forever) : noPostings
        const living = holdersOf(postings, named)
        explainTerm(explained, scored, postings, living, snapshot, tableOf(scored.term))
        explainLinks(explained, scored, { postings, named }, living, snapshot)
      }
      return explained
    },
    frequency: (term) => holders(term, false, null, forever).living,
    counts: createCounts(snapshot),
    postings: read,
    pairHolders: readPair,
  }
}

/** A term in all segments, in their order. */
type Term = Omit<Part, 'blocks'> & Pick<Holders, 'blocks'>

/** All that the query asks for, those that rank in the order in which scores are added up. */
function termsOf(
  query: IndexQuery,
  plan: Plan,
  holders: (term: string, isWord: boolean) => Holders,
  tables: (term: string) => ScoreTable,
  snapshot: Snapshot,
): Term[] {
  const pairsEnd = query.words.length + query.bigrams.length
  const of = (term: string, role: Part['role'], weight: number, bit: number): Term => {
    const { blocks, links, living } = holders(term, role === 'word')
    const idf = inverseFrequency(snapshot.documents(), living)
    const how = { meanLength: snapshot.meanLength(), isHan: isHanTerm(term) }
    return { role, blocks, links, how, weight: weight * idf, bit, table: tables(term) }
  }
  return [
    ...scoredTerms(query).map(({ term, weight }, i) => {
      const role = i < query.words.length ? 'word' : i < pairsEnd ? 'pair' : 'boost'
      return of(term, role, weight, plan.bits[i] ?? 0)
    }),
    ...query.required.map((term) => of(term, 'required', 0, 0)),
    ...query.without.map((term) => of(term, 'without', 0, 0)),
  ]
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
  table: ScoreTable,
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
  return (term: string): ScoreTable => {
    if (version !== snapshot.version()) fill()
    version = snapshot.version()
    return isHanTerm(term) ? han : latin
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

const demandOf = (kind: Demand['kind'], query: IndexQuery, plan: Plan): Demand => ({
  kind,
  latin: plan.latin,
  han: plan.han,
  pairs: query.bigrams.length,
  required: query.required.length,
  hasWithout: query.without.length > 0,
})

type Found = { entries: { key: number; docno: number }[]; tally: Tally }

function select(query: IndexQuery, plan: Plan, run: (kind: Demand['kind']) => Found): IndexAnswer {
  const wantsAll = query.match === 'all' || (query.match === 'auto' && plan.groups <= autoWordsMax)
  if (wantsAll) {
    const found = run('all')
    const isSome = found.tally.total > 0
    if (isSome || query.match === 'all') return finish(query, plan, found, isSome ? 'all' : 'none')
  }
  let found = run('some')
  // The floor: no word of the query is anywhere, but pieces of it are.
  if (found.tally.total === 0 && query.bigrams.length > 0) found = run('any')
  return finish(query, plan, found, found.tally.total > 0 ? 'any' : 'none')
}

function finish(
  query: IndexQuery,
  plan: Plan,
  { entries, tally }: Found,
  matched: IndexAnswer['matched'],
): IndexAnswer {
  const hits = entries.map(({ key, docno }): IndexHit => {
    const held = tally.masks.get(docno) ?? 0
    const missing = query.words.filter((_, i) => {
      const bit = plan.bits[i] as number
      return bit !== 0 && (held & bit) === 0
    })
    return { docno, score: key, missing: missing.map(({ term }) => term) }
  })
  return { hits, total: tally.total, isCounted: tally.isCounted, matched }
}
