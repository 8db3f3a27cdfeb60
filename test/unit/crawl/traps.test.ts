/** Sites without end: the real pages are all fetched, the traps are bounded; lists, feeds and what a host teaches. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openCrawl, runToEnd, spec, words, type Answer } from './crawl-fixture.ts'

const origin = 'http://a.test'
const realPages = 300
const real = (n: number): string => `${origin}/articles/${n}.html`
const realUrls = Array.from({ length: realPages }, (_, n) => real(n))
/** Words of letters alone, in lines: figures are folded where pages of a shape are compared. */
const prose = (seed: string): string => {
  const name = seed.replace(/\d/g, (figure) => 'abcdefghij'[Number(figure)] ?? '')
  const letters = (i: number): string =>
    ((i * 7919) % 263).toString(2).replaceAll('0', 'o').replaceAll('1', 'i')
  const all = Array.from({ length: 120 }, (_, i) => name + letters(i))
  return all.map((word, i) => word + (i % 10 === 9 ? '\n' : ' ')).join('')
}
/** Article n leads to the next ones, and into the trap. */
const article = (n: number, ...more: string[]): Answer => ({
  text: prose(`article${n}x`),
  links: [real(n + 1), real(n + 7), ...more].filter((url) => url !== real(realPages)),
})

/** A web of real pages with a trap beside them; `trap` answers everything else. */
const trapped =
  (entrance: (n: number) => string[], trap: (url: URL) => Answer | undefined) =>
  (url: string): Answer | undefined => {
    const number = /\/articles\/(\d+)\.html$/.exec(url)?.[1]
    if (number !== undefined && Number(number) < realPages)
      return article(Number(number), ...entrance(Number(number)))
    return trap(new URL(url))
  }

type Trap = {
  name: string
  /** Requests that are not for real pages. */
  requestsMax: number
  entrance: (n: number) => string[]
  trap: (url: URL) => Answer | undefined
}

const facets = ['colour', 'size', 'brand', 'price', 'order']
const items = Array.from({ length: 60 }, (_, i) => prose(`item${i}y`).split('\n', 1)[0] ?? '')

const menu = ['about', 'contact', 'delivery', 'help', 'news', 'offers', 'returns', 'stores']
let sessions = 0
/** 24 letters and figures, as some servers write them into the path. */
const session = (): string =>
  Array.from({ length: 4 }, () =>
    ((++sessions * 48_271) % 2_176_782_336).toString(36).padStart(6, '0'),
  ).join('')

const traps: readonly Trap[] = [
  {
    name: 'a calendar that goes on for ever both ways',
    requestsMax: 150,
    entrance: () => [`${origin}/calendar?year=2026&month=6`],
    trap({ pathname, searchParams }) {
      if (pathname !== '/calendar') return undefined
      const at = Number(searchParams.get('year')) * 12 + Number(searchParams.get('month'))
      const to = (month: number): string =>
        `${origin}/calendar?year=${Math.floor(month / 12)}&month=${month % 12}`
      return {
        text: `Events of month ${at % 12} of ${Math.floor(at / 12)}\nThere is nothing on.\n1 2 3 4 5 6 7`,
        links: [to(at + 1), to(at - 1), to(at + 12)],
      }
    },
  },
  {
    name: 'days and months in the path that lead to each other',
    requestsMax: 800,
    entrance: () => [`${origin}/days/2026/6/1`],
    trap({ pathname }) {
      const [, kind, year = 0, month = 0, day = 0] = /^\/(days|months)\/(\d+)\/(\d+)(?:\/(\d+))?$/
        .exec(pathname)
        ?.map((part) => (/^\d+$/.test(part) ? Number(part) : part)) ?? ['', '']
      if (kind === '') return undefined
      const [y, m, d] = [Number(year), Number(month), Number(day)]
      const months = [`${origin}/months/${y}/${m + 1}`, `${origin}/months/${y + 1}/${m}`]
      const days = [`${origin}/days/${y}/${m}/${d + 1}`, `${origin}/days/${y}/${m}/${d + 2}`]
      return {
        text: `${kind} ${y} ${m} ${d}\nNothing planned`,
        links: kind === 'days' ? [...days, ...months] : [...months, `${origin}/days/${y}/${m}/1`],
      }
    },
  },
  {
    name: 'facets in every combination',
    requestsMax: 1_500,
    entrance: () => [`${origin}/shop`],
    trap({ pathname, searchParams, search }) {
      if (pathname !== '/shop') return undefined
      const chosen = [...searchParams.keys()]
      const links = facets
        .filter((facet) => !chosen.includes(facet))
        .flatMap((facet) =>
          [0, 1, 2, 3].map(
            (value) => `${origin}/shop${search === '' ? '?' : `${search}&`}${facet}=${value}`,
          ),
        )
      const skip = Array.from(search).reduce((sum, letter) => sum * 3 + letter.charCodeAt(0), 0)
      return { text: items.filter((_, i) => (skip >> (i % 20)) & 1).join('\n'), links }
    },
  },
  {
    name: 'a query that grows with every click',
    requestsMax: 200,
    entrance: (n) => [`${origin}/list?from=${n % 3}`],
    trap({ pathname, search }) {
      if (pathname !== '/list' || search.length > 1_900) return undefined
      const more = [1, 2].map((n) => `${origin}/list${search}&filter${n}=${search.length}`)
      return { text: `A list of things\nthat are always the same`, links: more }
    },
  },
  {
    name: 'a link relative to its own folder',
    requestsMax: 150,
    entrance: () => [`${origin}/deep/a/`],
    trap: ({ pathname }) =>
      pathname.startsWith('/deep/')
        ? {
            text: 'The same folder again',
            links: [`${origin}${pathname}a/`, `${origin}${pathname}b/a/`],
          }
        : undefined,
  },
  {
    name: 'a session in brackets, another in each link',
    requestsMax: 150,
    entrance: () => [`${origin}/(S(lit3py55t21z5v55vlm25s55))/1.aspx`],
    trap({ pathname }) {
      const n = /^\/\(S\(\w+\)\)\/(\d)\.aspx$/.exec(pathname)?.[1]
      if (n === undefined) return undefined
      const links = [1, 2, 3].map((to) => `${origin}/(S(${session()}))/${to}.aspx`)
      return { text: prose(`room${n}x`), links }
    },
  },
  {
    name: 'a page of errors at every address, with the links of a menu relative to it',
    requestsMax: 300,
    entrance: () => [`${origin}/shop/`],
    trap: ({ pathname }) =>
      pathname.startsWith('/shop/')
        ? {
            text: 'Nothing is here\nPerhaps the menu leads you on',
            links: menu.map((name) => `${origin}${pathname}${name}/`),
          }
        : undefined,
  },
  {
    name: 'one page at every address, with names of letters that were never there before',
    requestsMax: 300,
    entrance: () => [`${origin}/tale/begin`],
    trap({ pathname }) {
      if (!pathname.startsWith('/tale/')) return undefined
      const name = (): string =>
        session().replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '')
      const links = [`${origin}/tale/${name()}`, `${origin}${pathname}/${name()}`]
      return {
        text: 'The same tale at every address',
        links: [...links, `${origin}/tale/${name()}`],
      }
    },
  },
]

describe('a site with a trap', () => {
  for (const { name, requestsMax, entrance, trap } of traps) {
    it(`is fetched whole, and the trap is bounded: ${name}`, async () => {
      const { crawl, asked, store } = openCrawl(trapped(entrance, trap), {
        batchPages: 50,
        batchMs: 5,
      })
      const job = await runToEnd(crawl, spec([real(0)]))
      assert.equal(job.state, 'done')
      assert.equal(new Set(asked).size, asked.length, 'nothing was asked for twice')
      const missing = realUrls.filter((url) => !asked.includes(url))
      assert.deepEqual(missing, [])
      const trapRequests = asked.length - realPages
      assert.ok(trapRequests > 10, 'the trap was tried')
      assert.ok(trapRequests <= requestsMax, `${trapRequests} requests`)
      const documents = store.stats().documents
      assert.ok(documents >= realPages, `${documents} documents`)
    })
  }

  it('holds no page back that a list or a page of another shape leads to, however alike they are', async () => {
    // Exercises that differ in their numbers only, each linked from the index as well as from its neighbour.
    const exercises = Array.from({ length: 200 }, (_, n) => `${origin}/exercise/${n}`)
    const { crawl, asked } = openCrawl((url) => {
      if (url === `${origin}/`) return { text: prose('index'), links: exercises }
      const n = Number(/\/exercise\/(\d+)$/.exec(url)?.[1] ?? NaN)
      if (!(n < 200)) return undefined
      return {
        text: `Exercise ${n}\nHow much is ${n} and ${n * 7}?`,
        links: [`${origin}/exercise/${n + 1}`],
      }
    })
    await runToEnd(crawl, spec([`${origin}/`]))
    assert.deepEqual(
      exercises.filter((url) => !asked.includes(url)),
      [],
    )
  })

  it('goes on behind folders that all say the same, where each leads to something new', async () => {
    const folders = Array.from({ length: 150 }, (_, n) => `${origin}/${n.toString(36)}x/`)
    const { crawl, asked } = openCrawl((url) => {
      if (url === `${origin}/`) return { text: prose('index'), links: folders }
      if (folders.includes(url)) return { text: 'Contents and text', links: [`${url}text`] }
      return url.endsWith('x/text') ? { text: prose(url) } : undefined
    })
    await runToEnd(crawl, spec([`${origin}/`]))
    assert.deepEqual(
      folders.filter((url) => !asked.includes(`${url}text`)),
      [],
    )
  })

  it('goes on from picture to picture of a gallery that has no words but titles', async () => {
    const name = (n: number): string => n.toString(2).replaceAll('0', 'o').replaceAll('1', 'i')
    const pictures = Array.from({ length: 60 }, (_, n) => `${origin}/pictures/${name(n)}`)
    const { crawl, asked } = openCrawl((url) => {
      const at = url === `${origin}/` ? -1 : pictures.indexOf(url)
      const next = pictures[at + 1]
      const links = next === undefined ? [] : [next]
      return { text: 'Next picture', title: `Picture ${name(at + 1)}`, links }
    })
    await runToEnd(crawl, spec([`${origin}/`]))
    assert.deepEqual(
      pictures.filter((url) => !asked.includes(url)),
      [],
    )
  })

  it('puts aside what it will not fetch, with the reason, and takes it up again when told so', async () => {
    const [calendar] = traps
    assert.ok(calendar)
    const web = trapped(calendar.entrance, calendar.trap)
    const { crawl, asked, store, rules } = openCrawl(web)
    await runToEnd(crawl, spec([real(0)]))
    const [shape] = store.learned(10).shapes
    assert.ok(shape)
    assert.deepEqual(
      [shape.origin, shape.shape, shape.state],
      [origin, '/calendar?month&year', 'closed'],
    )
    const host = store.host(origin)
    assert.ok(host)
    const aside = store.asideAfter(host.id, 'trap', 0, 1_000)
    assert.ok(aside.length > 0)
    const before = asked.length
    assert.ok(!rules.decide(origin, { shape: '/nothing' }, 'kept'))
    crawl.decideRule(origin, { shape: shape.shape }, 'kept')
    await runToEnd(crawl, spec([real(0)], { maxPages: job(crawl) + 200 }))
    assert.ok(asked.length > before + 100, `${asked.length - before} more`)
    assert.equal(store.learned(10).shapes[0]?.state, 'kept')
  })
})

const job = (crawl: { jobs(): { counts: { stored: number } }[] }): number =>
  crawl.jobs()[0]?.counts.stored ?? 0

describe('parameters', () => {
  /** Twenty pages that link each other, each link with a new value of `name`. */
  const tagged = (name: string, differ: boolean) => {
    let tag = 0
    return (url: string): Answer | undefined => {
      const { pathname, searchParams } = new URL(url)
      const path = pathname.split(';', 1)[0] ?? ''
      const n = Number(/^\/p(\d+)$/.exec(path)?.[1] ?? NaN)
      if (!(n < 20)) return undefined
      const link = (to: number): string => {
        const value = differ ? (to * 7) % 5 : (tag += 1).toString(36)
        return name.startsWith(';')
          ? `${origin}/p${to % 20}${name}=${value}`
          : `${origin}/p${to % 20}?id=${to % 20}&${name}=${value}`
      }
      const text = prose(`page${n}${differ ? (searchParams.get(name) ?? '') : ''}z`)
      return { text, links: [link(n + 1), link(n + 2), link(n + 3)] }
    }
  }
  for (const name of [';jsessionid', 'token', 'utm_source']) {
    it(`${name} is learned to change nothing, and dropped`, async () => {
      const { crawl, asked, store } = openCrawl(tagged(name, false), { batchPages: 5, batchMs: 5 })
      await runToEnd(crawl, spec([`${origin}/p0`]))
      assert.deepEqual(
        store.learned(9).parameters.map((row) => [row.name, row.state]),
        [[name, 'closed']],
      )
      for (let n = 0; n < 20; n++)
        assert.ok(
          asked.some((url) => new RegExp(`/p${n}(?!\\d)`).test(url)),
          `page ${n} was asked for`,
        )
      assert.ok(asked.length < 90, `${asked.length} requests`)
    })
  }
  it('that change the page are kept', async () => {
    const { crawl, store, asked } = openCrawl(tagged('view', true), { batchPages: 5, batchMs: 5 })
    await runToEnd(crawl, spec([`${origin}/p0`]))
    assert.deepEqual(store.learned(9).parameters, [])
    assert.ok(asked.length > 20)
  })
})

describe('lists', () => {
  const entry = (path: string, lastmod = ''): string =>
    `<url><loc>${origin}${path}</loc>${lastmod === '' ? '' : `<lastmod>${lastmod}</lastmod>`}</url>`
  const web = (): Record<string, Answer> => ({
    [`${origin}/`]: { text: words('home'), feeds: [`${origin}/feed`] },
    [`${origin}/index.xml`]: {
      list: `<sitemapindex><sitemap><loc>${origin}/one.xml</loc></sitemap><sitemap><loc>${origin}/index.xml</loc></sitemap></sitemapindex>`,
    },
    [`${origin}/one.xml`]: {
      list: `<urlset>${entry('/orphan')}${entry('/old', '2020-01-01')}<url><loc>http://b.test/foreign</loc></url></urlset>`,
    },
    [`${origin}/feed`]: { list: `<rss><channel><item><link>/news</link></item></channel></rss>` },
    [`${origin}/orphan`]: { text: words('orphan') },
    [`${origin}/old`]: { text: words('old') },
    [`${origin}/news`]: { text: words('news') },
  })
  const sitemaps = [`${origin}/index.xml`]

  it('lead to pages in scope that no page links to, each list read once, none of them a document', async () => {
    const { crawl, asked, urls } = openCrawl(web(), {}, { sitemaps })
    await runToEnd(crawl, spec([`${origin}/`]))
    assert.deepEqual(
      urls(),
      ['/', '/news', '/old', '/orphan'].map((path) => origin + path),
    )
    assert.equal(asked.filter((url) => url.endsWith('.xml')).length, 2)
    assert.ok(!asked.includes('http://b.test/foreign'))
  })
  it('are not asked for where one page or nothing but the seed is wanted', async () => {
    for (const change of [{ scope: 'page' }, { depth: 0 }] as const) {
      const { crawl, asked } = openCrawl(web(), {}, { sitemaps })
      await runToEnd(crawl, spec([`${origin}/`], change))
      assert.deepEqual(asked, [`${origin}/`])
    }
  })
  it('are tried at the usual place where none is named and that is allowed', async () => {
    for (const [setting, expected] of [
      ['auto', 1],
      ['named', 0],
      ['off', 0],
    ] as const) {
      const { crawl, asked } = openCrawl(web(), { sitemaps: setting })
      await runToEnd(crawl, spec([`${origin}/`]))
      assert.equal(asked.filter((url) => url === `${origin}/sitemap.xml`).length, expected, setting)
    }
  })
  it('that send home are none, and cost no home page; to a list of another name they lead', async () => {
    const pages: Record<string, Answer> = {
      [`${origin}/`]: { text: words('home'), links: [`${origin}/a`] },
      [`${origin}/a`]: { text: words('a'), feeds: [`${origin}/`, `${origin}/b`] },
      [`${origin}/b`]: { text: words('b') },
      [`${origin}/sitemap.xml`]: { to: `${origin}/` },
      [`${origin}/old-sitemap.xml`]: { to: `${origin}/wp-sitemap.xml` },
      [`${origin}/wp-sitemap.xml`]: { list: `<urlset>${entry('/listed')}</urlset>` },
      [`${origin}/map.xml`]: { to: `${origin}/only-here` },
      [`${origin}/only-here`]: { text: words('only') },
      [`${origin}/listed`]: { text: words('listed') },
    }
    const named = ['/sitemap.xml', '/old-sitemap.xml', '/map.xml'].map((path) => origin + path)
    const { crawl, urls } = openCrawl(pages, {}, { sitemaps: named })
    await runToEnd(crawl, spec([`${origin}/`]))
    assert.deepEqual(
      urls(),
      ['/', '/a', '/listed', '/only-here'].map((path) => origin + path),
    )
  })
  it('make a page due that they say has changed since the last visit, and no other', async () => {
    let nowMs = Date.UTC(2026, 0, 1)
    const pages = web()
    const { crawl, asked } = openCrawl(pages, {}, { sitemaps, now: () => nowMs++ })
    await runToEnd(crawl, spec([`${origin}/`]))
    const first = asked.length
    // The lists fall due; one page is said to have changed a minute ago.
    nowMs += 25 * 3_600_000
    const changed = new Date(nowMs - 60_000).toISOString()
    pages[`${origin}/one.xml`] = {
      list: `<urlset>${entry('/orphan')}${entry('/old', changed)}</urlset>`,
    }
    pages[`${origin}/old`] = { text: words('renewed') }
    await runToEnd(crawl, spec([`${origin}/`]))
    assert.ok(asked.slice(first).includes(`${origin}/old`))
  })
})
