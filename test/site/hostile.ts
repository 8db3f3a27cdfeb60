/** Small sites, each with one thing that crawlers stumble over, each on a port of its own; with what must come of it. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Request = {
  path: string
  /** How often this path was asked for, this time included. */
  visit: number
  /** http://127.0.0.1:PORT */
  origin: string
  /** Of the site that nobody may be led to. */
  foreign: string
  headers: IncomingMessage['headers']
}
export type HostileCase = {
  id: string
  /** undefined answers 404. Text is sent as HTML in UTF-8. */
  answer: (request: Request, response: ServerResponse) => string | undefined
  /** Appended to the origin as it stands. */
  seed?: string
  /** Paths of the documents, all of them where `mayStoreMore` is not set. */
  stored: readonly string[]
  mayStoreMore?: boolean
  /** What the text of a document holds. */
  texts?: Readonly<Record<string, string>>
  /** Most requests a path may get; 1 where nothing is said. */
  asked?: Readonly<Record<string, number>>
  /** Most requests of the whole site, robots.txt and all. */
  requestsMax?: number
}

const html = (body: string, head = ''): string =>
  `<!doctype html><html><head><title>t</title>${head}</head><body>${body}</body></html>`
/** Words that no two pages share, so that none is taken for a copy of another. */
export const prose = (topic: string): string => {
  let seed = [...Buffer.from(topic)].reduce((sum, byte) => (sum * 31 + byte) % 2_147_483_647, 7)
  const word = (): string => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed + 2_147_483_647).toString(36).slice(-5)
  }
  return `<p>${topic} ${Array.from({ length: 60 }, word).join(' ')}.</p>`
}
const links = (...to: readonly string[]): string =>
  to.map((href, i) => `<a href="${href}">link ${i}</a>`).join(' ')
const home = (...to: readonly string[]): string => html(prose('home') + links(...to))
const pageAt = (path: string, ...to: readonly string[]): string =>
  html(prose(`page ${path}`) + links(...to))
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const sitemap = (...urls: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`
const lead = (response: ServerResponse, status: number, location: string): undefined => {
  response.writeHead(status, { location }).end()
  return undefined
}
const sendBytes = (response: ServerResponse, bytes: Uint8Array, type?: string): undefined => {
  if (type !== undefined) response.setHeader('content-type', type)
  response.end(bytes)
  return undefined
}
const plain = (response: ServerResponse, text: string): undefined =>
  sendBytes(response, Buffer.from(text), 'text/plain')

/** @param encode text in a charset: the platform has no encoder */
export function hostileCases(encode: (text: string, charset: string) => Uint8Array): HostileCase[] {
  return [
    ...charsetCases(encode),
    ...redirectCases,
    ...addressCases,
    ...listCases,
    ...connectionCases,
    ...trapCases,
    ...markupCases,
  ]
}

const chinese =
  '编程入门：变量、循环和函数是每个初学者都要学会的内容，本页用简单的例子说明怎样求出一组数的最大值和平均值。'

const charsetCases = (
  encode: (text: string, charset: string) => Uint8Array,
): readonly HostileCase[] => {
  const only = (id: string, head: string, charset = 'gb18030'): HostileCase => ({
    id,
    answer: ({ path }, response) =>
      path === '/'
        ? sendBytes(response, encode(html(`<p>${chinese}</p>`, head), charset), 'text/html')
        : undefined,
    stored: ['/'],
    texts: { '/': '循环和函数是每个初学者' },
  })
  return [
    only(
      'charset in a meta that is misspelt',
      '<meta http-equiv="Content-Tpye" content="text/html; charset=iso-8859-1">',
    ),
    only(
      'charset in a meta of mixed case',
      '<META HTTP-EQUIV="Content-TYPE" CONTENT="Text/HTML; CharSet=GB2312">',
    ),
    only('a charset that nobody knows', '<meta charset="x-cp20936">'),
    {
      id: 'a list in GBK, its pages in UTF-8',
      answer: ({ path }, response) => {
        const list = html(`<p>${chinese}</p>${links('/page')}`, '<meta charset="gbk">')
        if (path === '/') return sendBytes(response, encode(list, 'gbk'), 'text/html')
        if (path !== '/page') return undefined
        const text = html(`<p>明细：${chinese}</p>`)
        return sendBytes(response, Buffer.from(text), 'text/html; charset=utf-8')
      },
      stored: ['/', '/page'],
      texts: { '/': '每个初学者', '/page': '明细：编程入门' },
    },
  ]
}

const redirectCases: readonly HostileCase[] = [
  {
    id: 'a redirect to itself that sets a cookie',
    answer: ({ path, headers }, response) => {
      if (path === '/') return home('/self')
      if (path !== '/self') return undefined
      if (headers.cookie?.includes('seen=1') === true) return pageAt(path)
      response.setHeader('set-cookie', 'seen=1; Path=/')
      return lead(response, 302, '/self')
    },
    stored: ['/', '/self'],
    asked: { '/self': 2 },
  },
  {
    id: 'a redirect to itself without end',
    answer: ({ path }, response) => {
      if (path === '/') return home('/self', '/fine')
      if (path === '/self') return lead(response, 302, '/self')
      return path === '/fine' ? pageAt(path) : undefined
    },
    stored: ['/', '/fine'],
    asked: { '/self': 3 },
  },
  {
    id: 'fifty redirects to one page',
    answer: ({ path }, response) => {
      if (path === '/') return home(...numbers(50).map((i) => `/old/${i}`))
      if (path.startsWith('/old/')) return lead(response, 301, '/one')
      return path === '/one' ? pageAt(path) : undefined
    },
    stored: ['/', '/one'],
  },
  {
    id: 'a server that sends home whoever asks for what it has not, a sitemap too',
    answer: ({ path }, response) => {
      if (path === '/robots.txt') return undefined
      if (path === '/') return home(...numbers(20).map((i) => `/old/${i}`), '/one')
      return path === '/one' ? pageAt(path) : lead(response, 302, '/')
    },
    stored: ['/', '/one'],
  },
  {
    id: 'robots.txt behind five redirects',
    answer: ({ path }, response) => {
      const hop = path === '/robots.txt' ? 0 : Number(/^\/hop\/(\d)$/.exec(path)?.[1])
      if (hop < 5) return lead(response, 302, `/hop/${hop + 1}`)
      if (hop === 5) return plain(response, 'User-agent: *\nDisallow: /secret\n')
      if (path === '/') return home('/secret/page', '/open')
      return path === '/open' || path === '/secret/page' ? pageAt(path) : undefined
    },
    stored: ['/', '/open'],
    asked: { '/secret/page': 0 },
  },
  {
    id: 'redirects that never end, from the first page on',
    answer: ({ path }, response) => {
      if (path === '/robots.txt') return plain(response, '')
      const [, kind = '', number = ''] = /^\/(?:(hop|[0-9a-f]{4,})\/(\d+))?$/.exec(path) ?? []
      const next = Number(number) + 1
      // First they count, then every step has a folder of its own.
      return path === '/' || kind === 'hop' || kind !== ''
        ? lead(
            response,
            302,
            next < 40 ? `/hop/${next}` : `/${(next * 48_271).toString(16)}/${next}`,
          )
        : undefined
    },
    stored: [],
    requestsMax: 30,
  },
]

const addressCases: readonly HostileCase[] = [
  {
    id: 'a relative base',
    answer: ({ path }) => {
      if (path === '/') return home('/dir/page')
      if (path === '/dir/page') return html(prose(path) + links('target'), '<base href="sub/">')
      return path === '/dir/sub/target' ? pageAt(path) : undefined
    },
    stored: ['/', '/dir/page', '/dir/sub/target'],
    asked: { '/dir/target': 0 },
  },
  {
    id: 'signs in a query that do not belong there',
    answer: ({ path }) => {
      if (path === '/') return home('/find?q=a|b', '/find?q=%u011f', '/find?q=[x]{y}^z')
      return path.startsWith('/find?') ? pageAt(path) : undefined
    },
    stored: ['/', '/find?q=a|b', '/find?q=%u011f', '/find?q=[x]{y}^z'],
  },
  {
    id: 'an address with blanks around it',
    seed: '/ ',
    answer: ({ path }) => {
      if (path === '/') return home(' /page ', '/page', '\n/pa\tge')
      return path === '/page' ? pageAt(path) : undefined
    },
    stored: ['/', '/page'],
  },
  {
    id: 'a page that every page names as the true one',
    answer: ({ path }) => {
      const head = '<link rel="canonical" href="/">'
      if (path === '/') return html(prose('home') + links('/a', '/b'), head)
      return path === '/a' || path === '/b' ? html(prose(path), head) : undefined
    },
    stored: ['/', '/a', '/b'],
  },
]

const listCases: readonly HostileCase[] = [
  {
    id: 'a sitemap that is called .gz and is none',
    answer: ({ path, origin }, response) => {
      if (path === '/robots.txt') return plain(response, `Sitemap: ${origin}/sitemap.xml.gz\n`)
      if (path === '/sitemap.xml.gz')
        return sendBytes(response, Buffer.from(sitemap(`${origin}/mapped`)), 'application/x-gzip')
      return path === '/' || path === '/mapped' ? pageAt(path) : undefined
    },
    stored: ['/', '/mapped'],
  },
  {
    id: 'an index that names a sitemap twice',
    answer: ({ path, origin }, response) => {
      const place = `<sitemap><loc>${origin}/map.xml</loc></sitemap>`
      if (path === '/sitemap.xml')
        return sendBytes(
          response,
          Buffer.from(`<?xml version="1.0"?><sitemapindex>${place}${place}</sitemapindex>`),
          'text/xml',
        )
      if (path === '/map.xml')
        return sendBytes(response, Buffer.from(sitemap(`${origin}/mapped`)), 'text/xml')
      return path === '/' || path === '/mapped' ? pageAt(path) : undefined
    },
    stored: ['/', '/mapped'],
  },
  {
    id: 'a sitemap that lists another host',
    answer: ({ path, origin, foreign }, response) => {
      if (path === '/sitemap.xml') {
        const map = sitemap(`${foreign}/mapped`, `${origin}/mapped`)
        return sendBytes(response, Buffer.from(map), 'text/xml')
      }
      return path === '/' || path === '/mapped' ? pageAt(path) : undefined
    },
    stored: ['/', '/mapped'],
  },
]

const connectionCases: readonly HostileCase[] = [
  {
    id: 'a chunked body that is cut off',
    answer: ({ path }, response) => {
      if (path === '/') return home('/cut')
      if (path !== '/cut') return undefined
      response.setHeader('content-type', 'text/html')
      response.write(`<title>cut</title>${prose('what came before the cut')}`)
      setTimeout(() => response.destroy(), 50)
      return undefined
    },
    stored: ['/', '/cut'],
    texts: { '/cut': 'what came before the cut' },
    asked: { '/cut': 4 },
  },
  {
    id: 'a connection that dies under a request',
    answer: ({ path, visit }, response) => {
      if (path === '/') return home('/a', '/b', '/c')
      if (visit === 1 && path === '/b') response.destroy()
      return /^\/[abc]$/.test(path) ? pageAt(path) : undefined
    },
    stored: ['/', '/a', '/b', '/c'],
    asked: { '/b': 2 },
  },
  {
    id: 'a type that is none',
    answer: ({ path }, response) => {
      if (path === '/') return home('/odd')
      return path === '/odd' ? sendBytes(response, Buffer.from(pageAt(path)), 'html') : undefined
    },
    stored: ['/', '/odd'],
  },
  {
    id: 'a coding that is a charset',
    answer: ({ path }, response) => {
      if (path !== '/') return undefined
      response.setHeader('content-encoding', 'UTF-8')
      return pageAt(path)
    },
    stored: ['/'],
  },
]

const menu = ['about', 'contact', 'delivery', 'help', 'news', 'offers'].map((name) => `${name}/`)

const trapCases: readonly HostileCase[] = [
  {
    id: 'a query that grows without end',
    answer: ({ path }) => {
      if (path === '/') return home('/list?p=1', ...numbers(5).map((i) => `/page/${i}`))
      if (path.startsWith('/list?'))
        return html(`<p>The list of all things, ever the same.</p>${links(`${path}&p=1`)}`)
      return path.startsWith('/page/') ? pageAt(path) : undefined
    },
    stored: ['/', ...numbers(5).map((i) => `/page/${i}`)],
    mayStoreMore: true,
    requestsMax: 60,
  },
  {
    id: 'a path that repeats itself without end',
    answer: ({ path }) => {
      if (path === '/') return home('/a/', ...numbers(5).map((i) => `/page/${i}`))
      if (path.startsWith('/a/')) return html(`<p>The same folder once more.</p>${links('a/')}`)
      return path.startsWith('/page/') ? pageAt(path) : undefined
    },
    stored: ['/', ...numbers(5).map((i) => `/page/${i}`)],
    mayStoreMore: true,
    requestsMax: 40,
  },
  {
    id: 'a page of errors at every address, its menu relative to it',
    answer: ({ path }, response) => {
      if (path === '/robots.txt' || path === '/sitemap.xml') return undefined
      if (path === '/') return home('/gone/', ...numbers(5).map((i) => `/page/${i}`))
      if (path.startsWith('/page/')) return pageAt(path)
      response.statusCode = 200
      return html(`<p>Nothing is here, try the menu.</p>${links(...menu)}`)
    },
    stored: ['/', ...numbers(5).map((i) => `/page/${i}`)],
    mayStoreMore: true,
    requestsMax: 200,
  },
  {
    id: 'a session in brackets, another in each link',
    answer: ({ path }) => {
      if (path === '/') return home('/(S(lit3py55t21z5v55vlm25s55))/1.aspx')
      const n = /^\/\(S\(\w+\)\)\/(\d)\.aspx$/.exec(path)?.[1]
      const sessions = numbers(3).map(
        (i) => `/(S(${randomUUID().replaceAll('-', '').slice(8)}))/${i}.aspx`,
      )
      return n === undefined ? undefined : html(prose(`room ${n}`) + links(...sessions))
    },
    stored: ['/'],
    mayStoreMore: true,
    requestsMax: 100,
  },
  {
    id: 'pages that all link to each other',
    answer: ({ path }) => {
      const all = numbers(25).map((i) => `/page/${i}`)
      if (path === '/') return home(...all)
      return all.includes(path) ? pageAt(path, ...all, '/') : undefined
    },
    stored: ['/', ...numbers(25).map((i) => `/page/${i}`)],
  },
]

const markupCases: readonly HostileCase[] = [
  {
    id: 'a page that renews itself',
    answer: ({ path }) => {
      if (path === '/') return home('/ticker', '/clock')
      if (path === '/ticker') return html(prose(path), '<meta http-equiv="refresh" content="1">')
      return path === '/clock'
        ? html(prose(path), `<meta content="0; URL='/clock'" http-equiv="Refresh">`)
        : undefined
    },
    stored: ['/', '/ticker', '/clock'],
  },
  {
    id: 'a page without html and body, and one with a canvas',
    answer: ({ path }) => {
      if (path === '/') return `<title>bare</title><p>bare words</p>${links('/canvas')}`
      return path === '/canvas' ? html(`<canvas></canvas>${prose(path)}`) : undefined
    },
    stored: ['/', '/canvas'],
    texts: { '/': 'bare words' },
  },
]

export type HostileSite = {
  id: string
  origin: string
  expected: HostileCase
  /** By path, robots.txt and what nobody asked for included. */
  asked: Map<string, number>
}
export type HostileWeb = { sites: HostileSite[]; foreignAsked: string[]; close(): Promise<void> }

export async function startHostileWeb(cases: readonly HostileCase[]): Promise<HostileWeb> {
  const foreignAsked: string[] = []
  const servers = [
    createServer((request, response) => {
      foreignAsked.push(request.url ?? '')
      response.end('nobody should be here')
    }),
  ]
  const listen = (server: ReturnType<typeof createServer>): Promise<string> =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      )
    })
  const [stranger] = servers
  const foreign = stranger === undefined ? '' : await listen(stranger)
  const sites: HostileSite[] = []
  for (const expected of cases) {
    const site: HostileSite = { id: expected.id, origin: '', expected, asked: new Map() }
    const server = createServer(({ url: path = '/', headers }, response) => {
      const visit = (site.asked.get(path) ?? 0) + 1
      site.asked.set(path, visit)
      const request = { path, visit, origin: site.origin, foreign, headers }
      const text = expected.answer(request, response)
      if (response.headersSent || response.writableEnded || response.destroyed) return
      if (text === undefined) response.writeHead(404).end()
      else response.setHeader('content-type', 'text/html; charset=utf-8').end(text)
    })
    servers.push(server)
    site.origin = await listen(server)
    sites.push(site)
  }
  const stop = (server: ReturnType<typeof createServer>): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    sites,
    foreignAsked,
    close: async () => void (await Promise.all(servers.map(stop))),
  }
}
