/** The address of a search: for every link of a page that changes one thing about it, and for the box, which keeps all but the words. */
import type { SearchRequest } from '../search/answer.ts'
import { facetsMax } from '../search/facets.ts'
import { requestDefaults } from '../search/request.ts'
import type { Look } from './layout.ts'

/** Columns of a snippet on a page. */
export const pageSnippet = 240
/** Counted for every page of results. */
const usualFacets: readonly string[] = ['host', 'keyword', 'lang', 'field:*', 'type', 'date']
/** Trees that stand open: each is one more count. */
const openNodesMax = 4

export const hasFilter = ({ since, until, ...request }: SearchRequest) =>
  since !== null || until !== null || filterLists.some((name) => request[name].length > 0)
const filterLists = ['site', 'notSite', 'lang', 'type', 'fields', 'keyword'] as const

/** The search without `change` but for it, from its first hit on; what is the default anyway is left out. */
export function addressOf(
  look: Look,
  request: SearchRequest,
  change: Partial<SearchRequest> = {},
): string {
  const wish = { ...request, offset: 0, cursor: null, ...change }
  return `${look.root}search?${parametersOf(wish).toString()}`
}

/** As readSearch reads them; q is always there and comes first. */
export function parametersOf(wish: SearchRequest): URLSearchParams {
  const parameters = new URLSearchParams({ q: wish.q })
  for (const site of wish.site) parameters.append('site', site)
  for (const site of wish.notSite) parameters.append('-site', site)
  for (const lang of wish.lang) parameters.append('lang', lang)
  for (const type of wish.type) parameters.append('type', type)
  for (const word of wish.keyword) parameters.append('keyword', word)
  for (const { name, values, min, max } of wish.fields) {
    for (const value of values) parameters.append(`field.${name}`, value)
    if (min !== null) parameters.set(`field.${name}.gte`, min)
    if (max !== null) parameters.set(`field.${name}.lte`, max)
  }
  for (const facet of wish.facets) parameters.append('facet', facet)
  const others: [string, string | number | null, string | number | null][] = [
    ['facet_limit', wish.facetLimit, requestDefaults.facetLimit],
    ['sort', wish.sort, requestDefaults.sort],
    ['match', wish.match, requestDefaults.match],
    ['since', wish.since, null],
    ['until', wish.until, null],
    ['group', wish.group, requestDefaults.group],
    ['collapse', wish.collapse, null],
    ['limit', wish.limit, requestDefaults.limit],
    ['snippet', wish.snippet, pageSnippet],
    ['cursor', wish.cursor, null],
    ['offset', wish.offset, 0],
  ]
  for (const [name, value, usual] of others)
    if (value !== null && value !== usual) parameters.set(name, String(value))
  return parameters
}

/** What is counted beside a page of results: what lies below the nodes that are filters, what was asked for, and the usual. */
export function countedFacets({ facets, fields }: SearchRequest): string[] {
  const nodes = fields
    .filter(({ values }) => values.length === 1)
    .slice(0, openNodesMax)
    .map(({ name, values }) => `field:${name}/${values[0]}`)
  return [...new Set([...nodes, ...facets.slice(0, facetsMax), ...usualFacets])]
}
