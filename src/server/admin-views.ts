/** What the administrator's pages look like: forms, the list of jobs, the progress of one. Pure; the deeds are in admin-pages.ts. */
import type { AppError } from '../lib/errors.ts'
import type { Session } from './auth.ts'
import type { JobStatus, UrlStory } from './control.ts'
import { html, webHref } from './html.ts'
import type { Html, HtmlValue } from './html.ts'
import { errorBox, frame } from './layout.ts'
import type { Look } from './layout.ts'

const scopesOffered = ['path', 'host', 'domain', 'page'] as const
const reasonsShown = 12
const refreshS = 3
export const isMoving = (job: JobStatus): boolean =>
  job.state === 'running' || job.state === 'waiting'

export type CrawlFormValues = { url?: string; scope?: string; maxPages?: string }
export type CrawlForm = {
  session: Session | null
  values: CrawlFormValues
  error?: AppError
  /** Only what everyone has to say: the first page of an empty server. */
  isShort?: boolean
}

export const tokenField = (session: Session | null): Html =>
  session ? html`<input type="hidden" name="csrf" value="${session.csrf}" />` : html``

const keyField = (look: Look): Html =>
  html` <p class="field">
    <label for="key">${look.messages.key}</label>
    <input
      id="key"
      name="key"
      type="password"
      required
      autocomplete="current-password"
      aria-describedby="key-help"
    />
    <small id="key-help">${look.messages.keyHelp}</small>
  </p>`

const maxPagesField = (look: Look, values: CrawlFormValues): Html =>
  html` <p class="field">
    <label for="max-pages">${look.messages.maxPages}</label>
    <input
      id="max-pages"
      name="maxPages"
      type="text"
      inputmode="numeric"
      pattern="[0-9]*"
      maxlength="9"
      value="${values.maxPages ?? ''}"
      aria-describedby="max-pages-help"
    />
    <small id="max-pages-help">${look.messages.maxPagesHelp}</small>
  </p>`

/** Paste an address and start: the first page of an empty server, and a part of the administrator's. */
export function crawlForm(look: Look, { session, values, error, isShort }: CrawlForm): Html {
  const { messages } = look
  const chosen = scopesOffered.find((scope) => scope === values.scope) ?? 'path'
  const radios = scopesOffered.map(
    (scope) =>
      html`<label class="choice"
        ><input
          type="radio"
          name="scope"
          value="${scope}"
          ${scope === chosen ? html`checked` : ''}
        /><span>${messages.scopes[scope]}</span></label
      >`,
  )
  return html`<form class="form" method="post" action="${look.root}admin/crawl">
    ${error ? errorBox(look, error) : ''} ${tokenField(session)}
    <p class="field">
      <label for="url">${messages.address}</label>
      <input
        id="url"
        name="url"
        type="text"
        inputmode="url"
        value="${values.url ?? ''}"
        required
        maxlength="8000"
        autocapitalize="off"
        autocomplete="off"
        spellcheck="false"
        aria-describedby="url-help"
      />
      <small id="url-help">${messages.addressHelp}</small>
    </p>
    <fieldset>
      <legend>${messages.whatBelongs}</legend>
      ${radios}
    </fieldset>
    ${isShort ? '' : maxPagesField(look, values)} ${session ? '' : keyField(look)}
    <p><button class="button main" type="submit">${messages.start}</button></p>
  </form>`
}

export function loginPage(look: Look, next: string, error?: AppError): Html {
  const { messages } = look
  const main = html`<h1>${messages.signIn}</h1>
    <div class="card">
      <p>${messages.signInText}</p>
      <form class="form" method="post" action="${look.root}admin/login">
        ${error ? errorBox(look, error) : ''}
        <input type="hidden" name="next" value="${next}" />
        ${keyField(look)}
        <p><button class="button main" type="submit">${messages.signIn}</button></p>
      </form>
    </div>`
  return frame(look, { title: `${messages.signIn} - Findling`, main, q: '' })
}

/** A form of its own: what was typed stays when something was wrong with it. */
export function crawlFormPage(look: Look, form: CrawlForm): Html {
  const { messages } = look
  const main = html`<h1>${messages.newCrawl}</h1>
    <div class="card">${crawlForm(look, form)}</div>`
  return frame(look, { title: `${messages.newCrawl} - Findling`, main, q: '' })
}

const share = (job: JobStatus): { done: number; all: number } => {
  const { fetched } = job.counts
  const all = job.state === 'done' ? fetched : fetched + job.queued
  return {
    done: fetched,
    all: Math.max(1, job.maxPages === null ? all : Math.min(all, job.maxPages)),
  }
}

const stateLabel = (look: Look, job: JobStatus): Html =>
  html`<span class="state ${job.state}" data-field="state"
    >${look.messages.states[job.state]}</span
  >`

function jobTable(look: Look, jobs: readonly JobStatus[]): Html {
  const { messages } = look
  if (jobs.length === 0) return html`<p class="quiet">${messages.noJobs}</p>`
  const rows = jobs.map(
    (job) =>
      html`<tr data-job="${job.id}">
        <th scope="row">
          <a href="${look.root}admin/jobs/${job.id}"
            >${job.seeds[0] ?? messages.job(String(job.id))}</a
          >
        </th>
        <td>${stateLabel(look, job)}</td>
        <td class="number" data-field="stored">${look.number(job.counts.stored)}</td>
        <td class="number" data-field="queued">${look.number(job.queued)}</td>
      </tr>`,
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${messages.jobs}">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.address}</th>
          <th scope="col">${messages.state}</th>
          <th scope="col" class="number">${messages.counts.stored}</th>
          <th scope="col" class="number">${messages.counts.queued}</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}

/** @param sources what is said of the described ones */
export function overviewPage(
  look: Look,
  session: Session,
  jobs: readonly JobStatus[],
  sources: Html,
): Html {
  const { messages, root } = look
  const main = html`<h1>${messages.administration}</h1>
    <div data-events="${root}api/v1/admin/events">
      <h2>${messages.jobs}</h2>
      ${jobTable(look, jobs)}
      <h2>${messages.upkeep.sources}</h2>
      ${sources}
      <p><a href="${root}admin/hosts">${messages.upkeep.hosts}</a></p>
      <h2>${messages.newCrawl}</h2>
      <div class="card">${crawlForm(look, { session, values: {} })}</div>
      <h2>${messages.explain}</h2>
      <form class="form row" method="get" action="${root}admin/explain">
        <p class="field">
          <label for="explain">${messages.explainHelp}</label>
          <input id="explain" name="url" type="text" inputmode="url" required maxlength="2048" />
        </p>
        <p><button class="button" type="submit">${messages.explainButton}</button></p>
      </form>
      <p><a href="${root}admin/filters">${messages.filters.title}</a></p>
      <form method="post" action="${root}admin/logout">
        ${tokenField(session)}
        <p><button class="button" type="submit">${messages.signOut}</button></p>
      </form>
    </div>`
  const title = `${messages.administration} - Findling`
  return frame(look, { title, main, q: '', script: 'admin.js' })
}

const reasons = (
  title: string,
  look: Look,
  tally: Record<string, number>,
  field: string,
): HtmlValue => {
  const shown = Object.entries(tally)
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, reasonsShown)
  return html`<section>
    <h2>${title}</h2>
    <p data-field="${field}">
      ${shown.length === 0 ? '–' : shown.map(([name, count]) => `${name} ${look.number(count)}`).join(' · ')}
    </p>
  </section>`
}

function duration(look: Look, seconds: number | null): string {
  if (seconds === null) return '–'
  const unit = seconds < 120 ? 'second' : seconds < 7200 ? 'minute' : 'hour'
  const size = { second: 1, minute: 60, hour: 3600 }[unit]
  const style = { style: 'unit', unit, maximumFractionDigits: 0 } as const
  return new Intl.NumberFormat(look.language, style).format(seconds / size)
}

const megabytes = (look: Look, bytes: number): string =>
  new Intl.NumberFormat(look.language, {
    style: 'unit',
    unit: 'megabyte',
    maximumFractionDigits: 1,
  }).format(bytes / 1e6)

function numbers(look: Look, job: JobStatus): Html {
  const { counts: names } = look.messages
  const { counts } = job
  const shown: [keyof typeof names, string][] = [
    ['stored', look.number(counts.stored)],
    ['fetched', look.number(counts.fetched)],
    ['queued', look.number(job.queued)],
    ['speed', look.number(Math.round(job.pagesPerSecond * 10) / 10)],
    ['time', duration(look, job.seconds)],
    ['left', duration(look, job.etaSeconds)],
    ['exactCopies', look.number(counts.exactCopies)],
    ['nearCopies', look.number(counts.nearCopies)],
    ['unchanged', look.number(counts.unchanged)],
    ['redirects', look.number(counts.redirects)],
    ['gone', look.number(counts.gone)],
    ['bytes', megabytes(look, counts.bytes)],
  ]
  return html`<dl class="numbers">
    ${shown.map(
      ([name, value]) =>
        html`<div>
          <dt>${names[name]}</dt>
          <dd data-field="${name}">${value}</dd>
        </div>`,
    )}
  </dl>`
}

function buttons(look: Look, session: Session, job: JobStatus): HtmlValue {
  const { messages } = look
  const verbs: readonly ('pause' | 'resume' | 'stop')[] = isMoving(job)
    ? ['pause', 'stop']
    : job.state === 'paused'
      ? ['resume', 'stop']
      : job.state === 'stopped' || job.state === 'limit' || job.state === 'failed'
        ? ['resume']
        : []
  return html`<div class="buttons">
    ${verbs.map(
      (verb) =>
        html`<form method="post" action="${look.root}admin/jobs/${job.id}/${verb}">
          ${tokenField(session)}<button class="button" type="submit">${messages[verb]}</button>
        </form>`,
    )}
  </div>`
}

export function jobPage(look: Look, session: Session, job: JobStatus): Html {
  const { messages, root } = look
  const { done, all } = share(job)
  const main = html`<div
    data-events="${root}api/v1/admin/events"
    data-job="${job.id}"
    data-state="${job.state}"
  >
    <h1>${job.seeds[0] ?? messages.job(String(job.id))}</h1>
    <p>
      ${stateLabel(look, job)} <span data-field="note">${job.note}</span>
      <span class="quiet">${messages.scopes[job.scope]}</span>
    </p>
    <p>
      <label for="progress" class="sr">${messages.progress}</label>
      <progress id="progress" max="${all}" value="${Math.min(done, all)}"></progress>
    </p>
    ${buttons(look, session, job)} ${numbers(look, job)}
    ${reasons(messages.refused, look, job.counts.refused, 'refused')}
    ${reasons(messages.failed, look, job.counts.failed, 'failed')}
    <p class="box">${messages.trySearch} <a href="${root}">${messages.backHome}</a></p>
    <p><a href="${root}admin">${messages.administration}</a></p>
  </div>`
  return frame(look, {
    title: `${messages.states[job.state]} - ${job.seeds[0] ?? ''} - Findling`,
    main,
    q: '',
    script: 'admin.js',
    refreshS: isMoving(job) ? refreshS : null,
  })
}

export function storyPage(look: Look, story: UrlStory): Html {
  const { messages, root } = look
  const href = webHref(story.canonicalUrl)
  const main = html`<h1>${messages.explain}</h1>
    <p>
      ${href === null ? story.url : html`<a href="${href}" rel="noopener noreferrer nofollow">${story.url}</a>`}
    </p>
    <p>${story.known ? messages.known : messages.unknown} ${story.state}</p>
    <dl class="story">
      ${story.lines.map(
        ({ about, text }) =>
          html`<div>
            <dt>${about}</dt>
            <dd>${text}</dd>
          </div>`,
      )}
    </dl>
    ${story.document ? html`<p><a href="${root}cache/${story.document.id}">${messages.storedText}</a></p>` : ''}
    <p><a href="${root}admin">${messages.administration}</a></p>`
  return frame(look, { title: `${messages.explain} - Findling`, main, q: '' })
}
