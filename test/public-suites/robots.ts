/** The robots suites: may this agent fetch this, how slowly, and what does a status mean? */
import { fetchRobots } from '../../src/crawl/fetch.ts'
import type { Egress, EgressAnswer } from '../../src/lib/egress.ts'
import {
  crawlDelayMs,
  groupFor,
  isAllowed,
  parseRobots,
  sitemaps,
  type Robots,
  type TimeOfDay,
} from '../../src/lib/robots.ts'
import { equal, type Case, type Questions } from './suite.ts'

/** Path and query as they go out. */
function wire(url: string): string {
  const parsed = URL.parse(url, 'http://h.example/')
  return parsed === null ? url : parsed.pathname + parsed.search
}

/** A crawler of several names obeys every group that speaks to one of them. */
function judge(robots: Robots, agents: readonly string[], url: string): boolean {
  const isNamed = (agent: string): boolean =>
    agent === '*' || (groupFor(robots, agent)?.agent ?? '*') !== '*'
  const named = agents.filter(isNamed)
  const asked = named.length > 0 ? named : agents.slice(0, 1)
  return asked.every((agent) => isAllowed(robots, agent, wire(url)).allowed)
}

function mayFetch(one: Case): ReturnType<typeof equal> {
  const bytes =
    one.robots_b64 === undefined ? (one.robots ?? '') : Buffer.from(one.robots_b64, 'base64')
  return equal(judge(parseRobots(bytes), one.agents ?? [one.agent ?? '*'], one.url), one.allowed)
}

const answers: Record<string, (robots: Robots, args: string[], one: Case) => unknown> = {
  getPreferredHost: (robots) => robots.preferredHost,
  getSitemaps: (robots) => sitemaps(robots),
  getCrawlDelay(robots, [agent = '*']) {
    const delayMs = crawlDelayMs(robots, agent)
    return delayMs === null ? null : delayMs / 1000
  },
  getMatchingLineNumber: (robots, [url = '', agent = '*']) =>
    isAllowed(robots, agent, wire(url)).line ?? -1,
  isExplicitlyDisallowed(robots, [url = '', agent = '*'], one) {
    if (URL.parse(url)?.origin !== URL.parse(one.robotsUrl)?.origin) return null
    return groupFor(robots, agent)?.agent !== '*' && !isAllowed(robots, agent, wire(url)).allowed
  },
}

function timings({ robots, kind, agent, result }: Case): ReturnType<typeof equal> {
  const time = (minutes: number): string =>
    `datetime.time(${Math.floor(minutes / 60)}, ${minutes % 60})`
  const span = (times: TimeOfDay | null): string => {
    const [from, to] = times === null ? ['None', 'None'] : [time(times.from), time(times.to)]
    return `start_time=${from}, end_time=${to})`
  }
  const group = groupFor(parseRobots(robots), agent)
  const { delayMs = null, rate = null, visit = null } = group ?? {}
  const given: Record<string, unknown> = {
    crawl_delay: delayMs === null ? null : delayMs / 1000,
    request_rate:
      rate &&
      `RequestRate(requests=${rate.requests}, seconds=${rate.seconds}, ${span(rate.between)}`,
    visit_time: visit && `VisitTime(${span(visit)}`,
  }
  return equal(given[kind], result)
}

/** An answer of this status to every request. */
function answering(status: number): Egress {
  const body = new TextEncoder().encode('User-agent: *\nDisallow: ')
  const answer: EgressAnswer = {
    kind: 'answer',
    status,
    headers: {},
    body: body.buffer,
    truncated: false,
    capped: false,
    remoteAddress: '192.0.2.1',
    wireBytes: body.length,
  }
  return { request: () => Promise.resolve(answer) } as unknown as Egress
}

export const robotsQuestions: Questions = {
  'robots-google': mayFetch,
  'robots-crawler-commons': mayFetch,
  'robots-protego': mayFetch,
  'robots-robots-parser': mayFetch,
  'robots-robots-parser-other': (one) =>
    equal(answers[one.fn]?.(parseRobots(one.robots), one.args, one), one.result),
  'robots-protego-delay': timings,
  'robots-http-status': async ({ status, allowAll }) => {
    const { verdict } = await fetchRobots(answering(status), 'http://h.example')
    return equal(verdict !== 'closed', allowAll)
  },
}
