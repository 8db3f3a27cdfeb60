/** The handshake with a proxy on an open connection: HTTP CONNECT (RFC 9110 9.3.6) and SOCKS5 (RFC 1928, passwords RFC 1929). Opens no connection. */
import { isIP, type Socket } from 'node:net'

export type Proxy = {
  kind: 'http' | 'https' | 'socks5'
  host: string
  port: number
  user: string
  password: string
}

const defaultPorts = { http: 80, https: 443, socks5: 1080 } as const
const replyBytesMax = 16_384
const handshakeMs = 10_000

/** @param url as checked by crawl/source-http.ts */
export function parseProxy(url: string): Proxy {
  const { protocol, hostname, port, username, password } = new URL(url)
  const kind = protocol === 'socks5:' ? 'socks5' : protocol === 'https:' ? 'https' : 'http'
  return {
    kind,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPorts[kind] : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  }
}

/** The value of Proxy-Authorization; '' where the proxy wants none. */
export const proxyAuthorization = ({ user, password }: Proxy): string =>
  user === '' ? '' : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** Asks the proxy for a connection to the target. Rejects with code EPROXY where it refuses, breaks off or is slow. */
export async function openTunnel(
  socket: Socket,
  proxy: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const reader = new Reader(socket)
  try {
    if (proxy.kind === 'socks5') await socks5(socket, reader, proxy, host, port)
    else await connect(socket, reader, proxy, host, port)
    reader.release()
  } catch (error) {
    reader.release()
    socket.destroy()
    throw error
  }
}

const refusal = (what: string): Error =>
  Object.assign(new Error(`the proxy ${what}`), { code: 'EPROXY' })

/** Waits for exactly so many bytes, or for a mark; what comes after them stays in the socket. */
class Reader {
  readonly #socket: Socket
  #bytes: Buffer = Buffer.alloc(0)
  #wake: (() => void) | null = null
  #error: Error | null = null
  readonly #timer: NodeJS.Timeout
  readonly #onReadable = (): void => {
    const chunk = this.#socket.read() as Buffer | null
    if (chunk !== null) this.#bytes = Buffer.concat([this.#bytes, chunk])
    this.#wake?.()
  }
  readonly #onEnd = (): void => {
    this.#error ??= refusal('closed the connection')
    this.#wake?.()
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('readable', this.#onReadable).on('end', this.#onEnd).on('error', this.#onEnd)
    this.#timer = setTimeout(() => {
      this.#error = refusal('did not answer in time')
      this.#wake?.()
    }, handshakeMs)
  }

  async take(enough: (bytes: Buffer) => number): Promise<Buffer> {
    for (;;) {
      const length = enough(this.#bytes)
      if (length > 0 && this.#bytes.length >= length) {
        const taken = this.#bytes.subarray(0, length)
        this.#bytes = this.#bytes.subarray(length)
        return taken
      }
      if (this.#error !== null) throw this.#error
      if (this.#bytes.length > replyBytesMax) throw refusal('says too much')
      await new Promise<void>((wake) => (this.#wake = wake))
      this.#wake = null
    }
  }

  release(): void {
    clearTimeout(this.#timer)
    const socket = this.#socket
    socket.off('readable', this.#onReadable).off('end', this.#onEnd).off('error', this.#onEnd)
    if (this.#bytes.length > 0) socket.unshift(this.#bytes)
  }
}

async function connect(
  socket: Socket,
  reader: Reader,
  proxy: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const authorization = proxyAuthorization(proxy)
  const line = authorization === '' ? '' : `proxy-authorization: ${authorization}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${line}\r\n`)
  const head = await reader.take(
    (bytes) => bytes.indexOf('\r\n\r\n') + 4 - (bytes.includes('\r\n\r\n') ? 0 : 3),
  )
  const status = /^HTTP\/1\.\d (\d{3})/.exec(head.toString('latin1'))?.[1]
  if (status !== '200') throw refusal(`answers ${status ?? 'nonsense'}`)
}

async function socks5(
  socket: Socket,
  reader: Reader,
  { user, password }: Proxy,
  host: string,
  port: number,
): Promise<void> {
  socket.write(user === '' ? Buffer.of(5, 1, 0) : Buffer.of(5, 2, 0, 2))
  const [version, method] = await reader.take(() => 2)
  if (version !== 5 || method === 0xff) throw refusal('refuses our ways to log in')
  if (method === 2) {
    const [name, word] = [Buffer.from(user), Buffer.from(password)]
    socket.write(Buffer.concat([Buffer.of(1, name.length), name, Buffer.of(word.length), word]))
    const [, status] = await reader.take(() => 2)
    if (status !== 0) throw refusal('refuses user and password')
  }
  const name = Buffer.from(host)
  const address =
    isIP(host) === 4
      ? Buffer.from([1, ...host.split('.').map(Number)])
      : Buffer.concat([Buffer.of(3, name.length), name])
  socket.write(Buffer.concat([Buffer.of(5, 1, 0), address, Buffer.of(port >> 8, port & 255)]))
  const reply = await reader.take((bytes) => {
    if (bytes.length < 5) return 0
    const lengths: Record<number, number> = { 1: 10, 3: 7 + (bytes[4] ?? 0), 4: 22 }
    return lengths[bytes[3] ?? 0] ?? 10
  })
  if (reply[1] !== 0) throw refusal(`cannot connect (SOCKS reply ${reply[1]})`)
}
