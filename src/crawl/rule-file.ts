/** Reads the rules of a source as a user wrote them: every key checked, every selector and expression tried, defaults put in. */
import {
  choice,
  flag,
  list,
  named,
  number,
  object,
  oneOrMore,
  type Reader,
  text,
  ValueProblem,
} from '../lib/read-value.ts'
import { normalizeUrl } from '../lib/url.ts'
import { itemUrl } from './item-url.ts'
import { parseJsonPath } from './json-list.ts'
import {
  type Expectation,
  type Extractor,
  type FieldResult,
  type FieldSpec,
  type ItemSpec,
  type LinkSpec,
  type NextSpec,
  pageProperties,
  type Rule,
  type TemplateSpec,
  type Transform,
  valueTypes,
} from './rule-types.ts'
import { readPattern } from './url-pattern.ts'

export const rulesMax = 50
export const fieldsMax = 50
const selectorCharsMax = 500
const matchesMax = 20
const linkSpecsMax = 20
const transformsMax = 20
export const expectationsMax = 100
export const nextMaxDefault = 100
const nextMaxMax = 10_000
export const linksMaxDefault = 5_000
const itemsMaxMax = 5_000
const templateCharsMax = 1_000

export const fieldNames = {
  pattern: /^[\p{L}_][\p{L}\p{N}_.-]{0,63}$/u,
  wanted: 'a letter, then letters, digits, "_", "." or "-", 64 at most',
  max: fieldsMax,
}
const ruleName = text({ max: 64 })
const shortText = text({ min: 0, max: 500 })
const longText = text({ min: 0, max: 10_000 })
const selector = text({ max: selectorCharsMax })

const readJsonPath: Reader<string> = (value, path) => {
  const given = selector(value, path)
  const parsed = parseJsonPath(given)
  if (typeof parsed === 'string') throw new ValueProblem(path, parsed)
  return given
}

/** The engine of the language itself: only where the parser's time limit guards it. */
const readRegex: Reader<string> = (value, path) => {
  const given = selector(value, path)
  try {
    void new RegExp(given, 'u')
  } catch (error) {
    throw new ValueProblem(path, (error as Error).message)
  }
  return given
}

const constant: Reader<string | number> = (value, path) =>
  typeof value === 'number'
    ? number({ min: -1e15, max: 1e15, whole: false })(value, path)
    : shortText(value, path)

const plainTransforms = ['trim', 'lower', 'upper', 'absolute'] as const
const readTransform: Reader<Transform> = (value, path) => {
  if (typeof value === 'string') return choice(plainTransforms)(value, path)
  const read = object(
    {
      replace: selector,
      with: shortText,
      split: selector,
      join: shortText,
      prefix: shortText,
      suffix: shortText,
    },
    [],
  )(value, path)
  const keys = Object.keys(read).toSorted().join(' ')
  if (keys === 'replace') return { replace: read.replace ?? '', with: '' }
  if (['replace with', 'split', 'join', 'prefix', 'suffix'].includes(keys)) return read as Transform
  throw new ValueProblem(
    path,
    `one of ${plainTransforms.join(', ')}, {replace, with}, {split}, {join}, {prefix}, {suffix} is wanted`,
  )
}

const ways = ['css', 'xpath', 'json', 'jsonLd', 'meta', 'itemprop', 'constant'] as const

const extractorShape = {
  css: selector,
  xpath: selector,
  json: readJsonPath,
  jsonLd: readJsonPath,
  meta: selector,
  itemprop: selector,
  constant,
  attribute: text({ max: 100 }),
  regex: readRegex,
  transform: oneOrMore(readTransform, { max: transformsMax }),
}
const fieldShape = {
  ...extractorShape,
  type: choice(valueTypes),
  many: flag,
  required: flag,
  format: text({ max: 40 }),
  decimal: choice(['.', ',']),
  separator: text({ max: 20 }),
}

/** A text alone is a CSS selector, one that begins with "$" a JSON path, one that begins with "/" or "(" an XPath. */
function expanded(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (/^\$[.[]/.test(value)) return { json: value }
  return /^[/(]/.test(value) ? { xpath: value } : { css: value }
}

const withOneWay =
  <T extends Extractor>(reader: Reader<T>): Reader<T> =>
  (value, path) => {
    const read = reader(expanded(value), path)
    const given = ways.filter((way) => read[way] !== undefined)
    if (given.length === 1) return read
    throw new ValueProblem(
      path,
      given.length === 0
        ? `one of ${ways.join(', ')} is missing`
        : `only one of ${given.join(', ')} is possible`,
    )
  }

const readExtractor: Reader<Extractor> = withOneWay(object(extractorShape, []))
const readField: Reader<FieldSpec> = withOneWay(object(fieldShape, []))
const readLink: Reader<LinkSpec> = withOneWay(
  object({ ...extractorShape, max: number({ min: 1, max: linksMaxDefault }) }, []),
)
const readNext: Reader<NextSpec> = withOneWay(
  object({ ...extractorShape, max: number({ min: 1, max: nextMaxMax }) }, []),
)

const readTemplateShape = object(
  {
    template: text({ max: templateCharsMax }),
    values: named({ ...fieldNames, max: 10 }, readExtractor),
    each: withOneWay(object({ css: selector, xpath: selector, json: readJsonPath }, [])),
    max: number({ min: 1, max: linksMaxDefault }),
  },
  ['template', 'values'],
)

function checkTemplate(template: string, names: readonly string[], path: string): void {
  const used = [...template.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] ?? '')
  const unknown = used.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new ValueProblem(`${path}.template`, `{${unknown}} is none of the values`)
  if (used.length === 0)
    throw new ValueProblem(`${path}.template`, 'it names no value: "https://host/page/{id}"')
}

const readTemplate: Reader<TemplateSpec> = (value, path) => {
  const read = readTemplateShape(value, path)
  const names = Object.keys(read.values)
  checkTemplate(read.template, names, path)
  if (names.length > 1 && read.each === undefined)
    throw new ValueProblem(path, 'more than one value needs "each": what holds one of each')
  if (normalizeUrl(read.template.replace(/\{[^{}]+\}/g, '1'), 'http://host/') === null)
    throw new ValueProblem(`${path}.template`, 'it makes no http or https URL')
  return read
}

const pageShape = Object.fromEntries(pageProperties.map((name) => [name, readField])) as Record<
  (typeof pageProperties)[number],
  Reader<FieldSpec>
>

const readItemShape = object(
  {
    each: withOneWay(object({ css: selector, xpath: selector, json: readJsonPath }, [])),
    values: named({ ...fieldNames, max: 10 }, readExtractor),
    template: text({ max: templateCharsMax }),
    page: object(pageShape, []),
    fields: named(fieldNames, readField),
    max: number({ min: 1, max: itemsMaxMax }),
  },
  ['each', 'values'],
)

const readItems: Reader<ItemSpec> = (value, path) => {
  const read = readItemShape(value, path)
  const names = Object.keys(read.values)
  const template = read.template ?? `#${names.map((name) => `{${name}}`).join('-')}`
  checkTemplate(template, names, path)
  // Values come from the page: they must not choose the host.
  if (itemUrl(template.replace(/\{[^{}]+\}/g, '1'), 'http://host/') === null)
    throw new ValueProblem(`${path}.template`, 'it makes no http or https URL')
  if (/^(?:https?:)?\/\/[^/?#]*\{/i.test(template))
    throw new ValueProblem(`${path}.template`, 'a value stands in its host')
  return {
    each: read.each,
    values: read.values,
    template,
    page: read.page ?? {},
    fields: read.fields ?? {},
    ...(read.max === undefined ? {} : { max: read.max }),
  }
}

export const readResult: Reader<FieldResult> = (value, path) => {
  if (typeof value === 'string' || typeof value === 'number') return value
  return list(longText, { max: 200 })(value, path)
}
const readExpectation: Reader<Expectation> = object(
  { url: text({ max: 2_000 }), fields: named(fieldNames, readResult) },
  ['url', 'fields'],
)

export const readFingerprintFields = oneOrMore(text({ max: 64 }), { max: fieldsMax })

/** @throws ValueProblem for a name that is neither of a property of pages nor among `fields` */
export function refuseUnknownFields(
  names: readonly string[],
  fields: readonly string[],
  path: string,
): void {
  const known: readonly string[] = [...pageProperties, ...fields]
  const unknown = names.findIndex((name) => !known.includes(name))
  if (unknown < 0) return
  throw new ValueProblem(
    `${path}.fingerprintFields[${unknown}]`.replace(/^\./, ''),
    `"${names[unknown]}" is none of ${known.join(', ')}`,
  )
}

const readShape = object(
  {
    name: ruleName,
    kind: choice(['list', 'detail']),
    match: oneOrMore(readPattern, { max: matchesMax }),
    format: choice(['html', 'json']),
    store: flag,
    follow: flag,
    links: oneOrMore(readLink, { max: linkSpecsMax }),
    next: oneOrMore(readNext, { max: linkSpecsMax }),
    details: oneOrMore(readTemplate, { max: linkSpecsMax }),
    page: object(pageShape, []),
    fields: named(fieldNames, readField),
    items: readItems,
    expect: oneOrMore(readExpectation, { max: expectationsMax }),
    fingerprintFields: readFingerprintFields,
  },
  ['name', 'kind', 'match'],
)

/** A list follows only what it names, if it names anything; a JSON list is a way to pages and none itself. */
export const readRule: Reader<Rule> = (value, path) => {
  const read = readShape(value, path)
  const { links = [], next = [], details = [], kind, format = 'html' } = read
  const namesLinks = links.length + next.length + details.length > 0
  if (kind === 'list' && format === 'json' && !namesLinks && read.items === undefined)
    throw new ValueProblem(path, 'a JSON list needs "links", "next", "details" or "items"')
  const expect = read.expect ?? []
  for (const [i, { fields }] of expect.entries()) {
    const unknown = Object.keys(fields).find((name) => read.fields?.[name] === undefined)
    if (unknown !== undefined)
      throw new ValueProblem(`${path}.expect[${i}].fields.${unknown}`, 'the rule has no such field')
  }
  const { fingerprintFields } = read
  refuseUnknownFields(
    fingerprintFields ?? [],
    Object.keys({ ...read.fields, ...read.items?.fields }),
    path,
  )
  return {
    name: read.name,
    kind,
    match: read.match,
    format,
    store: read.store ?? !(kind === 'list' && format === 'json'),
    follow: read.follow ?? !(kind === 'list' && namesLinks),
    links,
    next,
    details,
    page: read.page ?? {},
    fields: read.fields ?? {},
    ...(read.items === undefined ? {} : { items: read.items }),
    expect,
    ...(fingerprintFields === undefined ? {} : { fingerprintFields }),
  }
}

export const readRules: Reader<Rule[]> = (value, path) => {
  const rules = list(readRule, { max: rulesMax })(value, path)
  rules.forEach(({ name }, i) => {
    if (rules.findIndex((rule) => rule.name === name) < i)
      throw new ValueProblem(`${path}[${i}].name`, `there is a rule "${name}" already`)
  })
  return rules
}
