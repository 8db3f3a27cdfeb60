/** A small site whose access log tells how it was asked: when, in which order, with which conditions. Some of its pages lead on, some answer late. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Asked = {
  path: string
  startMs: number
  endMs: number
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
}
export type WireSite = { url: string; asked: Asked[]; close(): Promise<void> }

export const retryAfterMs = 1_000
const robotsDelayMs = 300
const lastModified = 'Fri, 03 May 2024 08:30:00 GMT'
/** What stands on the first page. `/check` and `/spun` are found by redirects, `/arrived` by a Refresh header. */
const linked = [
  ...Array.from({ length: 6 }, (_, i) => `/tagged/${i}`),
  ...Array.from({ length: 4 }, (_, i) => `/dated/${i}`),
  '/plain',
  '/busy',
  '/gate',
  '/spin',
  '/way',
  '/closed/1',
]

const page = (title: string, links: readonly string[] = []): string => {
  const anchors = links.map((path) => `<a href="${path}">${path}</a>`).join(' ')
  const text = `${title} is a page with words of its own: ${title
    .split('')
    .map((sign) => sign.charCodeAt(0))
    .join(' ')}.`
  return `<!doctype html><html lang="en"><title>${title}</title><body><h1>${title}</h1><p>${text}</p>${anchors}`
}

export async function startWireSite(): Promise<WireSite> {
  const asked: Asked[] = []
  let busyTimes = 0
  const lead = (response: ServerResponse, location: string, cookie?: string): void => {
    if (cookie !== undefined) response.setHeader('set-cookie', cookie)
    response.writeHead(302, { location }).end()
  }
  const condition = (request: IncomingMessage, response: ServerResponse, path: string): void => {
    const etag = `"v1${path}"`
    const isTagged = path.startsWith('/tagged/')
    const isFresh = isTagged
      ? request.headers['if-none-match'] === etag
      : request.headers['if-modified-since'] === lastModified
    if (isTagged) response.setHeader('etag', etag)
    else response.setHeader('last-modified', lastModified)
    if (isFresh) response.writeHead(304).end()
    else response.setHeader('content-type', 'text/html').end(page(path, linked.slice(0, 3)))
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? '/'
    const hasPass = (request.headers.cookie ?? '').includes('pass=')
    const send = (text: string): void => {
      response.setHeader('content-type', 'text/html').end(text)
    }
    if (path === '/robots.txt')
      setTimeout(() => response.end('User-agent: *\nDisallow: /closed/\n'), robotsDelayMs)
    else if (path === '/') send(page('the first page', linked))
    else if (/^\/(tagged|dated)\/\d$/.test(path)) condition(request, response, path)
    else if (path === '/busy' && busyTimes++ === 0)
      response.writeHead(503, { 'retry-after': String(retryAfterMs / 1_000) }).end()
    else if (path === '/gate' && !hasPass) lead(response, '/check?to=/gate')
    else if (path === '/check?to=/gate') lead(response, '/gate', 'pass=1; Path=/')
    else if (path === '/spin') lead(response, '/spun', `turn=${asked.length}; Path=/`)
    else if (path === '/spun') lead(response, '/spin')
    else if (path === '/way') response.writeHead(200, { refresh: '0; url=/arrived' }).end()
    else if (['/plain', '/busy', '/gate', '/arrived'].includes(path)) send(page(path))
    else response.writeHead(404).end()
  }
  const server = createServer((request, response) => {
    const { headers, url: path = '/' } = request
    const entry = { path, startMs: performance.now(), endMs: Infinity, status: 0, headers }
    asked.push(entry)
    response.once('finish', () => {
      Object.assign(entry, { endMs: performance.now(), status: response.statusCode })
    })
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
