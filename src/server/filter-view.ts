/** The filters in force as chips that take them away, and what to try where nothing was found. */
import type { FieldCondition, SearchAnswer, SearchRequest } from '../search/answer.ts'
import { valueLabel } from './facet-view.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import type { Look } from './layout.ts'
import { noFilters } from '../search/request.ts'
import { addressOf, hasFilter } from './search-address.ts'

export type ResultPage = {
  request: SearchRequest
  answer: SearchAnswer
}

export const without = (list: readonly string[], value: string): string[] =>
  list.filter((item) => item !== value)

/** Lengths of time that the page offers: they are shown as chosen, not as filters. */
export const periods = ['P7D', 'P1M', 'P1Y'] as const
const isOffered = (since: string | null): boolean => periods.some((period) => period === since)

/** Each filter in force as a link that takes it away: those of the address, and operators within the query. */
export function filtersInForce(look: Look, { request, answer }: ResultPage): Html[] {
  const removed = (label: string, change: Partial<SearchRequest>): Html =>
    html`<li>
      <a class="chip filter" href="${addressOf(look, request, change)}"
        ><span class="sr">${look.messages.remove} </span>${label}
        <span aria-hidden="true">×</span></a
      >
    </li>`
  const inQuery = (operator: string, value: string): Html | null => {
    const word = `${operator}:${value}`
    const at = request.q.toLowerCase().indexOf(word.toLowerCase())
    if (at < 0) return null
    const q = `${request.q.slice(0, at)} ${request.q.slice(at + word.length)}`
    return removed(word, { q: q.replace(/\s+/g, ' ').trim() })
  }
  const { site, lang } = answer.query.parsed
  const written = [
    ...without([...site], '')
      .filter((value) => !request.site.includes(value))
      .map((value) => inQuery('site', value)),
    ...lang.filter((value) => !request.lang.includes(value)).map((value) => inQuery('lang', value)),
  ].filter((item) => item !== null)
  return [
    ...request.site.map((value) =>
      removed(`site:${value}`, { site: without(request.site, value) }),
    ),
    ...request.notSite.map((value) =>
      removed(`-site:${value}`, { notSite: without(request.notSite, value) }),
    ),
    ...request.lang.map((value) =>
      removed(valueLabel(look, 'lang', value), { lang: without(request.lang, value) }),
    ),
    ...request.type.map((value) =>
      removed(valueLabel(look, 'type', value), { type: without(request.type, value) }),
    ),
    ...request.keyword.map((word) =>
      removed(look.messages.keyword(word), { keyword: without(request.keyword, word) }),
    ),
    ...request.fields.flatMap((condition) => {
      const fields = request.fields.filter((other) => other !== condition)
      return removed(conditionLabel(condition), { fields })
    }),
    ...dates(request).map(([label, change]) => removed(label, change)),
    ...written,
  ]
}

/** `color: red`, `price: 10 – 20`, `price: ≥ 10` */
function conditionLabel({ name, values, min, max }: FieldCondition): string {
  const range =
    min !== null && max !== null
      ? `${min} – ${max}`
      : [min === null ? '' : `≥ ${min}`, max === null ? '' : `≤ ${max}`].join('')
  return `${name}: ${[...values, range].filter((part) => part !== '').join(', ')}`
}

function dates({ since, until }: SearchRequest): [string, Partial<SearchRequest>][] {
  const both = { since: null, until: null }
  if (since !== null && since === until) return [[since, both]]
  if (since !== null && until !== null && !isOffered(since)) return [[`${since} – ${until}`, both]]
  const chips: [string, Partial<SearchRequest>][] = []
  if (since !== null && !isOffered(since)) chips.push([`≥ ${since}`, { since: null }])
  if (until !== null) chips.push([`≤ ${until}`, { until: null }])
  return chips
}

/** For an empty answer: what else to ask, as links. What was counted says what it finds. */
export function help(look: Look, { request, answer }: ResultPage): Html {
  const { messages } = look
  const { words, filters } = answer.help ?? { words: [], filters: [] }
  const offer = (change: Partial<SearchRequest>, label: string, total: number | null): Html =>
    html`<li>
      <a href="${addressOf(look, request, change)}">${label}</a>
      ${total === null ? '' : html`<span class="quiet">${messages.about(look.number(total), false)}</span>`}
    </li>`
  const links = [
    ...answer.suggestions.map(
      ({ text }) =>
        html`<li>
          ${messages.tryShorter} <a href="${addressOf(look, request, { q: text })}">${text}</a>
        </li>`,
    ),
    ...words.map(({ word, q, total }) => offer({ q }, messages.dropWord(word), total)),
    ...filters.map(({ filter, parameter, q, total }) =>
      parameter === '*'
        ? offer({ ...noFilters, q }, messages.dropFilters, total)
        : offer({ ...lacking(request, parameter), q }, messages.dropFilter(filter), total),
    ),
    ...(hasFilter(request) && !filters.some(({ parameter }) => parameter === '*')
      ? [offer(noFilters, messages.dropFilters, null)]
      : []),
  ]
  const nothing = request.q.trim() === '' ? messages.nothingFits : messages.nothing(request.q)
  return html`<div class="box">
    <p><strong>${nothing}</strong></p>
    ${
      links.length > 0
        ? html`<p>${messages.nothingHelp}</p>
            <ul>
              ${links}
            </ul>`
        : ''
    }
  </div>`
}

/** The change that takes one parameter away; null = only the query changes. */
function lacking(request: SearchRequest, parameter: string | null): Partial<SearchRequest> {
  switch (parameter) {
    case 'site':
    case 'lang':
    case 'type':
    case 'keyword':
      return { [parameter]: [] }
    case '-site':
      return { notSite: [] }
    case 'since':
    case 'until':
      return { [parameter]: null }
    case null:
      return {}
    default:
      return { fields: request.fields.filter(({ name }) => `field.${name}` !== parameter) }
  }
}
