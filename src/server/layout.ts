/** The frame of every page: head, search bar, footer, error page; and how numbers and times are written. No page's own content. */
import type { AppError, ErrorCode } from '../lib/errors.ts'
import { firstOf, page } from './call.ts'
import type { Call, Reply } from './call.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { languageCookie, languageOf, languages, messagesOf } from './messages.ts'
import type { Language } from './messages.ts'
import type { Messages } from './messages-en.ts'
import { errorHeaders, publicDetail } from './problem.ts'
import type { PublicFileName, PublicFiles } from './public-files.ts'
import { queryCharactersMax } from './api-schemas.ts'

/** How this visitor sees pages: language, colours, and the way back to the root from where they are. */
export type Look = {
  language: Language
  messages: Messages
  theme: 'light' | 'dark' | null
  /** `./` or `../../`: every link starts with it, so any prefix of a proxy is kept. */
  root: string
  /** Parameters of this page, for the links that change the language. */
  here: URLSearchParams
  files: PublicFiles
  number: (value: number) => string
  date: (iso: string) => string
  /** Of a tag such as `zh`; the tag itself where it has no name. */
  languageName: (tag: string) => string
  /** With the time of day. */
  time: (iso: string) => string
}

const themeOf = (value: string | undefined): Look['theme'] =>
  value === 'light' || value === 'dark' ? value : null

export function lookOf(call: Call, files: PublicFiles): Look {
  const language = languageOf(call)
  const depth = call.path.split('/').length - 2
  const here = new URLSearchParams()
  for (const [name, values] of call.query) for (const value of values) here.append(name, value)
  const numbers = new Intl.NumberFormat(language)
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' })
  const times = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  const messages = messagesOf(language)
  const names = new Intl.DisplayNames(language, { type: 'language' })
  return {
    language,
    messages,
    theme: themeOf(call.cookie('findling_theme')),
    root: depth > 0 ? '../'.repeat(depth) : './',
    here,
    files,
    number: (value) => numbers.format(value),
    date: (iso) => (Number.isNaN(Date.parse(iso)) ? '' : dates.format(new Date(iso))),
    languageName: (tag) => {
      // Intl calls it the root of all languages.
      if (tag === 'und') return messages.noLanguage
      return /^[a-z]{2,3}(-[A-Za-z]{2,8})?$/.test(tag) ? (names.of(tag) ?? tag) : tag
    },
    time: (iso) => `${times.format(new Date(iso))} UTC`,
  }
}

/** A language that was asked for in the address stays chosen. */
export function languageHeaders(call: Call): Record<string, string> {
  const wish = firstOf(call.query, 'ui')
  if (!languages.some((language) => language === wish)) return {}
  return { 'set-cookie': `${languageCookie}=${wish}; Path=/; SameSite=Lax; Max-Age=31536000` }
}

const asset = ({ root, files }: Look, name: PublicFileName): string =>
  `${root}${files.get(name)?.path ?? name}`

/** The box works as it stands; app.js makes it a combobox. `kept`: parameters that go along with other words. */
export const searchForm = (
  look: Look,
  q: string,
  isFocused = false,
  kept = new URLSearchParams(),
): Html =>
  html` <search>
    <form class="searchform" action="${look.root}search" method="get">
      <label class="sr" for="q">${look.messages.searchLabel}</label>
      <input
        id="q"
        name="q"
        type="search"
        value="${q.slice(0, queryCharactersMax)}"
        maxlength="${queryCharactersMax}"
        enterkeyhint="search"
        autocapitalize="off"
        spellcheck="false"
        data-suggest="${look.root}api/v1/suggest"
        ${isFocused ? html`autofocus` : ''}
      />
      ${[...kept]
        .filter(([name]) => name !== 'q')
        .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      <button type="submit">${look.messages.search}</button>
      <ul id="suggestions" role="listbox" aria-label="${look.messages.suggestions}" hidden></ul>
    </form>
  </search>`

const languageLinks = (look: Look): Html => {
  const links = languages.map((language) => {
    const parameters = new URLSearchParams(look.here)
    parameters.set('ui', language)
    const name = messagesOf(language).languageName
    return language === look.language
      ? html`<li><span aria-current="true" lang="${language}">${name}</span></li>`
      : html`<li>
          <a href="?${parameters.toString()}" hreflang="${language}" lang="${language}">${name}</a>
        </li>`
  })
  return html`<nav aria-label="${look.messages.language}">
    <ul class="languages">
      ${links}
    </ul>
  </nav>`
}

const footer = (look: Look): Html => {
  const { messages, theme, root } = look
  const option = (value: 'system' | 'light' | 'dark'): Html =>
    html`<option value="${value}" ${(theme ?? 'system') === value ? html`selected` : ''}>
      ${messages.themes[value]}
    </option>`
  return html`<footer>
    ${languageLinks(look)}
    <p class="theme" hidden>
      <label for="theme">${messages.theme}</label>
      <select id="theme">
        ${option('system')}${option('light')}${option('dark')}
      </select>
    </p>
    <p><a href="${root}admin">${messages.administration}</a></p>
  </footer>`
}

const keysHelp = ({ messages }: Look): Html =>
  html`<dialog id="keys" aria-labelledby="keys-title">
    <h2 id="keys-title">${messages.keysTitle}</h2>
    <dl>
      ${messages.keys.map(
        ([key, text]) =>
          html`<div>
            <dt><kbd>${key}</kbd></dt>
            <dd>${text}</dd>
          </div>`,
      )}
    </dl>
    <form method="dialog"><button class="button" type="submit">${messages.close}</button></form>
  </dialog>`

export type Frame = {
  title: string
  main: Html
  /** null = no box in the bar: the page has its own, or is the start page. */
  q: string | null
  /** What the box sends beside the words. */
  kept?: URLSearchParams
  /** home: centred, without a bar. */
  kind?: 'home' | 'plain'
  script?: 'admin.js'
  /** Without scripts the page loads itself again so often. */
  refreshS?: number | null
}

export const frame = (look: Look, { title, main, q, kept, kind, script, refreshS }: Frame): Html =>
  html` <html lang="${look.language}" ${look.theme ? html`data-theme="${look.theme}"` : ''}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${title}</title>
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" type="image/svg+xml" href="${asset(look, 'favicon.svg')}" />
      <link rel="stylesheet" href="${asset(look, 'app.css')}" />
      <link
        rel="search"
        type="application/opensearchdescription+xml"
        title="Findling"
        href="${look.root}opensearch.xml"
      />
      <script type="module" src="${asset(look, 'app.js')}"></script>
      ${script ? html`<script type="module" src="${asset(look, script)}"></script>` : ''}
      ${refreshS ? html`<noscript><meta http-equiv="refresh" content="${refreshS}" /></noscript>` : ''}
    </head>
    <body class="${kind ?? 'plain'}">
      <a class="skip" href="#content">${look.messages.skip}</a>
      ${
        kind === 'home'
          ? ''
          : html`<header class="bar">
              <a class="logo" href="${look.root}"
                ><img src="${asset(look, 'favicon.svg')}" alt="" width="26" height="26" /><span
                  >Findling</span
                ></a
              >${q === null ? '' : searchForm(look, q, false, kept)}
            </header>`
      }
      <main id="content" tabindex="-1">${main}</main>
      ${footer(look)} ${keysHelp(look)}
      <div
        id="live"
        class="sr"
        role="status"
        aria-live="polite"
        data-found="${look.messages.suggestionsFound}"
      ></div>
    </body>
  </html>`

/** Codes whose sentence names the very fault: shown beside the translated one. */
const tellingCodes: ReadonlySet<ErrorCode> = new Set(['invalid_parameter', 'bad_input', 'conflict'])

/** What went wrong in the visitor's language; our English sentence where there is no translation. */
export function errorText({ messages }: Look, error: AppError): string {
  const translated = messages.errors[error.code]
  if (translated === undefined) return `${publicDetail(error)} ${error.remedy}`
  return tellingCodes.has(error.code) ? `${translated} ${publicDetail(error)}` : translated
}

export const errorBox = (look: Look, error: AppError): Html =>
  html`<div class="box error" role="alert">
    <p>${errorText(look, error)}</p>
  </div>`

export function errorPage(call: Call, error: AppError, files: PublicFiles): Reply {
  const look = lookOf(call, files)
  const { messages } = look
  const main = html`<h1>${messages.errorTitle}</h1>
    ${errorBox(look, error)}
    <p class="quiet">${messages.requestId} <code>${call.requestId}</code> · ${error.code}</p>
    <p><a href="${look.root}">${messages.backHome}</a></p>`
  const q = firstOf(call.query, 'q') ?? ''
  return page(
    frame(look, { title: messages.errorTitle, main, q }),
    error.status,
    errorHeaders(error),
  )
}
