/** Run inside a private network namespace by ssrf.test.ts: canaries on forbidden addresses, the attacks, a report as JSON on stdout. */
import { execFileSync } from 'node:child_process'
import type { LookupAddress } from 'node:dns'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, fetch } from 'undici'
import { fetchPage, fetchRobots } from '../../src/crawl/fetch.ts'
import { createEgress, type DnsLookup, type Egress } from '../../src/lib/egress.ts'
import { splitUrl } from '../../src/lib/url.ts'
import { attacks, forbiddenAddresses, hopHost, publicAddress, type Report } from './ssrf-attacks.ts'

const secret = 'CANARY'
/** Requests that reached a forbidden address, by address. */
const reached = new Map<string, number>()

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] })
}

function buildNetwork(): void {
  ip('link', 'set', 'lo', 'up')
  for (const address of [...forbiddenAddresses, publicAddress]) {
    if (address.includes(':')) ip('-6', 'addr', 'replace', `${address}/128`, 'dev', 'lo', 'nodad')
    else ip('addr', 'replace', `${address}/32`, 'dev', 'lo')
  }
}

/** On the public address: /r?TARGET leads to TARGET, and robots.txt of hop-N.test to the N-th attack. */
function answer(
  address: string,
  { url = '', headers }: IncomingMessage,
  response: ServerResponse,
): void {
  if (address !== publicAddress) {
    reached.set(address, (reached.get(address) ?? 0) + 1)
    response.end(`${secret} ${address}`)
    return
  }
  const hop = /^hop-(\d+)\./.exec(headers.host ?? '')?.[1]
  const target = url.startsWith('/r?')
    ? decodeURIComponent(url.slice(3))
    : hop === undefined
      ? undefined
      : attacks[Number(hop)]
  if (target === undefined) response.setHeader('content-type', 'text/html').end('<p>public</p>')
  else response.writeHead(302, { location: Buffer.from(target).toString('latin1') }).end()
}

const listen = (address: string): Promise<void> =>
  new Promise((done, fail) => {
    createServer((request, response) => answer(address, request, response))
      .on('error', fail)
      .listen(80, address, done)
  })

/** Answers in turn, the last one for ever: a rebinding name is public first. */
const zone: Record<string, readonly (readonly string[])[]> = {
  'ok.test': [[publicAddress]],
  'rebind.test': [[publicAddress], ['127.0.0.1']],
  'dual.test': [[publicAddress, '10.9.9.1']],
  'priv.test': [['169.254.169.254']],
  'six.test': [['::ffff:127.0.0.1']],
  localhost: [['127.0.0.1']],
  'a.localhost': [['127.0.0.1']],
  'metadata.google.internal': [['169.254.169.254']],
}

function createDns(): DnsLookup {
  const asked = new Map<string, number>()
  return (name, _options, done) => {
    const host = name.replace(/\.$/, '')
    const answers = host.startsWith('hop-') ? [[publicAddress]] : zone[host]
    if (answers === undefined)
      return done(Object.assign(new Error(host), { code: 'ENOTFOUND' }), [])
    const turn = asked.get(host) ?? 0
    asked.set(host, turn + 1)
    const addresses = answers[Math.min(turn, answers.length - 1)] ?? []
    const all = addresses.map((address): LookupAddress => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    done(null, all)
  }
}

/** What the attacks do to a client without a guard: they must get through, or this test proves nothing. */
async function plainLeaks(): Promise<number> {
  const lookup = createDns()
  const dispatcher = new Agent({
    connect: {
      timeout: 2_000,
      lookup: (host, options, done) =>
        lookup(host, { ...options, all: true }, (error, all) => {
          const [first] = all
          if (error !== null || first === undefined) return done(error ?? new Error(host), '')
          if (options.all === true) return done(null, all)
          done(null, first.address, first.family)
        }),
    },
  })
  let leaks = 0
  for (const url of attacks) {
    try {
      const headers = { connection: 'close' }
      const response = await fetch(url, { dispatcher, headers, signal: AbortSignal.timeout(3_000) })
      if ((await response.text()).includes(secret)) leaks += 1
    } catch {
      // Refused by undici itself (userinfo, file:): no leak.
    }
  }
  await dispatcher.destroy()
  return leaks
}

const limits = { totalTimeoutMs: 3_000, headersTimeoutMs: 3_000, wireBytesMax: 100_000 }

/** Follows redirects as the crawl does: each hop is a visit of its own. */
async function visitAll(
  egress: Egress,
): Promise<{ leaks: number; pages: number; kinds: string[] }> {
  let leaks = 0
  let pages = 0
  const kinds: string[] = []
  for (const attack of attacks) {
    let url = attack
    for (let hops = 0; hops < 6; hops++) {
      const outcome = await fetchPage(egress, { url, etag: null, modified: null }, limits)
      if (outcome.kind === 'page') {
        if (Buffer.from(outcome.body).includes(secret)) leaks += 1
        pages += 1
      }
      if (outcome.kind !== 'redirect') {
        kinds.push(`${attack} ${outcome.kind} ${'reason' in outcome ? outcome.reason : ''}`)
        break
      }
      url = outcome.to
    }
  }
  return { leaks, pages, kinds }
}

async function robotsOfAll(egress: Egress): Promise<number> {
  let leaks = 0
  const origins = attacks.map((url) => splitUrl(url).origin)
  for (const origin of [...origins, ...attacks.map((_, i) => `http://${hopHost(i)}`)]) {
    const { text } = await fetchRobots(egress, origin, limits)
    if (text !== null && Buffer.from(text).includes(secret)) leaks += 1
  }
  return leaks
}

const hits = (): number => [...reached.values()].reduce((sum, count) => sum + count, 0)

async function run(): Promise<Report> {
  buildNetwork()
  for (const address of [...forbiddenAddresses, publicAddress]) await listen(address)
  const plain = { leaks: await plainLeaks(), hits: hits() }
  reached.clear()
  const egress = createEgress({ userAgent: 'Test/1', dnsLookup: createDns() })
  const pages = await visitAll(egress)
  const robotsEgress = createEgress({ userAgent: 'Test/1', dnsLookup: createDns() })
  const robotsLeaks = await robotsOfAll(robotsEgress)
  await Promise.all([egress.close(), robotsEgress.close()])
  return { attacks: attacks.length, plain, guarded: { ...pages, robotsLeaks, hits: hits() } }
}

async function main(): Promise<void> {
  const report = await run()
  process.stdout.write(JSON.stringify(report), () => process.exit(0))
}

main().catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
