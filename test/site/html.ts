/** The frame of a page of the test web, and the bytes of encodings that Node cannot write itself. */
import type { Script } from './words.ts'

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

export type Link = { href: string; text: string; rel?: string }
export const anchor = ({ href, text, rel }: Link): string =>
  `<a href="${escapeHtml(href)}"${rel === undefined ? '' : ` rel="${rel}"`}>${escapeHtml(text)}</a>`

export type Frame = {
  script: Script
  title: string
  paragraphs: readonly string[]
  links?: readonly Link[]
  /** Markup for the head. */
  head?: string
  /** Markup at the end of the article. */
  tail?: string
}

const chrome = {
  en: { home: 'Start page', about: 'All pages were made by a program.' },
  'zh-Hans': { home: '首页', about: '所有页面都由程序生成。' },
  'zh-Hant': { home: '首頁', about: '所有頁面都由程式產生。' },
}

/** A whole document, with navigation and footer around the text as real pages have them. */
export function htmlPage(frame: Frame): string {
  const { home, about } = chrome[frame.script]
  const nav = ['/', '/en/', '/hans/', '/hant/'].map((href) =>
    anchor({ href, text: `${home} ${href}` }),
  )
  const list = (frame.links ?? []).map((link) => `<li>${anchor(link)}</li>`).join('\n')
  return `<!doctype html>
<html lang="${frame.script}"><head><meta charset="utf-8">
<title>${escapeHtml(frame.title)}</title>${frame.head ?? ''}</head>
<body><nav>${nav.join(' | ')}</nav>
<main><article><h1>${escapeHtml(frame.title)}</h1>
${frame.paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
${list === '' ? '' : `<ul>\n${list}\n</ul>`}${frame.tail ?? ''}</article></main>
<footer>${about}</footer></body></html>
`
}

let gbkTable: Map<string, number> | undefined

/** Two-byte GBK, made by turning the platform's decoder round. Throws on a character outside it. */
export function encodeGbk(text: string): Buffer {
  gbkTable ??= buildGbkTable()
  const bytes: number[] = []
  for (const character of text) {
    const code = character.charCodeAt(0)
    const pair = gbkTable.get(character)
    if (code < 0x80) bytes.push(code)
    else if (pair === undefined) throw new RangeError(`not in GBK: ${character}`)
    else bytes.push(pair >> 8, pair & 0xff)
  }
  return Buffer.from(bytes)
}

function buildGbkTable(): Map<string, number> {
  const decoder = new TextDecoder('gbk')
  const table = new Map<string, number>()
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) {
      if (trail === 0x7f) continue
      const character = decoder.decode(Uint8Array.of(lead, trail))
      if (character.length === 1 && character !== '\ufffd')
        table.set(character, (lead << 8) | trail)
    }
  }
  return table
}
