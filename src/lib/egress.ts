/** The one door out: guarded HTTP requests with deadlines and byte caps. Follows no redirect, decodes no body, knows no page. */
import assert from 'node:assert'
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP, type BlockList, type LookupFunction, type Socket } from 'node:net'
import { callbackify } from 'node:util'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { isIn, isThisMachine, rangeList, special, withWrapped } from './addresses.ts'
import { Deadline } from './deadline.ts'
import { asProxyFault, codeOf, isUnreadable, noSuchHost, reasonOf } from './egress-errors.ts'
import { collectReply, lenientHeadBytesMax, readReply } from './lenient-http.ts'
import { plainHeaders, receive, type Received } from './receive.ts'
import { remember } from './remember.ts'
import { openTunnel, parseProxy, proxyAuthorization, type Proxy } from './tunnel.ts'

export type EgressRequest = {
  /** Lower-case names. `user-agent` is added where it is missing. */
  headers: Readonly<Record<string, string>>
  /** From the call to the last byte, whatever trickles in between. */
  totalTimeoutMs: number
  headersTimeoutMs: number
  /** Of the body as received. */
  wireBytesMax: number
  /** Keeps the first `wireBytesMax` bytes of a longer body; otherwise it is dropped, at once where its length is announced. */
  keepsCapped?: boolean
  /** Is the body worth reading? By default any is. A short one is drained, so that the connection can be used again. */
  wantsBody?: (status: number, headers: Readonly<Record<string, string>>) => boolean
  signal?: AbortSignal
  /** A POST of this instead of a GET. It is never repeated. */
  post?: { type: string; body: string }
  /**
   * Through this proxy (a URL, as crawl/source-http.ts checks it), which an operator named: its own address may be private. A target that is
   * an address is judged as always; the name of one is resolved by the proxy.
   */
  proxy?: string
}

export type EgressRefusalReason = 'scheme' | 'userinfo' | 'port' | 'address' | 'own'
export type EgressFailureReason =
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'proxy'
  /** Never of this door: a session whose login is lost answers so. */
  | 'login'
  | 'aborted'

/** What the network gave, as data. `detail` is for the log. */
export type EgressAnswer =
  | {
      kind: 'answer'
      status: number
      /** Lower-case names, values as Latin-1; repeated ones joined by ", ", set-cookie and x-robots-tag by line feeds. */
      headers: Record<string, string>
      /** As received, in its own buffer. */
      body: ArrayBuffer
      /** The connection ended before the body did. */
      truncated: boolean
      /** The body is longer than `wireBytesMax`. */
      capped: boolean
      /** Address last dialled for this host and port. */
      remoteAddress: string
      wireBytes: number
    }
  | { kind: 'refused'; reason: EgressRefusalReason; detail: string }
  | { kind: 'failed'; reason: EgressFailureReason; detail: string }

export type DnsLookup = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export type EgressOptions = {
  userAgent: string
  /** Ranges that may be dialled though they are not public: "10.0.0.0/8", "::1", "127.0.0.1". */
  allowPrivate?: readonly string[]
  /** Where this program listens: never dialled. A wildcard or name stands for every address of this machine. */
  own?: readonly { host: string; port: number }[]
  /** "host:port" pairs that an operator named. */
  extraPorts?: readonly string[]
  /** For tests; the system's resolver by default. */
  dnsLookup?: DnsLookup
  /** Trusted instead of the built-in certificate authorities (PEM): for tests and intranets. */
  ca?: string
}

export interface Egress {
  /** One GET, or a POST. Never throws: what the network and the guard do is a value. */
  request(url: string, request: EgressRequest): Promise<EgressAnswer>
  /** An operator's seed names this port on this host: 80, 443 and 8000-8999 need no naming. */
  allowPort(host: string, port: number): void
  /** This program listens here from now on. */
  refuseOwn(host: string, port: number): void
  /** Is the host in an allowed private range? By its literal address, else by the address it was last dialled at. */
  isAllowedPrivate(url: string): boolean
  /** Ends what is under way with `aborted`. */
  close(): Promise<void>
}

const headerBytesMax = 16_384
const connectTimeoutMs = 10_000
/** Two a host: one for the page under way, one for what comes beside it. */
const connectionsPerOrigin = 2
const keepAliveMs = 4_000
const keepAliveMaxMs = 15_000
/** No connection lives longer, so what was checked when it was opened stays true (DNS rebinding). */
const connectionLifeMs = 30_000
/** Agents of proxies that are kept. */
const proxiesMax = 50
/** Hosts whose address or protocol is remembered. */
const remembered = 2_000

export function createEgress(options: EgressOptions): Egress {
  return new GuardedEgress(options)
}

class Refusal extends Error {
  readonly reason: EgressRefusalReason
  constructor(reason: EgressRefusalReason, detail: string) {
    super(detail)
    this.reason = reason
  }
}

type Proxied = { proxy: Proxy; agent: Agent }

class GuardedEgress implements Egress {
  readonly #userAgent: string
  readonly #allowed: BlockList
  readonly #hasAllowed: boolean
  readonly #ports = new Set<string>()
  readonly #own: { port: number; addresses: BlockList | null }[] = []
  readonly #lookup: DnsLookup
  readonly #ca: string | undefined
  readonly #addresses = new Map<string, string>()
  readonly #http2Origins = new Map<string, true>()
  /** Loaded at the first request: a server that only answers does without (70 ms of CPU time, 5 MB). */
  #undici: typeof import('undici') | null = null
  #http1: Agent | null = null
  #http2: Agent | null = null
  readonly #proxies = new Map<string, Proxied>()
  readonly #underWay = new Set<Deadline>()

  constructor(options: EgressOptions) {
    this.#userAgent = options.userAgent
    this.#allowed = rangeList(options.allowPrivate ?? [])
    this.#hasAllowed = (options.allowPrivate ?? []).length > 0
    for (const pair of options.extraPorts ?? []) this.#ports.add(pair.toLowerCase())
    for (const { host, port } of options.own ?? []) this.refuseOwn(host, port)
    this.#lookup = options.dnsLookup ?? systemLookup
    this.#ca = options.ca
  }

  allowPort(host: string, port: number): void {
    this.#ports.add(`${host.toLowerCase()}:${port}`)
  }

  refuseOwn(host: string, port: number): void {
    const bare = host.replace(/^\[|\]$/g, '')
    const isWild = isIP(bare) === 0 || bare === '0.0.0.0' || bare === '::'
    this.#own.push({ port, addresses: isWild ? null : rangeList([bare]) })
  }

  isAllowedPrivate(url: string): boolean {
    if (!this.#hasAllowed) return false
    const parsed = URL.parse(url)
    if (parsed === null) return false
    const host = bareHost(parsed.hostname)
    const address = isIP(host) > 0 ? host : this.#addresses.get(`${host}:${portOf(parsed)}`)
    if (address !== undefined) return isIn(special, address) && isIn(this.#allowed, address)
    return /^(.+\.)?localhost$/.test(host) && isIn(this.#allowed, '127.0.0.1')
  }

  async request(url: string, request: EgressRequest): Promise<EgressAnswer> {
    const target = URL.parse(url)
    if (target === null || !/^https?:$/.test(target.protocol))
      return refused('scheme', 'not http(s)')
    if (target.username !== '' || target.password !== '') return refused('userinfo', 'user in URL')
    const port = portOf(target)
    const host = bareHost(target.hostname)
    if (!this.#isPortAllowed(target.hostname, port)) return refused('port', `${host}:${port}`)
    if (isIP(host) > 0) {
      const refusal = this.#judge(host, port)
      if (refusal !== null) return refused(refusal.reason, refusal.message)
    }
    this.#undici ??= await import('undici')
    const deadline = new Deadline(request.totalTimeoutMs, request.signal)
    this.#underWay.add(deadline)
    try {
      return await this.#ask(target, request, deadline, 0)
    } finally {
      this.#underWay.delete(deadline)
      deadline.release()
    }
  }

  async close(): Promise<void> {
    for (const deadline of this.#underWay) deadline.abort()
    const proxied = [...this.#proxies.values()].map(({ agent }) => agent.destroy())
    await Promise.all([this.#http1?.destroy(), this.#http2?.destroy(), ...proxied])
  }

  /** A dead keep-alive socket shows only when it is used: one further try, as browsers do. So does a server of HTTP/2 alone. */
  async #ask(
    target: URL,
    request: EgressRequest,
    deadline: Deadline,
    tries: number,
  ): Promise<EgressAnswer> {
    const proxy = request.proxy === undefined ? null : this.#proxyOf(request.proxy)
    const isHttp2 = this.#http2Origins.has(target.origin) && proxy === null
    const isGet = request.post === undefined
    const received = (answer: Received | null): EgressAnswer => answer ?? failed(deadline, null)
    try {
      const agent = proxy?.agent ?? this.#agentFor(isHttp2)
      const response = await agent.request(this.#options(target, request, deadline, proxy))
      const answer = await receive(response, request, deadline, this.#remembered(target))
      // Said to be chunked, and not one chunk in it: some servers only say so.
      const isEmpty = answer?.truncated === true && answer.wireBytes === 0
      if (!isEmpty || !isGet || proxy !== null) return received(answer)
      return (await this.#askLeniently(target, request, deadline)) ?? received(answer)
    } catch (error) {
      if (!deadline.signal.aborted && tries === 0 && isGet) {
        if (codeOf(error) === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') {
          remember(this.#http2Origins, target.origin, true, remembered)
          return this.#ask(target, request, deadline, 1)
        }
        if (isUnreadable(error)) {
          const answer = proxy === null ? await this.#askLeniently(target, request, deadline) : null
          return answer ?? failed(deadline, error)
        }
        if (reasonOf(error) === 'reset') return this.#ask(target, request, deadline, 1)
      }
      if (error instanceof Refusal) return refused(error.reason, error.message)
      return failed(deadline, error)
    }
  }

  #options(
    target: URL,
    request: EgressRequest,
    deadline: Deadline,
    proxy: Proxied | null,
  ): Dispatcher.RequestOptions {
    const { post } = request
    // A proxy for http is told the whole address; for everything else it only joins two connections.
    const isPlain = proxy !== null && proxy.proxy.kind !== 'socks5' && target.protocol === 'http:'
    const authorization = isPlain ? proxyAuthorization(proxy.proxy) : ''
    return {
      origin: target.origin,
      path: isPlain ? target.href : target.pathname + target.search,
      method: post === undefined ? 'GET' : 'POST',
      headers: {
        'user-agent': this.#userAgent,
        ...request.headers,
        ...(post === undefined ? {} : { 'content-type': post.type }),
        ...(authorization === '' ? {} : { 'proxy-authorization': authorization }),
      },
      ...(post === undefined ? {} : { body: post.body }),
      headersTimeout: request.headersTimeoutMs,
      bodyTimeout: request.totalTimeoutMs,
      signal: deadline.signal,
    }
  }

  #remembered(target: URL): string {
    return this.#addresses.get(`${bareHost(target.hostname)}:${portOf(target)}`) ?? ''
  }

  /** What the strict reader would not take, once more on a connection of its own. null where nobody could read it. */
  async #askLeniently(
    target: URL,
    request: EgressRequest,
    deadline: Deadline,
  ): Promise<EgressAnswer | null> {
    const headers = { host: target.host, 'user-agent': this.#userAgent, ...request.headers }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const path = target.pathname + target.search
    const head = `GET ${path} HTTP/1.1\r\n${lines.join('')}connection: close\r\n\r\n`
    const { wireBytesMax, keepsCapped = false } = request
    try {
      const socket = await this.#open(target)
      const bytesMax = lenientHeadBytesMax + wireBytesMax
      const bytes = await collectReply(socket, head, bytesMax, deadline.signal)
      const reply = readReply(bytes)
      if (reply === null) return null
      const capped = reply.body.length > wireBytesMax || bytes.length >= bytesMax
      const isDropped = capped && !keepsCapped
      const plain = plainHeaders(reply.headers)
      const isWanted = request.wantsBody?.(reply.status, plain) !== false && !isDropped
      const body = isWanted ? reply.body.slice(0, wireBytesMax) : new Uint8Array(0)
      return {
        kind: 'answer',
        status: reply.status,
        headers: plain,
        body: body.buffer.slice(body.byteOffset, body.byteOffset + body.length),
        truncated: isWanted && reply.truncated,
        capped,
        remoteAddress: this.#remembered(target),
        wireBytes: body.length,
      }
    } catch (error) {
      return failed(deadline, error)
    }
  }

  /** A guarded connection for `target`, with TLS where it is https. */
  #open(target: URL): Promise<Socket> {
    const { host, hostname, port, protocol } = target
    return new Promise((done, fail) =>
      this.#dial(this.#connector(false), { host, hostname, port, protocol }, (error, socket) =>
        error !== null || socket === null ? fail(error ?? new Error('no socket')) : done(socket),
      ),
    )
  }

  #agentFor(isHttp2: boolean): Agent {
    if (!isHttp2) return (this.#http1 ??= this.#agent(false))
    return (this.#http2 ??= this.#agent(true))
  }

  /** An agent of each proxy, made when first used. */
  #proxyOf(url: string): Proxied {
    const known = this.#proxies.get(url)
    if (known !== undefined) return known
    const proxy = parseProxy(url)
    const connect = this.#connector(false)
    const agent = this.#agentWith(false, (options, done) =>
      callbackify((asked: buildConnector.Options) => this.#dialProxy(connect, proxy, asked))(
        options,
        (error: Error | null, socket?: Socket) =>
          error === null && socket !== undefined
            ? done(null, socket)
            : done(error ?? new Error('no socket'), null),
      ),
    )
    const proxied = { proxy, agent }
    if (this.#proxies.size >= proxiesMax) {
      const [oldest] = this.#proxies
      if (oldest !== undefined) this.#proxies.delete(oldest[0])
      void oldest?.[1].agent.close()
    }
    this.#proxies.set(url, proxied)
    return proxied
  }

  /** To the proxy, and through it where it only joins: never to this program itself. */
  async #dialProxy(
    connect: buildConnector.connector,
    proxy: Proxy,
    options: buildConnector.Options,
  ): Promise<Socket> {
    const isTls = options.protocol === 'https:'
    const socket = await new Promise<Socket>((done, fail) => {
      const own = this.#library().buildConnector({ timeout: connectTimeoutMs, allowH2: false })
      own(
        {
          hostname: proxy.host,
          host: proxy.host,
          port: String(proxy.port),
          protocol: proxy.kind === 'https' ? 'https:' : 'http:',
        },
        (error, opened) =>
          error !== null || opened === null ? fail(asProxyFault(error)) : done(opened),
      )
    })
    if (this.#isOwn(socket.remoteAddress ?? '', proxy.port)) {
      socket.destroy()
      throw new Refusal('own', `${proxy.host}:${proxy.port} is this program`)
    }
    if (!isTls && proxy.kind !== 'socks5') return socket
    const port = Number(options.port || (isTls ? 443 : 80))
    await openTunnel(socket, proxy, bareHost(options.hostname), port)
    if (!isTls) return socket
    return new Promise((done, fail) =>
      connect({ ...options, httpSocket: socket }, (error, secure) =>
        error !== null || secure === null ? fail(error ?? new Error('no socket')) : done(secure),
      ),
    )
  }

  #library(): typeof import('undici') {
    assert(this.#undici, 'it is loaded before the first connection')
    return this.#undici
  }

  #connector(allowH2: boolean): buildConnector.connector {
    const lookup: LookupFunction = (host, options, done) => this.#checkedLookup(host, options, done)
    return this.#library().buildConnector({
      lookup,
      allowH2,
      timeout: connectTimeoutMs,
      // Said aloud: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes only the default.
      rejectUnauthorized: true,
      autoSelectFamily: true,
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
    })
  }

  #agent(allowH2: boolean): Agent {
    const connect = this.#connector(allowH2)
    return this.#agentWith(allowH2, (options, done) => this.#dial(connect, options, done))
  }

  /** undici's Agent asks no environment for proxies; what it dials goes through `connect`. */
  #agentWith(allowH2: boolean, connect: buildConnector.connector): Agent {
    return new (this.#library().Agent)({
      allowH2,
      connections: connectionsPerOrigin,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMaxMs,
      clientTtl: connectionLifeMs,
      maxHeaderSize: headerBytesMax,
      connect,
    })
  }

  /** Three checks, as each alone has a hole: a literal never reaches the lookup, a name may have several addresses, and the peer must be the one that was checked. */
  #dial(
    connect: buildConnector.connector,
    options: buildConnector.Options,
    done: buildConnector.Callback,
  ): void {
    const host = bareHost(options.hostname)
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80))
    const refusal = isIP(host) > 0 ? this.#judge(host, port) : null
    if (refusal !== null) return done(refusal, null)
    connect(options, (error: Error | null, socket: Socket | null) => {
      if (error !== null || socket === null) return done(error ?? new Error('no socket'), null)
      const address = socket.remoteAddress ?? ''
      const late = this.#judge(address, port)
      if (late !== null) {
        socket.destroy()
        return done(late, null)
      }
      remember(this.#addresses, `${host}:${port}`, address, remembered)
      done(null, socket)
    })
  }

  #checkedLookup(host: string, options: LookupOptions, done: Parameters<LookupFunction>[2]): void {
    this.#lookup(host, { ...options, all: true }, (error, answers) => {
      if (error) return done(error, '')
      // Any forbidden answer refuses the whole name. Own addresses need the port: they are judged when dialled.
      const bad = answers.find(({ address }) => this.#isForbidden(address))
      const [first] = answers
      if (bad !== undefined) return done(new Refusal('address', `${host} is ${bad.address}`), '')
      if (first === undefined) return done(noSuchHost(host), '')
      if (options.all === true) return done(null, answers)
      done(null, first.address, first.family)
    })
  }

  #isPortAllowed(host: string, port: number): boolean {
    if (port === 80 || port === 443 || (port >= 8000 && port <= 8999)) return true
    return this.#ports.has(`${host}:${port}`)
  }

  #judge(address: string, port: number): Refusal | null {
    if (this.#isForbidden(address)) return new Refusal('address', `${address} is not public`)
    if (this.#isOwn(address, port)) return new Refusal('own', `${address}:${port} is this program`)
    return null
  }

  #isForbidden(address: string): boolean {
    if (isIP(address) === 0) return true
    return withWrapped(address).some((one) => isIn(special, one) && !isIn(this.#allowed, one))
  }

  #isOwn(address: string, port: number): boolean {
    return this.#own
      .filter((own) => own.port === port)
      .some(({ addresses }) =>
        withWrapped(address).some((one) =>
          addresses === null ? isThisMachine(one) : isIn(addresses, one),
        ),
      )
  }
}

const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')
const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

const refused = (reason: EgressRefusalReason, detail: string): EgressAnswer => ({
  kind: 'refused',
  reason,
  detail,
})

function failed(deadline: Deadline, error: unknown): EgressAnswer {
  const detail = error instanceof Error ? error.message : String(error)
  if (deadline.isOver) return { kind: 'failed', reason: 'timeout', detail: 'total time is over' }
  if (deadline.signal.aborted) return { kind: 'failed', reason: 'aborted', detail }
  return { kind: 'failed', reason: reasonOf(error), detail }
}
