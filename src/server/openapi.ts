/** The OpenAPI 3.1 document, made from the same operations and schemas that the server checks with: it cannot be out of date. */
import { answers } from './api-schemas.ts'
import type { Schema } from './json-schema.ts'

/** What the document says of one route. */
export type Operation = {
  summary: string
  access: 'public' | 'admin'
  /** Parameters of the query. */
  parameters?: Schema
  body?: Schema
  /** By media type; a string type without a schema. */
  answer: Readonly<Record<string, Schema>>
  status?: number
}
export type Described = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  operation: Operation
}

const nameOf = new Map<unknown, string>(
  Object.entries(answers).map(([name, schema]) => [schema, name]),
)

/** The schema with every named part as a reference; `isRoot` keeps the definition itself. */
function printed(value: unknown, isRoot = false): unknown {
  const name = nameOf.get(value)
  if (name !== undefined && !isRoot) return { $ref: `#/components/schemas/${name}` }
  if (Array.isArray(value)) return value.map((item) => printed(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, printed(part)]))
}

function parametersOf({ path, operation }: Described): unknown[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const required = operation.parameters?.required ?? []
  const inQuery = Object.entries(operation.parameters?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(schema.type === 'array' ? { style: 'form', explode: true } : {}),
    schema: printed(schema),
  }))
  // OpenAPI has no parameters by pattern: they stand there by the name that their description begins with.
  const byPattern = Object.values(operation.parameters?.patternProperties ?? {}).map((schema) => ({
    name: /^[\w.]+/.exec(schema.description ?? '')?.[0] ?? '',
    in: 'query',
    required: false,
    schema: printed(schema),
  }))
  return [...inPath, ...inQuery, ...byPattern]
}

function printedOperation(route: Described): unknown {
  const { operation } = route
  const content = Object.entries(operation.answer).map(([type, schema]) => [
    type,
    { schema: printed(schema) },
  ])
  return {
    summary: operation.summary,
    parameters: parametersOf(route),
    ...(operation.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: printed(operation.body) } },
          },
        }
      : {}),
    ...(operation.access === 'admin' ? { security: [{ key: [] }, { session: [] }] } : {}),
    responses: {
      [operation.status ?? 200]: { description: 'As asked', content: Object.fromEntries(content) },
      default: {
        description: 'A problem',
        content: { 'application/problem+json': { schema: printed(answers.Problem) } },
      },
    },
  }
}

export function openApiDocument(routes: readonly Described[], version: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: printedOperation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Findling',
      version,
      description:
        'Search over the pages this appliance has crawled. Offsets count UTF-16 code units.',
    },
    servers: [{ url: '.' }],
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(answers).map(([name, schema]) => [name, printed(schema, true)]),
      ),
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'findling_session' },
      },
    },
  }
}
