/** The form of a login page: which one it is, where it goes, and what it holds besides (tokens). Reads tags, builds no tree, asks no network. */
import { normalizeUrl } from '../lib/url.ts'

export type LoginForm = {
  action: string
  method: 'get' | 'post'
  /** Every control that a browser would send untouched, in order. */
  values: [name: string, value: string][]
  hasPassword: boolean
}

const formsMax = 50
const controlsMax = 500
/** A login page is short; the patterns below may look so far ahead for each tag. */
const htmlCharsMax = 300_000

const references: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}

function unescaped(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,5}));?/gi,
    (whole, decimal, hex, name) => {
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
      if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code)
      return references[String(name).toLowerCase()] ?? whole
    },
  )
}

type Attributes = ReadonlyMap<string, string>

function attributesOf(tag: string): Attributes {
  const found = new Map<string, string>()
  const attribute = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?/g
  for (const [, name = '', quoted, single, bare] of tag.matchAll(attribute)) {
    const key = name.toLowerCase()
    if (!found.has(key)) found.set(key, unescaped(quoted ?? single ?? bare ?? ''))
  }
  return found
}

/**
 * The form to fill in: the one named (`#id`, or its name), else the first with a password field, else the first that holds all of
 * `fields`, else the only one. null where there is none.
 */
export function findLoginForm(
  html: string,
  url: string,
  wanted: string | null,
  fields: readonly string[],
): LoginForm | null {
  const forms = formsOf(html.slice(0, htmlCharsMax), url)
  if (wanted !== null) {
    const name = wanted.replace(/^#/, '')
    return forms.find(({ names }) => names.includes(name))?.form ?? null
  }
  const holdsAll = ({ form }: NamedForm): boolean =>
    fields.every((field) => form.values.some(([name]) => name === field))
  const found =
    forms.find(({ form }) => form.hasPassword) ??
    forms.find(holdsAll) ??
    (forms.length === 1 ? forms[0] : undefined)
  return found?.form ?? null
}

/** Has the page a field for a password? */
export const asksPassword = (html: string, url: string): boolean =>
  formsOf(html.slice(0, htmlCharsMax), url).some(({ form }) => form.hasPassword)

type NamedForm = { names: string[]; form: LoginForm }

function formsOf(html: string, url: string): NamedForm[] {
  const plain = html.replace(
    /<!--[^]*?(?:-->|$)|<(script|style|template)\b[^]*?(?:<\/\1\s*>|$)/gi,
    '',
  )
  const base = /<base\s[^>]{0,4000}>/i.exec(plain)?.[0]
  const baseUrl =
    base === undefined ? url : (normalizeUrl(attributesOf(base).get('href') ?? '', url) ?? url)
  const forms: NamedForm[] = []
  const form =
    /<form\b((?:[^>"']|"[^"]{0,4000}"|'[^']{0,4000}'){0,2000})>([^]*?)(?=<\/form\s*>|<form\b|$)/gi
  for (const [, head = '', body = ''] of plain.matchAll(form)) {
    const attributes = attributesOf(head)
    const { values, hasPassword } = controlsOf(body)
    forms.push({
      names: [attributes.get('id') ?? '', attributes.get('name') ?? ''].filter(
        (name) => name !== '',
      ),
      form: {
        action: normalizeUrl(attributes.get('action') || url, baseUrl) ?? url,
        method: attributes.get('method')?.toLowerCase() === 'post' ? 'post' : 'get',
        values,
        hasPassword,
      },
    })
    if (forms.length >= formsMax) break
  }
  return forms
}

function controlsOf(body: string): Pick<LoginForm, 'values' | 'hasPassword'> {
  const values: [string, string][] = []
  let hasPassword = false
  const control =
    /<(input|button|textarea|select)\b((?:[^>"']|"[^"]{0,4000}"|'[^']{0,4000}'){0,2000})>/gi
  let controls = 0
  for (const match of body.matchAll(control)) {
    if (++controls > controlsMax) break
    const [whole, tag = '', head = ''] = match
    // What stands in a text area or list goes up to its end tag.
    const inner = /^(textarea|select)$/i.test(tag)
      ? (body.slice(match.index + whole.length).split(`</${tag}`, 1)[0] ?? '')
      : ''
    const attributes = attributesOf(head)
    const type = (attributes.get('type') ?? '').toLowerCase()
    if (type === 'password') hasPassword = true
    const name = attributes.get('name') ?? ''
    if (name === '' || attributes.has('disabled')) continue
    const value = valueOf(tag.toLowerCase(), type, attributes, inner)
    if (value !== null) values.push([name, value])
  }
  return { values, hasPassword }
}

/** null for what an untouched form does not send. */
function valueOf(tag: string, type: string, attributes: Attributes, inner: string): string | null {
  if (tag === 'textarea') return unescaped(inner)
  if (tag === 'select') {
    const all = [
      ...inner.matchAll(/<option\b((?:[^>"']|"[^"]{0,4000}"|'[^']{0,4000}'){0,2000})>([^<]*)/gi),
    ]
    const chosen = all.find(([, head = '']) => attributesOf(head).has('selected')) ?? all[0]
    if (chosen === undefined) return null
    return attributesOf(chosen[1] ?? '').get('value') ?? unescaped(chosen[2] ?? '').trim()
  }
  if (tag === 'button' || /^(submit|image|button|reset|file)$/.test(type)) return null
  if (type === 'checkbox' || type === 'radio')
    return attributes.has('checked') ? (attributes.get('value') ?? 'on') : null
  return attributes.get('value') ?? ''
}
