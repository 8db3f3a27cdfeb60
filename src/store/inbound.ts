/** What pages call the URLs that they link to: one small record a URL. Stores and reads it; who may say what is decided by `addLinks`, pure. */
import { splitUrl } from '../lib/url.ts'
import type { Db } from '../lib/sqlite.ts'
import type { Meta } from './meta.ts'

/** `host`: the row of the linking page's host. `text`: what the link says, '' where that tells nothing. */
export type InboundLink = { host: number; text: string }

/** `isAgain`: by a page that was read before and has changed since, so that it may be a new name. */
export type SaidLink = InboundLink & { isAgain?: boolean }

/** A document with the links to it. */
export type LinkedDocument = { docno: number; url: string; links: readonly InboundLink[] }

export type LinkTarget = { urlId: number; links: readonly InboundLink[]; movedTo: string | null }

export type Inbound = {
  /** @param url canonical. `movedTo`: it was a redirect when it was last asked for; null where there is no such row */
  linkTarget(url: string): LinkTarget | null
  linksTo(urlId: number): InboundLink[]
  /** In a transaction. */
  putLinks(urlId: number, links: readonly InboundLink[]): void
  /** Counts them; `Store.transaction` calls it before the commit. */
  saveLinkChanges(): void
  /** Documents with postings of their own in docno order, those without links to them as well. */
  linkedDocumentsAfter(docno: number, limit: number): LinkedDocument[]
  /** Keyset pages over all records. Begin with 0. */
  linkRecordsAfter(
    urlId: number,
    limit: number,
  ): { urlId: number; url: string; links: InboundLink[] }[]
}

/** Texts of its own site that a URL keeps, and other sites, of each of which one text is kept. */
export const ownTextsMax = 4
export const linkingSitesMax = 16

/**
 * The links with some more. What a site said once it need not say again: of its own site a few texts are kept, the first; of any other
 * one text, the first that tells something. So one site counts once, however many pages and hosts it has. What changed pages say takes the
 * place of the last text where there is no other: names change, and nobody tells when the last page has given up an old one.
 * @param ownerOf who answers for a host, by its row @param owner who answers for the target
 * @returns null where nothing is new
 */
export function addLinks(
  links: readonly InboundLink[],
  more: readonly SaidLink[],
  ownerOf: (host: number) => string,
  owner: string,
): InboundLink[] | null {
  let added: InboundLink[] | null = null
  for (const { isAgain = false, ...link } of more) {
    const known: readonly InboundLink[] = added ?? links
    const by = ownerOf(link.host)
    const ofSite = known.filter(({ host }) => ownerOf(host) === by)
    if (by === owner) {
      const folded = link.text.toLowerCase()
      const isNew = folded !== '' && ofSite.every(({ text }) => text.toLowerCase() !== folded)
      if (isNew && ofSite.length < ownTextsMax) added = [...known, link]
      else if (isNew && isAgain) added = [...known.filter((one) => one !== ofSite.at(-1)), link]
      continue
    }
    const [before] = ofSite
    if (before === undefined) {
      const sites = known.filter(({ host }) => ownerOf(host) !== owner).length
      if (sites < linkingSitesMax) added = [...known, link]
    } else if (link.text !== '' && (before.text === '' || (isAgain && before.text !== link.text)))
      added = known.map((one) => (one === before ? link : one))
  }
  return added
}

const linesOf = (links: readonly InboundLink[]): string =>
  links.map(({ host, text }) => `${host} ${text}`).join('\n')

export const linksOf = (lines: string): InboundLink[] =>
  lines.split('\n').map((line) => {
    const blank = line.indexOf(' ')
    return { host: Number(line.slice(0, blank)), text: line.slice(blank + 1) }
  })

const linksOrNone = (lines: string | null): InboundLink[] => (lines === null ? [] : linksOf(lines))

export function createInbound(db: Db, meta: Meta): Inbound {
  let changes = 0
  const target = db.prepare<{
    urlId: number
    outcome: string | null
    reason: string | null
    links: string | null
  }>(
    `SELECT u.id AS urlId, u.outcome, u.reason, i.links
     FROM host h JOIN url u ON u.host = h.id LEFT JOIN inbound i ON i.url_id = u.id WHERE h.origin = ? AND u.path = ?`,
  )
  const one = db.prepare<{ links: string }>('SELECT links FROM inbound WHERE url_id = ?')
  const put = db.prepare('INSERT OR REPLACE INTO inbound(url_id, links) VALUES(?, ?)')
  const documents = db.prepare<{ docno: number; url: string; links: string | null }>(
    `SELECT d.docno, h.origin || u.path AS url, i.links
     FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host LEFT JOIN inbound i ON i.url_id = d.url_id
     WHERE d.docno > ? AND d.copy_of IS NULL ORDER BY d.docno LIMIT ?`,
  )
  const records = db.prepare<{ urlId: number; url: string; links: string }>(
    `SELECT i.url_id AS urlId, h.origin || u.path AS url, i.links
     FROM inbound i JOIN url u ON u.id = i.url_id JOIN host h ON h.id = u.host
     WHERE i.url_id > ? ORDER BY i.url_id LIMIT ?`,
  )
  return {
    linkTarget(url) {
      const { origin, path } = splitUrl(url)
      const row = target.get(origin, path)
      if (row === undefined) return null
      const { urlId, outcome, reason, links } = row
      const movedTo = outcome === 'redirect' ? reason : null
      return { urlId, links: linksOrNone(links), movedTo }
    },
    linksTo: (urlId) => linksOrNone(one.value(urlId) ?? null),
    putLinks(urlId, links) {
      put.run(urlId, linesOf(links))
      changes++
    },
    saveLinkChanges() {
      if (changes > 0) meta.set('links_changed', Number(meta.get('links_changed') ?? 0) + changes)
      changes = 0
    },
    linkedDocumentsAfter: (docno, limit) =>
      documents.all(docno, limit).map((row) => ({ ...row, links: linksOrNone(row.links) })),
    linkRecordsAfter: (urlId, limit) =>
      records.all(urlId, limit).map((row) => ({ ...row, links: linksOf(row.links) })),
  }
}
