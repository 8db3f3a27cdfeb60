/** The examples of docs/SOURCES.md, run as they stand there against local sites: which pages, which fields, what is said of them. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  articles,
  departments,
  problems,
  startExample,
  type ExampleSite,
} from '../site/examples.ts'
import { jsonLines, localCrawl, localServe, makeDirectory, run } from './program.ts'

/** The JSON example under a heading, with the address of the local site in place of the example's. */
function example(heading: string, host: string, url: string): string {
  const text = readFileSync('docs/SOURCES.md', 'utf8')
  const from = text.indexOf(`## ${heading}`)
  const json = /```json\n([^]*?)```/.exec(text.slice(from))?.[1]
  assert.ok(from >= 0 && json !== undefined)
  return json.replaceAll(host, url)
}

async function crawlExample(site: ExampleSite, json: string, directory: string) {
  const file = join(dirname(directory), 'sources.json')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, json)
  const crawled = await run(['crawl', '--sources', file, '--data', directory, ...localCrawl])
  assert.equal(crawled.code, 0, crawled.stderr)
  const exported = await run(['export', '--data', directory])
  const documents = jsonLines(exported.stdout)
  const fieldsAt = (path: string) =>
    documents.find(({ url }) => url === `${site.url}${path}`)?.['fields'] ?? {}
  return { file, summary: crawled.stdout, documents, fieldsAt }
}

describe('the news site of the documentation', () => {
  const directory = makeDirectory()
  let site: ExampleSite
  let crawled: Awaited<ReturnType<typeof crawlExample>>
  before(async () => {
    site = await startExample('news')
    const json = example('A news site', 'https://news.example', site.url)
    crawled = await crawlExample(site, json, directory.path)
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('is crawled along its lists, and nowhere else', () => {
    assert.equal(crawled.documents.length, articles + 3)
    assert.deepEqual(
      site.asked.filter((path) => /login|tag/.test(path)),
      [],
    )
  })
  it('has fields of every type', () =>
    assert.deepEqual(crawled.fieldsAt('/article/1.html'), {
      section: '国内/交通',
      published: '2024-05-03',
      source: '晨报',
      views: 12_000,
    }))
  it('is reported where it changed under its rule', () => {
    assert.match(crawled.summary, /news\/article: 9 pages/)
    assert.match(crawled.summary, /news\/article: field views empty in 8 of 9 pages/)
    assert.doesNotMatch(crawled.summary, /field section|not as the rule expects/)
  })
  it('shows its rule in explain', async () => {
    const url = `${site.url}/article/2.html`
    const { stdout } = await run(['explain', url, '--data', directory.path])
    assert.match(stdout, /news\/article/)
  })
  it('can be tried out without writing anything, by URL and by file', async () => {
    const args = ['--sources', crawled.file, '--data', join(directory.path, 'none'), ...localServe]
    const url = `${site.url}/article/1.html`
    const tried = await run(['rules', 'test', url, ...args, '-f', 'json'])
    assert.equal(tried.code, 0, tried.stderr)
    const result = JSON.parse(tried.stdout)
    assert.equal(result.rule, 'news/article')
    assert.deepEqual(result.fields, crawled.fieldsAt('/article/1.html'))
    const page = join(dirname(directory.path), 'page.html')
    writeFileSync(page, '<title>x</title><p class="info">no date</p>')
    const missing = await run(['rules', 'test', page, '--url', url, ...args])
    assert.equal(missing.code, 1)
    assert.match(missing.stdout, /published +\(empty, though required\)/)
    assert.match(missing.stdout, /expected +section: 国内\/交通, found/)
  })
})

describe('the problem library of the documentation', () => {
  const directory = makeDirectory()
  let site: ExampleSite
  let crawled: Awaited<ReturnType<typeof crawlExample>>
  before(async () => {
    site = await startExample('problems')
    const json = example('A problem library', 'https://oj.example', site.url)
    crawled = await crawlExample(site, json, directory.path)
  })
  after(async () => {
    await site.close()
    directory.remove()
  })

  it('is crawled from its JSON list over problems to knowledge points', () => {
    const urls = crawled.documents.map(({ url }) => String(url).slice(site.url.length))
    assert.deepEqual(urls.toSorted(), [
      '/point/1',
      '/point/2',
      ...Array.from({ length: problems }, (_, i) => `/problem/${i + 1}`),
    ])
    assert.ok(!site.asked.some((path) => path.startsWith('/user')))
  })
  it('has fields of every type', () => {
    const { statement, ...fields } = crawled.fieldsAt('/problem/2')
    assert.deepEqual(fields, {
      difficulty: 200,
      knowledge: '循环/for',
      tags: ['循环', '数学'],
      kind: '题目',
    })
    assert.match(String(statement), /^<p>求和2的第1段/)
    assert.doesNotMatch(String(statement), /script/)
    assert.deepEqual(crawled.fieldsAt('/point/2'), { path: '程序设计/循环/for' })
  })
  it('takes title and text from where its rule says', () => {
    const problem = crawled.documents.find(({ url }) => String(url).endsWith('/problem/3'))
    assert.equal(problem?.['title'], '题目3：求和')
    assert.match(String(problem?.['text']), /^求和3的第1段/)
  })
})

describe('the shop of the documentation', () => {
  const directory = makeDirectory()
  let site: ExampleSite
  let crawled: Awaited<ReturnType<typeof crawlExample>>
  before(async () => {
    site = await startExample('shop')
    const json = example('The same item on many pages', 'https://shop.example', site.url)
    crawled = await crawlExample(site, json, directory.path)
  })
  after(async () => {
    await site.close()
    directory.remove()
  })
  const hitsOf = async (query: string) => {
    const found = await run(['search', query, '--data', directory.path, '-f', 'json'])
    assert.equal(found.code, 0, found.stderr)
    return JSON.parse(found.stdout)
  }

  it('has one group for each item, whatever stands around it, and another where its price is another', () => {
    const groupOf = (path: string) =>
      crawled.documents.find(({ url }) => url === `${site.url}${path}`)?.['group']
    const [one, two] = [1, 2].map((id) => departments.map((name) => groupOf(`/${name}/item/${id}`)))
    assert.equal(new Set(one).size, 1)
    assert.deepEqual(two, [two?.[0], two?.[0], two?.[2]])
    assert.equal(new Set([...(one ?? []), ...(two ?? [])]).size, 3)
  })
  it('is found by what only one of the copies has around the item', async () => {
    for (const name of departments) {
      const { total, hits } = await hitsOf(`only${name}1`)
      assert.equal(total.value, 1)
      assert.equal(hits[0].url, `${site.url}/${name}/item/1`)
    }
  })
  it('answers with one hit for an item', async () => {
    const { total } = await hitsOf('boils')
    assert.equal(total.value, 3)
  })
})

describe('a rule that never ends', () => {
  it('costs its pages their fields, not their place, and is told of', async () => {
    const directory = makeDirectory()
    const site = await startExample('problems')
    const rule = {
      name: 'slow',
      kind: 'detail',
      match: '/problem/*',
      fields: { f: { css: '.slow', regex: '^(a+)+$' } },
    }
    const source = { name: 'n', seeds: `${site.url}/problem/1`, scope: 'page', rules: [rule] }
    const file = join(dirname(directory.path), 'slow.json')
    writeFileSync(file, JSON.stringify({ sources: [source] }))
    const args = ['--sources', file, '--data', directory.path, '--parse-timeout-ms', '1500']
    const crawled = await run(['crawl', ...args, ...localCrawl])
    assert.equal(crawled.code, 0, crawled.stderr)
    assert.match(crawled.stdout, /stored +1\n/)
    assert.match(crawled.stdout, /n\/slow: trouble in 1 of 1 pages, .*given up/)
    const { stdout } = await run(['export', '--data', directory.path])
    assert.match(String(jsonLines(stdout)[0]?.text), /求和1的第1段/)
    await site.close()
    directory.remove()
  })
})

describe('a file of sources with a mistake', () => {
  it('starts nothing, and says where and what', async () => {
    const directory = makeDirectory()
    const file = join(dirname(directory.path), 'wrong.json')
    writeFileSync(file, '{"sources": [\n{"name": "n",\n"sedes": "h"}]}')
    const { code, stderr } = await run(['crawl', '--sources', file, '--data', directory.path])
    assert.equal(code, 65)
    assert.match(stderr, /wrong\.json, line 3: sources\[0\]\.sedes: .*did you mean "seeds"\?/)
    directory.remove()
  })
})

describe('a shelf of products on one page', () => {
  const directory = makeDirectory()
  const file = join(dirname(directory.path), 'shop.json')
  const at = ['--sources', file, '--data', directory.path]
  const shelf = { kettle: 20, toaster: 35, lamp: 12 } as Record<string, number>
  const server = createServer((request, response) => {
    if (request.url !== '/shelf') return void response.writeHead(404).end()
    const rows = Object.entries(shelf).map(
      ([name, price]) =>
        `<li id="${name}"><h2>A ${name}</h2><p>It is a ${name} of the best kind.</p><b>${price}</b></li>`,
    )
    response.setHeader('content-type', 'text/html')
    response.end(`<title>Shelf</title><h1>Everything</h1><ul>${rows.join('')}</ul>`)
  })
  let url = ''
  before(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shelf`
    const rule = {
      name: 'shelf',
      kind: 'list',
      match: '/shelf',
      fields: { heading: 'h1' },
      items: {
        each: 'li',
        values: { name: { xpath: '@id' } },
        fields: { price: { css: 'b', type: 'number', required: true } },
      },
    }
    mkdirSync(dirname(file), { recursive: true })
    const source = { name: 'shop', seeds: url, scope: 'page', rules: [rule] }
    writeFileSync(file, JSON.stringify({ sources: [source] }))
  })
  after(() => {
    server.close()
    server.closeAllConnections()
    directory.remove()
  })

  it('gives a document each, found by its words and its fields', async () => {
    const crawled = await run(['crawl', ...at, ...localCrawl])
    assert.equal(crawled.code, 0, crawled.stderr)
    assert.match(crawled.stdout, /shop\/shelf: 1 pages, 3 items/)
    const found = await run(['search', 'kettle kind', '--data', directory.path, '-f', 'json'])
    assert.equal(JSON.parse(found.stdout).hits[0].url, `${url}#kettle`)
    const dear = await run([
      'search',
      'best field:price>=20',
      '--data',
      directory.path,
      '-f',
      'json',
    ])
    const urls = JSON.parse(dear.stdout).hits.map((hit: { url: string }) => hit.url)
    assert.deepEqual(urls.toSorted(), [`${url}#kettle`, `${url}#toaster`])
    const checked = await run(['check', '--data', directory.path])
    assert.equal(checked.code, 0, checked.stdout)
  })

  it('is shown by a test of its rule', async () => {
    const tried = await run(['rules', 'test', url, ...at, ...localServe])
    assert.equal(tried.code, 0, tried.stderr)
    assert.match(tried.stdout, /items +3\n +http:\S+#kettle {2}A kettle {2}\{price: 20\}/)
  })

  it('has its values recorded, and differences told', async () => {
    const test = ['rules', 'test', ...at, ...localServe]
    assert.equal((await run(test)).code, 64)
    const recorded = await run(['rules', 'test', url, '--record', ...at, ...localServe])
    assert.equal(recorded.code, 0, recorded.stderr)
    assert.match(
      recorded.stdout,
      /\+ heading: Everything\n1 pages recorded in shop\.expected\.json/,
    )
    const same = await run(test)
    assert.deepEqual([same.code, same.stdout], [0, '1 pages are as expected\n'])
    const kept = join(dirname(file), 'shop.expected.json')
    writeFileSync(kept, readFileSync(kept, 'utf8').replace('Everything', 'Something'))
    const other = await run(test)
    assert.equal(other.code, 1)
    const told = `shop/shelf ${url}\n  - heading: Something\n  + heading: Everything\n1 of 1 pages are not as expected\n`
    assert.equal(other.stdout, told)
  })
})
