/** A small local web to crawl: ordinary pages and faults by path, an access log, and the list of what must come of it. `node test/site/site.ts [PORT]` serves it. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { faultsOf } from './faults.ts'
import type { Fault, Reply } from './faults.ts'
import { htmlPage } from './html.ts'
import { buildLibrary } from './library.ts'
import type { Library, LibraryPage } from './library.ts'

export type SiteOptions = {
  seed: number
  /** Pages with text; lists, copies and faults come on top. At most 4000. */
  pages: number
  /** 0 = any free port. */
  port?: number
  /** Names of faults.ts; default: all that end by themselves within seconds (not hang, huge, bomb, heavy, error). */
  faults?: readonly string[]
  /** Before every answer. */
  delayMs?: number
}
export type Visit = {
  /** With its query, as it came. */
  path: string
  /** Since the start of the site. */
  timeMs: number
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
}
/** Absolute URLs, sorted. */
export type Expected = {
  /** The documents of an index of this site, copies included. */
  stored: readonly string[]
  /** Asked for, perhaps, but never stored. */
  refused: readonly string[]
  /** Never asked for. */
  never: readonly string[]
  /** Known to the site map alone: no link leads there. */
  mapped: readonly string[]
  exactCopies: readonly (readonly string[])[]
  nearCopies: readonly (readonly string[])[]
  bounded: readonly { prefix: string; requestsMax: number }[]
  /** A word to search for, and the page it stands on (copies aside). */
  marks: readonly { mark: string; url: string; script: LibraryPage['script'] }[]
}
export type Site = {
  /** Ends with a slash. */
  url: string
  requests: readonly Visit[]
  /** What the neighbour, which is out of scope, was asked for. */
  foreignRequests: readonly string[]
  expected(): Expected
  close(): Promise<void>
}

/** The faults that need long timeouts, big bodies or many retries. A test that wants them names them. */
const costly = new Set(['hang', 'huge', 'bomb', 'heavy', 'error'])
const requestsKeptMax = 200_000

export async function startSite(options: SiteOptions): Promise<Site> {
  const names = chosenFaults(options.faults)
  const foreignRequests: string[] = []
  const foreign = createServer((request, response) => {
    foreignRequests.push(request.url ?? '')
    response.end('nobody should be here')
  })
  await listen(foreign, 0)
  const all = faultsOf(originOf(foreign))
  const faults = names.flatMap((name) => all[name] ?? [])
  const library = buildLibrary(options.seed, options.pages)
  const startedMs = performance.now()
  const requests: Visit[] = []
  const visits = new Map<string, number>()
  const server = createServer((request, response) => {
    const target = request.url ?? '/'
    const visit = (visits.get(target) ?? 0) + 1
    visits.set(target, visit)
    const reply = answer(target, visit, request)
    if (requests.length >= requestsKeptMax) requests.shift()
    const timeMs = performance.now() - startedMs
    requests.push({ path: target, timeMs, status: reply.status ?? 200, headers: request.headers })
    const delayMs = (options.delayMs ?? 0) + (reply.delayMs ?? 0)
    if (delayMs === 0) send(request, response, reply)
    else setTimeout(() => send(request, response, reply), delayMs)
  })
  await listen(server, options.port ?? 0)
  const origin = originOf(server)
  const answer = answerer(library, faults, origin)
  return {
    url: `${origin}/`,
    requests,
    foreignRequests,
    expected: () => expectedOf(origin, originOf(foreign), library, faults),
    close: async () => {
      await Promise.all([stop(server), stop(foreign)])
    },
  }
}

/** Checked before anything listens, so that a wrong name leaves nothing open. */
function chosenFaults(wanted: readonly string[] | undefined): string[] {
  const known = Object.keys(faultsOf(''))
  const wrong = wanted?.find((name) => !known.includes(name))
  if (wrong !== undefined) throw new RangeError(`no fault is called ${wrong}`)
  return known.filter((name) => wanted?.includes(name) ?? !costly.has(name))
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
const originOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const startPage = (): string =>
  htmlPage({
    script: 'en',
    title: 'A small web for tests',
    paragraphs: [
      'Three shelves of pages in three scripts, and one room with everything that goes wrong.',
    ],
    links: ['/en/', '/hans/', '/hant/', '/faults/'].map((href) => ({ href, text: href })),
  })
const faultsPage = (faults: readonly Fault[]): string =>
  htmlPage({
    script: 'en',
    title: 'Everything that goes wrong',
    paragraphs: ['Each link of this list leads to one thing that crawlers got wrong before.'],
    links: faults.flatMap(({ links }) => links.map((href) => ({ href, text: href }))),
  })

type Answerer = (target: string, visit: number, request: IncomingMessage) => Reply

function answerer(library: Library, faults: readonly Fault[], origin: string): Answerer {
  const bodies = new Map(library.pages.map(({ path, html }) => [path, html]))
  bodies.set('/', startPage())
  bodies.set('/faults/', faultsPage(faults))
  const answers = new Map(faults.flatMap((fault) => Object.entries(fault.answers)))
  const plain = { 'content-type': 'text/plain' }
  const robots = `User-agent: *\nDisallow: /private/\nSitemap: ${origin}/sitemap.xml\n`
  const entries = faults.flatMap(({ mapped = [] }) => mapped)
  const sitemap = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries
    .map((path) => `<url><loc>${origin}${path}</loc></url>`)
    .join('')}</urlset>`
  return (target, visit, request) => {
    const [path = '/', query = ''] = target.split('?')
    if (path === '/robots.txt') return { headers: plain, body: robots }
    if (path === '/sitemap.xml') return { headers: { 'content-type': 'text/xml' }, body: sitemap }
    const special = answers.get(path)
    if (special) return special({ visit, query })
    const body = bodies.get(path)
    if (body === undefined) return { status: 404, headers: plain, body: 'There is no such page.' }
    const etag = `"${createHash('sha1').update(body).digest('hex').slice(0, 16)}"`
    if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
    return { headers: { 'content-type': 'text/html; charset=utf-8', etag }, body }
  }
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const { status = 200, headers = {}, body = '', ending = 'whole' } = reply
  if (ending === 'hang') return
  response.writeHead(status, headers)
  if (ending === 'whole') response.end(body)
  else if (ending === 'cut')
    response.write(body, () => setTimeout(() => request.socket.destroy(), 5))
  else pour(response, body)
}

/** The same piece again and again, as fast as it is read, until the reader has enough. */
function pour(response: ServerResponse, piece: string | Uint8Array): void {
  const more = (): void => {
    if (response.destroyed) return
    if (response.write(piece)) setImmediate(more)
    else response.once('drain', more)
  }
  more()
}

function expectedOf(
  origin: string,
  foreign: string,
  library: Library,
  faults: readonly Fault[],
): Expected {
  const absolute = (paths: readonly string[]): string[] =>
    paths.map((path) => `${origin}${path}`).toSorted()
  return {
    stored: absolute([
      '/',
      '/faults/',
      ...library.pages.map(({ path }) => path),
      ...faults.flatMap(({ stored }) => stored),
    ]),
    refused: absolute(faults.flatMap(({ refused = [] }) => refused)),
    never: [...absolute(faults.flatMap(({ never = [] }) => never)), `${foreign}/linked.html`],
    mapped: absolute(faults.flatMap(({ mapped = [] }) => mapped)),
    exactCopies: library.exactCopies.map(absolute),
    nearCopies: library.nearCopies.map(absolute),
    bounded: faults.flatMap(({ bounded }) => (bounded ? [bounded] : [])),
    marks: library.pages.flatMap(({ mark, path, script }) =>
      mark === null || path.startsWith('/mirror/')
        ? []
        : [{ mark, url: `${origin}${path}`, script }],
    ),
  }
}

async function main(): Promise<void> {
  const site = await startSite({ seed: 1, pages: 300, port: Number(process.argv[2] ?? 0) })
  console.log(site.url)
}

if (import.meta.main) await main()
