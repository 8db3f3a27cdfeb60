/** What link texts and the standing of a page add to its score. Both are bounded: whatever is said of a page elsewhere, its own words come first. Pure. */
import { linksOfQuant, standingOfCode } from './link-terms.ts'
import { frequencies, lengths as lengthOfCode } from './codes.ts'
import type { PostingList } from './posting-list.ts'
import { ranking } from './ranking.ts'

/** f (k1 + 1) / (f + k1 norm), norm = 0.3 + 0.7 length / mean length. */
export const saturated = (frequency: number, norm: number, isHan: boolean): number => {
  const k1 = isHan ? ranking.k1Han : ranking.k1Latin
  return (frequency * (k1 + 1)) / (frequency + k1 * norm)
}
export const lengthNorm = (length: number, meanLength: number): number =>
  1 - ranking.lengthShare + (ranking.lengthShare * length) / meanLength

/** What a term in links counts as, in occurrences in the text: other sites by the logarithm of their number, and never more than a few. */
const linkFrequencies = Float64Array.from({ length: 64 }, (_, quant) => {
  const { isOwn, sites } = linksOfQuant(quant)
  const others = Math.min(ranking.otherLinksMax, ranking.otherLinksWeight * Math.log2(1 + sites))
  return (isOwn ? ranking.ownLinksWeight : 0) + others
})
export const linkFrequency = (quant: number): number => linkFrequencies[quant] as number

export type LinkNorm = { meanLength: number; isHan: boolean }

/** The length norm for links: that a page is short says nothing of what others call it. `quant` as below. */
export function linkNorm(quant: number, code: number, meanLength: number): number {
  const norm = lengthNorm(lengthOfCode[code] as number, meanLength)
  return quant < 0 ? Math.max(1, norm) : norm
}

/**
 * What links add to the quotient of BM25F of a term: their occurrences come on top of those of the page.
 * @param quant of the term in the page, -1 where the page does not have it
 * @param code of the length of the page
 */
export function linkGain(
  quant: number,
  code: number,
  linkQuant: number,
  { meanLength, isHan }: LinkNorm,
): number {
  const norm = linkNorm(quant, code, meanLength)
  const extra = linkFrequencies[linkQuant] as number
  if (quant < 0) return saturated(extra, norm, isHan)
  const frequency = frequencies[quant] as number
  return saturated(frequency + extra, norm, isHan) - saturated(frequency, norm, isHan)
}

/** Calls `see` with the living documents of `links` and the place of each in `pages`, -1 where it is not there. Both ascend. */
export function eachLinked(
  links: Readonly<PostingList>,
  pages: Readonly<PostingList>,
  codes: Uint8Array,
  see: (docno: number, linkQuant: number, at: number) => void,
): void {
  let at = 0
  for (let i = 0; i < links.count; i += 1) {
    const docno = links.docnos[i] as number
    if (!((codes[docno] as number) > 0)) continue
    at = firstFrom(pages, at, docno)
    const isThere = at < pages.count && pages.docnos[at] === docno
    see(docno, links.quants[i] as number, isThere ? at : -1)
  }
}

/** The first place from `at` on that is not before `docno`: in leaps that double, then by halves. */
export function firstFrom(
  { docnos, count }: Readonly<PostingList>,
  at: number,
  docno: number,
): number {
  let low = at
  let leap = 1
  while (low + leap < count && (docnos[low + leap] as number) < docno) {
    low += leap
    leap *= 2
  }
  let high = Math.min(count, low + leap)
  while (low < high) {
    const middle = (low + high) >> 1
    if ((docnos[middle] as number) < docno) low = middle + 1
    else high = middle
  }
  return low
}

/** Shares of its score that a page gets for its standing: for links of other sites, and for an address near the root. */
export const standingShares = (code: number): { links: number; depth: number } => {
  if (code === 0) return { links: 0, depth: 0 }
  const { sites, depth } = standingOfCode(code)
  return {
    links: ranking.linksShare * Math.min(1, Math.log2(1 + sites) / Math.log2(1 + sitesEnough)),
    depth: ranking.depthShare / (1 + depth),
  }
}
/** More other sites than this give no more. */
const sitesEnough = 15

const linkShares = Float64Array.from({ length: 256 }, (_, code) => standingShares(code).links)
const depthShares = Float64Array.from({ length: 256 }, (_, code) => standingShares(code).depth)

/** The share for a page of that age, in whole days so that pages of results agree. */
export const freshShareOf = (days: number): number =>
  ranking.freshShare / (1 + Math.max(0, days) / ranking.freshDays)

/** The score with what its standing adds, in this order, so that an explanation can add it up alike. */
export const withStanding = (score: number, code: number, fresh: number): number =>
  score +
  (score * (linkShares[code] as number) + score * (depthShares[code] as number) + score * fresh)
