/** The commands besides crawling and searching, and the exit codes that scripts rely on. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../src/lib/sqlite.ts'
import { jsonLines, makeDirectory, run, serve, start } from './program.ts'
import type { Json } from './program.ts'

const corpus = [
  { url: 'https://a.example/1', title: 'Ferry times', text: longText('ferry') },
  { url: 'https://a.example/2', title: 'Ferry times again', text: longText('ferry') },
  {
    url: 'https://a.example/3',
    title: '渡船时刻',
    text: '渡船每天清晨离开码头，傍晚回来。'.repeat(6),
    lang: 'zh',
  },
  {
    url: 'https://a.example/4',
    title: 'Fields',
    text: longText('violin'),
    fields: { price: 12, tags: ['x', 'y'] },
    published_at: '2024-05-06T07:08:09Z',
  },
  { url: 'https://a.example/5', title: 'No text at all', text: '' },
]
function longText(word: string): string {
  return Array.from(
    { length: 12 },
    (_, at) => `The ${word} number ${at} waits at gate ${at * 7}.`,
  ).join(' ')
}
const lines = corpus.map((each) => JSON.stringify(each)).join('\n')

const directories: { remove(): void }[] = []
const fresh = (): string => {
  const directory = makeDirectory()
  directories.push(directory)
  return directory.path
}
after(() => directories.forEach((directory) => directory.remove()))

/** The corpus is imported once; who changes its directory takes a copy. */
const original = fresh()
before(async () => {
  const result = await run(['import', '-', '--data', original, '-f', 'json'], { stdin: lines })
  assert.equal(result.code, 0, result.stderr)
  assert.equal(JSON.parse(result.stdout).stored, corpus.length)
})
const imported = (): string => {
  const data = fresh()
  cpSync(original, data, { recursive: true })
  return data
}

const exported = async (data: string): Promise<Json[]> => {
  const result = await run(['export', '--data', data])
  assert.equal(result.code, 0, result.stderr)
  return jsonLines(result.stdout)
}
const searched = async (data: string, query: string): Promise<string[]> => {
  const result = await run(['search', query, '-f', 'jsonl', '--data', data])
  assert.equal(result.code, 0, result.stderr)
  return jsonLines(result.stdout).map(({ url }) => String(url))
}

describe('import and export', () => {
  const data = original

  it('keeps every document, one without text included, and recognises the copy', async () => {
    const documents = await exported(data)
    assert.deepEqual(
      documents.map(({ url }) => String(url)).toSorted(),
      corpus.map(({ url }) => url),
    )
    const byUrl = new Map(documents.map((each) => [each.url, each]))
    const [one, two] = [byUrl.get('https://a.example/1'), byUrl.get('https://a.example/2')]
    assert.equal(one.group, two.group)
    assert.notEqual(one.group, byUrl.get('https://a.example/3').group)
    assert.deepEqual(byUrl.get('https://a.example/4').fields, { price: 12, tags: ['x', 'y'] })
    assert.equal(
      Date.parse(byUrl.get('https://a.example/4').published_at),
      Date.parse('2024-05-06T07:08:09Z'),
    )
    assert.equal(byUrl.get('https://a.example/3').text.includes('渡船每天清晨离开码头'), true)
  })

  it('comes back the same through a file', async () => {
    const first = await exported(data)
    const file = join(data, '..', 'export.jsonl')
    writeFileSync(file, first.map((each) => JSON.stringify(each)).join('\n'))
    const copy = fresh()
    assert.equal((await run(['import', file, '--data', copy])).code, 0)
    const content = (each: Json): Json[] => [
      each.url,
      each.title,
      each.text,
      each.lang,
      each.fields,
    ]
    const second = await exported(copy)
    const sorted = (list: Json[]): Json[] =>
      list.map(content).toSorted((a, b) => String(a[0]).localeCompare(String(b[0])))
    assert.deepEqual(sorted(second), sorted(first))
  })

  it('stores nothing new the second time', async () => {
    const result = await run(['import', '-', '--data', data, '-f', 'json'], { stdin: lines })
    assert.equal(JSON.parse(result.stdout).stored, 0)
    assert.equal((await exported(data)).length, corpus.length)
  })

  it('leaves copies alone with --no-dedupe', async () => {
    const whole = fresh()
    const args = ['import', '-', '--no-dedupe', '--data', whole]
    assert.equal((await run(args, { stdin: lines })).code, 0)
    const documents = await exported(whole)
    assert.ok(documents.every(({ duplicate_of }) => duplicate_of === null))
    assert.equal(new Set(documents.map(({ group }) => group)).size, documents.length)
    assert.equal((await searched(whole, 'ferry gate')).length, 2)
  })

  it('finds what it imported, in English and Chinese', async () => {
    assert.deepEqual(await searched(data, 'violin'), ['https://a.example/4'])
    assert.deepEqual(await searched(data, '清晨离开'), ['https://a.example/3'])
  })
})

describe('reindex, check and explain', () => {
  it('makes the same index again', async () => {
    const data = imported()
    const earlier = await searched(data, 'ferry gate')
    assert.equal((await run(['reindex', '--data', data])).code, 0)
    assert.deepEqual(await searched(data, 'ferry gate'), earlier)
    const checked = await run(['check', '--data', data, '-f', 'json'])
    assert.deepEqual([checked.code, JSON.parse(checked.stdout).ok], [0, true])
  })

  it('finds fault with a directory that has one', async () => {
    const data = imported()
    const db = openDatabase(join(data, 'findling.db'))
    db.exec('DELETE FROM doc_text WHERE docno = (SELECT min(docno) FROM doc)')
    db.close()
    const checked = await run(['check', '--data', data, '-f', 'json'])
    assert.equal(checked.code, 1)
    assert.ok(JSON.parse(checked.stdout).problems.length > 0)
  })
})

describe('config, version and help', () => {
  it('prints each setting and where it came from', async () => {
    const result = await run(['config', '-f', 'json', '--memory', '300'], {
      env: { FINDLING_LISTEN: '127.0.0.1:9999' },
    })
    const settings: Json = JSON.parse(result.stdout)
    assert.deepEqual(settings.memory, { value: '300', origin: 'flag' })
    assert.deepEqual(settings.listen, { value: '127.0.0.1:9999', origin: 'environment' })
    assert.equal(settings['batch-pages'].origin, 'default')
  })

  it('reads DIR/config.json below flags and environment', async () => {
    const data = fresh()
    mkdirSync(data)
    writeFileSync(
      join(data, 'config.json'),
      JSON.stringify({ memory: 200, contact: 'a@b.example' }),
    )
    const args = ['config', '-f', 'json', '--data', data, '--memory', '300']
    const settings: Json = JSON.parse((await run(args)).stdout)
    assert.equal(settings.memory.value, '300')
    assert.deepEqual(settings.contact, { value: 'a@b.example', origin: 'file' })
  })

  it('never prints a secret', async () => {
    const result = await run(['config'], { env: { FINDLING_KEY: 'hush-hush-hush' } })
    assert.equal(result.code, 0)
    assert.ok(!`${result.stdout}${result.stderr}`.includes('hush'))
  })

  it('tells its version in words and in JSON', async () => {
    assert.match((await run(['version'])).stdout, /^findling \d+\.\d+\.\d+/)
    const version: Json = JSON.parse((await run(['version', '--json'])).stdout)
    assert.match(version.version, /^\d+\.\d+\.\d+/)
    assert.match(version.node, /^24\./)
  })

  it('lists the commands, and explains each', async () => {
    const help = await run(['--help'])
    assert.equal(help.code, 0)
    const names = 'serve crawl search import export explain reindex check config health version'
    for (const name of names.split(' ')) {
      assert.match(help.stdout, new RegExp(`^ +${name} `, 'm'))
      const one = await run([name, '--help'])
      assert.equal(one.code, 0)
      assert.match(one.stdout, new RegExp(`^findling ${name}`))
    }
  })
})

describe('exit codes', () => {
  const fails = async (args: string[], code: number, stdin = ''): Promise<string> => {
    const result = await run(args, { stdin })
    assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`)
    assert.equal(result.stdout, '', 'stdout is data')
    assert.doesNotMatch(result.stderr, /\n\s+at /, 'no stack')
    return result.stderr
  }

  it('64: the command line is wrong', async () => {
    await fails(['fly'], 64)
    await fails(['crawl'], 64)
    await fails(['search', 'x', '--no-such-option'], 64)
    await fails(['crawl', 'http://a.example/', '--depth', 'many'], 64)
    await fails(['search', 'x', '-f', 'xml'], 64)
  })

  it('65: the input is no data of ours', async () => {
    const error = await fails(
      ['import', '-', '--data', fresh()],
      65,
      '{"url":"https://a.example/"}\nno JSON',
    )
    assert.match(error, /line 2/i)
  })

  it('66: the input is not there', async () => {
    await fails(['import', join(fresh(), 'nothing.jsonl'), '--data', fresh()], 66)
    for (const args of [
      ['search', 'x'],
      ['export'],
      ['check'],
      ['reindex'],
      ['explain', 'http://a.example/'],
    ])
      await fails([...args, '--data', fresh()], 66)
  })

  it('69: no server answers', async () => {
    const data = imported()
    await fails(['health', '--data', data], 69)
  })

  it('73: the directory cannot be made', async () => {
    const data = fresh()
    writeFileSync(data, 'a file in its place')
    await fails(['import', '-', '--data', data], 73, lines)
  })

  it('75: another process has the directory', async () => {
    const data = imported()
    const server = await serve(['--data', data])
    try {
      const error = await fails(['serve', '--listen', '127.0.0.1:0', '--data', data], 75)
      assert.match(error, new RegExp(String(server.child.pid)), 'it names the holder')
      await fails(['import', '-', '--data', data], 75, '{}')
    } finally {
      await server.stop()
    }
  })

  it('78: a setting is wrong, or the data is of a newer version', async () => {
    await fails(['config', '--memory', 'lots'], 78)
    await fails(['config', '--memory', '1'], 78)
    const data = imported()
    const db = openDatabase(join(data, 'findling.db'))
    db.pragma('user_version=9999')
    db.close()
    for (const args of [['search', 'x'], ['check'], ['export']]) {
      const error = await fails([...args, '--data', data], 78)
      assert.match(error, /9999|newer/)
    }
  })

  it('0 and silence: the reader of the output went away', async () => {
    const data = imported()
    const exporting = start(['export', '--data', data])
    exporting.child.stdout?.destroy()
    assert.equal((await exporting.ended).code, 0, exporting.stderr())
  })
})
