/** The public page that says in words how results are ranked. Its figures are those that rank: they come from the code. */
import { autoWordsMax, ranking } from '../search/ranking.ts'
import { fieldWeights } from '../text/document-terms.ts'
import { page } from './call.ts'
import type { Call, Route } from './call.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { frame, languageHeaders, lookOf } from './layout.ts'
import type { Look } from './layout.ts'
import type { PublicFiles } from './public-files.ts'

const percents = {
  linksPercent: 100 * ranking.linksShare,
  depthPercent: 100 * ranking.depthShare,
  freshPercent: 100 * ranking.freshShare,
}

function rankingPage(look: Look): Html {
  const { title, lead, sections, api } = look.messages.ranking
  const figures = Object.fromEntries(
    Object.entries({ ...ranking, ...fieldWeights, ...percents, autoWordsMax }).map(
      ([name, value]) => [name, look.number(value)],
    ),
  )
  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => figures[name] ?? '?')
  const main = html`<article class="stored">
    <h1>${title}</h1>
    <p>${filled(lead)}</p>
    ${sections.map(
      ([heading, text]) =>
        html`<h2>${heading}</h2>
          <p>${filled(text)}</p>`,
    )}
    <p class="box note">${api}</p>
  </article>`
  return frame(look, { title: `${title} - Findling`, main, q: '' })
}

export const rankingRoute = (publicFiles: PublicFiles): Route => ({
  method: 'GET',
  path: '/how-this-ranks',
  handle: (call: Call) =>
    Promise.resolve(page(rankingPage(lookOf(call, publicFiles)), 200, languageHeaders(call))),
})
