/** What an executable must be able to do, on whatever machine it was built for: serve, crawl, search in three scripts, stop when told. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startSite, type Site } from '../site/site.ts'
import type { Server } from '../e2e/program.ts'

const readyTimeoutMs = 120_000
const crawlTimeoutMs = 240_000

/** BIN says what is started; it is read when the program's driver is loaded, which is why this takes a path. */
export function crawlsAndSearches(executable: string, skip: string | false): void {
  describe('serve --crawl URL', { skip }, () => {
    let site: Site
    let server: Server
    let program: typeof import('../e2e/program.ts')
    let directory: ReturnType<typeof program.makeDirectory>
    before(async () => {
      process.env['BIN'] = executable
      program = await import('../e2e/program.ts')
      directory = program.makeDirectory()
      site = await startSite({ seed: 61, pages: 30, faults: ['gbk'] })
      // Under emulation a page may take longer than any page should.
      const slow = ['--parse-timeout-ms', '60000', '--search-deadline-ms', '20000']
      const args = ['--data', directory.path, ...program.localServe, ...slow, '--crawl', site.url]
      server = await program.serve(args, { timeoutMs: readyTimeoutMs })
    })
    after(async () => {
      server?.child.kill('SIGKILL')
      await site?.close()
      directory?.remove()
    })

    it('stores every page of the site', async () => {
      const documents = async (): Promise<number> =>
        (await server.api('/api/v1/stats')).body.documents
      const { stored } = site.expected()
      await program.eventually(documents, (count) => count >= stored.length, crawlTimeoutMs)
      assert.equal(await documents(), stored.length)
    })

    for (const script of ['en', 'zh-Hans', 'zh-Hant']) {
      it(`finds the page that holds a word of its own (${script})`, async () => {
        const { exactCopies, nearCopies, marks } = site.expected()
        const copies = new Set([...exactCopies, ...nearCopies].flat())
        const known = marks.find((each) => each.script === script && !copies.has(each.url))
        assert.ok(known)
        const ask = async (): Promise<{ url: string; missing: string[] }[]> =>
          (await server.api(`/api/v1/search?q=${encodeURIComponent(known.mark)}`)).body.hits
        const [first] = await program.eventually(ask, (hits) => hits.length > 0)
        assert.deepEqual([first?.url, first?.missing], [known.url, []])
      })
    }

    it('folds a near copy, and maps its filter of seen addresses', async () => {
      const [pair] = site.expected().nearCopies
      assert.ok(pair)
      const exported = await program.run(['export', '--data', directory.path], {
        timeoutMs: readyTimeoutMs,
      })
      const groupOf = new Map(
        program.jsonLines(exported.stdout).map(({ url, group }) => [url, group]),
      )
      const [one, other] = pair.map((url) => groupOf.get(url))
      assert.ok(typeof one === 'string' && one === other, `${one} and ${other}`)
      assert.ok(existsSync(join(directory.path, 'seen.bloom')))
    })

    it('stops in order on SIGTERM', async () => {
      const { code, signal, stderr } = await server.stop()
      assert.deepEqual([code, signal], [0, null], stderr)
      const checked = await program.run(['check', '--data', directory.path], {
        timeoutMs: readyTimeoutMs,
      })
      assert.equal(checked.code, 0, checked.stdout + checked.stderr)
    })
  })
}
