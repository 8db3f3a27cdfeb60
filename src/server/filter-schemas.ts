/** What the administration is told of what was recognised: URLs seen, copies, words of lists. As JSON Schema. */
import type { Schema } from './json-schema.ts'
import { count, record, string, strings } from './schema-parts.ts'

const listOf = (items: Schema): Schema => ({ type: 'array', items })
const policy: Schema = { type: 'string', enum: ['drop', 'mask', 'flag', 'unsuggested', 'allow'] }

export const copiesParameters: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    cursor: { type: 'integer', description: 'As the page before gave it; left out for the first' },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
}

export const distinctCounts = record(
  { urls: count, hosts: count, contents: count },
  'About how many different ones were met (error .8 %): URLs that pages lead to, in scope or not, their hosts, main texts',
)

const copyMember = record({
  id: string,
  url: string,
  title: string,
  kind: { type: 'string', enum: ['original', 'near', 'exact'] },
  similarity: { type: 'number', description: 'To the original, 0..1' },
  distance: { type: 'integer', description: 'Bits of 64 that differ from the original' },
  reasons: {
    ...listOf({
      type: 'string',
      enum: ['canonical', 'own-host', 'earlier', 'shorter', 'more-links'],
    }),
    description: 'What speaks for the original, the decisive first',
  },
})

export const copyGroups = record({
  groups: listOf(record({ group: string, pages: count, members: listOf(copyMember) })),
  cursor: { type: ['integer', 'null'] },
})

export const filtersAnswer = record({
  seen: record({
    urls: count,
    keys: count,
    bytes: count,
    mode: { type: 'string', enum: ['mapped', 'memory'] },
    false_positives: { type: 'number', description: 'Expected share of new URLs, asked twice' },
  }),
  distinct: distinctCounts,
  copies: record({
    exact: count,
    near: count,
    groups: count,
    hosts: listOf(record({ host: string, exact: count, near: count })),
  }),
  people: record(
    { today: count, yesterday: count },
    'About how many different addresses searched, by UTC day, since the start',
  ),
  words: record({
    lists: listOf(record({ name: string, policy, words: count, allowed: count })),
    problems: strings,
    applied: { type: 'boolean', description: 'Stored pages are judged by the lists in force' },
    judged: count,
    changed: count,
    words: listOf(record({ list: string, policy, word: string, documents: count, hits: count })),
  }),
})
