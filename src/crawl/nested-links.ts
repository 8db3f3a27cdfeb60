/** Links that lead below themselves: a page at .../help/ whose link "help/" leads to .../help/help/. Servers that answer any path make an endless tree of them. Pure. */
import { splitUrl } from '../lib/url.ts'

/** The shape of all addresses below such links, whatever their order. */
export const nestedShape = '**/#'
const memberPrefix = '**/'
const membersMax = 64
const memberCharsMax = 100

/**
 * What links of this page lead below itself once more, as they stand behind its folder: the page's own address ends with it.
 * @param links canonical
 */
export function nestedLinksOf(url: string, links: readonly string[]): string[] {
  if (url.includes('?')) return []
  const folder = url.slice(0, url.lastIndexOf('/') + 1)
  const found = new Set<string>()
  for (const link of links) {
    if (!link.startsWith(folder)) continue
    const below = link.slice(folder.length)
    if (below.includes('/') && below.length <= memberCharsMax && url.endsWith(`/${below}`))
      found.add(below)
  }
  return [...found]
}

/** The names that were found to lead below themselves on one host. */
export type NestedNames = Set<string>

export const isNestedName = (shape: string): boolean =>
  shape.startsWith(memberPrefix) && shape !== nestedShape

/** As they are kept among the shapes of a host. */
export const nestedNamesOf = (shapes: Iterable<string>): NestedNames =>
  new Set([...shapes].filter(isNestedName).map((shape) => shape.slice(memberPrefix.length)))

/** @returns the shape that remembers it; null where it is known, or where there are enough. */
export function addNestedName(names: NestedNames, name: string): string | null {
  if (names.has(name) || names.size >= membersMax) return null
  names.add(name)
  return memberPrefix + name
}

/** An address that ends with two such names in a row, as far as the first leads deeper. */
export function isNested(url: string, names: NestedNames): boolean {
  if (names.size === 0) return false
  const { path } = splitUrl(url)
  for (const last of names) {
    if (!path.endsWith(`/${last}`)) continue
    const before = path.slice(0, -last.length)
    for (const name of names) if (before.endsWith(`/${folderOf(name)}`)) return true
  }
  return false
}

const folderOf = (name: string): string => name.slice(0, name.lastIndexOf('/') + 1)
