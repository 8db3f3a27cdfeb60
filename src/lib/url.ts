/** URLs: the one canonical form that is both key and request, its parts, and how it is shown. Knows no scope and no network. */
import { domainToUnicode } from 'node:url'
import { getDomain } from 'tldts'

/** A canonical URL is never longer. */
export const urlCharsMax = 2048
/** A link longer than this is not even parsed. */
const inputCharsMax = 4 * urlCharsMax
/** A run of path segments or parameters may stand this often in a row; once more and it is a trap. */
const repeatsMax = 3
const displayCharsMax = 240

/**
 * The canonical URL of a link or seed, or null where it is none of ours: not http(s), with user or password, without a
 * host, too long, or refused by the URL standard. Drops what no server sees or tells apart: fragment, default port,
 * dot at the end of the host, empty query. Keeps what servers do tell apart: case of the path, escapes (%25), order of
 * parameters. Never throws; the canonical form of a canonical URL is itself.
 * @param base canonical URL that a relative link is resolved against.
 */
export function normalizeUrl(text: string, base?: string): string | null {
  if (text.length > inputCharsMax) return null
  const url = URL.parse(text, base)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null
  if (url.username !== '' || url.password !== '') return null
  if (url.hostname.endsWith('.')) {
    const bare = url.hostname.replace(/\.+$/, '')
    if (bare === '') return null
    url.hostname = bare
    if (url.hostname.endsWith('.')) return null
  }
  let { href } = url
  const hash = href.indexOf('#')
  if (hash >= 0) href = href.slice(0, hash)
  if (href.endsWith('?') && url.search === '') href = href.slice(0, -1)
  return href.length > urlCharsMax ? null : href
}

/** scheme://host[:port] of a canonical URL, and the rest: path and query. Both together are the URL. */
export function splitUrl(url: string): { origin: string; path: string } {
  const slash = url.indexOf('/', url.indexOf('//') + 2)
  return { origin: url.slice(0, slash), path: url.slice(slash) }
}

/** The host name of a canonical URL, without port; an IPv6 address in brackets. */
export const hostOf = (url: string): string => splitUrl(url).origin.replace(/^.*\/\/|:\d+$/g, '')

/**
 * The part of the host that one owner registered (public suffix list): a.b.example.co.uk -> example.co.uk. An address, a
 * single label and a bare suffix are returned as they are.
 * @param includePrivate counts suffixes run by companies too: then alice.github.io is a domain of its own.
 */
export function registrableDomain(url: string, includePrivate = false): string {
  const host = hostOf(url)
  // A name with an empty part is no name: nobody can have registered it.
  if (host.startsWith('.') || host.includes('..')) return host
  return getDomain(host, { allowPrivateDomains: includePrivate, extractHostname: false }) ?? host
}

/**
 * Who answers for a page, as far as addresses tell: its registrable domain, private suffixes counted; with its port where the host is an
 * address or a single label. Subdomains cost nothing, so that many of them are one.
 */
export function siteOwner(url: string): string {
  const host = hostOf(url)
  const isNamed = host.includes('.') && !/^[\d.]+$/.test(host)
  return isNamed ? registrableDomain(url, true) : splitUrl(url).origin.replace(/^.*\/\//, '')
}

/**
 * How a result shows its address: "host › a › b?c=d", readable, at most 240 characters. What could deceive is left out
 * (bidi and other controls) or left coded (names of mixed scripts).
 */
export function displayUrl(url: string): string {
  const { origin, path } = splitUrl(url)
  const host = hostOf(url)
  const port = /:\d+$/.exec(origin)?.[0] ?? ''
  const query = path.indexOf('?')
  const parts = (query < 0 ? path : path.slice(0, query)).split('/').filter((part) => part !== '')
  const shown = [displayHost(host) + port, ...parts.map(readable)].join(' › ')
  const whole = query < 0 ? shown : shown + readable(path.slice(query))
  if (whole.length <= displayCharsMax) return whole
  return `${whole.slice(0, displayCharsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/**
 * Trap rule (after Heritrix' PathologicalPath): some run of path segments, or of query parameters, stands more than three
 * times in a row, as in /a/b/a/b/a/b/a/b/ or ?x=1&amp;amp;amp;amp;y; or one parameter with one value more than three times anywhere.
 */
export function hasRepeatingPath(url: string): boolean {
  const { path } = splitUrl(url)
  const query = path.indexOf('?')
  if (query < 0) return hasRun(path.split('/'))
  const parameters = path.slice(query + 1).split(/[&;]/)
  return hasRun(path.slice(0, query).split('/')) || hasRun(parameters) || hasHeap(parameters)
}

function hasHeap(parameters: readonly string[]): boolean {
  if (parameters.length <= repeatsMax) return false
  const counts = new Map<string, number>()
  for (const parameter of parameters) {
    const count = (counts.get(parameter) ?? 0) + 1
    if (count > repeatsMax && parameter.includes('=')) return true
    counts.set(parameter, count)
  }
  return false
}

/** With period p, `repeatsMax` further copies of a run are p * repeatsMax equal pairs in a row. */
function hasRun(parts: readonly string[]): boolean {
  const periodMax = Math.floor(parts.length / (repeatsMax + 1))
  for (let period = 1; period <= periodMax; period++) {
    let equal = 0
    for (let i = period; i < parts.length; i++) {
      equal = parts[i] === parts[i - period] ? equal + 1 : 0
      if (equal >= period * repeatsMax) return true
    }
  }
  return false
}

/** Control, format (bidi, zero-width, soft hyphen), private, unassigned, lone surrogate, line separators, fillers. */
const unshowable = /[\p{C}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]/gu

function readable(part: string): string {
  let text = part
  try {
    text = decodeURIComponent(part)
  } catch {
    // Escapes of another charset, or none at all: the coded form is the honest one.
    return part
  }
  return text.replace(unshowable, '').replace(/\s/gu, ' ')
}

/** Scripts that readers of one language see together (UTS 39, highly restrictive). Common and inherited signs fit all. */
const companions: readonly RegExp[] = [
  /^[\p{Script=Latin}\p{Script=Common}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u,
  /^[\p{Script=Latin}\p{Script=Common}\p{Script=Han}\p{Script=Bopomofo}]+$/u,
  /^[\p{Script=Latin}\p{Script=Common}\p{Script=Han}\p{Script=Hangul}]+$/u,
  ...[
    'Cyrillic',
    'Greek',
    'Arabic',
    'Hebrew',
    'Thai',
    'Devanagari',
    'Bengali',
    'Tamil',
    'Georgian',
  ].map(
    (script) =>
      new RegExp(`^[\\p{Script=${script}}\\p{Script=Common}\\p{Script=Inherited}]+$`, 'u'),
  ),
]
/** Cyrillic and Greek letters that look like Latin ones: a label of nothing else could pass for another name. */
const lookalikes = /^[аеорсухіјѕһӏԁԛԝгпмтвкндьαβγικνορτυχωɑ\d-]+$/u
/** Kana and strokes that look like a slash or a dash beside Latin letters: "example.comノlogin". */
const falseMarks = /[a-z\d][ノンソゾ〳〵・ー一丶丿]|[ノンソゾ〳〵・ー一丶丿][a-z\d]/u

function displayHost(host: string): string {
  if (!host.includes('xn--')) return host
  return host
    .split('.')
    .map((label) => {
      const text = label.startsWith('xn--') ? domainToUnicode(label) : label
      const isPlain = companions.some((scripts) => scripts.test(text))
      const isDeceiving =
        lookalikes.test(text) || falseMarks.test(text) || text.search(unshowable) >= 0
      return text !== '' && isPlain && !isDeceiving ? text : label
    })
    .join('.')
}

/**
 * `normalizeUrl` of what a person typed: without a scheme it is https. Null also where a scheme is mistyped (`htp:/a.org`), which would
 * otherwise be taken for a host with an empty port.
 */
export function normalizeTyped(text: string): string | null {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return normalizeUrl(text)
  return /^[a-z][a-z\d+.-]*:(?!\d)/i.test(text) ? null : normalizeUrl(`https://${text}`)
}
