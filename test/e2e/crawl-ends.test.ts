/** How a crawl from the command line ends: exit code and summary where nothing could be had, and where a host has its pages. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { jsonLines, localCrawl, makeDirectory, run } from './program.ts'

describe('a crawl', () => {
  const directory = makeDirectory()
  const server = createServer((request, response) => {
    if (request.url === '/soon') {
      const untilMs = Date.now() + 1_500
      response.setHeader('x-robots-tag', `unavailable_after: ${new Date(untilMs).toISOString()}`)
      return void response.end('<title>Soon</title><p>This notice is gone in a moment.</p>')
    }
    const n = Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN)
    if (Number.isNaN(n)) return void response.writeHead(404).end()
    const links = [1, 2, 3].map((i) => `<a href="/${(n * 3 + i) % 30}">on</a>`).join(' ')
    const text = Array.from({ length: 80 }, (_, i) => `word${n}x${i}`).join(' ')
    response.setHeader('content-type', 'text/html')
    response.end(`<title>Page ${n}</title><p>${text}</p>${links}`)
  })
  let url = ''
  before(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
    directory.remove()
  })
  const crawl = (...args: string[]) =>
    run(['crawl', ...args, '--data', directory.path, '--retry-ms', '20', ...localCrawl])

  it('exits 1 where none of its seeds could be had, and says why of each', async () => {
    const { code, stdout, stderr } = await crawl(`${url}/none`, 'http://127.0.0.1:9/')
    assert.equal(code, 1, stderr)
    assert.match(
      stdout,
      /^failed: none of the 2 seeds could be had: .*\/none: there is no such page/,
    )
    assert.match(stderr, /127\.0\.0\.1:9\/.*robots\.txt of the host could not be read/)
  })

  it('takes out at its end what is not to be shown any longer, also without a server', async () => {
    const data = ['--data', `${directory.path}-2`]
    const one = ['--scope', 'page', ...data, ...localCrawl]
    const first = await run(['crawl', `${url}/soon`, ...one])
    assert.match(first.stdout, /stored +1\n/)
    const urls = async (): Promise<unknown[]> =>
      jsonLines((await run(['export', ...data])).stdout).map((each) => each['url'])
    // Each start takes about as long as the page may be shown.
    for (let tries = 0; tries < 5 && (await urls()).includes(`${url}/soon`); tries++)
      await run(['crawl', `${url}/1`, ...one])
    assert.ok(!(await urls()).includes(`${url}/soon`))
  })

  it('stores so many pages of a host as it is told, and exits 0', async () => {
    const { code, stdout, stderr } = await crawl(`${url}/0`, '--max-pages-per-host', '7')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /refused +\d+ \(host-limit \d+\)/)
    const exported = await run(['export', '--data', directory.path])
    assert.equal(jsonLines(exported.stdout).length, 7)
    const { stdout: told } = await run(['explain', `${url}/29`, '--data', directory.path])
    assert.match(told, /7 pages of 127\.0\.0\.1 are stored, of 7 that job 2 takes/)
  })
})
