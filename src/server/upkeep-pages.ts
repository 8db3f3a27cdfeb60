/** The administrator's pages on described sources, their runs, and what was learned of hosts. The look is in upkeep-views.ts. */
import { AppError } from '../lib/errors.ts'
import type { Guard } from './auth.ts'
import { firstOf, seeOther } from './call.ts'
import type { Call, Route } from './call.ts'
import type { CrawlControl, LearnedState } from './control.ts'
import type { PublicFiles } from './public-files.ts'
import { ruleDecision } from './api-schemas.ts'
import { readChecked } from './requests.ts'
import { noStore, signedForm, signedInBy } from './signed-in.ts'
import { hostsPage, sourcePage } from './upkeep-views.ts'

type UpkeepOptions = { crawl: CrawlControl; publicFiles: PublicFiles }

export function upkeepPageRoutes({ crawl, publicFiles }: UpkeepOptions, guard: Guard): Route[] {
  const signedIn = signedInBy(publicFiles, guard)
  const sourceOf = async (call: Call) => {
    const found = (await crawl.sources()).find(({ name }) => name === call.params['name'])
    if (found === undefined) throw new AppError('not_found', 'There is no such source.')
    return found
  }
  return [
    {
      method: 'GET',
      path: '/admin/sources/:name',
      handle: signedIn(async (look, session, call) => {
        const source = await sourceOf(call)
        return sourcePage(look, session, source, await crawl.runs(source.name))
      }),
    },
    {
      method: 'POST',
      path: '/admin/sources/:name/crawl',
      async handle(call) {
        signedForm(call, guard)
        const job = await crawl.startSource((await sourceOf(call)).name)
        return seeOther(`../../jobs/${job.id}`, noStore)
      },
    },
    {
      method: 'GET',
      path: '/admin/hosts',
      handle: signedIn(async (look, session) => hostsPage(look, session, await crawl.hosts())),
    },
    {
      method: 'POST',
      path: '/admin/hosts',
      async handle(call) {
        const form = signedForm(call, guard)
        const given = Object.fromEntries(
          ['kind', 'name', 'state'].map((name) => [name, firstOf(form, name) ?? '']),
        )
        const { kind, name, state } = readChecked(ruleDecision, given)
        const rule = { kind: kind === 'parameter' ? kind : 'shape', name: String(name) } as const
        await crawl.decideRule(firstOf(form, 'host') ?? '', rule, state as LearnedState)
        return seeOther('hosts', noStore)
      },
    },
  ]
}
