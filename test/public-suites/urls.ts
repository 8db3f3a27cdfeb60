/** The URL suites. What parses is the platform's; ours is the canonical form, and each way in which it differs has a name here. */
import { isUtf8 } from 'node:buffer'
import { resolveLabel } from '../../src/crawl/charset.ts'
import { withQueryIn } from '../../src/crawl/link-charset.ts'
import { normalizeUrl, registrableDomain } from '../../src/lib/url.ts'
import {
  bytesOf,
  deviation,
  equal,
  fault,
  textOf,
  type Case,
  type Questions,
  type Verdict,
} from './suite.ts'

const host = (input: string): string | null => URL.parse(`https://${input}/x`)?.hostname ?? null
const platform = (verdict: Verdict): Verdict =>
  verdict === null ? null : deviation("the URL parser of this Node's version answers otherwise")

function setterHolds({ setter, href, new_value: value, expected }: Case): Verdict {
  const url = URL.parse(href) as unknown as Record<string, string> | null
  if (url === null) return fault('the address does not parse')
  url[setter] = value
  const names = Object.keys(expected)
  return platform(
    equal(
      names.map((name) => url[name]),
      Object.values(expected),
    ),
  )
}

/** Each step makes two spellings alike in one more respect; the last one that was needed is what we do otherwise. */
const steps: readonly (readonly [why: string, alike: (url: string) => string])[] = [
  ['the fragment is dropped: no server sees it', (url) => url.replace(/#.*$/s, '')],
  ['an empty query is dropped', (url) => url.replace(/\?$/, '')],
  [
    'dots at the end of the host are dropped',
    (url) => url.replace(/^(\w+:\/\/[^/:?#]*?)\.+(?=[:/?#]|$)/, '$1'),
  ],
  ['escapes stay as the page writes them: servers tell %2f from /, and %41 from A', unescaped],
  [
    'empty parameters and empty parts of the query stay',
    (url) =>
      query(url, (parts) =>
        parts.filter((one) => one !== '' && !one.endsWith('=')).map((one) => one),
      ),
  ],
  [
    'parameters keep their order: servers tell it apart',
    (url) => query(url, (parts) => parts.toSorted()),
  ],
  [
    'doubled slashes of the path stay: servers tell them apart',
    (url) => url.replace(/(?<!:)\/{2,}/g, '/'),
  ],
  ['"+" and "%20" of a query stay as they are', (url) => url.replaceAll('+', ' ')],
  [
    'parameters are dropped by what is learned of a site, not by their names',
    (url) => url.replace(/[?;].*$/s, ''),
  ],
  [
    'blanks and controls are coded, not cut',
    (url) => url.replace(/[\s\p{C}]+|%[01][\da-f]/giu, ''),
  ],
]

/** Also what was escaped twice, and a sign of per cent that begins no escape. */
function unescaped(url: string): string {
  let [before, after] = ['', url]
  while (before !== after) [before, after] = [after, unescapedOnce(after)]
  return after.replace(/%25|%[cC]2%/g, '%')
}

function unescapedOnce(url: string): string {
  return url.replace(/(%[\da-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run)
    } catch {
      return run.toLowerCase()
    }
  })
}

function query(url: string, change: (parts: string[]) => string[]): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const parts = change(url.slice(at + 1).split(/[&;]/))
  return parts.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${parts.join('&')}`
}

/** Ours against the canonical form that the suite wants. */
function compared(input: string, got: string | null, wanted: string | null): Verdict {
  if (got === wanted) return null
  const parsed = URL.parse(input)
  if (got === null) return refusedOf(parsed, input)
  if (wanted === null) return deviation('refused there, sound by the URL standard')
  let [ours, theirs] = [got, wanted]
  for (const [why, alike] of steps) {
    ours = alike(ours)
    theirs = alike(theirs)
    if (ours === theirs) return deviation(why)
  }
  return equal(got, wanted)
}

function refusedOf(parsed: URL | null, input: string): Verdict {
  if (parsed === null)
    return /^[a-z][a-z\d+.-]*:/i.test(input.trim())
      ? deviation('the URL standard refuses it')
      : deviation('no scheme is guessed for a link; a seed without one gets https (crawl.ts)')
  if (!/^https?:$/.test(parsed.protocol)) return deviation('neither http nor https: none of ours')
  if (/^\.+$/.test(parsed.hostname)) return deviation('a host of nothing but dots is none')
  if (parsed.username !== '' || parsed.password !== '')
    return deviation('a user or password in the URL: none of ours')
  return parsed.href.length > 2048 ? deviation('longer than 2,048 characters') : fault('refused')
}

/** `normalizeUrl` on the first argument. */
function ofW3lib({ args, kw, result }: Case): Verdict {
  const wanted = URL.parse(textOf(result))
  const bytes = bytesOf(args[0])
  if (kw.path_encoding !== undefined || !isUtf8(bytes))
    return deviation('a path goes out as UTF-8, as in browsers, whatever the page is written in')
  const input = Buffer.from(bytes).toString('utf8')
  if (kw.keep_fragments === true) return deviation('fragments are never kept')
  const coded = withQueryIn(resolveLabel(kw.encoding ?? 'utf-8') ?? 'utf-8', input)
  return compared(input, normalizeUrl(coded), wanted?.href ?? textOf(result))
}

/** These inputs are bytes, each written as one character; such of UTF-8 are meant as text. */
function ofBytes({ input, output }: Case): Verdict {
  const bytes = Buffer.from(input, 'latin1')
  const isBytes = bytes.toString('latin1') === input && isUtf8(bytes)
  const text = isBytes ? bytes.toString('utf8') : input
  return compared(text, normalizeUrl(text), output)
}

function dotsOf({ group, input, output }: Case): Verdict {
  if (group !== 'special')
    return platform(equal(URL.parse(`x://h.example${input}`)?.pathname ?? null, output))
  const url = normalizeUrl(`http://h.example${input}`)
  return compared(input, url, `http://h.example${output}`)
}

const quad = (input: string): string | null => {
  const name = URL.parse(`http://${input}/`)?.hostname ?? ''
  return /^\d+\.\d+\.\d+\.\d+$/.test(name) ? name : null
}

function percentEncoding({ input, output }: Case): Verdict {
  const charsets = Object.entries(output as Record<string, string>)
  const got = charsets.map(([charset]) => {
    const url = URL.parse(withQueryIn(charset, `?${input}`), 'http://h.example/')
    return [charset, url?.search.slice(1) ?? '']
  })
  if (charsets.some(([charset]) => charset === 'iso-2022-jp'))
    return equal(
      got.filter(([charset]) => charset !== 'iso-2022-jp'),
      charsets.filter(([charset]) => charset !== 'iso-2022-jp'),
    )
  return equal(got, charsets)
}

export const urlQuestions: Questions = {
  'url-wpt-urltestdata': ({ input, base, failure, href }) => {
    const url = URL.parse(input, base ?? undefined)
    return platform(equal(url?.href ?? null, failure === true ? null : href))
  },
  'url-wpt-toascii': ({ input, output }) => platform(equal(host(input), output)),
  'url-wpt-IdnaTestV2': ({ input, output }) => platform(equal(host(input), output)),
  'url-wpt-percent-encoding': percentEncoding,
  'url-wpt-setters_tests': setterHolds,
  'url-crawler-commons-normalizer': ({ input, output }) =>
    compared(input, normalizeUrl(input), output),
  'url-crawler-commons-resolve': ({ input, base, output }) =>
    compared(output, normalizeUrl(input, base === '' ? undefined : base), output),
  'url-w3lib-canonicalize': ofW3lib,
  'url-w3lib-safe': ofW3lib,
  'url-w3lib-query': () => deviation('parameters are learned per site, not edited by name'),
  'url-urlcanon-semantic_precise': ofBytes,
  'url-urlcanon-supplemental_whatwg': ofBytes,
  'url-urlcanon-path_dots': dotsOf,
  'url-urlcanon-funky_ipv4': ({ input, output }) => platform(equal(quad(input), output)),
  'url-urlcanon-idempotence': ({ input }) => {
    const url = normalizeUrl(input)
    return url === null ? refusedOf(URL.parse(input), input) : equal(normalizeUrl(url), url)
  },
  'psl-tests': ({ domain, registrable }) => {
    const url = domain === null ? null : normalizeUrl(`http://${domain}/`)
    if (url === null) return equal(null, registrable)
    // What has no registrable domain stands for itself.
    const wanted = URL.parse(`http://${registrable ?? domain}/`)?.hostname
    return equal(registrableDomain(url, true), wanted)
  },
}
