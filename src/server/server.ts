/** The door to Fastify: limits, host names, errors, admission of administrators, and the list of routes. Decides nothing about content. */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { adminPageRoutes } from './admin-pages.ts'
import { createGuard } from './auth.ts'
import type { Guard } from './auth.ts'
import { readCookie, readQuery } from './call.ts'
import type { Call, EventStream, Reply, Route } from './call.ts'
import type { CrawlControl, Health, IndexControl, SearchPort } from './control.ts'
import { createProgressEvents } from './events.ts'
import { refuseForeignHost, securityHeaders } from './gate.ts'
import { errorPage } from './layout.ts'
import { pageRoutes } from './pages.ts'
import { asAppError, problemReply, titleOf } from './problem.ts'
import type { PublicFiles } from './public-files.ts'
import { apiRoutes } from './routes.ts'
import { createVisitors, type Visitors } from './visitors.ts'

/** How long a client may take. Fastify's own values hold slow ones for minutes. */
export const timeouts = {
  headersMs: 4000,
  requestMs: 5000,
  /** How often the two above are looked at. */
  checkingMs: 1000,
  keepAliveMs: 5000,
  /** A client that reads nothing for so long is dropped; event streams say something more often. */
  idleMs: 30_000,
}
const headerBytesMax = 8 * 1024
const bodyBytesMax = 1024 * 1024
const parameterCharactersMax = 200
/** Bytes that a listener of events may lag behind before it is dropped. */
const lagBytesMax = 64 * 1024

export type ServerOptions = {
  search: SearchPort
  crawl: CrawlControl
  index: IndexControl
  health: () => Health | Promise<Health>
  /** Of the administrator. */
  key: string
  log: Log
  version: string
  publicFiles: PublicFiles
  /** Names besides IP addresses and localhost under which people reach us, lower case. */
  hostNames: readonly string[]
  /** '' or '/search': where a proxy put us, whether it strips that or not. */
  basePath?: string
  /** Addresses or CIDRs of proxies whose X-Forwarded-For counts. */
  trustedProxies?: readonly string[]
  connectionsMax?: number
  timeouts?: typeof timeouts
  /** Milliseconds of the wall clock. */
  now?: () => number
}
export type Server = {
  /** Returns the address to open, for instance `http://127.0.0.1:8080`. Port 0 = any free one. */
  listen: (host: string, port: number) => Promise<string>
  /** Takes nothing new, ends event streams, waits for answers under way. May be called twice. */
  close: () => Promise<void>
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const
/** Who asks for them searches: the page and the API, behind whatever prefix. */
const searchAddress = /\/search\/?(?:\?|$)/

/** Answers of these addresses are for programs, also when they are errors. */
const forPrograms = /^\/(api|livez|readyz|suggest|openapi\.json|opensearch\.xml)(?=\/|$)/i

const pathOf = (url: string): string => url.split(/[?#]/, 1)[0] ?? ''

function callOf(request: FastifyRequest): Call {
  const header = (name: string): string | undefined => {
    const value = request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }
  return {
    method: request.method,
    path: pathOf(request.url),
    query: request.query instanceof Map ? request.query : new Map(),
    params: (request.params ?? {}) as Record<string, string>,
    body: request.body,
    header,
    cookie: (name) => readCookie(header('cookie'), name),
    address: request.ip,
    requestId: request.id,
  }
}

function send(reply: FastifyReply, answer: Reply): FastifyReply {
  return reply
    .code(answer.status)
    .headers({
      'cache-control': 'private, no-cache',
      ...securityHeaders,
      ...answer.headers,
      'x-request-id': reply.request.id,
    })
    .send(typeof answer.body === 'string' ? answer.body : Buffer.from(answer.body))
}

/** Takes the socket over for as long as the listener stays. */
function sendEvents(reply: FastifyReply, stream: EventStream): void {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...securityHeaders,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const end = (): void => {
    raw.end()
  }
  const stop = stream.open((event) => {
    if (raw.writableLength > lagBytesMax) {
      raw.destroy()
      return false
    }
    return raw.write(event)
  }, end)
  raw.on('close', stop)
  raw.on('error', stop)
}

/** One place where errors become answers, for thrown ones, for Fastify's own and for addresses that cannot be read. */
function createErrorAnswer(options: ServerOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const known = asAppError(error)
    if (known.status >= 500 && known.status !== 503) {
      const cause = known.cause ?? known
      options.log('error', 'request.failed', {
        request: request.id,
        path: pathOf(request.url).slice(0, 200),
        code: known.code,
        error: cause instanceof Error ? (cause.stack ?? cause.message) : known.message,
      })
    }
    const call = callOf(request)
    const wantsJson = forPrograms.test(call.path) || call.header('accept') === 'application/json'
    const answer = wantsJson
      ? problemReply(known, call.path, call.requestId)
      : errorPage(call, known, options.publicFiles)
    void send(reply, answer)
  }
}

/** For bytes that are no HTTP: too large, too slow, malformed. The socket gets one short answer and is closed. */
function refuseClient(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const known: Record<string, string> = {
    ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
    HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  }
  const line = known[error.code ?? ''] ?? '400 Bad Request'
  const body = JSON.stringify({
    type: 'urn:findling:error:bad_input',
    title: titleOf('bad_input'),
    status: Number(line.slice(0, 3)),
    detail: `The request could not be read: ${line.slice(4).toLowerCase()}.`,
    instance: '',
    code: 'bad_input',
    request_id: randomBytes(8).toString('hex'),
  })
  const headers = { ...securityHeaders, 'content-type': 'application/problem+json; charset=utf-8' }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${line}\r\n${head.join('')}Connection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** No route has a schema of Fastify's (json-schema.ts reads ours): without compilers of its own it loads two, 250 KB of code. */
const noCompiler = (): never => {
  throw new Error('no route has a schema of this kind')
}

function createFastify(options: ServerOptions, onError: ReturnType<typeof createErrorAnswer>) {
  const base = options.basePath ?? ''
  const { headersMs, requestMs, checkingMs, keepAliveMs, idleMs } = options.timeouts ?? timeouts
  return fastify({
    logger: false,
    schemaController: {
      compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
    },
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionTimeout: idleMs,
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: checkingMs,
      maxHeaderSize: headerBytesMax,
    },
    bodyLimit: bodyBytesMax,
    trustProxy: options.trustedProxies ? [...options.trustedProxies] : false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomBytes(8).toString('hex'),
    routerOptions: {
      maxParamLength: parameterCharactersMax,
      querystringParser: (encoded) => readQuery(encoded) as unknown as Record<string, unknown>,
    },
    rewriteUrl: ({ url = '/' }) =>
      base !== '' && (url === base || url.startsWith(`${base}/`) || url.startsWith(`${base}?`))
        ? url.slice(base.length).replace(/^(?!\/)/, '/')
        : url,
    frameworkErrors: (error, request, reply) => onError(error, request, reply),
    clientErrorHandler: refuseClient,
  })
}

/** Registers the routes, and for every address all other methods: 405 before a body is read. */
function register(app: FastifyInstance, routes: readonly Route[], admit?: Guard['admit']): void {
  const allowed = new Map<string, string[]>()
  for (const route of routes) {
    const known = allowed.get(route.path) ?? []
    allowed.set(route.path, [
      ...known,
      ...(route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]),
    ])
    app.route({
      method: route.method,
      url: route.path,
      // Before the body is read: a stranger's upload is not even parsed.
      ...(admit ? { onRequest: (request, _reply, done) => (admit(callOf(request)), done()) } : {}),
      handler: async (request, reply) => {
        const answer = await route.handle(callOf(request))
        if (!('open' in answer)) return send(reply, answer)
        if (request.method === 'HEAD') {
          return send(reply, {
            status: 200,
            headers: { 'content-type': 'text/event-stream' },
            body: '',
          })
        }
        sendEvents(reply, answer)
        return reply
      },
    })
  }
  for (const [url, known] of allowed) {
    app.route({
      method: methods.filter((method) => !known.includes(method)),
      url,
      onRequest: (request, reply) => {
        void reply.header('allow', known.join(', '))
        throw new AppError('method_not_allowed', `${request.method} is not possible here.`)
      },
      handler: () => undefined,
    })
  }
}

const fileRoutes = (files: PublicFiles): Route[] =>
  [...files.values()].map((file) => ({
    method: 'GET',
    path: `/${file.path}`,
    handle: (call) => {
      const isKnown = call.header('if-none-match') === file.etag
      return Promise.resolve({
        status: isKnown ? 304 : 200,
        headers: {
          'content-type': file.type,
          'cache-control': 'public, max-age=31536000, immutable',
          etag: file.etag,
        },
        body: isKnown ? '' : file.bytes,
      })
    },
  }))

const parseForm = (_: unknown, body: string, done: (error: null, form: unknown) => void): void =>
  done(null, readQuery(body))

/** Before anything is done for a request. */
function addRequestHook(
  app: ReturnType<typeof createFastify>,
  hostNames: ReadonlySet<string>,
  visitors: Visitors,
  isClosing: () => boolean,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    refuseForeignHost(request.headers.host, hostNames)
    if (isClosing()) {
      void reply.header('connection', 'close')
      throw new AppError('shutting_down', 'The server is closing.', { retryAfterS: 5 })
    }
    if (searchAddress.test(request.url)) visitors.note(request.ip)
    done()
  })
}

/** Why nobody can be served there, and what to do about it. */
function listenError(error: unknown, address: string): unknown {
  const wanted = 'Give another --listen HOST:PORT'
  switch ((error as NodeJS.ErrnoException).code ?? '') {
    case 'EADDRINUSE':
      return new AppError('locked', `${address} is in use by another program.`, {
        remedy: `${wanted}, or stop that program.`,
        cause: error,
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new AppError('io', `${address} is no address of this machine.`, {
        remedy: `${wanted}; 0.0.0.0 stands for all of them.`,
        cause: error,
      })
    case 'EACCES':
      return new AppError('cannot_create', `${address} may not be used.`, {
        remedy: `${wanted}: ports below 1024 need a right of their own (CAP_NET_BIND_SERVICE).`,
        cause: error,
      })
    default:
      return error
  }
}

/** Builds the whole server; nothing is opened before `listen`. */
export function createServer(options: ServerOptions): Server {
  const { crawl, log, publicFiles } = options
  const hostNames: ReadonlySet<string> = new Set(options.hostNames)
  const events = createProgressEvents(crawl)
  const visitors = createVisitors(options.now ?? Date.now)
  const guard = createGuard({
    key: options.key,
    hostNames,
    cookiePath: `${options.basePath ?? ''}/`,
    log,
    now: options.now ?? Date.now,
  })
  const onError = createErrorAnswer(options)
  const app = createFastify(options, onError)
  let isClosing = false

  app.setErrorHandler(onError)
  addRequestHook(app, hostNames, visitors, () => isClosing)
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing at this address.')
  })
  // Scopes, not prefixes, say what a route takes and whom it admits: no spelling of an address gets around them.
  const api = apiRoutes(options, events, visitors)
  const isAdmin = (route: (typeof api)[number]): boolean => route.operation.access === 'admin'
  void app.register((scope, _, done) => {
    scope.removeContentTypeParser('text/plain')
    register(
      scope,
      api.filter((route) => !isAdmin(route)),
    )
    done()
  })
  void app.register((scope, _, done) => {
    scope.removeContentTypeParser('text/plain')
    register(scope, api.filter(isAdmin), guard.admit)
    done()
  })
  void app.register((scope, _, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      parseForm,
    )
    register(scope, [
      ...pageRoutes(options, guard),
      ...adminPageRoutes(options, guard),
      ...fileRoutes(publicFiles),
    ])
    done()
  })
  return {
    async listen(host, port) {
      app.server.maxConnections = options.connectionsMax ?? 1000
      try {
        await app.listen({ host, port })
      } catch (error) {
        throw listenError(error, `${host}:${port}`)
      }
      const { address, family, port: bound } = app.server.address() as AddressInfo
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
    },
    async close() {
      isClosing = true
      events.close()
      await app.close()
    },
  }
}
