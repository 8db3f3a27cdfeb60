/** Per-source HTTP settings: what is read from JSON, what is refused and how the refusal reads, and that no secret is shown. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  checkSourceHttp,
  defaultSourceHttp,
  parseSourceHttp,
  type SourceHttp,
} from '../../../src/crawl/source-http.ts'
import { hideSecrets, restoreSecrets } from '../../../src/crawl/source-secrets.ts'

const parse = (given: unknown, environment: Record<string, string> = {}): SourceHttp =>
  parseSourceHttp(given, 'source news: http', environment)

const whole = {
  userAgents: ['A/1', 'B/1'],
  headers: { 'X-Token': { env: 'TOKEN' }, 'Accept-Language': 'zh' },
  cookies: 'keep',
  cookiesFile: 'cookies.txt',
  login: {
    url: 'https://h.example/login',
    fields: { user: 'me', password: { env: 'SECRET' } },
    check: { text: 'Welcome' },
    lost: ['/login'],
  },
  proxies: ['http://u:pw-secret@10.0.0.1:3128', 'socks5://10.0.0.2:1080'],
}

describe('the HTTP settings of a source', () => {
  it('are the defaults where nothing is said', () => {
    for (const given of [undefined, null, {}]) assert.deepEqual(parse(given), defaultSourceHttp)
  })

  it('are read whole, with header names in lower case and secrets from the environment', () => {
    const http = parse(whole, { TOKEN: 't-secret', SECRET: 'p-secret' })
    assert.deepEqual({ ...http.headers }, { 'x-token': 't-secret', 'accept-language': 'zh' })
    assert.deepEqual(http.login, {
      url: 'https://h.example/login',
      form: null,
      fields: { user: 'me', password: 'p-secret' },
      check: { text: 'Welcome', urlPrefix: null },
      lost: ['/login'],
    })
    assert.deepEqual(http.proxies, ['http://u:pw-secret@10.0.0.1:3128/', 'socks5://10.0.0.2:1080'])
  })

  it('can be proved where the environment is another one', () => {
    checkSourceHttp(whole, 'http')
    checkSourceHttp({ ...whole, proxies: [{ env: 'PROXY' }] }, 'http')
    assert.throws(
      () => checkSourceHttp({ ...whole, proxies: ['ftp://h'] }, 'http'),
      /proxies\[2?0?\]/,
    )
  })

  const source = { name: 'news', seeds: ['https://h.example/'], http: whole }
  it('are shown without a secret', () => {
    const shown = JSON.stringify(hideSecrets(source))
    assert.doesNotMatch(shown, /secret|"me"|"zh"/)
    assert.match(shown, /http:\/\/\*\*\*:\*\*\*@10\.0\.0\.1:3128/)
    assert.match(shown, /"user":"\*\*\*","password":\{"env":"SECRET"\}/)
  })
  it('may come back as they were shown', () => {
    assert.deepEqual(restoreSecrets(hideSecrets(source), source), source)
    assert.deepEqual(restoreSecrets(source, null), source)
    const other = { ...source, http: { ...whole, headers: { 'X-New': '***' } } }
    assert.throws(() => restoreSecrets(other, source), /http\.headers\.X-New: .* no value here/)
    const proxy = { ...source, http: { proxies: ['http://***:***@10.9.9.9:1'] } }
    assert.throws(() => restoreSecrets(proxy, source), /http\.proxies\[0\]/)
  })

  const refused: readonly (readonly [given: unknown, says: RegExp])[] = [
    [[], /^source news: http: an object is wanted$/],
    [{ proxy: 'x' }, /unknown setting "proxy"; known are userAgents,/],
    [{ userAgents: ['a', 7] }, /userAgents\[1\]: an object is wanted/],
    [{ userAgents: [''] }, /userAgents\[0\]: it is empty/],
    [{ userAgents: Array(51).fill('x') }, /userAgents: more than 50/],
    [{ headers: { 'a b': 'x' } }, /headers: "a b" is no header name/],
    [{ headers: { Cookie: 'a=b' } }, /headers: Cookie is set by the program itself/],
    [{ headers: { 'x-a': 'b\r\nhost: evil' } }, /headers\.x-a: it has a control character/],
    [{ headers: { 'x-a': '中' } }, /headers\.x-a: a header holds only Latin-1/],
    [{ headers: { 'x-a': { env: 'NONE' } } }, /headers\.x-a: the environment has no NONE/],
    [{ cookies: 'yes' }, /cookies: one of keep, none is wanted/],
    [{ login: { fields: { a: 'b' } } }, /login\.url: it is empty/],
    [{ login: { url: 'ftp://h/', fields: { a: 'b' } } }, /login\.url: it is no http or https URL/],
    [{ login: { url: 'http://u:p@h/', fields: { a: 'b' } } }, /belong into the fields/],
    [{ login: { url: 'http://h/' } }, /login\.fields: at least one field/],
    [{ login: { url: 'http://h/', fields: { a: 'b' }, check: { ok: 1 } } }, /unknown setting "ok"/],
    [{ proxies: ['ftp://h:1'] }, /proxies\[0\]: http:\/\/HOST:PORT/],
    [{ proxies: ['http://h:1/x'] }, /proxies\[0\]: a proxy has no path/],
  ]
  for (const [given, says] of refused) {
    it(`refuse ${JSON.stringify(given).slice(0, 70)}`, () => {
      assert.throws(() => parse(given), {
        name: 'AppError',
        code: 'invalid_parameter',
        message: says,
      })
    })
  }

  it('never repeat a secret in a refusal', () => {
    assert.throws(
      () => parse({ proxies: ['ftp://u:pw-secret@h:1'] }),
      (error: Error) => !error.message.includes('pw-secret'),
    )
  })
})
