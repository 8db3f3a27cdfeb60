/** What was recognised, for the administrator: URLs seen, groups of copies, words of lists; over the API and as a page. */
import { answers } from './api-schemas.ts'
import { json } from './call.ts'
import type { CrawlControl, Filters } from './control.ts'
import { copiesParameters } from './filter-schemas.ts'
import { html, type Html, type HtmlValue, webHref } from './html.ts'
import { frame, type Look } from './layout.ts'
import type { ApiRoute } from './routes.ts'
import { readParameters } from './requests.ts'
import type { CopyGroups } from '../store/copies.ts'
import type { Visitors } from './visitors.ts'

export const groupsShown = 20

export function filterRoutes(crawl: CrawlControl, visitors: Visitors): ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/admin/filters',
      operation: {
        summary: 'URLs seen, copies by host, words of lists that were found, people who search',
        access: 'admin',
        answer: { 'application/json': answers.Filters },
      },
      handle: async () => json({ ...(await crawl.filters()), people: visitors.counts() }),
    },
    {
      method: 'GET',
      path: '/api/v1/admin/duplicates',
      operation: {
        summary: 'Groups of copies, and why their originals are taken for such',
        access: 'admin',
        parameters: copiesParameters,
        answer: { 'application/json': answers.CopyGroups },
      },
      async handle(call) {
        const { cursor, limit } = readParameters(copiesParameters, call.query)
        const after = cursor === undefined ? null : Number(cursor)
        return json(await crawl.copyGroups(after, Number(limit)))
      },
    },
  ]
}

export function filtersPage(look: Look, filters: Filters, page: CopyGroups): Html {
  const { messages, root } = look
  const { filters: names } = messages
  const { seen, distinct, copies, words } = filters
  const figures: [string, string][] = [
    [names.urls, look.number(seen.urls)],
    [names.falsePositives, seen.false_positives.toExponential(1)],
    [names.metUrls, look.number(distinct.urls)],
    [names.metHosts, look.number(distinct.hosts)],
    [names.metContents, look.number(distinct.contents)],
    [names.exact, look.number(copies.exact)],
    [names.near, look.number(copies.near)],
    [names.groups, look.number(copies.groups)],
  ]
  const main = html`<h1>${names.title}</h1>
    <dl class="numbers">
      ${figures.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <h2>${names.words}</h2>
    ${wordTable(look, words)}
    <h2>${names.groups}</h2>
    ${page.groups.length === 0 ? html`<p class="quiet">–</p>` : ''}
    ${page.groups.map((group) => groupList(look, group))}
    ${page.cursor === null ? '' : html`<p><a href="${root}admin/filters?cursor=${page.cursor}">${names.more}</a></p>`}
    <p><a href="${root}admin">${messages.administration}</a></p>`
  return frame(look, { title: `${names.title} - Findling`, main, q: '' })
}

function wordTable(look: Look, { lists, problems, words, applied }: Filters['words']): HtmlValue {
  const { filters: names } = look.messages
  if (lists.length + words.length + problems.length === 0)
    return html`<p class="quiet">${names.noLists}</p>`
  return html`${applied ? '' : html`<p class="box note">${names.applying}</p>`}
    ${problems.map((problem) => html`<p class="box note">${problem}</p>`)}
    <p>
      ${lists.map(({ name, policy, words: size }) => `${name} (${policy}) ${look.number(size)}`).join(' · ')}
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="${names.words}">
      <table>
        <thead>
          <tr>
            <th scope="col">${names.words}</th>
            <th scope="col">${names.list}</th>
            <th scope="col" class="number">${names.pages}</th>
          </tr>
        </thead>
        <tbody>
          ${words.map(
            ({ word, list, policy, documents }) =>
              html`<tr>
                <th scope="row">${word}</th>
                <td>${list} (${policy})</td>
                <td class="number">${look.number(documents)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}

function groupList(look: Look, { pages, members }: CopyGroups['groups'][number]): HtmlValue {
  const { filters: names } = look.messages
  const [original, ...others] = members
  if (original === undefined) return ''
  return html`<section class="card">
    <p>${link(original)} <span class="quiet">${names.pagesOf(look.number(pages))}</span></p>
    <ul>
      ${others.map(
        (member) =>
          html`<li>
            ${link(member)}
            <span class="quiet"
              >${[
                names.kinds[member.kind],
                `${Math.round(member.similarity * 100)} %`,
                ...member.reasons.map((reason) => names.reasons[reason]),
              ].join(' · ')}</span
            >
          </li>`,
      )}
    </ul>
  </section>`
}

function link({ url, title }: { url: string; title: string }): HtmlValue {
  const href = webHref(url)
  const text = title === '' ? url : title
  return href === null
    ? text
    : html`<a href="${href}" rel="noopener noreferrer nofollow">${text}</a> ${url}`
}
