/** JSON Schemas of what keeps an index fresh: described sources with their runs, and what was learned of hosts. */
import type { Schema } from './json-schema.ts'
import { count, record, string, time, timeOrNull } from './schema-parts.ts'

/** What is in it is described in docs/SOURCES.md and checked by the crawl, which names the path of a mistake. */
export const sourceBody: Schema = {
  type: 'object',
  additionalProperties: true,
  description: 'A source: name, seeds, scope, limits, rules and more, as in docs/SOURCES.md',
}
const source = record({
  name: string,
  changed_at: time,
  next_run: { ...timeOrNull, description: 'null where it has no schedule' },
  source: sourceBody,
})

const run = record({
  cause: { type: 'string', enum: ['schedule', 'request'] },
  state: {
    type: 'string',
    enum: ['running', 'paused', 'done', 'limit', 'stopped', 'skipped', 'failed'],
  },
  started_at: time,
  ended_at: timeOrNull,
  counts: record({
    fetched: count,
    stored: count,
    unchanged: count,
    copies: count,
    redirects: count,
    gone: count,
    refused: count,
    failed: count,
    bytes: count,
  }),
  note: string,
})

const ruleState: Schema = {
  type: 'string',
  enum: ['open', 'closed', 'kept'],
  description: 'closed: put aside as a trap, or dropped from URLs; kept: wanted by the operator',
}
const host = record({
  origin: string,
  failures: { ...count, description: 'In a row, over all its pages' },
  rests_until: timeOrNull,
  shapes: {
    type: 'array',
    items: record({
      shape: string,
      state: ruleState,
      fetched: count,
      fresh: count,
      copies: count,
      visits_left: count,
    }),
  },
  parameters: {
    type: 'array',
    items: record({ name: string, state: ruleState, same: count, differing: count }),
  },
})

/** Which of the rules of a host, and what becomes of it. */
export const ruleDecision: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['kind', 'name', 'state'],
  properties: {
    kind: { type: 'string', enum: ['shape', 'parameter'] },
    name: { type: 'string', minLength: 1, maxLength: 500 },
    state: ruleState,
  },
}

/** Named in the OpenAPI document. */
export const upkeepAnswers = {
  Source: source,
  Sources: record({ sources: { type: 'array', items: source } }),
  Removed: record({ removed: { type: 'boolean' } }),
  Runs: record({ runs: { type: 'array', items: run, description: 'Newest first, at most 50' } }),
  Host: host,
  Hosts: record({ hosts: { type: 'array', items: host } }),
} as const satisfies Record<string, Schema>
