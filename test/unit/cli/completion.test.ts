/** The completion scripts: run by the shells themselves where they are installed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { commands } from '../../../src/cli/commands.ts'
import { completionScript, shells } from '../../../src/cli/completion.ts'
import { settings } from '../../../src/config.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'findling-completion-'))
  writeFileSync(join(folder, 'a backup.tar'), '')
})
after(() => rmSync(folder, { recursive: true, force: true }))

const shellIn = (shell: string, text: string) => {
  const { error, status, stdout, stderr } = spawnSync(shell, ['-c', text], {
    cwd: folder,
    encoding: 'utf8',
  })
  return error === undefined ? { status, stdout, stderr } : null
}
const scriptFile = (shell: (typeof shells)[number]): string => {
  const file = join(folder, `script.${shell}`)
  writeFileSync(file, completionScript(shell, commands))
  return file
}

/** Words as typed, the last one under completion -> what is offered. */
const cases: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [['cr'], ['crawl']],
  [['re'], ['reindex', 'restore']],
  [['crawl', '--sc'], ['--scope']],
  [
    ['crawl', '--scope', 'p'],
    ['page', 'path'],
  ],
  [['--data', 'somewhere', 'sea'], ['search']],
  [
    ['search', '-f', 'json'],
    ['json', 'jsonl'],
  ],
  [
    ['serve', '--log-level', ''],
    ['debug', 'info', 'warn', 'error'],
  ],
  [['service', 'un'], ['uninstall']],
  [['restore', 'a'], ['a backup.tar']],
  [['search', 'word', '--lim'], ['--limit']],
]

describe('completion', () => {
  for (const shell of shells) {
    it(`knows in ${shell} every command, option and setting, and the shell can read it`, (t) => {
      const script = completionScript(shell, commands)
      const names = [
        ...Object.keys(commands),
        ...Object.values(commands).flatMap(({ options }) => Object.keys(options)),
        ...Object.keys(settings),
      ]
      for (const name of names) assert.ok(script.includes(name), name)
      const checked = shellIn(shell, `${shell} -n ${scriptFile(shell)}`)
      if (checked === null) return t.skip(`${shell} is not installed`)
      assert.deepEqual([checked.status, checked.stderr], [0, ''])
    })
  }

  for (const [words, offered] of cases) {
    it(`offers in bash after "findling ${words.join(' ')}" ${offered.join(', ')}`, () => {
      const quoted = words.map((word) => `'${word}'`).join(' ')
      const answer = shellIn(
        'bash',
        `source ${scriptFile('bash')}; COMP_WORDS=(findling ${quoted}); COMP_CWORD=${words.length}; _findling; printf '%s\\n' "\${COMPREPLY[@]}"`,
      )
      assert.ok(answer)
      assert.equal(answer.stderr, '')
      assert.deepEqual(answer.stdout.trimEnd().split('\n').toSorted(), offered.toSorted())
    })
  }

  it('offers the same in fish', (t) => {
    const lines = cases.map(([words]) => `complete -C 'findling ${words.join(' ')}'; echo =====`)
    const answer = shellIn('fish', `source ${scriptFile('fish')}; ${lines.join('; ')}`)
    if (answer === null) return t.skip('fish is not installed')
    const groups = answer.stdout.split('=====\n')
    for (const [i, [words, offered]] of cases.entries()) {
      const found = groups[i]?.split('\n').map((each) => each.split('\t')[0]?.replaceAll('\\', ''))
      for (const word of offered)
        assert.ok(found?.includes(word), `${words.join(' ')}: ${groups[i]}`)
    }
  })

  it('completes --option=value in bash, where = parts words', () => {
    const answer = shellIn(
      'bash',
      `source ${scriptFile('bash')}; COMP_WORDS=(findling crawl --scope = d); COMP_CWORD=4; _findling; echo "\${COMPREPLY[@]}"`,
    )
    assert.equal(answer?.stdout, 'domain\n')
  })

  it('is a function that zsh loads', (t) => {
    const file = scriptFile('zsh')
    const loaded = shellIn(
      'zsh',
      `zsh -f -c 'compdef() { print "$@" }; source ${file}; which _findling | head -1'`,
    )
    if (loaded === null || loaded.status === 127) return t.skip('zsh is not installed')
    assert.equal(loaded.stdout, '_findling findling\n_findling () {\n', loaded.stderr)
  })
})
