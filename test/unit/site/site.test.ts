/** The test web itself: the same seed gives the same web, and a plain walk reaches what `expected` promises. Knows nothing of the program. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { encodeGbk } from '../../site/html.ts'
import { buildLibrary } from '../../site/library.ts'
import { startSite } from '../../site/site.ts'
import type { Site } from '../../site/site.ts'
import { markOf } from '../../site/words.ts'

describe('the library of the test web', () => {
  it('is the same for the same seed and another for another', () => {
    assert.deepEqual(buildLibrary(5, 40), buildLibrary(5, 40))
    assert.notDeepEqual(buildLibrary(5, 40), buildLibrary(6, 40))
  })

  it('gives every number a mark of its own, in every script', () => {
    for (const script of ['en', 'zh-Hans', 'zh-Hant'] as const) {
      const marks = new Set(Array.from({ length: 8000 }, (_, index) => markOf(script, index)))
      assert.equal(marks.size, 8000)
    }
  })

  it('writes exact copies letter by letter and near copies with one sentence more', () => {
    const { pages, exactCopies, nearCopies } = buildLibrary(5, 60)
    const htmlOf = (path: string | undefined): string =>
      pages.find((page) => page.path === path)?.html ?? ''
    assert.ok(exactCopies.length > 1 && nearCopies.length > 1)
    for (const [a, b] of exactCopies) assert.equal(htmlOf(a), htmlOf(b))
    for (const [a, b] of nearCopies) assert.ok(htmlOf(b).length > htmlOf(a).length)
  })
})

describe('GBK', () => {
  it('comes back the same through the decoder of the platform', () => {
    const text = '镕基 library 图书馆，。'
    assert.equal(new TextDecoder('gb18030').decode(encodeGbk(text)), text)
  })
  it('refuses what it cannot write', () => assert.throws(() => encodeGbk('🏮'), RangeError))
})

describe('the test web, served', () => {
  let site: Site
  before(async () => {
    site = await startSite({ seed: 3, pages: 60 })
  })
  after(() => site.close())

  it('leads a plain walk to every page that must be stored', async () => {
    const reached = await walk(site)
    const { stored, mapped, bounded } = site.expected()
    assert.deepEqual(
      [...stored, ...mapped].filter((url) => !reached.has(url)),
      [],
    )
    assert.deepEqual(
      bounded.map(({ prefix }) => prefix),
      ['/calendar'],
    )
  })

  it('keeps a log and counts visits', async () => {
    const busy = await startSite({ seed: 3, pages: 3, faults: ['busy'] })
    const first = await fetch(`${busy.url}busy.html`)
    const second = await fetch(`${busy.url}busy.html`)
    assert.deepEqual(
      [first.status, first.headers.get('retry-after'), second.status],
      [429, '1', 200],
    )
    assert.deepEqual(
      busy.requests.map(({ path, status }) => [path, status]),
      [
        ['/busy.html', 429],
        ['/busy.html', 200],
      ],
    )
    await busy.close()
  })

  it('answers 304 to who knows the page', async () => {
    const etag = (await fetch(`${site.url}en/`)).headers.get('etag') ?? ''
    const again = await fetch(`${site.url}en/`, { headers: { 'if-none-match': etag } })
    assert.equal(again.status, 304)
  })

  it('breaks off and hangs where it says so', async () => {
    const broken = await startSite({ seed: 3, pages: 3, faults: ['cut', 'hang'] })
    await assert.rejects(async () => (await fetch(`${broken.url}cut.html`)).text())
    await assert.rejects(fetch(`${broken.url}hang.html`, { signal: AbortSignal.timeout(50) }))
    await broken.close()
  })

  it('knows no fault of another name', async () => {
    await assert.rejects(startSite({ seed: 3, pages: 3, faults: ['unheard'] }), RangeError)
  })
})

const calendarMax = 3

/** Follows every link that a careful crawler may follow; returns what answered 200. */
async function walk(site: Site): Promise<Set<string>> {
  const { origin } = new URL(site.url)
  const never = new Set(site.expected().never)
  const seen = new Set([site.url])
  const queue = [site.url, ...site.expected().mapped]
  const good = new Set<string>()
  let calendar = 0
  for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
    let response = await fetch(url, { redirect: 'manual' })
    if (response.status === 500 || response.status === 429) response = await fetch(url)
    const text = await response.text().catch(() => '<cut off>')
    if (response.status === 200) good.add(url)
    const base = /<base href="([^"]*)"/.exec(text)?.[1] ?? ''
    const hrefs = [
      ...text.replace(/<!--.*?-->|<script>.*?<\/script>/gs, '').matchAll(/href="([^"]+)"/g),
    ]
    for (const href of [
      ...hrefs.map((match) => match[1] ?? ''),
      response.headers.get('location'),
    ]) {
      if (href === null || href === base) continue
      const target = new URL(href.replaceAll('&amp;', '&'), new URL(base, url)).href
      if (!target.startsWith(`${origin}/`) || seen.has(target) || never.has(target)) continue
      if (target.includes('/calendar') && ++calendar > calendarMax) continue
      seen.add(target)
      queue.push(target)
    }
  }
  return good
}
