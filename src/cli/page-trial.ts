/** One page after the other through robots, fetch and parser as in a crawl, without a store: for trying rules out. */
import assert from 'node:assert'
import { readFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { spawnThread, textTables } from '../assets.ts'
import { httpOfSource, type RuleForPage } from '../crawl/described.ts'
import { fetchPage, fetchRobots } from '../crawl/fetch.ts'
import type { ParseOutcome } from '../crawl/page.ts'
import { createRobotsGate, type RobotsGate } from '../crawl/robots-gate.ts'
import { Session } from '../crawl/session.ts'
import type { SourceSpec } from '../crawl/source-file.ts'
import { agentToken, egressOptions, fetchLimits } from '../egress-options.ts'
import { createEgress, type Egress } from '../lib/egress.ts'
import { AppError } from '../lib/errors.ts'
import { createPool, JobFailure, type Pool } from '../lib/pool.ts'
import { splitUrl } from '../lib/url.ts'
import { machineOf } from '../machine.ts'
import { profileOf } from '../memory.ts'
import type { ParserAnswer, ParserJob } from '../parser.ts'
import type { Call } from './command.ts'

export type Input = {
  url: string
  body: ArrayBuffer
  encoding: string
  contentType: string
  robotsTag: string
}

const typesByName: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
}

export function readPageFile(file: string, url: string): Input {
  const bytes = readFileSync(resolve(file))
  const body = new ArrayBuffer(bytes.byteLength)
  new Uint8Array(body).set(bytes)
  const contentType = typesByName[extname(file).toLowerCase()] ?? 'text/html'
  return { url, body, encoding: '', contentType, robotsTag: '' }
}

const seed = 1
const publicDelayMs = 1_000

/** Keeps what several pages share: sessions with their logins, robots.txt, the parser thread. To be closed. */
export class PageTrial {
  readonly #call: Call
  readonly #sources: readonly SourceSpec[]
  readonly #egress: Egress
  readonly #sessions = new Map<string, { session: Session; robots: RobotsGate }>()
  /** When each host was asked last. */
  readonly #askedAtMs = new Map<string, number>()
  #parsers: Pool<ParserJob, ParserAnswer> | null = null

  constructor(call: Call, sources: readonly SourceSpec[]) {
    this.#call = call
    this.#sources = sources
    this.#egress = createEgress(egressOptions(call.config))
  }

  /**
   * As its source asks for its pages: with a login where there is one, and as rarely as it may.
   * @throws AppError bad_input where there is no page
   */
  async fetch(url: string, rule: RuleForPage | null): Promise<Input> {
    const source = this.#sources.find(({ name }) => name === rule?.source) ?? this.#sources[0]
    assert(source, 'a file of sources has at least one')
    this.#allowPort(url)
    const { session, robots } = this.#sessionOf(source)
    const judged = await robots.judge(url, Date.now())
    if (judged.kind !== 'allowed')
      throw new AppError('bad_input', `robots.txt does not allow ${url}`)
    const isNear = this.#egress.isAllowedPrivate(url)
    const wishedMs = source.delayMs ?? (isNear ? 0 : publicDelayMs)
    await this.#waitFor(url, Math.max(judged.delayMs ?? 0, wishedMs))
    const visit = { url, etag: null, modified: null }
    const takes = rule?.rule.format === 'json' ? 'lists' : 'pages'
    const limits = { ...fetchLimits(this.#call.config), takes } as const
    const outcome = await fetchPage(session, visit, limits)
    if (outcome.kind === 'page') return { ...outcome, url: outcome.finalUrl }
    const why = 'reason' in outcome ? outcome.reason : 'to' in outcome ? `to ${outcome.to}` : ''
    throw new AppError('bad_input', `${url} gave no page: ${outcome.kind} ${why}`.trim())
  }

  /** In a parser thread of its own, under its limits of time and memory. */
  async parse(input: Input, rule: RuleForPage | null): Promise<ParseOutcome> {
    this.#parsers ??= openParser(this.#call)
    try {
      const job = { ...input, rule, depth: 0, seed }
      const { outcome } = await this.#parsers.run({ kind: 'page', job }, [input.body])
      // A page is answered as one.
      return outcome as ParseOutcome
    } catch (error) {
      if (!(error instanceof JobFailure)) throw error
      return { kind: 'failed', reason: `the parser gave up: ${error.kind}, ${error.message}` }
    }
  }

  async close(): Promise<void> {
    await this.#parsers?.close()
    await this.#egress.close()
  }

  #sessionOf(source: SourceSpec): { session: Session; robots: RobotsGate } {
    const known = this.#sessions.get(source.name)
    if (known !== undefined) return known
    const { http, homes } = httpOfSource(source)
    if (http.login !== null) this.#allowPort(http.login.url)
    const session = new Session(this.#egress, http, this.#call.log, Date.now, homes)
    const robots = createRobotsGate(
      agentToken,
      (origin: string) => fetchRobots(session.bare, origin),
      () => null,
      () => {},
    )
    this.#sessions.set(source.name, { session, robots })
    return { session, robots }
  }

  #allowPort(url: string): void {
    const { hostname, port, protocol } = new URL(url)
    this.#egress.allowPort(hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
  }

  async #waitFor(url: string, delayMs: number): Promise<void> {
    const { origin } = splitUrl(url)
    const askedAtMs = this.#askedAtMs.get(origin)
    if (askedAtMs !== undefined) await wait(Math.max(0, askedAtMs + delayMs - performance.now()))
    this.#askedAtMs.set(origin, performance.now())
  }
}

function openParser(call: Call): Pool<ParserJob, ParserAnswer> {
  const profile = profileOf(call.config, machineOf(process.cwd(), call.config.flash))
  const config = { ...call.config, ...profile.settings }
  const data = { config, usesKeywordModel: profile.usesKeywordModel, tables: textTables() }
  return createPool<ParserJob, ParserAnswer>({
    spawn: () => spawnThread('parser', data, { resourceLimits: profile.heaps.parser }),
    sizeMax: 1,
    jobTimeoutMs: config['parse-timeout-ms'],
    queueMax: 1,
  })
}
