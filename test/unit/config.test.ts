/** Settings: where a value comes from, what is refused, and that docs/CONFIG.md tells the truth. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  configDocument,
  describeConfig,
  environmentName,
  loadConfig,
  parseListen,
  settings,
} from '../../src/config.ts'

describe('loadConfig', () => {
  it('gives the defaults where nothing is said', () => {
    const { config, origins } = loadConfig({}, {}, null)
    assert.equal(config.listen, '127.0.0.1:8080')
    assert.equal(origins.listen, 'default')
  })

  it('lets flags beat the environment, that the file, that the default', () => {
    const file = JSON.stringify({ memory: 300, connections: 3, parsers: 2 })
    const { config, origins } = loadConfig(
      { memory: '500' },
      { FINDLING_MEMORY: '400', FINDLING_CONNECTIONS: '5' },
      file,
    )
    assert.deepEqual([config.memory, config.connections, config.parsers], [500, 5, 2])
    assert.deepEqual(
      [origins.memory, origins.connections, origins.parsers, origins.listen],
      ['flag', 'environment', 'file', 'default'],
    )
  })

  it('reads lists from one text or from many', () => {
    const wanted = ['10.0.0.0/8', '127.0.0.0/8']
    assert.deepEqual(
      loadConfig({ 'allow-private': '10.0.0.0/8, 127.0.0.0/8' }, {}, null).config['allow-private'],
      wanted,
    )
    assert.deepEqual(
      loadConfig({ 'allow-private': wanted }, {}, null).config['allow-private'],
      wanted,
    )
  })

  for (const [name, setting] of Object.entries(settings)) {
    if (setting.type !== 'integer') continue
    it(`takes ${name} at both limits and refuses it one beyond`, () => {
      const load = (value: number): unknown => loadConfig({ [name]: String(value) }, {}, null)
      load(setting.min)
      load(setting.max)
      const refusal = { code: 'config_invalid', message: new RegExp(`^${name}: `) }
      assert.throws(() => load(setting.min - 1), refusal)
      assert.throws(() => load(setting.max + 1), refusal)
    })
  }

  const refused: [string, Record<string, unknown>, string | null][] = [
    ['a number that is none', { memory: 'much' }, null],
    ['an empty number', { memory: '' }, null],
    ['half a page', { 'batch-pages': '1.5' }, null],
    ['a word outside the choice', { log: 'xml' }, null],
    ['a file that is no JSON', {}, '{memory: 3'],
    ['a file that is no object', {}, '[1]'],
    ['a setting in the file that does not exist', {}, '{"memmory": 300}'],
    ['a value of the wrong kind in the file', {}, '{"memory": {"mb": 3}}'],
  ]
  for (const [what, flags, file] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(() => loadConfig(flags, {}, file), { code: 'config_invalid' })
    })
  }

  it('takes a file with a byte order mark', () => {
    assert.equal(loadConfig({}, {}, '\uFEFF{"memory": 300}').config.memory, 300)
  })

  it('cannot be changed afterwards', () => {
    assert.ok(Object.isFrozen(loadConfig({}, {}, null).config))
  })
})

describe('describeConfig', () => {
  it('masks secrets', () => {
    const rows = describeConfig(loadConfig({ key: 'open sesame' }, {}, null))
    assert.equal(rows.find(({ name }) => name === 'key')?.value, '***')
    assert.ok(!JSON.stringify(rows).includes('sesame'))
  })
})

describe('parseListen', () => {
  const cases: [string, string, number][] = [
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['[::1]:80', '::1', 80],
    ['localhost:0', 'localhost', 0],
    [':8080', '127.0.0.1', 8080],
  ]
  for (const [text, host, port] of cases) {
    it(`reads ${text}`, () => assert.deepEqual(parseListen(text), { host, port }))
  }
  for (const text of ['', '8080', 'localhost', 'a:b', '127.0.0.1:65536', '::1:80', '[::1]']) {
    it(`refuses "${text}"`, () =>
      assert.throws(() => parseListen(text), { code: 'config_invalid' }))
  }
})

describe('docs/CONFIG.md', () => {
  it('is what the table of settings says', () => {
    const file = join(import.meta.dirname, '../../docs/CONFIG.md')
    assert.equal(readFileSync(file, 'utf8'), configDocument())
  })
  it('names every environment variable', () => {
    assert.equal(environmentName('allow-private'), 'FINDLING_ALLOW_PRIVATE')
  })
})
