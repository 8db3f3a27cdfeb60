/** The command line: which command, which options, which words are refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commands } from '../../../src/cli/commands.ts'
import { helpText, readInvocation } from '../../../src/cli/run.ts'

const read = (line: string) => readInvocation(line === '' ? [] : line.split(' '), {})

describe('the command line', () => {
  it('serves when no command is named', () => {
    assert.equal(read('').name, 'serve')
    assert.equal(read('--listen 127.0.0.1:9000').loaded.config.listen, '127.0.0.1:9000')
  })

  it('takes settings before and after the command', () => {
    for (const line of ['--data d search word', 'search word --data d', 'search --data=d word']) {
      const { name, operands, loaded } = read(line)
      assert.deepEqual([name, operands, loaded.config.data], ['search', ['word'], 'd'])
    }
  })

  it('takes a list once or many times', () => {
    const { loaded } = read(
      'crawl http://a.test/ --allow-private 10.0.0.0/8,127.0.0.0/8 --allow-private ::1',
    )
    assert.deepEqual(loaded.config['allow-private'], ['10.0.0.0/8', '127.0.0.0/8', '::1'])
  })

  it('takes words after -- as they are', () => {
    assert.deepEqual(read('search -- -minus').operands, ['-minus'])
  })

  const refused = [
    'search',
    'import',
    'import a b',
    'export a',
    'crwal http://a.test/',
    'search word --limt 3',
    'serve extra',
    'crawl http://a.test/ --depth',
  ]
  for (const line of refused) {
    it(`refuses "${line}"`, () => assert.throws(() => read(line), { code: 'usage' }))
  }

  it('names the option that it does not know, not the word after it', () => {
    assert.throws(() => read('--lisen 1'), { message: 'There is no option "--lisen".' })
    assert.throws(() => read('crawll --depth 1'), { message: 'There is no command "crawll".' })
  })

  it('refuses a setting out of its limits as configuration', () => {
    assert.throws(() => read('--memory 1'), { code: 'config_invalid' })
  })

  it('has help for every command, naming each of its options', () => {
    for (const [name, command] of Object.entries(commands)) {
      const help = helpText(name)
      assert.ok(helpText(undefined).includes(name))
      for (const option of Object.keys(command.options))
        assert.ok(help.includes(`--${option}`), `${name} --${option}`)
    }
  })
})
