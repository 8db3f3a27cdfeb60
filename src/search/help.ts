/** What to offer where nothing was found: the words without which something is, and the filters. Each offer was counted. */
import { AppError } from '../lib/errors.ts'
import type { Help, SearchRequest } from './answer.ts'
import type { Plan } from './plan.ts'
import { noFilters } from './request.ts'

/** Words and filters that are tried: each is one search. */
const wordsTriedMax = 8
const filtersTriedMax = 8
/** The answer itself is more important. */
const helpMs = 200

type Count = (request: SearchRequest, deadlineMs: number) => number
export type Helper = (request: SearchRequest, plan: Plan, deadlineMs: number) => Help

export function createHelp(count: Count): Helper {
  return (request, plan, deadlineMs) => {
    const help = { words: [], filters: [] } as {
      words: Help['words'][number][]
      filters: Help['filters'][number][]
    }
    const untilMs = Math.min(deadlineMs, performance.now() + helpMs)
    const found = (asked: SearchRequest): number =>
      count({ ...asked, sort: 'relevance', facets: [] }, untilMs)
    try {
      for (const word of wordsOf(request.q, plan)) {
        const q = withoutText(request.q, word)
        const total = q === '' ? 0 : found({ ...request, q })
        if (total > 0) help.words.push({ word, q, total })
      }
      for (const offer of filtersOf(request)) {
        const total = found(offer.request)
        const { filter, parameter } = offer
        if (total > 0) help.filters.push({ filter, parameter, q: offer.request.q, total })
      }
    } catch (error) {
      // No time left: what was counted so far is help enough.
      if (!(error instanceof AppError) || error.code !== 'overloaded') throw error
    }
    help.words.sort((a, b) => b.total - a.total)
    help.filters.sort((a, b) => b.total - a.total)
    return help
  }
}

/** Words of the query that are written in it as such. */
function wordsOf(q: string, plan: Plan): string[] {
  const words = [...new Set(plan.sequence.map(({ form }) => form))]
  if (words.length < 2) return []
  return words
    .filter((word) => q.toLowerCase().includes(word.toLowerCase()))
    .slice(0, wordsTriedMax)
}

function withoutText(q: string, text: string): string {
  const at = q.toLowerCase().indexOf(text.toLowerCase())
  if (at < 0) return ''
  return `${q.slice(0, at)} ${q.slice(at + text.length)}`.replace(/\s+/g, ' ').trim()
}

type Offer = { filter: string; parameter: string | null; request: SearchRequest }

/** Each filter in force, with the request that lacks it; where there are several, also the one that lacks all. */
function filtersOf(request: SearchRequest): Offer[] {
  const { site, notSite, lang, type, fields, keyword, since, until } = request
  const offers: Offer[] = []
  const offer = (filter: string, parameter: string, change: Partial<SearchRequest>): void => {
    offers.push({ filter, parameter, request: { ...request, ...change } })
  }
  if (site.length > 0) offer(site.map((name) => `site:${name}`).join(' '), 'site', { site: [] })
  if (notSite.length > 0)
    offer(notSite.map((name) => `-site:${name}`).join(' '), '-site', { notSite: [] })
  if (lang.length > 0) offer(lang.map((name) => `lang:${name}`).join(' '), 'lang', { lang: [] })
  if (type.length > 0) offer(type.map((name) => `type:${name}`).join(' '), 'type', { type: [] })
  if (since !== null) offer(`since ${since}`, 'since', { since: null })
  if (until !== null) offer(`until ${until}`, 'until', { until: null })
  if (keyword.length > 0)
    offer(keyword.map((word) => `keyword:${word}`).join(' '), 'keyword', { keyword: [] })
  for (const condition of fields)
    offer(condition.values.join(' ') || condition.name, `field.${condition.name}`, {
      fields: fields.filter((other) => other !== condition),
    })
  const written = [...request.q.matchAll(operator)].map(([text]) => text.trim())
  for (const text of written)
    offers.push({
      filter: text,
      parameter: null,
      request: { ...request, q: withoutText(request.q, text) },
    })
  const shown = offers.slice(0, filtersTriedMax)
  if (offers.length < 2) return shown
  const q = written.reduce(withoutText, request.q)
  return [...shown, { filter: '*', parameter: '*', request: { ...request, ...noFilters, q } }]
}

const operator =
  /(?:^|\s)-?(?:site|lang|filetype|before|after|intitle|inurl|field|keyword)[:：](?:"[^"]*"|\S+)/giu
