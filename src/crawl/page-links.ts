/** Where a page leads and what it asks of robots: links, base, canonical, refresh, meta robots and X-Robots-Tag. Decides no scope. */
import { hostOf, normalizeUrl, splitUrl } from '../lib/url.ts'
import { copyOf } from './kept-text.ts'
import { withQueryIn } from './link-charset.ts'
import { linkTextsMax, tellingText } from './link-text.ts'
import type { PageTree } from './page-tree.ts'
import { readRefresh, refreshDelayMaxS } from './refresh.ts'

/** `expiresAtMs`: not to be shown after this; null = for ever. */
export type Directives = {
  noindex: boolean
  nofollow: boolean
  noarchive: boolean
  expiresAtMs: number | null
}

/** Our product token, as robots.txt, meta and X-Robots-Tag may name us. */
export const robotsName = 'findling'
/** X-Robots-Tag and meta contents are read so far. */
const directiveCharsMax = 4_000

/** What relative links resolve against: the first base element, itself resolved against the page; only http and https count. */
export const baseOf = (tree: PageTree, url: string): string =>
  tree.base === null ? url : (normalizeUrl(tree.base.trim(), url) ?? url)

/**
 * The canonical URLs to follow with what they are called there ('' where that tells nothing), distinct, in page order, without the page
 * itself; none where the page says nofollow.
 * @param charset of the page: queries are sent in it.
 */
export function linksOf(
  tree: PageTree,
  url: string,
  linksMax: number,
  nofollow: boolean,
  charset: string = 'utf-8',
): Map<string, string> {
  const found = new Map<string, string>()
  if (nofollow) return found
  const base = baseOf(tree, url)
  let texts = 0
  for (const { href, isNofollow, text: raw } of tree.links) {
    if (isNofollow) continue
    const link = normalizeUrl(withQueryIn(charset, href), base)
    if (link === null || link === url) continue
    const known = found.get(link)
    if (known !== undefined && known !== '') continue
    const text = raw === '' || texts >= linkTextsMax ? '' : tellingText(raw)
    if (text !== '') texts++
    found.set(known === undefined ? copyOf(link) : link, text)
    if (found.size >= linksMax) break
  }
  return found
}

const feedsMax = 8

/** The feeds that a page names, canonical, distinct, a few. */
export function feedsOf(tree: PageTree, url: string): string[] {
  const base = baseOf(tree, url)
  const found = new Set<string>()
  for (const href of tree.feeds) {
    const feed = normalizeUrl(href.trim(), base)
    if (feed !== null && feed !== url) found.add(feed)
  }
  return [...found].slice(0, feedsMax).map(copyOf)
}

/**
 * rel=canonical where it is plausible: one address, absolute or from the root, http(s), and not the home page of the host
 * for every page of it (the commonest mistake). null where absent, contradictory or the page itself. A claim, to be judged.
 */
export function canonicalOf(tree: PageTree, url: string): string | null {
  const claims = new Set<string>()
  for (const href of tree.canonicals) {
    const isAbsolute = /^\s*(https?:)?\/\//i.test(href) || /^\s*\/(?!\/)/.test(href)
    const claim = isAbsolute ? normalizeUrl(href.trim(), baseOf(tree, url)) : null
    if (claim !== null) claims.add(claim)
  }
  const [canonical] = claims
  if (canonical === undefined || claims.size > 1 || canonical === url) return null
  const isHome = splitUrl(canonical).path === '/'
  const isOfHome = /^\/(index|default|home)?(\.\w{2,5})?(\?|$)/i.test(splitUrl(url).path)
  return isHome && !isOfHome && hostOf(canonical) === hostOf(url) ? null : copyOf(canonical)
}

/** Delay in seconds and target of `meta http-equiv=refresh`; null where it names no address. */
export function refreshOf(
  tree: PageTree,
  url: string,
  charset: string = 'utf-8',
): { delayS: number; url: string } | null {
  const refresh = readRefresh(tree.refresh ?? '')
  if (refresh === null) return null
  const { delayS, address } = refresh
  const target = normalizeUrl(withQueryIn(charset, address), baseOf(tree, url))
  return target === null ? null : { delayS, url: copyOf(target) }
}

/** The refresh that leads elsewhere soon; null for none, for a slow one, and for a page that only renews itself. */
export function promptRefresh(
  tree: PageTree,
  url: string,
  charset: string = 'utf-8',
): string | null {
  const refresh = refreshOf(tree, url, charset)
  if (refresh === null || refresh.delayS > refreshDelayMaxS || refresh.url === url) return null
  return refresh.url
}

/** What meta robots, the meta that names us and X-Robots-Tag ask, the strictest of all. */
export function directivesOf(tree: PageTree | null, robotsTag: string, nowMs: number): Directives {
  const directives: Directives = {
    noindex: false,
    nofollow: false,
    noarchive: false,
    expiresAtMs: null,
  }
  const metas = tree === null ? [] : [...tree.robots, tree.metas.get(robotsName) ?? '']
  for (const content of metas) apply(content, directives, nowMs)
  apply(forUs(robotsTag.slice(0, directiveCharsMax)), directives, nowMs)
  return directives
}

/** Directives with a colon of their own: not the name of a robot. */
const valued = /^(unavailable_after|max-snippet|max-image-preview|max-video-preview)$/i

/** The parts of X-Robots-Tag for everyone and for us: a name and a colon open the part of one robot. */
const forUs = (robotsTag: string): string => robotsTag.split('\n').map(lineForUs).join(',')

function lineForUs(line: string): string {
  let isOurs = true
  const kept: string[] = []
  for (const part of line.split(',')) {
    const [, name, rest] = /^\s*([\w-]{1,40})\s*:(.*)$/s.exec(part) ?? []
    if (name === undefined || valued.test(name)) {
      if (isOurs) kept.push(part)
      continue
    }
    isOurs = name === '*' || name.toLowerCase() === robotsName
    if (isOurs && rest !== undefined) kept.push(rest)
  }
  return kept.join(',')
}

function apply(content: string, directives: Directives, nowMs: number): void {
  const text = content.slice(0, directiveCharsMax).toLowerCase()
  for (const word of text.split(/[\s,;]+/)) {
    if (word === 'noindex' || word === 'none') directives.noindex = true
    if (word === 'nofollow' || word === 'none') directives.nofollow = true
    if (word === 'noarchive' || word === 'none') directives.noarchive = true
  }
  // The date itself may hold a comma: "Sun, 25 Aug 2030 15:00:00 GMT".
  const after = /unavailable_after:\s*((?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,)?[^,]{6,40})/.exec(
    text,
  )
  const untilMs = Date.parse(after?.[1]?.trim() ?? '')
  if (Number.isNaN(untilMs)) return
  if (untilMs < nowMs) directives.noindex = true
  directives.expiresAtMs = Math.min(untilMs, directives.expiresAtMs ?? untilMs)
}
