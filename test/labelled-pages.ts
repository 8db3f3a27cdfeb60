/** Pages labelled by the numbers of their lines, so that none of their text is kept here: how a page is cut into lines, and how an extraction is scored. */
import { createHash } from 'node:crypto'

/** First and last line, counted from 0. */
export type Lines = readonly [first: number, last: number]
/** `not`: no main content. `either`: nobody would mind (the title as a heading, a list of the page's own parts). All else is main content. */
export type Label = {
  lines: number
  digest: string
  not: readonly Lines[]
  either: readonly Lines[]
}

const blocks =
  'address|article|aside|blockquote|body|br|caption|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|legend|li|main|nav|ol|option|p|pre|section|select|summary|table|tbody|td|tfoot|th|thead|title|tr|ul'
const blockTag = new RegExp(`</?(?:${blocks})\\b[^>]*>`, 'gi')
const unshown =
  /<(script|style|noscript|template|svg|iframe|button|select|textarea)\b[^]*?<\/\1\s*>/gi
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  laquo: '«',
  raquo: '»',
  mdash: '—',
  ndash: '–',
  hellip: '…',
}

/** All that a page shows, a line per block. By expressions, and no parser of ours: the labels must not depend on what they judge. */
export function linesOf(html: string): string[] {
  return html
    .replace(/^[^]*?<body\b[^>]*>/i, '')
    .replace(/<!--[^]*?-->/g, '')
    .replace(unshown, '')
    .replace(blockTag, '\n')
    .replace(/<[a-z/!?][^>]*>/gi, '')
    .replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(String(hex), 16))
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
      return entities[String(name).toLowerCase()] ?? whole
    })
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
}

/** Tells whether a page is still the one that was labelled. */
export const digestOf = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16)

/** Counts 4-grams of words; a character of Han is a word. */
function gramsOf(text: string): Map<string, number> {
  const words =
    text.match(/\p{Script=Han}|[\p{L}\p{N}_]+?(?=\p{Script=Han}|[^\p{L}\p{N}_]|$)/gu) ?? []
  const counts = new Map<string, number>()
  for (let i = 0; i < Math.max(1, words.length - 3); i++) {
    const gram = words.slice(i, i + 4).join(' ')
    counts.set(gram, (counts.get(gram) ?? 0) + 1)
  }
  return counts
}

/** Precision and recall of an extracted text. What may be there or not counts for nothing. */
export function scoreText(
  lines: readonly string[],
  { not, either }: Label,
  text: string,
): { precision: number; recall: number } {
  const isIn = (ranges: readonly Lines[], i: number): boolean =>
    ranges.some(([first, last]) => i >= first && i <= last)
  const wanted = lines.filter((_, i) => !isIn(not, i) && !isIn(either, i)).join('\n')
  const main = gramsOf(wanted)
  const allowed = gramsOf(lines.filter((_, i) => !isIn(not, i)).join('\n'))
  for (const line of lines.filter((_, i) => isIn(either, i)))
    for (const [gram, n] of gramsOf(line))
      allowed.set(gram, Math.max(allowed.get(gram) ?? 0, (main.get(gram) ?? 0) + n))
  const found = gramsOf(text)
  let [right, wrong, missed] = [0, 0, 0]
  for (const [gram, n] of found) {
    const m = main.get(gram) ?? 0
    right += Math.min(n, m)
    wrong += Math.max(0, n - Math.max(m, allowed.get(gram) ?? 0))
  }
  for (const [gram, m] of main) missed += Math.max(0, m - (found.get(gram) ?? 0))
  return { precision: right / (right + wrong || 1), recall: right / (right + missed || 1) }
}
