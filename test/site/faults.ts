/** The ill-behaved part of the test web: one entry a fault, with what a good crawler makes of it. Pure: waiting and cutting off are told by the reply. */
import { gzipSync } from 'node:zlib'
import { encodeGbk, htmlPage } from './html.ts'
import type { Link } from './html.ts'
import { createRandom, sentences } from './words.ts'

export type Reply = {
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Wait before the first byte. */
  delayMs?: number
  /** whole (default); cut = the connection ends before the promised length; hang = no answer at all; endless = the body never ends. */
  ending?: 'whole' | 'cut' | 'hang' | 'endless'
}
/** `visit` counts the requests of this path from 1. `query` is without the question mark. */
export type Answer = (request: { visit: number; query: string }) => Reply

export type Fault = {
  /** What the page of faults links to. */
  links: readonly string[]
  /** Paths that only the site map names. */
  mapped?: readonly string[]
  /** Paths that end up as documents. */
  stored: readonly string[]
  /** Paths that may be asked for but must not become documents. */
  refused?: readonly string[]
  /** Paths that must not even be asked for. */
  never?: readonly string[]
  /** Paths of this beginning have no end: fetched at least once, at most so often, stored or not. */
  bounded?: { prefix: string; requestsMax: number }
  answers: Readonly<Record<string, Answer>>
}

const html = { 'content-type': 'text/html; charset=utf-8' }

/** A page with enough text of its own, told by its title, that it is no copy of another. */
function textPage(
  title: string,
  more: { links?: Link[]; head?: string; tail?: string } = {},
): string {
  const seed = Array.from(title).reduce(
    (sum, letter) => Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0),
    7,
  )
  const random = createRandom(seed)
  return htmlPage({
    script: 'en',
    title,
    paragraphs: [sentences(random, 'en', 8).join(' '), sentences(random, 'en', 8).join(' ')],
    ...more,
  })
}
const fixed = (body: string | Uint8Array, headers: Record<string, string> = html): Answer => {
  return () => ({ headers, body })
}
const page = (title: string, more?: Parameters<typeof textPage>[1]): Answer =>
  fixed(textPage(title, more))
const moved = (location: string, status = 301): Answer => {
  return () => ({ status, headers: { location }, body: '' })
}
const status = (code: number): Answer => {
  const body = textPage(`Status ${code}`)
  return () => ({ status: code, headers: html, body })
}
const to = (...hrefs: string[]): Link[] => hrefs.map((href) => ({ href, text: `to ${href}` }))

const deepLevels = 30_000
const bombBytes = 200_000_000
const heavyWords = 400_000

/** Every fault by name. `foreign` is the origin of a second server that nobody may visit. */
export function faultsOf(foreign: string): Readonly<Record<string, Fault>> {
  return { ...linkFaults(foreign), ...statusFaults(), ...bodyFaults(), ...endlessFaults() }
}

function linkFaults(foreign: string): Record<string, Fault> {
  return {
    robots: {
      links: ['/private/1.html', '/private/2.html'],
      stored: [],
      never: ['/private/1.html', '/private/2.html'],
      answers: { '/private/1.html': page('Private one'), '/private/2.html': page('Private two') },
    },
    sitemap: {
      links: [],
      mapped: ['/orphan.html'],
      stored: ['/orphan.html'],
      answers: { '/orphan.html': page('Known to the site map alone') },
    },
    redirects: {
      links: ['/moved/old.html', '/moved/hop-1', '/moved/round-1'],
      stored: ['/moved/new/page.html', '/moved/new/next.html', '/moved/end.html'],
      refused: [
        '/moved/old.html',
        '/moved/hop-1',
        '/moved/hop-2',
        '/moved/round-1',
        '/moved/round-2',
      ],
      never: ['/moved/next.html'],
      answers: {
        '/moved/old.html': moved('/moved/new/page.html'),
        // Relative to where the redirect led, not to where it began.
        '/moved/new/page.html': page('A page that moved', { links: to('next.html') }),
        '/moved/new/next.html': page('Beside the page that moved'),
        '/moved/hop-1': moved('hop-2', 302),
        '/moved/hop-2': moved('/moved/end.html', 307),
        '/moved/end.html': page('The end of two hops'),
        '/moved/round-1': moved('/moved/round-2', 302),
        '/moved/round-2': moved('/moved/round-1', 302),
      },
    },
    foreign: {
      links: [`${foreign}/linked.html`, '/leave'],
      stored: [],
      refused: ['/leave'],
      answers: { '/leave': moved(`${foreign}/redirected.html`, 302) },
    },
    base: {
      links: ['/base/page.html'],
      stored: ['/base/page.html', '/base/sub/leaf.html'],
      never: ['/base/leaf.html'],
      answers: {
        '/base/page.html': page('A relative base', {
          head: '<base href="sub/">',
          links: to('leaf.html'),
        }),
        '/base/sub/leaf.html': page('A leaf below the base'),
      },
    },
    meta: {
      links: ['/meta/nofollow.html', '/meta/noindex.html', '/meta/header.html', '/meta/rel.html'],
      stored: ['/meta/nofollow.html', '/meta/rel.html', '/meta/behind-noindex.html'],
      refused: ['/meta/noindex.html', '/meta/header.html'],
      never: ['/meta/never-1.html', '/meta/never-2.html', '/meta/never-3.html'],
      answers: {
        '/meta/nofollow.html': page('Do not follow', {
          head: '<meta name="ROBOTS" content="NoFollow">',
          links: to('never-1.html'),
        }),
        '/meta/noindex.html': page('Do not index', {
          head: '<meta name=robots content="noindex, follow">',
          links: to('behind-noindex.html'),
        }),
        '/meta/behind-noindex.html': page('Behind a page that is not indexed'),
        '/meta/header.html': fixed(textPage('Neither, by header', { links: to('never-2.html') }), {
          ...html,
          'x-robots-tag': 'noindex, nofollow',
        }),
        '/meta/rel.html': page('A link not to follow', {
          links: [{ href: 'never-3.html', text: 'an advertisement', rel: 'nofollow' }],
        }),
        '/meta/never-1.html': page('Never one'),
        '/meta/never-2.html': page('Never two'),
        '/meta/never-3.html': page('Never three'),
      },
    },
    comments: {
      links: ['/comments.html'],
      stored: ['/comments.html'],
      never: ['/comment-1.html', '/comment-2.html'],
      answers: {
        '/comments.html': page('Links that are none', {
          tail: `<!-- <a href="/comment-1.html">old</a> --><script>document.write('<a href="/comment-2.html">x</a>')</script>`,
        }),
      },
    },
  }
}

function statusFaults(): Record<string, Fault> {
  return {
    broken: {
      links: ['/broken/404.html', '/broken/410.html', '/broken/never-written.html'],
      stored: [],
      refused: ['/broken/404.html', '/broken/410.html', '/broken/never-written.html'],
      answers: { '/broken/404.html': status(404), '/broken/410.html': status(410) },
    },
    error: {
      links: ['/broken/500.html'],
      stored: [],
      refused: ['/broken/500.html'],
      answers: { '/broken/500.html': status(500) },
    },
    flaky: {
      links: ['/flaky.html'],
      stored: ['/flaky.html'],
      answers: {
        '/flaky.html': firstThen({ status: 500, headers: html, body: 'try again' }, 'Well at last'),
      },
    },
    busy: {
      links: ['/busy.html'],
      stored: ['/busy.html'],
      answers: {
        '/busy.html': firstThen({ status: 429, headers: { 'retry-after': '1' } }, 'No longer busy'),
      },
    },
  }
}

/** A bad reply at the first visit, a good page from then on. */
function firstThen(first: Reply, title: string): Answer {
  const body = textPage(title)
  return ({ visit }) => (visit === 1 ? first : { headers: html, body })
}

function bodyFaults(): Record<string, Fault> {
  const chineseText =
    '这一页用旧的编码写成，声明说的是另一个更小的字符集。图书馆的灯笼在雨里摇晃，裁缝忘记了他的剪刀。'
  const gbkPage = (charset: string): Buffer =>
    encodeGbk(
      `<html><head>${charset}<title>旧编码的页面</title></head><body><p>${chineseText}镕</p></body></html>`,
    )
  const long = textPage('A page that is cut off')
  return {
    heavy: {
      links: ['/heavy.html'],
      stored: [],
      refused: ['/heavy.html'],
      answers: { '/heavy.html': () => ({ headers: html, body: (heavyBody ??= heavyPage()) }) },
    },
    gbk: {
      links: ['/gbk/declared.html'],
      stored: ['/gbk/declared.html'],
      answers: {
        '/gbk/declared.html': fixed(
          gbkPage('<meta http-equiv="Content-Type" content="text/html; charset=GB2312">'),
          { 'content-type': 'text/html' },
        ),
      },
    },
    gzip: {
      links: ['/gzip.html'],
      stored: ['/gzip.html'],
      answers: {
        '/gzip.html': fixed(gzipSync(textPage('A packed page')), {
          ...html,
          'content-encoding': 'gzip',
        }),
      },
    },
    slow: {
      links: ['/slow.html'],
      stored: ['/slow.html'],
      answers: { '/slow.html': () => ({ delayMs: 700, headers: html, body: slowBody }) },
    },
    binary: {
      links: ['/binary.html', '/archive.zip'],
      stored: [],
      refused: ['/binary.html', '/archive.zip'],
      answers: {
        '/binary.html': fixed(binaryBytes(), html),
        '/archive.zip': fixed(binaryBytes(), { 'content-type': 'application/zip' }),
      },
    },
    cut: {
      links: ['/cut.html'],
      stored: ['/cut.html'],
      answers: {
        '/cut.html': () => ({
          headers: { ...html, 'content-length': String(2 * Buffer.byteLength(long)) },
          body: long,
          ending: 'cut',
        }),
      },
    },
    deep: {
      links: ['/deep/nest.html'],
      stored: ['/deep/nest.html', '/deep/bottom.html'],
      answers: {
        '/deep/nest.html': page('Thirty thousand levels', {
          tail: `${'<div>'.repeat(deepLevels)}<a href="bottom.html">the bottom</a>`,
        }),
        '/deep/bottom.html': page('The bottom of the nest'),
      },
    },
    bomb: {
      links: ['/bomb.html'],
      stored: [],
      refused: ['/bomb.html'],
      answers: {
        '/bomb.html': () => ({
          headers: { ...html, 'content-encoding': 'gzip' },
          body: (bombBody ??= gzipSync(Buffer.alloc(bombBytes, 'la '), { level: 9 })),
        }),
      },
    },
  }
}

const slowBody = textPage('A slow page')
let bombBody: Buffer | undefined
let heavyBody: string | undefined

/** As much text as a page may have, and no word twice: more work than a parser is given time for in the tests. */
function heavyPage(): string {
  const words = Array.from({ length: heavyWords }, (_, at) => `w${(at * 7919).toString(36)}`)
  const blocks = Array.from(
    { length: heavyWords / 20 },
    (_, at) =>
      `<p>${words.slice(at * 20, at * 20 + 20).join(' ')}, 图书馆${at}的灯笼在雨里摇晃</p>`,
  )
  return `<html><title>Heavy</title><body>${blocks.join('')}</body></html>`
}

/** What a program file looks like: zero bytes and control characters. */
function binaryBytes(): Buffer {
  const bytes = Buffer.alloc(4096)
  for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 167 + (at >> 3)) & 0xff
  bytes.write('\x7fELF', 0, 'latin1')
  return bytes
}

function endlessFaults(): Record<string, Fault> {
  return {
    // Nothing but the depth of the crawl ends it: every level adds months.
    calendar: {
      links: ['/calendar?month=1'],
      stored: [],
      bounded: { prefix: '/calendar', requestsMax: 100 },
      answers: { '/calendar': calendarPage },
    },
    huge: {
      links: ['/huge.html'],
      stored: [],
      refused: ['/huge.html'],
      answers: { '/huge.html': () => ({ headers: html, body: long64k, ending: 'endless' }) },
    },
    hang: {
      links: ['/hang.html'],
      stored: [],
      refused: ['/hang.html'],
      answers: { '/hang.html': () => ({ ending: 'hang' }) },
    },
  }
}

const long64k = 'la '.repeat(22_000)

/** Each month links to its neighbours, for ever, and says nothing new. */
const calendarPage: Answer = ({ query }) => {
  const month = Number(new URLSearchParams(query).get('month') ?? 1) || 1
  const links = to(`/calendar?month=${month + 1}`, `/calendar?month=${month + 12}`)
  const text =
    'There are no events in this month. Visitors may ask at the desk for the programme of the season, ' +
    'which is printed on green paper and lies beside the stairs until the last copy is gone.'
  const body = htmlPage({
    script: 'en',
    title: `Calendar, month ${month}`,
    paragraphs: [text],
    links,
  })
  return { headers: html, body }
}
