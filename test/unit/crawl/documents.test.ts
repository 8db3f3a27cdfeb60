/** Pages that are no HTML: PDFs and Markdown, read to text, titles, dates and links, within their limits. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readMarkdown } from '../../../src/crawl/markdown.ts'
import { pdfLimits, readPdf } from '../../../src/crawl/pdf.ts'
import { isMarkdown, isPage, isPdf, mayBePage } from '../../../src/crawl/sniff.ts'
import { makePdf } from './make-pdf.ts'

describe('a PDF', () => {
  const file = makePdf([['Hello world', '第一行中文 循环', 'a hyphen-', 'ated word'], ['Page two']])
  it('gives its lines, a page after the other, and what it says of itself', async () => {
    const pdf = await readPdf(file)
    assert.deepEqual(pdf, {
      title: 'A report',
      author: 'Li Lei',
      createdAtMs: Date.UTC(2024, 4, 3, 0, 30),
      text: 'Hello world\n第一行中文 循环\na hyphenated word\n\nPage two',
      pages: 2,
      pagesRead: 2,
    })
  })
  it('is read as far as its limits go', async () => {
    const pages = makePdf(Array.from({ length: 4 }, (_, i) => [`page ${i}`]))
    const read = async (change: Partial<typeof pdfLimits>): Promise<number | undefined> =>
      (await readPdf(pages, { ...pdfLimits, ...change }))?.pagesRead
    assert.equal(await read({}), 4)
    assert.equal(await read({ pagesMax: 3 }), 3)
    assert.equal(await read({ charsMax: 7 }), 2)
    assert.equal(await read({ timeMs: 0 }), 0)
  })
  it('is nothing where it is none, is cut or is empty', async () => {
    for (const bytes of ['', '%PDF-1.4', '%PDF-1.4\ngarbage', 'text'])
      assert.equal(await readPdf(Buffer.from(bytes)), null)
    const cut = await readPdf(file.subarray(0, file.length - 20))
    assert.match(cut?.text ?? '', /Hello world/) // the table is made again
  })
  it('keeps the bytes it was given', async () => {
    const bytes = new Uint8Array(file)
    await readPdf(bytes)
    assert.equal(bytes.byteLength, file.byteLength)
  })
  it('is known by its first bytes, where its label does not deny it', () => {
    const html = Buffer.from('<html>')
    const cases: [string, Uint8Array, boolean][] = [
      ['application/pdf', file, true],
      ['application/octet-stream', file, true],
      ['', file, true],
      ['text/html', file, false],
      ['application/pdf', html, false],
    ]
    for (const [type, bytes, is] of cases) assert.equal(isPdf(type, bytes), is, type)
    assert.ok(mayBePage('application/pdf') && isPage('application/pdf', file))
    assert.ok(!isPage('application/pdf', html))
  })
})

describe('Markdown', () => {
  const source = `---
title: "The guide"
date: 2024-05-03
author: Li Lei
---
Top *level* intro with \`code\` and **bold** words, snake_case_name and 2*3*4.

# 第一章 [Links](/a "t")
See [one](b.md), ![picture](p.png) and [two][ref], <https://c.example/x>, [self](guide.md#x).

Setext
------
- [ ] a task
> a quote
1. first

| a | b |
|---|---|
| c | d |

\`\`\`js
const [x] = [1](2) // # no heading
\`\`\`
<div>html</div> \\*kept\\*

[ref]: https://r.example/y "title"
`
  const read = readMarkdown(source, 'http://h.example/docs/guide.md', 10)
  it('has the title, author and date of its front matter', () =>
    assert.deepEqual(
      [read.title, read.author, read.publishedAtMs],
      ['The guide', 'Li Lei', Date.UTC(2024, 4, 3)],
    ))
  it('has the headings of both kinds', () =>
    assert.deepEqual(read.headings.split('\n'), ['第一章 Links', 'Setext']))
  it('has its links, without pictures, code and itself', () =>
    assert.deepEqual(read.links.toSorted(), [
      'http://h.example/a',
      'http://h.example/docs/b.md',
      'https://c.example/x',
      'https://r.example/y',
    ]))
  it('is read as a reader sees it', () => {
    for (const wanted of [
      'Top level intro with code and bold words, snake_case_name and 2*3*4.',
      'See one, picture and two, https://c.example/x, self.',
      '\na task\na quote\nfirst\n',
      '\na b\n',
      '\nc d\n',
      'const [x] = [1](2) // # no heading',
      '\nhtml *kept*',
    ])
      assert.ok(read.text.includes(wanted), `${wanted}\n--\n${read.text}`)
    assert.doesNotMatch(read.text, /---|```|<div>/)
  })
  it('takes a bounded time for hostile lines', () => {
    const startMs = performance.now()
    for (const unit of ['[', '![', '[a](', '*a', '_', '`', '<a', '> ', '|-', '\\', '[a][', '- '])
      readMarkdown(unit.repeat(20_000), 'http://h.example/', 10)
    assert.ok(performance.now() - startMs < 8_000)
  })
  it('is known by its label, or by its name under a label of any text', () => {
    assert.ok(isMarkdown('text/markdown; charset=utf-8', 'http://h/x'))
    assert.ok(isMarkdown('text/plain', 'http://h/README.md?x'))
    assert.ok(!isMarkdown('text/html', 'http://h/README.md'))
    assert.ok(!isMarkdown('text/plain', 'http://h/readme'))
    assert.ok(mayBePage('text/markdown'))
  })
})
