/** The page of results: pure, from an answer to HTML. What is asked and how is pages.ts's part. */
import type { Hit, SearchAnswer, SearchRequest } from '../search/answer.ts'
import { html, marked, webHref } from './html.ts'
import type { Html, HtmlValue } from './html.ts'
import { frame } from './layout.ts'
import type { Look } from './layout.ts'

const offsetMax = 1000
const periods = ['P7D', 'P1M', 'P1Y'] as const
const languageTag = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/

export type ResultPage = {
  request: SearchRequest
  answer: SearchAnswer
}

/** The search as the address names it; without what is the default anyway. */
function addressOf(
  look: Look,
  request: SearchRequest,
  change: Partial<SearchRequest> = {},
): string {
  // Whatever is changed, the list begins anew.
  const wish: SearchRequest = { ...request, offset: 0, ...change }
  const parameters = new URLSearchParams({ q: wish.q })
  for (const site of wish.site) parameters.append('site', site)
  for (const site of wish.notSite) parameters.append('-site', site)
  for (const lang of wish.lang) parameters.append('lang', lang)
  if (wish.sort !== 'relevance') parameters.set('sort', wish.sort)
  if (wish.match !== 'auto') parameters.set('match', wish.match)
  if (wish.since !== null) parameters.set('since', wish.since)
  if (wish.until !== null) parameters.set('until', wish.until)
  if (wish.group !== 'duplicate') parameters.set('group', wish.group)
  if (wish.offset > 0) parameters.set('offset', String(wish.offset))
  return `${look.root}search?${parameters.toString()}`
}

const chip = (href: string, label: string, isCurrent: boolean): Html =>
  html`<li>
    <a class="chip" href="${href}" ${isCurrent ? html`aria-current="true"` : ''}>${label}</a>
  </li>`

const without = (list: readonly string[], value: string): string[] =>
  list.filter((item) => item !== value)

/** Each filter in force as a link that takes it away: those of the address, and operators within the query. */
function filtersInForce(look: Look, { request, answer }: ResultPage): Html[] {
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
      removed(`lang:${value}`, { lang: without(request.lang, value) }),
    ),
    ...(request.until === null ? [] : [removed(`≤ ${request.until}`, { until: null })]),
    ...written,
  ]
}

function tools(look: Look, result: ResultPage): Html {
  const { request } = result
  const { messages } = look
  const isFolded = request.group === 'duplicate'
  const filters = filtersInForce(look, result)
  return html`<nav class="tools" aria-label="${messages.sort}, ${messages.time}">
    <ul class="chips">
      ${chip(addressOf(look, request, { sort: 'relevance' }), messages.relevance, request.sort === 'relevance')}
      ${chip(addressOf(look, request, { sort: 'date' }), messages.newestFirst, request.sort === 'date')}
    </ul>
    <ul class="chips">
      ${chip(addressOf(look, request, { since: null }), messages.anyTime, request.since === null)}
      ${periods.map((since) =>
        chip(addressOf(look, request, { since }), messages.past[since], request.since === since),
      )}
    </ul>
    <ul class="chips">
      ${chip(
        addressOf(look, request, { group: isFolded ? 'none' : 'duplicate' }),
        isFolded ? messages.showCopies : messages.foldCopies,
        false,
      )}
      ${filters}
    </ul>
  </nav>`
}

/** A title as a link where it may be one. */
const linked = (url: string, label: HtmlValue): Html => {
  const href = webHref(url)
  return href === null
    ? html`${label}`
    : html`<a href="${href}" rel="noopener noreferrer nofollow">${label}</a>`
}

function copiesOf(look: Look, hit: Hit, { request }: ResultPage): HtmlValue {
  const { count, items: named } = hit.duplicates
  if (count === 0) return null
  const { messages } = look
  const items = named.map(
    ({ url, title }) =>
      html`<li>${linked(url, title || url)} <span class="quiet">${url}</span></li>`,
  )
  return html`<details class="copies">
    <summary>${messages.copies(look.number(count))}</summary>
    ${
      items.length > 0
        ? html`<ul>
            ${items}
          </ul>`
        : ''
    }
    <p><a href="${addressOf(look, request, { group: 'none' })}">${messages.moreCopies}</a></p>
  </details>`
}

function hitItem(look: Look, hit: Hit, result: ResultPage): Html {
  const { messages, root } = look
  const { request } = result
  const when = hit.published_at ?? hit.changed_at
  const title =
    hit.title.trim() === '' ? html`${hit.display_url}` : marked(hit.title, hit.title_ranges)
  const isForeign = languageTag.test(hit.lang) && !look.language.startsWith(hit.lang.slice(0, 2))
  return html`<li class="hit">
    <article ${isForeign ? html`lang="${hit.lang}"` : ''}>
      <p class="source">
        <span class="letter" aria-hidden="true">${hit.site.replace(/^www\./, '').slice(0, 1)}</span
        ><span class="where">${hit.display_url}</span>
      </p>
      <h2>${linked(hit.url, title)}</h2>
      <p class="snippet">
        <time datetime="${when}">${look.date(when)}</time>
        ${marked(hit.snippet.text, hit.snippet.ranges)}
      </p>
    </article>
    ${
      hit.missing.length > 0
        ? html`<p class="missing">
            ${messages.missing} ${hit.missing.map((word) => html`<s>${word}</s> `)}
          </p>`
        : ''
    }
    ${copiesOf(look, hit, result)}
    <ul class="actions">
      <li>
        <a rel="nofollow" data-stored href="${root}cache/${encodeURIComponent(hit.id)}"
          >${messages.storedText}</a
        >
      </li>
      <li><a href="${addressOf(look, request, { site: [hit.site] })}">${messages.moreFrom}</a></li>
      <li>
        <a
          href="${addressOf(look, request, { notSite: [...without(request.notSite, hit.site), hit.site] })}"
          >${messages.without}</a
        >
      </li>
    </ul>
  </li>`
}

/** For an empty answer: what else to ask, as links. */
function help(look: Look, { request, answer }: ResultPage): Html {
  const { messages } = look
  const words = answer.query.parsed.must
  const hasFilters =
    request.site.length + request.notSite.length + request.lang.length > 0 ||
    request.since !== null ||
    request.until !== null
  const links = [
    ...answer.suggestions.map(
      ({ text }) =>
        html`<li>
          ${messages.tryShorter} <a href="${addressOf(look, request, { q: text })}">${text}</a>
        </li>`,
    ),
    ...(words.length > 1 ? words : []).map((word) => {
      const q = words.filter((other) => other !== word).join(' ')
      return html`<li>
        <a href="${addressOf(look, request, { q })}">${messages.dropWord(word)}</a>
      </li>`
    }),
    ...(hasFilters
      ? [
          html`<li>
            <a
              href="${addressOf(look, request, { site: [], notSite: [], lang: [], since: null, until: null })}"
              >${messages.dropFilters}</a
            >
          </li>`,
        ]
      : []),
  ]
  return html`<div class="box">
    <p><strong>${messages.nothing(request.q)}</strong></p>
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

function pager(look: Look, { request, answer }: ResultPage): HtmlValue {
  const { offset, limit } = request
  const next = offset + limit
  const hasNext = next < answer.total.value && next <= offsetMax && answer.hits.length > 0
  if (offset === 0 && !hasNext) return null
  const { messages } = look
  const at = (position: number): string => addressOf(look, request, { offset: position })
  return html`<nav class="pager" aria-label="${messages.pages}">
    ${offset > 0 ? html`<a class="button" rel="prev" href="${at(Math.max(0, offset - limit))}">${messages.previous}</a>` : ''}
    ${hasNext ? html`<a class="button" rel="next" href="${at(next)}">${messages.next}</a>` : ''}
  </nav>`
}

function notes(look: Look, { request, answer }: ResultPage): Html {
  const { messages } = look
  const correction = answer.suggestions.find(({ type }) => type === 'correction')
  const isPartly =
    answer.query.matched === 'any' && answer.hits.length > 0 && request.match === 'auto'
  return html`
    ${
      correction && answer.hits.length > 0
        ? html`<p class="correction">
            ${messages.didYouMean}
            <a href="${addressOf(look, request, { q: correction.text })}">${correction.text}</a>
          </p>`
        : ''
    }
    ${answer.warnings.map((warning) => html`<p class="box note">${messages.note}: ${warning}</p>`)}
    ${isPartly && answer.hits.every((hit) => hit.missing.length > 0) ? html`<p class="box note">${messages.partly}</p>` : ''}
  `
}

export function resultPage(look: Look, result: ResultPage): Html {
  const { request, answer } = result
  const { messages } = look
  const total = messages.about(look.number(answer.total.value), answer.total.relation === 'gte')
  const main = html`<h1 class="sr">${messages.resultsFor(request.q)}</h1>
    ${tools(look, result)}
    <p class="quiet meta">${total} · ${messages.took(look.number(Math.round(answer.took_ms)))}</p>
    ${notes(look, result)}
    ${
      answer.hits.length === 0
        ? help(look, result)
        : html`<ol class="hits" start="${request.offset + 1}">
            ${answer.hits.map((hit) => hitItem(look, hit, result))}
          </ol>`
    }
    ${pager(look, result)}
    <p class="quiet"><a href="${look.root}how-this-ranks">${messages.ranking.link}</a></p>`
  return frame(look, { title: `${request.q} - Findling`, main, q: request.q })
}
