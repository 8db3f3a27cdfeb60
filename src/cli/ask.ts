/** Commands that only ask: search, export, explain, config, version, health. */
import { licenses, nativeOrigin, programVersion } from '../assets.ts'
import { describeConfig } from '../config.ts'
import { shapeOf } from '../crawl/shape.ts'
import { AppError } from '../lib/errors.ts'
import { normalizeUrl, splitUrl } from '../lib/url.ts'
import type { SearchAnswer, SearchRequest } from '../search/answer.ts'
import { requestDefaults } from '../search/request.ts'
import type { ExportPage } from '../store/read-documents.ts'
import type { LearnedRule, UrlStory } from '../store/records.ts'
import { findServer } from './client.ts'
import { asking, formatOf, integerOption, write, type Call } from './command.ts'

export async function searchCommand(call: Call): Promise<number> {
  const form = formatOf(call, 'text')
  const request: SearchRequest = {
    ...requestDefaults,
    q: call.operands.join(' '),
    limit: integerOption(call, 'limit', 10, 1, 50),
    offset: integerOption(call, 'offset', 0, 0, 1_000),
  }
  const { q, limit, offset } = request
  const answer = await asking(
    call,
    (client) =>
      client.get<SearchAnswer>('/api/v1/search', {
        q,
        limit: String(limit),
        offset: String(offset),
      }),
    (app) => app.search.search(request),
  )
  if (form === 'json') await write(`${JSON.stringify(answer)}\n`)
  else if (form === 'jsonl') for (const hit of answer.hits) await write(`${JSON.stringify(hit)}\n`)
  else await write(answerText(answer))
  return 0
}

function answerText(answer: SearchAnswer): string {
  const warnings = answer.warnings.map((warning) => `note: ${warning}\n`).join('')
  if (answer.hits.length === 0) return `${warnings}Nothing found.\n`
  const hits = answer.hits.map((hit, i) => {
    const copies = hit.duplicates.count === 0 ? '' : `\n   ${hit.duplicates.count} near copies`
    return `${answer.offset + i + 1}. ${hit.title}\n   ${hit.url}\n   ${hit.snippet.text}${copies}\n`
  })
  const more = answer.total.relation === 'gte' ? 'at least ' : ''
  return `${warnings}${hits.join('\n')}\n${more}${answer.total.value} pages, ${answer.took_ms} ms\n`
}

/** What the operator wants undone before the story is told. @throws AppError usage */
function ruleToAllow(call: Call, given: string): (LearnedRule & { origin: string }) | null {
  const parameter = call.options['allow-parameter']
  if (call.options['allow-shape'] !== true && parameter === undefined) return null
  if (call.options['allow-shape'] === true && parameter !== undefined)
    throw new AppError('usage', 'One of --allow-shape and --allow-parameter at a time.')
  const url = normalizeUrl(given)
  if (url === null) throw new AppError('invalid_parameter', `no http or https URL: ${given}`)
  const { origin } = splitUrl(url)
  return parameter === undefined
    ? { origin, kind: 'shape', name: shapeOf(url).key }
    : { origin, kind: 'parameter', name: String(parameter).toLowerCase() }
}

export async function explainCommand(call: Call): Promise<number> {
  const url = call.operands[0] ?? ''
  const rule = ruleToAllow(call, url)
  const story = await asking(
    call,
    async (client) => {
      if (rule !== null) {
        const path = `/api/v1/admin/hosts/${encodeURIComponent(rule.origin)}/rules`
        await client.post(path, { kind: rule.kind, name: rule.name, state: 'kept' })
      }
      return client.get<UrlStory>('/api/v1/admin/explain', { url })
    },
    async (app) => {
      if (rule !== null) await app.crawl.decideRule(rule.origin, rule, 'kept')
      return app.crawl.explain(url)
    },
    'engine',
  )
  if (formatOf(call, 'text') !== 'text') await write(`${JSON.stringify(story)}\n`)
  else
    await write(
      `${story.canonicalUrl}\n  ${'state'.padEnd(12)} ${story.state}\n${story.lines.map(({ about, text }) => `  ${about.padEnd(12)} ${text}\n`).join('')}`,
    )
  return 0
}

const exportPageSize = 200

export async function exportCommand(call: Call): Promise<number> {
  const all = async (page: (after: number) => Promise<ExportPage>): Promise<number> => {
    let after: number | null = 0
    while (after !== null) {
      const { records, cursor }: ExportPage = await page(after)
      for (const record of records) await write(`${JSON.stringify(record)}\n`)
      after = cursor
    }
    return 0
  }
  return asking(
    call,
    (client) =>
      all((after) =>
        client.get('/api/v1/admin/export', {
          cursor: String(after),
          limit: String(exportPageSize),
        }),
      ),
    (app) => all((after) => app.search.exportAfter(after, exportPageSize)),
  )
}

export async function configCommand(call: Call): Promise<number> {
  const rows = describeConfig(call.loaded)
  if (formatOf(call, 'text') === 'text')
    for (const { name, value, origin } of rows)
      await write(`${name.padEnd(20)} ${(value === '' ? '-' : value).padEnd(24)} ${origin}\n`)
  else
    await write(
      `${JSON.stringify(Object.fromEntries(rows.map(({ name, value, origin }) => [name, { value, origin }])))}\n`,
    )
  return 0
}

export async function versionCommand(call: Call): Promise<number> {
  const { version, commit, undici } = programVersion()
  if (call.options['json'] !== true && formatOf(call, 'text') === 'text') {
    await write(`findling ${version}\n`)
    return 0
  }
  const { node, brotli, v8, modules } = process.versions
  const { sqliteVersion } = await import('../lib/sqlite.ts')
  const sqlite = sqliteVersion()
  const native = nativeOrigin()
  await write(
    `${JSON.stringify({ name: 'findling', version, commit, node, sqlite, undici, brotli, v8, modules, arch: process.arch, native })}\n`,
  )
  return 0
}

export async function licensesCommand(): Promise<number> {
  const { sqliteVersion } = await import('../lib/sqlite.ts')
  await write(licenses(sqliteVersion()))
  return 0
}

export async function healthCommand(call: Call): Promise<number> {
  const client = await findServer(call.directory, call.config.key)
  if (client === null)
    throw new AppError('unreachable', `No server runs on ${call.directory}.`, {
      remedy: `Start it with \`findling serve\`, or name the directory of another with --data.`,
    })
  await write(`${JSON.stringify(await client.get('/readyz'))}\n`)
  return 0
}
