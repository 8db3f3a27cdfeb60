/** The one door out: guarded HTTP requests with deadlines and byte caps. Follows no redirect, decodes no body, knows no page. */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP, type LookupFunction, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { Deadline } from './deadline.ts'
import { AppError } from './errors.ts'

export type EgressRequest = {
  /** Lower-case names. `user-agent` is added. */
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
}

export type EgressRefusalReason = 'scheme' | 'userinfo' | 'port' | 'address' | 'own'
export type EgressFailureReason =
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'aborted'

/** What the network gave, as data. `detail` is for the log. */
export type EgressAnswer =
  | {
      kind: 'answer'
      status: number
      /** Lower-case names, values as Latin-1; repeated ones joined by ", ", set-cookie by line feeds. */
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
  /** One GET. Never throws: what the network and the guard do is a value. */
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
const drainBytesMax = 65_536
const drainMs = 2_000
/** Hosts whose address or protocol is remembered. */
const remembered = 2_000

export function createEgress(options: EgressOptions): Egress {
  return new GuardedEgress(options)
}

/** IANA special-purpose registries that are not globally reachable, multicast, and what tunnels to IPv4. */
const specialRanges = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  ::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16
  fc00::/7 fe80::/10 fec0::/10 ff00::/8`

/** @throws AppError `config_invalid` for what is no address or range. */
function rangeList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.trim().split('/')
    const family = isIP(address)
    const bitsMax = family === 4 ? 32 : 128
    const prefix = bits === undefined ? bitsMax : Number(bits)
    if (family === 0 || !/^\d*$/.test(bits ?? '') || bits === '' || prefix > bitsMax) {
      throw new AppError('config_invalid', `not an address or range like 10.0.0.0/8: ${range}`)
    }
    list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

const special = rangeList(specialRanges.trim().split(/\s+/))
const thisMachine = rangeList(['127.0.0.0/8', '0.0.0.0', '::1', '::'])

/** BlockList judges IPv4 inside ::ffff:0:0/96 by the IPv4 rules itself. */
const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** IPv4 wrapped into IPv6, to be judged too: NAT64 (64:ff9b::/96, RFC 6052) and ISATAP (::[0200:]5efe:a.b.c.d, RFC 5214). */
function wrappedIpv4(address: string): string | null {
  if (isIP(address) !== 6) return null
  const groups = groupsOf(address)
  const [upper = 0, lower = 0] = groups.slice(6)
  const isNat64 =
    groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((g) => g === 0)
  const isIsatap = ((groups[4] ?? 0) & 0xfdff) === 0 && groups[5] === 0x5efe
  if (!isNat64 && !isIsatap) return null
  return `${upper >> 8}.${upper & 255}.${lower >> 8}.${lower & 255}`
}

/** Eight 16-bit numbers. The URL parser writes every spelling as hexadecimal groups with at most one "::". */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]/`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const before = parse(head)
  const after = parse(tail ?? '')
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

class Refusal extends Error {
  readonly reason: EgressRefusalReason
  constructor(reason: EgressRefusalReason, detail: string) {
    super(detail)
    this.reason = reason
  }
}

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
  readonly #http1: Agent
  #http2: Agent | null = null
  readonly #underWay = new Set<Deadline>()

  constructor(options: EgressOptions) {
    this.#userAgent = options.userAgent
    this.#allowed = rangeList(options.allowPrivate ?? [])
    this.#hasAllowed = (options.allowPrivate ?? []).length > 0
    for (const pair of options.extraPorts ?? []) this.#ports.add(pair.toLowerCase())
    for (const { host, port } of options.own ?? []) this.refuseOwn(host, port)
    this.#lookup = options.dnsLookup ?? systemLookup
    this.#ca = options.ca
    this.#http1 = this.#agent(false)
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
    await Promise.all([this.#http1.destroy(), this.#http2?.destroy()])
  }

  /** A dead keep-alive socket shows only when it is used: one further try, as browsers do. So does a server of HTTP/2 alone. */
  async #ask(
    target: URL,
    request: EgressRequest,
    deadline: Deadline,
    tries: number,
  ): Promise<EgressAnswer> {
    const isHttp2 = this.#http2Origins.has(target.origin)
    let response: Dispatcher.ResponseData
    try {
      response = await this.#agentFor(isHttp2).request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'GET',
        headers: { ...request.headers, 'user-agent': this.#userAgent },
        headersTimeout: request.headersTimeoutMs,
        bodyTimeout: request.totalTimeoutMs,
        signal: deadline.signal,
      })
    } catch (error) {
      if (!deadline.signal.aborted && tries === 0) {
        if (codeOf(error) === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') {
          remember(this.#http2Origins, target.origin, true)
          return this.#ask(target, request, deadline, 1)
        }
        if (reasonOf(error) === 'reset') return this.#ask(target, request, deadline, 1)
      }
      if (error instanceof Refusal) return refused(error.reason, error.message)
      return failed(deadline, error)
    }
    const remoteAddress =
      this.#addresses.get(`${bareHost(target.hostname)}:${portOf(target)}`) ?? ''
    return receive(response, request, deadline, remoteAddress)
  }

  #agentFor(isHttp2: boolean): Agent {
    if (!isHttp2) return this.#http1
    this.#http2 ??= this.#agent(true)
    return this.#http2
  }

  /** undici's Agent asks no environment for proxies; what it dials goes through `#dial`. */
  #agent(allowH2: boolean): Agent {
    const lookup: LookupFunction = (host, options, done) => this.#checkedLookup(host, options, done)
    const connect = buildConnector({
      lookup,
      allowH2,
      timeout: connectTimeoutMs,
      // Said aloud: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes only the default.
      rejectUnauthorized: true,
      autoSelectFamily: true,
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
    })
    return new Agent({
      allowH2,
      connections: connectionsPerOrigin,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMaxMs,
      clientTtl: connectionLifeMs,
      maxHeaderSize: headerBytesMax,
      connect: (options, done) => this.#dial(connect, options, done),
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
      remember(this.#addresses, `${host}:${port}`, address)
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

function withWrapped(address: string): string[] {
  const inner = wrappedIpv4(address)
  return inner === null ? [address] : [address, inner]
}

function isThisMachine(address: string): boolean {
  if (isIn(thisMachine, address)) return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return isIn(rangeList(interfaces.map((one) => one.address.replace(/%.*$/, ''))), address)
}

async function receive(
  response: Dispatcher.ResponseData,
  request: EgressRequest,
  deadline: Deadline,
  remoteAddress: string,
): Promise<EgressAnswer> {
  const { statusCode: status, body } = response
  const headers = plainHeaders(response.headers)
  const answer = { kind: 'answer', status, headers, remoteAddress } as const
  const none = { body: new ArrayBuffer(0), truncated: false, capped: false, wireBytes: 0 }
  // A body that is destroyed says so by an error nobody else listens to.
  body.on('error', () => undefined)
  if (request.wantsBody?.(status, headers) === false) {
    deadline.extend(drainMs, body.dump({ limit: drainBytesMax, signal: deadline.signal }))
    return { ...answer, ...none }
  }
  const { wireBytesMax, keepsCapped = false } = request
  if (!keepsCapped && Number(headers['content-length'] ?? 0) > wireBytesMax) {
    body.destroy()
    return { ...answer, ...none, capped: true }
  }
  const { chunks, wireBytes, end } = await collect(body, wireBytesMax)
  if (end === 'broken' && deadline.signal.aborted) return failed(deadline, null)
  const capped = end === 'capped'
  if (capped && !keepsCapped) return { ...answer, ...none, capped, wireBytes }
  const truncated = end === 'broken'
  return { ...answer, body: joined(chunks, wireBytes), truncated, capped, wireBytes }
}

type Collected = {
  chunks: readonly Uint8Array[]
  wireBytes: number
  end: 'complete' | 'broken' | 'capped'
}

/** By events: cheaper than a stream's async iterator. Whatever comes first ends it. */
function collect(body: Dispatcher.ResponseData['body'], wireBytesMax: number): Promise<Collected> {
  return new Promise((done) => {
    const chunks: Uint8Array[] = []
    let wireBytes = 0
    const finish = (end: Collected['end']): void => done({ chunks, wireBytes, end })
    body.on('data', (chunk: Uint8Array) => {
      const room = wireBytesMax - wireBytes
      const isOver = chunk.length > room
      chunks.push(isOver ? chunk.subarray(0, room) : chunk)
      wireBytes += Math.min(room, chunk.length)
      if (!isOver) return
      finish('capped')
      body.destroy()
    })
    body.on('end', () => finish('complete'))
    body.on('error', () => finish('broken'))
    body.on('close', () => finish('broken'))
  })
}

function joined(chunks: readonly Uint8Array[], bytes: number): ArrayBuffer {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole.buffer
}

function plainHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const plain = Object.create(null) as Record<string, string>
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    plain[name] = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : value
  }
  return plain
}

const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')
const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/** Forgets the oldest when full. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (!map.has(key) && map.size >= remembered) map.delete(map.keys().next().value ?? '')
  map.set(key, value)
}

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

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const noSuchHost = (host: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })

const reasons: readonly (readonly [RegExp, EgressFailureReason])[] = [
  [/TIMEOUT|ETIMEDOUT/, 'timeout'],
  [/^(ENOTFOUND|EAI_\w+|ENODATA)$/, 'dns'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'reset'],
  [/CERT|SSL|TLS|EPROTO|UNABLE_TO|SELF_SIGNED/, 'tls'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EMFILE|ENFILE|EACCES)$/, 'connect'],
]
const reasonOf = (error: unknown): EgressFailureReason =>
  reasons.find(([code]) => code.test(codeOf(error)))?.[1] ?? 'protocol'
