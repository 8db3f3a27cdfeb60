/** What a page is recognised by: its main text, or the fields that its rule names, whatever stands around them. Pure. */
import { type Fingerprint, fingerprint } from '../text/fingerprint.ts'
import { type PageProperty, pageProperties } from './rule-types.ts'

/** A page, or a stored document. */
export type Recognised = {
  title: string
  text: string
  description: string
  author: string
  publishedAtMs: number | null
  fields: Readonly<Record<string, unknown>>
}

export type Recognition = {
  fingerprint: Fingerprint
  /** Fields that it is made of; left out where it is made of the main text. */
  fingerprintFields?: readonly string[]
}

/**
 * The fingerprint of the fields in the order they are named. A page that lacks one of them is recognised by its main text: half of what makes
 * an item would bring different ones together.
 * @param seed as of `fingerprint`
 */
export function recognise(
  page: Recognised,
  names: readonly string[] | undefined,
  seed: number,
): Recognition {
  const values = (names ?? []).map((name) => textOf(page, name))
  if (names === undefined || values.length === 0 || values.includes(''))
    return { fingerprint: fingerprint(page.text, seed) }
  return { fingerprint: fingerprint(values.join('\n'), seed, 'fields'), fingerprintFields: names }
}

function textOf(page: Recognised, name: string): string {
  // A field of the rule may have the name of a property of the page: it is the one that was meant.
  const value = Object.hasOwn(page.fields, name) ? page.fields[name] : propertyOf(page, name)
  if (Array.isArray(value)) return value.join('\n').trim()
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
}

function propertyOf(page: Recognised, name: string): unknown {
  if (!(pageProperties as readonly string[]).includes(name)) return null
  const property = name as PageProperty
  return property === 'date' ? page.publishedAtMs : page[property]
}
