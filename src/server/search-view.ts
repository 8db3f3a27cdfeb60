/** The page of results: pure, from an answer to HTML. What is asked and how is pages.ts's part. */
import type { Hit } from '../search/answer.ts'
import { facetLists } from './facet-view.ts'
import { filtersInForce, help, periods, without } from './filter-view.ts'
import type { ResultPage } from './filter-view.ts'
import { html, marked, webHref } from './html.ts'
import type { Html, HtmlValue } from './html.ts'
import { frame } from './layout.ts'
import type { Look } from './layout.ts'
import { addressOf, parametersOf } from './search-address.ts'

const offsetMax = 1000
const languageTag = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/

const chip = (href: string, label: string, isCurrent: boolean): Html =>
  html`<li>
    <a class="chip" href="${href}" ${isCurrent ? html`aria-current="true"` : ''}>${label}</a>
  </li>`

function tools(look: Look, result: ResultPage, hasFacets: boolean): Html {
  const { request } = result
  const { messages } = look
  const isFolded = request.group === 'duplicate'
  const isOneASite = request.collapse === 'site'
  const anyTime = { since: null, until: null }
  const filters = filtersInForce(look, result)
  return html`<nav class="tools" aria-label="${messages.sort}, ${messages.time}">
    <ul class="chips">
      ${chip(addressOf(look, request, { sort: 'relevance' }), messages.relevance, request.sort === 'relevance')}
      ${chip(addressOf(look, request, { sort: 'fresh' }), messages.preferNew, request.sort === 'fresh')}
      ${chip(addressOf(look, request, { sort: 'date' }), messages.newestFirst, request.sort === 'date')}
    </ul>
    <ul class="chips">
      ${chip(addressOf(look, request, anyTime), messages.anyTime, request.since === null && request.until === null)}
      ${periods.map((since) =>
        chip(
          addressOf(look, request, { since, until: null }),
          messages.past[since],
          request.since === since,
        ),
      )}
    </ul>
    <ul class="chips">
      ${chip(
        addressOf(look, request, { group: isFolded ? 'none' : 'duplicate' }),
        isFolded ? messages.showCopies : messages.foldCopies,
        false,
      )}
      ${chip(
        addressOf(look, request, { collapse: isOneASite ? null : 'site' }),
        isOneASite ? messages.allOfSites : messages.oneOfSite,
        false,
      )}
    </ul>
    ${
      filters.length > 0
        ? html`<ul class="chips" aria-label="${messages.filtersInForce}">
            ${filters}
          </ul>`
        : ''
    }
    ${hasFacets ? html`<a class="chip jump" href="#narrow">${messages.narrow}</a>` : ''}
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
      <li>
        <a rel="nofollow" href="${addressOf(look, request, { site: [hit.site], collapse: null })}"
          >${hit.more_from_site ? messages.moreOfSite(look.number(hit.more_from_site)) : messages.moreFrom}</a
        >
      </li>
      <li>
        <a
          rel="nofollow"
          href="${addressOf(look, request, { q: `related:${hit.id}`, sort: 'relevance' })}"
          >${messages.similar}</a
        >
      </li>
      <li>
        <a
          href="${addressOf(look, request, { notSite: [...without(request.notSite, hit.site), hit.site] })}"
          >${messages.without}</a
        >
      </li>
    </ul>
  </li>`
}

function pager(look: Look, { request, answer }: ResultPage): HtmlValue {
  const { offset, limit, next_cursor: cursor } = answer
  const next = offset + limit
  const hasNext = next < answer.total.value && answer.hits.length > 0
  // Far from the beginning only the cursor knows the way, and it leads forward.
  const isFar = request.cursor !== null || next > offsetMax
  const forward = isFar ? cursor && { cursor } : { offset: next }
  const back = Math.max(0, offset - limit)
  if (offset === 0 && !hasNext) return null
  const { messages } = look
  return html`<nav class="pager" aria-label="${messages.pages}">
    ${offset > 0 && back <= offsetMax ? html`<a class="button" rel="prev" href="${addressOf(look, request, { offset: back })}">${messages.previous}</a>` : ''}
    ${hasNext && forward ? html`<a class="button" rel="next" href="${addressOf(look, request, forward)}">${messages.next}</a>` : ''}
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
  const isListing = request.q.trim() === ''
  const title = isListing ? messages.listing : messages.resultsFor(request.q)
  const facets = facetLists(look, request, answer)
  const main = html`<h1 class="sr">${title}</h1>
    ${tools(look, result, facets !== null)}
    <p class="quiet meta">${total} · ${messages.took(look.number(Math.round(answer.took_ms)))}</p>
    ${notes(look, result)}
    <div class="columns">
      <div>
        ${
          answer.hits.length === 0
            ? help(look, result)
            : html`<ol class="hits" start="${answer.offset + 1}">
                ${answer.hits.map((hit) => hitItem(look, hit, result))}
              </ol>`
        }
        ${pager(look, result)}
        <p class="quiet"><a href="${look.root}how-this-ranks">${messages.ranking.link}</a></p>
      </div>
      ${facets}
    </div>`
  return frame(look, {
    title: `${isListing ? title : request.q} - Findling`,
    main,
    q: request.q,
    kept: parametersOf({ ...request, offset: 0, cursor: null }),
  })
}
