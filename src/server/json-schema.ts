/**
 * The part of JSON Schema 2020-12 that our API uses, checked by hand: Ajv would cost each process several MB. Used on
 * parameters and bodies at run time, on answers by the tests, and printed as the OpenAPI document. No references: schemas nest.
 */
import type { Query } from './call.ts'

type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'
export type Schema = {
  type?: TypeName | readonly TypeName[]
  description?: string
  default?: unknown
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  items?: Schema
  prefixItems?: readonly Schema[]
  minItems?: number
  maxItems?: number
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  /** Of names that `properties` lacks: the first pattern that fits counts. */
  patternProperties?: Readonly<Record<string, Schema>>
  additionalProperties?: boolean | Schema
  anyOf?: readonly Schema[]
}
/** Where (a JSON pointer) and what. */
export type SchemaError = { pointer: string; detail: string }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function hasType(value: unknown, type: TypeName): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'object':
      return isRecord(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'string':
    case 'boolean':
      return typeof value === type
  }
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function checkString(schema: Schema, value: string, pointer: string): SchemaError[] {
  if (schema.minLength !== undefined && value.length < schema.minLength) {
    return [{ pointer, detail: `must have at least ${schema.minLength} characters` }]
  }
  if (schema.maxLength !== undefined && value.length > schema.maxLength) {
    return [{ pointer, detail: `has ${value.length} characters; the limit is ${schema.maxLength}` }]
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    return [{ pointer, detail: 'does not have the expected form' }]
  }
  return []
}

function checkNumber(schema: Schema, value: number, pointer: string): SchemaError[] {
  if (schema.minimum !== undefined && value < schema.minimum) {
    return [{ pointer, detail: `must be at least ${schema.minimum}` }]
  }
  if (schema.maximum !== undefined && value > schema.maximum) {
    return [{ pointer, detail: `must be at most ${schema.maximum}` }]
  }
  return []
}

function checkArray(schema: Schema, value: readonly unknown[], pointer: string): SchemaError[] {
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    return [{ pointer, detail: `must have at least ${schema.minItems} items` }]
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    return [{ pointer, detail: `must have at most ${schema.maxItems} items` }]
  }
  return value.flatMap((item, at) => {
    const itemSchema = schema.prefixItems?.[at] ?? schema.items
    return itemSchema ? checkValue(itemSchema, item, `${pointer}/${at}`) : []
  })
}

/** What the schema says of a property by its name. */
function partOf(schema: Schema, name: string): Schema | undefined {
  const known = schema.properties ?? {}
  if (Object.hasOwn(known, name)) return known[name]
  const patterns = Object.entries(schema.patternProperties ?? {})
  return patterns.find(([pattern]) => new RegExp(pattern, 'u').test(name))?.[1]
}

function checkObject(
  schema: Schema,
  value: Record<string, unknown>,
  pointer: string,
): SchemaError[] {
  const errors: SchemaError[] = []
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) {
      errors.push({ pointer: `${pointer}/${escaped(name)}`, detail: 'is missing' })
    }
  }
  for (const [name, part] of Object.entries(value)) {
    const at = `${pointer}/${escaped(name)}`
    const partSchema = partOf(schema, name) ?? schema.additionalProperties
    if (partSchema === false) errors.push({ pointer: at, detail: 'is not known here' })
    else if (isRecord(partSchema)) errors.push(...checkValue(partSchema, part, at))
  }
  return errors
}

/** All faults of the value, an empty list for a good one. */
export function checkValue(schema: Schema, value: unknown, pointer = ''): SchemaError[] {
  if (schema.anyOf) {
    const fits = schema.anyOf.some((one) => checkValue(one, value, pointer).length === 0)
    return fits ? [] : [{ pointer, detail: 'has none of the allowed forms' }]
  }
  if (schema.type !== undefined) {
    const types: readonly TypeName[] = typeof schema.type === 'string' ? [schema.type] : schema.type
    if (!types.some((type) => hasType(value, type))) {
      return [{ pointer, detail: `must be ${types.join(' or ')}` }]
    }
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return [{ pointer, detail: `must be one of ${schema.enum.join(', ')}` }]
  }
  if (typeof value === 'string') return checkString(schema, value, pointer)
  if (typeof value === 'number') return checkNumber(schema, value, pointer)
  if (Array.isArray(value)) return checkArray(schema, value, pointer)
  if (isRecord(value)) return checkObject(schema, value, pointer)
  return []
}

/** The properties that are absent get the default of the schema; only the first level. */
export function withDefaults(
  schema: Schema,
  value: Record<string, unknown>,
): Record<string, unknown> {
  const whole: Record<string, unknown> = { ...value }
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(whole, name) && part.default !== undefined) whole[name] = part.default
  }
  return whole
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])

/**
 * Parameters of an address as the object that the schema describes: numbers become numbers, 1 and 0 truth, a list takes all
 * values. What does not fit is left as it is, so that `checkValue` names it: a word for a number, two values where one is meant.
 */
export function objectOfQuery(schema: Schema, query: Query): Record<string, unknown> {
  const entries = [...query].map(([name, values]): [string, unknown] => {
    const type = partOf(schema, name)?.type
    if (type === 'array' || values.length > 1) return [name, values]
    const value = values[0] ?? ''
    if (type === 'boolean') return [name, booleans.get(value) ?? value]
    return [name, type === 'integer' && /^-?\d{1,15}$/.test(value) ? Number(value) : value]
  })
  return Object.fromEntries(entries)
}
