/** The suites about what is in a page or list: base and refresh of HTML, sitemaps. */
import { resolveLabel } from '../../src/crawl/charset.ts'
import { baseOf, refreshOf } from '../../src/crawl/page-links.ts'
import { parsePageTree } from '../../src/crawl/page-tree.ts'
import {
  bytesOf,
  deviation,
  equal,
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

export const pageQuestions: Questions = {
  'html-w3lib-base-metarefresh': fromHtml,
}
