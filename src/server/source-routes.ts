/** Described sources over the API: list, add, replace, remove, crawl. What a description may say is checked by the crawl. */
import { AppError } from '../lib/errors.ts'
import { answers, sourceBody } from './api-schemas.ts'
import { json } from './call.ts'
import type { CrawlControl } from './control.ts'
import type { Operation } from './openapi.ts'
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
  ]
}
