/** What was learned of hosts, for people: shapes put aside, parameters dropped, hosts that rest. Writes nothing. */
import { AppError } from '../lib/errors.ts'
import { normalizeUrl, splitUrl } from '../lib/url.ts'
import type { HostStatus } from '../store/records.ts'
import type { HostRow } from '../store/hosts.ts'
import type { Store } from '../store/store.ts'
import { restsFrom } from './breaker.ts'
import { visitsLeft } from './host-rules.ts'

const hostsMax = 1_000
const rulesMax = 2_000

/** The origin of a host that is known, by its name or its origin. @throws AppError not_found */
export function originOf(given: string, store: Pick<Store, 'host'>): string {
  const texts = /^https?:\/\//i.test(given) ? [given] : [`https://${given}`, `http://${given}`]
  for (const text of texts) {
    const url = normalizeUrl(text)
    const origin = url === null ? '' : splitUrl(url).origin
    if (origin !== '' && store.host(origin) !== null) return origin
  }
  throw new AppError('not_found', `No page of the host "${given.slice(0, 100)}" is known.`)
}

/** Everything of one host, also what is only watched. @throws AppError not_found */
export function reportHost(given: string, store: Store, nowMs: number): HostStatus {
  const row = store.host(originOf(given, store))
  if (row === null) throw new AppError('not_found', 'There is no such host.')
  return statusOf(row, store, nowMs)
}

/** Those of which something is to be told, by name. */
export function reportHosts(store: Store, nowMs: number): HostStatus[] {
  const { shapes, parameters } = store.learned(rulesMax)
  const origins = new Set([
    ...[...shapes, ...parameters].map(({ origin }) => origin),
    ...store.restingHosts(restsFrom, nowMs, hostsMax).map(({ origin }) => origin),
  ])
  return [...origins]
    .toSorted()
    .slice(0, hostsMax)
    .flatMap((origin) => {
      const row = store.host(origin)
      return row === null ? [] : [statusOf(row, store, nowMs)]
    })
}

function statusOf(row: HostRow, store: Store, nowMs: number): HostStatus {
  return {
    origin: row.origin,
    failures: row.failures,
    rests_until: row.dueAtMs > nowMs ? new Date(row.dueAtMs).toISOString() : null,
    shapes: store.shapesOf(row.id).map((shape) => ({
      shape: shape.shape,
      state: shape.state,
      fetched: shape.fetched,
      fresh: shape.fresh,
      copies: shape.copies,
      visits_left: visitsLeft(shape),
    })),
    parameters: store.parametersOf(row.id),
  }
}
