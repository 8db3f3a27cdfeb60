/** The example of docs/SOURCES.md for a site behind a login, run as it stands there; and that its secrets are shown nowhere. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startClub, type Club } from '../site/club.ts'
import { jsonLines, localCrawl, localServe, makeDirectory, run, serve } from './program.ts'

function example(url: string): string {
  const text = readFileSync('docs/SOURCES.md', 'utf8')
  const json = /```json\n([^]*?)```/.exec(text.slice(text.indexOf('## A site behind a login')))?.[1]
  assert.ok(json !== undefined)
  return json.replaceAll('https://club.example', url)
}

describe('a site behind a login', () => {
  const directory = makeDirectory()
  const file = join(dirname(directory.path), 'sources.json')
  const args = ['--sources', file, '--data', directory.path]
  let club: Club
  let env: Record<string, string>
  /** Everything that the program ever said. */
  let said = ''
  const runAndHear = async (...parameters: Parameters<typeof run>) => {
    const result = await run(...parameters)
    said += result.stdout + result.stderr
    return result
  }
  before(async () => {
    club = await startClub()
    env = { CLUB_KEY: club.secrets.key, CLUB_PASSWORD: club.secrets.password }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, example(club.url))
  })
  after(async () => {
    await club.close()
    directory.remove()
  })

  it('is not begun where a secret is missing', async () => {
    const { code, stderr } = await runAndHear(['crawl', ...args, ...localCrawl], {
      env: { CLUB_KEY: club.secrets.key },
    })
    assert.notEqual(code, 0)
    assert.match(stderr, /http\.login\.fields\.password: the environment has no CLUB_PASSWORD/)
    assert.deepEqual(club.asked, [])
  })

  it('is crawled whole, after one login, robots.txt before everything', async () => {
    const debug = ['--log-level', 'debug']
    const crawled = await runAndHear(['crawl', ...args, ...localCrawl, ...debug], { env })
    assert.equal(crawled.code, 0, crawled.stderr)
    const exported = await runAndHear(['export', '--data', directory.path])
    const urls = jsonLines(exported.stdout).map(({ url }) => String(url))
    assert.deepEqual(urls.toSorted(), club.pages.toSorted())
    const asked = club.asked.map(({ what }) => what)
    assert.deepEqual(asked.slice(0, 3), ['GET /robots.txt', 'GET /login', 'POST /session'])
    assert.equal(asked.filter((what) => what === 'POST /session').length, 1)
    assert.ok(!asked.includes('GET /logout'))
    const pages = club.asked.filter(({ what }) => /^GET \/(room|$)/.test(what))
    assert.ok(pages.length >= club.pages.length && pages.every(({ isMember }) => isMember))
    // The page after the login is asked for once by the login and once by the crawl, no other twice.
    assert.equal(pages.length, club.pages.length + 1)
    assert.ok(club.asked.every(({ userAgent }) => userAgent.startsWith('ClubReader/')))
  })

  it('can have its rules tried out', async () => {
    const { code, stdout } = await runAndHear(
      ['rules', 'test', `${club.url}/room/2`, ...args, ...localServe],
      { env },
    )
    assert.equal(code, 1)
    assert.match(stdout, /2室/)
  })

  it('is shown by a server as it was given', async () => {
    const server = await serve([...args, ...localServe, '--log-level', 'debug'], { env })
    try {
      const headers = { authorization: `Bearer ${server.key}` }
      for (const path of ['sources', 'sources/club', 'jobs', 'jobs/1'])
        said += JSON.stringify(await server.api(`/api/v1/admin/${path}`, { headers }))
      assert.doesNotMatch(said, /"status":[45]\d\d/)
      assert.match(said, /"password":\{"env":"CLUB_PASSWORD"\}/)
    } finally {
      const { stdout, stderr } = await server.stop()
      said += stdout + stderr
    }
  })

  it('shows its secrets nowhere', async () => {
    await runAndHear(['explain', `${club.url}/room/3`, '--data', directory.path], { env })
    await runAndHear(['config', ...args], { env })
    assert.match(said, /logged in/)
    assert.match(said, /\/room\/3/)
    for (const [name, secret] of Object.entries(club.secrets)) {
      assert.ok(!said.includes(secret), `the ${name} was said`)
      for (const kept of readdirSync(directory.path, { recursive: true, withFileTypes: true })) {
        if (!kept.isFile()) continue
        const path = join(kept.parentPath, kept.name)
        const isItsPlace = name === 'cookie' && kept.name === 'cookies.jar'
        assert.equal(readFileSync(path).includes(secret), isItsPlace, `the ${name}: ${kept.name}`)
        if (isItsPlace) assert.equal(statSync(path).mode & 0o777, 0o600)
      }
    }
  })

  it('leaves the session out of a backup, and says so', async () => {
    const archive = join(dirname(directory.path), 'saved.tar')
    const { stdout } = await run(['backup', archive, '--data', directory.path])
    assert.match(stdout, /left out +.*cookies\.jar/)
    assert.ok(!readFileSync(archive).includes(club.secrets.cookie))
  })
})
