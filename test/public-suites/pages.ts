/** The suites about what is in a page or list: base and refresh of HTML, sitemaps. */
import { resolveLabel } from '../../src/crawl/charset.ts'
import { baseOf, refreshOf } from '../../src/crawl/page-links.ts'
import { parsePageTree } from '../../src/crawl/page-tree.ts'
import { listBytesMax, readList } from '../../src/crawl/sitemap.ts'
import { decodeBody } from '../../src/lib/decode.ts'
import { normalizeUrl } from '../../src/lib/url.ts'
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

function htmlOf(html: Case, charset: string): string {
  if (typeof html === 'string') return html
  return new TextDecoder(charset).decode(bytesOf(html))
}

function fromHtml({ fn, args, kw, result }: Case): Verdict {
  const charset = resolveLabel(kw.encoding ?? args[2] ?? 'utf-8') ?? 'utf-8'
  const url = URL.parse(textOf(args[1] ?? 'http://h.example/'))?.href ?? ''
  const tree = parsePageTree(htmlOf(args[0], charset))
  if (fn === 'get_base_url') {
    const wanted = URL.parse(textOf(result), url)
    return equal(baseOf(tree, url), wanted?.href)
  }
  if (JSON.stringify(kw.ignore_tags) === '[]')
    return deviation('what stands in script and noscript never leads elsewhere')
  const refresh = refreshOf(tree, url, charset)
  const [delayS, target] = result
  const wanted = target === null ? null : URL.parse(target)?.href
  return equal([refresh?.delayS ?? null, refresh?.url ?? null], [delayS, wanted])
}

const listTypes = { urlset: 'XML', index: 'INDEX', rss: 'RSS', atom: 'ATOM', text: 'TEXT' }

/** The same bytes, address and type as another case, and the opposite answer: options of that parser, which these do not name. */
const optionsUnnamed = ['testSitemapXXE', 'testSitemapWithWrongNamespace']

function fromList(one: Case): Verdict {
  const { body_b64: body, url, strict, error, type, urls, sitemaps, test } = one
  const decoded = decodeBody(Buffer.from(body, 'base64'), '', listBytesMax)
  const list =
    decoded.kind === 'decoded'
      ? readList(decoded.bytes, url, { urlsMax: 50_000, ownFolderOnly: strict })
      : null
  if (error !== null) {
    if (list === null) return null
    const name = String(test).split('.').at(-1) ?? ''
    return optionsUnnamed.includes(name)
      ? deviation('what a strict parser refuses is read: its forgiving twin case wants that')
      : fault(`not refused, but ${error} is wanted`)
  }
  if (list === null) return fault('refused')
  const got = list.urls.map(({ url: loc, lastmodMs, changes, priority }) => {
    const lastmod =
      lastmodMs === null ? null : new Date(lastmodMs).toISOString().replace('.000', '')
    if (list.kind === 'index') return { loc, lastmod }
    return { loc, lastmod, changefreq: changes?.toUpperCase() ?? null, priority }
  })
  const wanted = (urls ?? sitemaps ?? []).map((each: Case) => ({
    ...each,
    loc: normalizeUrl(each.loc),
  }))
  return equal([listTypes[list.kind], got], [type, wanted])
}

export const pageQuestions: Questions = {
  'sitemaps-crawler-commons': fromList,
  'html-w3lib-base-metarefresh': fromHtml,
}
