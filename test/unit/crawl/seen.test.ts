/** The filter of seen URLs over a restart: what was added is known again, whether or not its file was written. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openSeenFilter } from '../../../src/crawl/seen.ts'
import { openStore } from '../../../src/store/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'findling-seen-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the filter of seen URLs', () => {
  const cases = [
    { mode: 'memory', urls: 20_000, isWritten: false },
    { mode: 'memory', urls: 40_000, isWritten: true },
    { mode: 'mapped', urls: 2_000, isWritten: true },
  ] as const
  for (const { mode, urls, isWritten } of cases)
    it(`${isWritten ? 'leaves' : 'spares'} a file of ${urls} URLs where it is ${mode}, and knows them after a restart`, async () => {
      const directory = join(folder, `${mode}-${urls}`)
      const file = join(folder, `${mode}-${urls}.bloom`)
      const said: string[] = []
      const store = openStore(`${directory}.db`, { log: () => {} })
      const open = () =>
        openSeenFilter(file, store, (level, event) => void said.push(`${level} ${event}`), mode)
      store.db.transaction(() => {
        store.db.exec("INSERT INTO host(id, origin) VALUES(1, 'https://a.example')")
        const insert = store.db.prepare(
          'INSERT INTO url(host, path, source, epoch) VALUES(1, ?, 1, 1)',
        )
        for (let i = 0; i < urls; i += 1) insert.run(`/${i}`)
      })
      for (let start = 0; start < 3; start += 1) {
        said.length = 0
        const seen = await open()
        assert.equal(seen.stats().keys, urls)
        for (const i of [0, 1, urls - 1]) assert.ok(seen.mayHave(`https://a.example/${i}`))
        assert.ok(!seen.mayHave('https://a.example/none'))
        seen.close()
        assert.equal(existsSync(file), isWritten)
        // The usual case is not worth a line.
        if (start > 0) assert.deepEqual(said, isWritten ? [] : [`debug ${rebuilt}`])
      }
      store.close()
    })
})

const rebuilt = 'filter of seen URLs made again'
