/** Finds the block that holds the main content: unlikely boxes are pruned, the lines left vote for their ancestors. The idea is Readability's. */
import { isFootName, isSoftProse, isUnlikelyName, nameWeight } from './block-names.ts'
import { type Block, type Line, linkDensity, livingLines, measureBlock, revive } from './blocks.ts'
import { isLegalLine } from './line-kinds.ts'

/** How strictly: 0 by names, tags and roles; 1 no names but of feet; 2 no weight of names; 3 no conditions on boxes. */
export type Strictness = 0 | 1 | 2 | 3

export type Found = {
  /** The chosen block and those of its siblings that belong to it, in page order. */
  parts: readonly Block[]
  /** 0..1: how far the best unrelated rival is behind. */
  margin: number
}

const voteWidthMin = 25
const voteGenerations = 5
const startScore: Readonly<Record<string, number>> = {
  div: 5,
  article: 8,
  main: 5,
  section: 3,
  pre: 3,
  td: 3,
  blockquote: 3,
  address: -3,
  ol: -3,
  ul: -3,
  dl: -3,
  dd: -3,
  dt: -3,
  li: -3,
  form: -3,
  h1: -5,
  h2: -5,
  h3: -5,
  h4: -5,
  h5: -5,
  h6: -5,
  th: -5,
}
const rootTags: ReadonlySet<string> = new Set(['html', 'body', 'article', 'main'])
const layoutRole =
  /^(menu|menubar|complementary|navigation|alert|alertdialog|dialog|banner|contentinfo|search)$/
/** Blocks whose lines speak for their parent. */
const paragraphTag = /^(p|pre|blockquote|td|li|dd|h[2-6])$/
/** Lines of these are content though they are short. */
const scrapTag = /^(pre|h\d|li|d[dt]|t[dh])$/

/** An ancestor must bring half as much prose again, with little noise beside it; ten times as much is another page's list. */
const climb = { gainMin: 0.5, noiseMax: 0.15, gainMax: 10, enoughWidth: 400, generations: 6 }

/**
 * The content of a page at one strictness; null where no line is long enough to vote.
 * Afterwards the pruned blocks are dead and all sums are those of the living.
 * `isArticle`: the page says that it is one article, so nothing more is taken in than the best block.
 */
export function findContent(root: Block, strictness: Strictness, isArticle: boolean): Found | null {
  pruneLayout(root, strictness)
  const scored: Block[] = []
  vote(root, strictness, scored)
  let best: Block | null = null
  for (const block of scored) {
    block.score *= (1 - linkDensity(block)) * (block.itemprop === 'articleBody' ? 1.3 : 1)
    if (best === null || block.score > best.score) best = block
  }
  if (best === null) return null
  const rivals: Block[] = []
  for (const block of scored) if (block !== best && block.score > 0) rivals.push(block)
  rivals.sort(byScore)
  const margin = marginOver(best, rivals)
  best = onlyChildsTop(risingParent(commonParent(best, rivals)))
  if (!isArticle) best = climbToProse(best)
  return { parts: withSiblings(best), margin }
}

/** Revives the page and kills the boxes that are no content by role, tag and name; leaves all sums measured. */
export function pruneLayout(root: Block, strictness: Strictness): void {
  revive(root)
  measureBlock(root)
  prune(root, root.sums.width, strictness)
  measureBlock(root)
}

function prune(block: Block, total: number, strictness: Strictness): void {
  for (const kid of block.kids) {
    if (kid.kids === null) continue
    if (isLayout(kid, total, strictness)) kid.isDead = true
    else prune(kid, total, strictness)
  }
}

function isLayout(block: Block, total: number, strictness: Strictness): boolean {
  const { tag, names, sums } = block
  const isMinor = sums.width < total * 0.6
  const isNamed = names !== '' && !rootTags.has(tag)
  if (isMinor) {
    if (block.isHidden || layoutRole.test(block.role) || tag === 'nav') return true
    if (strictness < 2 && tag === 'footer') return true
  }
  if (!isNamed) return false
  if (strictness === 0) return isMinor && isUnlikelyName(names) && !isSoftProse(block)
  return strictness < 3 && sums.width < total * 0.4 && isFootName(names)
}

/** Each line gives its worth to its parent whole, to the grandparent by half, then less. */
function vote(block: Block, strictness: Strictness, scored: Block[]): void {
  for (const kid of block.kids) {
    if (kid.isDead) continue
    if (kid.kids !== null) vote(kid, strictness, scored)
    else if (kid.width >= voteWidthMin && !isLegalLine(kid)) voteFor(block, kid, strictness, scored)
  }
}

function voteFor(block: Block, line: Line, strictness: Strictness, scored: Block[]): void {
  const worth =
    (1 + line.commas + Math.min(Math.floor(line.width / 100), 3)) *
    (1 - line.linkedWidth / line.width) *
    (block.tag === 'li' ? 0.5 : 1)
  const speaksForParent =
    paragraphTag.test(block.tag) || (block.childBlocks === 0 && block.tag === 'div')
  let to = speaksForParent ? block.parent : block
  for (let i = 0; i < voteGenerations && to !== null && to.parent !== null; i++, to = to.parent) {
    if (!to.isScored) {
      to.isScored = true
      to.score = (startScore[to.tag] ?? 0) + (strictness < 2 ? nameWeight(to) : 0)
      scored.push(to)
    }
    to.score += worth / (i === 0 ? 1 : i === 1 ? 2 : i * 3)
  }
}

const byScore = (a: Block, b: Block): number => b.score - a.score

const isBelow = (block: Block, ancestor: Block): boolean => {
  for (let at: Block | null = block; at !== null; at = at.parent) if (at === ancestor) return true
  return false
}

function marginOver(best: Block, rivals: readonly Block[]): number {
  if (best.score <= 0) return 0
  for (const other of rivals)
    if (!isBelow(other, best) && !isBelow(best, other)) return 1 - other.score / best.score
  return 1
}

/** Where three or more are nearly as good, the content is what holds them together. */
function commonParent(best: Block, rivals: readonly Block[]): Block {
  const top = [best]
  // They come best first.
  for (const rival of rivals) {
    if (top.length === 5 || rival.score < best.score * 0.75) break
    top.push(rival)
  }
  if (top.length <= 3) return best
  for (let at = best.parent; at !== null && at.parent !== null; at = at.parent) {
    let below = 0
    for (const block of top) if (isBelow(block, at)) below++
    if (below >= 3) return at
  }
  return best
}

/** A parent that scores higher than what was passed on the way up; a score under a third ends the way. */
function risingParent(best: Block): Block {
  let last = best.score
  const floor = last / 3
  for (
    let at = best.parent;
    at !== null && at.parent !== null && at.tag !== 'body';
    at = at.parent
  ) {
    if (!at.isScored) continue
    if (at.score < floor) break
    if (at.score > last) return at
    last = at.score
  }
  return best
}

/** The outermost of boxes in boxes, so that its siblings are seen. */
function onlyChildsTop(best: Block): Block {
  let top = best
  for (
    let at = top.parent;
    at !== null && at.parent !== null && at.tag !== 'body';
    at = at.parent
  ) {
    if (at.kids.filter((kid) => !kid.isDead).length !== 1) break
    top = at
  }
  return top
}

/** Documentation, forums, several articles on a page: an ancestor that brings much prose and few links or scraps. */
function climbToProse(block: Block): Block {
  let best = block
  let now = proseOf(best)
  let generation = 0
  for (
    let at = best.parent;
    at !== null && at.parent !== null && at.tag !== 'html' && generation < climb.generations;
    at = at.parent, generation++
  ) {
    const up = proseOf(at)
    const gain = up.prose - now.prose
    const isPagesList = now.prose > climb.enoughWidth && gain > climb.gainMax * now.prose
    if (gain <= now.prose * climb.gainMin || isPagesList) continue
    if (up.noise - now.noise >= gain * climb.noiseMax) continue
    best = at
    now = up
  }
  return best
}

function proseOf(block: Block): { prose: number; noise: number } {
  let [prose, noise] = [0, 0]
  for (const line of livingLines(block)) {
    const isLinked = line.linkedWidth >= line.width * 0.5
    if (line.width >= 40 && !isLinked) {
      prose += line.width - line.linkedWidth
      noise += line.linkedWidth
    } else if (line.linkedWidth > line.width * 0.5 || !scrapTag.test(line.block.tag))
      noise += line.width
  }
  return { prose, noise }
}

function withSiblings(best: Block): Block[] {
  const threshold = Math.max(10, best.score * 0.2)
  const parts: Block[] = []
  for (const kid of best.parent?.kids ?? [best]) {
    if (kid === best) parts.push(kid)
    else if (kid.kids !== null && !kid.isDead && belongsTo(best, kid, threshold)) parts.push(kid)
  }
  return parts
}

function belongsTo(best: Block, sibling: Block, threshold: number): boolean {
  // The other sections of a book's page, however short.
  if (best.isTopic && sibling.isTopic) return linkDensity(sibling) < 0.5
  const bonus = sibling.names !== '' && sibling.names === best.names ? best.score * 0.2 : 0
  if (sibling.isScored && sibling.score + bonus >= threshold) return true
  if (sibling.tag !== 'p' || sibling.sums.width === 0) return false
  const density = linkDensity(sibling)
  return sibling.sums.width > 80 ? density < 0.25 : density === 0 && sibling.sums.commas > 0
}
