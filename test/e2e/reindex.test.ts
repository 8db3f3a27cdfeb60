/** Making the index again while it is served: the old one answers, a kill costs nothing, new words of words.txt come by themselves. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { eventually, type Json, makeDirectory, run, serve, type Server } from './program.ts'

const documents = 2_500
/** 灵犀造物 is no word of the dictionary. */
const lines = Array.from({ length: documents }, (_, i) =>
  JSON.stringify({
    url: `https://a.example/${i}`,
    title: `Page ${i}`,
    text: `The ${['ferry', 'gate', 'harbour'][i % 3]} number n${i}. 灵犀造物第${i}号说明。${'Plain words stand here for the time they take. '.repeat(20)}`,
  }),
).join('\n')
const questions = ['ferry n300', '"gate number n301"', '灵犀造物', 'harbour -n2', 'n77']

describe('reindex beside a running server', () => {
  const directory = makeDirectory()
  const data = directory.path
  before(async () => {
    const imported = await run(['import', '-', '--no-dedupe', '--data', data], { stdin: lines })
    assert.equal(imported.code, 0, imported.stderr)
  })
  after(() => directory.remove())

  const answersOf = async (server: Server): Promise<unknown[]> =>
    Promise.all(
      questions.map(async (q) => {
        const { status, body } = await server.api(`/api/v1/search?q=${encodeURIComponent(q)}`)
        return [q, status, body.total, body.hits?.map(({ id, score }: Json) => [id, score])]
      }),
    )
  const admin = (server: Server) => ({ headers: { authorization: `Bearer ${server.key}` } })
  const statusOf = async (server: Server): Promise<Json> =>
    (await server.api('/api/v1/admin/reindex', admin(server))).body
  const checked = async (): Promise<void> => {
    const { code, stdout } = await run(['check', '--data', data])
    assert.equal(code, 0, stdout)
  }

  it('gives the same answers before, meanwhile and after', async () => {
    const server = await serve(['--data', data])
    try {
      const expected = await answersOf(server)
      const state = { isOver: false }
      const command = run(['reindex', '--data', data]).finally(() => {
        state.isOver = true
      })
      let asked = 0
      for (; !state.isOver; asked += 1) assert.deepEqual(await answersOf(server), expected)
      const { code, stdout, stderr } = await command
      assert.equal(code, 0, stderr)
      assert.equal(stdout, `indexed ${documents} documents\n`)
      assert.ok(asked > 1, 'it was asked meanwhile')
      assert.deepEqual(await answersOf(server), expected)
    } finally {
      await server.stop()
    }
    await checked()
  })

  it('goes on after a kill, and takes new words over at once when it is whole', async () => {
    const cut = async (server: Server): Promise<string[]> =>
      (await server.api(`/api/v1/search?q=${encodeURIComponent('灵犀造物')}`)).body.query.parsed
        .must
    const first = await serve(['--data', data])
    after(() => first.child.kill('SIGKILL'))
    const earlier = await cut(first)
    assert.ok(earlier.length > 1)
    writeFileSync(join(data, 'words.txt'), '# 公司\n灵犀造物\nx\n')
    await first.line(/words\.txt, line 3:/)
    await eventually(
      () => statusOf(first),
      ({ running, done }) => running && done > 200,
    )
    assert.deepEqual(await cut(first), earlier, 'the words count when all pages have them')
    first.child.kill('SIGKILL')
    await first.ended
    const second = await serve(['--data', data])
    try {
      await eventually(
        () => statusOf(second),
        ({ running }) => !running,
      )
      assert.deepEqual(await cut(second), ['灵犀造物'])
      const { body } = await second.api(`/api/v1/search?q=${encodeURIComponent('灵犀造物')}`)
      assert.equal(body.total.value, documents)
    } finally {
      await second.stop()
    }
    const { code, stdout } = await run(['check', '--data', data])
    assert.equal(code, 1)
    assert.match(stdout, /^wrong: words\.txt, line 3: /)
    writeFileSync(join(data, 'words.txt'), '灵犀造物\n')
    await checked()
  })
})
