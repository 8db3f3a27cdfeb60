/** The main content of a page from its light tree, with title, author and date: which attempt is taken, and how sure it is. Knows no parser thread. */
import {
  type Block,
  isHeading,
  lettersOf,
  type Line,
  linkDensity,
  livingLines,
  measureText,
  revive,
  saysTheSame,
  textOf,
  widthOf,
} from './blocks.ts'
import { findContent, pruneLayout, type Strictness } from './find-content.ts'
import { type ArticleFacts, articleFacts } from './json-ld.ts'
import { publicationMs } from './page-date.ts'
import { authorOf, descriptionOf, titleOf } from './page-title.ts'
import { type PageTree, parsePageTree } from './page-tree.ts'
import { dropMenus, polish, sweep } from './trim-content.ts'

export type Content = {
  title: string
  description: string
  author: string
  publishedAtMs: number | null
  /** Main content, a line per block. Never empty. */
  text: string
  /** The headings in it, a line each. */
  headings: string
  /** All other text of the page. */
  rest: string
  /** 0..1. */
  confidence: number
  /** Where confidence and text are little: the prose of `rest`, which may be content as well; else empty. */
  doubtful: string
  /** Where the text comes from: the strictness of the attempt, or what stood in for it. */
  kind: 'level0' | 'level1' | 'level2' | 'level3' | 'rest' | 'json-ld' | 'all'
}

const headingsMax = 40
/** An attempt narrower than this is repeated less strictly, and must then give twice as much ... */
const shortWidth = 500
const gainMin = 2
/** ... unless it is short but dense: a notice in whole paragraphs. */
const dense = { widthMin: 200, lineWidthMin: 150 }
/** All that is not layout is taken where the best attempt has less than this, or less than half of a page that is no article. */
const tinyWidth = 250
const restMode = { densityMax: 0.35, shareMax: 0.5, widthMax: 3_000, gainMin: 1.3 }
/** A list of links of which the best attempt is less than this share is itself what the page is for: contents of a book, an index, a portal. */
const listMode = { densityMin: 0.6, shareMax: 0.3 }
const unsure = { confidenceMax: 0.35, widthMax: 6_000 }

type Attempt = { lines: readonly Line[]; width: number; kind: Content['kind']; margin: number }

/** Title, author, date and main content. Total and never empty: a page without text has its description, title or URL as text. Marks blocks of `tree`. */
export function extractContent(tree: PageTree, url: string): Content {
  const everything = livingLines(tree.root)
  const facts = articleFacts(tree.jsonLd)
  const title = titleOf(tree, facts, everything[0]?.text ?? '', url)
  const isArticle = claimsArticle(tree, facts)
  let attempt = bestAttempt(tree, isArticle)
  const { density, proseWidth } = prepareRest(tree.root)
  const share = proseWidth === 0 ? 1 : Math.min(1, attempt.width / proseWidth)
  attempt =
    !isArticle && density >= listMode.densityMin
      ? listInstead(tree, attempt)
      : restInstead(tree, attempt, isArticle || density >= restMode.densityMax ? 1 : share)
  const body = structuredBody(facts, attempt.width)
  const { text, kind } = textAndKind(tree, attempt, body, everything, title)
  const confidence = confidenceOf(kind, attempt, share)
  const width = body === '' ? attempt.width : measureText(body).width
  const { kept, others } = partLines(everything, kind, attempt.lines)
  const isUnsure = confidence < unsure.confidenceMax && width < unsure.widthMax
  return {
    title,
    description: descriptionOf(tree),
    author: authorOf(tree, facts),
    publishedAtMs: publicationMs(tree, facts, everything, url),
    text,
    headings: textOf(kept.filter(isHeadingLine).slice(0, headingsMax)),
    rest: textOf(others),
    confidence,
    doubtful: isUnsure ? textOf(others.filter(isProseLine)) : '',
    kind,
  }
}

/** `content` and what else the page has, each in its order. */
function partLines(
  everything: readonly Line[],
  kind: Content['kind'],
  content: readonly Line[],
): { kept: readonly Line[]; others: readonly Line[] } {
  if (kind === 'all') return { kept: everything, others: [] }
  if (kind === 'json-ld') return { kept: [], others: everything }
  const isKept = new Set(content)
  const others: Line[] = []
  for (const line of everything) if (!isKept.has(line)) others.push(line)
  return { kept: content, others }
}

const isProseLine = ({ width, linkedWidth }: Line): boolean =>
  width >= 25 && linkedWidth < width * 0.5

const isHeadingLine = ({ block }: Line): boolean => isHeading(block.tag)

/** Does the page say that it is one article? */
const claimsArticle = (tree: PageTree, { types }: ArticleFacts): boolean =>
  tree.hasArticleBody ||
  /article|blog/i.test(tree.metas.get('og:type') ?? '') ||
  tree.metas.has('article:published_time') ||
  /article|posting|report/i.test(types)

/** Less and less strict, until there is enough. */
function bestAttempt(tree: PageTree, isArticle: boolean): Attempt {
  const titleLetters = lettersOf(tree.title)
  let best: Attempt = { lines: [], width: 0, kind: 'all', margin: 0 }
  for (const strictness of [0, 1, 2, 3] satisfies Strictness[]) {
    const found = findContent(tree.root, strictness, isArticle)
    if (found !== null) {
      let total = 0
      for (const part of found.parts) total += part.sums.width
      const living: Line[] = []
      for (const part of found.parts) {
        sweep(part, strictness, titleLetters, total)
        livingLines(part, living)
      }
      const lines = polish(living)
      const width = widthOf(lines)
      if (width > best.width * (strictness > 0 ? gainMin : 1))
        best = { lines, width, kind: `level${strictness}`, margin: found.margin }
    }
    const isDense =
      best.width >= dense.widthMin && best.width / best.lines.length >= dense.lineWidthMin
    if (best.width >= shortWidth || isDense) break
  }
  return best
}

/** Leaves alive what is not layout. */
function prepareRest(root: Block): { density: number; proseWidth: number } {
  pruneLayout(root, 0)
  let proseWidth = 0
  for (const { width, linkedWidth } of livingLines(root))
    if (linkedWidth < width * 0.5) proseWidth += width
  return { density: linkDensity(root), proseWidth }
}

/** Everything but layout, where the best block is little of a page of links. */
function listInstead(tree: PageTree, attempt: Attempt): Attempt {
  const lines = livingLines(tree.root).filter(isNoTitle(tree))
  const width = widthOf(lines)
  return attempt.width < width * listMode.shareMax
    ? { lines, width, kind: 'rest', margin: 0 }
    : restInstead(tree, attempt, 1)
}

function isNoTitle({ title }: PageTree): (line: Line) => boolean {
  const titleLetters = lettersOf(title)
  return (line) => line.block.tag !== 'h1' || !saysTheSame(line.text, titleLetters)
}

/** Everything but layout and menus, where the best block is next to nothing of the page. */
function restInstead(tree: PageTree, attempt: Attempt, share: number): Attempt {
  const isPart = share < restMode.shareMax && attempt.width < restMode.widthMax
  if (attempt.width >= tinyWidth && !isPart) return attempt
  const { root } = tree
  dropMenus(root)
  let lines = livingLines(root)
  if (widthOf(lines) < tinyWidth) {
    pruneLayout(root, 0)
    lines = livingLines(root)
  }
  lines = lines.filter(isNoTitle(tree))
  const width = widthOf(lines)
  return width > attempt.width * restMode.gainMin
    ? { lines, width, kind: 'rest', margin: 0 }
    : attempt
}

/** JSON-LD's text, where the page shows less than half of it; '' otherwise. */
function structuredBody({ body }: ArticleFacts, width: number): string {
  const isMarkup = /<\/?[a-z][^<>]{0,200}>|&[a-z]{2,10};/i.test(body)
  const text = isMarkup ? textOf(livingLines(parsePageTree(body).root)) : body
  const bodyWidth = measureText(text).width
  return bodyWidth >= tinyWidth && width < bodyWidth * 0.5 ? text : ''
}

function textAndKind(
  tree: PageTree,
  attempt: Attempt,
  body: string,
  everything: readonly Line[],
  title: string,
): { text: string; kind: Content['kind'] } {
  if (body !== '') return { text: body, kind: 'json-ld' }
  if (attempt.width > 0) return { text: textOf(attempt.lines), kind: attempt.kind }
  revive(tree.root)
  return { text: textOf(everything) || descriptionOf(tree) || title, kind: 'all' }
}

/** By size, by how far the best rival is behind, and by the share of the page's prose. */
function confidenceOf(kind: Content['kind'], { width, margin }: Attempt, share: number): number {
  if (kind === 'json-ld') return 0.8
  if (kind !== 'level0') return 0.2
  return Math.min(1, width / 1_000) * (0.4 + 0.3 * Math.max(0, margin) + 0.3 * share)
}
