/** Copies that lead to nothing but further copies: a server that answers any address with one page, and with links that it has never had before. Pure, in memory. */

import { hashKey } from '../lib/hash.ts'
import type { ParsedPage } from './page.ts'

/** A page that stood at more addresses of its host is watched. */
const watchedFrom = 3
const sayingsMax = 4_096
const linksMax = 4_000
const prefix = '=#'

/** As what leads to copies is kept among the shapes of a host: by what the copies say. */
export const chainShape = (saying: string): string => prefix + saying.slice(0, 20)

/** What a page says with its title, where it has one: pages that are told apart by that are no copies. */
export function sayingOf(url: string, page: Pick<ParsedPage, 'fingerprint' | 'title'>): string {
  const title = page.title === url ? '' : page.title
  return `${hashKey(title)[0].toString(36)} ${digestOf(page)}`
}

/** Of the main text: equal for exact copies alone. */
export const digestOf = ({ fingerprint }: Pick<ParsedPage, 'fingerprint'>): string =>
  Buffer.from(fingerprint.digest).toString('base64')

export class CopyChains {
  /** How many pages of a host said the same. */
  readonly #counts = new Map<string, number>()
  /** URLs that copies led to, with what those say. */
  readonly #ledBy = new Map<string, string>()

  /**
   * A page, and what it leads to.
   * @returns what the copies say that led to it; null where nothing of that kind did
   */
  note(hostId: number, url: string, saying: string, links: readonly string[]): string | null {
    const key = `${hostId} ${saying}`
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.delete(key)
    put(this.#counts, key, count, sayingsMax)
    if (count > watchedFrom) for (const link of links) put(this.#ledBy, link, saying, linksMax)
    const led = this.#ledBy.get(url) ?? null
    this.#ledBy.delete(url)
    return led
  }

  forget(): void {
    this.#counts.clear()
    this.#ledBy.clear()
  }
}

function put<V>(map: Map<string, V>, key: string, value: V, sizeMax: number): void {
  if (map.size >= sizeMax && !map.has(key)) {
    const oldest = map.keys().next()
    if (oldest.done !== true) map.delete(oldest.value)
  }
  map.set(key, value)
}
