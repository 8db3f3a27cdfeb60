/** Documents of their own that stand on one page: problems of a list, products, rows of a JSON document. Total: what cannot be done is told. */
import { itemUrl } from './item-url.ts'
import { copyOf } from './kept-text.ts'
import type { Found, Reader } from './rule-reader.ts'
import type { FieldResult, FieldSpec, ItemSpec, PageProperty } from './rule-types.ts'

export const itemsMaxDefault = 500

export type AppliedItem = {
  /** Canonical but for its fragment. */
  url: string
  title: string
  /** All that can be read of it. */
  text: string
  fields: Record<string, FieldResult>
  page: Partial<Record<PageProperty, string>>
  /** Fields without a value, and those of them that are required. */
  empty: string[]
  missing: string[]
}

/** In the order of the page; of two with the same URL the first. */
export function readItems(
  reader: Reader,
  spec: ItemSpec,
  pageUrl: string,
  report: (what: string, problem: string) => void,
): AppliedItem[] {
  const { max = itemsMaxDefault } = spec
  const holders = reader.holders('items', spec.each, max + 1)
  if (holders.length > max) report('items', `there are more than ${max}`)
  const items = new Map<string, AppliedItem>()
  let nameless = 0
  for (const holder of holders.slice(0, max)) {
    const url = urlOf(reader, spec, holder, pageUrl)
    if (url === null) nameless++
    else if (!items.has(url)) items.set(url, readItem(reader, spec, holder, url))
  }
  if (nameless > 0) report('items', `${nameless} have no URL: a value of it is missing`)
  return [...items.values()]
}

function urlOf(reader: Reader, spec: ItemSpec, holder: Found, pageUrl: string): string | null {
  const [filled] = reader.filled('items', spec.template, spec.values, [holder])
  const url = filled === undefined ? null : itemUrl(filled, pageUrl)
  return url === null ? null : copyOf(url)
}

function readItem(reader: Reader, spec: ItemSpec, holder: Found, url: string): AppliedItem {
  const fields: Record<string, FieldResult> = {}
  const empty: string[] = []
  for (const [name, field] of Object.entries(spec.fields)) {
    const value = reader.field(`items.${name}`, field, holder)
    if (value === null) empty.push(name)
    else fields[name] = value
  }
  const page: AppliedItem['page'] = {}
  for (const [name, field] of Object.entries(spec.page) as [PageProperty, FieldSpec][]) {
    const wanted: FieldSpec = name === 'date' ? { type: 'date', ...field } : field
    const value = reader.field(`items.${name}`, wanted, holder)
    if (value !== null) page[name] = Array.isArray(value) ? value.join('\n') : String(value)
  }
  const missing = empty.filter((name) => spec.fields[name]?.required === true)
  const { title, text } = reader.whole(holder)
  return { url, title, text, fields, page, empty, missing }
}
