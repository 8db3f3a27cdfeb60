/** What the pages on sources, their runs and what was learned of hosts look like. Pure; the deeds are in upkeep-pages.ts. */
import { tokenField } from './admin-views.ts'
import type { Session } from './auth.ts'
import type { HostStatus, LearnedState, RunStatus, SourceStatus } from './control.ts'
import { html } from './html.ts'
import type { Html, HtmlValue } from './html.ts'
import { frame } from './layout.ts'
import type { Look } from './layout.ts'

const table = (label: string, heads: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`

const timeOf = (look: Look, iso: string | null): HtmlValue =>
  iso === null ? '–' : html`<time datetime="${iso}">${look.time(iso)}</time>`

/** As a user wrote it. */
function scheduleOf(source: unknown): string {
  const { schedule, timeZone } = source as { schedule?: unknown; timeZone?: unknown }
  if (typeof schedule !== 'string') return '–'
  return timeZone === 'utc' ? `${schedule} UTC` : schedule
}

export function sourceTable(look: Look, sources: readonly SourceStatus[]): Html {
  const { upkeep } = look.messages
  if (sources.length === 0) return html`<p class="quiet">${upkeep.noSources}</p>`
  const rows = sources.map(
    ({ name, next_run, source }) =>
      html`<tr>
        <th scope="row">
          <a href="${look.root}admin/sources/${encodeURIComponent(name)}">${name}</a>
        </th>
        <td>${scheduleOf(source)}</td>
        <td>${timeOf(look, next_run)}</td>
      </tr>`,
  )
  return table(upkeep.sources, [upkeep.source, upkeep.schedule, upkeep.nextRun], rows)
}

export function sourcePage(
  look: Look,
  session: Session,
  source: SourceStatus,
  runs: readonly RunStatus[],
): Html {
  const { messages, root } = look
  const { upkeep } = messages
  const rows = runs.map(
    ({ cause, state, started_at, ended_at, counts, note }) =>
      html`<tr>
        <th scope="row">${timeOf(look, started_at)}</th>
        <td>${timeOf(look, ended_at)}</td>
        <td>${upkeep.states[state]}</td>
        <td>${upkeep.cause[cause]}</td>
        <td class="number">${look.number(counts.fetched)}</td>
        <td class="number">${look.number(counts.stored)}</td>
        <td class="number">${look.number(counts.unchanged)}</td>
        <td class="number">${look.number(counts.gone)}</td>
        <td class="number">${look.number(counts.failed)}</td>
        <td>${note}</td>
      </tr>`,
  )
  const { fetched, stored, unchanged, gone } = messages.counts
  const heads = [upkeep.started, upkeep.ended, messages.state, '']
  const numbers = [fetched, stored, unchanged, gone, messages.failed, upkeep.note]
  const path = `${root}admin/sources/${encodeURIComponent(source.name)}`
  const main = html`<h1>${source.name}</h1>
    <dl class="numbers">
      <div>
        <dt>${upkeep.schedule}</dt>
        <dd>${scheduleOf(source.source)}</dd>
      </div>
      <div>
        <dt>${upkeep.nextRun}</dt>
        <dd>${timeOf(look, source.next_run)}</dd>
      </div>
    </dl>
    <form method="post" action="${path}/crawl">
      ${tokenField(session)}<button class="button" type="submit">${upkeep.crawlNow}</button>
    </form>
    <h2>${upkeep.runs}</h2>
    ${runs.length === 0 ? html`<p class="quiet">${upkeep.noRuns}</p>` : table(upkeep.runs, [...heads, ...numbers], rows)}
    <p><a href="${root}admin">${messages.administration}</a></p>`
  return frame(look, { title: `${source.name} - Findling`, main, q: '' })
}

type Rule = { origin: string; kind: 'shape' | 'parameter'; name: string; state: LearnedState }

/** The way to undo it, or to take that back. */
function decision(look: Look, session: Session, rule: Rule): Html {
  const { upkeep } = look.messages
  const [to, label] = rule.state === 'kept' ? ['open', upkeep.watch] : ['kept', upkeep.allow]
  return html`<form method="post" action="${look.root}admin/hosts">
    ${tokenField(session)}<input type="hidden" name="host" value="${rule.origin}" />
    <input type="hidden" name="kind" value="${rule.kind}" />
    <input type="hidden" name="name" value="${rule.name}" />
    <input type="hidden" name="state" value="${to}" />
    <button class="button" type="submit">${label}</button>
  </form>`
}

function hostSection(look: Look, session: Session, host: HostStatus): Html {
  const { upkeep, state, note } = look.messages
  const { origin } = host
  const row = (rule: Omit<Rule, 'origin'>, told: string): Html =>
    html`<tr>
      <th scope="row"><code>${rule.name}</code></th>
      <td>${upkeep.ruleStates[rule.kind][rule.state]}</td>
      <td>${told}</td>
      <td>${decision(look, session, { ...rule, origin })}</td>
    </tr>`
  const shapes = host.shapes
    .filter((each) => each.state !== 'open')
    .map(({ shape: name, fetched, fresh, ...each }) =>
      row(
        { kind: 'shape', name, state: each.state },
        upkeep.visits(look.number(fetched), look.number(fresh)),
      ),
    )
  const parameters = host.parameters
    .filter((each) => each.state !== 'open')
    .map(({ name, same, differing, ...each }) =>
      row(
        { kind: 'parameter', name, state: each.state },
        upkeep.pairs(look.number(same), look.number(differing)),
      ),
    )
  const heads = [state, note, '']
  return html`<section>
    <h2>${origin}</h2>
    ${
      host.rests_until === null || host.failures === 0
        ? ''
        : html`<p class="box note">
            ${upkeep.rests(look.time(host.rests_until), look.number(host.failures))}
          </p>`
    }
    ${shapes.length === 0 ? '' : table(upkeep.shape, [upkeep.shape, ...heads], shapes)}
    ${parameters.length === 0 ? '' : table(upkeep.parameter, [upkeep.parameter, ...heads], parameters)}
  </section>`
}

export function hostsPage(look: Look, session: Session, hosts: readonly HostStatus[]): Html {
  const { messages, root } = look
  const { upkeep } = messages
  const main = html`<h1>${upkeep.hosts}</h1>
    <p>${upkeep.hostsText}</p>
    ${
      hosts.length === 0
        ? html`<p class="quiet">${upkeep.noHosts}</p>`
        : hosts.map((host) => hostSection(look, session, host))
    }
    <p><a href="${root}admin">${messages.administration}</a></p>`
  return frame(look, { title: `${upkeep.hosts} - Findling`, main, q: '' })
}
