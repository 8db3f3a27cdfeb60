/** The parser thread's work: a body in, an analysed page or a reason out, whatever the body is. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { deflateRawSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import type { ParsedPage, ParseJob } from '../../../src/crawl/page.ts'
import { unpackText } from '../../../src/lib/packed-text.ts'
import { createParser, type Parser } from '../../../src/crawl/parse.ts'
import { createAnalyzer, type DocumentText } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'
import { encodeText } from './encode-text.ts'
import { ruleFor } from './rule-fixture.ts'

const url = 'http://h.example/dir/page.html'
const nowMs = Date.UTC(2026, 0, 1)
const decodedBytesMax = 2_000_000
/** What the analyzer was given, the last time. */
let analysed: DocumentText | null = null
let parser: Parser

before(() => {
  const analyzer = createAnalyzer(loadTestTables())
  parser = createParser({
    analyzer: { document: (document) => analyzer.document((analysed = document)) },
    keywords: {
      keywords: async (_text, title, lang, max) =>
        [title, lang, String(max)].map((word) => ({ word, weight: 1 })),
    },
    decodedBytesMax,
    linksMax: 3,
    now: () => nowMs,
  })
})

function jobOf(body: string | Uint8Array, job: Partial<ParseJob> = {}): ParseJob {
  const bytes = Uint8Array.from(Buffer.from(body as string))
  return {
    url,
    body: bytes.buffer,
    encoding: '',
    contentType: 'text/html',
    robotsTag: '',
    rule: null,
    depth: 0,
    seed: 7,
    ...job,
  }
}
async function pageOf(body: string | Uint8Array, job: Partial<ParseJob> = {}): Promise<ParsedPage> {
  const outcome = await parser.parse(jobOf(body, job))
  assert.ok(outcome.kind === 'page', JSON.stringify(outcome))
  return outcome.page
}
const textOf = unpackText

const prose =
  'The old harbour bridge was closed on Monday, after inspectors found cracks in two of its pillars, the council said. '
const story = `<html lang="en-GB"><head><title>Bridge closed - News</title><meta name="description" content="In
  short"><meta name="author" content="Ann Example"><meta property="article:published_time" content="2024-05-06T07:00:00Z">
  <link rel="canonical" href="http://h.example/story"><base href="/base/"></head><body><nav><a href="one">First</a>
  <a href="two" rel="nofollow">Second</a><a href="http://other.example/#x">Third</a></nav><article><h1>Bridge closed</h1>
  <p>${prose}</p><h2>What now</h2><p>${prose}</p><p>${prose}</p><p>${prose}</p></article><p class="foot">Imprint</p></body></html>`

describe('a page', () => {
  it('becomes everything that is stored of it', async () => {
    const page = await pageOf(story)
    assert.equal(page.title, 'Bridge closed')
    assert.equal(page.description, 'In short')
    assert.equal(page.author, 'Ann Example')
    assert.equal(page.publishedAtMs, Date.UTC(2024, 4, 6, 7))
    assert.equal(page.lang, 'en')
    assert.equal(page.headings, 'What now')
    assert.equal(
      textOf(page.text),
      [prose, 'What now', prose, prose, prose].map((text) => text.trim()).join('\n'),
    )
    assert.equal(page.textChars, textOf(page.text).length)
    assert.equal(textOf(page.rest), 'First SecondThird\nBridge closed\nImprint')
    assert.deepEqual(page.links, ['http://h.example/base/one', 'http://other.example/'])
    assert.equal(page.canonical, 'http://h.example/story')
    assert.deepEqual(
      [page.refresh, page.noindex, page.noarchive, page.charset],
      [null, false, false, 'utf-8'],
    )
    assert.deepEqual(
      page.keywords.map(({ word }) => word),
      ['Bridge closed', 'en', '16'],
    )
    assert.ok(page.confidence > 0.3 && page.confidence <= 1)
  })

  it('is found by the words of its title, text, rest and URL', async () => {
    const page = await pageOf(story)
    const terms = page.terms.split('\n')
    for (const term of ['bridg', 'harbour', 'imprint', 'dir']) assert.ok(terms.includes(term), term)
    assert.equal(terms.length, page.quants.length)
    assert.ok(page.length > 0)
  })

  it('travels: its buffers are its own, and it survives the way between threads', async () => {
    const page = await pageOf(story)
    for (const bytes of [page.text, page.rest, page.quants])
      assert.deepEqual([bytes.byteOffset, bytes.byteLength], [0, bytes.buffer.byteLength])
    assert.deepEqual(structuredClone(page), page)
  })

  it('is fingerprinted by its main text alone', async () => {
    const [one, two, other] = await Promise.all([
      pageOf(story),
      pageOf(story.replace('Imprint', 'Imprint and more').replace('First', 'Another menu')),
      pageOf(story.replace('harbour', 'railway')),
    ])
    assert.deepEqual(one.fingerprint.digest, two.fingerprint.digest)
    assert.notDeepEqual(one.fingerprint.digest, other.fingerprint.digest)
  })

  it('gives its doubtful prose full weight where the main content is uncertain', async () => {
    const comment =
      'The ferry was late again this morning, and nobody on the pier knew why, says a reader. '
    const html = `<div class="content"><p>${prose}${prose}</p></div><div class="comments"><p>${comment}</p></div>`
    const page = await pageOf(html)
    assert.ok(!textOf(page.text).includes('ferry') && textOf(page.rest).includes('ferry'))
    assert.ok(analysed?.text.includes('ferry'))
  })
})

describe('the body of a page', () => {
  const chinese = '图书馆每天早上八点开门，读者可以借走自己喜欢的书。朱镕基 啰嗦 繁體'
  const gbk = encodeText(
    `<html><head><title>开放</title></head><body>${chinese}</body></html>`,
    'gb18030',
  )
  it('is decoded by what it is, declared or not', async () => {
    const page = await pageOf(gbk)
    assert.deepEqual(
      [page.charset, page.title, textOf(page.text), page.lang],
      ['gb18030', '开放', chinese, 'zh'],
    )
  })
  it('is unpacked, with or without a label, and as far as it came', async () => {
    const packed = gzipSync(story)
    assert.equal((await pageOf(packed, { encoding: 'gzip' })).title, 'Bridge closed')
    assert.equal((await pageOf(packed)).title, 'Bridge closed')
    assert.equal(
      (await pageOf(deflateRawSync(story), { encoding: 'deflate' })).title,
      'Bridge closed',
    )
    assert.equal(
      (await pageOf(packed.subarray(0, packed.length - 9), { encoding: 'gzip' })).title,
      'Bridge closed',
    )
  })
  it('is HTML without a label, when it looks so', async () => {
    assert.equal((await pageOf('<p>text</p>', { contentType: '' })).textChars, 4)
    assert.equal((await pageOf('1 < 2, says he', { contentType: '' })).textChars, 14)
  })

  const html = '<!doctype html><title>t</title><p>Words to read.'
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500, 7)])
  const utf16 = Buffer.from(`\uFEFF${html}`, 'utf16le')
  const pages: readonly (readonly [name: string, contentType: string, body: string | Buffer])[] = [
    ['HTML without a label', '', html],
    ['text without a label', '', 'words'],
    ['HTML under a label that is none', 'html', html],
    ['HTML as octet-stream', 'application/octet-stream', html],
    ['XHTML as XML', 'text/xml', `<?xml version="1.0"?>\n${html}`],
    ['UTF-16', 'text/html', utf16],
    ['UTF-16 without a mark', 'text/html', utf16.subarray(2)],
    ['Chinese UTF-16', 'text/html; charset="UTF-16"', Buffer.from('一百三十丂与丏', 'utf16le')],
    ['GBK', '', Buffer.from('b1eacce23a20d6d0b9fa', 'hex')],
    ['a stray NUL in HTML', 'text/html', `${html}\0 and more text to read`],
    ['gzip in HTML clothes, twice packed', 'text/html', gzipSync(gzipSync(html))],
  ]
  for (const [name, contentType, body] of pages)
    it(`is one: ${name}`, async () =>
      assert.equal((await parser.parse(jobOf(body, { contentType }))).kind, 'page'))

  const refused: [
    name: string,
    body: string | Uint8Array,
    job: Partial<ParseJob>,
    reason: string,
  ][] = [
    ['a picture', 'x', { contentType: 'image/png' }, 'type'],
    ['a picture as HTML', png, {}, 'type'],
    ['a packed picture as HTML', gzipSync(png), { encoding: 'gzip' }, 'type'],
    ['a picture without a label', png, { contentType: '' }, 'type'],
    ['binary as HTML', Buffer.alloc(3_000, '\x01\x02\x03abc'), {}, 'type'],
    ['text as octet-stream', 'words', { contentType: 'application/octet-stream' }, 'type'],
    ['a feed as XML', '<?xml version="1.0"?><rss>', { contentType: 'application/xml' }, 'type'],
    ['a PDF under a wrong label', '%PDF-1.7 ...', {}, 'type'],
    [
      'a PDF that is none behind its first bytes',
      '%PDF-1.7 ...',
      { contentType: 'application/pdf' },
      'broken-pdf',
    ],
    ['a feed', '<?xml version="1.0"?><rss></rss>', { contentType: 'application/rss+xml' }, 'type'],
    ['nothing', '', {}, 'empty'],
    ['blanks', ' \n\t ', {}, 'empty'],
    ['too much', gzipSync(Buffer.alloc(decodedBytesMax + 1, 'a')), { encoding: 'gzip' }, 'size'],
    ['a coding that we do not undo', 'x', { encoding: 'br' }, 'encoding'],
  ]
  for (const [name, body, job, reason] of refused)
    it(`is refused: ${name}`, async () =>
      assert.deepEqual(await parser.parse(jobOf(body, job)), { kind: 'refused', reason }))

  it('may be anything: there is an answer', async () => {
    const job = fc.record({
      contentType: fc.constantFrom(
        'text/html',
        'text/plain',
        '',
        'text/html; charset=gbk',
        'text/html; charset=utf-16',
      ),
      encoding: fc.constantFrom('', 'gzip', 'deflate'),
      robotsTag: fc.string({ maxLength: 40 }),
    })
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.string({ unit: 'binary', maxLength: 200 }).map((text) => new TextEncoder().encode(text)),
    )
    await fc.assert(
      fc.asyncProperty(bytes, job, async (body, partial) => {
        const outcome = await parser.parse(jobOf(body, partial))
        assert.notEqual(outcome.kind, 'failed', JSON.stringify(outcome))
        if (outcome.kind !== 'page') return
        assert.notEqual(outcome.page.title, '')
        assert.ok(outcome.page.textChars > 0)
      }),
      { numRuns: 200 },
    )
  })

  it('may have a title that shows nothing: then the URL is its title', async () =>
    assert.equal((await pageOf(`<title>\u0001</title><p>${prose}`)).title, url))

  it('that breaks a part of the parser is a failure, not an exception', async () => {
    const broken = createParser({
      analyzer: {
        document: () => {
          throw new RangeError('no')
        },
      },
      keywords: { keywords: async () => [] },
      decodedBytesMax,
    })
    assert.deepEqual(await broken.parse(jobOf(story)), { kind: 'failed', reason: 'no' })
  })
})

describe('what a page asks of robots', () => {
  it('is obeyed: nofollow has no links and no refresh, noindex is told', async () => {
    const html = `<meta name=robots content="nofollow, noarchive"><meta http-equiv=refresh content="0;url=/x">${story}`
    const page = await pageOf(html, { robotsTag: 'noindex' })
    assert.deepEqual(
      [page.links, page.refresh, page.noindex, page.noarchive],
      [[], null, true, true],
    )
  })
  it('leads on by a refresh', async () =>
    assert.equal(
      (await pageOf('<meta content="0;url=/mr.html" http-equiv="refresh">')).refresh,
      'http://h.example/mr.html',
    ))
  it('keeps the first links only', async () => {
    const html = '<a href=/1>a</a><a href=/2>b</a><a href=/3>c</a><a href=/4>d</a>'
    assert.equal((await pageOf(html)).links.length, 3)
  })
})

describe('plain text', () => {
  const cases: [text: string, title: string][] = [
    ['Release notes\n\nFixed a bug.', 'Release notes'],
    ['\n\n# Heading #\r\ntext', 'Heading'],
    ['=====\nThe title\n=====', 'The title'],
    [`${'long '.repeat(60)}\nrest`, 'page.html'],
    ['---', 'page.html'],
  ]
  for (const [text, title] of cases)
    it(`${JSON.stringify(text.slice(0, 30))} is titled ${title}`, async () => {
      const page = await pageOf(text, {
        contentType: 'text/plain; charset=utf-8',
        robotsTag: 'noarchive',
      })
      assert.equal(page.title, title)
      assert.equal(textOf(page.text), text.replaceAll('\r', '').trim())
      assert.deepEqual([page.links, page.noarchive], [[], true])
    })
  it('keeps its markup', async () => {
    const page = await pageOf('<p>not html</p>', { contentType: 'text/plain' })
    assert.equal(textOf(page.text), '<p>not html</p>')
  })
})

describe('rules', () => {
  it('give fields', async () => {
    const page = await pageOf(story, {
      rule: ruleFor({
        fields: { top: 'h1', links: { css: 'nav a', attribute: 'href', many: true } },
      }),
    })
    assert.deepEqual(
      { ...page.fields },
      {
        top: 'Bridge closed',
        links: ['http://h.example/base/one', 'http://h.example/base/two', 'http://other.example/'],
      },
    )
  })
})

describe('memory', () => {
  it('is not pinned by what is kept of large pages', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const keep = (page: ParsedPage) => [
      page.title,
      page.description,
      page.headings,
      page.author,
      ...page.links,
      ...page.keywords.map(({ word }) => word),
      page.canonical ?? '',
    ]
    const kept: string[][] = []
    const filling = `<!--${'x'.repeat(1_000_000)}-->`
    await pageOf(story + filling)
    collect()
    const atFirst = process.memoryUsage().heapUsed
    for (let i = 0; i < 20; i++)
      kept.push(
        keep(
          await pageOf(story.replaceAll('Bridge closed', `A bridge closed number ${i}`) + filling),
        ),
      )
    collect()
    const grown = process.memoryUsage().heapUsed - atFirst
    assert.equal(kept.length, 20)
    assert.ok(grown < 6_000_000, `${grown} bytes`)
  })
})
