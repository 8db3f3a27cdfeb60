/** Addresses of documents that stand on a page of another address: its own with a fragment, or one that a template made. Pure. */
import { normalizeUrl, urlCharsMax } from '../lib/url.ts'

/** The address of an item on a page; null where it is none of ours. With a fragment it is no address that a page could have. */
export function itemUrl(address: string, base: string): string | null {
  const url = URL.parse(address, base)
  if (url === null) return null
  const page = normalizeUrl(url.href)
  const made = page === null ? null : page + (url.hash === '#' ? '' : url.hash)
  return made === null || made.length > urlCharsMax || made === base ? null : made
}
