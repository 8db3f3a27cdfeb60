/** What other crawlers stumble over (test/site/hostile.ts), crawled at once by the real program and judged by access logs and export. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { hostileCases, startHostileWeb, type HostileWeb } from '../site/hostile.ts'
import { encodeText } from '../unit/crawl/encode-text.ts'
import { jsonLines, localServe, makeDirectory, run } from './program.ts'

const cases = hostileCases(encodeText)

describe('the web at its worst', () => {
  const directory = makeDirectory()
  let web: HostileWeb
  const texts = new Map<string, string>()
  before(async () => {
    web = await startHostileWeb(cases)
    const seeds = web.sites.map(({ origin, expected }) => origin + (expected.seed ?? '/'))
    const args = ['--data', directory.path, ...localServe, '--delay', '1', '--scope', 'host']
    const { code, stderr } = await run(['crawl', ...seeds, ...args], { timeoutMs: 120_000 })
    assert.equal(code, 0, stderr)
    const { stdout } = await run(['export', '--data', directory.path])
    for (const { url, title, text } of jsonLines(stdout)) texts.set(url, `${title} ${text}`)
  })
  after(async () => {
    await web.close()
    directory.remove()
  })

  for (const [
    i,
    { id, stored, mayStoreMore, texts: wanted, asked, requestsMax },
  ] of cases.entries())
    it(`is survived: ${id}`, () => {
      const site = web.sites[i]
      assert.ok(site !== undefined)
      const { origin } = site
      const urls = stored.map((path) => new URL(path, origin).href)
      const own = [...texts.keys()].filter((url) => url.startsWith(`${origin}/`))
      if (mayStoreMore !== true) assert.deepEqual(own.toSorted(), urls.toSorted())
      for (const url of urls) assert.ok(texts.has(url), `${url} is not stored`)
      for (const [path, text] of Object.entries(wanted ?? {}))
        assert.ok(texts.get(origin + path)?.includes(text), `${path}: ${texts.get(origin + path)}`)
      let requests = 0
      for (const [path, times] of site.asked) {
        requests += times
        assert.ok(times <= (asked?.[path] ?? 1), `${path} was asked for ${times} times`)
      }
      assert.ok(requests <= (requestsMax ?? 100), `${requests} requests`)
    })

  it('leads to no stranger', () => assert.deepEqual(web.foreignAsked, []))
})
