/** Described sources over the API: list, add, replace, remove, crawl, runs; and what was learned of hosts. What a description may say is checked by the crawl. */
import { AppError } from '../lib/errors.ts'
import { answers, ruleDecision, sourceBody } from './api-schemas.ts'
import { json } from './call.ts'
import type { CrawlControl, LearnedState } from './control.ts'
import type { Operation } from './openapi.ts'
import { readChecked } from './requests.ts'
import type { ApiRoute } from './routes.ts'

const nameOf = (name: string | undefined): string => {
  if (name === undefined || name === '') throw new AppError('not_found', 'There is no such source.')
  return name
}

const admin = (summary: string, answer: Operation['answer']): Operation => ({
  summary,
  access: 'admin',
  answer,
})
const asJson = (schema: (typeof answers)[keyof typeof answers]): Operation['answer'] => ({
  'application/json': schema,
})

/** The name in the address and the name in the body must agree; one of the two is enough. */
function withName(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const given = (body as Record<string, unknown>)['name']
  if (given !== undefined && given !== name)
    throw new AppError('invalid_parameter', 'name: it is not the one in the address')
  return { ...body, name }
}

export function sourceRoutes(crawl: CrawlControl): ApiRoute[] {
  const one = async (name: string | undefined) => {
    const found = (await crawl.sources()).find((source) => source.name === nameOf(name))
    if (found === undefined) throw new AppError('not_found', 'There is no such source.')
    return found
  }
  const path = '/api/v1/admin/sources'
  return [
    {
      method: 'GET',
      path,
      operation: admin('All described sources', asJson(answers.Sources)),
      handle: async () => json({ sources: await crawl.sources() }),
    },
    {
      method: 'POST',
      path,
      operation: {
        ...admin('Describe a new source', asJson(answers.Source)),
        body: sourceBody,
        status: 201,
      },
      async handle(call) {
        const source = await crawl.putSource(call.body, { mayReplace: false })
        return json(source, 201, { location: `sources/${encodeURIComponent(source.name)}` })
      },
    },
    {
      method: 'GET',
      path: `${path}/:name`,
      operation: admin('One described source', asJson(answers.Source)),
      handle: async (call) => json(await one(call.params['name'])),
    },
    {
      method: 'PUT',
      path: `${path}/:name`,
      operation: { ...admin('Describe a source, again', asJson(answers.Source)), body: sourceBody },
      handle: async (call) => {
        const named = withName(call.body, nameOf(call.params['name']))
        return json(await crawl.putSource(named, { mayReplace: true }))
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:name`,
      operation: admin('Forget a description; its pages stay', asJson(answers.Removed)),
      async handle(call) {
        await crawl.removeSource(nameOf(call.params['name']))
        return json({ removed: true })
      },
    },
    {
      method: 'POST',
      path: `${path}/:name/crawl`,
      operation: { ...admin('Crawl a described source', asJson(answers.Job)), status: 201 },
      async handle(call) {
        const job = await crawl.startSource(nameOf(call.params['name']))
        return json(job, 201, { location: `../../jobs/${job.id}` })
      },
    },
    {
      method: 'GET',
      path: `${path}/:name/runs`,
      operation: admin('The last runs of a described source', asJson(answers.Runs)),
      handle: async (call) => json({ runs: await crawl.runs(nameOf(call.params['name'])) }),
    },
  ]
}

/** @throws AppError not_found */
const hostOf = (host: string | undefined): string => {
  if (host === undefined || host === '') throw new AppError('not_found', 'There is no such host.')
  return host
}

export function hostRoutes(crawl: CrawlControl): ApiRoute[] {
  const path = '/api/v1/admin/hosts'
  return [
    {
      method: 'GET',
      path,
      operation: admin('Hosts of which something was learned', asJson(answers.Hosts)),
      handle: async () => json({ hosts: await crawl.hosts() }),
    },
    {
      method: 'GET',
      path: `${path}/:host`,
      operation: admin('What was learned of a host, by name or origin', asJson(answers.Host)),
      handle: async (call) => json(await crawl.host(hostOf(call.params['host']))),
    },
    {
      method: 'POST',
      path: `${path}/:host/rules`,
      operation: {
        ...admin('Decide what becomes of a learned rule', asJson(answers.Host)),
        body: ruleDecision,
      },
      async handle(call) {
        const { kind, name, state } = readChecked(ruleDecision, call.body)
        const rule = { kind: kind === 'parameter' ? kind : 'shape', name: String(name) } as const
        const host = hostOf(call.params['host'])
        return json(await crawl.decideRule(host, rule, state as LearnedState))
      },
    },
  ]
}
