/** From the body of a response to the analysed page, in the parser thread: charset, one pass, main content, terms, fingerprint. Reads and writes nothing. */
import { decodeBody } from '../lib/decode.ts'
import { packText } from '../lib/packed-text.ts'
import { judgeWords, type WordJudge } from '../text/judge-words.ts'
import { KEYWORDS_MAX, type Keywords } from '../text/keywords.ts'
import { detectLanguage } from '../text/language.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { WordMatcher } from '../text/word-match.ts'
import { type DecodedText, decodeText } from './charset.ts'
import { readPdfDocument, readText, type ReadDocument } from './document-kinds.ts'
import { type Content, extractContent } from './extract.ts'
import { judgeContent, judgePage, maskFields } from './filter-page.ts'
import { recognise } from './fingerprint-fields.ts'
import { copyOf, shownLine } from './kept-text.ts'
import type { FieldValue, ParsedItem, ParsedPage, ParseJob, ParseOutcome } from './page.ts'
import { lineHashesOf } from './line-hashes.ts'
import { canonicalOf, directivesOf, feedsOf, linksOf, promptRefresh } from './page-links.ts'
import { parsePageTree, treeLimits } from './page-tree.ts'
import type { AppliedRule } from './apply-rule.ts'
import {
  applyToHtml,
  contentOfItem,
  readJsonPage,
  reportOfItem,
  ruledParts,
  withRule,
} from './rule-page.ts'
import { isShell } from './shell.ts'
import { isMarkdown, isPage, isPdf, mediaType, sniff } from './sniff.ts'

export type ParserOptions = {
  analyzer: Pick<Analyzer, 'document'>
  keywords: Pick<Keywords, 'keywords'>
  /** A body that decodes to more is refused. */
  decodedBytesMax: number
  /** Links kept of a page. */
  linksMax?: number
  /** Wall clock, ms: for pages that are to be forgotten after a date. */
  now?: () => number
  /** The word lists in force; null = none. */
  words?: () => WordMatcher | null
}

/** `parse` takes one page. It never rejects: what a page does to it is a value. */
export type Parser = { parse(job: ParseJob): Promise<ParseOutcome> }

export function createParser(options: ParserOptions): Parser {
  return {
    async parse(job) {
      try {
        const words = options.words?.() ?? null
        const judge = words === null ? null : judgeWords(words)
        const outcome = await parsePage(job, { ...options, judge })
        return outcome.kind === 'page'
          ? { kind: 'page', page: judgePage(outcome.page, judge) }
          : outcome
      } catch (error) {
        return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}

/** With the judge of this page. */
type PageOptions = ParserOptions & { judge: WordJudge | null }

async function parsePage(job: ParseJob, options: PageOptions): Promise<ParseOutcome> {
  const body = decodeBody(job.body, job.encoding, options.decodedBytesMax)
  if (body.kind === 'refused') return body
  if (job.rule?.rule.format === 'json') return readJson(job, body.bytes, options)
  if (!isPage(job.contentType, body.bytes)) return { kind: 'refused', reason: 'type' }
  if (isPdf(job.contentType, body.bytes)) {
    const read = await readPdfDocument(body.bytes, job.url)
    if (read === null) return { kind: 'refused', reason: 'broken-pdf' }
    return { kind: 'page', page: await asPage(read, '', job, options) }
  }
  const decoded = decodeText(body.bytes, job.contentType)
  if (!/\S/.test(decoded.text)) return { kind: 'refused', reason: 'empty' }
  const read = isPlain(job.contentType, body.bytes) ? readPlain : readHtml
  return { kind: 'page', page: await read(job, decoded, options) }
}

/** Plain text and Markdown by their label; where the label says nothing, by its bytes. */
function isPlain(contentType: string, bytes: Uint8Array): boolean {
  const type = mediaType(contentType)
  if (type === 'text/plain' || isMarkdown(contentType, '')) return true
  return !type.endsWith('html') && sniff(bytes) === 'text'
}

async function readHtml(
  job: ParseJob,
  { text: html, charset }: DecodedText,
  options: PageOptions,
): Promise<ParsedPage> {
  const { url, robotsTag } = job
  const { linksMax = treeLimits.linksMax, now = Date.now } = options
  const tree = parsePageTree(html, { ...treeLimits, linksMax })
  const directives = directivesOf(tree, robotsTag, now())
  const found = await applyToHtml(html, job, tree)
  const content = withRule(extractContent(tree, url), found)
  const links = linksOf(tree, url, linksMax, directives.nofollow, charset)
  return {
    ...(await analyse(content, tree.lang, job, options, found?.fields)),
    ...(await itemsOf(found, job, { lang: tree.lang, charset, ...directives }, options)),
    ...withLinkTexts(ruledParts(job, found, [...links.keys()]), links),
    ...(isShell(html, content.text, content.rest, content.title) ? { isShell: true } : {}),
    canonical: canonicalOf(tree, url),
    refresh: directives.nofollow ? null : promptRefresh(tree, url, charset),
    feeds: directives.nofollow ? [] : feedsOf(tree, url),
    noindex: directives.noindex,
    noarchive: directives.noarchive,
    ...(directives.expiresAtMs === null ? {} : { expiresAtMs: directives.expiresAtMs }),
    charset,
  }
}

function withLinkTexts<Page extends Pick<ParsedPage, 'links'>>(
  page: Page,
  texts: ReadonlyMap<string, string>,
): Page & Pick<ParsedPage, 'linkTexts'> {
  const linkTexts = page.links.map((link) => texts.get(link) ?? '').join('\n')
  return linkTexts.length < page.links.length ? page : { ...page, linkTexts }
}

async function readPlain(
  job: ParseJob,
  { text, charset }: DecodedText,
  options: PageOptions,
): Promise<ParsedPage> {
  const { linksMax = treeLimits.linksMax } = options
  return asPage(readText(text, job.url, job.contentType, linksMax), charset, job, options)
}

/** A document that says nothing of itself but its content and links; robots are told by the header alone. */
async function asPage(
  { content, links }: ReadDocument,
  charset: string,
  job: ParseJob,
  options: PageOptions,
): Promise<ParsedPage> {
  const { now = Date.now } = options
  const { noindex, nofollow, noarchive, expiresAtMs } = directivesOf(null, job.robotsTag, now())
  return {
    ...(await analyse(content, '', job, options)),
    fields: {},
    links: nofollow ? [] : links,
    canonical: null,
    refresh: null,
    feeds: [],
    noindex,
    noarchive,
    ...(expiresAtMs === null ? {} : { expiresAtMs }),
    charset,
  }
}

/** Only where a rule asks for it: a JSON document as a page. */
async function readJson(
  job: ParseJob,
  bytes: Uint8Array,
  options: PageOptions,
): Promise<ParseOutcome> {
  const { text, charset } = decodeText(bytes, job.contentType)
  const read = await readJsonPage(text, job)
  if (read === null) return { kind: 'refused', reason: 'no-json' }
  const { noindex, noarchive } = directivesOf(null, job.robotsTag, (options.now ?? Date.now)())
  const page: ParsedPage = {
    ...(await analyse(read.content, '', job, options, read.found.fields)),
    ...(await itemsOf(
      read.found,
      job,
      { lang: '', charset, noarchive, expiresAtMs: null },
      options,
    )),
    ...ruledParts(job, read.found, []),
    canonical: null,
    refresh: null,
    feeds: [],
    noindex,
    noarchive,
    charset,
  }
  return { kind: 'page', page }
}

/** What an item has of the page that it stands on. */
type ItemOf = { lang: string; charset: string; noarchive: boolean; expiresAtMs: number | null }

/** Items are read as pages are: found by their words, recognised as copies, judged by word lists, each by itself. */
async function itemsOf(
  found: AppliedRule | null,
  job: ParseJob,
  { lang, charset, noarchive, expiresAtMs }: ItemOf,
  options: PageOptions,
): Promise<Pick<ParsedPage, 'items'>> {
  if (found?.items === undefined) return {}
  if (found.items === 'unknown') return { items: 'unknown' }
  const words = options.words?.() ?? null
  const items: ParsedItem[] = []
  for (const item of found.items) {
    const judge = words === null ? null : judgeWords(words)
    const content = withRule(contentOfItem(item), item)
    const page: ParsedPage = {
      ...(await analyse(
        content,
        lang,
        { ...job, url: item.url },
        { ...options, judge },
        item.fields,
      )),
      fields: item.fields,
      links: [],
      canonical: null,
      refresh: null,
      feeds: [],
      noindex: false,
      noarchive,
      ...(expiresAtMs === null ? {} : { expiresAtMs }),
      charset,
      rule: reportOfItem(found.report, item),
    }
    items.push({ url: item.url, page: judgePage(page, judge) })
  }
  return { items }
}

type Analysed = Omit<
  ParsedPage,
  'fields' | 'links' | 'canonical' | 'refresh' | 'feeds' | 'noindex' | 'noarchive' | 'charset'
>

/** What text, of whatever kind, is stored and found by. Where the extraction is unsure, prose of the rest counts as content. */
async function analyse(
  found: Content,
  declaredLang: string,
  { url, seed, rule }: ParseJob,
  { analyzer, keywords, judge }: PageOptions,
  fields: Record<string, FieldValue> = {},
): Promise<Analysed> {
  const content = judgeContent(found, judge)
  const { text, rest, doubtful, confidence, publishedAtMs } = content
  const title = shownLine(content.title) || url // a title of controls alone shows nothing
  const headings = copyOf(content.headings)
  const lang = detectLanguage(`${title}\n${text}`, declaredLang)
  const { terms, quants, length, pairs } = analyzer.document({
    title,
    headings,
    text: doubtful === '' ? text : `${text}\n${doubtful}`,
    rest,
    url,
  })
  return {
    title,
    description: shownLine(content.description),
    lang,
    headings,
    author: shownLine(content.author),
    publishedAtMs,
    keywords: (await keywords.keywords(text, title, lang, KEYWORDS_MAX)).map(
      ({ word, weight }) => ({
        word: copyOf(word),
        weight,
      }),
    ),
    text: packText(text),
    textChars: text.length,
    rest: rest === '' ? new Uint8Array() : packText(rest),
    confidence,
    terms,
    quants,
    length,
    pairs,
    ...recognise(
      { ...content, title, fields: maskFields(fields, judge) },
      rule?.rule.fingerprintFields,
      seed,
    ),
    lineHashes: lineHashesOf(text),
  }
}
