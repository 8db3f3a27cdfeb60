/** The API over a real socket: answers keep their schemas, every parameter its limits, every error its code. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { AppError } from '../../../src/lib/errors.ts'
import { answers } from '../../../src/server/api-schemas.ts'
import { checkValue } from '../../../src/server/json-schema.ts'
import type { Schema } from '../../../src/server/json-schema.ts'
import { documentOf, key, startServer } from './ports.ts'
import type { Started } from './ports.ts'

const admin = { authorization: `Bearer ${key}` }
const json = { 'content-type': 'application/json' }

let server: Started
before(async () => {
  server = await startServer([
    documentOf({ id: 'stone', title: 'Stones', text: 'Stones travel in ice.\nFar.', group: 'g1' }),
    documentOf({ id: 'copy', title: 'Stones again', duplicate_of: 'stone', group: 'g1' }),
    documentOf({ id: 'zh', title: '漂砾', text: '冰川搬运的石头。', lang: 'zh' }),
  ])
})
after(() => server.close())

const get = (path: string, init: RequestInit = {}) => fetch(server.url + path, init)
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  get(path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })

async function expectAnswer(response: Response, schema: Schema, status = 200): Promise<unknown> {
  const body: unknown = await response.json()
  assert.equal(response.status, status, JSON.stringify(body))
  assert.match(response.headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/)
  assert.deepEqual(checkValue(schema, body), [])
  return body
}

async function expectProblem(response: Response, status: number, code: string) {
  const body = (await response.json()) as Record<string, unknown>
  assert.equal(response.status, status, JSON.stringify(body))
  assert.equal(response.headers.get('content-type'), 'application/problem+json; charset=utf-8')
  assert.deepEqual(checkValue(answers.Problem, body), [])
  assert.equal(body['code'], code)
  assert.equal(body['request_id'], response.headers.get('x-request-id'))
  return body
}

describe('Answers keep their schema:', () => {
  const cases: [string, Schema][] = [
    ['/api/v1/search?q=stones', answers.SearchAnswer],
    ['/api/v1/search?q=nothing-like-it', answers.SearchAnswer],
    ['/api/v1/search?q=', answers.SearchAnswer],
    ['/api/v1/suggest?q=st', answers.SuggestAnswer],
    ['/api/v1/suggest?q=', answers.SuggestAnswer],
    ['/api/v1/documents/stone', answers.Document],
    ['/api/v1/documents/copy?format=json', answers.Document],
    ['/api/v1/stats', answers.Stats],
    ['/livez', answers.Live],
    ['/readyz', answers.Health],
    ['/api/v1/admin/jobs', answers.Jobs],
    ['/api/v1/facets?q=stones&field=host', answers.FacetAnswer],
    ['/api/v1/facets?field=field:n&limit=1000&site=stone.example', answers.FacetAnswer],
    ['/api/v1/documents/stone/similar?limit=3', answers.SimilarAnswer],
    ['/api/v1/search?q=stones&facets=host&collapse=site', answers.SearchAnswer],
    ['/api/v1/search?q=nothing-at-all', answers.SearchAnswer],
    ['/api/v1/admin/explain?url=https%3A%2F%2Fa.example%2F', answers.UrlStory],
    ['/api/v1/admin/filters', answers.Filters],
    ['/api/v1/admin/duplicates', answers.CopyGroups],
    ['/api/v1/admin/duplicates?cursor=-7&limit=1', answers.CopyGroups],
  ]
  for (const [path, schema] of cases) {
    it(path, async () => {
      await expectAnswer(await get(path, { headers: admin }), schema)
    })
  }
  it('people who search are counted, each once', async () => {
    for (const path of ['/api/v1/search?q=a', '/search?q=b', '/livez']) await get(path)
    const answer = await get('/api/v1/admin/filters', { headers: admin })
    const { people } = (await answer.json()) as { people: object }
    assert.deepEqual(people, { today: 1, yesterday: 0 })
  })
  it('filters on fields reach the search as one condition for each name', async () => {
    await get('/api/v1/search?q=a&field.n=1&field.n=2&field.n.gte=0&field.%E7%A7%8D%E7%B1%BB=x')
    assert.deepEqual(server.search.asked?.fields, [
      { name: 'n', values: ['1', '2'], min: '0', max: null },
      { name: '种类', values: ['x'], min: null, max: null },
    ])
    await post('/api/v1/search', { q: 'a', 'field.n.lte': 3 })
    assert.deepEqual(server.search.asked?.fields, [{ name: 'n', values: [], min: null, max: '3' }])
  })
  it('no page is similar to one that is not there', async () => {
    await expectProblem(await get('/api/v1/documents/nobody/similar'), 404, 'not_found')
  })
  it('POST /api/v1/search, the same as GET', async () => {
    const question = { q: 'stones', limit: 1, site: ['stone.example'], '-site': [] }
    const asked = await expectAnswer(await post('/api/v1/search', question), answers.SearchAnswer)
    assert.deepEqual(
      asked,
      await (await get('/api/v1/search?q=stones&limit=1&site=stone.example')).json(),
    )
  })
})

describe('Search parameters', () => {
  const cases: [string, number][] = [
    [`q=${'a'.repeat(2048)}`, 200],
    ['q=a&limit=1', 200],
    ['q=a&limit=50', 200],
    ['q=a&limit=0', 400],
    ['q=a&limit=51', 400],
    ['q=a&limit=-1', 400],
    ['q=a&limit=NaN', 400],
    ['q=a&limit=1e9', 400],
    ['q=a&limit=', 400],
    ['q=a&offset=1000', 200],
    ['q=a&offset=1001', 400],
    ['q=a&sort=date', 200],
    ['q=a&sort=-date', 200],
    ['q=a&sort=price', 400],
    ['q=a&sort=id', 200],
    ['q=a&sort=field:price', 200],
    ['q=a&sort=-field.price', 200],
    ['q=a&sort=field:', 400],
    ['q=a&facets=host,lang,type,date,field:price', 200],
    ['q=a&facet=host&facet=field.price', 200],
    ['q=a&facets=colour', 400],
    [`q=a&facets=${'abcdefghijk'.replace(/./g, 'field:$&,')}`, 400],
    [`q=a&facets=${'abcdefghij'.replace(/./g, 'field:$&,')}`, 200],
    ['q=a&facet_limit=100', 200],
    ['q=a&facet_limit=101', 400],
    ['q=a&collapse=site', 200],
    ['q=a&collapse=host', 400],
    ['q=a&type=pdf', 200],
    ['q=a&field.price=1&field.price=2', 200],
    ['q=a&field.price.gte=1&field.price.lte=2', 200],
    ['q=a&field.price.gte=1&field.price.gte=2', 400],
    ['q=a&field.=1', 400],
    [`q=a&cursor=${'A'.repeat(601)}`, 400],
    ['q=a&match=any', 200],
    ['q=a&match=some', 400],
    ['q=a&site=b.example&site=c.example', 200],
    [`q=a&${'site=b.example&'.repeat(20)}`, 200],
    [`q=a&${'site=b.example&'.repeat(21)}`, 400],
    ['q=a&-site=b.example', 200],
    ['q=a&lang=zh', 200],
    ['q=a&lang=Chinese!', 400],
    ['q=a&since=P7D', 200],
    ['q=a&since=PT12H', 200],
    ['q=a&since=2026-11-01', 200],
    ['q=a&since=2026-11-01T10:00:00Z', 200],
    ['q=a&since=P', 400],
    ['q=a&since=P1DT', 400],
    ['q=a&since=yesterday', 400],
    ['q=a&until=2026-13-41', 400],
    ['q=a&group=none', 200],
    ['q=a&group=site', 400],
    ['q=a&snippet=20', 200],
    ['q=a&snippet=601', 400],
    ['q=a&explain=1', 200],
    ['q=a&explain=maybe', 400],
    ['q=a&q=b', 400],
    ['q[]=a', 400],
    ['', 400],
    ['q=a&page=2', 400],
    ['q=a&__proto__=x', 400],
    ['q=a&constructor=x', 400],
  ]
  for (const [query, status] of cases) {
    it(`${status} for ${query.slice(0, 60)}`, async () => {
      const response = await get(`/api/v1/search?${query}`)
      if (status === 400) await expectProblem(response, 400, 'invalid_parameter')
      else assert.equal(response.status, status)
    })
  }
  it('a query of 2,049 characters is too long, in the address and in the body', async () => {
    const q = 'a'.repeat(2049)
    const problem = await expectProblem(await get(`/api/v1/search?q=${q}`), 400, 'query_too_long')
    assert.match(String(problem['detail']), /2049 characters; the limit is 2048/)
    await expectProblem(await post('/api/v1/search', { q }), 400, 'query_too_long')
  })
  it('each fault is named with a pointer', async () => {
    const response = await get('/api/v1/search?q=a&limit=0&sort=x')
    const { errors } = await expectProblem(response, 400, 'invalid_parameter')
    const pointers = (errors as { pointer: string }[]).map(({ pointer }) => pointer)
    assert.deepEqual(pointers, ['/limit', '/sort'])
  })
  it('bad percents and NUL in a query are text', async () => {
    for (const q of ['%', '%ff', 'a%00b', '%E4%BD']) {
      assert.equal((await get(`/api/v1/search?q=${q}`)).status, 200, q)
    }
    const answer = (await (await get('/api/v1/search?q=st%00ones')).json()) as {
      total: { value: number }
    }
    assert.equal(answer.total.value, 1)
  })
})

describe('Bodies', () => {
  const send = (body: string, headers: Record<string, string>) =>
    get('/api/v1/search', { method: 'POST', headers, body })
  it('have to be JSON by name and by content', async () => {
    await expectProblem(
      await send('q=a', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
    )
    await expectProblem(
      await send('{"q":"a"}', { 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    )
    await expectProblem(await send('{"q":', json), 400, 'bad_input')
    await expectProblem(await send('', json), 400, 'bad_input')
    await expectProblem(await send('{"q":"a","__proto__":{"x":1}}', json), 400, 'bad_input')
    await expectProblem(await send('[]', json), 400, 'invalid_parameter')
    await expectProblem(await send('null', json), 400, 'invalid_parameter')
    await expectProblem(await send('{"q":"a","limit":"5"}', json), 400, 'invalid_parameter')
  })
  it('have a size limit', async () => {
    const q = 'a'.repeat(1024 * 1024)
    await expectProblem(await send(JSON.stringify({ q }), json), 413, 'payload_too_large')
  })
})

describe('Methods', () => {
  it('HEAD is GET without the body', async () => {
    for (const path of ['/livez', '/', '/search?q=stones', '/api/v1/search?q=stones']) {
      const response = await get(path, { method: 'HEAD' })
      assert.equal(response.status, 200, path)
      assert.equal(await response.text(), '')
    }
  })
  const cases: [string, string, string][] = [
    ['DELETE', '/api/v1/search', 'GET, HEAD, POST'],
    ['PUT', '/api/v1/search', 'GET, HEAD, POST'],
    ['POST', '/livez', 'GET, HEAD'],
    ['OPTIONS', '/api/v1/stats', 'GET, HEAD'],
    ['GET', '/api/v1/admin/jobs/1/stop', 'POST'],
  ]
  for (const [method, path, allow] of cases) {
    it(`405 for ${method} ${path}`, async () => {
      const response = await get(path, {
        method,
        headers: method === 'GET' ? {} : { 'content-type': 'text/xml' },
      })
      await expectProblem(response, 405, 'method_not_allowed')
      assert.equal(response.headers.get('allow'), allow)
    })
  }
})

describe('Documents', () => {
  it('come as text and as Markdown too', async () => {
    const text = await get('/api/v1/documents/stone?format=text')
    assert.equal(text.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(await text.text(), 'Stones travel in ice.\nFar.')
    const markdown = await get('/api/v1/documents/stone?format=markdown')
    assert.match(await markdown.text(), /^# Stones\n\nSource: <https:\/\/stone\.example\/page>\n/)
  })
  it('that are not there are not found, whatever the id looks like', async () => {
    for (const id of ['none', '%00', '..%2f..%2fetc%2fpasswd', '%E4', "'%20OR%201=1"]) {
      const response = await get(`/api/v1/documents/${id}`)
      assert.ok([400, 404].includes(response.status), `${id}: ${response.status}`)
    }
    await expectProblem(await get('/api/v1/documents/none'), 404, 'not_found')
    await expectProblem(await get('/api/v1/documents/stone?format=html'), 400, 'invalid_parameter')
  })
})

describe('Described sources', () => {
  const put = (path: string, body: unknown) =>
    get(path, { method: 'PUT', headers: { ...json, ...admin }, body: JSON.stringify(body) })
  const path = '/api/v1/admin/sources'

  it('are added once, replaced, shown, crawled and forgotten', async () => {
    const seeds = ['https://a.example/']
    const added = await post(path, { name: '新闻 1', seeds }, admin)
    await expectAnswer(added, answers.Source, 201)
    const own = `${path}/${encodeURIComponent('新闻 1')}`
    assert.equal(added.headers.get('location'), `sources/${encodeURIComponent('新闻 1')}`)
    await expectProblem(await post(path, { name: '新闻 1', seeds }, admin), 409, 'conflict')
    await expectAnswer(await put(own, { seeds, scope: 'host' }), answers.Source)
    const shown = await expectAnswer(await get(own, { headers: admin }), answers.Source)
    assert.deepEqual((shown as { source: unknown }).source, {
      name: '新闻 1',
      seeds,
      scope: 'host',
    })
    await expectAnswer(await get(path, { headers: admin }), answers.Sources)
    await expectAnswer(await post(`${own}/crawl`, {}, admin), answers.Job, 201)
    assert.equal(server.crawl.specs.at(-1)?.source, '新闻 1')
    await expectAnswer(await get(own, { method: 'DELETE', headers: admin }), answers.Removed)
    await expectProblem(await get(own, { headers: admin }), 404, 'not_found')
  })
  it('are refused under another name than that of their address, and to strangers', async () => {
    await expectProblem(await put(`${path}/a`, { name: 'b' }), 400, 'invalid_parameter')
    await expectProblem(await get(path), 401, 'auth_required')
    await expectProblem(await get(`${path}/a`, { method: 'DELETE' }), 401, 'auth_required')
  })
})

describe('Reindexing', () => {
  const path = '/api/v1/admin/reindex'
  it('is begun by POST and asked for until it is over, by who has the key', async () => {
    await expectProblem(await post(path, {}), 401, 'auth_required')
    await expectProblem(await get(path), 401, 'auth_required')
    const begun = await expectAnswer(await post(path, {}, admin), answers.Reindex, 202)
    const { total } = begun as { total: number }
    assert.deepEqual(begun, { running: true, done: 0, total })
    let turns = 0
    for (;;) {
      const status = await expectAnswer(await get(path, { headers: admin }), answers.Reindex)
      if (!(status as { running: boolean }).running) break
      turns += 1
      assert.ok(turns < total)
    }
    assert.equal(turns, total - 1)
  })
})

describe('Jobs', () => {
  it('start with defaults, and tell where they are', async () => {
    const response = await post('/api/v1/admin/jobs', { seeds: ['https://a.example/docs/'] }, admin)
    const job = (await expectAnswer(response, answers.Job, 201)) as { id: number }
    assert.equal(response.headers.get('location'), `jobs/${job.id}`)
    assert.deepEqual(server.crawl.specs.at(-1), {
      seeds: ['https://a.example/docs/'],
      scope: 'path',
      include: [],
      maxPages: null,
      maxPagesPerHost: null,
      depth: 64,
      delayMs: null,
    })
    await expectAnswer(await get(`/api/v1/admin/jobs/${job.id}`, { headers: admin }), answers.Job)
    for (const [verb, state] of [
      ['pause', 'paused'],
      ['resume', 'running'],
      ['stop', 'stopped'],
    ]) {
      const changed = await get(`/api/v1/admin/jobs/${job.id}/${verb}`, {
        method: 'POST',
        headers: admin,
      })
      const body = (await expectAnswer(changed, answers.Job)) as { state: string }
      assert.equal(body.state, state)
    }
  })
  const refused: unknown[] = [
    {},
    { seeds: [] },
    { seeds: ['ftp://a.example/'] },
    { seeds: ['javascript:alert(1)'] },
    { seeds: ['not an address'] },
    { seeds: Array.from({ length: 1001 }, () => 'https://a.example/') },
    { seeds: ['https://a.example/'], scope: 'world' },
    { seeds: ['https://a.example/'], maxPages: 0 },
    { seeds: ['https://a.example/'], depth: 1001 },
    { seeds: ['https://a.example/'], delayMs: -1 },
    { seeds: ['https://a.example/'], include: ['file:///etc'] },
    { seeds: ['https://a.example/'], extra: 1 },
  ]
  for (const spec of refused) {
    it(`refuse ${JSON.stringify(spec).slice(0, 70)}`, async () => {
      const started = server.crawl.specs.length
      await expectProblem(await post('/api/v1/admin/jobs', spec, admin), 400, 'invalid_parameter')
      assert.equal(server.crawl.specs.length, started)
    })
  }
  it('that are unknown are not found', async () => {
    for (const id of ['999', '0', '-1', 'x', '1e3', '9'.repeat(30)]) {
      await expectProblem(
        await get(`/api/v1/admin/jobs/${id}`, { headers: admin }),
        404,
        'not_found',
      )
    }
  })
})

describe('Failures', () => {
  it('overload is 503 with Retry-After', async () => {
    server.search.failure = new AppError('overloaded', 'The queue is full.', { retryAfterS: 3 })
    const response = await get('/api/v1/search?q=a')
    server.search.failure = null
    await expectProblem(response, 503, 'overloaded')
    assert.equal(response.headers.get('retry-after'), '3')
  })
  it('an unexpected error tells nothing but its number, and the log tells all', async () => {
    server.search.failure = new Error('SQLITE_CORRUPT in /var/lib/findling/data.db')
    const answered = await Promise.all(
      ['/api/v1/search?q=a', '/search?q=a'].map((path) => get(path)),
    )
    server.search.failure = new AppError('corrupt', '/var/lib/findling/data.db is malformed')
    answered.push(await get('/api/v1/search?q=a'))
    server.search.failure = null
    for (const response of answered) {
      const body = await response.text()
      assert.equal(response.status, 500)
      assert.doesNotMatch(body, /SQLITE|\/var\/lib|malformed|at .*\.ts|node_modules/)
      const id = response.headers.get('x-request-id') ?? 'none'
      assert.ok(body.includes(id))
      assert.ok(server.logged.some((line) => line.includes(id) && line.includes('/var/lib')))
    }
  })
})

describe('The OpenAPI document', () => {
  it('describes every route, and each reference in it leads somewhere', async () => {
    const text = await (await get('/openapi.json')).text()
    const document = JSON.parse(text) as {
      paths: Record<string, Record<string, unknown>>
      components: { schemas: Record<string, unknown> }
    }
    assert.ok(document.paths['/api/v1/search']?.['post'])
    assert.ok(document.paths['/api/v1/admin/jobs/{id}/pause']?.['post'])
    const references = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(
      ([, name = '']) => name,
    )
    assert.ok(references.length > 10)
    for (const name of references) assert.ok(document.components.schemas[name], name)
  })
})

describe('For browsers', () => {
  it('suggestions are the array of OpenSearch', async () => {
    const response = await get('/suggest?q=Sto')
    assert.match(response.headers.get('content-type') ?? '', /^application\/x-suggestions\+json/)
    assert.deepEqual(await response.json(), ['Sto', ['Stones', 'Stones again']])
  })
  it('the OpenSearch description names the address that was asked', async () => {
    const text = await (await get('/opensearch.xml')).text()
    assert.ok(text.includes(`template="${server.url}/search?q={searchTerms}"`))
  })
})

describe('Any parameters', () => {
  const names = [
    'q',
    'limit',
    'offset',
    'sort',
    'site',
    '-site',
    'lang',
    'since',
    'format',
    'url',
    'ui',
    'x',
  ]
  const word = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.integer().map(String),
    fc.constantFrom("' OR 1=1 --", '"', '(((', 'NEAR(', '-', '*', '食品" OR', 'P1D', '\u0000', '%'),
  )
  const paths = [
    '/api/v1/search',
    '/api/v1/suggest',
    '/suggest',
    '/search',
    '/',
    '/api/v1/documents/stone',
    '/cache/stone',
    '/api/v1/admin/explain',
    '/api/v1/admin/duplicates',
  ]
  it('never are a fault of the server', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.array(fc.tuple(fc.constantFrom(...names), word), { maxLength: 5 }),
        async (path, pairs) => {
          const query = pairs.map(
            ([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`,
          )
          const response = await get(`${path}?${query.join('&')}`, { headers: admin })
          const body = await response.text()
          assert.ok(response.status < 500, `${response.status} ${body}`)
          assert.doesNotMatch(body, /TypeError|RangeError|node:internal|\.ts:\d/)
        },
      ),
      { numRuns: 150 },
    )
  })
})
