/** From parameters and bodies to a SearchRequest or a CrawlSpec, or to an AppError that names each fault. Asks nobody. */
import { AppError } from '../lib/errors.ts'
import type { FieldCondition, SearchRequest } from '../search/answer.ts'
import { facetsMax, readFacet } from '../search/facets.ts'
import { requestDefaults } from '../search/request.ts'
import { crawlSpec, facetParameters, queryCharactersMax, searchParameters } from './api-schemas.ts'
import type { Query } from './call.ts'
import type { CrawlSpec } from './control.ts'
import { checkValue, objectOfQuery, withDefaults } from './json-schema.ts'
import type { Schema, SchemaError } from './json-schema.ts'

const errorsListedMax = 10

/** What an `invalid_parameter` error carries as its cause; problem.ts prints it. */
export type ParameterFaults = { faults: readonly SchemaError[] }

function invalid(faults: readonly SchemaError[]): AppError {
  const first = faults[0] ?? { pointer: '', detail: 'is not valid' }
  const name = first.pointer.slice(1) || 'The body'
  return new AppError('invalid_parameter', `${name.slice(0, 100)} ${first.detail}.`, {
    cause: {
      faults: faults
        .slice(0, errorsListedMax)
        .map(({ pointer, detail }) => ({ pointer: pointer.slice(0, 100), detail })),
    } satisfies ParameterFaults,
  })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value with its defaults, when it fits. The schema must describe an object. */
export function readChecked(schema: Schema, value: unknown): Record<string, unknown> {
  const faults = checkValue(schema, value)
  if (faults.length > 0 || !isRecord(value)) throw invalid(faults)
  return withDefaults(schema, value)
}

export const readParameters = (schema: Schema, query: Query): Record<string, unknown> =>
  readChecked(schema, objectOfQuery(schema, query))

/** @param value the parameters of an address (objectOfQuery) or a JSON body */
export function readSearch(value: unknown): SearchRequest {
  const q = isRecord(value) ? value['q'] : undefined
  if (typeof q === 'string' && q.length > queryCharactersMax) {
    throw new AppError(
      'query_too_long',
      `q has ${q.length} characters; the limit is ${queryCharactersMax}.`,
    )
  }
  return requestOf(readChecked(searchParameters, value))
}

/** Parameters of GET /api/v1/facets: a search, and the field to be counted. */
export function readFacetSearch(query: Query): { request: SearchRequest; field: string } {
  const { field, limit, ...rest } = readParameters(facetParameters, query)
  const name = String(field)
  readFacet(name)
  const none = { facets: [], facet: [], collapse: 'none' }
  const request = requestOf({ ...requestDefaults, ...rest, ...none, limit: 1 })
  return { request: { ...request, facets: [name], facetLimit: Number(limit) }, field: name }
}

function requestOf(checked: Record<string, unknown>): SearchRequest {
  const {
    '-site': notSite,
    since = null,
    until = null,
    cursor = null,
    facets,
    facet,
    facet_limit: facetLimit,
    collapse,
    ...all
  } = checked
  const isField = (name: string): boolean => name.startsWith('field.')
  const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !isField(name)))
  for (const [name, moment] of Object.entries({ since, until })) {
    if (typeof moment === 'string' && !moment.startsWith('P') && Number.isNaN(Date.parse(moment))) {
      throw invalid([{ pointer: `/${name}`, detail: 'is no date of the calendar' }])
    }
  }
  // The schema has just proved the shape.
  const request = { ...rest, notSite, since, until, cursor, facetLimit } as unknown as SearchRequest
  return {
    ...request,
    q: request.q.replaceAll('\0', ''),
    collapse: collapse === 'site' ? 'site' : null,
    fields: fieldConditions(all),
    facets: facetsOf([...(facets as string[]), ...(facet as string[])]),
  }
}

/** `a,b` names two; each name is judged here, so that a wrong one is told before anything is counted. */
function facetsOf(names: readonly string[]): string[] {
  const all = names.flatMap((name) => name.split(','))
  const facets = [...new Set(all.map((name) => name.trim()).filter((name) => name !== ''))]
  if (facets.length > facetsMax)
    throw invalid([{ pointer: '/facets', detail: `has more than ${facetsMax} names` }])
  for (const facet of facets) readFacet(facet)
  return facets
}

/** field.NAME, field.NAME.gte and field.NAME.lte: one condition for each name. */
function fieldConditions(parameters: Record<string, unknown>): FieldCondition[] {
  const conditions = new Map<string, FieldCondition>()
  for (const [parameter, value] of Object.entries(parameters)) {
    const [, name = '', bound] = /^field\.(.+?)(?:\.(gte|lte))?$/su.exec(parameter) ?? []
    if (name === '') continue
    const known = conditions.get(name) ?? { name, values: [], min: null, max: null }
    const given = (Array.isArray(value) ? value : [value]).map(String)
    if (bound === 'gte') conditions.set(name, { ...known, min: given[0] ?? null })
    else if (bound === 'lte') conditions.set(name, { ...known, max: given[0] ?? null })
    else conditions.set(name, { ...known, values: [...known.values, ...given] })
  }
  return [...conditions.values()]
}

const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i
const isHere = /^(localhost|127\.|\[|\d+\.\d+\.\d+\.\d+)/i
/** As people type addresses: `example.org` means https, an address of this machine or network http. */
export const completeAddress = (typed: string): string =>
  hasScheme.test(typed) ? typed : `${isHere.test(typed) ? 'http' : 'https'}://${typed}`

export function readCrawlSpec(value: unknown): CrawlSpec {
  const spec = readChecked(crawlSpec, value) as unknown as CrawlSpec
  const faults = (['seeds', 'include'] as const).flatMap((list) =>
    spec[list].flatMap((address, at) => {
      const isWeb = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
      return isWeb
        ? []
        : [
            {
              pointer: `/${list}/${at}`,
              detail: `is no http or https address: ${address.slice(0, 100)}`,
            },
          ]
    }),
  )
  if (faults.length > 0) throw invalid(faults)
  return spec
}
