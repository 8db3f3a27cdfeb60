/** Small schemas that all others are made of. */
import type { Schema } from './json-schema.ts'

export const string: Schema = { type: 'string' }
export const count: Schema = { type: 'integer', minimum: 0 }
export const strings: Schema = { type: 'array', items: string }
export const time: Schema = { type: 'string', format: 'date-time' }
export const timeOrNull: Schema = { type: ['string', 'null'], format: 'date-time' }
export const open: Schema = { type: 'object', additionalProperties: true }
export const tally: Schema = { type: 'object', additionalProperties: count }
export const range: Schema = {
  type: 'array',
  prefixItems: [count, count],
  minItems: 2,
  maxItems: 2,
  description: 'UTF-16 code unit offsets [start, end)',
}
export const ranges: Schema = { type: 'array', items: range }

/** All properties are required and no others exist: what an answer promises. */
export const record = (properties: Record<string, Schema>, description?: string): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...(description === undefined ? {} : { description }),
})
