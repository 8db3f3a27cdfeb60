/** Markdown as a page: what a reader sees of it, its headings and links. A small reader of lines; what it does not know stays as it is written. */
import { normalizeUrl } from '../lib/url.ts'
import { dateIn } from './page-date.ts'

export type MarkdownPage = {
  title: string
  author: string
  description: string
  publishedAtMs: number | null
  text: string
  /** One a line, at most 40. */
  headings: string
  /** Canonical, distinct, in order. */
  links: string[]
}

const headingsMax = 40
const fence = /^ {0,3}(`{3,}|~{3,})/
const definition = /^ {0,3}\[([^\]]{1,200})\]:\s*<?(\S{1,2000}?)>?(?:\s+["'(].*)?$/
const atx = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/

/** @param linksMax further links are left out */
export function readMarkdown(source: string, url: string, linksMax: number): MarkdownPage {
  const { facts, body } = frontMatter(source.replace(/\r\n?/g, '\n'))
  const lines = body.split('\n')
  const addresses = new Map<string, string>()
  for (const line of lines) {
    const found = definition.exec(line)
    if (found !== null) addresses.set((found[1] ?? '').toLowerCase(), found[2] ?? '')
  }
  const links = new Set<string>()
  const link = (address: string): void => {
    const target = links.size < linksMax ? normalizeUrl(address.trim(), url) : null
    if (target !== null && target !== url) links.add(target)
  }
  const headings: string[] = []
  const text: string[] = []
  let open = ''
  for (const [i, line] of lines.entries()) {
    const mark = fence.exec(line)?.[1]
    if (open !== '') {
      if (mark !== undefined && mark.startsWith(open)) open = ''
      else text.push(line)
      continue
    }
    if (mark !== undefined) {
      open = mark
      continue
    }
    if (definition.test(line)) {
      link(definition.exec(line)?.[2] ?? '')
      continue
    }
    const isSetext = /^ {0,3}(=+|-{2,})\s*$/.test(line) && (lines[i - 1] ?? '').trim() !== ''
    if (isSetext) {
      const above = text.at(-1) ?? ''
      if (above !== '' && headings.at(-1) !== above) headings.push(above)
      continue
    }
    const heading = atx.exec(line)
    const plain = plainLine(heading?.[2] ?? line, addresses, link)
    if (heading !== null && plain !== '') headings.push(plain)
    text.push(plain)
  }
  return {
    title: facts.get('title') ?? headings[0] ?? '',
    author: facts.get('author') ?? '',
    description: facts.get('description') ?? '',
    publishedAtMs: dateIn(facts.get('date') ?? ''),
    text: text
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    headings: headings.slice(0, headingsMax).join('\n'),
    links: [...links],
  }
}

/** "---" lines around keys and values, as many generators want them. */
function frontMatter(source: string): { facts: ReadonlyMap<string, string>; body: string } {
  const facts = new Map<string, string>()
  const found = /^---\n([^]{0,10000}?)\n---\n/.exec(source)
  if (found === null) return { facts, body: source }
  for (const line of (found[1] ?? '').split('\n')) {
    const [, key, value] = /^(\w{1,40}):\s*(.{1,500})$/.exec(line) ?? []
    if (key !== undefined && value !== undefined)
      facts.set(key.toLowerCase(), value.trim().replace(/^(["'])(.*)\1$/, '$2'))
  }
  return { facts, body: source.slice(found[0].length) }
}

/** A line as it is read: marks off, links as their text. Patterns are bounded, so that a long line takes linear time. */
function plainLine(
  line: string,
  addresses: ReadonlyMap<string, string>,
  link: (address: string) => void,
): string {
  if (/^ {0,3}([-*_] ?){3,}\s*$/.test(line) || /^\s*\|?[\s:|-]{3,}\|[\s:|-]*$/.test(line)) return ''
  return line
    .replace(/^\s{0,12}(?:>\s?){1,9}/, '')
    .replace(/^\s{0,12}(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/, '')
    .replace(/!\[([^\]]{0,500})\]\([^()\s]{0,2000}(?:\s[^()]{0,500})?\)/g, '$1')
    .replace(
      /\[([^[\]]{0,1000})\]\(\s?<?([^()<>\s]{1,2000})>?(?:\s[^()]{0,500})?\)/g,
      (_, shown: string, address: string) => {
        link(address)
        return shown
      },
    )
    .replace(/\[([^[\]]{1,1000})\]\[([^[\]]{0,200})\]/g, (whole, shown: string, name: string) => {
      const address = addresses.get((name || shown).toLowerCase())
      if (address === undefined) return whole
      link(address)
      return shown
    })
    .replace(/<(https?:\/\/[^\s<>]{1,2000})>/g, (_, address: string) => {
      link(address)
      return address
    })
    .replace(/<\/?[a-z][^<>]{0,500}>/gi, ' ')
    .replace(/(\*\*|__|~~|``?)(?=\S)([^*_~`]{1,2000}?)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}*\\])[*_](?=\S)([^*_]{1,2000}?)[*_](?![\p{L}\p{N}])/gu, '$1')
    .replace(/^\s*\|(.*)\|\s*$/, (_, cells: string) => cells.replaceAll('|', ' '))
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/[ \t]+/g, ' ')
    .trim()
}
