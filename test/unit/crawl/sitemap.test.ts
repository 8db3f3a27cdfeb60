/** Lists of URLs: what the public suite (test/public-suites/pages.ts) does not show. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { listDate } from '../../../src/crawl/list-dates.ts'
import { parseListJob, readList, type UrlList } from '../../../src/crawl/sitemap.ts'

const at = 'http://a.test/sitemap.xml'
const read = (text: string, urlsMax = 100): UrlList | null =>
  readList(Buffer.from(text), at, { urlsMax })
const urlsOf = (text: string, urlsMax = 100): string[] =>
  (read(text, urlsMax)?.urls ?? []).map(({ url }) => url)
const urlset = (inner: string): string =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${inner}</urlset>`

describe('a list', () => {
  it('gives canonical URLs once, in order', () => {
    const entries = ['http://A.test:80/x#y', 'http://a.test/x', 'HTTP://a.test/%E4%B8%AD']
    const inner = entries.map((loc) => `<url><loc>${loc}</loc></url>`).join('')
    assert.deepEqual(urlsOf(urlset(inner)), ['http://a.test/x', 'http://a.test/%E4%B8%AD'])
  })
  it('takes nothing from images, videos and alternates beside the address', () => {
    const inner = `<url><image:image><image:loc>http://a.test/i.png</image:loc></image:image><loc>http://a.test/p</loc>
      <xhtml:link rel="alternate" href="http://a.test/de"/><video:video><video:content_loc>http://a.test/v</video:content_loc></video:video></url>`
    assert.deepEqual(urlsOf(urlset(inner)), ['http://a.test/p'])
  })
  it('keeps what came before the end where the file breaks off, and says so', () => {
    const list = read('<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/lo')
    assert.deepEqual(
      list?.urls.map(({ url }) => url),
      ['http://a.test/1'],
    )
    assert.equal(list?.damaged, true)
    assert.deepEqual(urlsOf('<urlset><url><loc>http://a.test/long</lo'), ['http://a.test/long'])
  })
  it('is whole where nothing is wrong with it', () => {
    assert.equal(
      read(urlset('<url><loc>http://a.test/1</loc><image:image/></url>'))?.damaged,
      false,
    )
  })
  it('ends at its limit of URLs, and says so', () => {
    const inner = [1, 2, 3].map((n) => `<url><loc>http://a.test/${n}</loc></url>`).join('')
    assert.equal(read(urlset(inner), 3)?.damaged, false)
    const list = read(urlset(inner), 2)
    assert.deepEqual([list?.urls.length, list?.damaged], [2, true])
    assert.deepEqual(urlsOf('http://a.test/1\nhttp://a.test/2\nhttp://a.test/3', 2).length, 2)
  })
  it('is no list where it is a page, JSON or nothing', () => {
    for (const text of ['<!doctype html><html><body>no</body></html>', '{"a":1}', '', '<', '<a/>'])
      assert.equal(read(text), null, text)
  })
  it('reads UTF-16 with its mark, and other charsets by the declaration', () => {
    const text = '<?xml version="1.0"?><urlset><url><loc>http://a.test/中</loc></url></urlset>'
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
    assert.equal(readList(utf16, at)?.urls[0]?.url, 'http://a.test/%E4%B8%AD')
    const latin = Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>http://a.test/\u00e9</loc></url></urlset>',
      'latin1',
    )
    assert.equal(readList(latin, at)?.urls[0]?.url, 'http://a.test/%C3%A9')
  })
  it('is found in every wrapping of gzip', () => {
    const plain = Buffer.from(urlset('<url><loc>http://a.test/1</loc></url>'))
    const once = gzipSync(plain)
    const trailing = Buffer.concat([once, Buffer.from('garbage')])
    for (const [bytes, encoding] of [
      [plain, 'gzip'],
      [once, ''],
      [once, 'gzip'],
      [gzipSync(once), 'gzip'],
      [trailing, ''],
    ] as const) {
      const body = new Uint8Array(bytes).buffer
      const outcome = parseListJob({ url: at, body, encoding, urlsMax: 10 })
      assert.ok(outcome.kind === 'list')
      assert.equal(outcome.list.urls.length, 1)
    }
  })
  it('costs little where it is hostile: depth, entities, an endless text', () => {
    const deep = `<urlset>${'<url>'.repeat(300_000)}`
    const bomb = `<!DOCTYPE urlset [<!ENTITY a "${'x'.repeat(1000)}"><!ENTITY b "${'&a;'.repeat(1000)}">]>${urlset('<url><loc>&b;</loc></url>')}`
    const long = urlset(`<url><loc>http://a.test/${'x'.repeat(3_000_000)}</loc></url>`)
    const beganMs = performance.now()
    assert.deepEqual([urlsOf(deep), urlsOf(bomb), urlsOf(long)], [[], [], []])
    assert.ok(performance.now() - beganMs < 3_000)
  })
  it('resolves the relative links of a feed, and takes a permanent guid for a missing link', () => {
    const rss = `<rss><channel><link>http://a.test/</link><item><link>/one</link><pubDate>Thu, 05 Jan 2017 13:34:51 +0100</pubDate></item>
      <item><guid>http://a.test/two</guid></item><item><guid isPermaLink="false">tag:1</guid></item></channel></rss>`
    assert.deepEqual(urlsOf(rss), ['http://a.test/one', 'http://a.test/two'])
    assert.equal(read(rss)?.urls[0]?.lastmodMs, Date.UTC(2017, 0, 5, 12, 34, 51))
  })
})

describe('listDate', () => {
  const cases: [string, string | null][] = [
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2023-02-29', null],
    ['2024-02-29T23:30+01:00', '2024-02-29T22:30:00.000Z'],
    ['2024-02-29T23:30:15.123Z', '2024-02-29T23:30:15.000Z'],
    ['2024', '2024-01-01T00:00:00.000Z'],
    ['Sun, 06 Sep 2009 16:20:00 +0000', '2009-09-06T16:20:00.000Z'],
    ['6 Sep 09 16:20 EST', '2009-09-06T21:20:00.000Z'],
    ['6 Sep 2009 16:20:00', null],
    ['yesterday', null],
    ['', null],
  ]
  for (const [text, iso] of cases)
    it(`reads "${text}" as ${iso}`, () => {
      const ms = listDate(text)
      assert.equal(ms === null ? null : new Date(ms).toISOString(), iso)
    })
})
