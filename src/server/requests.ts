/** From parameters and bodies to a SearchRequest or a CrawlSpec, or to an AppError that names each fault. Asks nobody. */
import { AppError } from '../lib/errors.ts'
import type { SearchRequest } from '../search/answer.ts'
import { crawlSpec, queryCharactersMax, searchParameters } from './api-schemas.ts'
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
  const {
    '-site': notSite,
    since = null,
    until = null,
    ...rest
  } = readChecked(searchParameters, value)
  for (const [name, moment] of Object.entries({ since, until })) {
    if (typeof moment === 'string' && !moment.startsWith('P') && Number.isNaN(Date.parse(moment))) {
      throw invalid([{ pointer: `/${name}`, detail: 'is no date of the calendar' }])
    }
  }
  // The schema has just proved the shape.
  const request = { ...rest, notSite, since, until } as unknown as SearchRequest
  return { ...request, q: request.q.replaceAll('\0', '') }
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
