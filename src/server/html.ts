/** HTML that cannot forget to escape: a tagged template, links that may be followed, and marks made from offsets. No page is built here. */
import type { Range } from '../search/answer.ts'

const secret = Symbol('html')
/** Finished markup. Only `html` makes it, so a plain string is always escaped. */
export type Html = { readonly [secret]: true; readonly text: string }
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[]

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
// Controls have no place in HTML, and the bidi overrides let a page write over what stands beside it.
const unwanted =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** For text and quoted attributes alike. */
export const escapeHtml = (text: string): string =>
  text.replace(unwanted, '').replace(/[&<>"']/g, (character) => entities[character] ?? '')

const made = (text: string): Html => ({ [secret]: true, text })
const isList = (value: HtmlValue): value is readonly HtmlValue[] => Array.isArray(value)

function rendered(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  if (isList(value)) return value.map(rendered).join('')
  // What the types forbid may still arrive from JSON: only what `html` made is markup.
  return secret in value ? value.text : ''
}

/** Every value is escaped, but for other `html`; lists are joined; null, undefined and false are nothing. Quote every attribute. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = parts[0] ?? ''
  values.forEach((value, at) => {
    text += rendered(value) + (parts[at + 1] ?? '')
  })
  return made(text)
}

/** The address if a reader may be sent there: http and https only. Anything else is shown as text. */
export function webHref(url: string): string | null {
  if (!URL.canParse(url)) return null
  const parsed = new URL(url)
  return parsed.protocol === 'http:' || parsed.protocol === 'https:' ? parsed.href : null
}

/** The text with `<mark>` around each range; ranges out of order, overlapping or outside the text do no harm. */
export function marked(text: string, ranges: readonly Range[]): Html {
  const parts: HtmlValue[] = []
  let done = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const start = Math.max(done, from)
    const end = Math.min(text.length, to)
    if (!(end > start)) continue
    parts.push(text.slice(done, start), html`<mark>${text.slice(start, end)}</mark>`)
    done = end
  }
  return html`${parts}${text.slice(done)}`
}
