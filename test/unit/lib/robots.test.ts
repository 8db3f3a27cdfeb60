/** robots.txt: what is allowed, which line says so, how slowly. The suites of other projects, and what they leave out. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  crawlDelayMs,
  groupFor,
  isAllowed,
  parseRobots,
  robotsBytesMax,
  sitemaps,
  type Robots,
  type TimeOfDay,
} from '../../../src/lib/robots.ts'
import { conformance } from '../../conformance.ts'

const wire = (url: string): string => {
  const parsed = URL.parse(url, 'http://h.example/')
  return parsed === null ? '/' : parsed.pathname + parsed.search
}
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('isAllowed', () => {
  type Case = readonly [robots: string, path: string, allowed: boolean, line: number | null]
  const cases: readonly Case[] = [
    ['', '/x', true, null],
    ['user-agent: *\ndisallow: /a', '/ab', false, 2],
    ['user-agent: *\ndisallow: /a\nallow: /ab', '/abc', true, 3],
    ['user-agent: *\nallow: /a\ndisallow: /a', '/a', true, 2],
    ['user-agent: *\ndisallow:', '/a', true, null],
    ['disallow: /', '/a', true, null],
    ['user-agent: other\ndisallow: /', '/a', true, null],
    ['user-agent: *\ndisallow: /\n\nuser-agent: findling\nallow: /', '/a', true, 5],
    ['user-agent: findling\ndisallow: /a\nuser-agent: FINDLING/2.0\ndisallow: /b', '/b', false, 4],
    ['\uFEFFuser-agent: *\r\ndisallow: /', '/a', false, 2],
    ['user-agent: *\rdisallow: /a\r', '/a', false, 2],
    ['user-agent: *\ndisallow: /*.pdf$', '/x/y.pdf', false, 2],
    ['user-agent: *\ndisallow: /*.pdf$', '/x/y.pdf?z', true, null],
    ['user-agent: *\ndisallow: /a*b*c', '/axxbyyc', false, 2],
    ['user-agent: *\ndisallow: /a*b*c', '/axxcyyb', true, null],
    ['user-agent: *\ndisallow: /a*a$', '/a', true, null],
    ['user-agent: *\ndisallow: /*', '/robots.txt', true, null],
    ['user-agent: *\ndisallow: /中文', '/%e4%b8%ad%E6%96%87/x', false, 2],
    ['user-agent: *\ndisallow: /%7Ejoe', '/~joe', false, 2],
    ['user-agent: *\ndisallow: /a%2Fb', '/a/b', true, null],
    ['user-agent: *\ndisallow: /private # not for you', '/private', false, 2],
    ['<html>\n<body>Disallow: /\n</body>', '/x', true, null],
  ]
  for (const [robots, path, allowed, line] of cases) {
    it(`${JSON.stringify(robots)}: ${path} is ${allowed ? 'allowed' : 'disallowed'}`, () => {
      const verdict = isAllowed(parseRobots(robots), 'Findling', path)
      assert.deepEqual([verdict.allowed, verdict.line], [allowed, line])
      // Plain data: it survives JSON, and bytes are read as text is.
      const copy = JSON.parse(JSON.stringify(parseRobots(encode(robots)))) as Robots
      assert.deepEqual(isAllowed(copy, 'Findling', path), verdict)
    })
  }

  it('names the deciding rule as it stands in the file', () => {
    const robots = parseRobots('User-Agent: *\n  Disallow : /a   # because')
    assert.equal(isAllowed(robots, 'Findling', '/a').rule, 'Disallow : /a   # because')
  })

  it('reads a file that is not UTF-8 by its bytes', () => {
    const robots = parseRobots(
      Buffer.from('user-agent: *\ndisallow: /stra\xDFe\ndisallow: /b', 'latin1'),
    )
    assert.equal(isAllowed(robots, 'Findling', '/stra%DFe').allowed, false)
    assert.equal(isAllowed(robots, 'Findling', '/b').allowed, false)
    assert.equal(isAllowed(robots, 'Findling', '/stra%C3%9Fe').allowed, true)
  })

  it('takes a Crawl-delay that no crawl can live with for a refusal', () => {
    const delayed = (seconds: number): boolean =>
      isAllowed(parseRobots(`user-agent: *\ncrawl-delay: ${seconds}`), 'Findling', '/').allowed
    assert.deepEqual([delayed(299), delayed(300), delayed(301)], [true, true, false])
  })

  it('reads the whole lines of 500 KiB and nothing of a line that is cut', () => {
    const head = 'user-agent: *\n'
    const last = 'disallow: /last\n'
    const fill = (bytes: number): string => `#${'x'.repeat(bytes - 2)}\n`
    const within = head + fill(robotsBytesMax - head.length - last.length) + last
    assert.equal(isAllowed(parseRobots(encode(within)), 'Findling', '/last').allowed, false)
    const beyond = `${head}${fill(robotsBytesMax - head.length - 11)}disallow: /last\n`
    assert.equal(isAllowed(parseRobots(encode(beyond)), 'Findling', '/x').allowed, true)
  })

  it('is linear: a hostile pattern costs no more than a plain one of its length', () => {
    const robots = parseRobots(`user-agent: *\ndisallow: /${'*a'.repeat(4000)}b$`)
    const beganAt = process.cpuUsage()
    assert.equal(isAllowed(robots, 'Findling', `/${'a'.repeat(2000)}`).allowed, true)
    const { user } = process.cpuUsage(beganAt)
    assert.ok(user < 100_000, `${user} µs`)
  })

  it('stays small with many names for many rules', () => {
    const numbered = (line: string): string[] =>
      Array.from({ length: 15_000 }, (_, i) => `${line}${i}`)
    const beganAt = process.cpuUsage()
    const robots = parseRobots(
      [...numbered('user-agent: bot'), ...numbered('disallow: /')].join('\n'),
    )
    assert.equal(robots.groups.length, 15_000)
    assert.equal(isAllowed(robots, 'bot7', '/14999').allowed, false)
    const { user } = process.cpuUsage(beganAt)
    assert.ok(user < 1_500_000, `${user} µs`)
  })

  it('agrees with a naive matcher on small patterns', () => {
    const sign = fc.constantFrom('/', 'a', 'b', '*', '$')
    const pattern = fc.array(sign, { maxLength: 6 }).map((signs) => `/${signs.join('')}`)
    const path = fc
      .array(fc.constantFrom('/', 'a', 'b'), { maxLength: 7 })
      .map((signs) => `/${signs.join('')}`)
    const naive = (rule: string, whole: string): boolean =>
      rule === ''
        ? true
        : rule === '$'
          ? whole === ''
          : rule.startsWith('*')
            ? naive(rule.slice(1), whole) || (whole !== '' && naive(rule, whole.slice(1)))
            : whole.startsWith(rule[0] ?? '') && naive(rule.slice(1), whole.slice(1))
    fc.assert(
      fc.property(pattern, path, (rule, whole) => {
        const robots = parseRobots(`user-agent: *\ndisallow: ${rule}`)
        assert.equal(isAllowed(robots, 'Findling', whole).allowed, !naive(rule, whole))
      }),
      { numRuns: 2000 },
    )
  })

  it('never throws, whatever the file, the agent and the path', () => {
    const line = fc.tuple(
      fc.constantFrom(
        'user-agent',
        'disallow',
        'allow',
        'crawl-delay',
        'request-rate',
        'sitemap',
        'x',
        '',
      ),
      fc.constantFrom(':', ' ', '', '\t:'),
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.constantFrom('*', '/', '/*a$', '%', '1/0', '9e9', '<br>'),
      ),
    )
    const text = fc
      .array(line, { maxLength: 30 })
      .map((lines) => lines.map((parts) => parts.join('')).join('\n'))
    const file = fc.oneof(text, fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 200 }))
    fc.assert(
      fc.property(
        file,
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (robots, agent, path) => {
          const parsed = parseRobots(robots)
          assert.equal(typeof isAllowed(parsed, agent, path).allowed, 'boolean')
          const delayMs = crawlDelayMs(parsed, agent)
          assert.ok(delayMs === null || delayMs >= 0)
        },
      ),
      { numRuns: 600 },
    )
  })
})

describe('crawlDelayMs', () => {
  const delays: readonly (readonly [robots: string, delayMs: number | null])[] = [
    ['user-agent: *\ncrawl-delay: 2', 2000],
    ['user-agent: *\ncrawl-delay: 0.5', 500],
    ['user-agent: *\ncrawl-delay: -1', null],
    ['user-agent: *\ncrawl-delay: 1e9', null],
    ['user-agent: *\ncrawl-delay: soon', null],
    ['user-agent: *\nrequest-rate: 2/10s', 5000],
    ['user-agent: *\nrequest-rate: 1/0', 0],
    ['user-agent: *\nrequest-rate: 0/1', null],
    ['user-agent: findling\ndisallow: /x\n\nuser-agent: *\ncrawl-delay: 9', null],
  ]
  for (const [robots, delayMs] of delays) {
    it(`${JSON.stringify(robots)} asks for ${delayMs ?? 'no delay'}`, () =>
      assert.equal(crawlDelayMs(parseRobots(robots), 'Findling'), delayMs))
  }
})

describe('sitemaps', () => {
  it('are taken wherever they stand, at most 1,000 of them', () => {
    const robots = 'Sitemap: /a.xml\nuser-agent: x\nsitemap : http://h.example/b.xml\nsitemap:\n'
    assert.deepEqual(sitemaps(parseRobots(robots)), ['/a.xml', 'http://h.example/b.xml'])
    assert.equal(sitemaps(parseRobots('sitemap: /a\n'.repeat(1001))).length, 1000)
  })
})

type Verdict = {
  robots: string | null
  robots_b64?: string
  agent?: string | null
  agents?: string[]
  url: string
  allowed: boolean
}

/** A crawler of several names obeys every group that speaks to one of them. */
function judge(robots: Robots, agents: readonly string[], url: string): boolean {
  const isNamed = (agent: string): boolean =>
    agent === '*' || (groupFor(robots, agent)?.agent ?? '*') !== '*'
  const named = agents.filter(isNamed)
  const asked = named.length > 0 ? named : agents.slice(0, 1)
  return asked.every((agent) => isAllowed(robots, agent, wire(url)).allowed)
}

describe('the robots suites of other projects', () => {
  const files = ['google', 'protego', 'crawler-commons', 'robots-parser']
  for (const file of files) {
    it(`${file}: every case but those that INDEX.json excludes`, (t) => {
      const suite = conformance(`robots-${file}.json`, t)
      if (suite === null) return
      let passed = 0
      for (const [i, one] of (suite.cases as Verdict[]).entries()) {
        if (suite.skipped.has(i)) continue
        const bytes =
          one.robots_b64 === undefined ? (one.robots ?? '') : Buffer.from(one.robots_b64, 'base64')
        const agents = one.agents ?? [one.agent ?? '*']
        assert.equal(judge(parseRobots(bytes), agents, one.url), one.allowed, `case ${i}`)
        passed += 1
      }
      assert.equal(passed, suite.scored)
    })
  }

  it('robots-parser: delays, sitemaps, hosts and lines', (t) => {
    const suite = conformance('robots-robots-parser-other.json', t)
    if (suite === null) return
    type Case = { robotsUrl: string; robots: string; fn: string; args: string[]; result: unknown }
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
        return (
          groupFor(robots, agent)?.agent !== '*' && !isAllowed(robots, agent, wire(url)).allowed
        )
      },
    }
    for (const [i, one] of (suite.cases as Case[]).entries()) {
      assert.deepEqual(
        answers[one.fn]?.(parseRobots(one.robots), one.args, one),
        one.result,
        `case ${i}`,
      )
    }
  })

  it('protego: delays, rates and times', (t) => {
    const suite = conformance('robots-protego-delay.json', t)
    if (suite === null) return
    type Case = { robots: string; kind: string; agent: string; result: unknown }
    const time = (minutes: number): string =>
      `datetime.time(${Math.floor(minutes / 60)}, ${minutes % 60})`
    const span = (times: TimeOfDay | null): string => {
      const [from, to] = times === null ? ['None', 'None'] : [time(times.from), time(times.to)]
      return `start_time=${from}, end_time=${to})`
    }
    for (const [i, one] of (suite.cases as Case[]).entries()) {
      const group = groupFor(parseRobots(one.robots), one.agent)
      const { delayMs = null, rate = null, visit = null } = group ?? {}
      const answers: Record<string, unknown> = {
        crawl_delay: delayMs === null ? null : delayMs / 1000,
        request_rate:
          rate &&
          `RequestRate(requests=${rate.requests}, seconds=${rate.seconds}, ${span(rate.between)}`,
        visit_time: visit && `VisitTime(${span(visit)}`,
      }
      assert.deepEqual(answers[one.kind], one.result, `case ${i}`)
    }
  })
})
