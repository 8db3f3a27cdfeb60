/** How a job ends whose seeds could not be had: never as if it were done. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endOf, seedProblems } from '../../../src/crawl/seed-report.ts'
import { openCrawl, runToEnd, site, spec, words, type Answer, type Web } from './crawl-fixture.ts'

const seed = 'http://a.test/'

describe('a crawl of one seed', () => {
  const fruitless: [why: string, web: Record<string, Answer>, note: RegExp][] = [
    ['does not answer', { [seed]: { isDown: true } }, /a\.test\/: the host does not take conn/],
    ['has an error', { [seed]: { status: 500 } }, /the server has an error \(status 500\)/],
    ['is forbidden', { [seed]: { forbidden: true } }, /access is forbidden \(status 403\)/],
    ['is refused by robots.txt', { [seed]: { refusedByRobots: true } }, /robots\.txt refuses it/],
    ['is not there', {}, /there is no such page/],
    ['leads elsewhere', { [seed]: { to: 'http://b.test/' } }, /leads to http:\/\/b\.test\/, which/],
    [
      'leads to what is not there',
      { [seed]: { to: 'http://a.test/b' } },
      /leads to http:\/\/a\.test\/b: there is no such page/,
    ],
  ]
  for (const [why, web, note] of fruitless)
    it(`fails where it ${why}, and says so`, async () => {
      const job = await runToEnd(openCrawl(web).crawl, spec([seed]))
      assert.equal(job.state, 'failed')
      assert.match(job.note, note)
    })

  it('fails where it was put aside, for the reason that explain gives', () => {
    const { store } = openCrawl({})
    store.transaction(() => store.importedUrl(seed, store.sourceFor('x'), 0))
    store.db.prepare("UPDATE url SET state=3, outcome=NULL, next_at=1 WHERE path='/'").run()
    assert.deepEqual(seedProblems([seed], store), [
      { seed, problem: 'it was put aside, see explain' },
    ])
  })

  it('is done where it leads to a page', async () => {
    const web: Web = { [seed]: { to: 'http://a.test/b' }, 'http://a.test/b': { text: words('b') } }
    const job = await runToEnd(openCrawl(web).crawl, spec([seed]))
    assert.deepEqual([job.state, job.note], ['done', ''])
  })

  it('fails when it is repeated and the host is down by now, though its pages stay', async () => {
    const web: Web = site(3)
    let nowMs = Date.now()
    const { crawl, urls } = openCrawl(web, {}, { now: () => nowMs })
    assert.equal((await runToEnd(crawl, spec(['http://a.test/0']))).state, 'done')
    for (const url of Object.keys(web)) web[url] = { forbidden: true }
    nowMs += 30 * 86_400_000
    const again = await runToEnd(crawl, spec(['http://a.test/0']))
    assert.equal(again.state, 'failed')
    assert.equal(urls().length, 3)
  })

  it('is done when what failed before can be had', async () => {
    const web: Web = { [seed]: { status: 500 } }
    const { crawl } = openCrawl(web)
    assert.equal((await runToEnd(crawl, spec([seed]))).state, 'failed')
    web[seed] = { text: words('home') }
    const job = await runToEnd(crawl, spec([seed]))
    assert.deepEqual([job.state, job.note], ['done', ''])
  })
})

describe('a crawl of some seeds', () => {
  it('is done where one can be had, and names the others', async () => {
    const web: Web = { [seed]: { text: words('home') }, 'http://b.test/': { forbidden: true } }
    const job = await runToEnd(openCrawl(web).crawl, spec([seed, 'http://b.test/']))
    assert.equal(job.state, 'done')
    assert.equal(
      job.note,
      '1 of 2 seeds could not be had: http://b.test/: access is forbidden (status 403)',
    )
  })

  it('fails where none can be had, names a few and counts the rest', () => {
    const seeds = ['a', 'b', 'c', 'd', 'e'].map((name) => `http://${name}.test/`)
    const problems = seeds.map((each) => ({ seed: each, problem: 'it is empty' }))
    const { state, note } = endOf(seeds, problems, '3 URLs wait')
    assert.equal(state, 'failed')
    assert.match(
      note,
      /^3 URLs wait; none of the 5 seeds could be had: http:\/\/a\.test.*and 2 more$/,
    )
    assert.ok(!note.includes('d.test'))
  })
})
