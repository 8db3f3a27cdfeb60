/** The first minutes of a new user: an empty directory, the form of the first page, the key that the start printed, results. Without JavaScript. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startSite } from '../site/site.ts'
import type { Site } from '../site/site.ts'
import { eventually, localServe, makeDirectory, serve } from './program.ts'
import type { Server } from './program.ts'

describe('an empty directory', () => {
  const directory = makeDirectory()
  let site: Site
  let server: Server
  before(async () => {
    site = await startSite({ seed: 61, pages: 12, faults: [] })
    server = await serve(['--data', directory.path, ...localServe])
  })
  after(async () => {
    await server.stop()
    await site.close()
    directory.remove()
  })

  /** As a browser without scripts sends the form. */
  const submit = (action: URL, fields: Record<string, string>): Promise<Response> =>
    fetch(action, {
      method: 'POST',
      headers: { origin: server.url, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    })

  it('shows a form for a site and the key', async () => {
    const { action, names } = await formOf(`${server.url}/`)
    assert.equal(action.pathname, '/admin/crawl')
    for (const name of ['url', 'scope', 'key']) assert.ok(names.includes(name), name)
  })

  it('keeps what was typed when the key is wrong, and starts nothing', async () => {
    const { action } = await formOf(`${server.url}/`)
    const answer = await submit(action, { url: site.url, scope: 'path', key: '0'.repeat(32) })
    assert.ok(answer.status === 401 || answer.status === 403, `${answer.status}`)
    assert.ok((await answer.text()).includes(site.url))
    assert.deepEqual(site.requests, [])
  })

  it('leads from the form over the progress to the results', async () => {
    const { action } = await formOf(`${server.url}/`)
    const answer = await submit(action, { url: site.url, scope: 'path', key: server.key })
    assert.equal(answer.status, 303, await answer.text())
    const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const progress = new URL(answer.headers.get('location') ?? '', action)
    const shown = async (): Promise<string> =>
      (await fetch(progress, { headers: { cookie } })).text()
    assert.ok((await shown()).includes(site.url), 'the progress names the site')
    const { mark, url } = site.expected().marks[0] ?? { mark: '', url: '' }
    const results = async (): Promise<string> =>
      (await fetch(`${server.url}/search?q=${encodeURIComponent(mark)}`)).text()
    assert.ok((await eventually(results, (page) => page.includes(url))).includes(mark))
    const { names } = await formOf(`${server.url}/`)
    assert.deepEqual(
      [names.includes('q'), names.includes('key')],
      [true, false],
      'the first page is the search page now',
    )
  })
})

/** The first form of a page: where it goes, and the names of its fields. */
async function formOf(address: string): Promise<{ action: URL; names: string[] }> {
  const page = await fetch(address)
  assert.equal(page.status, 200)
  const text = await page.text()
  const [form = ''] = /<form[\s\S]*?<\/form>/.exec(text) ?? []
  const action = /action="([^"]*)"/.exec(form)?.[1] ?? ''
  const names = [...form.matchAll(/\bname="([^"]*)"/g)].map((match) => match[1] ?? '')
  return { action: new URL(action, page.url), names }
}
