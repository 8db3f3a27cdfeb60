/** What the administrator does in a browser: sign in, start a crawl, watch it, hold it. All by plain forms; the look is in admin-views.ts. */
import { AppError } from '../lib/errors.ts'
import { crawlFormPage, jobPage, loginPage, overviewPage, storyPage } from './admin-views.ts'
import type { CrawlFormValues } from './admin-views.ts'
import { explainParameters } from './api-schemas.ts'
import type { Guard } from './auth.ts'
import { firstOf, page, seeOther } from './call.ts'
import type { Query, Route } from './call.ts'
import type { CrawlControl } from './control.ts'
import { lookOf } from './layout.ts'
import { asAppError, errorHeaders } from './problem.ts'
import type { PublicFiles } from './public-files.ts'
import { filtersPage, groupsShown } from './filter-pages.ts'
import { copiesParameters } from './filter-schemas.ts'
import { completeAddress, readCrawlSpec, readParameters } from './requests.ts'
import { jobNumber } from './routes.ts'
import { formOf, noStore, signedForm, signedInBy } from './signed-in.ts'
import { upkeepPageRoutes } from './upkeep-pages.ts'
import { sourceTable } from './upkeep-views.ts'

type AdminOptions = { crawl: CrawlControl; publicFiles: PublicFiles }

/** Where to go after signing in: one of our own pages below /admin, nothing that a stranger wrote. */
const safeNext = (next: string | undefined): string =>
  next !== undefined && /^(?:jobs\/\d{1,15}|hosts|sources\/[\w%.~-]{1,300})$/.test(next)
    ? next
    : '../admin'

function readForm(form: Query): { key: string; csrf: string | undefined; values: CrawlFormValues } {
  const values: CrawlFormValues = {}
  for (const name of ['url', 'scope', 'maxPages'] as const) {
    const value = firstOf(form, name)
    if (value !== undefined) values[name] = value.trim()
  }
  return { key: (firstOf(form, 'key') ?? '').trim(), csrf: firstOf(form, 'csrf'), values }
}

/** As typed: addresses without a scheme, separated by spaces. */
function specOf({ url = '', scope = 'path', maxPages = '' }: CrawlFormValues): unknown {
  const seeds = url
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(completeAddress)
  if (maxPages === '') return { seeds, scope }
  return { seeds, scope, maxPages: /^\d+$/.test(maxPages) ? Number(maxPages) : maxPages }
}

function watchRoutes({ crawl, publicFiles }: AdminOptions, guard: Guard): Route[] {
  const signedIn = signedInBy(publicFiles, guard)
  return [
    {
      method: 'GET',
      path: '/admin',
      handle: signedIn(async (look, session) => {
        const [jobs, sources] = [await crawl.jobs(), await crawl.sources()]
        return overviewPage(look, session, jobs, sourceTable(look, sources))
      }),
    },
    {
      method: 'GET',
      path: '/admin/jobs/:id',
      handle: signedIn(async (look, session, call) => {
        const job = await crawl.job(await jobNumber(crawl, call.params['id']))
        if (!job) throw new AppError('not_found', 'There is no such job.')
        return jobPage(look, session, job)
      }),
    },
    {
      method: 'GET',
      path: '/admin/filters',
      handle: signedIn(async (look, _, call) => {
        const known = new Map([...call.query].filter(([name]) => name === 'cursor'))
        const { cursor } = readParameters(copiesParameters, known)
        const after = cursor === undefined ? null : Number(cursor)
        return filtersPage(look, await crawl.filters(), await crawl.copyGroups(after, groupsShown))
      }),
    },
    {
      method: 'GET',
      path: '/admin/explain',
      handle: signedIn(async (look, _, call) => {
        const known = new Map([...call.query].filter(([name]) => name !== 'ui'))
        const { url } = readParameters(explainParameters, known)
        return storyPage(look, await crawl.explain(completeAddress(String(url).trim())))
      }),
    },
  ]
}

function sessionRoutes({ publicFiles }: AdminOptions, guard: Guard): Route[] {
  // What a form answered in place is loaded again under the form's address, for instance in another language.
  const backToOverview = (path: string): Route => ({
    method: 'GET',
    path,
    handle: () => Promise.resolve(seeOther('../admin', noStore)),
  })
  return [
    backToOverview('/admin/login'),
    backToOverview('/admin/crawl'),
    {
      method: 'POST',
      path: '/admin/login',
      handle(call) {
        const form = formOf(call)
        guard.checkForm(call, null, undefined)
        const next = safeNext(firstOf(form, 'next'))
        try {
          const session = guard.login(call, readForm(form).key)
          return Promise.resolve(
            seeOther(next, { ...noStore, 'set-cookie': guard.cookie(session) }),
          )
        } catch (thrown) {
          const error = asAppError(thrown)
          const body = loginPage(lookOf(call, publicFiles), next, error)
          return Promise.resolve(page(body, error.status, errorHeaders(error)))
        }
      },
    },
    {
      method: 'POST',
      path: '/admin/logout',
      handle(call) {
        guard.checkForm(call, guard.session(call), firstOf(formOf(call), 'csrf'))
        return Promise.resolve(seeOther('../', { ...noStore, 'set-cookie': guard.cookie(null) }))
      },
    },
  ]
}

function deedRoutes({ crawl, publicFiles }: AdminOptions, guard: Guard): Route[] {
  const change = (verb: 'pause' | 'resume' | 'stop'): Route => ({
    method: 'POST',
    path: `/admin/jobs/:id/${verb}`,
    async handle(call) {
      signedForm(call, guard)
      const id = await jobNumber(crawl, call.params['id'])
      await crawl[verb](id)
      return seeOther(`../${id}`, noStore)
    },
  })

  return [
    {
      method: 'POST',
      path: '/admin/crawl',
      async handle(call) {
        const { key, csrf, values } = readForm(formOf(call))
        const old = guard.session(call)
        guard.checkForm(call, old, csrf)
        // Without a session the key comes with the form: the first page of an empty server.
        let session = old
        try {
          session ??= guard.login(call, key)
          const job = await crawl.start(readCrawlSpec(specOf(values)))
          const headers = old ? {} : { 'set-cookie': guard.cookie(session) }
          return seeOther(`jobs/${job.id}`, { ...noStore, ...headers })
        } catch (thrown) {
          const error = asAppError(thrown)
          if (error.status >= 500) throw error
          const body = crawlFormPage(lookOf(call, publicFiles), { session: old, values, error })
          return page(body, error.status, errorHeaders(error))
        }
      },
    },
    change('pause'),
    change('resume'),
    change('stop'),
  ]
}

export const adminPageRoutes = (options: AdminOptions, guard: Guard): Route[] => [
  ...watchRoutes(options, guard),
  ...sessionRoutes(options, guard),
  ...deedRoutes(options, guard),
  ...upkeepPageRoutes(options, guard),
]
