/** The light tree of a page: blocks with lines of text as leaves, and the sums that the extraction reads. Knows no parser and no rule of content. */

/** Text between two block borders or line breaks. Widths are in columns: an ideograph takes two. */
export type Line = {
  kids: null
  text: string
  width: number
  /** Columns of it that stand inside links. */
  linkedWidth: number
  commas: number
  block: Block
  isDead: boolean
}

export type Block = {
  kids: (Block | Line)[]
  tag: string
  parent: Block | null
  depth: number
  /** class and id; empty for book sections, whose ids are topics. */
  names: string
  role: string
  itemprop: string
  isHidden: boolean
  /** The first h1 of the page. */
  isFirstHeading: boolean
  /** A section of a book: its class says so, its id names what it is about. */
  isTopic: boolean
  isDead: boolean
  childBlocks: number
  /** input elements directly inside. */
  ownInputs: number
  score: number
  isScored: boolean
  sums: Sums
}

/** Over the living part below a block. */
export type Sums = {
  width: number
  linkedWidth: number
  commas: number
  inputs: number
  paragraphs: number
  items: number
  /** Columns of headings. */
  headingWidth: number
  /** Columns in lines that are links, more or less whole. */
  menuWidth: number
  holdsCode: boolean
}

const noSums = (): Sums => ({
  width: 0,
  linkedWidth: 0,
  commas: 0,
  inputs: 0,
  paragraphs: 0,
  items: 0,
  headingWidth: 0,
  menuWidth: 0,
  holdsCode: false,
})

/** Shared by all blocks that hold nothing. */
const noKids: (Block | Line)[] = []

/** A list made of its first kid has room for one; one that an empty list grew into has room for 17, and most blocks hold a line. */
export function addKid(block: Block, kid: Block | Line): void {
  if (block.kids.length === 0) block.kids = [kid]
  else block.kids.push(kid)
}

export const newBlock = (tag: string, parent: Block | null): Block => ({
  kids: noKids,
  tag,
  parent,
  depth: parent === null ? 0 : parent.depth + 1,
  names: '',
  role: '',
  itemprop: '',
  isHidden: false,
  isFirstHeading: false,
  isTopic: false,
  isDead: false,
  childBlocks: 0,
  ownInputs: 0,
  score: 0,
  isScored: false,
  sums: noSums(),
})

/** A leaf; `linkedWidth` as counted while its text came in. */
export function newLine(text: string, linkedWidth: number, block: Block): Line {
  const { width, commas } = measureText(text)
  const linked = Math.min(width, linkedWidth)
  return { kids: null, text, width, linkedWidth: linked, commas, block, isDead: false }
}

/** Columns and commas, of both scripts, in one walk. */
export function measureText(text: string): { width: number; commas: number } {
  let [width, commas] = [text.length, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x2c || code === 0x3b) commas++
    else if (code >= 0x60c) {
      if (code === 0xff0c || code === 0xff1b || (code <= 0x3002 && code >= 0x3001)) commas++
      else if (code === 0x60c) commas++
      else if (isWide(code)) width++
    }
  }
  return { width, commas }
}

/** Columns of units [start, end) of a text. */
export function widthBetween(text: string, start: number, end: number): number {
  let width = end - start
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x3040 && isWide(code)) width++
  }
  return width
}

const isWide = (code: number): boolean =>
  (code >= 0x3040 && code <= 0x30ff) ||
  (code >= 0x3400 && code <= 0x9fff) ||
  (code >= 0xac00 && code <= 0xd7af)

export const isHeading = (tag: string): boolean =>
  tag.length === 2 && tag.startsWith('h') && '123456'.includes(tag.charAt(1))

/** Fills `sums` of a block and all below from what lives. */
export function measureBlock(block: Block): void {
  for (const kid of block.kids) if (kid.kids !== null && !kid.isDead) measureBlock(kid)
  sumUp(block)
}

/** Fills `sums` of a block whose living kids have theirs. In place: a page is measured many times. */
export function sumUp(block: Block): void {
  const { sums } = block
  sums.width = sums.linkedWidth = sums.commas = sums.paragraphs = sums.items = 0
  sums.headingWidth = sums.menuWidth = 0
  sums.holdsCode = false
  sums.inputs = block.ownInputs
  for (const kid of block.kids) {
    if (kid.isDead) continue
    if (kid.kids === null) {
      sums.width += kid.width
      sums.linkedWidth += kid.linkedWidth
      sums.commas += kid.commas
      if (kid.linkedWidth > kid.width * 0.8) sums.menuWidth += kid.width
    } else add(sums, kid)
  }
}

function add(sums: Sums, { tag, sums: below }: Block): void {
  sums.width += below.width
  sums.linkedWidth += below.linkedWidth
  sums.commas += below.commas
  sums.inputs += below.inputs
  sums.menuWidth += below.menuWidth
  sums.paragraphs += below.paragraphs + (tag === 'p' ? 1 : 0)
  sums.items += below.items + (tag === 'li' ? 1 : 0)
  sums.holdsCode ||= below.holdsCode || tag === 'pre'
  sums.headingWidth += isHeading(tag) ? below.width : below.headingWidth
}

/** The living lines below a block, in page order. */
export function livingLines(block: Block, into: Line[] = []): Line[] {
  for (const kid of block.kids) {
    if (kid.isDead) continue
    if (kid.kids === null) into.push(kid)
    else livingLines(kid, into)
  }
  return into
}

/** Brings everything back to life and forgets all scores: the start of a new attempt. */
export function revive(block: Block): void {
  for (const kid of block.kids) {
    kid.isDead = false
    if (kid.kids === null) continue
    kid.score = 0
    kid.isScored = false
    revive(kid)
  }
}

export const linkDensity = ({ sums }: Block): number =>
  sums.width === 0 ? 0 : sums.linkedWidth / sums.width

/** A list of commands is a menu; prose with many links is not: only lines that are links count. */
export const menuShare = ({ sums }: Block): number =>
  sums.width === 0 ? 0 : sums.menuWidth / sums.width

export function widthOf(lines: readonly Line[]): number {
  let sum = 0
  for (const { width } of lines) sum += width
  return sum
}

export const textOf = (lines: readonly Line[], separator = '\n'): string =>
  lines.map(ownText).join(separator)

/** Named functions live on: V8 forgets the machine code of one that is made anew for each page. */
const ownText = ({ text }: Line): string => text

/** For comparing titles: letters and digits only. */
export const lettersOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Equal in letters to `letters` (of a whole title), or a long beginning of them. */
export function saysTheSame(text: string, letters: string): boolean {
  const own = lettersOf(text)
  return own !== '' && (own === letters || (own.length > 20 && letters.startsWith(own)))
}

/** Runs of blanks become one, those at the ends go. Most lines are so already. */
export const collapseBlanks = (text: string): string =>
  isCollapsed(text) ? text : text.replace(/\s+/g, ' ').trim()

/** Surely nothing to collapse: no blank but single spaces between other characters. In doubt false. */
function isCollapsed(text: string): boolean {
  let isBlank = true
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const wasBlank = isBlank
    isBlank = code === 0x20
    if (isBlank ? wasBlank : code < 0x20 || (code >= 0xa0 && mayBeBlank(code))) return false
  }
  return !isBlank
}

/** A blank of Unicode, or one of the rare characters that stand near them in the table. */
const mayBeBlank = (code: number): boolean =>
  code === 0xa0 ||
  code === 0x1680 ||
  code === 0x3000 ||
  code === 0xfeff ||
  (code >= 0x2000 && code <= 0x206f && (code < 0x2010 || code > 0x2027))
