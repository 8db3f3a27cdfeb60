/** Groups of copies: where a page belongs by its fingerprint. The rows are the truth, the tables in memory only find candidates. */
import assert from 'node:assert'
import { hammingDistance, type SimHashEntry, SimHashTables } from '../lib/simhash.ts'
import type { Db } from '../lib/sqlite.ts'
import { type Fingerprint, textSimilarity } from '../text/fingerprint.ts'
import {
  type IndexedRow,
  openRows,
  packFingerprint,
  roles,
  type Row,
  type Rows,
  unpackAnchors,
  unpackSim,
} from './duplicate-rows.ts'
import {
  likeness,
  similarityAround,
  similarityKept,
  similaritySame,
  similarityWitness,
  tokensTiny,
} from './duplicate-rules.ts'

export type DuplicateLimits = {
  /** Entries in memory, about 90 bytes each. Pages beyond it are compared by digest only. */
  entriesMax: number
  /** Bits of the SimHash up to which pages are looked at as copies; those that share rare phrases are in any case. */
  radius?: number
}

export type PlacedPage = {
  urlId: number
  hostId: number
  fingerprint: Fingerprint
  /** When it was read; left out: it stays as old as it was. */
  atMs?: number
  /**
   * The page of its host that this one names as the canonical one. It joins that one's group where it is at least around its centre: a
   * name alone, which templates give to pages of all kinds, makes no copy.
   */
  canonicalUrlId?: number | null
}

export type Placement = {
  /** unique: alone, or the centre that its copies gather around. */
  kind: 'unique' | 'exact' | 'near'
  /** Equal exactly for the pages of one group; never 0, negative where the founder's number is taken. Kept while the group lives. */
  group: number
  /** exact: the page with the same text that has the postings. near: the centre of the group. */
  original: number | null
  /** To the original: 0..1, and bits of the SimHash. */
  similarity: number
  distance: number
  /** The page had this very text before: nothing was written. */
  sameAsBefore: boolean
  /** Url id of the exact copy that took over this page's former text and must have its own postings from now on. */
  promoted: number | null
}

/** Similarity and distance are those to the centre. */
export type GroupMember = {
  urlId: number
  role: 'centre' | 'near' | 'exact'
  similarity: number
  distance: number
}

export type DuplicateStats = {
  entries: number
  bytes: number
  /** Lookups that a flooded bucket cut off, and pages left out because `entriesMax` was reached, since the start. */
  cutBuckets: number
  refusedEntries: number
  /** Pages proposed by the tables, and comparisons made. */
  candidates: number
  verifications: number
}

export interface Duplicates {
  /** Enters a page, or moves it when its text has changed. Within the caller's transaction. */
  place(page: PlacedPage): Placement
  /** Forgets a page. Answers the exact copy that must have its own postings now, or null. Within the caller's transaction. */
  remove(urlId: number): number | null
  /** After a rollback: what is in memory no longer fits the rows. */
  rolledBack(): void
  /** Drops the tables, which take 90 bytes a page: the next `place` makes them again. */
  forget(): void
  /** Reads up to `rowsMax` rows into the tables; true when all are in. `place` does what is left. For loading in slices. */
  load(rowsMax: number): boolean
  /** The pages of its group, centre first, then the most similar; empty for an unknown page. */
  group(urlId: number, limit?: number): GroupMember[]
  stats(): DuplicateStats
}

/** Below 2 GB of memory this many entries are what fits. */
const entriesMaxDefault = 2_000_000
const witnessesMax = 8
/** Of each of the two sources of candidates. */
const verificationsMax = 16
const membersShown = 1_000
const rowsALoad = 10_000
/** Some 20 ms. */
const rowsASlice = 2_000

export const openDuplicates = (db: Db, limits: Partial<DuplicateLimits> = {}): Duplicates =>
  new DuplicateGroups(db, { entriesMax: entriesMaxDefault, ...limits })

/** Reads the tables a slice a turn of the loop: whoever places a page meanwhile reads what is left at once. */
export function loadInSlices(tables: Pick<Duplicates, 'load'>): void {
  if (!tables.load(rowsASlice)) setImmediate(() => loadInSlices(tables))
}

type Loading = { tables: SimHashTables; lastUrlId: number }

class DuplicateGroups implements Duplicates {
  readonly #db: Db
  readonly #rows: Rows
  readonly #limits: DuplicateLimits
  #ready: SimHashTables | null = null
  #loading: Loading | null = null
  /** Holders that left their group and wait to be placed anew. */
  #displaced: number[] = []
  readonly #counts = { cutBuckets: 0, refusedEntries: 0, candidates: 0, verifications: 0 }

  constructor(db: Db, limits: DuplicateLimits) {
    this.#db = db
    this.#rows = openRows(db)
    this.#limits = limits
  }

  place(page: PlacedPage): Placement {
    this.#begin()
    const { urlId, hostId } = page
    const packed = packFingerprint(page.fingerprint)
    const before = this.#rows.byUrl(urlId)
    if (before !== undefined && areEqual(before.digest, packed.digest))
      return this.#placementOf(before, true, null)
    // A page that is edited has its text since before; one that takes another text has it since now.
    const isEdited = before !== undefined && likeness(before, packed, similarityKept) > 0
    const sinceMs = (isEdited ? undefined : page.atMs) ?? before?.sinceMs ?? 0
    const promoted = before === undefined ? null : this.#drop(before)
    this.#settleDisplaced()
    const twin = packed.tokens === 0 ? undefined : this.#rows.holder(packed.digest)
    if (twin !== undefined) {
      const { groupId, similarity, distance } = twin
      const role = roles.exact
      this.#rows.insert({ urlId, hostId, ...packed, groupId, role, similarity, distance, sinceMs })
    } else {
      const groupId = this.#freeGroup(before?.groupId ?? urlId, urlId)
      const row: Row = { urlId, hostId, ...packed, groupId, ...alone, sinceMs }
      this.#rows.insert(row)
      this.#attach(row, before?.groupId ?? null, page.canonicalUrlId ?? null)
    }
    this.#settleDisplaced()
    const now = this.#rows.byUrl(urlId)
    assert(now !== undefined)
    return this.#placementOf(now, false, promoted)
  }

  remove(urlId: number): number | null {
    this.#begin()
    const row = this.#rows.byUrl(urlId)
    if (row === undefined) return null
    const promoted = this.#drop(row)
    this.#settleDisplaced()
    return promoted
  }

  rolledBack(): void {
    this.forget()
    this.#displaced = []
  }

  forget(): void {
    this.#counts.cutBuckets += this.#ready?.cutBuckets ?? 0
    this.#ready = null
    this.#loading = null
  }

  load(rowsMax: number): boolean {
    if (this.#ready !== null) return true
    // Room for a quarter more, so that the first pages of a crawl do not copy the columns at once.
    const expected = (): number =>
      Math.min(this.#limits.entriesMax, Math.ceil(this.#rows.count() * 1.25))
    this.#loading ??= { tables: new SimHashTables(expected(), this.#limits.radius), lastUrlId: -1 }
    const { tables, lastUrlId } = this.#loading
    const rows = this.#rows.indexed(lastUrlId, tokensTiny, rowsMax)
    for (const row of rows) this.#addTo(tables, row)
    this.#loading.lastUrlId = rows.at(-1)?.urlId ?? lastUrlId
    if (rows.length === rowsMax) return false
    this.#ready = tables
    this.#loading = null
    return true
  }

  group(urlId: number, limit = membersShown): GroupMember[] {
    const row = this.#rows.byUrl(urlId)
    if (row === undefined) return []
    return this.#rows.members(row.groupId, limit).map(({ role, ...member }) => ({
      ...member,
      role: role === roles.centre ? 'centre' : role === roles.exact ? 'exact' : 'near',
    }))
  }

  stats(): DuplicateStats {
    const { size: entries = 0, bytes = 0, cutBuckets = 0 } = this.#ready ?? {}
    const counts = this.#counts
    return { ...counts, entries, bytes, cutBuckets: counts.cutBuckets + cutBuckets }
  }

  /** The tables are read before a row is written: between the two they would not agree. */
  #begin(): void {
    assert(this.#db.inTransaction, 'rows are written in a transaction of the caller')
    if (this.#ready?.shouldRebuild === true) this.forget()
    while (!this.load(rowsALoad));
  }

  get #tables(): SimHashTables {
    assert(this.#ready !== null)
    return this.#ready
  }

  #index(row: Row): void {
    if (row.tokens >= tokensTiny) this.#addTo(this.#tables, row)
  }

  #addTo(tables: SimHashTables, row: IndexedRow): void {
    if (tables.size >= this.#limits.entriesMax) this.#counts.refusedEntries += 1
    else tables.add({ id: row.urlId, host: row.hostId, ...entryOf(row) })
  }

  #unindex(row: Row): void {
    if (row.role <= roles.witness) this.#tables.remove(row.urlId)
  }

  #placementOf(row: Row, sameAsBefore: boolean, promoted: number | null): Placement {
    const common = { group: row.groupId, sameAsBefore, promoted }
    if (row.role === roles.centre)
      return { kind: 'unique', original: null, similarity: 1, distance: 0, ...common }
    if (row.role === roles.exact) {
      const original = this.#rows.holder(row.digest)?.urlId ?? null
      return { kind: 'exact', original, similarity: 1, distance: 0, ...common }
    }
    const original = this.#rows.centre(row.groupId)?.urlId ?? null
    const { similarity, distance } = row
    return { kind: 'near', original, similarity, distance, ...common }
  }

  /** `wanted` where no group has it, else the page's own number, else one that no URL has. */
  #freeGroup(wanted: number, urlId: number): number {
    if (!this.#rows.isTaken(wanted)) return wanted
    if (!this.#rows.isTaken(urlId)) return urlId
    return Math.min(0, this.#rows.leastGroup()) - 1
  }

  /** Lets a holder that is alone in its group join the best group, or stay and be found by others. */
  #attach(row: Row, groupBefore: number | null, canonicalUrlId: number | null = null): void {
    const isTiny = row.tokens < tokensTiny
    const [best, ...others] = isTiny ? [] : this.#nearest(row, groupBefore, canonicalUrlId)
    if (best === undefined) {
      this.#index(row)
      return
    }
    const role = this.#isUnlikeWitnesses(best.centre.groupId, row) ? roles.witness : roles.near
    joinTo(row, best.centre, role, best.similarity)
    this.#rows.move(row)
    if (role === roles.witness) this.#index(row)
    let group = best.centre.groupId
    for (const { centre } of others) group = this.#merge(group, centre.groupId)
  }

  /** Groups that the page may join, best first: like a centre or witness, and around the centre. */
  #nearest(
    row: Row,
    groupBefore: number | null,
    canonicalUrlId: number | null,
  ): { centre: Row; similarity: number }[] {
    const { near, anchored } = this.#tables.find(entryOf(row))
    this.#counts.candidates += near.length + anchored.length
    const through = new Map<number, number>()
    const canonical = canonicalUrlId === null ? undefined : this.#rows.byUrl(canonicalUrlId)
    if (canonical !== undefined) {
      const similarity = this.#compare(row, canonical, similarityAround)
      if (similarity > 0) through.set(canonical.groupId, similarity)
    }
    const chosen = [near, anchored].flatMap((source) => source.slice(0, verificationsMax))
    for (const { id } of chosen) {
      const candidate = this.#rows.byUrl(id)
      assert(candidate !== undefined, 'every entry has its row')
      const { groupId } = candidate
      const limit = groupId === groupBefore ? similarityKept : similaritySame
      const similarity = this.#compare(row, candidate, limit)
      if (similarity > (through.get(groupId) ?? 0)) through.set(groupId, similarity)
    }
    const found = []
    for (const [groupId, best] of through) {
      const centre = this.#rows.centre(groupId)
      assert(centre !== undefined, 'every group has its centre')
      const similarity = this.#compare(row, centre, similarityAround)
      if (similarity > 0) found.push({ centre, similarity, best })
    }
    const isBefore = (centre: Row): number => (centre.groupId === groupBefore ? 1 : 0)
    return found.sort(
      (a, b) =>
        isBefore(b.centre) - isBefore(a.centre) ||
        b.best - a.best ||
        a.centre.groupId - b.centre.groupId,
    )
  }

  #compare(a: Row, b: Row, limit: number): number {
    this.#counts.verifications += 1
    return likeness(a, b, limit)
  }

  #isUnlikeWitnesses(groupId: number, row: Row): boolean {
    const witnesses = this.#rows.witnesses(groupId)
    return (
      witnesses.length < witnessesMax &&
      witnesses.every(({ sketch }) => textSimilarity(sketch, row.sketch) < similarityWitness)
    )
  }

  /** Two groups met through one page become one where their centres are around each other: the smaller moves. Answers the id that lives on. */
  #merge(one: number, other: number): number {
    const [centreOne, centreOther] = [this.#rows.centre(one), this.#rows.centre(other)]
    if (one === other || centreOne === undefined || centreOther === undefined) return one
    if (this.#compare(centreOne, centreOther, similarityAround) === 0) return one
    const [sizeOne, sizeOther] = [this.#rows.size(one), this.#rows.size(other)]
    const otherStays = sizeOther > sizeOne || (sizeOther === sizeOne && other < one)
    const [stays, moves] = otherStays ? [centreOther, centreOne] : [centreOne, centreOther]
    let witnesses = this.#rows.witnesses(stays.groupId).length
    for (const id of [moves.urlId, ...this.#rows.near(moves.groupId)]) {
      const row = this.#rows.byUrl(id)
      assert(row !== undefined)
      const similarity = textSimilarity(stays.sketch, row.sketch)
      if (similarity < similarityAround) {
        this.#displace(row)
        continue
      }
      const isWitness = row.role <= roles.witness && witnesses < witnessesMax
      if (isWitness) witnesses += 1
      else this.#unindex(row)
      joinTo(row, stays, isWitness ? roles.witness : roles.near, similarity)
      this.#rows.move(row)
    }
    return stays.groupId
  }

  /** Puts a holder (with its exact copies) into a group of its own; where it belongs is decided when all is consistent. */
  #displace(row: Row): void {
    this.#unindex(row)
    Object.assign(row, alone, { groupId: this.#freeGroup(row.urlId, row.urlId) })
    this.#rows.move(row)
    this.#displaced.push(row.urlId)
  }

  /** A page is placed anew once in one change; displaced a second time it stays alone, so this ends. */
  #settleDisplaced(): void {
    const settled = new Set<number>()
    for (let id = this.#displaced.shift(); id !== undefined; id = this.#displaced.shift()) {
      const row = this.#rows.byUrl(id)
      assert(row?.role === roles.centre)
      if (settled.has(id)) this.#index(row)
      else this.#attach(row, null)
      settled.add(id)
    }
  }

  /** Deletes a row. A twin takes its place, else another member becomes the centre. Answers the twin. */
  #drop(row: Row): number | null {
    this.#unindex(row)
    this.#rows.remove(row.urlId)
    if (row.role === roles.exact) return null
    const twinId = row.tokens === 0 ? undefined : this.#rows.twin(row.digest)
    const twin = twinId === undefined ? undefined : this.#rows.byUrl(twinId)
    if (twin !== undefined) {
      twin.role = row.role
      this.#rows.move(twin)
      if (twin.role <= roles.witness) this.#index(twin)
      return twin.urlId
    }
    if (row.role === roles.centre) this.#handOver(row.groupId)
    return null
  }

  /** The member most like the centre that went becomes the centre; who is no longer around it is placed anew. */
  #handOver(groupId: number): void {
    const heirId = this.#rows.heir(groupId)
    const heir = heirId === undefined ? undefined : this.#rows.byUrl(heirId)
    if (heir === undefined) return
    if (heir.role === roles.near) this.#index(heir)
    Object.assign(heir, alone)
    this.#rows.move(heir)
    for (const id of this.#rows.near(groupId)) {
      const row = this.#rows.byUrl(id)
      assert(row !== undefined)
      const similarity = textSimilarity(heir.sketch, row.sketch)
      if (similarity < similarityAround) this.#displace(row)
      else {
        joinTo(row, heir, row.role, similarity)
        this.#rows.move(row)
      }
    }
  }
}

const alone = { role: roles.centre, similarity: 1, distance: 0 } as const

function joinTo(row: Row, centre: Row, role: Row['role'], similarity: number): void {
  const [a, b] = [unpackSim(row), unpackSim(centre)]
  const distance = hammingDistance(a.simHi, a.simLo, b.simHi, b.simLo)
  Object.assign(row, { groupId: centre.groupId, role, similarity, distance })
}

const entryOf = (row: Pick<Row, 'sim' | 'anchors'>): Omit<SimHashEntry, 'id' | 'host'> => ({
  ...unpackSim(row),
  anchors: unpackAnchors(row),
})

const areEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])
