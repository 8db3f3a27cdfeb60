/** Searching what was crawled: from the command line, in three scripts and three forms, and through the API of a server. */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startSite } from '../site/site.ts'
import type { Expected, Site } from '../site/site.ts'
import { jsonLines, localCrawl, localServe, makeDirectory, run, serve } from './program.ts'
import type { Json, Server } from './program.ts'

const directory = makeDirectory()
let site: Site
let expected: Expected
before(async () => {
  site = await startSite({ seed: 21, pages: 90, faults: ['gbk'] })
  expected = site.expected()
  const crawled = await run(['crawl', site.url, '--data', directory.path, ...localCrawl])
  assert.equal(crawled.code, 0, crawled.stderr)
})
after(async () => {
  await site.close()
  directory.remove()
})

const known = (script: string): { mark: string; url: string } => {
  const copies = new Set([...expected.exactCopies, ...expected.nearCopies].flat())
  const found = expected.marks.find((each) => each.script === script && !copies.has(each.url))
  assert.ok(found)
  return found
}
const search = async (...args: string[]): Promise<string> => {
  const result = await run(['search', ...args, '--data', directory.path])
  assert.equal(result.code, 0, result.stderr)
  return result.stdout
}

describe('search on the command line', () => {
  for (const script of ['en', 'zh-Hans', 'zh-Hant']) {
    it(`finds the one page that holds a word of its own (${script})`, async () => {
      const { mark, url } = known(script)
      const answer: Json = JSON.parse(await search(mark, '-f', 'json'))
      assert.equal(answer.hits[0]?.url, url)
      assert.ok(answer.hits[0].snippet.text.includes(mark), answer.hits[0].snippet.text)
      assert.deepEqual(answer.hits[0].missing, [])
    })
  }

  it('finds traditional pages by simplified words and the other way round', async () => {
    const both: Json = JSON.parse(await search('隧道', '-f', 'json', '--limit', '50'))
    const scripts = new Set(both.hits.map(({ url }: Json) => new URL(url).pathname.split('/')[1]))
    assert.ok(scripts.has('hans') && scripts.has('hant'))
    const simplified: Json = JSON.parse(await search('桥梁', '-f', 'json', '--limit', '50'))
    const traditional: Json = JSON.parse(await search('橋樑', '-f', 'json', '--limit', '50'))
    assert.ok(simplified.hits.length > 0)
    assert.equal(simplified.total.value, traditional.total.value)
  })

  it('prints text for people, one JSON object, or a line of JSON a hit', async () => {
    const { mark, url } = known('en')
    assert.ok((await search(mark)).includes(url))
    assert.equal(JSON.parse(await search(mark, '-f', 'json')).hits.length, 1)
    const lines = jsonLines(await search('harbour', '-f', 'jsonl', '--limit', '5'))
    assert.equal(lines.length, 5)
    for (const hit of lines) assert.ok(hit.url.startsWith(site.url) && hit.title !== '')
  })

  it('folds exact and near copies into one hit', async () => {
    for (const group of [expected.exactCopies[0], expected.nearCopies[0]]) {
      assert.ok(group)
      const mark = expected.marks.find(({ url }) => group.includes(url))?.mark ?? ''
      // As a phrase: a Chinese mark is several words, and pages with some of them answer too.
      const answer: Json = JSON.parse(await search(`"${mark}"`, '-f', 'json'))
      assert.equal(answer.hits.length, 1)
      assert.equal(answer.hits[0].duplicates.count, 1)
    }
  })

  it('finds a near copy by its own words', async () => {
    const near = expected.nearCopies.flat().find((url) => url.includes('/near/'))
    const mark = expected.marks.find(({ url }) => url === near)?.mark ?? ''
    const answer: Json = JSON.parse(await search(mark, '-f', 'json'))
    assert.equal(answer.hits[0]?.url, near)
  })

  it('says so when nothing is found, and exits 0', async () => {
    const answer: Json = JSON.parse(await search('qqqqzzzz', '-f', 'json'))
    assert.deepEqual(answer.hits, [])
    assert.equal(answer.query.matched, 'none')
  })

  it('leaves stdout to data: the log goes to stderr', async () => {
    const result = await run(['search', 'harbour', '--data', directory.path, '-f', 'jsonl'])
    assert.doesNotThrow(() => jsonLines(result.stdout))
  })
})

describe('the API of a server', () => {
  let server: Server
  const withKey = (init: RequestInit = {}): RequestInit => ({
    ...init,
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
  })
  before(async () => {
    server = await serve(['--data', directory.path, ...localServe])
  })
  after(() => server.stop())

  it('answers a search with url, title, snippet, score, fields and duplicates', async () => {
    const { mark, url } = known('zh-Hant')
    const { status, body } = await server.api(`/api/v1/search?q=${encodeURIComponent(mark)}`)
    assert.equal(status, 200)
    const [hit] = body.hits
    assert.equal(hit.url, url)
    for (const name of ['id', 'title', 'snippet', 'score', 'fields', 'duplicates', 'fetched_at'])
      assert.ok(name in hit, name)
    const [start, end] = hit.snippet.ranges[0]
    assert.ok(hit.snippet.text.slice(start, end).length > 0)
  })

  it('gives the document of a hit, and 404 for no document', async () => {
    const { body } = await server.api(`/api/v1/search?q=${known('en').mark}`)
    const one = await server.api(`/api/v1/documents/${body.hits[0].id}`)
    assert.equal(one.body.url, known('en').url)
    assert.ok(one.body.text.includes(known('en').mark))
    const none = await server.api('/api/v1/documents/nothing-of-this-name')
    assert.equal(none.status, 404)
    assert.equal(none.body.code, 'not_found')
    assert.match(none.headers.get('content-type') ?? '', /application\/problem\+json/)
  })

  it('counts keywords of both languages, narrows by them, and shows those of a document', async () => {
    for (const lang of ['en', 'zh']) {
      const ask = async (more: string): Promise<Json> =>
        (await server.api(`/api/v1/search?q=&lang=${lang}&facets=keyword${more}`)).body
      const [first] = (await ask('')).facets.keyword
      assert.ok(first?.count > 1, lang)
      const narrowed = await ask(`&keyword=${encodeURIComponent(first.value)}`)
      assert.equal(narrowed.total.value, first.count)
      const { body } = await server.api(`/api/v1/documents/${narrowed.hits[0].id}`)
      assert.ok(body.keywords.length > 0 && body.keywords.length <= 10, body.keywords.join())
    }
  })

  it('completes words', async () => {
    const { body } = await server.api('/api/v1/suggest?q=harb')
    assert.ok(
      body.suggestions.some(({ text }: Json) => /harbour/i.test(text)),
      JSON.stringify(body),
    )
  })

  it('counts what there is', async () => {
    const { body } = await server.api('/api/v1/stats')
    assert.equal(body.documents, expected.stored.length)
    assert.equal(body.hosts, 1)
    assert.equal(body.exact_copies, expected.exactCopies.length)
  })

  it('is alive and ready, and describes itself', async () => {
    assert.equal((await server.api('/livez')).status, 200)
    const ready = await server.api('/readyz')
    assert.deepEqual([ready.status, ready.body.ready, ready.body.search], [200, true, true])
    const { body } = await server.api('/openapi.json')
    assert.match(body.openapi, /^3\./)
    for (const path of ['/api/v1/search', '/api/v1/suggest', '/api/v1/stats', '/livez'])
      assert.ok(path in body.paths, path)
  })

  it('refuses a query that is too long with a problem that says so', async () => {
    const { status, body } = await server.api(`/api/v1/search?q=${'a'.repeat(2049)}`)
    assert.deepEqual([status, body.code], [400, 'query_too_long'])
  })

  it('shows the search page without a script', async () => {
    const page = await fetch(`${server.url}/search?q=${known('en').mark}`)
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.ok((await page.text()).includes(known('en').url))
  })

  it('keeps its key in a file that only its owner reads, the one that it printed', () => {
    const file = join(directory.path, 'admin.key')
    assert.equal(readFileSync(file, 'utf8').trim(), server.key)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(directory.path).mode & 0o777, 0o700)
  })

  it('starts a crawl for who has the key, and for nobody else', async () => {
    const spec = { seeds: [`${site.url}en/`], delayMs: 0 }
    const body = JSON.stringify(spec)
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const refused = await server.api('/api/v1/admin/jobs', post)
    assert.deepEqual([refused.status, refused.body.code], [401, 'auth_required'])
    const wrong = await server.api('/api/v1/admin/jobs', {
      ...post,
      headers: { ...post.headers, authorization: `Bearer ${'0'.repeat(server.key.length)}` },
    })
    assert.ok(wrong.status === 401 || wrong.status === 403)
    const started = await server.api('/api/v1/admin/jobs', withKey({ method: 'POST', body }))
    assert.equal(started.status, 201, JSON.stringify(started.body))
    const jobs = await server.api('/api/v1/admin/jobs', withKey())
    assert.ok(jobs.body.jobs.some(({ id }: Json) => id === started.body.id))
  })

  it('answers the same commands while it holds the directory', async () => {
    const data = ['--data', directory.path]
    const { mark, url } = known('zh-Hans')
    const found = await run(['search', mark, '-f', 'json', ...data])
    assert.equal(JSON.parse(found.stdout).hits[0]?.url, url, found.stderr)
    const exported = await run(['export', ...data])
    assert.equal(jsonLines(exported.stdout).length, expected.stored.length, exported.stderr)
    const told = await run(['explain', url, ...data])
    assert.equal(told.code, 0, told.stderr)
    const crawled = await run(['crawl', site.url, ...data, '--delay', '0', '-f', 'json'])
    assert.equal(crawled.code, 0, crawled.stderr)
    assert.equal(JSON.parse(crawled.stdout).state, 'done')
    const health = await run(['health', ...data])
    assert.equal(health.code, 0, health.stderr)
  })
})
