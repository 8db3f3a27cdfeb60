/** The facets of a page of results: each value a link that narrows the search to it, a tree one level at a time. */
import type { FacetValue, SearchAnswer, SearchRequest } from '../search/answer.ts'
import { html } from './html.ts'
import type { Html, HtmlValue } from './html.ts'
import type { Look } from './layout.ts'
import { addressOf } from './search-address.ts'

/** Longer values are texts, not kinds. */
const valueCharsMax = 80
/** More values than these, and each on one page only: nobody narrows by that. */
const singlesMax = 5

type FacetList = { label: string; items: HtmlValue[] }

/** null where there is nothing to choose. */
export function facetLists(look: Look, request: SearchRequest, answer: SearchAnswer): HtmlValue {
  const lists = Object.entries(answer.facets)
    .map(([facet, values]) => listOf(look, request, facet, values, answer))
    .filter((list) => list !== null)
  if (lists.length === 0) return null
  return html`<nav class="facets" id="narrow" aria-label="${look.messages.narrow}">
    ${lists.map(
      ({ label, items }) =>
        html`<section>
          <h2>${label}</h2>
          <ul>
            ${items}
          </ul>
        </section>`,
    )}
  </nav>`
}

function listOf(
  look: Look,
  request: SearchRequest,
  facet: string,
  values: readonly FacetValue[],
  { facets: all, total }: SearchAnswer,
): FacetList | null {
  // A keyword of one hit names it, one of all hits leaves all.
  const tells = (count: number): boolean => count > 1 && count < total.value
  const shown = values.filter(
    ({ value, count }) => value.length <= valueCharsMax && (facet !== 'keyword' || tells(count)),
  )
  const link = (value: FacetValue): Html =>
    html`<li>
      <a rel="nofollow" href="${addressOf(look, request, narrowed(request, facet, value.value))}"
        ><span>${valueLabel(look, facet, value.value)}</span>
        <span class="quiet">${look.number(value.count)}</span></a
      >
    </li>`
  const [, name, node] = /^field[:.]([^/]+)(?:\/(.*))?$/s.exec(facet) ?? []
  if (name === undefined) {
    const { facetNames } = look.messages
    const kind = facet.split(':')[0] ?? ''
    const label = Object.hasOwn(facetNames, kind)
      ? facetNames[kind as keyof typeof facetNames]
      : kind
    const isChoice = shown.length > 1 && !(kind === 'date' && areSingles(shown))
    return isChoice ? { label, items: shown.map(link) } : null
  }
  // Below a node that is a filter: the way back up, then what it leads to.
  if (node !== undefined)
    return shown.length === 0
      ? null
      : { label: name, items: [...pathTo(look, request, name, node), ...shown.map(link)] }
  const isOpen = request.fields.some(
    ({ name: other, values: [value] }) =>
      other === name && (all[`field:${name}/${value}`]?.length ?? 0) > 0,
  )
  const isTree = shown.some((value) => value.has_children)
  if (isOpen || (!isTree && (shown.length < 2 || areSingles(shown)))) return null
  return { label: name, items: shown.map(link) }
}

const areSingles = (values: readonly FacetValue[]): boolean =>
  values.length > singlesMax && values.every(({ count }) => count === 1)

/** `All`, then each step on the way to a node of a tree; the last is where the search is. */
function pathTo(look: Look, request: SearchRequest, name: string, node: string): Html[] {
  const others = request.fields.filter((condition) => condition.name !== name)
  const steps = node.split('/')
  const up = steps.slice(0, -1).map((step, i) => ({ step, path: steps.slice(0, i + 1).join('/') }))
  return [
    html`<li class="up">
      <a rel="nofollow" href="${addressOf(look, request, { fields: others })}"
        >${look.messages.all}</a
      >
    </li>`,
    ...up.map(
      ({ step, path }) =>
        html`<li class="up">
          <a
            rel="nofollow"
            href="${addressOf(look, request, narrowed(request, `field:${name}`, path))}"
            >${step}</a
          >
        </li>`,
    ),
    html`<li class="here"><span aria-current="true">${steps.at(-1) ?? ''}</span></li>`,
  ]
}

/** What the search with this value as a further filter changes. */
function narrowed(request: SearchRequest, facet: string, value: string): Partial<SearchRequest> {
  const kind = facet.split(':')[0]
  if (kind === 'host' || kind === 'site') return { site: [value] }
  if (kind === 'lang' || kind === 'language') return { lang: [value] }
  if (kind === 'type') return { type: [value] }
  if (kind === 'keyword') return { keyword: [...request.keyword, value] }
  if (kind === 'date') return { since: value, until: value }
  const [, name = ''] = /^field[:.]([^/]+)/.exec(facet) ?? []
  const others = request.fields.filter((condition) => condition.name !== name)
  return { fields: [...others, { name, values: [value], min: null, max: null }] }
}

/** Languages by their names, types by their short ones, of a path its last step. */
export function valueLabel(look: Look, facet: string, value: string): string {
  const kind = facet.split(/[:.]/)[0] ?? ''
  if (kind === 'lang' || kind === 'language') return look.languageName(value)
  if (kind === 'type') return typeNames[value] ?? value.replace(/^(?:application|text)\//, '')
  if (/^field[:.][^/]+\//.test(facet)) return value.slice(value.lastIndexOf('/') + 1)
  return value
}

const typeNames: Readonly<Record<string, string>> = {
  'text/html': 'HTML',
  'application/xhtml+xml': 'XHTML',
  'application/pdf': 'PDF',
  'text/plain': 'TXT',
  'text/markdown': 'Markdown',
  'application/json': 'JSON',
}
