/** Answers "may this URL be asked for, and how slowly": robots.txt of each origin, fetched once, kept in memory and in the store. */
import { crawlDelayMs, isAllowed, parseRobots, type Robots } from '../lib/robots.ts'
import { normalizeUrl, splitUrl } from '../lib/url.ts'

export type RobotsFetch = {
  /** open: everything is allowed; closed: nothing is, for now. */
  verdict: 'rules' | 'open' | 'closed'
  status: number
  text: Uint8Array | null
  cacheMs: number
}
export type StoredRobots = { status: number; text: Uint8Array | null; untilMs: number }

export type RobotsJudgement =
  | { kind: 'allowed'; delayMs: number | null }
  | { kind: 'refused'; rule: string; line: number | null }
  | { kind: 'closed'; retryAtMs: number }

export type RobotsGate = {
  /** Fetches robots.txt where it is not known, as this source is asked; calls for one origin share one fetch. */
  judge(url: string, nowMs: number, sourceId?: number): Promise<RobotsJudgement>
  /** What is known without the network; null = robots.txt of this origin was never asked for. */
  recall(url: string): RobotsJudgement | null
  /** The sitemaps that the robots.txt of this origin names, canonical; null = it was never asked for, or could not be read. */
  sitemaps(url: string): readonly string[] | null
}

/** `asks`: how often in a row it was closed, and when last. */
type Known = {
  robots: Robots | null
  closed: boolean
  untilMs: number
  asks: number
  askedAtMs: number
}

const originsMax = 2_000
/** A longer Crawl-delay is a misprint or a way to say no: obeyed up to here. */
const crawlDelayMaxMs = 60_000
/** A robots.txt that fails once is asked again with the retries of the page, before the host counts as closed for long. */
const closedAsksMax = 3
const closedRestMs = 1_000
const noSource = 0

/**
 * @param agent our product token, as robots.txt files name it
 * @param load what the store kept, null for nothing
 * @param save called in no transaction
 */
export function createRobotsGate(
  agent: string,
  fetchRobots: (origin: string, sourceId: number) => Promise<RobotsFetch>,
  load: (origin: string) => StoredRobots | null,
  save: (origin: string, robots: StoredRobots) => void,
): RobotsGate {
  const known = new Map<string, Known>()
  const underWay = new Map<string, Promise<Known>>()

  const remember = (origin: string, stored: StoredRobots, askedAtMs: number): Known => {
    const before = known.get(origin)
    const entry: Known = {
      robots: stored.text === null ? null : parseRobots(stored.text),
      closed: stored.text === null && stored.status !== 0 && stored.status >= 500,
      untilMs: stored.untilMs,
      asks: (before?.asks ?? 0) + 1,
      askedAtMs,
    }
    if (!entry.closed) entry.asks = 0
    if (known.size >= originsMax) known.delete(known.keys().next().value ?? '')
    known.set(origin, entry)
    return entry
  }
  const ask = async (origin: string, nowMs: number, sourceId: number): Promise<Known> => {
    const answer = await fetchRobots(origin, sourceId)
    const stored: StoredRobots = {
      // 599 stands for "no answer": closed as a server error is, so that the store needs no further column.
      status: answer.verdict === 'closed' ? Math.max(answer.status, 599) : answer.status,
      text: answer.verdict === 'rules' ? answer.text : null,
      untilMs: nowMs + answer.cacheMs,
    }
    // A site that was down is asked again after a restart: what closed it was perhaps our own network.
    save(origin, answer.verdict === 'closed' ? { ...stored, untilMs: nowMs } : stored)
    return remember(origin, stored, nowMs)
  }
  const find = (origin: string): Known | null => {
    const entry = known.get(origin)
    if (entry !== undefined) return entry
    const stored = load(origin)
    return stored === null ? null : remember(origin, stored, 0)
  }
  const judgement = (entry: Known, path: string): RobotsJudgement => {
    if (entry.closed) return { kind: 'closed', retryAtMs: entry.untilMs }
    if (entry.robots === null) return { kind: 'allowed', delayMs: null }
    const answer = isAllowed(entry.robots, agent, path)
    if (!answer.allowed) return { kind: 'refused', rule: answer.rule, line: answer.line }
    const delayMs = crawlDelayMs(entry.robots, agent)
    return {
      kind: 'allowed',
      delayMs: delayMs === null ? null : Math.min(delayMs, crawlDelayMaxMs),
    }
  }

  return {
    async judge(url, nowMs, sourceId = noSource) {
      const { origin, path } = splitUrl(url)
      const entry = find(origin)
      if (entry !== null && holds(entry, nowMs)) return judgement(entry, path)
      let fetching = underWay.get(origin)
      if (fetching === undefined) {
        fetching = ask(origin, nowMs, sourceId).finally(() => underWay.delete(origin))
        underWay.set(origin, fetching)
      }
      return judgement(await fetching, path)
    },
    recall(url) {
      const { origin, path } = splitUrl(url)
      const entry = find(origin)
      return entry === null ? null : judgement(entry, path)
    },
    sitemaps: (url) => sitemapsOf(find(splitUrl(url).origin), url),
  }
}

function sitemapsOf(entry: Known | null, url: string): string[] | null {
  if (entry === null || entry.closed) return null
  const { origin } = splitUrl(url)
  const named = (entry.robots?.sitemaps ?? []).map((text) => normalizeUrl(text, `${origin}/`))
  return [...new Set(named.filter((one) => one !== null))]
}

function holds({ closed, untilMs, asks, askedAtMs }: Known, nowMs: number): boolean {
  const mayAskAgain = closed && asks < closedAsksMax && nowMs - askedAtMs >= closedRestMs
  return untilMs > nowMs && !mayAskAgain
}
