/** The pages as a browser without scripts gets them: whole, labelled, in three languages, and deaf to what strangers wrote. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError } from '../../../src/lib/errors.ts'
import { documentOf, key, signIn, startServer } from './ports.ts'
import type { Started } from './ports.ts'

/** What a hostile page puts in its title, text, address or fields: each would run if it were not escaped. */
const attacks = [
  '<script>window.__pwned=1</script>',
  '</title><script>window.__pwned=1</script>',
  '<img src=x onerror=window.__pwned=1>',
  '"><svg onload=window.__pwned=1>',
  "' onmouseover='window.__pwned=1",
  '<mark>stone</mark><b onclick=window.__pwned=1>stone',
  '<meta http-equiv=refresh content=0;url=//evil.example>',
  '&lt;script&gt;window.__pwned=1&lt;/script&gt;',
  '<!--<script>',
  '</textarea></noscript><iframe src=//evil.example>',
]
const attacking = attacks.map((attack, at) =>
  documentOf({
    id: `x${at}`,
    title: `stone ${attack}`,
    text: `${attack} stone ${attack}`,
    lang: attack,
    author: attack,
    keywords: [attack, `x ${attack}`],
  }),
)
const hostileLinks = [
  'javascript:alert(1)',
  '\u0001javascript:alert(1)',
  'data:text/html,<script>1</script>',
  'vbscript:x',
].map((url, at) => documentOf({ id: `l${at}`, title: 'stone link', url }))

let server: Started
let empty: Started
before(async () => {
  server = await startServer([
    documentOf({
      id: 'stone',
      title: 'Stones of the north',
      text: 'Stones travel in ice.',
      published_at: '2026-10-01T00:00:00Z',
      keywords: ['erratic', 'ice age', '漂砾', 'd', 'e', 'f', 'g'],
    }),
    documentOf({ id: 'copy', title: 'Stones of the north', duplicate_of: 'stone' }),
    documentOf({ id: 'zh', title: '漂砾 stones', text: '冰川搬运的石头。', lang: 'zh' }),
    ...attacking,
    ...hostileLinks,
  ])
  empty = await startServer()
})
after(async () => {
  await server.close()
  await empty.close()
})

const load = async (
  path: string,
  headers: Record<string, string> = {},
  from = server,
): Promise<string> => (await fetch(from.url + path, { headers })).text()

/** Opening tags with their attributes. Nothing of ours has `>` inside an attribute. */
const tagsOf = (page: string, name: string): string[] =>
  page.match(new RegExp(`<${name}(?=[\\s>])[^>]*>`, 'g')) ?? []
const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]

function assertHarmless(page: string): void {
  assert.doesNotMatch(page, /<(svg|iframe|object|embed|base|textarea|b)[\s>]/i)
  // Quotes in text are escaped, so what stands between two is a value: only the names are left.
  const names = page.replaceAll(/"[^"]*"/g, '""')
  assert.doesNotMatch(names, /<[^>]*\son\w+\s*=/i)
  assert.doesNotMatch(names, /<[^>]*\sstyle=/i)
  for (const script of tagsOf(page, 'script'))
    assert.match(script, /src="(\.\.\/|\.\/)+assets\/[\w.]+"/)
  assert.equal(page.match(/<\/script>/g)?.length ?? 0, tagsOf(page, 'script').length)
  for (const link of tagsOf(page, 'a')) {
    assert.match(attribute(link, 'href') ?? '', /^(https?:\/\/|\.\.?\/|\?|#)/)
  }
  for (const meta of tagsOf(page, 'meta')) assert.doesNotMatch(meta, /refresh.*url=/i)
}

describe('Text of strangers', () => {
  it('is never markup in the results', async () => {
    for (const offset of [0, 10]) assertHarmless(await load(`/search?q=stone&offset=${offset}`))
  })
  it('is never markup in the stored text', async () => {
    for (const { id } of [...attacking, ...hostileLinks]) assertHarmless(await load(`/cache/${id}`))
  })
  for (const attack of attacks) {
    it(`is never markup when a visitor sends it: ${attack}`, async () => {
      const word = encodeURIComponent(attack)
      for (const path of [
        `/search?q=${word}`,
        `/search?q=a&site=${word}&ui=${word}`,
        `/search?q=a&limit=${word}`,
        `/?ui=${word}&x=${word}`,
        `/${word}`,
        `/cache/${word}`,
      ]) {
        assertHarmless(await load(path))
      }
    })
  }
  it('gives a link only for http and https', async () => {
    const page = await load('/search?q=link')
    assert.ok(page.includes('stone <mark>link</mark>'))
    assert.doesNotMatch(page, /href="[^"]*(javascript|vbscript|data):/i)
  })
  it('is plain JSON in the API, by type and by content', async () => {
    const response = await fetch(`${server.url}/api/v1/search?q=stone&limit=50`)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    const { hits } = (await response.json()) as { hits: { title: string }[] }
    for (const attack of attacks) assert.ok(hits.some(({ title }) => title === `stone ${attack}`))
  })
  it('leaves our sites without naming them or following for a rank', async () => {
    const links = tagsOf(await load('/search?q=stones'), 'a').filter((tag) =>
      /href="https?:/.test(tag),
    )
    assert.ok(links.length > 0)
    for (const link of links) assert.match(link, /rel="noopener noreferrer nofollow"/)
  })
})

describe('The stored text of a page', () => {
  it('has its six most telling keywords above it, each as a search for it', async () => {
    const page = await load('/cache/stone?ui=zh-CN')
    const [, nav = ''] = /<p class="quiet">关键词：(.*?)<\/p>/s.exec(page) ?? []
    assert.deepEqual(
      tagsOf(nav, 'a').map((tag) => attribute(tag, 'href')),
      ['erratic', 'ice+age', '%E6%BC%82%E7%A0%BE', 'd', 'e', 'f'].map((q) => `../search?q=${q}`),
    )
    assert.match(nav, />ice age</)
  })
  it('has no empty list where a page has none', async () => {
    assert.doesNotMatch(await load('/cache/copy'), /Keywords:/)
  })
})

describe('The page that says how results are ranked', () => {
  for (const ui of ['en', 'zh-CN', 'zh-TW'])
    it(`has every figure, in ${ui}`, async () => {
      const body = await load(`/how-this-ranks?ui=${ui}`)
      const article = /<article.*<\/article>/s.exec(body)?.[0] ?? ''
      assert.doesNotMatch(article, /[{}]|\?/)
      for (const figure of [30, 20, 5, 8, 3, 0.5, 0.3, 0.2, 0.15])
        assert.match(article, new RegExp(`[^\\d.]${figure}[^\\d]`), `lacks ${figure}`)
    })

  it('is named below the results, under any prefix', async () => {
    assert.match(await load('/search?q=stones'), /<a href="\.\/how-this-ranks">How this ranks<\/a>/)
  })
})

describe('Every page', () => {
  const paths = [
    '/',
    '/search?q=stones',
    '/search?q=zzz',
    '/search?q=',
    '/search?q=a&limit=0',
    '/cache/stone',
    '/cache/none',
    '/how-this-ranks',
    '/admin',
    '/admin/jobs/1',
    '/nothing',
    '/deep/er/page',
  ]
  const all = async (): Promise<[string, string][]> => {
    const { cookie } = await signIn(server.url)
    await server.crawl.start({
      seeds: ['https://a.example/'],
      scope: 'path',
      include: [],
      maxPages: null,
      depth: 1,
      delayMs: null,
    })
    const open = await Promise.all(
      paths.map(async (path): Promise<[string, string]> => [path, await load(path)]),
    )
    const closed = [
      '/admin',
      '/admin/jobs/1',
      '/admin/explain?url=a.example',
      '/admin/filters',
    ].map(async (path): Promise<[string, string]> => [
      `${path}, signed in`,
      await load(path, { cookie }),
    ])
    return [...open, ['/, empty', await load('/', {}, empty)], ...(await Promise.all(closed))]
  }
  it('has a language, a title, one main and one h1, and headings without a gap', async () => {
    for (const [path, page] of await all()) {
      assert.match(page, /^<!doctype html>\s*<html lang="en"/, path)
      assert.match(page, /<title>[^<]+<\/title>/, path)
      assert.equal(tagsOf(page, 'main').length, 1, path)
      assert.equal(tagsOf(page, 'h1').length, 1, path)
      const levels = [...page.replace(/<dialog[\s\S]*<\/dialog>/, '').matchAll(/<h([1-6])/g)].map(
        ([, level]) => Number(level),
      )
      levels.forEach((level, at) =>
        assert.ok(level <= (levels[at - 1] ?? 0) + 1, `${path}: ${levels.join()}`),
      )
    }
  })
  it('tells the administrator what was recognised, in plain text', async () => {
    const { cookie } = await signIn(server.url)
    const page = await load('/admin/filters', { cookie })
    assert.match(page, /&lt;i&gt;word&lt;\/i&gt;/)
    assert.match(page, /names it as its canonical page/)
    assert.match(page, /URLs linked to \(about\)<\/dt>\s*<dd>12,345</)
    assert.match(page, /y\.txt, line 2/)
    assert.match(page, /admin\/filters\?cursor=7/)
    assert.doesNotMatch(page, /<b>title|<i>word/)
  })
  it('labels every field and image, names every navigation, uses no id twice', async () => {
    for (const [path, page] of await all()) {
      const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
      assert.equal(new Set(ids).size, ids.length, `${path}: ${ids.join()}`)
      const labelled = new Set(tagsOf(page, 'label').map((tag) => attribute(tag, 'for')))
      for (const field of [
        ...tagsOf(page, 'input'),
        ...tagsOf(page, 'select'),
        ...tagsOf(page, 'progress'),
      ]) {
        const isExempt = /type="(hidden|radio)"|\shidden/.test(field)
        assert.ok(isExempt || labelled.has(attribute(field, 'id')), `${path}: ${field}`)
      }
      for (const image of tagsOf(page, 'img')) assert.notEqual(attribute(image, 'alt'), undefined)
      for (const nav of tagsOf(page, 'nav'))
        assert.ok(attribute(nav, 'aria-label'), `${path}: ${nav}`)
      for (const [, reference = ''] of page.matchAll(
        /aria-(?:describedby|labelledby)="([^"]+)"/g,
      )) {
        assert.ok(ids.includes(reference), `${path}: ${reference}`)
      }
    }
  })
  it('closes what it opens', async () => {
    const empties = new Set(['meta', 'link', 'input', 'img', 'br', 'hr'])
    for (const [path, page] of await all()) {
      const open: string[] = []
      for (const [tag, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
        if (empties.has(name) || tag.endsWith('/>')) continue
        if (slash === '') open.push(name)
        else assert.equal(open.pop(), name, `${path} at ${tag}`)
      }
      assert.deepEqual(open, [], path)
    }
  })
  it('links only to pages that are there, from any depth', async () => {
    for (const [path, page] of await all()) {
      const here = new URL(path.replace(/, .*/, ''), server.url)
      const found = [...page.matchAll(/\s(?:href|src)="((?:\.\.?\/|\?)[^"]*)"/g)].map(
        ([, link = '']) => link.replaceAll('&amp;', '&'),
      )
      for (const link of new Set(found)) {
        const target = new URL(link, here)
        if (/^\/(cache\/none|nothing|deep|admin\/jobs\/1$)/.test(target.pathname)) continue
        const { status } = await fetch(target)
        assert.ok(
          status < 400 || status === 401 || target.search.includes('limit=0'),
          `${path} -> ${link}: ${status}`,
        )
      }
    }
  })
})

describe('The start page', () => {
  it('of an empty server asks for a site and the key', async () => {
    const page = await load('/', {}, empty)
    assert.match(page, /<form class="form" method="post" action="\.\/admin\/crawl">/)
    for (const name of ['url', 'scope', 'key']) assert.match(page, new RegExp(`name="${name}"`))
  })
  it('does not ask for the key again from who is signed in', async () => {
    const { cookie } = await signIn(empty.url)
    const page = await load('/', { cookie }, empty)
    assert.doesNotMatch(page, /name="key"/)
    assert.match(page, /name="csrf"/)
  })
  it('of a full one shows the box and how much there is', async () => {
    const page = await load('/')
    assert.match(page, /17 pages from \d+ sites/)
    assert.doesNotMatch(page, /name="key"/)
  })
})

describe('Results', () => {
  it('mark the words, show the date, fold copies with their titles', async () => {
    const page = await load('/search?q=stones')
    assert.match(page, /<mark>Stones<\/mark> of the north/)
    assert.match(page, /<time datetime="2026-10-01T00:00:00Z"[^>]*>Oct 1, 2026<\/time>/)
    assert.match(page, /<details class="copies">[\s\S]*https:\/\/copy\.example\/page/)
  })
  it('say which words a page lacks', async () => {
    assert.match(await load('/search?q=stones+volcano'), /Not on this page:\s*<s>volcano<\/s>/)
  })
  it('name the language of a hit where it is another', async () => {
    assert.match(await load('/search?q=stones'), /<article lang="zh">/)
    assert.doesNotMatch(await load('/search?q=stones&ui=zh-CN'), /<article lang="zh">/)
  })
  it('page back and forth and keep the filters', async () => {
    const page = await load('/search?q=stone&offset=10&sort=date')
    assert.match(page, /rel="prev"\s+href="\.\/search\?q=stone&amp;sort=date"/)
    assert.match(
      await load('/search?q=stone&sort=date'),
      /rel="next"\s+href="\.\/search\?q=stone&amp;sort=date&amp;offset=10"/,
    )
    assert.doesNotMatch(page, /rel="next"/)
  })
  it('show each filter as a chip that takes it away', async () => {
    const page = await load('/search?q=stones&site=stone.example&-site=b.example')
    assert.match(
      page,
      /href="\.\/search\?q=stones&amp;-site=b\.example"[^>]*>\s*<span class="sr">Remove <\/span\s*>site:stone\.example/,
    )
  })
  it('that are none say what else to try', async () => {
    const page = await load('/search?q=zzz+yyy&site=a.example')
    assert.match(page, /Nothing found for “zzz yyy”/)
    for (const link of ['q=stones', 'q=yyy', 'q=zzz', 'q=zzz\\+yyy"'])
      assert.match(page, new RegExp(`search\\?${link}`))
  })
  it('keep the box filled when something is wrong', async () => {
    server.search.failure = new AppError('overloaded', 'full', { retryAfterS: 1 })
    const busy = await fetch(`${server.url}/search?q=my+words`)
    server.search.failure = null
    assert.equal(busy.status, 503)
    assert.equal(busy.headers.get('retry-after'), '1')
    for (const page of [await busy.text(), await load('/search?q=my+words&offset=5000')]) {
      assert.match(page, /role="alert"/)
      assert.match(page, /value="my words"/)
    }
  })
  it('show warnings of the query', async () => {
    assert.match(await load('/search?q=stone+('), /class="box note"/)
  })
})

describe('The language', () => {
  const cases: [string, Record<string, string>, string][] = [
    ['/', { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' }, 'zh-CN'],
    ['/', { 'accept-language': 'zh-Hant-HK' }, 'zh-TW'],
    ['/', { 'accept-language': 'de, en;q=0.5, zh;q=0.7' }, 'zh-CN'],
    ['/', { 'accept-language': 'fr' }, 'en'],
    ['/', { 'accept-language': ';;q=,,q' }, 'en'],
    ['/', { 'accept-language': 'zh', cookie: 'findling_ui=en' }, 'en'],
    ['/?ui=zh-TW', { cookie: 'findling_ui=en' }, 'zh-TW'],
    ['/?ui=xx', {}, 'en'],
  ]
  for (const [path, headers, language] of cases) {
    it(`is ${language} for ${path} and ${JSON.stringify(headers)}`, async () => {
      assert.ok((await load(path, headers)).includes(`<html lang="${language}"`))
    })
  }
  it('that was chosen stays chosen', async () => {
    const response = await fetch(`${server.url}/?ui=zh-TW`)
    assert.match(response.headers.get('set-cookie') ?? '', /^findling_ui=zh-TW; Path=\//)
    assert.equal((await fetch(`${server.url}/?ui=xx`)).headers.get('set-cookie'), null)
  })
})

describe('Onboarding without scripts', () => {
  const send = (fields: Record<string, string>) =>
    fetch(`${empty.url}/admin/crawl`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(fields),
    })
  it('leads from the pasted address to the progress of its crawl', async () => {
    const answer = await send({
      url: ' example.org/docs/  127.0.0.1:9000/x ',
      scope: 'host',
      key: ` ${key} `,
      maxPages: '100',
    })
    assert.equal(answer.status, 303)
    const { seeds, scope, maxPages } = empty.crawl.specs.at(-1) ?? {}
    assert.deepEqual(seeds, ['https://example.org/docs/', 'http://127.0.0.1:9000/x'])
    assert.deepEqual([scope, maxPages], ['host', 100])
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    const location = new URL(answer.headers.get('location') ?? '', `${empty.url}/admin/crawl`)
    const page = await (await fetch(location, { headers: { cookie } })).text()
    assert.match(page, /<h1>https:\/\/example\.org\/docs\/<\/h1>/)
    assert.match(page, /<noscript\s*><meta http-equiv="refresh" content="3"/)
    assert.match(page, /action="\.\.\/\.\.\/admin\/jobs\/1\/pause"/)
    assert.match(page, /robots 2/)
  })
  it('keeps what was typed, but never the key, when something is wrong', async () => {
    const wrongKey = await send({ url: 'example.org', scope: 'domain', key: 'typed-secret' })
    const wrongUrl = await send({ url: 'ftp://x', scope: 'domain', key })
    const wrongCount = await send({ url: 'example.org', scope: 'domain', key, maxPages: 'many' })
    assert.deepEqual([wrongKey.status, wrongUrl.status, wrongCount.status], [401, 400, 400])
    const page = await wrongKey.text()
    assert.match(page, /role="alert"/)
    assert.match(page, /value="example.org"/)
    assert.match(page, /value="domain"\s+checked/)
    assert.doesNotMatch(page, /typed-secret/)
  })
  it('buttons change the state and come back to the page', async () => {
    const { cookie, csrf } = await signIn(empty.url)
    const press = (verb: string) =>
      fetch(`${empty.url}/admin/jobs/1/${verb}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: empty.url },
        body: new URLSearchParams({ csrf }),
      })
    for (const [verb, state, next] of [
      ['pause', 'paused', 'resume'],
      ['resume', 'running', 'pause'],
      ['stop', 'stopped', 'resume'],
    ]) {
      const answer = await press(verb ?? '')
      assert.equal(answer.headers.get('location'), '../1')
      const page = await load('/admin/jobs/1', { cookie }, empty)
      assert.match(page, new RegExp(`data-state="${state}"`))
      assert.match(page, new RegExp(`jobs/1/${next}"`))
      assert.equal(/http-equiv="refresh"/.test(page), state === 'running')
    }
  })
})

describe('Files', () => {
  it('have their content in their name and may be kept for ever', async () => {
    const page = await load('/')
    const paths = [...page.matchAll(/"\.\/(assets\/[\w-]+\.[\da-f]{12}\.(?:css|js|svg))"/g)].map(
      ([, path]) => path,
    )
    assert.ok(new Set(paths).size >= 3)
    for (const path of new Set(paths)) {
      const file = await fetch(`${server.url}/${path}`)
      assert.equal(file.status, 200)
      assert.match(file.headers.get('cache-control') ?? '', /max-age=31536000, immutable/)
      assert.ok((await file.arrayBuffer()).byteLength > 100)
      const again = await fetch(`${server.url}/${path}`, {
        headers: { 'if-none-match': file.headers.get('etag') ?? '' },
      })
      assert.equal(again.status, 304)
    }
  })
  it('of another content are not there', async () => {
    assert.equal((await fetch(`${server.url}/assets/app.000000000000.css`)).status, 404)
    assert.equal((await fetch(`${server.url}/assets/app.css`)).status, 404)
  })
})
