/** What the crawl learns of a host's URLs while it runs: shapes that bring nothing any more (traps), parameters that change nothing. Every rule can be undone. */
import { splitUrl } from '../lib/url.ts'
import type { HostRulesTable, ParameterRow, RuleState, ShapeRow } from '../store/host-rules.ts'
import type { FoundUrl, Settlement } from './frontier.ts'
import type { QueueVerdict } from './frontier-options.ts'
import { chainShape, CopyChains } from './copy-chains.ts'
import { trapReason } from './frontier-rows.ts'
import {
  addNestedName,
  isNested,
  isNestedName,
  nestedLinksOf,
  nestedNamesOf,
  nestedShape,
  type NestedNames,
} from './nested-links.ts'
import {
  isClearlyFixed,
  isOpenEnded,
  isWellKnownNoise,
  parametersOf,
  shapeOf,
  withoutParameters,
  type Shape,
} from './shape.ts'

export type RulesStore = HostRulesTable & { host(origin: string): { id: number } | null }

/** As `describe` and the tables name them. */
export type RuleName = { shape: string } | { parameter: string }

/** A link as its page's shape has it. `penalty` is added to its priority. */
export type JudgedLink = { isOfOwnShape: boolean; penalty: number }

/** One visit as the rules see it. `digest` and `lineHashes` of the main content, null and empty where none was read. */
export type SeenPage = {
  urlId: number
  url: string
  settlement: Settlement
  digest: string | null
  lineHashes: Uint32Array
  canonical: string | null
  /** See `sayingOf`; null where nothing was read. */
  saying: string | null
  /** Canonical. */
  links: readonly string[]
}

const hostsMax = 256
const shapesPerHostMax = 512
const parametersPerHostMax = 128
const pairsPerHostMax = 2_000
const filtersMax = 256
const filterSlots = 4_096
/** A page brings something where this share of its lines was not met in its shape before. */
const newLinesMin = 0.15

/* Barren visits are counted in quarters: one that brings new addresses, and no text, counts a quarter. */
const barrenWhole = 4
const barrenWithLinks = 1
/** So many barren visits a shape has, and one more for every two that brought something. */
const budgetPages = 40
const budgetFreshMax = 1_000
/** From here on a shape waits: its place in the queue doubles with every so many further barren visits. */
const patiencePages = 8
const penaltyMax = 256

/** Pairs of like pages that differ in one parameter, over different pages: enough to believe it. */
const sameMin = 3
/** One page that differs for ten that do not: pages change by themselves. */
const sameOverDiffering = 10

type Pair = { value: string; digest: string; isCounted: boolean }
type HostState = {
  id: number
  shapes: Map<string, ShapeRow>
  /** By path pattern: the parameters of each closed shape with more than a path. null = to be made anew. */
  closed: ReadonlyMap<string, readonly (readonly string[])[]> | null
  nested: NestedNames
  parameters: Map<string, ParameterRow>
  dropped: ReadonlySet<string>
  /** By parameter and the URL without it: the page met last. */
  pairs: Map<string, Pair>
}
type Noted = { host: HostState; shape: Shape; isNovel: boolean; kind: Settlement['kind'] }

export class HostRules {
  readonly #store: RulesStore
  readonly #hosts = new Map<string, HostState>()
  /** Line hashes met in a shape lately, by host and shape. */
  readonly #filters = new Map<string, Uint32Array>()
  readonly #noted = new Map<number, Noted>()
  readonly #chains = new CopyChains()
  readonly #dirty = new Map<string, () => void>()

  constructor(store: RulesStore) {
    this.#store = store
  }

  /** The URL without the parameters that change nothing on its host. */
  shorten(url: string): string {
    const { dropped } = this.#host(splitUrl(url).origin)
    return dropped.size === 0 ? url : withoutParameters(url, (name) => dropped.has(name))
  }

  isClosed(url: string): boolean {
    const host = this.#host(splitUrl(url).origin)
    return closedOf(host).size > 0 && isShapeClosed(host, shapeOn(host, url))
  }

  /**
   * Judges the links of a page. Of its own shape is one with the same path pattern on the same host, and one between two pages that
   * both were found out: such a link proves nothing.
   */
  linksOf(page: string): (link: string) => JudgedLink {
    const { origin } = splitUrl(page)
    const own = this.#host(origin)
    const { pattern } = shapeOn(own, page)
    const isPageClosed = this.isClosed(page)
    return (link) => {
      const { origin: linkOrigin, path } = splitUrl(link)
      const host = linkOrigin === origin ? own : this.#host(linkOrigin)
      if (host.nested.size === 0 && isClearlyFixed(path)) return fixedLink
      const shape = shapeOn(host, link)
      if (!isOpenEnded(shape)) return fixedLink
      const isAlike = shape.pattern === pattern && linkOrigin === origin
      return {
        isOfOwnShape: isAlike || (isPageClosed && isShapeClosed(host, shape)),
        penalty: penaltyOf(host.shapes.get(shape.key)),
      }
    }
  }

  /** A page that only leads to its own copies, over and over. @param saying see `sayingOf` */
  isDeadEnd(page: string, saying: string): boolean {
    const { shapes } = this.#host(splitUrl(page).origin)
    return shapes.get(chainShape(saying))?.state === 'closed'
  }

  /** For the frontier: is it still to be fetched? */
  verdict(url: string, isOfOwnShape: boolean): QueueVerdict {
    const to = this.shorten(url)
    if (to !== url) return { kind: 'renamed', to }
    return isOfOwnShape && this.isClosed(url)
      ? { kind: 'aside', reason: trapReason }
      : { kind: 'wanted' }
  }

  /** A visit within the batch; counted when the frontier has said how many new addresses it gave. */
  note(page: SeenPage): void {
    const { settlement, url, urlId } = page
    if (settlement.kind === 'failed' || settlement.kind === 'unchanged') return
    // Robots and the egress guard refuse without a request.
    if (settlement.kind === 'refused' && (settlement.status === 0 || settlement.reason === 'list'))
      return
    const host = this.#host(splitUrl(url).origin)
    if (host === newHost) return
    for (const name of nestedLinksOf(url, page.links)) {
      const shape = addNestedName(host.nested, name)
      if (shape !== null) this.#watch(host, this.#shapeRow(host, shape))
    }
    const shape = shapeOn(host, url)
    if (page.digest !== null) this.#compare(host, url, page.digest, page.canonical)
    if (!isOpenEnded(shape)) {
      if (page.saying !== null) this.#noteChain(host, url, page.saying, page.links)
      return
    }
    const isNovel = settlement.kind === 'stored' && this.#isNovel(host, shape, page.lineHashes)
    this.#noted.set(urlId, { host, shape, isNovel, kind: settlement.kind })
  }

  /** In the transaction, after `note`. @param elsewhere new addresses of other shapes */
  linksAdded(urlId: number, elsewhere: number): void {
    const noted = this.#noted.get(urlId)
    if (noted === undefined) return
    this.#noted.delete(urlId)
    const { host, shape, isNovel, kind } = noted
    const row = this.#shapeRow(host, shape.key)
    row.fetched++
    if (kind === 'duplicate') row.copies++
    if (isNovel) {
      row.fresh++
      row.barren = Math.floor(row.barren / 2)
    } else if (elsewhere === 0) row.barren += barrenWhole
    // Lists that want no place in an index lead on, page after page.
    else if (kind === 'stored' || kind === 'duplicate') row.barren += barrenWithLinks
    if (row.state === 'open' && row.barren >= budgetOf(row) * barrenWhole) {
      row.state = 'closed'
      host.closed = null
    }
    this.#watch(host, row)
  }

  /** Was it a copy of the copies that led to it? Asked where no shape tells. */
  #noteChain(host: HostState, url: string, saying: string, links: readonly string[]): void {
    const led = this.#chains.note(host.id, url, saying, links)
    if (led === null) return
    const row = this.#shapeRow(host, chainShape(led))
    row.fetched++
    if (led === saying) {
      row.copies++
      row.barren += barrenWhole
    } else {
      row.fresh++
      row.barren = Math.floor(row.barren / 2)
    }
    if (row.state === 'open' && row.barren >= budgetOf(row) * barrenWhole) row.state = 'closed'
    this.#watch(host, row)
  }

  #watch({ id }: HostState, row: ShapeRow): void {
    this.#dirty.set(`${id} ${row.shape}`, () => this.#store.putShape(id, row))
  }

  /** Writes what changed; in the batch transaction. */
  save(): void {
    for (const write of this.#dirty.values()) write()
    this.#dirty.clear()
    this.#noted.clear()
  }

  /** What is in memory no longer fits the rows. */
  rolledBack(): void {
    this.#dirty.clear()
    this.#noted.clear()
    this.#hosts.clear()
    this.#chains.forget()
  }

  /** What is known of this URL's shape and parameters, for people. */
  describe(url: string): { shape: ShapeRow | null; key: string; parameters: ParameterRow[] } {
    const host = this.#host(splitUrl(url).origin)
    const { key } = shapeOn(host, url)
    const names = new Set(parametersOf(url).map(({ name }) => name))
    return {
      key,
      shape: host.shapes.get(key) ?? null,
      parameters: [...host.parameters.values()].filter(({ name }) => names.has(name)),
    }
  }

  /** The operator decides; in a transaction. @returns false where no such rule is known */
  decide(origin: string, rule: RuleName, state: RuleState): boolean {
    const host = this.#host(origin)
    if ('shape' in rule) {
      const row = host.shapes.get(rule.shape) ?? host.shapes.get(keyOn(host, origin, rule.shape))
      if (row === undefined) return false
      row.state = state
      host.closed = null
      if (state !== 'closed') row.barren = 0
      this.#store.putShape(host.id, row)
      return true
    }
    const row = host.parameters.get(rule.parameter)
    if (row === undefined) return false
    row.state = state
    host.dropped = droppedOf(host.parameters)
    this.#store.putParameter(host.id, row)
    return true
  }

  #host(origin: string): HostState {
    const known = this.#hosts.get(origin)
    if (known !== undefined) return known
    const id = this.#store.host(origin)?.id
    // Nothing can be known of a host that was never queued.
    if (id === undefined) return newHost
    const shapes = new Map(this.#store.shapesOf(id).map((row) => [row.shape, row]))
    const parameters = new Map(this.#store.parametersOf(id).map((row) => [row.name, row]))
    const dropped = droppedOf(parameters)
    const nested = nestedNamesOf(shapes.keys())
    const host = { id, shapes, closed: null, nested, parameters, dropped, pairs: new Map() }
    forgetOldest(this.#hosts, hostsMax)
    this.#hosts.set(origin, host)
    return host
  }

  #shapeRow(host: HostState, key: string): ShapeRow {
    const known = host.shapes.get(key)
    if (known !== undefined) return known
    if (host.shapes.size >= shapesPerHostMax) {
      const shape = leastFetchedOpen(host.shapes)
      if (shape !== null) {
        host.shapes.delete(shape)
        this.#dirty.set(`${host.id} ${shape}`, () => this.#store.dropShape(host.id, shape))
      }
    }
    const row: ShapeRow = { shape: key, fetched: 0, fresh: 0, copies: 0, barren: 0, state: 'open' }
    host.shapes.set(key, row)
    return row
  }

  /** Remembers the lines; true where enough of them were not met in this shape before. */
  #isNovel(host: HostState, { key }: Shape, lineHashes: Uint32Array): boolean {
    const name = `${host.id} ${key}`
    let filter = this.#filters.get(name)
    if (filter === undefined) {
      forgetOldest(this.#filters, filtersMax)
      filter = new Uint32Array(filterSlots)
      this.#filters.set(name, filter)
    }
    let added = 0
    for (const hash of lineHashes) {
      const slot = hash % filterSlots
      if (filter[slot] === hash) continue
      filter[slot] = hash
      added++
    }
    return added > 0 && added >= lineHashes.length * newLinesMin
  }

  /** Two pages whose URLs differ in one parameter only: are they the same? */
  #compare(host: HostState, url: string, digest: string, canonical: string | null): void {
    const parameters = parametersOf(url)
    if (parameters.length === 0 && host.parameters.size === 0) return
    for (const { name, value } of parameters) {
      const bare = withoutParameters(url, (one) => one === name)
      const row = this.#parameterRow(host, name)
      if (row === null || row.state !== 'open') continue
      const key = `${name} ${bare}`
      const before = host.pairs.get(key) ?? host.pairs.get(bare)
      const pair: Pair = { value, digest, isCounted: before?.isCounted ?? false }
      if (before !== undefined && before.value !== value) {
        if (before.digest !== digest) row.differing++
        else if (!before.isCounted) {
          row.same++
          pair.isCounted = true
        }
      } else if (canonical === bare && !pair.isCounted) {
        row.same++
        pair.isCounted = true
      }
      remember(host.pairs, key, pair)
      this.#learn(host, row)
    }
    if (parameters.length === 0) remember(host.pairs, url, { value: '', digest, isCounted: false })
  }

  #learn(host: HostState, row: ParameterRow): void {
    const needed = isWellKnownNoise(row.name) ? 1 : sameMin
    if (row.same >= needed && row.differing * sameOverDiffering <= row.same) {
      row.state = 'closed'
      host.dropped = droppedOf(host.parameters)
    }
    this.#dirty.set(`${host.id} &${row.name}`, () => this.#store.putParameter(host.id, row))
  }

  #parameterRow(host: HostState, name: string): ParameterRow | null {
    const known = host.parameters.get(name)
    if (known !== undefined) return known
    if (host.parameters.size >= parametersPerHostMax || name.length > 100) return null
    const row: ParameterRow = { name, same: 0, differing: 0, state: 'open' }
    host.parameters.set(name, row)
    return row
  }
}

const budgetOf = ({ fresh }: ShapeRow): number => budgetPages + Math.min(fresh, budgetFreshMax) / 2

/** Further visits that may bring nothing before the shape is put aside. */
export const visitsLeft = (row: ShapeRow): number =>
  row.state === 'closed' ? 0 : Math.max(0, Math.ceil(budgetOf(row) - row.barren / barrenWhole))

/** Grows exponentially while a shape brings nothing. */
function penaltyOf(row: ShapeRow | undefined): number {
  if (row === undefined || row.state === 'kept') return 0
  const over = row.barren / barrenWhole / patiencePages
  return over < 1 ? 0 : Math.min(penaltyMax, Math.floor(2 ** over))
}

const fixedLink: JudgedLink = { isOfOwnShape: false, penalty: 0 }

const newHost: HostState = {
  id: 0,
  shapes: new Map(),
  closed: null,
  nested: new Set(),
  parameters: new Map(),
  dropped: new Set(),
  pairs: new Map(),
}

const asideRows = 1_000

/** URLs of a host that were put aside as a trap, and are none by the rules as they are now. */
export function* wantedAgain(
  store: RulesStore,
  rules: Pick<HostRules, 'isClosed'>,
  origin: string,
): Generator<FoundUrl> {
  const hostId = store.host(origin)?.id
  if (hostId === undefined) return
  for (let last = 0; ;) {
    const rows = store.asideAfter(hostId, trapReason, last, asideRows)
    for (const { id, sourceId, path, depth } of rows) {
      last = id
      const url = origin + path
      if (!rules.isClosed(url)) yield { url, sourceId, depth, isSeed: true, isOfOwnShape: true }
    }
    if (rows.length < asideRows) return
  }
}

const nestedLinks: Shape = { key: nestedShape, pattern: nestedShape, names: [] }

/** The shape by what is known of the host. */
const shapeOn = ({ nested }: HostState, url: string): Shape =>
  isNested(url, nested) ? nestedLinks : shapeOf(url)

/** What somebody who knows nothing of the host calls a shape, by its name there. */
const keyOn = (host: HostState, origin: string, shape: string): string =>
  shapeOn(host, `${origin}${shape.replace(/#$/, '')}`).key

function closedOf(host: HostState): ReadonlyMap<string, readonly (readonly string[])[]> {
  if (host.closed !== null) return host.closed
  const closed = new Map<string, (readonly string[])[]>()
  for (const { shape, state } of host.shapes.values()) {
    if (state !== 'closed') continue
    const mark = shape.indexOf('?')
    const pattern = mark < 0 ? shape : shape.slice(0, mark)
    const names = mark < 0 ? [] : shape.slice(mark + 1).split('&')
    const known = closed.get(pattern)
    if (known === undefined) closed.set(pattern, [names])
    else known.push(names)
  }
  host.closed = closed
  return closed
}

function isShapeClosed(host: HostState, shape: Shape): boolean {
  if (host.shapes.get(shape.key)?.state === 'closed') return true
  return shape.names.length > 1 && isCombination(host, shape)
}

/** Where three shapes of one path were closed, further combinations of their parameters are not tried out. */
function isCombination(host: HostState, { pattern, names }: Shape): boolean {
  const closed = closedOf(host)
    .get(pattern)
    ?.filter((each) => each.length > 0)
  if (closed === undefined || closed.length < 3) return false
  return closed.some((each) => each.every((name) => names.includes(name)))
}

function leastFetchedOpen(shapes: ReadonlyMap<string, ShapeRow>): string | null {
  let least: ShapeRow | null = null
  for (const row of shapes.values())
    if (row.state === 'open' && !isNestedName(row.shape))
      if (least === null || row.fetched < least.fetched) least = row
  return least?.shape ?? null
}

const droppedOf = (parameters: ReadonlyMap<string, ParameterRow>): ReadonlySet<string> =>
  new Set(
    [...parameters.values()].filter(({ state }) => state === 'closed').map(({ name }) => name),
  )

function remember(pairs: Map<string, Pair>, key: string, pair: Pair): void {
  pairs.delete(key)
  forgetOldest(pairs, pairsPerHostMax)
  pairs.set(key, pair)
}

function forgetOldest<K, V>(map: Map<K, V>, sizeMax: number): void {
  if (map.size < sizeMax) return
  const oldest = map.keys().next()
  if (oldest.done !== true) map.delete(oldest.value)
}
