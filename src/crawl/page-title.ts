/** A page's title without the site's name, its description and its author. Total: a page always has a title. */
import { collapseBlanks, lettersOf, measureText } from './blocks.ts'
import type { ArticleFacts } from './json-ld.ts'
import type { PageTree } from './page-tree.ts'

const titleCharsMax = 300
const descriptionCharsMax = 500
const authorCharsMax = 200
/** A first part shorter than this, in columns, may be a section or site name. */
const headlineWidthMin = 12
const separator = /\s[|–—»·:-]\s|\s?[|_»]\s?/
const authorKeys = [
  'author',
  'article:author',
  'dc.creator',
  'parsely-author',
  'sailthru.author',
  'byl',
]

/**
 * The headline: what an h1 or h2 and the title element agree on, else JSON-LD's, else the title element without the site's
 * name. Where none is given: the first h1, the first line, the URL.
 */
export function titleOf(
  tree: PageTree,
  facts: ArticleFacts,
  firstLine: string,
  url: string,
): string {
  const openGraph = firstMeta(tree, ['og:title', 'twitter:title'])
  const whole = (openGraph || tree.title).slice(0, titleCharsMax * 2)
  const title =
    confirmedHeading(tree, whole) ||
    headlineInTitle(tree, facts) ||
    withoutSiteName(tree, whole, openGraph)
  const found = title || tree.firstHeading || facts.headline || firstLine.slice(0, 120) || url
  return collapseBlanks(found.slice(0, titleCharsMax))
}

export const descriptionOf = (tree: PageTree): string =>
  firstMeta(tree, ['description', 'og:description', 'twitter:description']).slice(
    0,
    descriptionCharsMax,
  )

/** Who wrote it, as the page says; '' where it does not, or gives an address for a name. */
export function authorOf(tree: PageTree, facts: ArticleFacts): string {
  const raw = facts.author || firstMeta(tree, authorKeys) || (tree.authors[0] ?? '')
  const author = collapseBlanks(raw.slice(0, authorCharsMax * 2)).replace(
    /^(by|von|par|por|作者)[\s:：]+/i,
    '',
  )
  return /^https?:/.test(author) ? '' : author.slice(0, authorCharsMax)
}

function firstMeta(tree: PageTree, keys: readonly string[]): string {
  for (const key of keys) {
    const content = tree.metas.get(key)
    if (content !== undefined && content !== '') return content
  }
  return ''
}

const siteName = (tree: PageTree): string => firstMeta(tree, ['og:site_name', 'application-name'])

/** The longest heading that stands in the title, but for the site's name and for a short h1 beside a longer rest. */
function confirmedHeading(tree: PageTree, whole: string): string {
  const [inWhole, inTitle] = [lettersOf(whole), lettersOf(tree.title)]
  const site = lettersOf(siteName(tree))
  let longest = ''
  for (const heading of tree.headings) {
    const letters = lettersOf(heading)
    if (letters.length <= 3 || letters === site || heading.length <= longest.length) continue
    if (inWhole.includes(letters) || inTitle.includes(letters)) longest = heading
  }
  if (longest === '') return ''
  const rest = inTitle.replace(lettersOf(longest), '').trim()
  return longest.length >= rest.length || longest !== tree.firstHeading ? longest : ''
}

const headlineInTitle = (tree: PageTree, { headline }: ArticleFacts): string =>
  headline !== '' && lettersOf(tree.title).includes(lettersOf(headline)) ? headline : ''

function withoutSiteName(tree: PageTree, whole: string, openGraph: string): string {
  const parts = whole.split(separator).filter((part) => part.trim() !== '')
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined || parts.length < 2) return whole
  const site = lettersOf(siteName(tree))
  const rest = parts.filter((part) => site === '' || lettersOf(part) !== site)
  if (rest.length < parts.length && rest.length > 0) {
    const joined = rest.join(' - ')
    return whole.includes(joined) ? joined : (rest[0] ?? whole)
  }
  if (openGraph !== '' && whole !== tree.title) return whole
  const { width } = measureText(first)
  return width >= headlineWidthMin || width >= measureText(last).width ? first : whole
}
