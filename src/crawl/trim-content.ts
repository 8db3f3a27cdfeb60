/** Takes out of the chosen content what is none: boxes by tag, name and shape, then single lines. Works on the living part of the tree. */
import { isNote, isShareName, isSoftProse, isStrongName, nameWeight } from './block-names.ts'
import {
  type Block,
  isHeading,
  type Line,
  linkDensity,
  livingLines,
  menuShare,
  saysTheSame,
  sumUp,
  textOf,
  widthOf,
} from './blocks.ts'
import type { Strictness } from './find-content.ts'
import {
  isBylineLine,
  isInterfaceLine,
  isLegalLine,
  isPromotionLine,
  isTailLine,
} from './line-kinds.ts'

const shareWidthMax = 500
const conditionalTag = /^(form|fieldset|table|ul|ol|dl|div|section)$/
const menuTag = /^(div|ul|ol|table|section|dl|header|tr|p)$/
/** Below this the lines are no article and the filters for articles stay off. */
const prose = { widthMin: 600, shareMin: 0.75 }

/** Kills the boxes inside `block` that are not content. `titleLetters`: letters of the page's title; `total`: columns of the whole content. */
export function sweep(
  block: Block,
  strictness: Strictness,
  titleLetters: string,
  total: number,
): void {
  for (const kid of block.kids) {
    if (kid.kids === null || kid.isDead) continue
    if (isForeign(kid, strictness, total)) {
      kid.isDead = true
      continue
    }
    sweep(kid, strictness, titleLetters, total)
    sumUp(kid)
    if (isHeading(kid.tag)) kid.isDead = isSpareHeading(kid, strictness, titleLetters)
    else if (strictness < 3 && conditionalTag.test(kid.tag))
      kid.isDead = failsConditions(kid, strictness)
  }
}

/** Not content wherever it stands. Captions belong to pictures: they are found with the rest of the page. */
function isForeign(block: Block, strictness: Strictness, total: number): boolean {
  const { tag, names, sums } = block
  if (tag === 'footer' || tag === 'figcaption' || tag === 'caption') return true
  if (tag === 'aside' && !isNote(block, total)) return true
  if (sums.width < shareWidthMax && isShareName(names)) return true
  return (
    strictness < 2 &&
    tag !== 'article' &&
    names !== '' &&
    isStrongName(names) &&
    sums.width < total * 0.35 &&
    !isSoftProse(block) &&
    (sums.width < 400 || linkDensity(block) > 0.3)
  )
}

/** The title is a field of its own. */
const isSpareHeading = (block: Block, strictness: Strictness, titleLetters: string): boolean =>
  block.isFirstHeading ||
  (strictness < 2 && nameWeight(block) < 0) ||
  saysTheSame(textOf(livingLines(block), ' '), titleLetters)

/** Readability's conditions on boxes, with the share of menu lines where it takes the density of links. */
function failsConditions(block: Block, strictness: Strictness): boolean {
  const { tag, sums } = block
  const weight = strictness < 2 ? nameWeight(block) : 0
  if (weight < 0 && !isSoftProse(block)) return true
  if (sums.commas >= 10 || sums.holdsCode) return false
  const menu = menuShare(block)
  if (menu > 0.5 || sums.inputs > Math.floor(sums.paragraphs / 3)) return true
  if (tag === 'ul' || tag === 'ol') return false
  if (sums.items > sums.paragraphs + 100) return true
  if (sums.width < 25 && sums.headingWidth < sums.width * 0.9 && menu > 0) return true
  return weight < 25 && menu > 0.2
}

/** Kills the boxes that are mostly lines of links, and small ones whose name says that they are no content. */
export function dropMenus(block: Block): void {
  for (const kid of block.kids) {
    if (kid.kids === null || kid.isDead) continue
    const isMenu = menuShare(kid) > 0.6 && kid.sums.width > 20 && menuTag.test(kid.tag)
    const isNamedAside = kid.names !== '' && kid.sums.width < 400 && isStrongName(kid.names)
    if (isMenu || (isNamedAside && !isSoftProse(kid))) kid.isDead = true
    else dropMenus(kid)
  }
}

const isNoInterface = (line: Line): boolean => line.block.tag === 'pre' || !isInterfaceLine(line)

/** The lines without interface words and, in prose, without promotions, bylines at the edges, legal lines and "related" tails. Code is never touched. */
export function polish(lines: readonly Line[]): Line[] {
  const total = widthOf(lines)
  let unlinked = total
  for (const { linkedWidth } of lines) unlinked -= linkedWidth
  const isProse = unlinked >= prose.widthMin && unlinked >= total * prose.shareMin
  if (!isProse) return lines.filter(isNoInterface)
  const areLinksRare = lines.filter(isLinkLine).length < Math.max(4, lines.length * 0.2)
  const proseLeft = proseFrom(lines)
  const kept: Line[] = []
  let start = 0
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as Line
    const isCode = line.block.tag === 'pre'
    if (!isCode && isTailLine(line)) {
      if (start > total * 0.5 && (proseLeft[i + 1] ?? 0) < total * 0.06) break
      const end = endOfLinks(lines, i + 1)
      if (end > i + 1) {
        start += widthOf(lines.slice(i, end))
        i = end - 1
        continue
      }
    }
    const isEdge = i < 6 || i > lines.length - 6
    const isSpare =
      !isCode &&
      (isInterfaceLine(line) ||
        isPromotionLine(line) ||
        isSpareLink(lines, i, areLinksRare) ||
        (isEdge && isBylineLine(line)) ||
        (start > total * 0.7 && isLegalLine(line)))
    if (!isSpare) kept.push(line)
    start += line.width
  }
  return kept
}

const isLinkLine = ({ width, linkedWidth }: Line): boolean => linkedWidth > width * 0.9

/** A teaser between paragraphs, or a label in capitals; lines of a list of links and written addresses stay. */
function isSpareLink(lines: readonly Line[], i: number, areLinksRare: boolean): boolean {
  const line = lines[i] as Line
  if (!isLinkLine(line) || line.width >= 250) return false
  const { text, width } = line
  if (width > 15 && /[A-Z]/.test(text) && text === text.toUpperCase()) return true
  const [before, after] = [lines[i - 1], lines[i + 1]]
  const isInRun =
    before !== undefined && after !== undefined && isLinkLine(before) && isLinkLine(after)
  const isParagraph = /^(p|div|section|article|h\d)$/.test(line.block.tag)
  return areLinksRare && isParagraph && !isInRun && !/^https?:/.test(text)
}

/** Columns of prose from each line to the end. */
function proseFrom(lines: readonly Line[]): Float64Array {
  const left = new Float64Array(lines.length + 1)
  for (let i = lines.length - 1; i >= 0; i--) {
    const { width, linkedWidth } = lines[i] as Line
    left[i] = (left[i + 1] ?? 0) + (width > 40 && linkedWidth < width * 0.3 ? width : 0)
  }
  return left
}

/** Where the lines of links from `from` on end, at most eleven. */
function endOfLinks(lines: readonly Line[], from: number): number {
  let end = from
  while (end < from + 11) {
    const line = lines[end]
    if (line === undefined || line.linkedWidth <= line.width * 0.6) break
    end++
  }
  return end
}
