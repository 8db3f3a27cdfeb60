/** What the pages of a batch call other pages: gathered in memory, written once a batch, and only where it is news. Nearly all of it is not. */
import { hashKey } from '../lib/hash.ts'
import { siteOwner, splitUrl } from '../lib/url.ts'
import type { Hosts } from '../store/hosts.ts'
import { addLinks, type Inbound, type SaidLink } from '../store/inbound.ts'
import type { FoundUrl } from './frontier.ts'
import type { Visited } from './visit.ts'

export type InboundStore = Pick<Inbound, 'linkTarget' | 'putLinks'> &
  Pick<Hosts, 'hostId' | 'originOfHost'>

export type InboundLinks = {
  /** The links of one visit, judged by the scopes, with the settlement as it was written. */
  note(visited: Visited, found: readonly FoundUrl[]): void
  /** After the frontier has queued them, in the same transaction. @returns how many URLs are called something new */
  save(): number
  /** What was noted did not happen. */
  rolledBack(): void
}

/** Links that were written lately, by a tag of 32 bits in the slot of another hash: 256 KB. */
const recentSlots = 2 ** 16
/** A text that its host has put on so many pages lately is part of its layout. The counts are halved after as many uses as there are. */
const usesMax = 16
const useSlots = 2 ** 16
const hostsMax = 10_000

export function createInboundLinks(store: InboundStore): InboundLinks {
  const recent = new Uint32Array(recentSlots)
  const isOverused = createUses()
  const hosts = createHosts(store)
  let batch = new Map<string, { origin: string; text: string; isAgain: boolean }[]>()
  let moves: { from: string; to: string }[] = []

  const isRecent = (url: string, text: string, salt: number): boolean => {
    const [slot, tag] = hashKey(text, hashKey(url, salt)[0])
    const at = slot & (recentSlots - 1)
    if (recent[at] === tag) return true
    recent[at] = tag
    return false
  }

  /** @returns whether that was news */
  const add = (url: string, more: readonly SaidLink[]): boolean => {
    const named = store.linkTarget(url)
    const to = named?.movedTo ?? null
    const target = to === null ? named : store.linkTarget(to)
    if (target === null) return false
    const owner = hosts.ownerOf(splitUrl(to ?? url).origin)
    const links = addLinks(target.links, more, hosts.ownerOfRow, owner)
    if (links !== null) store.putLinks(target.urlId, links)
    return links !== null
  }

  const forget = (): void => {
    batch = new Map()
    moves = []
  }

  return {
    note({ lease, page, settlement }, found) {
      if (settlement.kind === 'redirect') moves.push({ from: lease.url, to: settlement.to })
      if (page === null) return
      const { origin } = lease
      const owner = hosts.ownerOf(origin)
      const salt = hashKey(owner)[0]
      const within = `${origin}/`
      const isAgain =
        settlement.kind === 'stored' && lease.history.some(({ outcome }) => outcome === 'stored')
      for (const { url, text = '' } of found) {
        const isOwn = url.startsWith(within) || hosts.ownerOf(splitUrl(url).origin) === owner
        // A step within the site is no news of any kind.
        if (text === '' && isOwn) continue
        if (isRecent(url, text, salt) || (isOwn && isOverused(text, salt))) continue
        const links = batch.get(url)
        if (links) links.push({ origin, text, isAgain })
        else batch.set(url, [{ origin, text, isAgain }])
      }
    },
    save() {
      let changed = 0
      for (const { from, to } of moves) {
        const links = store.linkTarget(from)?.links ?? []
        if (links.length > 0 && add(to, links)) changed++
      }
      for (const [url, links] of batch) {
        const more = links.map(({ origin, ...said }) => ({ ...said, host: hosts.idOf(origin) }))
        if (add(url, more)) changed++
      }
      forget()
      return changed
    },
    rolledBack() {
      forget()
      hosts.forget()
      recent.fill(0)
    },
  }
}

/** Whether a text was put on too many pages lately, this time included. */
function createUses(): (text: string, salt: number) => boolean {
  const uses = new Uint8Array(useSlots)
  let noted = 0
  return (text, salt) => {
    if (++noted > useSlots) {
      noted = 0
      for (let i = 0; i < useSlots; i++) uses[i] = (uses[i] as number) >> 1
    }
    const at = hashKey(text, salt)[1] & (useSlots - 1)
    const count = Math.min(255, (uses[at] as number) + 1)
    uses[at] = count
    return count > usesMax
  }
}

/** Who answers for which host, by origin and by row. */
function createHosts(store: Pick<InboundStore, 'hostId' | 'originOfHost'>) {
  const owners = new Map<string, string>()
  const ids = new Map<string, number>()
  const rows = new Map<number, string>()
  const ownerOf = (origin: string): string => {
    let owner = owners.get(origin)
    if (owner === undefined) {
      if (owners.size >= hostsMax) owners.clear()
      owner = siteOwner(`${origin}/`)
      owners.set(origin, owner)
    }
    return owner
  }
  return {
    ownerOf,
    ownerOfRow: (id: number): string => {
      let owner = rows.get(id)
      if (owner === undefined) {
        if (rows.size >= hostsMax) rows.clear()
        owner = ownerOf(store.originOfHost(id) ?? '')
        rows.set(id, owner)
      }
      return owner
    },
    idOf(origin: string): number {
      const id = ids.get(origin) ?? store.hostId(origin)
      if (ids.size >= hostsMax) ids.clear()
      ids.set(origin, id)
      return id
    },
    /** Rows of a transaction that was rolled back are none. */
    forget(): void {
      ids.clear()
      rows.clear()
    },
  }
}
