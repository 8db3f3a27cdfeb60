/** The pages everyone may see: start, results, stored text. Complete without scripts; the administrator's pages are in admin-pages.ts. */
import type { SearchRequest } from '../search/answer.ts'
import { requestDefaults } from '../search/request.ts'
import type { DocumentRecord, StoreStats } from '../store/records.ts'
import { crawlForm } from './admin-views.ts'
import { searchParameters } from './api-schemas.ts'
import type { Guard, Session } from './auth.ts'
import { firstOf, page, text } from './call.ts'
import type { Call, Route } from './call.ts'
import type { SearchPort } from './control.ts'
import { html, webHref } from './html.ts'
import type { Html, HtmlValue } from './html.ts'
import { objectOfQuery } from './json-schema.ts'
import { frame, languageHeaders, lookOf, searchForm } from './layout.ts'
import type { Look } from './layout.ts'
import type { PublicFiles } from './public-files.ts'
import { rankingRoute } from './ranking-page.ts'
import { readSearch } from './requests.ts'
import { documentOf, refuseWhileStarting, shownOf } from './routes.ts'
import { addressOf, countedFacets, hasFilter, pageSnippet } from './search-address.ts'
import { resultPage } from './search-view.ts'

export type PageOptions = { search: SearchPort; publicFiles: PublicFiles }

const logo = (look: Look): Html =>
  html`<p class="mark">
    <img src="${look.root}${look.files.get('favicon.svg')?.path}" alt="" width="72" height="72" />
  </p>`

function welcomePage(look: Look, stats: StoreStats, session: Session | null): Html {
  const { messages } = look
  const main = html`${logo(look)}
    <h1>Findling</h1>
    <p class="lead">${messages.welcome}</p>
    ${stats.queued > 0 ? html`<p class="box note" role="status">${messages.crawling(look.number(stats.queued))}</p>` : ''}
    <div class="card">
      <p>${messages.welcomeText}</p>
      ${crawlForm(look, { session, values: {}, isShort: true })}
    </div>`
  return frame(look, { title: 'Findling', main, q: null, kind: 'home' })
}

function startPage(look: Look, stats: StoreStats): Html {
  const { messages } = look
  const newest = stats.newest === null ? '' : ` · ${messages.newest} ${look.date(stats.newest)}`
  const holdings = messages.holdings(look.number(stats.documents), look.number(stats.hosts))
  const main = html`${logo(look)}
    <h1>Findling</h1>
    ${searchForm(look, '', true)}
    <p class="quiet">${holdings}${newest}</p>`
  return frame(look, { title: 'Findling', main, q: null, kind: 'home' })
}

/** The parameters of a page: those of a search, and `ui`. Empty fields of a form mean nothing. */
function requestOf(call: Call): SearchRequest {
  const known = [...call.query].filter(
    ([name, values]) => name !== 'ui' && (name === 'q' || values.some((value) => value !== '')),
  )
  const question = objectOfQuery(searchParameters, new Map(known))
  return readSearch({ q: '', ...question, snippet: question['snippet'] ?? pageSnippet })
}

/** The most telling ones, each as a search for it. */
function keywordLinks(look: Look, { keywords }: DocumentRecord): HtmlValue {
  if (keywords.length === 0) return null
  const links = keywords
    .slice(0, keywordsShown)
    .map(
      (word, i) =>
        html`${i > 0 ? ' · ' : ' '}<a
            rel="nofollow"
            href="${addressOf(look, emptySearch, { q: word })}"
            >${word}</a
          >`,
    )
  return html`<p class="quiet">${look.messages.keywords}${links}</p>`
}
const keywordsShown = 6
const emptySearch: SearchRequest = { ...requestDefaults, q: '', snippet: pageSnippet }

function storedPage(look: Look, document: DocumentRecord): Html {
  const { messages } = look
  const href = webHref(document.url)
  const title = document.title.trim() === '' ? document.url : document.title
  const paragraphs = document.text.split(/\n+/).filter((line) => line.trim() !== '')
  const main = html`<article class="stored">
    <h1>${title}</h1>
    <p class="quiet">
      ${document.url} · ${messages.fetched}
      <time datetime="${document.fetched_at}">${look.date(document.fetched_at)}</time>
    </p>
    ${keywordLinks(look, document)}
    <p class="box note">
      ${document.noarchive ? messages.upkeep.noarchive : messages.storedOf}
      ${href === null ? '' : html`<a href="${href}" rel="noopener noreferrer nofollow">${messages.original}</a>`}
    </p>
    <div ${/^[a-z]{2,3}$/.test(document.lang) ? html`lang="${document.lang}"` : ''}>
      ${document.noarchive ? '' : paragraphs.length === 0 ? html`<p>${messages.emptyText}</p>` : paragraphs.map((line) => html`<p>${line}</p>`)}
    </div>
  </article>`
  return frame(look, { title: `${title} - Findling`, main, q: '' })
}

export function pageRoutes({ search, publicFiles }: PageOptions, guard: Guard): Route[] {
  const look = (call: Call): Look => lookOf(call, publicFiles)
  return [
    {
      method: 'GET',
      path: '/',
      async handle(call) {
        refuseWhileStarting(search)
        const stats = await search.stats()
        const body =
          stats.documents === 0
            ? welcomePage(look(call), stats, guard.session(call))
            : startPage(look(call), stats)
        return page(body, 200, languageHeaders(call))
      },
    },
    {
      method: 'GET',
      path: '/search',
      async handle(call) {
        const request = requestOf(call)
        if (request.q.trim() === '' && !hasFilter(request)) {
          const { messages } = look(call)
          const main = html`<h1 class="sr">${messages.search}</h1>
            <p class="box">${messages.enterWords}</p>`
          const body = frame(look(call), {
            title: 'Findling',
            main,
            q: firstOf(call.query, 'q') ?? '',
          })
          return page(body, 200, languageHeaders(call))
        }
        refuseWhileStarting(search)
        const answer = await search.search({ ...request, facets: countedFacets(request) })
        return page(resultPage(look(call), { request, answer }), 200, languageHeaders(call))
      },
    },
    {
      method: 'GET',
      path: '/cache/:id',
      async handle(call) {
        refuseWhileStarting(search)
        const document = shownOf(await documentOf(search, call.params['id']))
        return page(storedPage(look(call), document), 200, languageHeaders(call))
      },
    },
    rankingRoute(publicFiles),
    {
      method: 'GET',
      path: '/robots.txt',
      handle: () =>
        // A crawler in our result pages would search without end.
        Promise.resolve(
          text('text/plain; charset=utf-8', 'User-agent: *\nAllow: /$\nDisallow: /\n'),
        ),
    },
  ]
}
