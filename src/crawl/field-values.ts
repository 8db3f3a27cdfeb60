/** From the texts that a rule found to the values of a field: regex, transforms, numbers, dates, category paths. Pure. */
import { normalizeUrl } from '../lib/url.ts'
import { copyOf } from './kept-text.ts'
import { dateIn } from './page-date.ts'
import type { Extractor, FieldResult, FieldSpec, Transform } from './rule-types.ts'

export const valuesMax = 200
export const valueCharsMax = 10_000
const partsMax = 20

/** Regex, then transforms in their order. A text that the regex does not fit, or that becomes empty, is left out. */
export function transformed(
  texts: readonly string[],
  { regex, transform = [] }: Extractor,
  base: string,
  max = valuesMax,
): string[] {
  let values = [...texts]
  if (regex !== undefined) {
    const expression = new RegExp(regex, 'u')
    values = values.flatMap((text) => {
      const match = expression.exec(text.slice(0, valueCharsMax))
      return match === null ? [] : [match[1] ?? match[0]]
    })
  }
  for (const step of transform) values = applied(step, values, base)
  return values
    .map((value) => value.trim())
    .filter((value) => value !== '')
    .slice(0, max)
}

function applied(step: Transform, values: string[], base: string): string[] {
  if (typeof step === 'object' && 'join' in step) return [values.join(step.join)]
  return values.flatMap((value): string[] => {
    if (step === 'trim') return [value.trim()]
    if (step === 'lower') return [value.toLowerCase()]
    if (step === 'upper') return [value.toUpperCase()]
    if (step === 'absolute') {
      const url = normalizeUrl(value.trim(), base)
      return url === null ? [] : [url]
    }
    if ('replace' in step) return [value.replaceAll(step.replace, () => step.with)]
    if ('split' in step) return value.split(step.split).slice(0, valuesMax)
    if ('prefix' in step) return [step.prefix + value]
    return 'suffix' in step ? [value + step.suffix] : [value]
  })
}

/** A text as its type; null where it is none. */
export function typed(text: string, spec: FieldSpec): string | number | null {
  switch (spec.type ?? 'text') {
    case 'number':
      return numberIn(text, spec.decimal ?? '.')
    case 'date':
      return dateText(text, spec.format)
    case 'category':
      return categoryOf([text], spec.separator)
    case 'html':
    case 'text':
      return copyOf(text.slice(0, valueCharsMax))
  }
}

/** All values of a field, or null where there are none. Many texts of a category path without a separator are its parts. */
export function fieldOf(texts: readonly string[], spec: FieldSpec): FieldResult | null {
  if (spec.type === 'category' && spec.many !== true) return categoryOf(texts, spec.separator)
  const values = texts.map((text) => typed(text, spec)).filter((value) => value !== null)
  if (spec.many !== true) return values[0] ?? null
  return values.length === 0 ? null : values.map(String)
}

const scales: Readonly<Record<string, number>> = { 万: 1e4, 亿: 1e8, k: 1e3, K: 1e3 }

/** The first number: "￥1,299.00", "1.2万", "−3", "１２" and with a decimal comma "1.299,50 €". */
export function numberIn(text: string, decimal: '.' | ','): number | null {
  const plain = text.normalize('NFKC').replace(/[−–](?=\d)/g, '-')
  const group = decimal === '.' ? ',' : '.'
  const pattern = new RegExp(
    `-?\\d{1,3}(?:[\\${group} '\\u00a0]\\d{3})+(?:\\${decimal}\\d+)?(?!\\d)|-?\\d{1,15}(?:\\${decimal}\\d{1,15})?`,
  )
  const found = pattern.exec(plain)
  if (found === null) return null
  const digits = found[0].replaceAll(new RegExp(`[^\\d\\${decimal}-]`, 'g'), '')
  const value = Number(digits.replace(decimal, '.'))
  const after = plain.slice(found.index + found[0].length)
  const scale = scales[/^(?:[万亿]|k(?![a-z]))/i.exec(after)?.[0] ?? ''] ?? 1
  return Number.isFinite(value) ? Math.round(value * scale * 1e6) / 1e6 : null
}

/** A day as 2024-05-03, a moment as 2024-05-03T08:30:00Z. */
export function dateText(text: string, format: string | undefined): string | null {
  const ms = format === undefined ? dateIn(text) : dateByFormat(text, format)
  if (ms === null) return null
  const iso = new Date(ms).toISOString()
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.replace('.000Z', 'Z')
}

/** YYYY MM M DD D HH H mm ss stand for digits, all else for itself; it may stand anywhere in the text. Times are UTC. */
function dateByFormat(text: string, format: string): number | null {
  const names: string[] = []
  const source = format
    .split(/(YYYY|MM|M|DD|D|HH|H|mm|ss)/)
    .map((part) => {
      if (!/^(YYYY|MM|M|DD|D|HH|H|mm|ss)$/.test(part))
        return part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replace(/\s+/g, '\\s*')
      names.push(part[0] === 'M' || part[0] === 'm' ? part.slice(0, 2) : (part[0] ?? ''))
      return part === 'YYYY' ? '(\\d{4})' : '(\\d{1,2})'
    })
    .join('')
  const match = new RegExp(source).exec(text.slice(0, valueCharsMax).normalize('NFKC'))
  if (match === null) return null
  const part = (name: string, standard: number): number => {
    const at = names.findIndex((each) => each === name || (name === 'MM' && each === 'M'))
    return at < 0 ? standard : Number(match[at + 1])
  }
  const [year, month, day] = [part('Y', Number.NaN), part('MM', 1), part('D', 1)]
  const ms = Date.UTC(year, month - 1, day, part('H', 0), part('mm', 0), part('s', 0))
  const isReal = !Number.isNaN(ms) && new Date(ms).getUTCDate() === day
  return isReal ? ms : null
}

/** "程序设计/循环/for": the parts of a breadcrumb, trimmed, joined by "/", as facets of categories take them. */
function categoryOf(texts: readonly string[], separator: string | undefined): string | null {
  const parts = texts
    .flatMap((text) => text.split(separator ?? '/'))
    .map((part) => part.replaceAll('/', '∕').replace(/\s+/g, ' ').trim())
    .filter((part) => part !== '')
    .slice(0, partsMax)
  return parts.length === 0 ? null : copyOf(parts.join('/').slice(0, valueCharsMax))
}
