/** Documents as the index of link texts has them: what links call a page, and in place of a length what its address and its links say of it. Pure. */
import { siteOwner, splitUrl } from '../lib/url.ts'
import type { InboundLink, LinkedDocument } from '../store/inbound.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { IndexedDocument } from './index.ts'
import { lengths } from './codes.ts'

/** A text that one site gives to more pages tells none of them from the others. */
export const pagesOfTextMax = 4

/** How a term stands in the links to a page: whether its own site uses it, and how many other sites do. */
export type LinkedTerm = { isOwn: boolean; sites: number }

/* A posting: bit 0 = its own site uses the term, above it how many others do; no more than these are kept. */
const sitesMax = 31

export const quantOfLinks = ({ isOwn, sites }: LinkedTerm): number =>
  (isOwn ? 1 : 0) + 2 * Math.min(sitesMax, sites)

export const linksOfQuant = (quant: number): LinkedTerm => ({
  isOwn: (quant & 1) === 1,
  sites: quant >> 1,
})

/** What is known of a page without a query: other sites that link to it, and how deep its address lies. */
export type Standing = { sites: number; depth: number }

const depthMax = 7
const sitesKept = 16

/** 1..136: 0 is kept for "no such document". */
export const codeOfStanding = ({ sites, depth }: Standing): number =>
  1 + Math.min(sitesKept, sites) * (depthMax + 1) + Math.min(depthMax, depth)

/** @param code not 0 */
export const standingOfCode = (code: number): Standing => ({
  sites: Math.floor((code - 1) / (depthMax + 1)),
  depth: (code - 1) % (depthMax + 1),
})

/** Parts of the path; a file that stands for its folder is none, a query is one. */
export function depthOfUrl(url: string): number {
  const { path } = splitUrl(url)
  const [folders = '', query] = path.split('?', 2)
  const parts = folders.split('/').filter((part) => part !== '' && !folderPage.test(part))
  return parts.length + (query === undefined ? 0 : 1)
}

const folderPage = /^(?:index|default|home)(?:\.[a-z-]{2,8}){0,2}$/i

export type LinkTools = {
  analyzer: Pick<Analyzer, 'eachTerm'>
  /** Who answers for a host, by its row. */
  ownerOf: (host: number) => string
  /** Whether that site gives the text to too many pages. */
  isOverused: (owner: string, text: string) => boolean
}

const noPairs = new Uint32Array()

/** `length` stands for the code of the page's standing. */
export function linkedTerms(document: LinkedDocument, tools: LinkTools): IndexedDocument {
  const { docno, url, links } = document
  const owner = siteOwner(url)
  const found = new Map<string, LinkedTerm>()
  const others = new Set<string>()
  for (const link of links) {
    const by = tools.ownerOf(link.host)
    if (by !== owner) others.add(by)
    if (link.text !== '' && !tools.isOverused(by, link.text))
      count(found, link, by === owner, tools.analyzer)
  }
  const code = codeOfStanding({ sites: others.size, depth: depthOfUrl(url) })
  return {
    docno,
    terms: [...found.keys()],
    quants: Uint8Array.from(found.values(), quantOfLinks),
    length: lengths[code] as number,
    pairs: noPairs,
  }
}

/** One link of a site: another site is stored with one text, so it counts once. */
function count(
  found: Map<string, LinkedTerm>,
  { text }: InboundLink,
  isOwn: boolean,
  analyzer: LinkTools['analyzer'],
): void {
  const terms = new Set<string>()
  analyzer.eachTerm(text, { term: (term) => void terms.add(term) })
  for (const term of terms) {
    const known = found.get(term)
    if (known === undefined) found.set(term, { isOwn, sites: isOwn ? 0 : 1 })
    else if (isOwn) known.isOwn = true
    else known.sites += 1
  }
}
